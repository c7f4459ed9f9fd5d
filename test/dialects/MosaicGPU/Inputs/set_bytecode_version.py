# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes the version of mosaic_gpu in bytecode: set_bytecode_version.py FILE VERSION OUTPUT."""

from __future__ import annotations

import sys
from pathlib import Path

# A section of dialect versions, one byte long, and in it the number as a variable-length integer.
SECTION = b"\x07\x03"
CURRENT = 2


def encode(version: int) -> bytes:
    return bytes([version << 1 | 1])


def main() -> None:
    source, version, output = sys.argv[1:]
    data = Path(source).read_bytes()
    old = SECTION + encode(CURRENT)
    assert data.count(old) == 1, "the bytecode states the version once"
    Path(output).write_bytes(data.replace(old, SECTION + encode(int(version))))


main()
