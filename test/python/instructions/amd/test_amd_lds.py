# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AMD's copies to LDS with late completion, and transposed reads."""

from __future__ import annotations

from typing import Any

import amd
import numpy as np
import pytest
from helpers import Array
from smalti import emulator, errors

COPY = """target triple = "amdgcn-amd-amdhsa"
@lds = internal addrspace(3) global [4096 x i8] poison, align 16
declare i32 @llvm.amdgcn.workitem.id.x()
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare void @llvm.amdgcn.s.waitcnt(i32)
declare void @llvm.amdgcn.s.wait.asynccnt(i16)
declare void @llvm.amdgcn.s.barrier()
{declaration}
define amdgpu_kernel void @k(ptr addrspace(1) %from, ptr addrspace(1) %out) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  br label %clear
clear:
  %c = phi i32 [ %lane, %0 ], [ %next, %clear ]
  %pc = getelementptr i32, ptr addrspace(3) @lds, i32 %c
  store i32 u0xEEEEEEEE, ptr addrspace(3) %pc
  %next = add i32 %c, {lanes}
  %more = icmp ult i32 %next, 1024
  br i1 %more, label %clear, label %copy
copy:
  call void @llvm.amdgcn.s.barrier()
{body}
{wait}
  call void @llvm.amdgcn.s.barrier()
  br label %read
read:
  %i = phi i32 [ %lane, %copy ], [ %after, %read ]
  %pl = getelementptr i32, ptr addrspace(3) @lds, i32 %i
  %v = load i32, ptr addrspace(3) %pl, !noalias !2
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %v, ptr addrspace(1) %po
  %after = add i32 %i, {lanes}
  %rest = icmp ult i32 %after, 1024
  br i1 %rest, label %read, label %end
end:
  ret void
}}
!0 = distinct !{{!0}}
!1 = distinct !{{!1, !0}}
!2 = !{{!1}}
"""
"""The backend does not insert waits for the copies: the accesses do not have an alias scope in common."""
WAIT = {"gfx942": 0x0F70, "gfx950": 0x0F70, "gfx90a": 0x0F70}
"""s_waitcnt with vmcnt(0) and the other counters at their largest."""


def copied(chip: str, declaration: str, body: str, source: Array, wait: str | None = None, **options: Any) -> Array:
    """LDS after a copy by each lane, as bytes."""
    count = amd.lanes(chip)
    if wait is None:
        wait = f"call void @llvm.amdgcn.s.waitcnt(i32 {WAIT[chip]})" if chip in WAIT else (
            "call void @llvm.amdgcn.s.wait.asynccnt(i16 0)")  # fmt: skip
    out = np.zeros(1024, np.uint32)
    text = COPY.format(declaration=declaration, body=body, lanes=count, wait=f"  {wait}")
    emulator.load(text, f"emu:{chip}").launch(1, count, source, out, **options)
    return out.view(np.uint8)


def gathered(source: Array, size: int, place: Any, base: int, step: int, count: int) -> Array:
    """Each lane's bytes at `base` plus its number times `step`; what is narrower than a dword fills one up."""
    lds = np.full(4096, 0xEE, np.uint8)
    for lane in range(count):
        data = np.zeros(max(size, 4), np.uint8)
        data[:size] = source[place(lane) : place(lane) + size]
        lds[base + step * lane : base + step * lane + len(data)] = data
    return lds


SOURCE = np.random.default_rng(1).integers(0, 200, 4096, np.uint8)
SIZES = [("gfx90a", 1), ("gfx942", 1), ("gfx942", 2), ("gfx942", 4), ("gfx950", 4), ("gfx950", 12), ("gfx950", 16)]


@pytest.mark.parametrize("chip, size", SIZES)
@pytest.mark.parametrize("name", ["load.to.lds.p1", "global.load.lds"])
def test_gather_of_addresses(name: str, chip: str, size: int) -> None:
    declaration = f"declare void @llvm.amdgcn.{name}(ptr addrspace(1), ptr addrspace(3), i32, i32, i32)"
    body = f"""  %at = mul i32 %lane, 20
  %p = getelementptr i8, ptr addrspace(1) %from, i32 %at
  %to = getelementptr i8, ptr addrspace(3) @lds, i32 64
  call void @llvm.amdgcn.{name}(ptr addrspace(1) %p, ptr addrspace(3) %to, i32 {size}, i32 8, i32 0)"""
    got = copied(chip, declaration, body, SOURCE)
    step = 4 if size <= 4 else 16
    np.testing.assert_array_equal(got, gathered(SOURCE, size, lambda lane: 20 * lane + 8, 72, step, 64))


