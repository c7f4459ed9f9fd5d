# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls of tiles with elements of 8 bits: on each chip whose table has an instruction, and on the CPU.

The tolerance includes the errors of matrix units in sums of 8-bit floats. The emulator and the CPU are exact if every
sum is exact in the accumulator: small integers distinguish every element from its neighbors, bit by bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import smalti
from matmuls import matmul
from smalti import dtypes, targets
from smalti.emulator import SCHEDULES, Emulation
from test_gpu_numerics import FAMILIES, GPUS, Program

TYPES = ("f8E4M3FN", "f8E5M2", "i8")
GPU_TYPES = (*TYPES, "f8E4M3FNUZ", "f8E5M2FNUZ")


def multiplies(target: str, dtype: str) -> bool:
    return any(mma.a == mma.b == dtype for mma in targets.get(target).mmas)


def small_integers(program: Any, seed: int = 0) -> list[np.ndarray]:
    """Operands between -3 and 3, and initial accumulators 100 times as large: every sum is exact."""
    generator = np.random.default_rng(seed)
    values = []
    for argument in program.arguments:
        bound = 300 if argument.writes else 3
        values.append(generator.integers(-bound, bound + 1, argument.shape).astype(argument.dtype.numpy))
    return values


def check_exactly(kernel: Any, run: Any) -> None:
    a, b, c = small_integers(kernel)
    wanted = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64)
    a, b, c = (
        np.asfortranarray(values) if argument.strides[0] == 1 else values
        for values, argument in zip((a, b, c), kernel.arguments, strict=False)
    )
    run(a, b, c)
    np.testing.assert_array_equal(c.astype(np.float64), wanted)


SHAPES = {
    "whole-tiles": ((64, 64, 64), (64, 64, 64)),
    "ragged": ((33, 50, 70), (32, 32, 64)),
    "several": ((64, 48, 192), (32, 32, 64)),
}


PAIRS = [(target, dtype) for target in FAMILIES for dtype in GPU_TYPES if multiplies(target, dtype)]


@pytest.mark.grid(20)
@pytest.mark.parametrize("columns_of_b", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("target", "dtype"), PAIRS)
def test_matmuls(target: str, dtype: str, shape: str, columns_of_b: bool) -> None:
    program = Program(matmul(*SHAPES[shape], dtype, columns_of_b=columns_of_b), target)
    program.check()
    check_exactly(program.kernel, program.kernel.launcher)


@pytest.mark.grid(5, cover=False)
@pytest.mark.parametrize(("target", "dtype"), PAIRS)
def test_no_race_and_no_access_outside(target: str, dtype: str) -> None:
    program = Program(matmul((33, 36, 80), (32, 32, 64), dtype), target)
    for emulation in (*SCHEDULES[:2], Emulation(sanitize="address"), Emulation(sanitize="thread")):
        program.check(emulation=emulation)


@pytest.mark.grid(22)
@pytest.mark.parametrize("dtype", GPU_TYPES)
@pytest.mark.parametrize("target", GPUS)
def test_every_chip_multiplies_every_type(target: str, dtype: str) -> None:
    """Without an instruction for the elements, as bf16."""
    kernel = smalti.compile(matmul((64, 32, 32), (32, 32, 32), dtype), target=targets.EMULATED + target)
    check_exactly(kernel, kernel.launcher)


@pytest.mark.grid(8)
@pytest.mark.parametrize("columns_of_b", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", TYPES)
def test_matmuls_on_the_cpu(dtype: str, shape: str, columns_of_b: bool) -> None:
    kernel = smalti.compile(matmul(*SHAPES[shape], dtype, columns_of_b=columns_of_b), target="cpu")
    check_exactly(kernel, kernel)


WIDEN = """
triton_xla.entry_func @widen(%x: memref<256x{narrow}>, %y: memref<256x{wide}>, %tile: index) tiles 1 {{
  %t = triton_xla.extract %x[0] [256] [1] : memref<256x{narrow}> to tensor<256x{narrow}>
  %w = arith.extf %t : tensor<256x{narrow}> to tensor<256x{wide}>
  triton_xla.insert %w into %y[0] [256] [1] : tensor<256x{wide}> into memref<256x{wide}>
  triton_xla.return
}}
"""


@pytest.mark.parametrize("wide", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("narrow", ["f8E4M3FN", "f8E5M2"])
def test_every_small_float_widens_on_the_cpu(narrow: str, wide: str) -> None:
    kernel = smalti.compile(WIDEN.format(narrow=narrow, wide=wide), target="cpu")
    element = dtypes.from_mlir(narrow)
    result = dtypes.from_mlir(wide)
    assert element is not None and result is not None
    x = np.arange(256, dtype=np.uint8).view(element.numpy)
    y = np.full(256, -7, result.numpy)
    kernel(x, y)
    with np.errstate(invalid="ignore"):
        wanted = x.astype(np.float64)
    np.testing.assert_array_equal(y.astype(np.float64), wanted)
    # Zeros also have signs.
    np.testing.assert_array_equal(
        np.signbit(y.astype(np.float64))[~np.isnan(wanted)], np.signbit(wanted)[~np.isnan(wanted)]
    )


@pytest.mark.parametrize("target", ["sm_80", "gfx950", "gfx1100", "cpu"])
def test_sums_of_integers_wrap(target: str) -> None:
    kernel = smalti.compile(
        matmul((32, 32, 32), (32, 32, 32), "i8"), target="cpu" if target == "cpu" else targets.EMULATED + target
    )
    a = np.full((32, 32), -128, np.int8)
    c = np.full((32, 32), 2**31 - 1, np.int32)
    run = kernel if target == "cpu" else kernel.launcher
    run(a, a.copy(), c)
    assert (c == -(2**31) - 1 + 32 * 128 * 128).all()
