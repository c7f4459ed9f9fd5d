# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that GPUs execute as ops on tiles: elements at an index, sizes of computed dimensions, atomic updates of scalars and
histograms of many bins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import smalti
from smalti import dtypes, reference
from smalti.calling import calls
from smalti.calling.arguments import Argument
from smalti.compiler import entry

GPUS = ("emu:sm_80", "emu:gfx942", "emu:gfx1201", "sim:sm_80")


def check(text: str, targets: tuple[str, ...], *arrays: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """Compares the results with the reference interpreter, which gives them exactly. Returns those of the last target."""
    module = smalti.parse(text)
    with np.errstate(all="ignore"):
        wanted = reference.run(entry.find_entry(module), [array.copy() for array in arrays])
    found: list[np.ndarray[Any, Any]] = []
    for target in targets:
        found = [array.copy() for array in arrays]
        smalti.compile(text, target=target)(*found)
        for array, value in zip(found, wanted, strict=True):
            exact = value.data.astype(array.dtype if array.dtype == bool else np.float64)
            np.testing.assert_array_equal(array.astype(exact.dtype), exact, err_msg=target)
    return found


EXTRACT = """
triton_xla.entry_func @extract(%x: memref<6x20xE>, %n: memref<2xi32>, %r: memref<4xE>, %tile: index) tiles 2 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %t = triton_xla.extract %x[0, 0] [6, 20] [1, 1] : memref<6x20xE> to tensor<6x20xE>
  %a = memref.load %n[%zero] : memref<2xi32>
  %b = memref.load %n[%one] : memref<2xi32>
  %i = arith.index_cast %a : i32 to index
  %j = arith.index_cast %b : i32 to index
  %e = tensor.extract %t[%i, %j] : tensor<6x20xE>
  %f = tensor.extract %t[%tile, %one] : tensor<6x20xE>
  %k = arith.addi %tile, %tile : index
  %l = arith.addi %k, %one : index
  memref.store %e, %r[%k] : memref<4xE>
  memref.store %f, %r[%l] : memref<4xE>
  triton_xla.return
}
"""


@pytest.mark.parametrize("element", ["f32", "f8E5M2", "f6E2M3FN", "i64", "i1", "index"])
def test_elements_at_an_index(element: str) -> None:
    ty = dtypes.from_mlir(element)
    assert ty is not None
    generator = np.random.default_rng(11)
    x = generator.integers(-8, 8, (6, 20)).astype(np.float32).astype(ty.numpy)
    if element == "f32":
        x[4, 17], x[0, 1] = np.nan, -0.0
    (*_, found) = check(
        EXTRACT.replace("xE", f"x{element}"), ("cpu", *GPUS), x, np.array([4, 17], np.int32), np.zeros(4, ty.numpy)
    )
    if element == "f32":
        assert np.isnan(found[0]) and np.signbit(found[1])


def test_sizes_of_computed_dimensions() -> None:
    text = """
triton_xla.entry_func @sizes(%x: memref<?x7x?xf32>, %r: memref<3xi64>, %tile: index) tiles 3 {
  %d = memref.dim %x, %tile : memref<?x7x?xf32>
  %n = arith.index_cast %d : index to i64
  memref.store %n, %r[%tile] : memref<3xi64>
  triton_xla.return
}
"""
    (*_, found) = check(text, ("cpu", *GPUS), np.zeros((5, 7, 11), np.float32), np.zeros(3, np.int64))
    assert found.tolist() == [5, 7, 11]


@pytest.mark.parametrize(("kind", "element"), [("addf", "f32"), ("maxs", "i32"), ("addi", "i64")])
def test_each_tile_updates_a_scalar_once(kind: str, element: str) -> None:
    text = f"""
triton_xla.entry_func @update(%x: memref<4x{element}>, %r: memref<2x{element}>, %o: memref<1x{element}>, %tile: index) tiles 4 {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = memref.load %x[%tile] : memref<4x{element}>
  %q = memref.atomic_rmw {kind} %v, %r[%one] : ({element}, memref<2x{element}>) -> {element}
  %is_first = arith.cmpi eq, %tile, %zero : index
  scf.if %is_first {{
    %p = memref.atomic_rmw assign %v, %r[%zero] : ({element}, memref<2x{element}>) -> {element}
    memref.store %p, %o[%zero] : memref<1x{element}>
  }}
  triton_xla.return
}}
"""
    ty = dtypes.from_mlir(element)
    assert ty is not None
    check(text, ("cpu", *GPUS), *(np.array(n, ty.numpy) for n in ([3, 1, 4, 1], [5, 9], [0])))


def test_histograms_of_many_bins() -> None:
    """A loop compares rows of 2^16 / 600 bins, and 11000 bins are not a multiple of a row."""
    text = """
triton_xla.entry_func @histogram(%x: memref<600xi16>, %m: memref<600xi1>, %r: memref<11000xi32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [600] [1] : memref<600xi16> to tensor<600xi16>
  %p = triton_xla.extract %m[0] [600] [1] : memref<600xi1> to tensor<600xi1>
  %h = triton_xla.histogram %t bins 11000 mask %p : tensor<600xi16> -> tensor<11000xi32>
  triton_xla.insert %h into %r[0] [11000] [1] : tensor<11000xi32> into memref<11000xi32>
  triton_xla.return
}
"""
    generator = np.random.default_rng(2)
    x = generator.integers(-3, 300, 600) * 37
    x[:3] = 10999, 11000, 0
    mask = generator.integers(0, 4, 600) > 0
    (*_, found) = check(text, ("emu:gfx942",), x.astype(np.int16), mask, np.zeros(11000, np.int32))
    assert found.sum() == np.sum(mask & (x >= 0) & (x < 11000))


@pytest.mark.parametrize("element", [ty.mlir for ty in dtypes.ELEMENT_TYPES if ty.kind == "f"])
def test_scalar_arguments_of_every_float(element: str) -> None:
    """The numbers around the small float test that each parameter has its own bytes."""
    ty = dtypes.from_mlir(element)
    assert ty is not None
    source = """
      triton_xla.entry_func @splat(%n: i8, %s: E, %m: i16, %x: memref<2xE>, %y: memref<2xi16>, %tile: index) tiles 1 {
        %e = arith.extsi %n : i8 to i16
        %t = tensor.splat %s : tensor<2xE>
        %a = arith.addi %e, %m : i16
        %u = tensor.splat %a : tensor<2xi16>
        triton_xla.insert %t into %x[0] [2] [1] : tensor<2xE> into memref<2xE>
        triton_xla.insert %u into %y[0] [2] [1] : tensor<2xi16> into memref<2xi16>
        triton_xla.return
      }
    """.replace("E,", f"{element},").replace("xE>", f"x{element}>")
    for target in ("cpu", *GPUS):
        x, y = np.zeros(2, ty.numpy), np.zeros(2, np.int16)
        smalti.compile(source, target=target)(-3, 0.5, 300, x, y)
        assert (x == np.array(0.5, ty.numpy)).all() and (y == 297).all(), target


def test_small_floats_are_passed_as_their_bits() -> None:
    types = [dtypes.from_mlir(element) for element in ("f16", "bf16", "f8E5M2", "i8")]
    arguments = [Argument(i, ty.mlir, ty, None, None, True, False) for i, ty in enumerate(types) if ty is not None]
    words = np.frombuffer(calls.ParameterLayout(arguments).pack([-1.5, 1 / 3, 1.5, -1]), np.uint64)
    assert [hex(word) for word in words] == ["0xbe00", "0x3eab", "0x3e", "0xff"]
