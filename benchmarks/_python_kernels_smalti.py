# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the kernels of examples/python, for benchmarks/python_kernels.py."""

from __future__ import annotations

import runpy
import sys
from typing import Any

import _python_kernels_cases as cases
import smalti


def compile_case(name: str) -> None:
    case = cases.CASES[name]
    # A kernel keeps the code that it compiled, so each compilation begins with the source.
    kernel = runpy.run_path(str(cases.example(name)))[name]
    arguments: dict[str, Any] = {
        array: smalti.ShapeDtypeStruct(shape, dtype) for array, (dtype, *shape) in case.arrays.items()
    }
    arguments |= case.constants | dict.fromkeys(case.floats, 0.125)
    compiled = kernel.on(cases.CHIP).compile(**arguments)
    assert compiled.binary and compiled.resources.warps == case.warps


if __name__ == "__main__":
    cases.serve(f"Smalti {smalti.__version__}", compile_case, sys.argv[1:])
