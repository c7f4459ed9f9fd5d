# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops whose result is poison in LLVM IR: the result is some value, and the code that depends on it is not deleted."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from smalti import reference
from smalti.compiler import entry

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


ELEMENTS = """
triton_xla.entry_func @k(%x: memref<128xf32>, %n: memref<128xi32>, %y: memref<128xi32>, %z: memref<128xi32>,
                         %g: memref<128xi32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [128] [1] : memref<128xf32> to tensor<128xf32>
  %a = triton_xla.extract %n[0] [128] [1] : memref<128xi32> to tensor<128xi32>
  %i = arith.fptosi %t : tensor<128xf32> to tensor<128xi32>
  %c1 = arith.constant dense<1> : tensor<128xi32>
  %s = arith.shli %c1, %a : tensor<128xi32>
  %is_number = arith.cmpf ord, %t, %t : tensor<128xf32>
  %e = triton_xla.gather %n[%i] mask %is_number : memref<128xi32>, tensor<128xi32> -> tensor<128xi32>
  triton_xla.insert %i into %y[0] [128] [1] : tensor<128xi32> into memref<128xi32>
  triton_xla.insert %s into %z[0] [128] [1] : tensor<128xi32> into memref<128xi32>
  triton_xla.insert %e into %g[0] [128] [1] : tensor<128xi32> into memref<128xi32>
  triton_xla.return
}"""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("target", TARGETS)
def test_undefined_elements_do_not_change_others(target: str) -> None:
    """The reference accepts every value of the undefined elements."""
    kernel, module = smalti.compile(ELEMENTS, target=target), smalti.parse(ELEMENTS)
    x, n = np.arange(128, dtype=np.float32), np.arange(128, dtype=np.int32) % 31
    x[::5], n[::7] = np.nan, 40
    y, z, g = (np.full(128, -7, np.int32) for _ in range(3))
    found = reference.run(entry.find_entry(module), [x, n, y, z, g])
    kernel(x, n, y, z, g)
    is_number, is_in_range = ~np.isnan(x), n < 32
    for actual, value, is_defined, wanted in (
        (y, found[2], is_number, np.where(is_number, x, 0).astype(np.int32)),
        (z, found[3], is_in_range, 1 << np.where(is_in_range, n, 0)),
    ):
        np.testing.assert_array_equal(actual[is_defined], wanted[is_defined])
        np.testing.assert_array_equal(value.data[is_defined], wanted[is_defined])
        assert value.error is not None
        np.testing.assert_array_equal(value.error, np.where(is_defined, 0, np.inf))
    # A masked lane may have an undefined index.
    np.testing.assert_array_equal(g, np.where(is_number, n, 0))
    np.testing.assert_array_equal(found[4].data, g)


@pytest.mark.parametrize(
    ("op", "number", "result", "is_defined"),
    [
        ("fptosi", 127.9, "i8", True),
        ("fptosi", 128.0, "i8", False),
        ("fptosi", -128.9, "i8", True),
        ("fptosi", -129.0, "i8", False),
        ("fptoui", 255.9, "i8", True),
        ("fptoui", 256.0, "i8", False),
        ("fptoui", -0.9, "i8", True),
        ("fptoui", -1.0, "i8", False),
        ("fptosi", 2.0**63, "i64", False),
        ("fptosi", -(2.0**63), "i64", True),
        ("fptoui", 2.0**63, "i64", True),
        ("fptoui", 2.0**64, "i64", False),
        ("fptosi", np.inf, "i32", False),
        ("fptosi", np.nan, "i32", False),
    ],
)
@pytest.mark.filterwarnings("error")
def test_the_range_of_integers_in_the_reference(op: str, number: float, result: str, is_defined: bool) -> None:
    text = f"""
triton_xla.entry_func @k(%x: f64, %y: memref<1x{result}>, %tile: index) tiles 1 {{
  %i = arith.{op} %x : f64 to {result}
  %c0 = arith.constant 0 : index
  memref.store %i, %y[%c0] : memref<1x{result}>
  triton_xla.return
}}"""
    kind = np.dtype(f"int{result[1:]}")
    _, value = reference.run(entry.find_entry(smalti.parse(text)), [number, np.zeros(1, kind)])
    assert (value.error is None or value.error[0] == 0) == is_defined
    if is_defined:
        assert value.data[0] == np.array(int(number) % (1 << kind.itemsize * 8), np.uint64).astype(kind)


def test_an_index_that_is_undefined_is_an_error_of_the_reference() -> None:
    text = ELEMENTS.replace("mask %is_number ", "")
    x, n = np.full(128, np.nan, np.float32), np.zeros(128, np.int32)
    with pytest.raises(reference.InterpreterError, match=r"an index depends on .*an undefined operation"):
        reference.run(entry.find_entry(smalti.parse(text)), [x, n, n.copy(), n.copy(), n.copy()])
