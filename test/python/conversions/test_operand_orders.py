# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls of every element type with row-major and column-major operands, at the default options.

The numbers are right in the emulator on each chip. NVIDIA chips read 8-bit operands in every order with ldmatrix."""

from __future__ import annotations

import re

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


NVIDIA = [name for name in FAMILIES if targets.get(name).has_ldmatrix]
# Two MMAs and more along each dimension of a warp; the last also has windows that are partly out of bounds.
LARGE_SHAPES = {
    "aligned": ((128, 128, 128), (128, 128, 64)),
    "few-rows": ((16, 128, 128), (16, 128, 64)),
    "ragged": ((144, 112, 80), (64, 64, 64)),
}


@pytest.mark.grid(8, cover=lambda target, dtype, order, shape: {target, order})
@pytest.mark.parametrize("shape", LARGE_SHAPES)
@pytest.mark.parametrize("order", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("dtype", ["f8E4M3FN", "f8E5M2", "i8"])
@pytest.mark.parametrize("target", NVIDIA)
def test_8_bit_operands_are_read_with_ldmatrix(target: str, dtype: str, order: str, shape: str) -> None:
    if not any(mma.a == dtype for mma in targets.get(target).mmas):
        pytest.skip(f"{target} multiplies {dtype} as bf16")
    text = matmul(*LARGE_SHAPES[shape], dtype, columns_of_a=order[0] == "T", columns_of_b=order[1] == "T")
    kernel = smalti.compile(text, target=targets.EMULATED + target, matmul="mma", num_warps=4)
    check_exactly(kernel, kernel.launcher)
    ptx = smalti.compile(text, target=target, matmul="mma", num_warps=4).asm["ptx"]
    assert not re.search(r"ld\.shared\S*\.[bsu]8", ptx)
    assert "ldmatrix" in ptx
    assert (".trans" in ptx) == (order != "NT")
