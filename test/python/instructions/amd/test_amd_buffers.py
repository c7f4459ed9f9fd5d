# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AMD's buffers: loads, stores and atomics, with each generation's range check."""

from __future__ import annotations

from typing import Any

import amd
import numpy as np
import pytest
from helpers import Array
from smalti import emulator, errors

RAW_FLAGS = {"gfx90a": 0x00027000, "gfx942": 0x00027000, "gfx1100": 0x31027000, "gfx1201": 0x31027000, "gfx1250": 0}


def kernel(declarations: str, body: str) -> str:
    return f"""target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
{declarations}
define amdgpu_kernel void @k(ptr addrspace(1) %base, ptr addrspace(1) %index, ptr addrspace(1) %offset,
                             ptr addrspace(1) %data, ptr addrspace(1) %out) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %pi = getelementptr i32, ptr addrspace(1) %index, i32 %lane
  %i = load i32, ptr addrspace(1) %pi
  %po = getelementptr i32, ptr addrspace(1) %offset, i32 %lane
  %o = load i32, ptr addrspace(1) %po
{body}
  ret void
}}
"""


def words_of_resource(stride: int, records: int, flags: int) -> str:
    """The four dwords of a resource, as the older intrinsics take them."""
    return f"""  %address = ptrtoint ptr addrspace(1) %base to i64
  %low = trunc i64 %address to i32
  %shifted = lshr i64 %address, 32
  %upper = trunc i64 %shifted to i32
  %high = or i32 %upper, {stride << 16}
  %w0 = insertelement <4 x i32> poison, i32 %low, i32 0
  %w1 = insertelement <4 x i32> %w0, i32 %high, i32 1
  %w2 = insertelement <4 x i32> %w1, i32 {records}, i32 2
  %r = insertelement <4 x i32> %w2, i32 {flags}, i32 3"""


def run(
    chip: str,
    what: str,
    ty: str,
    buffer: Array,
    index: Array,
    offset: Array,
    data: Array | None = None,
    *,
    is_structured: bool = False,
    has_words: bool = False,
    records: int | None = None,
    stride: int = 0,
    flags: int | None = None,
    scalar: int = 0,
    compare: Array | None = None,
) -> Array:
    """`what`: load, store, or atomic.NAME. Changes the buffer; returns what the lanes get."""
    flags = RAW_FLAGS.get(chip, 0x00027000) if flags is None else flags
    records = buffer.nbytes if records is None else records
    kind = "struct" if is_structured else "raw"
    resource = "<4 x i32>" if has_words else "ptr addrspace(8)"
    name = f"llvm.amdgcn.{kind}{'' if has_words else '.ptr'}.buffer.{what}.{amd.mangle('', ty)[1:]}"
    if what == "atomic.buffer.load":
        name = f"llvm.amdgcn.{kind}.ptr.atomic.buffer.load.{amd.mangle('', ty)[1:]}"
    place = f"{resource} %r, {'i32 %i, ' if is_structured else ''}i32 %o, i32 {scalar}, i32 0"
    place_types = f"{resource}, {'i32, ' if is_structured else ''}i32, i32, i32"
    size = amd.size_of(ty)
    body = (
        words_of_resource(stride, records, flags)
        if has_words
        else f"  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %base, i16 {stride}, "
        f"i64 {records}, i32 {flags})"
    )
    body += f"\n  %at = mul i32 %lane, {size}"
    operands, types = [], []
    for label, array in (("data", data), ("compare", compare)):
        if array is None:
            continue
        first = 0 if label == "data" else len(offset) * size
        body += f"""
  %a{label} = add i32 %at, {first}
  %p{label} = getelementptr i8, ptr addrspace(1) %data, i32 %a{label}
  %v{label} = load {ty}, ptr addrspace(1) %p{label}, align 1"""
        operands.append(f"{ty} %v{label}")
        types.append(ty)
    result = "void" if what == "store" else ty
    called = f"call {result} @{name}({', '.join([*operands, place])})"
    if result == "void":
        body += f"\n  {called}"
    else:
        body += f"""
  %x = {called}
  %pout = getelementptr i8, ptr addrspace(1) %out, i32 %at
  store {ty} %x, ptr addrspace(1) %pout, align 1"""
    declaration = f"declare {result} @{name}({', '.join([*types, place_types])})"
    out = np.full((len(offset), size), 0xEE, np.uint8)
    given = np.concatenate(
        [a.view(np.uint8).ravel() for a in (data, compare) if a is not None] or [np.zeros(1, np.uint8)]
    )
    emulator.load(kernel(declaration, body), f"emu:{chip}").launch(
        1, len(offset), buffer, index.astype(np.uint32), offset.astype(np.uint32), given, out
    )
    return out


