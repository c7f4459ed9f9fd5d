# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`memref.atomic_rmw` and `memref.generic_atomic_rmw` in thread-level kernels: multiplications, floats and i1."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti

TARGETS = ("emu:sm_80", "emu:sm_90a", "emu:gfx942", "emu:gfx1201", "sim:sm_90a", "sim:gfx942")
TYPES: dict[str, Any] = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
}


def kernel(element: str, update: str) -> str:
    """64 threads update 8 elements."""
    return f"""
gpu.module @m {{
  gpu.func @update(%x: memref<8x{element}>, %v: memref<64x{element}>, %old: memref<64x{element}>) kernel
      attributes {{known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %thread = gpu.thread_id x
    %c7 = arith.constant 7 : index
    %i = arith.andi %thread, %c7 : index
    %s = memref.load %v[%thread] : memref<64x{element}>
    {update}
    memref.store %o, %old[%thread] : memref<64x{element}>
    gpu.return
  }}
}}
"""


@pytest.mark.grid(12)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element", TYPES)
def test_multiplications(element: str, target: str) -> None:
    kind = "mulf" if "f" in element else "muli"
    update = f"%o = memref.atomic_rmw {kind} %s, %x[%i] : ({element}, memref<8x{element}>) -> {element}"
    x = np.arange(1, 9).astype(TYPES[element])
    factors = np.where(np.arange(64) < 24, 2, 1).astype(TYPES[element])
    old = np.zeros(64, TYPES[element])
    smalti.compile(kernel(element, update), target=target)(x, factors, old)
    np.testing.assert_array_equal(x.astype(np.float64), 8.0 * np.arange(1, 9))
    # Each update sees the result of the one before.
    for i in range(8):
        seen = old[i::8].astype(np.float64)
        assert set(seen) <= {(i + 1) * 2.0**n for n in range(4)}
        assert (i + 1) in seen


@pytest.mark.parametrize("target", TARGETS)
def test_any_update_of_floats(target: str) -> None:
    update = """%o = memref.generic_atomic_rmw %x[%i] : memref<8xf32> {
    ^bb0(%now: f32):
      %n = arith.negf %now : f32
      %m = arith.subf %n, %s : f32
      memref.atomic_yield %m : f32
    }"""
    x, v, old = np.full(8, 3, np.float32), np.zeros(64, np.float32), np.zeros(64, np.float32)
    smalti.compile(kernel("f32", update), target=target)(x, v, old)
    np.testing.assert_array_equal(x, 3)
    np.testing.assert_array_equal(np.sort(old), np.repeat([-3, 3], 32))


@pytest.mark.grid(8)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["assign", "andi", "ori", "xori", "muli", "addi"])
def test_booleans(kind: str, target: str) -> None:
    update = f"%o = memref.atomic_rmw {kind} %s, %x[%i] : (i1, memref<8xi1>) -> i1"
    x = np.arange(8) % 2 == 0
    # One thread for each element has an operand other than the neutral one.
    neutral = kind in ("andi", "muli")
    v = np.full(64, neutral)
    v[:8] = not neutral
    expected = {"andi": x & False, "muli": x & False, "ori": x | True, "xori": ~x, "addi": ~x, "assign": x}[kind]
    if kind == "assign":
        v, expected = np.ones(64, bool), np.ones(8, bool)
    smalti.compile(kernel("i1", update), target=target)(x, v, np.zeros(64, bool))
    np.testing.assert_array_equal(x, expected)
