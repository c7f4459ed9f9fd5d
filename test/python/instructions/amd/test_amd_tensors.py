# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AMD's tensor data mover: tiles between global memory and LDS, selected by descriptors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from helpers import LATE_AND_EARLY, Array
from smalti import emulator, errors
from smalti.emulator import Emulation

CHIP = "emu:gfx1250"
LDS_BYTES = 8192

KERNEL = """target triple = "amdgcn-amd-amdhsa"
@lds = internal addrspace(3) global [8192 x i8] poison, align 16
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.wait.tensorcnt(i16)
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.tensor.load.to.lds(<4 x i32>, <8 x i32>, <4 x i32>, <4 x i32>, i32)
declare void @llvm.amdgcn.tensor.load.to.lds.d2(<4 x i32>, <8 x i32>, i32)
declare void @llvm.amdgcn.tensor.store.from.lds(<4 x i32>, <8 x i32>, <4 x i32>, <4 x i32>, i32)
declare void @llvm.amdgcn.tensor.store.from.lds.d2(<4 x i32>, <8 x i32>, i32)
define amdgpu_kernel void @k(ptr addrspace(1) %tensor, ptr addrspace(1) %tile, ptr addrspace(1) %groups, i64 %start) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %g0a = load <4 x i32>, ptr addrspace(1) %groups, align 4
  %p1 = getelementptr i8, ptr addrspace(1) %groups, i32 16
  %g1 = load <8 x i32>, ptr addrspace(1) %p1, align 4
  %p2 = getelementptr i8, ptr addrspace(1) %groups, i32 48
  %g2 = load <4 x i32>, ptr addrspace(1) %p2, align 4
  %p3 = getelementptr i8, ptr addrspace(1) %groups, i32 64
  %g3 = load <4 x i32>, ptr addrspace(1) %p3, align 4
  ; The addresses
  %base = ptrtoint ptr addrspace(3) @lds to i32
  %off = extractelement <4 x i32> %g0a, i32 1
  %la = add i32 %base, %off
  %g0b = insertelement <4 x i32> %g0a, i32 %la, i32 1
  %ta = getelementptr i8, ptr addrspace(1) %tensor, i64 %start
  %t64 = ptrtoint ptr addrspace(1) %ta to i64
  %tl = trunc i64 %t64 to i32
  %ts = lshr i64 %t64, 32
  %th = trunc i64 %ts to i32
  %old = extractelement <4 x i32> %g0a, i32 3
  %thf = or i32 %th, %old
  %g0c = insertelement <4 x i32> %g0b, i32 %tl, i32 2
  %g0 = insertelement <4 x i32> %g0c, i32 %thf, i32 3
  br label %fill
fill:
  %i = phi i32 [ %lane, %0 ], [ %next, %fill ]
  %pf = getelementptr i32, ptr addrspace(1) %tile, i32 %i
  %pl = getelementptr i32, ptr addrspace(3) @lds, i32 %i
  %v = load i32, ptr addrspace(1) %pf
  store i32 %v, ptr addrspace(3) %pl
  %next = add i32 %i, 32
  %more = icmp ult i32 %next, 2048
  br i1 %more, label %fill, label %copy
copy:
  call void @llvm.amdgcn.s.barrier()
  {copy}
  {wait}
  br label %read
read:
  %j = phi i32 [ %lane, %copy ], [ %after, %read ]
  %pr = getelementptr i32, ptr addrspace(3) @lds, i32 %j
  %po = getelementptr i32, ptr addrspace(1) %tile, i32 %j
  %w = load i32, ptr addrspace(3) %pr
  store i32 %w, ptr addrspace(1) %po
  %after = add i32 %j, 32
  %rest = icmp ult i32 %after, 2048
  br i1 %rest, label %read, label %end
end:
  ret void
}}
"""
FOUR = "<4 x i32> %g0, <8 x i32> %g1, <4 x i32> %g2, <4 x i32> %g3, i32 0"
TWO = "<4 x i32> %g0, <8 x i32> %g1, i32 0"
LOAD = f"call void @llvm.amdgcn.tensor.load.to.lds({FOUR})"
LOAD_2D = f"call void @llvm.amdgcn.tensor.load.to.lds.d2({TWO})"
STORE = f"call void @llvm.amdgcn.tensor.store.from.lds({FOUR})"
STORE_2D = f"call void @llvm.amdgcn.tensor.store.from.lds.d2({TWO})"
WAIT = "call void @llvm.amdgcn.s.wait.tensorcnt(i16 0)"


