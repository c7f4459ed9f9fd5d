# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops whose result is poison in LLVM IR: the result is some value, and the code that depends on it is not deleted."""

from __future__ import annotations

import numpy as np
import pytest
import smalti

TARGETS = ("cpu", "emu:sm_80", "emu:gfx942")

KERNEL = """
triton_xla.entry_func @k(%x: memref<128xi32>, %y: memref<128xi32>, %n: i32, %tile: index) tiles 1 {{
  %zero = arith.constant 0.0 : f32
  %nan = arith.divf %zero, %zero : f32
  %large = arith.constant 3.0e+10 : f32
  %c40 = arith.constant 40 : i32
  %s = {op}
  %t = triton_xla.extract %x[0] [128] [1] : memref<128xi32> to tensor<128xi32>
  {body}
  triton_xla.return
}}"""

VALUES = {
    "shli": "arith.shli %n, %c40 : i32",
    "shrui": "arith.shrui %n, %c40 : i32",
    "shrsi": "arith.shrsi %n, %c40 : i32",
    "NaN to signed": "arith.fptosi %nan : f32 to i32",
    "NaN to unsigned": "arith.fptoui %nan : f32 to i32",
    "out of range": "arith.fptosi %large : f32 to i32",
}

STORE = "triton_xla.insert %{} into %y[0] [128] [1] : tensor<128xi32> into memref<128xi32>"

BODIES = {
    "condition": f"""%p = arith.cmpi sgt, %s, %n : i32
  scf.if %p {{
    {STORE.format("t")}
  }} else {{
    %d = arith.addi %t, %t : tensor<128xi32>
    {STORE.format("d")}
  }}""",
    "trip count": f"""{STORE.format("t")}
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %low = arith.maxsi %s, %c0 : i32
  %trips = arith.minsi %low, %c1 : i32
  %d = arith.addi %t, %t : tensor<128xi32>
  scf.for %i = %c0 to %trips step %c1 : i32 {{
    {STORE.format("d")}
  }}""",
    "offset": """%c0 = arith.constant 0 : i32
  %low = arith.maxsi %s, %c0 : i32
  %high = arith.minsi %low, %c0 : i32
  %at = arith.index_cast %high : i32 to index
  triton_xla.insert %t into %y[%at] [128] [1] : tensor<128xi32> into memref<128xi32>""",
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("value", VALUES)
def test_code_that_depends_on_an_undefined_value_runs(value: str, body: str, target: str) -> None:
    x, y = np.arange(1, 129, dtype=np.int32), np.full(128, -7, np.int32)
    smalti.compile(KERNEL.format(op=VALUES[value], body=BODIES[body]), target=target)(x, y, 3)
    assert any(np.array_equal(y, each) for each in (x, 2 * x))


@pytest.mark.parametrize("target", TARGETS)
def test_undefined_elements_do_not_change_others(target: str) -> None:
    kernel = smalti.compile(
        """
triton_xla.entry_func @k(%x: memref<128xf32>, %n: memref<128xi32>, %y: memref<128xi32>, %z: memref<128xi32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [128] [1] : memref<128xf32> to tensor<128xf32>
  %a = triton_xla.extract %n[0] [128] [1] : memref<128xi32> to tensor<128xi32>
  %i = arith.fptosi %t : tensor<128xf32> to tensor<128xi32>
  %c1 = arith.constant dense<1> : tensor<128xi32>
  %s = arith.shli %c1, %a : tensor<128xi32>
  triton_xla.insert %i into %y[0] [128] [1] : tensor<128xi32> into memref<128xi32>
  triton_xla.insert %s into %z[0] [128] [1] : tensor<128xi32> into memref<128xi32>
  triton_xla.return
}""",
        target=target,
    )
    x, n = np.arange(128, dtype=np.float32), np.arange(128, dtype=np.int32) % 31
    x[::5], n[::7] = np.nan, 40
    y, z = np.full(128, -7, np.int32), np.full(128, -7, np.int32)
    kernel(x, n, y, z)
    is_number, is_in_range = ~np.isnan(x), n < 32
    np.testing.assert_array_equal(y[is_number], x[is_number])
    np.testing.assert_array_equal(z[is_in_range], 1 << n[is_in_range])
