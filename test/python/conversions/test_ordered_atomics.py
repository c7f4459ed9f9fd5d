# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic updates in row-major order (`deterministic`) on GPUs, against sums in this order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import smalti
from smalti.emulator import Emulation

RNG = np.random.default_rng(6)
ORDERS = ("lowest-first", "highest-first", "round-robin", "random:6")


def kernel(shape: tuple[int, int], element: str, slots: int, target: str) -> Any:
    """Adds a tile to memory by index, with a mask, and stores the old values."""
    count = f"{shape[0]}x{shape[1]}"
    tile, sizes = f"tensor<{count}x{element}>", f"[0, 0] [{shape[0]}, {shape[1]}] [1, 1]"
    return smalti.compile(
        f"""
triton_xla.entry_func @update(%x: memref<{count}x{element}>, %n: memref<{count}xi32>, %a: memref<{slots}x{element}>,
                              %o: memref<{count}x{element}>, %tile: index) tiles 1 {{
  %t = triton_xla.extract %x{sizes} : memref<{count}x{element}> to {tile}
  %i = triton_xla.extract %n{sizes} : memref<{count}xi32> to tensor<{count}xi32>
  %seven = arith.constant dense<7> : tensor<{count}xi32>
  %m = arith.cmpi ne, %i, %seven : tensor<{count}xi32>
  %old = triton_xla.atomic_rmw addf %t into %a[%i] mask %m deterministic
      : {tile} into memref<{slots}x{element}>, tensor<{count}xi32>
  triton_xla.insert %old into %o{sizes} : {tile} into memref<{count}x{element}>
  triton_xla.return
}}
""",
        target=target,
    )


@pytest.mark.grid(4)
@pytest.mark.parametrize("chip", ["sm_80", "gfx942", "gfx1201"])
@pytest.mark.parametrize(
    ("shape", "element", "slots"),
    [((16, 32), "f32", 40), ((3, 100), "f32", 1), ((5, 7), "f16", 9), ((4, 64), "f64", 3)],
    ids=str,
)
def test_sums_have_the_rounding_of_row_major_order(shape: tuple[int, int], element: str, slots: int, chip: str) -> None:
    dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[element]
    x = (RNG.standard_normal(shape) * 100).astype(dtype)
    n = RNG.integers(-1, slots + 1, shape).astype(np.int32)
    start = RNG.standard_normal(slots).astype(dtype)
    expected, old = start.copy(), np.zeros(shape, dtype)
    for at, to in np.ndenumerate(n):
        if 0 <= to < slots and to != 7:
            old[at] = expected[to]
            expected[to] = dtype(expected[to] + x[at])
    update = kernel(shape, element, slots, f"emu:{chip}")
    for emulation in (
        *(Emulation(order=order) for order in ORDERS),
        Emulation(sanitize="address"),
        Emulation(sanitize="thread"),
    ):
        sums, out = start.copy(), np.full(shape, 77, dtype)
        update.launcher(x, n, sums, out, emulation=emulation)
        np.testing.assert_array_equal(sums, expected)
        np.testing.assert_array_equal(out, old)


def test_the_simulator_has_the_same_order() -> None:
    x, n = (RNG.standard_normal((2, 32)) * 100).astype(np.float32), np.zeros((2, 32), np.int32)
    sums, out = np.ones(3, np.float32), np.zeros((2, 32), np.float32)
    kernel((2, 32), "f32", 3, "sim:sm_80")(x, n, sums, out)
    partial = np.cumsum([np.float32(1), *x.reshape(-1)], dtype=np.float32)
    np.testing.assert_array_equal(sums, [partial[-1], 1, 1])
    np.testing.assert_array_equal(out.reshape(-1), partial[:-1])