class Bits:
    """The descriptor's groups; a field is given by its group and bit."""

    def __init__(self) -> None:
        self.value = 0

    def put(self, group: int, bit: int, count: int, value: int) -> None:
        assert 0 <= value < 1 << count, (group, bit, value)
        at = (0, 128, 384, 512)[group] + bit
        self.value &= ~(((1 << count) - 1) << at)
        self.value |= value << at

    def words(self) -> Array:
        return np.frombuffer(self.value.to_bytes(80, "little"), np.int32).copy()


# Tile, tensor and stride of each dimension, the innermost first: the group, the bit and how many.
TILES = [(1, 112, 16), (1, 128, 16), (1, 144, 16), (2, 112, 16), (3, 80, 16)]
TENSORS = [(1, 48, 32), (1, 80, 32), (2, 0, 32), (2, 32, 32), (3, 48, 32)]
STRIDES = [(1, 160, 48), (1, 208, 48), (2, 64, 48), (3, 0, 48)]


def descriptor(
    array: Array, tile: Sequence[int], at: Sequence[int], pad: tuple[int, int] | None = None, lds: int = 0
) -> Bits:
    """For the tile at an index; a pad is an interval and an amount in dwords."""
    bits = Bits()
    bits.put(0, 0, 2, 1)
    bits.put(0, 32, 32, lds)
    bits.put(0, 126, 2, 2)
    bits.put(1, 16, 2, array.itemsize.bit_length() - 1)
    for i, (size, first, extent) in enumerate(zip(reversed(tile), reversed(at), reversed(array.shape), strict=True)):
        bits.put(*TILES[i], size)
        bits.put(*TENSORS[i], max(extent - first, 0))
        if i:
            bits.put(*STRIDES[i - 1], array.strides[-1 - i] // array.itemsize)
    if pad:
        bits.put(1, 20, 1, 1)
        bits.put(1, 22, 3, pad[0].bit_length() - 2)
        bits.put(1, 25, 7, pad[1] - 1)
    return bits


def offset(array: Array, at: Sequence[int]) -> int:
    return int(sum(index * stride for index, stride in zip(at, array.strides, strict=True)))


def run(
    array: Array, bits: Bits, start: int, copy: str = LOAD, wait: str = WAIT, lds: Array | None = None, **options: Any
) -> Array:
    """LDS after the copy, as bytes."""
    tile = np.full(LDS_BYTES, 0xEE, np.uint8) if lds is None else lds.copy()
    emulator.load(KERNEL.format(copy=copy, wait=wait), CHIP).launch(1, 32, array, tile, bits.words(), start, **options)
    return tile


def part(array: Array, tile: Sequence[int], at: Sequence[int]) -> Array:
    """The tile at an index, with zeros outside of the array."""
    out = np.zeros(tile, array.dtype)
    for index in np.ndindex(*tile):
        place = tuple(a + i for a, i in zip(at, index, strict=True))
        if all(p < n for p, n in zip(place, array.shape, strict=True)):
            out[index] = array[place]
    return out


def in_lds(tile: Array, pad: tuple[int, int] | None = None, lds: int = 0, before: Array | None = None) -> Array:
    """The layout of the tile in LDS: after each interval there are padding dwords, which are not written."""
    out = np.full(LDS_BYTES, 0xEE, np.uint8) if before is None else before.copy()
    data = np.ascontiguousarray(tile).view(np.uint8).reshape(-1)
    step = 4 * pad[0] if pad else len(data)
    place = lds
    for first in range(0, len(data), step):
        piece = data[first : first + step]
        out[place : place + len(piece)] = piece
        place += len(piece) + (4 * pad[1] if pad else 0)
    return out


def data(shape: Sequence[int], dtype: Any) -> Array:
    return np.random.default_rng(5).integers(1, 100, shape).astype(dtype)


CASES = [
    ((50,), (16,), (7,)),
    ((50,), (16,), (41,)),
    ((9, 40), (4, 16), (2, 5)),
    ((9, 40), (4, 16), (7, 30)),
    ((5, 6, 24), (2, 3, 8), (4, 4, 20)),
    ((4, 5, 6, 8), (2, 2, 3, 4), (3, 1, 4, 6)),
    ((3, 4, 5, 6, 8), (2, 2, 2, 2, 4), (2, 1, 4, 5, 6)),
]


@pytest.mark.parametrize("shape, tile, at", CASES)
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64])
def test_loads(dtype: Any, shape: Sequence[int], tile: Sequence[int], at: Sequence[int]) -> None:
    """Outside of the tensor there are zeros."""
    array = data(shape, dtype)
    bits = descriptor(array, tile, at, lds=64)
    for copy in (LOAD, LOAD_2D) if len(shape) <= 2 else (LOAD,):
        for schedule in LATE_AND_EARLY:
            got = run(array, bits, offset(array, at), copy, emulation=schedule)
            np.testing.assert_array_equal(got, in_lds(part(array, tile, at), lds=64))


