# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the kernels of examples/python, for benchmarks/python_kernels.py."""

from __future__ import annotations

from typing import Any

import _python_kernels_cases as cases
import smalti


def compile_kernel(kernel: Any, case: cases.Case) -> None:
    arguments: dict[str, Any] = {
        name: smalti.ShapeDtypeStruct(shape, dtype) for name, (dtype, *shape) in case.arrays.items()
    }
    arguments |= case.constants | dict.fromkeys(case.floats, 0.125)
    compiled = kernel.on(cases.CHIP).compile(**arguments)
    assert compiled.binary and compiled.resources.warps == case.warps


if __name__ == "__main__":
    cases.serve(f"Smalti {smalti.__version__}", None, compile_kernel)
