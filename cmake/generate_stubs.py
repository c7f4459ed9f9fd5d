#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write the type stubs of the package's extension modules.

The modules import `smalti.ir` when they load. A bare package of that name stands in for the real one, whose Python
sources must not decide whether the build works.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import types

from nanobind import stubgen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", required=True, type=pathlib.Path, help="the package's folder in the build tree")
    parser.add_argument("--stamp", required=True, type=pathlib.Path, help="touched when the stubs are complete")
    parser.add_argument("modules", nargs="+", help="the extension modules in _mlir_libs")
    arguments = parser.parse_args()

    sys.dont_write_bytecode = True
    stand_in = types.ModuleType("smalti")
    stand_in.__path__ = [str(arguments.package)]
    sys.modules["smalti"] = stand_in

    libs = arguments.package / "_mlir_libs"
    for module in arguments.modules:
        # _mlir is a package to its users: its submodules become _mlir/ir.pyi and so on.
        options = ["-q", "--include-private", "-m", f"smalti._mlir_libs.{module}"]
        stubgen.main(
            [*options, "-r", "-O", str(libs)] if module == "_mlir" else [*options, "-o", str(libs / f"{module}.pyi")]
        )
    arguments.stamp.touch()


if __name__ == "__main__":
    main()
