# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements that are not stored with their own width: windows at odd offsets, past the ends, and between other elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import smalti
from smalti import dtypes, reference
from smalti.compiler import entry

GPUS = ("emu:sm_80", "emu:gfx942", "emu:gfx1201", "sim:sm_80", "sim:gfx942")
BYTES = ("i1", "f6E2M3FN", "f6E3M2FN", "index")

WINDOWS = """
triton_xla.entry_func @windows(%x: memref<13x19xE>, %y: memref<13x19xE>, %z: memref<?x19xE, strided<[?, 2]>>, %i: memref<8x16xi32>,
    %g: memref<8x16xE>, %s: memref<13x19xE>, %tile: index) tiles 1 {
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %w = triton_xla.extract %x[%five, 7] [8, 16] [1, 1] fill FILL : memref<13x19xE> to tensor<8x16xE>
  triton_xla.insert %w into %y[%three, 5] [8, 16] [1, 1] : tensor<8x16xE> into memref<13x19xE>
  triton_xla.insert %w into %z[%five, %three] [8, 16] [1, 1] : tensor<8x16xE> into memref<?x19xE, strided<[?, 2]>>
  %n = triton_xla.extract %i[0, 0] [8, 16] [1, 1] : memref<8x16xi32> to tensor<8x16xi32>
  %v = triton_xla.gather %x[%n, %three] fill FILL : memref<13x19xE>, tensor<8x16xi32>, index -> tensor<8x16xE>
  triton_xla.scatter %v into %g[%n, %five] : tensor<8x16xE> into memref<8x16xE>, tensor<8x16xi32>, index
  %e = memref.load %x[%five, %three] : memref<13x19xE>
  memref.store %e, %s[%three, %five] : memref<13x19xE>
  triton_xla.return
}
"""