@pytest.mark.grid(14)
@pytest.mark.parametrize("chip, size", SIZES)
@pytest.mark.parametrize("has_words", [False, True])
@pytest.mark.parametrize("is_structured", [False, True])
def test_gather_of_a_buffer(is_structured: bool, has_words: bool, chip: str, size: int) -> None:
    """Elements outside of the buffer are 0 in LDS."""
    kind, resource = "struct" if is_structured else "raw", "<4 x i32>" if has_words else "ptr addrspace(8)"
    name = f"llvm.amdgcn.{kind}{'' if has_words else '.ptr'}.buffer.load.lds"
    index_type, index = ("i32, ", "i32 0, ") if is_structured else ("", "")
    declaration = f"declare void @{name}({resource}, ptr addrspace(3), i32, {index_type}i32, i32, i32, i32)"
    limit = 20 * 40 + 24
    made = f"""  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %from, i16 0, i64 {limit}, i32 159744)"""
    if has_words:
        made = f"""  %address = ptrtoint ptr addrspace(1) %from to i64
  %low = trunc i64 %address to i32
  %shifted = lshr i64 %address, 32
  %high = trunc i64 %shifted to i32
  %w0 = insertelement <4 x i32> poison, i32 %low, i32 0
  %w1 = insertelement <4 x i32> %w0, i32 %high, i32 1
  %w2 = insertelement <4 x i32> %w1, i32 {limit}, i32 2
  %r = insertelement <4 x i32> %w2, i32 159744, i32 3"""
    body = f"""{made}
  %at = mul i32 %lane, 20
  %to = getelementptr i8, ptr addrspace(3) @lds, i32 64
  call void @{name}({resource} %r, ptr addrspace(3) %to, i32 {size}, {index}i32 %at, i32 4, i32 8, i32 0)"""
    got = copied(chip, declaration, body, SOURCE)
    source = SOURCE.copy()
    source[limit:] = 0
    step = 4 if size <= 4 else 16
    np.testing.assert_array_equal(got, gathered(source, size, lambda lane: 20 * lane + 12, 72, step, 64))


GATHER = "declare void @llvm.amdgcn.global.load.lds(ptr addrspace(1), ptr addrspace(3), i32, i32, i32)"


def gathers(count: int) -> str:
    """Copies of a dword, to places 256 bytes apart."""
    return "  %at = mul i32 %lane, 4\n  %p = getelementptr i8, ptr addrspace(1) %from, i32 %at\n" + "\n".join(
        f"  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %p, ptr addrspace(3) @lds, i32 4, i32 {256 * i}, i32 0)"
        for i in range(count)
    )


def done(lds: Array, count: int) -> list[bool]:
    return [bool((lds[256 * i : 256 * i + 256] == SOURCE[256 * i : 256 * i + 256]).all()) for i in range(count)]


@pytest.mark.parametrize("pending", range(4))
def test_wait_for_all_but_some_copies(pending: int) -> None:
    """Late copies: those that a wait does not cover are not complete."""
    wait = f"call void @llvm.amdgcn.s.waitcnt(i32 {0x0F70 | pending})"
    got = copied("gfx942", GATHER, gathers(3), SOURCE, wait)
    assert done(got, 3) == [i < 3 - pending for i in range(3)]
    got = copied("gfx942", GATHER, gathers(3), SOURCE, wait, emulation=emulator.Emulation(copies="early"))
    assert done(got, 3) == [True] * 3


def test_upper_bits_of_the_count() -> None:
    wait = f"call void @llvm.amdgcn.s.waitcnt(i32 {0x0F70 | 1 << 14})"
    assert done(copied("gfx942", GATHER, gathers(3), SOURCE, wait), 3) == [False] * 3