CHIPS = ["gfx90a", "gfx942", "gfx1100", "gfx1201", "gfx1250"]
FORMS = [(False, False), (False, True), (True, False), (True, True)]


def chips_and_forms() -> list[tuple[str, bool, bool]]:
    """GFX12.5 has another resource."""
    return [(chip, s, w) for chip in CHIPS for s, w in FORMS if not (w and chip == "gfx1250")]


def zeros(count: int = 32) -> Array:
    return np.zeros(count, np.uint32)


@pytest.mark.grid(40)
@pytest.mark.parametrize("ty", ["i8", "i16", "half", "float", "<2 x i32>", "<3 x i32>", "<4 x float>", "<8 x half>"])
@pytest.mark.parametrize("chip, is_structured, has_words", chips_and_forms())
def test_load(chip: str, is_structured: bool, has_words: bool, ty: str) -> None:
    """Each dword outside is 0."""
    size = amd.size_of(ty)
    buffer = np.random.default_rng(1).integers(1, 256, 102, np.uint8)
    offset = np.arange(32) * (size if size < 4 else 4)
    flags = 3 << 28 if chip == "gfx1250" else None
    got = run(chip, "load", ty, buffer, zeros(), offset, is_structured=is_structured, has_words=has_words, flags=flags)
    for lane in range(32):
        expected = np.zeros(size, np.uint8)
        for first in range(0, size, 4):
            part = buffer[offset[lane] + first : offset[lane] + min(first + 4, size)]
            if len(part) == min(4, size - first):
                expected[first : first + len(part)] = part
        np.testing.assert_array_equal(got[lane], expected)


@pytest.mark.grid(30)
@pytest.mark.parametrize("ty", ["i8", "i16", "i32", "<2 x float>", "<4 x i32>"])
@pytest.mark.parametrize("chip, is_structured, has_words", chips_and_forms())
def test_store(chip: str, is_structured: bool, has_words: bool, ty: str) -> None:
    size = amd.size_of(ty)
    buffer = np.zeros(100, np.uint8)
    data = np.random.default_rng(1).integers(1, 256, (32, size), np.uint8)
    offset = np.random.default_rng(2).permutation(32) * size
    flags = 3 << 28 if chip == "gfx1250" else None
    run(chip, "store", ty, buffer, zeros(), offset, data, is_structured=is_structured, has_words=has_words, flags=flags)
    expected = np.zeros(1024, np.uint8)
    for lane in range(32):
        for first in range(0, size, 4):
            if offset[lane] + min(first + 4, size) <= 100:
                expected[offset[lane] + first : offset[lane] + min(first + 4, size)] = data[lane, first : first + 4]
    np.testing.assert_array_equal(buffer, expected[:100])


@pytest.mark.parametrize("is_structured", [False, True])
def test_atomic_load(is_structured: bool) -> None:
    buffer = np.arange(32, dtype=np.uint32)
    got = run("gfx942", "atomic.buffer.load", "i32", buffer, zeros(), np.arange(32) * 4, is_structured=is_structured)
    np.testing.assert_array_equal(got.view(np.uint32)[:, 0], buffer)


@pytest.mark.parametrize("chip", ["gfx90a", "gfx942", "gfx1100", "gfx1201", "gfx1250"])
def test_scalar_offset_in_the_range_check(chip: str) -> None:
    """It belongs to what is compared with the size."""
    buffer = np.arange(1, 65, dtype=np.uint32)
    got = run(chip, "load", "i32", buffer, zeros(), np.arange(32) * 4, records=64, scalar=32).view(np.uint32)[:, 0]
    np.testing.assert_array_equal(got, [9 + lane if lane < 8 else 0 for lane in range(32)])


def test_scalar_offset_of_a_structured_buffer_on_rdna() -> None:
    """Not to what is compared with an element's size."""
    buffer = np.arange(1, 65, dtype=np.uint32)
    got = run("gfx1201", "load", "i32", buffer, np.arange(32), zeros(), is_structured=True, stride=4, records=16,
              scalar=32, flags=0).view(np.uint32)[:, 0]  # fmt: skip
    np.testing.assert_array_equal(got, [9 + lane if lane < 16 else 0 for lane in range(32)])


