# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls of every element type with row-major and column-major operands, at the default options.

The numbers are right in the emulator on each chip."""

from __future__ import annotations

import pytest
import smalti
from matmuls import matmul
from smalti import targets
from test_gpu_numerics import FAMILIES
from test_narrow_matmuls import check_exactly

TYPES = ("f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "i8")
SHAPES = {
    "aligned": ((64, 64, 64), (64, 64, 32)),
    "ragged": ((33, 50, 70), (32, 32, 32)),
    "rows-of-whole-chunks": ((36, 52, 204), (32, 32, 32)),
    "short-k": ((33, 50, 20), (32, 32, 32)),
}


@pytest.mark.grid(18)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("target", FAMILIES)
def test_operand_orders(target: str, dtype: str, order: str, shape: str) -> None:
    """T: the operand is column-major."""
    text = matmul(*SHAPES[shape], dtype, columns_of_a=order[0] == "T", columns_of_b=order[1] == "T")
    kernel = smalti.compile(text, target=targets.EMULATED + target)
    check_exactly(kernel, kernel.launcher)
