#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write the target table as a file, which `smalti.targets` reads without loading MLIR."""

from __future__ import annotations

import argparse
import pathlib
import sys
import types


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", required=True, type=pathlib.Path, help="the package's folder in the build tree")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    arguments = parser.parse_args()

    # The Python sources of the package must not decide whether the build works.
    sys.dont_write_bytecode = True
    stand_in = types.ModuleType("smalti")
    stand_in.__path__ = [str(arguments.package)]
    sys.modules["smalti"] = stand_in
    from smalti._mlir_libs import _smalti

    arguments.output.write_text(_smalti.targets_json())


if __name__ == "__main__":
    main()
