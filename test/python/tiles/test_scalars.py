# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that GPUs execute as ops on tiles: elements at an index, sizes of computed dimensions, atomic updates of scalars and
histograms."""

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


# 16384 counts are all of the LDS of gfx942. 11000 bins are padded, and so are 600 elements.
@pytest.mark.parametrize(
    ("element", "bins", "count", "targets"),
    [
        ("i16", 11000, "i32", GPUS),
        ("i32", 16384, "i64", ("emu:sm_80", "emu:gfx942", "sim:gfx942")),
        ("i64", 7, "i32", GPUS),
        ("i8", 16384, "i32", ("emu:gfx942", "sim:sm_80")),
        ("i5", 9, "i64", ("emu:sm_80", "emu:gfx942")),
        ("index", 300, "i32", GPUS),
    ],
)
def test_histograms_with_a_mask(element: str, bins: int, count: str, targets: tuple[str, ...]) -> None:
    """The values have the smallest and the largest one of their type, -1, and those on both sides of the last bin."""
    width = 64 if element == "index" else int(element[1:])
    stored = "i8" if element == "i5" else element
    convert = "arith.trunci %v : tensor<600xi8> to tensor<600xi5>" if element == "i5" else ""
    text = f"""
triton_xla.entry_func @histogram(%x: memref<600x{stored}>, %m: memref<600xi1>, %r: memref<{bins}x{count}>, %tile: index) tiles 1 {{
  %v = triton_xla.extract %x[0] [600] [1] : memref<600x{stored}> to tensor<600x{stored}>
  {"%t = " + convert if convert else ""}
  %p = triton_xla.extract %m[0] [600] [1] : memref<600xi1> to tensor<600xi1>
  %h = triton_xla.histogram {"%t" if convert else "%v"} bins {bins} mask %p : tensor<600x{element}> -> tensor<{bins}x{count}>
  triton_xla.insert %h into %r[0] [{bins}] [1] : tensor<{bins}x{count}> into memref<{bins}x{count}>
  triton_xla.return
}}
"""
    generator = np.random.default_rng(2)
    largest = 2 ** (width - 1) - 1
    x = generator.integers(-3, min(bins + 3, largest), 600)
    x[:6] = -largest - 1, largest, -1, min(bins, largest), min(bins - 1, largest), 0
    mask = generator.integers(0, 4, 600) > 0
    arrays = x.astype(f"int{min(max(width, 8), 64)}"), mask, np.zeros(bins, f"int{count[1:]}")
    (*_, found) = check(text, targets, *arrays)
    assert found.sum() == np.sum(mask & (x >= 0) & (x < bins))


def test_two_histograms_and_a_scan_share_memory() -> None:
    """The ops use one memory with elements of different types one after the other, without a race."""
    text = """
triton_xla.entry_func @histograms(%x: memref<100xi16>, %r: memref<50xi32>, %q: memref<90xi16>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [100] [1] : memref<100xi16> to tensor<100xi16>
  %h = triton_xla.histogram %t bins 50 : tensor<100xi16> -> tensor<50xi32>
  %s = triton_xla.slice %t [10] [90] [1] : tensor<100xi16> -> tensor<90xi16>
  %g = triton_xla.histogram %s bins 50 : tensor<90xi16> -> tensor<50xi32>
  %d = arith.subi %h, %g : tensor<50xi32>
  triton_xla.insert %d into %r[0] [50] [1] : tensor<50xi32> into memref<50xi32>
  triton_xla.insert %s into %q[0] [90] [1] : tensor<90xi16> into memref<90xi16>
  triton_xla.return
}
"""
    x = np.random.default_rng(3).integers(0, 50, 100).astype(np.int16)
    (_, counts, _) = check(text, GPUS, x, np.zeros(50, np.int32), np.zeros(90, np.int16))
    assert counts.tolist() == np.bincount(x[:10], minlength=50).tolist()


def test_sorted_tiles_of_several_types_share_memory() -> None:
    types = ("i16", "i64", "f32", "i8", "f64")
    parameters = "".join(f"%x{i}: memref<5x11x{e}>, " for i, e in enumerate(types))
    tiles = ", ".join(f"tensor<5x11x{e}>" for e in types)
    names = ", ".join(f"%t{i}" for i in range(5))
    pairs = ", ".join(f"%a{i}: {e}, %b{i}: {e}" for i, e in enumerate(types))
    lines = [
        f"%t{i} = triton_xla.extract %x{i}[0, 0] [5, 11] [1, 1] : memref<5x11x{e}> to tensor<5x11x{e}>"
        for i, e in enumerate(types)
    ]
    lines.append(f"{names.replace('t', 's')} = triton_xla.sort {names} dim 1 : ({tiles}) -> ({tiles}) {{")
    lines += [f"^bb0({pairs}):", "%c = arith.cmpi slt, %a0, %b0 : i16", "triton_xla.yield %c : i1", "}"]
    lines += [
        f"triton_xla.insert %s{i} into %x{i}[0, 0] [5, 11] [1, 1] : tensor<5x11x{e}> into memref<5x11x{e}>"
        for i, e in enumerate(types)
    ]
    text = (
        f"triton_xla.entry_func @sort({parameters}%tile: index) tiles 1 {{\n"
        + "\n".join(lines)
        + "\ntriton_xla.return\n}\n"
    )
    generator = np.random.default_rng(4)
    arrays = [generator.integers(0, 9, (5, 11)).astype(f"{'float' if e[0] == 'f' else 'int'}{e[1:]}") for e in types]
    (found, *_) = check(text, (*GPUS, "sim:gfx942"), *arrays)
    assert (np.diff(found) >= 0).all()


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