def test_lds_offset_must_be_uniform() -> None:
    body = """  %to = getelementptr i32, ptr addrspace(3) @lds, i32 %lane
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %from, ptr addrspace(3) %to, i32 4, i32 0, i32 0)"""
    with pytest.raises(errors.EmulationError, match="first lane"):
        copied("gfx942", GATHER, body, SOURCE)


def test_lds_offset_must_be_aligned() -> None:
    body = """  %to = getelementptr i8, ptr addrspace(3) @lds, i32 2
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %from, ptr addrspace(3) %to, i32 4, i32 0, i32 0)"""
    with pytest.raises(errors.EmulationError, match="aligned"):
        copied("gfx942", GATHER, body, SOURCE)


def test_16_bytes_need_cdna4() -> None:
    body = """  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %from, ptr addrspace(3) @lds, i32 16, i32 0, i32 0)"""
    with pytest.raises(errors.EmulationError, match="16 bytes"):
        copied("gfx942", GATHER, body, SOURCE)


@pytest.mark.parametrize("size", [1, 4, 8, 16])
@pytest.mark.parametrize("kind", ["global", "cluster"])
def test_asynchronous_load(kind: str, size: int) -> None:
    name = f"llvm.amdgcn.{kind}.load.async.to.lds.b{8 * size}"
    mask = kind == "cluster"
    declaration = f"declare void @{name}(ptr addrspace(1), ptr addrspace(3), i32, i32{', i32' * mask})"
    body = f"""  %at = mul i32 %lane, 20
  %p = getelementptr i8, ptr addrspace(1) %from, i32 %at
  %there = mul i32 %lane, 24
  %to = getelementptr i8, ptr addrspace(3) @lds, i32 %there
  call void @{name}(ptr addrspace(1) %p, ptr addrspace(3) %to, i32 16, i32 0{", i32 0" * mask})"""
    expected = np.full(4096, 0xEE, np.uint8)
    for lane in range(32):
        expected[24 * lane + 16 : 24 * lane + 16 + size] = SOURCE[20 * lane + 16 : 20 * lane + 16 + size]
    np.testing.assert_array_equal(copied("gfx1250", declaration, body, SOURCE), expected)
    # The destination of an outstanding copy is poison.
    wait = "call void @llvm.amdgcn.s.wait.asynccnt(i16 1)"
    got = copied("gfx1250", declaration, body, SOURCE, wait)
    poison = np.where(np.arange(4096) % 2, 0x7F, 0xFF)
    np.testing.assert_array_equal(got, np.where(expected == 0xEE, 0xEE, poison))


def test_a_load_for_other_work_groups() -> None:
    name = "llvm.amdgcn.cluster.load.async.to.lds.b32"
    body = f"  call void @{name}(ptr addrspace(1) %from, ptr addrspace(3) @lds, i32 0, i32 0, i32 2)"
    with pytest.raises(errors.EmulationError, match="a load into several workgroups is not emulated"):
        copied("gfx1250", f"declare void @{name}(ptr addrspace(1), ptr addrspace(3), i32, i32, i32)", body, SOURCE)


def test_order_of_asynchronous_loads_and_stores_is_open() -> None:
    """One of two may be pending, whichever it is."""
    lds, out = "ptr addrspace(3) @lds", "ptr addrspace(1)"
    load = f"llvm.amdgcn.global.load.async.to.lds.b32({out} %from, {lds}, i32 0, i32 0)"
    other = "ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 64)"
    store = f"llvm.amdgcn.global.store.async.from.lds.b32({out} %from, {other}, i32 0, i32 0)"
    declaration = "\n".join(
        f"declare void @{name.split('(')[0]}(ptr addrspace(1), ptr addrspace(3), i32, i32)" for name in (load, store)
    )
    for first, second in ((load, store), (store, load)):
        body = f"  call void @{first}\n  call void @{second}"
        got = copied("gfx1250", declaration, body, SOURCE.copy(), "call void @llvm.amdgcn.s.wait.asynccnt(i16 1)")
        assert bytes(got[:4]) == b"\xff\x7f\xff\x7f"


