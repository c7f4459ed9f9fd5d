# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Round trip of modules through the printer and the parser.

python round_trip.py SMALTI_OPT FILE...
"""

from __future__ import annotations

import difflib
import re
import subprocess
import sys
from pathlib import Path

GENERIC = "--mlir-print-op-generic"
# An op of the dialect in either form, at the beginning of its line.
OP = re.compile(r'^ *(?:%[^=]*= )?"?mosaic_gpu\.', re.MULTILINE)


def run(tool: str, text: str, *options: str) -> str:
    done = subprocess.run([tool, "-", *options], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{done.stderr[:2000]}\n{tool} {' '.join(options)} failed")
    return done.stdout


def compare(name: str, expected: str, actual: str) -> None:
    if expected != actual:
        lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), "first", "again", lineterm="", n=0)
        raise SystemExit(f"{name} is another module after the round trip:\n" + "\n".join(list(lines)[:20]))


def check(tool: str, path: Path) -> None:
    """The generic form says all of a module, so it is what is compared; its own text must be the same again."""
    text = path.read_text()
    custom, generic = run(tool, text), run(tool, text, GENERIC)
    compare(f"{path.name} in its own form", custom, run(tool, custom))
    compare(f"{path.name} in generic form", generic, run(tool, generic, GENERIC))
    compare(f"{path.name} from its own form", generic, run(tool, custom, GENERIC))
    compare(f"{path.name} from generic form", custom, run(tool, generic))
    before, after = len(OP.findall(text)), len(OP.findall(generic))
    if before == 0 or before != after:
        raise SystemExit(f"{path.name} has {after} ops of the dialect after the round trip, and {before} before")
    print(f"{path.name}: {after} ops")


def main() -> None:
    tool, *paths = sys.argv[1:]
    for path in paths:
        check(tool, Path(path))


main()