@pytest.mark.parametrize("pad", [(2, 1), (4, 3), (8, 4), (16, 128), (256, 1)])
@pytest.mark.parametrize("shape, tile, at", [CASES[1], CASES[3], CASES[4], CASES[6]])
def test_padded_loads(shape: Sequence[int], tile: Sequence[int], at: Sequence[int], pad: tuple[int, int]) -> None:
    """The padding is unchanged."""
    array = data(shape, np.float16)
    got = run(array, descriptor(array, tile, at, pad), offset(array, at))
    np.testing.assert_array_equal(got, in_lds(part(array, tile, at), pad))


@pytest.mark.parametrize("shape, tile, at", CASES)
def test_stores(shape: Sequence[int], tile: Sequence[int], at: Sequence[int]) -> None:
    """Elements outside of the tensor are dropped, and a store ignores padding."""
    lds = np.random.default_rng(6).integers(1, 200, LDS_BYTES).astype(np.uint8)
    values = lds[32:].view(np.float16)[: int(np.prod(tile))].reshape(tile)
    for pad, schedule in itertools.product((None, (2, 3)), LATE_AND_EARLY):
        for copy in (STORE, STORE_2D) if len(shape) <= 2 else (STORE,):
            array = data(shape, np.float16)
            expected = array.copy()
            for index in np.ndindex(*tile):
                place = tuple(a + i for a, i in zip(at, index, strict=True))
                if all(p < n for p, n in zip(place, shape, strict=True)):
                    expected[place] = values[index]
            bits = descriptor(array, tile, at, pad, lds=32)
            run(array, bits, offset(array, at), copy, lds=lds, emulation=schedule)
            np.testing.assert_array_equal(array.view(np.uint16), expected.view(np.uint16))


def iterated(array: Array, tile: Sequence[int], at: Sequence[int], steps: tuple[int, int], count: int) -> Bits:
    bits = descriptor(array, tile, at)
    bits.put(1, 19, 1, 1)
    bits.put(2, 32, 32, steps[0])
    bits.put(2, 64, 48, steps[1])
    bits.put(2, 112, 16, count - 1)
    return bits