def test_elements_of_a_structured_buffer_on_cdna() -> None:
    """The index is checked against the number of elements, the offset is not."""
    buffer = np.arange(1, 65, dtype=np.uint32)
    index, offset = np.arange(32) % 8, np.arange(32) // 8 * 4
    got = run("gfx942", "load", "i32", buffer, index, offset, is_structured=True, stride=16, records=5)
    expected = np.where(index < 5, 1 + 4 * index + offset // 4, 0)
    np.testing.assert_array_equal(got.view(np.uint32)[:, 0], expected)


@pytest.mark.parametrize("select", range(4))
def test_range_checks_of_rdna(select: int) -> None:
    """OOB_SELECT: index and offset in the element; index; only an empty buffer; bytes."""
    buffer = np.arange(1, 129, dtype=np.uint32)
    index, offset = np.arange(32) % 8, np.arange(32) // 8 * 8
    records = {0: 5, 1: 5, 2: 1, 3: 72}[select]
    got = run("gfx1100", "load", "i32", buffer, index, offset, is_structured=True, stride=16, records=records,
              flags=select << 28).view(np.uint32)[:, 0]  # fmt: skip
    inside = {
        0: (index < 5) & (offset + 4 <= 16),
        1: index < 5,
        2: np.ones(32, bool),
        3: 16 * index + offset + 4 <= 72,
    }[select]
    np.testing.assert_array_equal(got, np.where(inside, 1 + 4 * index + offset // 4, 0))


def test_empty_buffer_of_rdna() -> None:
    buffer = np.ones(32, np.uint32)
    got = run("gfx1100", "load", "i32", buffer, zeros(), np.arange(32) * 4, records=0, flags=2 << 28)
    assert (got == 0).all()


def test_more_records_than_memory_is_found() -> None:
    buffer = np.ones(32, np.uint32)
    with pytest.raises(errors.EmulationError, match=r"out of bounds|out-of-bounds|outside"):
        run("gfx942", "load", "i32", buffer, zeros(), np.arange(32) * 4 + 64, records=1 << 20)


UNSIGNED_ATOMICS: dict[str, Any] = {
    "swap": lambda old, x: x,
    "add": lambda old, x: old + x,
    "sub": lambda old, x: old - x,
    "umin": min,
    "umax": max,
    "smin": lambda old, x: min((old, x), key=lambda v: v - (1 << 32) * (v >> 31) if v < 1 << 32 else v),
    "smax": lambda old, x: max((old, x), key=lambda v: v - (1 << 32) * (v >> 31) if v < 1 << 32 else v),
    "and": lambda old, x: old & x,
    "or": lambda old, x: old | x,
    "xor": lambda old, x: old ^ x,
    "inc": lambda old, x: 0 if old >= x else old + 1,
    "dec": lambda old, x: x if old == 0 or old > x else old - 1,
    "cond.sub.u32": lambda old, x: old - x if old >= x else old,
    "sub.clamp.u32": lambda old, x: old - x if old >= x else 0,
}


@pytest.mark.grid(28)
@pytest.mark.parametrize("is_structured, has_words", FORMS)
@pytest.mark.parametrize("name", UNSIGNED_ATOMICS)
def test_atomic_of_32_bits(name: str, is_structured: bool, has_words: bool) -> None:
    rng = np.random.default_rng(1)
    buffer = rng.integers(0, 2**32, 30).astype(np.uint32)
    before = buffer.copy()
    data = rng.integers(0, 2**32, 32).astype(np.uint32)
    data[:3] = before[:3]
    buffer[3] = before[3] = 0
    got = run("gfx1201", f"atomic.{name}", "i32", buffer, zeros(), np.arange(32) * 4, data[:, None],
              is_structured=is_structured, has_words=has_words).view(np.uint32)[:, 0]  # fmt: skip
    expected = [UNSIGNED_ATOMICS[name](int(o), int(x)) % 2**32 for o, x in zip(before, data, strict=False)]
    np.testing.assert_array_equal(buffer, np.array(expected, np.uint32))
    np.testing.assert_array_equal(got, [*before, 0, 0])


@pytest.mark.parametrize("name", ["add", "umax", "swap", "xor", "dec"])
def test_atomic_of_64_bits(name: str) -> None:
    rng = np.random.default_rng(1)
    buffer = rng.integers(0, 2**63, 32).astype(np.uint64)
    before, data = buffer.copy(), rng.integers(0, 2**63, 32).astype(np.uint64)
    got = run("gfx942", f"atomic.{name}", "i64", buffer, zeros(), np.arange(32) * 8, data[:, None])
    expected = [UNSIGNED_ATOMICS[name](int(o), int(x)) % 2**64 for o, x in zip(before, data, strict=True)]
    np.testing.assert_array_equal(buffer, np.array(expected, np.uint64))
    np.testing.assert_array_equal(got.view(np.uint64)[:, 0], before)


@pytest.mark.parametrize("is_structured, has_words", FORMS)
def test_atomic_cmpswap(is_structured: bool, has_words: bool) -> None:
    buffer = np.arange(32, dtype=np.uint32)
    before = buffer.copy()
    data, compare = np.full((32, 1), 77, np.uint32), (np.arange(32, dtype=np.uint32) & ~np.uint32(1))[:, None]
    got = run("gfx942", "atomic.cmpswap", "i32", buffer, zeros(), np.arange(32) * 4, data, compare=compare,
              is_structured=is_structured, has_words=has_words)  # fmt: skip
    np.testing.assert_array_equal(buffer, np.where(before % 2 == 0, 77, before))
    np.testing.assert_array_equal(got.view(np.uint32)[:, 0], before)


@pytest.mark.parametrize("is_structured, has_words", FORMS)
@pytest.mark.parametrize("name, function", [("fmin", np.fmin), ("fmax", np.fmax), ("fadd", np.add)])
@pytest.mark.parametrize("ty, dtype", [("float", np.float32), ("double", np.float64)])
def test_atomic_of_floats(ty: str, dtype: Any, name: str, function: Any, is_structured: bool, has_words: bool) -> None:
    rng = np.random.default_rng(1)
    buffer, data = rng.standard_normal(32).astype(dtype), rng.standard_normal((32, 1)).astype(dtype)
    data[5] = np.nan
    before = buffer.copy()
    got = run("gfx942", f"atomic.{name}", ty, buffer, zeros(), np.arange(32) * buffer.itemsize, data,
              is_structured=is_structured, has_words=has_words)  # fmt: skip
    np.testing.assert_array_equal(buffer, function(before, data[:, 0]))
    np.testing.assert_array_equal(got.view(dtype)[:, 0], before)


@pytest.mark.parametrize("is_structured, has_words", FORMS)
@pytest.mark.parametrize("ty, dtype", [("<2 x half>", np.float16), ("<2 x bfloat>", "bfloat16")])
def test_atomic_of_pairs(ty: str, dtype: Any, is_structured: bool, has_words: bool) -> None:
    import ml_dtypes

    element = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    rng = np.random.default_rng(1)
    buffer, data = rng.standard_normal(64).astype(element), rng.standard_normal((32, 2)).astype(element)
    before = buffer.copy()
    memory = buffer.view(np.uint16)
    run(
        "gfx950",
        "atomic.fadd",
        ty,
        memory,
        zeros(),
        np.arange(32) * 4,
        data,
        is_structured=is_structured,
        has_words=has_words,
    )
    np.testing.assert_array_equal(memory, (before.reshape(32, 2) + data).astype(element).view(np.uint16).ravel())


def test_lanes_add_to_one_address() -> None:
    buffer = np.zeros(1, np.uint32)
    got = run("gfx942", "atomic.add", "i32", buffer, zeros(64), zeros(64), np.ones((64, 1), np.uint32))
    assert buffer[0] == 64 and sorted(got.view(np.uint32)[:, 0]) == list(range(64))


def test_atomic_that_is_not_aligned() -> None:
    with pytest.raises(errors.EmulationError, match="not a multiple of the size"):
        run("gfx942", "atomic.add", "i32", np.zeros(8, np.uint32), zeros(1), zeros(1) + 2, np.ones((1, 1), np.uint32))


def test_s_buffer_load() -> None:
    buffer = np.arange(1, 31, dtype=np.uint32)
    name = "llvm.amdgcn.s.buffer.load.v4i32"
    body = (
        words_of_resource(0, buffer.nbytes, 0x00027000)
        + f"""
  %x = call <4 x i32> @{name}(<4 x i32> %r, i32 %o, i32 0)
  %pout = getelementptr <4 x i32>, ptr addrspace(1) %out, i32 %lane
  store <4 x i32> %x, ptr addrspace(1) %pout, align 4"""
    )
    out = np.zeros((32, 4), np.uint32)
    emulator.load(kernel(f"declare <4 x i32> @{name}(<4 x i32>, i32, i32)", body), "emu:gfx942").launch(
        1, 32, buffer, zeros(), np.arange(32, dtype=np.uint32) * 4, zeros(1), out
    )
    padded = np.concatenate([buffer, zeros(8)])
    np.testing.assert_array_equal(out, [padded[i : i + 4] for i in range(32)])