def elements(generator: np.random.Generator, element: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    ty = dtypes.from_mlir(element)
    assert ty is not None
    high = {"i1": 2, "index": 1000}.get(element, 64)
    codes = generator.integers(0, high, shape)
    return codes if element == "index" else codes.astype(np.uint8).view(ty.numpy)


@pytest.mark.parametrize("element", BYTES)
def test_windows_of_elements_in_bytes(element: str) -> None:
    """The elements between those of `%z`, which has stride 2, do not change."""
    generator = np.random.default_rng(3)
    fill = {"i1": "true", "index": "-7 : index"}.get(element, f"1.5 : {element}")
    text = WINDOWS.replace("xE", f"x{element}").replace("FILL", fill)
    wide = elements(generator, element, (13, 41))
    arrays = [
        elements(generator, element, (13, 19)),
        elements(generator, element, (13, 19)),
        wide,
        generator.integers(-2, 15, (8, 16)).astype(np.int32),
        elements(generator, element, (8, 16)),
        elements(generator, element, (13, 19)),
    ]

    def arguments() -> list[np.ndarray[Any, Any]]:
        copies = [array.copy() for array in arrays]
        return [copy[:, :38:2] if copy.shape == wide.shape else copy for copy in copies]

    module = smalti.parse(text)
    wanted = reference.run(entry.find_entry(module), arguments())
    for target in ("cpu", *GPUS):
        found = arguments()
        smalti.compile(text, target=target)(*found)
        for array, value in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(array.astype(value.data.dtype), value.data, err_msg=target)
        between = found[2].base
        assert between is not None
        np.testing.assert_array_equal(between[:, 1::2], wide[:, 1::2], err_msg=target)


DOT = """
triton_xla.entry_func @dot(%a: memref<9x40xE>, %b: memref<37x11xF>, %l: memref<9x2xf8E8M0FNU>, %c: memref<9x11xf32>, %tile: index)
    tiles 1 {
  %three = arith.constant 3 : index
  %x = triton_xla.extract %a[0, %three] [16, 64] [1, 1] : memref<9x40xE> to tensor<16x64xE>
  %y = triton_xla.extract %b[0, 0] [64, 16] [1, 1] : memref<37x11xF> to tensor<64x16xF>
  %s = triton_xla.extract %l[0, 0] [16, 2] [1, 1] : memref<9x2xf8E8M0FNU> to tensor<16x2xf8E8M0FNU>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = triton_xla.dot_scaled %x scale %s, %y, %zero block 32
    : (tensor<16x64xE>, tensor<16x2xf8E8M0FNU>, tensor<64x16xF>, tensor<16x16xf32>) -> tensor<16x16xf32>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<9x11xf32>
  triton_xla.return
}
"""


@pytest.mark.parametrize("target", ["cpu", *GPUS])
def test_scaled_dots_of_floats_of_6_bits_in_memory(target: str) -> None:
    text = DOT.replace("xE", "xf6E2M3FN").replace("xF", "xf6E3M2FN")
    generator = np.random.default_rng(5)
    arrays = [
        elements(generator, "f6E2M3FN", (9, 40)),
        elements(generator, "f6E3M2FN", (37, 11)),
        (2.0 ** generator.integers(-3, 4, (9, 2))).astype(dtypes.from_mlir("f8E8M0FNU").numpy),  # pyright: ignore[reportOptionalMemberAccess]
        np.full((9, 11), np.nan, np.float32),
    ]
    module = smalti.parse(text)
    (*_, wanted) = reference.run(entry.find_entry(module), arrays)
    smalti.compile(text, target=target)(*arrays)
    # The sums of all blocks are exact in f32.
    np.testing.assert_array_equal(arrays[3], wanted.data)


PACKED = """
triton_xla.entry_func @packed(%x: memref<?x?xE> {triton_xla.size_divisors = array<i64: 1, 4>},
    %y: memref<?x?xE, strided<[?, 1]>> {triton_xla.size_divisors = array<i64: 1, 4>, triton_xla.stride_divisors = array<i64: 4, 1>},
    %w: memref<?x?xE> {triton_xla.size_divisors = array<i64: 1, 4>}, %i: memref<8x16xi32>, %g: memref<?x20xE>, %tile: index) tiles 1 {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %t = triton_xla.extract %x[%five, %three] [8, 16] [1, 1] fill FILL : memref<?x?xE> to tensor<8x16xE>
  triton_xla.insert %t into %y[%three, %five] [8, 16] [1, 1] : tensor<8x16xE> into memref<?x?xE, strided<[?, 1]>>
  %a = triton_xla.extract %x[0, 4] [8, 16] [1, 1] : memref<?x?xE> to tensor<8x16xE>
  triton_xla.insert %a into %w[%two, 4] [8, 16] [1, 1] : tensor<8x16xE> into memref<?x?xE>
  %s = triton_xla.extract %x[%three, %two] [4, 8] [2, 3] fill FILL : memref<?x?xE> to tensor<4x8xE>
  triton_xla.insert %s into %w[0, %five] [4, 8] [3, 2] : tensor<4x8xE> into memref<?x?xE>
  %n = triton_xla.extract %i[0, 0] [8, 16] [1, 1] : memref<8x16xi32> to tensor<8x16xi32>
  %v = triton_xla.gather %x[%n, %three] fill FILL : memref<?x?xE>, tensor<8x16xi32>, index -> tensor<8x16xE>
  triton_xla.scatter %v into %g[%five, %n] : tensor<8x16xE> into memref<?x20xE>, index, tensor<8x16xi32>
  %e = memref.load %x[%five, %three] : memref<?x?xE>
  memref.store %e, %g[%three, %five] : memref<?x20xE>
  triton_xla.return
}
"""


@pytest.mark.parametrize(
    ("element", "shape"), [("i4", (13, 28)), ("i2", (9, 8)), ("f4E2M1FN", (9, 24)), ("i4", (0, 12))], ids=str
)
def test_packed_elements_of_dynamic_arrays(element: str, shape: tuple[int, int]) -> None:
    """The bytes between the rows of `%y` and the other elements of each byte do not change."""
    generator = np.random.default_rng(7)
    rows, columns = shape[0], shape[1] * (2 if element == "i2" else 4) // 8
    text = PACKED.replace("xE", f"x{element}").replace("FILL", f"{'1.0' if element[0] == 'f' else '1'} : {element}")
    if not rows:
        text = "\n".join(line for line in text.splitlines() if "%e" not in line)
    shapes = [(rows, columns), (rows, columns + 4), (rows, columns), (max(rows, 7), 5 if element == "i2" else 10)]
    first, wide, second, gathered = (generator.integers(-128, 128, s).astype(np.int8) for s in shapes)
    numbers = generator.integers(-2, 22, (8, 16)).astype(np.int32)

    def arguments() -> list[np.ndarray[Any, Any]]:
        return [first.copy(), wide.copy()[:, :columns], second.copy(), numbers.copy(), gathered.copy()]

    module = smalti.parse(text)
    what = entry.describe(entry.find_entry(module))
    wanted = reference.run(entry.find_entry(module), arguments())
    for target in ("cpu", *GPUS[:3]):
        found = arguments()
        smalti.compile(text, target=target)(*found)
        for array, argument, value in zip(found, what.arguments, wanted, strict=True):
            codes = reference.memory.unpack(array, argument)
            np.testing.assert_array_equal(codes, value.data, err_msg=f"{target}: {argument}")
        between = found[1].base
        assert between is not None
        np.testing.assert_array_equal(between[:, columns:], wide[:, columns:], err_msg=target)


ATOMICS = """
triton_xla.entry_func @atomics(%x: memref<64xE>, %n: memref<64xi32>, %sums: memref<8xE>, %e: memref<64xE>, %d: memref<64xE>,
    %cas: memref<64xE>, %old: memref<64xE>, %last: memref<8xE>, %tile: index) tiles 2 {
  %v = triton_xla.extract %x[0] [64] [1] : memref<64xE> to tensor<64xE>
  %i = triton_xla.extract %n[0] [64] [1] : memref<64xi32> to tensor<64xi32>
  %all = triton_xla.iota dim 0 : tensor<64xi32>
  UPDATES
  %first = arith.constant 0 : index
  %is = arith.cmpi eq, %tile, %first : index
  scf.if %is {
    %p = triton_xla.extract %e[0] [64] [1] : memref<64xE> to tensor<64xE>
    %q = triton_xla.extract %d[0] [64] [1] : memref<64xE> to tensor<64xE>
    CAS
    %s = triton_xla.atomic_rmw assign %p into %last[%i] deterministic : tensor<64xE> into memref<8xE>, tensor<64xi32>
  }
  triton_xla.return
}
"""


@pytest.mark.parametrize("element", ["i4", "i2", "f4E2M1FN"])
def test_atomic_operations_on_packed_elements(element: str) -> None:
    """Other elements of a byte do not change, also if other threads update them."""
    is_float = element.startswith("f")
    update = "%u = triton_xla.atomic_rmw addi %v into %sums[%i] : tensor<64xE> into memref<8xE>, tensor<64xi32>"
    old = "memref<64xE>, tensor<64xi32>"
    swap = f"triton_xla.atomic_{'rmw assign' if is_float else 'cas %p,'} %q into %cas[%all] : tensor<64xE> into {old}"
    store = "triton_xla.insert %o into %old[0] [64] [1] : tensor<64xE> into memref<64xE>"
    text = (
        ATOMICS.replace("UPDATES", "" if is_float else update)
        .replace("CAS", f"%o = {swap}\n    {store}")
        .replace("xE", f"x{element}")
    )
    generator = np.random.default_rng(5)
    count = 2 if element != "i2" else 4
    sizes = (64, 0, 8, 64, 64, 64, 64, 8)
    arrays: list[np.ndarray[Any, Any]] = [
        generator.integers(-128, 128, size // count).astype(np.int8) for size in sizes
    ]
    arrays[1] = generator.integers(-2, 10, 64).astype(np.int32)
    # Half of the comparisons succeed.
    arrays[5][::2] = arrays[3][::2]
    module = smalti.parse(text)
    what = entry.describe(entry.find_entry(module))
    wanted = reference.run(entry.find_entry(module), [array.copy() for array in arrays])
    for target in ("cpu", *GPUS):
        found = [array.copy() for array in arrays]
        smalti.compile(text, target=target)(*found)
        for array, argument, value in zip(found, what.arguments, wanted, strict=True):
            certain = reference.values.error_of(value) == 0
            assert certain.any()
            codes = reference.memory.unpack(array, argument)
            np.testing.assert_array_equal(codes[certain], value.data[certain], err_msg=f"{target}: {argument}")


@pytest.mark.parametrize("offset", ["?", "23", "-4"])
def test_arrays_that_begin_inside_other_arrays(offset: str) -> None:
    """The kernel receives the address of the first element, so the offset of the type has no effect."""
    text = """
triton_xla.entry_func @offsets(%x: memref<?x5xf32, strided<[?, 1], offset: ?>>, %y: memref<7x5xf32, strided<[9, 1], offset: ?>>,
    %tile: index) tiles 1 {
  %t = triton_xla.extract %x[1, 2] [8, 4] [1, 1] fill 3.0 : f32 : memref<?x5xf32, strided<[?, 1], offset: ?>> to tensor<8x4xf32>
  triton_xla.insert %t into %y[2, 1] [8, 4] [1, 1] : tensor<8x4xf32> into memref<7x5xf32, strided<[9, 1], offset: ?>>
  triton_xla.return
}
""".replace("offset: ?", f"offset: {offset}")
    x, y = np.arange(60, dtype=np.float32).reshape(6, 10), np.zeros((9, 9), np.float32)
    wanted = y.copy()
    window = np.full((8, 4), 3, np.float32)
    window[:3, :3] = x[3:6, 5:8]
    wanted[3:8, 3:7] = window[:5]
    for target in ("cpu", *GPUS):
        found = y.copy()
        smalti.compile(text, target=target)(x[2:, 3:8], found[1:8, 2:7])
        np.testing.assert_array_equal(found, wanted, err_msg=target)


@pytest.mark.parametrize(
    ("type_", "shape"),
    [
        ("4x0xf32", (4, 0)),
        ("?x0xf32", (5, 0)),
        ("0x?xf32", (0, 3)),
        ("?x0xf32, strided<[?, ?]>", (2, 0)),
        ("4x0xf32, strided<[0, 1]>", (4, 0)),
        ("?x?xf32", (3, 0)),
    ],
)
def test_arrays_without_elements(type_: str, shape: tuple[int, int]) -> None:
    text = """
triton_xla.entry_func @empty(%x: memref<T>, %y: memref<4x8xf32>, %z: memref<4x8xf32>, %tile: index) tiles 1 {
  %zero = arith.constant 0 : index
  %i = triton_xla.iota dim 0 : tensor<4x8xi32>
  %t = triton_xla.extract %x[%tile, 0] [4, 8] [1, 1] fill 1.0 : f32 : memref<T> to tensor<4x8xf32>
  %s = triton_xla.extract %x[0, %tile] [4, 8] [2, 3] fill 2.0 : f32 : memref<T> to tensor<4x8xf32>
  %u = triton_xla.extract %x[%tile, 0] [1, 8] [1, 1] fill 4.0 : f32 : memref<T> to tensor<8xf32>
  %g = triton_xla.gather %x[%i, %zero] fill 8.0 : f32 : memref<T>, tensor<4x8xi32>, index -> tensor<4x8xf32>
  %b = triton_xla.broadcast %u dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %ts = arith.addf %t, %s : tensor<4x8xf32>
  %gb = arith.addf %g, %b : tensor<4x8xf32>
  triton_xla.insert %ts into %x[%tile, 0] [4, 8] [1, 1] : tensor<4x8xf32> into memref<T>
  triton_xla.scatter %gb into %x[%i, %zero] : tensor<4x8xf32> into memref<T>, tensor<4x8xi32>, index
  triton_xla.insert %ts into %y[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into memref<4x8xf32>
  triton_xla.insert %gb into %z[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into memref<4x8xf32>
  triton_xla.return
}
""".replace("<T>", f"<{type_}>")
    for target in ("cpu", *GPUS):
        y, z = np.zeros((4, 8), np.float32), np.zeros((4, 8), np.float32)
        smalti.compile(text, target=target)(np.zeros(shape, np.float32), y, z)
        assert (y == 3).all() and (z == 12).all(), target


UPDATES = ("addi", "andi", "assign", "maxs", "maxu", "mins", "minu", "ori", "xori")


@pytest.mark.parametrize("element", ["i1", "f6E3M2FN"])
def test_atomic_updates_of_elements_in_bytes(element: str) -> None:
    """All pairs of old and new values of i1; the next elements do not change."""
    kinds = UPDATES if element == "i1" else ("assign",)
    ty = dtypes.from_mlir(element)
    assert ty is not None
    arguments = "".join(f"%x{n}: memref<6x{element}>, %o{n}: memref<4x{element}>, " for n in range(len(kinds)))
    body = "".join(
        f"""
  %r{n} = triton_xla.atomic_rmw {kind} %v into %x{n}[%i] : tensor<4x{element}> into memref<6x{element}>, tensor<4xi32>
  triton_xla.insert %r{n} into %o{n}[0] [4] [1] : tensor<4x{element}> into memref<4x{element}>"""
        for n, kind in enumerate(kinds)
    )
    text = f"""
triton_xla.entry_func @update({arguments}%v_: memref<4x{element}>, %c: memref<6xi1>, %tile: index) tiles 1 {{
  %one = arith.constant 1 : index
  %yes = arith.constant true
  %no = arith.constant false
  %i = triton_xla.iota dim 0 : tensor<4xi32>
  %v = triton_xla.extract %v_[0] [4] [1] : memref<4x{element}> to tensor<4x{element}>
  %swapped = triton_xla.atomic_cas %no, %yes into %c[%one] : i1 into memref<6xi1>, index
  %scalar = memref.atomic_rmw assign %swapped, %c[%tile] : (i1, memref<6xi1>) -> i1{body}
  triton_xla.return
}}
"""
    module = smalti.parse(text)
    old = np.array([0, 0, 1, 1, 1, 0]).astype(ty.numpy)
    results = [array for _ in kinds for array in (old, np.zeros(4, ty.numpy))]
    arrays = [*results, np.array([0, 1, 0, 1]).astype(ty.numpy), np.array([1, 0, 1, 0, 1, 1], bool)]
    wanted = reference.run(entry.find_entry(module), [array.copy() for array in arrays])
    for target in ("cpu", *GPUS):
        found = [array.copy() for array in arrays]
        smalti.compile(text, target=target)(*found)
        for number, (array, value) in enumerate(zip(found, wanted, strict=True)):
            np.testing.assert_array_equal(
                array.astype(np.float64), value.data.astype(np.float64), err_msg=f"{target} {number}"
            )
    assert [bool(x) for x in wanted[-1].data] == [False, True, True, False, True, True]