STORE = """target triple = "amdgcn-amd-amdhsa"
@lds = internal addrspace(3) global [1024 x i8] poison, align 16
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.wait.asynccnt(i16)
declare void @llvm.amdgcn.global.store.async.from.lds.b{bits}(ptr addrspace(1), ptr addrspace(3), i32, i32)
define amdgpu_kernel void @k(ptr addrspace(1) %from, ptr addrspace(1) %out) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %at = mul i32 %lane, {size}
  %pl = getelementptr i8, ptr addrspace(3) @lds, i32 %at
  %pf = getelementptr i8, ptr addrspace(1) %from, i32 %at
  %v = load i{bits}, ptr addrspace(1) %pf, align 1
  store i{bits} %v, ptr addrspace(3) %pl, align 1
  %po = getelementptr i8, ptr addrspace(1) %out, i32 %at
  call void @llvm.amdgcn.global.store.async.from.lds.b{bits}(ptr addrspace(1) %po, ptr addrspace(3) %pl, i32 0, i32 0)
  call void @llvm.amdgcn.s.wait.asynccnt(i16 {pending})
  ret void
}}
"""


@pytest.mark.parametrize("size", [1, 4, 8, 16])
def test_asynchronous_store(size: int) -> None:
    for pending in (0, 1):
        out = np.zeros(32 * size, np.uint8)
        source = SOURCE[: 32 * size].copy()
        made = emulator.load(STORE.format(bits=8 * size, size=size, pending=pending), "emu:gfx1250")
        made.launch(1, 32, source, out)
        np.testing.assert_array_equal(out, source if pending == 0 else 0)


# ---------------------------------------------------------------------------------------------------------------------
# Transposed reads
# ---------------------------------------------------------------------------------------------------------------------

READ = """target triple = "amdgcn-amd-amdhsa"
@lds = internal addrspace(3) global [4096 x i8] poison, align 16
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
declare {ty} @{name}({pointer})
define amdgpu_kernel void @k(ptr addrspace(1) %from, ptr addrspace(1) %where, ptr addrspace(1) %out) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  br label %copy
copy:
  %c = phi i32 [ %lane, %0 ], [ %next, %copy ]
  %pf = getelementptr i32, ptr addrspace(1) %from, i32 %c
  %pl = getelementptr i32, ptr addrspace(3) @lds, i32 %c
  %w = load i32, ptr addrspace(1) %pf
  store i32 %w, ptr addrspace(3) %pl
  %next = add i32 %c, {lanes}
  %more = icmp ult i32 %next, 1024
  br i1 %more, label %copy, label %read
read:
  call void @llvm.amdgcn.s.barrier()
  %pw = getelementptr i32, ptr addrspace(1) %where, i32 %lane
  %at = load i32, ptr addrspace(1) %pw
  %p = getelementptr i8, {pointer} {base}, i32 %at
  %v = call {ty} @{name}({pointer} %p)
  %to = mul i32 %lane, {size}
  %po = getelementptr i8, ptr addrspace(1) %out, i32 %to
  store {ty} %v, ptr addrspace(1) %po, align 1
  ret void
}}
"""


def read(chip: str, name: str, ty: str, where: Array) -> Array:
    count = amd.lanes(chip)
    is_global = ".global." in name
    text = READ.format(
        name=name, ty=ty, size=amd.size_of(ty), lanes=count,
        pointer="ptr addrspace(1)" if is_global else "ptr addrspace(3)", base="%from" if is_global else "@lds",
    )  # fmt: skip
    out = np.zeros((count, amd.size_of(ty)), np.uint8)
    emulator.load(text, f"emu:{chip}").launch(1, count, SOURCE, where.astype(np.uint32), out)
    return out


def bits_of(data: Array, bits: int) -> Array:
    planes = np.unpackbits(data, axis=-1, bitorder="little")
    return (planes.reshape(*data.shape[:-1], -1, bits) << np.arange(bits)).sum(axis=-1)


CDNA4_READS = [
    ("tr16.b64", "<4 x i16>", 16),
    ("tr8.b64", "<2 x i32>", 8),
    ("tr6.b96", "<3 x i32>", 6),
    ("tr4.b64", "<2 x i32>", 4),
]


