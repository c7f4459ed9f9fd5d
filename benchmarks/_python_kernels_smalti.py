# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the kernels of examples/python, for benchmarks/python_kernels.py."""

from __future__ import annotations

from typing import Any

import _python_kernels_cases as cases
import smalti


def compiled(kernel: smalti.PythonKernel, case: cases.Case, chip: str = cases.CHIP) -> smalti.Kernel:
    arguments: dict[str, Any] = {
        name: smalti.ShapeDtypeStruct(shape, dtype) for name, (dtype, *shape) in case.arrays.items()
    }
    arguments |= case.constants | dict.fromkeys(case.floats, 0.125)
    result = kernel.on(chip).compile(**arguments)
    assert isinstance(result, smalti.Kernel)
    return result


def compile_kernel(kernel: smalti.PythonKernel, case: cases.Case) -> None:
    result = compiled(kernel, case)
    assert result.binary and result.resources.warps == case.warps


def version() -> str:
    return f"Smalti {smalti.__version__}"