def test_iterations() -> None:
    array = data((12, 40), np.float32)
    bits = iterated(array, (2, 8), (1, 4), (24, 80), 3)
    expected = np.full(LDS_BYTES, 0xEE, np.uint8)
    for i in range(3):
        expected = in_lds(part(array, (2, 8), (1 + 2 * i, 4)), lds=96 * i, before=expected)
    np.testing.assert_array_equal(run(array, bits, offset(array, (1, 4))), expected)


@pytest.mark.parametrize("width, rows", [(16, range(1, 17)), (32, range(1, 9)), (16, [5, 5, 3, 0]), (32, [9, 2, 9])])
def test_chosen_rows(width: int, rows: Sequence[int]) -> None:
    array = data((20, 24), np.float16)
    bits = descriptor(array, (len(rows), 8), (0, 3))
    bits.put(0, 31, 1, 1)
    bits.put(0, 30, 1, width == 32)
    for i, row in enumerate(rows):
        bits.put(2, width * i, width, row)
    expected = array[list(rows), 3:11]
    np.testing.assert_array_equal(run(array, bits, 6), in_lds(expected))
    # The same for a store.
    lds = in_lds(expected + 1)
    run(array, bits, 6, STORE, lds=lds)
    np.testing.assert_array_equal(array[list(rows), 3:11], expected + 1)


def test_chosen_rows_outside_of_the_tensor() -> None:
    array = data((4, 8), np.float16)
    bits = descriptor(array, (3, 8), (0, 0))
    bits.put(0, 31, 1, 1)
    for i, row in enumerate((1, 3, 4)):
        bits.put(2, 16 * i, 16, row)
    np.testing.assert_array_equal(run(array, bits, 0), in_lds(np.stack([array[1], array[3], np.zeros_like(array[0])])))
    bits.put(2, 0, 16, 9)
    with pytest.raises(
        errors.EmulationError, match="row indices outside the tensor; this is emulated only for sorted row indices"
    ):
        run(array, bits, 0)


@pytest.mark.parametrize("nothing", [(0, 0, 2, 0), (1, 112, 16, 0)])
def test_copies_of_nothing(nothing: tuple[int, int, int, int]) -> None:
    array = data((8, 8), np.float32)
    bits = descriptor(array, (2, 4), (0, 0))
    bits.put(*nothing)
    assert (run(array, bits, 0) == 0xEE).all()


# ---------------------------------------------------------------------------------------------------------------------
# Waits
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pending", range(4))
def test_counts(pending: int) -> None:
    """Copies of a wave complete in order, also a load and a store."""
    array = data((16, 32), np.float32)
    first = descriptor(array, (4, 16), (0, 0))
    copies, expected = [], np.full(LDS_BYTES, 0xEE, np.uint8)
    for i in range(3):
        copies.append(f"%g0_{i} = insertelement <4 x i32> %g0, i32 %la{i}, i32 1")
        copies.insert(0, f"%la{i} = add i32 %la, {256 * i}")
        copies.append(LOAD_2D.replace("%g0", f"%g0_{i}"))
        tile = in_lds(part(array, (4, 16), (0, 0)), lds=256 * i, before=expected)
        poison = np.where(np.arange(LDS_BYTES) % 2, 0x7F, 0xFF).astype(np.uint8)
        expected = tile
        if i >= 3 - pending:
            expected[256 * i : 256 * i + 256] = poison[256 * i : 256 * i + 256]
    got = run(array, first, 0, "\n  ".join(copies), WAIT.replace("i16 0", f"i16 {pending}"))
    np.testing.assert_array_equal(got, expected)


FIRST_WAVE = f"""  %first = icmp ult i32 %lane, 32
  br i1 %first, label %one, label %two
one:
  {LOAD_2D}
  br label %two
two:"""