@pytest.mark.parametrize("name, ty, bits", CDNA4_READS, ids=lambda v: str(v))
def test_transposed_read_of_cdna4(name: str, ty: str, bits: int) -> None:
    """16 lanes read rows of 16 elements, and each gets a column of them."""
    size = amd.size_of(ty)
    n = 8 * size // bits
    rows = 16 * n // 16
    stride = 16 * bits // 8 if bits != 6 else 16
    # Groups of 16 lanes somewhere; the rows of a group are far from one another.
    where = np.zeros(64, int)
    for lane in range(64):
        group, i = divmod(lane, 16)
        row, part = divmod(i, 16 // n)
        where[lane] = 1024 * group + 48 * row + size * part if bits != 6 else 1024 * group + 48 * row
    got = bits_of(read("gfx950", amd.mangle(f"llvm.amdgcn.ds.read.{name}", ty), ty, where), bits)
    for lane in range(64):
        group, column = divmod(lane, 16)
        for e in range(n):
            start = 1024 * group + 48 * e
            row = bits_of(SOURCE[start : start + stride // (16 if bits == 6 else 1) * (12 if bits == 6 else 1)], bits)
            assert got[lane, e] == row[column], (lane, e)
    assert rows == n


@pytest.mark.parametrize("chip", ["gfx1200", "gfx1250"])
@pytest.mark.parametrize("name", ["ds.load.tr16.b128", "global.load.tr.b128"])
def test_transposed_read_of_gfx12(name: str, chip: str) -> None:
    """8 lanes read a row of 8 elements each, and get a column of them."""
    ty = "<8 x i16>"
    where = np.random.default_rng(3).permutation(128)[:32] * 32
    got = read(chip, amd.mangle(f"llvm.amdgcn.{name}", ty), ty, where).view(np.uint16)
    for lane in range(32):
        group, column = lane & ~7, lane & 7
        rows = [SOURCE[where[group + e] : where[group + e] + 16].view(np.uint16) for e in range(8)]
        np.testing.assert_array_equal(got[lane], [row[column] for row in rows])


@pytest.mark.parametrize("name, chip", [
    ("ds.load.tr8.b64", "gfx1250"),
    ("global.load.tr.b64", "gfx1200"),
    ("global.load.tr.b64", "gfx1250"),
])  # fmt: skip
def test_transposed_read_of_bytes_of_gfx12(name: str, chip: str) -> None:
    """The wave reads a matrix of 16 x 16; a lane gets a column of its upper or lower half."""
    ty = "<2 x i32>"
    where = np.random.default_rng(4).permutation(256)[:32] * 16
    matrix = np.zeros((16, 16), np.uint8)
    for eight in range(4):
        for half in range(2):
            for row in range(4):
                start = where[8 * eight + 4 * half + row]
                matrix[4 * eight + row, 8 * half : 8 * half + 8] = SOURCE[start : start + 8]
    got = read(chip, amd.mangle(f"llvm.amdgcn.{name}", ty), ty, where)
    np.testing.assert_array_equal(got, np.concatenate([matrix[:8].T, matrix[8:].T]))


def test_transposed_read_must_be_aligned() -> None:
    with pytest.raises(errors.EmulationError, match="aligned"):
        read("gfx950", "llvm.amdgcn.ds.read.tr16.b64.v4i16", "<4 x i16>", np.arange(64) * 8 + 4)


COUNT = """target triple = "amdgcn-amd-amdhsa"
@counter = internal addrspace(3) global i32 poison, align 4
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.ds.append.p3(ptr addrspace(3), i1)
declare i32 @llvm.amdgcn.ds.consume.p3(ptr addrspace(3), i1)
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  store i32 100, ptr addrspace(3) @counter
  %a = call i32 @llvm.amdgcn.ds.append.p3(ptr addrspace(3) @counter, i1 false)
  %b = call i32 @llvm.amdgcn.ds.consume.p3(ptr addrspace(3) @counter, i1 false)
  %s = shl i32 %b, 16
  %x = or i32 %a, %s
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %x, ptr addrspace(1) %p
  ret void
}
"""


def test_ds_append_and_consume() -> None:
    out = np.zeros(64, np.uint32)
    emulator.load(COUNT, "emu:gfx942").launch(1, 64, out)
    assert (out & 0xFFFF == 100).all() and (out >> 16 == 164).all()