def test_waves_wait_for_their_own() -> None:
    """The second wave's wait does not cover the copy of the first."""
    array = data((4, 16), np.float32)
    words = descriptor(array, (4, 16), (0, 0)).words()
    barrier = "call void @llvm.amdgcn.s.barrier()"
    kinds: dict[str, set[str]] = {}
    for sync in (f"{WAIT}\n  {barrier}", f"{barrier}\n  {WAIT}"):
        text = KERNEL.format(copy=FIRST_WAVE, wait=sync).replace("%copy ], [ %after", "%two ], [ %after")
        made = emulator.load(text, CHIP)
        for order in ("lowest-first", "highest-first"):
            tile = np.full(LDS_BYTES, 0xEE, np.uint8)
            try:
                made.launch(1, 64, array, tile, words, 0, emulation=Emulation(order=order, sanitize="address"))
                np.testing.assert_array_equal(tile[:256].view(np.float32), array.reshape(-1))
            except errors.EmulationError as error:
                kinds.setdefault(sync, set()).update(finding.kind for finding in error.findings)
    assert kinds == {f"{barrier}\n  {WAIT}": {"race"}}


def test_sanitizers_are_content() -> None:
    array = data((9, 40), np.float32)
    bits = descriptor(array, (4, 16), (7, 30), (4, 2))
    for sanitizer in ("address", "thread"):
        got = run(array, bits, offset(array, (7, 30)), emulation=Emulation(sanitize=sanitizer))
        np.testing.assert_array_equal(got, in_lds(part(array, (4, 16), (7, 30)), (4, 2)))


def test_reads_in_flight_are_races() -> None:
    array = data((9, 40), np.float32)
    with pytest.raises(errors.EmulationError, match="asynchronous copy of thread 0") as caught:
        run(array, descriptor(array, (4, 16), (0, 0)), 0, wait="", emulation=Emulation(sanitize="address"))
    assert {finding.kind for finding in caught.value.findings} == {"race"}


# ---------------------------------------------------------------------------------------------------------------------
# Invalid descriptors
# ---------------------------------------------------------------------------------------------------------------------

WRONG = [
    ((0, 126, 2, 1), r"type field \(bits 126 and 127 of group 0\) is 1"),
    ((0, 2, 1, 1), "a saved context"),
    ((0, 0, 2, 2), "a saved context"),
    ((1, 0, 16, 1), "workgroup mask is 0x1"),
    ((1, 18, 1, 1), "an arrival at an LDS barrier"),
    ((0, 30, 1, 1), "MLIR 22 swaps the two"),
]


@pytest.mark.parametrize("field, message", WRONG)
def test_descriptors_that_are_wrong(field: tuple[int, int, int, int], message: str) -> None:
    array = data((9, 40), np.float32)
    bits = descriptor(array, (4, 16), (0, 0))
    bits.put(*field)
    with pytest.raises(errors.EmulationError, match=message):
        run(array, bits, 0)


def test_rows_that_cannot_be_padded() -> None:
    array = data((9, 40), np.uint8)
    with pytest.raises(errors.EmulationError, match="because padding is enabled, the row size must be"):
        run(array, descriptor(array, (4, 15), (0, 0), (2, 1)), 0)


def test_too_many_iterations() -> None:
    array = data((12, 40), np.float32)
    with pytest.raises(errors.EmulationError, match="iteration count is 257"):
        run(array, iterated(array, (2, 8), (0, 0), (0, 0), 257), 0)


def test_descriptors_are_of_the_wave() -> None:
    array = data((9, 40), np.float32)
    copy = f"%mine = insertelement <4 x i32> %g0, i32 %lane, i32 1\n  {LOAD_2D.replace('%g0', '%mine')}"
    with pytest.raises(errors.EmulationError, match="differs from that of the first lane"):
        run(array, descriptor(array, (4, 16), (0, 0)), 0, copy)


def test_tiles_outside_of_lds() -> None:
    array = data((9, 40), np.float32)
    with pytest.raises(errors.EmulationError, match="past the end of shared memory"):
        run(array, descriptor(array, (4, 16), (0, 0), lds=LDS_BYTES - 64), 0)
