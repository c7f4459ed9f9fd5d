# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bounds-checked buffers of AMD: zeros of out-of-bounds loads, and out-of-bounds stores without effect."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import smalti
from helpers import FAT, gpu_kernel
from smalti import sim


def program(body: str, arguments: str) -> str:
    return gpu_kernel(
        arguments,
        f"""    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
{body}""",
        64,
    )


def find(text: str, *arrays: np.ndarray[Any, Any], chip: str = "gfx942") -> tuple[sim.Finding, ...]:
    return sim.simulate(text, f"sim:{chip}").find(*arrays)


# Each lane reads four elements of a buffer of 50 of 64 rows, at its own row.
READS = {
    "transfer": f"%v = vector.transfer_read %b[%t, %c0], %pad {{in_bounds = [true]}} "
    f": memref<64x4xf16, {FAT}>, vector<4xf16>",
    "transfer with a mask": f"""%mask = vector.create_mask %c2 : vector<4xi1>
    %v = vector.transfer_read %b[%t, %c0], %pad, %mask {{in_bounds = [true]}}
      : memref<64x4xf16, {FAT}>, vector<4xf16>""",
    "mask": f"""%mask = vector.constant_mask [2] : vector<4xi1>
    %v = vector.maskedload %b[%t, %c0], %mask, %pads
      : memref<64x4xf16, {FAT}>, vector<4xi1>, vector<4xf16> into vector<4xf16>""",
    "gather": f"""%mask = vector.constant_mask [2] : vector<4xi1>
    %at = arith.constant dense<[3, 1, 0, 2]> : vector<4xindex>
    %v = vector.gather %b[%t, %c0] [%at], %mask, %pads
      : memref<64x4xf16, {FAT}>, vector<4xindex>, vector<4xi1>, vector<4xf16> into vector<4xf16>""",
}


@pytest.mark.parametrize("how", READS)
def test_reads(how: str) -> None:
    body = f"""
    %bytes = arith.constant 404 : i64
    %b = amdgpu.fat_raw_buffer_cast %a validBytes(%bytes) : memref<64x4xf16> to memref<64x4xf16, {FAT}>
    %pad = arith.constant 7.0 : f16
    %pads = arith.constant dense<7.0> : vector<4xf16>
    {READS[how]}
    vector.store %v, %o[%t, %c0] : memref<64x4xf16>, vector<4xf16>"""
    a = np.arange(1, 257).reshape(64, 4).astype(np.float16)
    o = np.full_like(a, -1)
    assert find(program(body, "%a: memref<64x4xf16>, %o: memref<64x4xf16>"), a, o) == ()
    wanted = np.where(np.arange(256).reshape(64, 4) < 202, a, 0)
    if how == "gather":
        wanted = wanted[:, [3, 1, 0, 2]]
    if how != "transfer":
        wanted[:, 2:] = 7
    assert (o == wanted).all()


WRITES = {
    "transfer": f"vector.transfer_write %v, %b[%t, %c0] {{in_bounds = [true]}} "
    f": vector<4xf16>, memref<64x4xf16, {FAT}>",
    "mask": f"""%mask = vector.constant_mask [2] : vector<4xi1>
    vector.maskedstore %b[%t, %c0], %mask, %v : memref<64x4xf16, {FAT}>, vector<4xi1>, vector<4xf16>""",
    "scatter": f"""%mask = vector.constant_mask [2] : vector<4xi1>
    %at = arith.constant dense<[3, 1, 0, 2]> : vector<4xindex>
    vector.scatter %b[%t, %c0] [%at], %mask, %v
      : memref<64x4xf16, {FAT}>, vector<4xindex>, vector<4xi1>, vector<4xf16>""",
}


@pytest.mark.parametrize("how", WRITES)
def test_writes(how: str) -> None:
    body = f"""
    %bytes = arith.constant 404 : i64
    %b = amdgpu.fat_raw_buffer_cast %o validBytes(%bytes) : memref<64x4xf16> to memref<64x4xf16, {FAT}>
    %v = vector.load %a[%t, %c0] : memref<64x4xf16>, vector<4xf16>
    {WRITES[how]}"""
    a = np.arange(1, 257).reshape(64, 4).astype(np.float16)
    o = np.full_like(a, -1)
    assert find(program(body, "%a: memref<64x4xf16>, %o: memref<64x4xf16>"), a, o) == ()
    written = {"transfer": a.copy(), "mask": a.copy(), "scatter": a[:, [0, 1, 1, 0]]}[how]
    if how != "transfer":
        written[:, [2, 3] if how == "mask" else [0, 2]] = -1
    assert (o == np.where(np.arange(256).reshape(64, 4) < 202, written, -1)).all()


def test_a_mask_selects_the_accessed_elements() -> None:
    """Without bounds of the hardware only what the mask lets through has to be there."""
    body = """
    %count = arith.constant 62 : index
    %v = arith.constant dense<3.0> : vector<4xf32>
    %left = arith.subi %count, %t : index
    %mask = vector.create_mask %left : vector<4xi1>
    %w = vector.maskedload %a[%t], %mask, %v : memref<62xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    vector.store %w, %o[%t, %c0] : memref<64x4xf32>, vector<4xf32>"""
    text = program(body, "%a: memref<62xf32>, %o: memref<64x4xf32>")
    a, o = np.arange(1, 63, dtype=np.float32), np.full((64, 4), -1, np.float32)
    assert find(text, a, o) == ()
    at = np.add.outer(np.arange(64), np.arange(4))
    assert (o == np.where(at < 62, at + 1, 3)).all()
    (finding,) = find(text.replace("arith.constant 62", "arith.constant 63"), a, o)
    assert finding.kind == "out-of-bounds" and "index 62" in finding.message


@pytest.mark.parametrize("chip", ["gfx942", "gfx1201", "gfx1250"])
def test_raw_accesses_are_those_of_the_emulator(chip: str) -> None:
    """Indices below zero, scalar offsets, views, partly masked vectors."""
    body = """
    %i = arith.index_cast %t : index to i32
    %three = arith.constant 3 : i32
    %at = arith.subi %i, %three : i32
    %view = memref.subview %a[5] [40] [1] : memref<64xf32> to memref<40xf32, strided<[1], offset: 5>>
    %v = amdgpu.raw_buffer_load %view[%at] : memref<40xf32, strided<[1], offset: 5>>, i32 -> vector<2xf32>
    %w = amdgpu.raw_buffer_load %a[%at] sgprOffset %three : memref<64xf32>, i32 -> vector<2xf32>
    vector.store %v, %o[%t, %c0] : memref<64x4xf32>, vector<2xf32>
    vector.store %w, %o[%t, %c2] : memref<64x4xf32>, vector<2xf32>
    %x = memref.load %a[%t] : memref<64xf32>
    %n = memref.load %s[%c0] : memref<1xi64>
    %five = arith.index_cast %n : i64 to index
    %out = memref.subview %q[%five] [40] [1] : memref<64xf32> to memref<40xf32, strided<[1], offset: ?>>
    amdgpu.raw_buffer_store %x -> %out[%at] sgprOffset %three : f32 -> memref<40xf32, strided<[1], offset: ?>>, i32"""
    text = program(body, "%a: memref<64xf32>, %o: memref<64x4xf32>, %q: memref<64xf32>, %s: memref<1xi64>")
    results = []
    for target in (f"sim:{chip}", f"emu:{chip}"):
        a, o, q = (np.arange(1, 65, dtype=np.float32), np.full((64, 4), -1, np.float32), np.full(64, -1, np.float32))
        smalti.compile(text, target=target)(a, o, q, np.array([5]))
        results.append((o, q))
    assert all((x == y).all() for x, y in zip(*results, strict=True))
    # Each of them goes outside, and not always.
    assert all((part == 0).any() and (part != 0).any() for part in np.hsplit(results[0][0], 2))
    assert (results[0][1] == -1).any() and (results[0][1] != -1).any()


# ---------------------------------------------------------------------------------------------------------------------
# Resources
# ---------------------------------------------------------------------------------------------------------------------

FLAGS = {"gfx942": 0x00027000, "gfx1100": 0x31027000, "gfx1201": 0x31027000, "gfx1250": 0}


def of_resource(body: str, arguments: str, flags: int, records: int = 50) -> str:
    """The first bytes of %a are a buffer; per-lane and scalar offsets can be negative."""
    begin = f"""
    %flags = arith.constant {flags} : i32
    %stride = arith.constant 0 : i16
    %records = arith.constant {records} : i64
    %aux = arith.constant 0 : i32
    %scalar = arith.constant 8 : i32
    %three = arith.constant 3 : i32
    %six = arith.constant 6 : i32
    %address = memref.extract_aligned_pointer_as_index %a : memref<64xf16> -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<1>
    %rsrc = rocdl.make.buffer.rsrc %pointer, %stride, %records, %flags : !llvm.ptr<1> to !llvm.ptr<8>
    %i = arith.index_cast %t : index to i32
    %from = arith.subi %i, %three : i32
    %offset = arith.muli %from, %six : i32"""
    return program(begin + body, "%a: memref<64xf16>, " + arguments)


@pytest.mark.parametrize("chip", FLAGS)
def test_accesses_by_resources_are_those_of_the_emulator(chip: str) -> None:
    body = """
    %v = rocdl.raw.ptr.buffer.load %rsrc, %offset, %scalar, %aux : vector<4xf16>
    %w = rocdl.raw.ptr.buffer.load %rsrc, %offset, %aux, %aux : i16
    vector.store %v, %o[%t, %c0] : memref<64x4xf16>, vector<4xf16>
    memref.store %w, %p[%t] : memref<64xi16>
    gpu.barrier
    %two = arith.constant 2 : i32
    %x = vector.extract %v[1] : f16 from vector<4xf16>
    %to = arith.muli %from, %two : i32
    rocdl.raw.ptr.buffer.store %x, %rsrc, %to, %scalar, %aux : f16"""
    text = of_resource(body, "%o: memref<64x4xf16>, %p: memref<64xi16>", FLAGS[chip])
    results = []
    for target in (f"sim:{chip}", f"emu:{chip}"):
        a, o, p = np.arange(1, 65).astype(np.float16), np.full((64, 4), -1, np.float16), np.full(64, -1, np.int16)
        smalti.compile(text, target=target)(a, o, p)
        results.append((a, o, p))
    assert all((x == y).all() for x, y in zip(*results, strict=True))
    a, o, p = results[0]
    assert (o == 0).any() and (o != 0).any() and (p == 0).any() and (p != 0).any()
    # 50 bytes are 25 elements.
    assert (
        (a[:4] == np.arange(1, 5)).all() and (a[25:] == np.arange(26, 65)).all() and (a[4:25] != np.arange(5, 26)).any()
    )


ATOMICS = {
    "rocdl.raw.ptr.buffer.atomic.smax %value, %rsrc, %at, %aux, %aux : i32": np.maximum,
    "rocdl.raw.ptr.buffer.atomic.umin %value, %rsrc, %at, %aux, %aux : i32": lambda x, y: np.minimum(
        x.view(np.uint32), y.view(np.uint32)
    ).view(np.int32),
    "amdgpu.raw_buffer_atomic_smax %value -> %n[%which] : i32 -> memref<12xi32>, i32": np.maximum,
}


@pytest.mark.parametrize("operation", ATOMICS)
def test_atomic_operations_on_buffers(operation: str) -> None:
    """Some lanes have the same offset, and one lane's offset is outside."""
    body = f"""
    %size = arith.constant 48 : i64
    %sixteen = arith.constant 16 : i32
    %four = arith.constant 4 : i32
    %base = memref.extract_aligned_pointer_as_index %n : memref<12xi32> -> index
    %bits = arith.index_cast %base : index to i64
    %p = llvm.inttoptr %bits : i64 to !llvm.ptr<1>
    %stride = arith.constant 0 : i16
    %flags = arith.constant {FLAGS["gfx942"]} : i32
    %aux = arith.constant 0 : i32
    %rsrc = rocdl.make.buffer.rsrc %p, %stride, %size, %flags : !llvm.ptr<1> to !llvm.ptr<8>
    %i = arith.index_cast %t : index to i32
    %which = arith.remui %i, %sixteen : i32
    %at = arith.muli %which, %four : i32
    %value = memref.load %x[%t] : memref<64xi32>
    {operation}"""
    rng = np.random.default_rng(1)
    x, n = (rng.integers(-99, 99, size).astype(np.int32) for size in (64, 12))
    wanted = n.copy()
    for lane in range(64):
        if lane % 16 < 12:
            wanted[lane % 16] = ATOMICS[operation](wanted[lane % 16], x[lane])
    assert find(program(body, "%x: memref<64xi32>, %n: memref<12xi32>"), x, n) == ()
    assert (n == wanted).all()


def test_compare_and_swap_on_buffers() -> None:
    """Each lane increments after it sees the number of its offset; lanes outside get zero."""
    body = """
    %i = arith.index_cast %t : index to i32
    %one = arith.constant 1 : i32
    %half = arith.shrui %i, %one : i32
    %next = arith.addi %i, %one : i32
    %old = amdgpu.raw_buffer_atomic_cmpswap %next, %i -> %n[%half] : i32 -> memref<30xi32>, i32
    memref.store %old, %o[%t] : memref<64xi32>"""
    n, o = np.arange(0, 60, 2).astype(np.int32), np.full(64, -1, np.int32)
    assert find(program(body, "%n: memref<30xi32>, %o: memref<64xi32>"), n, o) == ()
    assert (n == np.arange(2, 62, 2)).all()
    assert (o == np.where(np.arange(64) < 60, np.arange(64), 0)).all()


@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
def test_copies_to_lds_by_resources(chip: str) -> None:
    """Consecutive lanes, zeros where the buffer ends, and vmcnt for their completion."""
    shared = "memref<64xf32, #gpu.address_space<workgroup>>"
    body = f"""
    %s = memref.alloc() : {shared}
    %c63 = arith.constant 63 : index
    %size = arith.constant 4 : i32
    %base = memref.extract_aligned_pointer_as_index %s : {shared} -> index
    %bits = arith.index_cast %base : index to i64
    %to = llvm.inttoptr %bits : i64 to !llvm.ptr<3>
    %mine = arith.muli %i, %size : i32
    rocdl.raw.ptr.buffer.load.lds %rsrc, %to, %size, %mine, %scalar, %aux, %aux
    rocdl.s.waitcnt 3952
    amdgpu.lds_barrier
    %mirror = arith.subi %c63, %t : index
    %v = memref.load %s[%mirror] : {shared}
    memref.store %v, %o[%t] : memref<64xf32>"""
    text = of_resource(body, "%o: memref<64xf32>", FLAGS["gfx942"], 100)
    a, o = np.arange(1, 65).astype(np.float16), np.full(64, -1, np.float32)
    how = sim.Simulation(explicit_waits=True)
    made = sim.simulate(text, f"sim:{chip}")
    assert made.find(a, o, simulation=how) == ()
    wanted = np.zeros(64, np.float32)
    wanted[:23] = a.view(np.float32)[2:25]
    assert o.tobytes() == wanted[::-1].tobytes()
    without = sim.simulate(text.replace("rocdl.s.waitcnt 3952", ""), f"sim:{chip}")
    assert {finding.kind for finding in without.find(a, o, simulation=how)} == {"race", "leak"}


def test_pointers_that_are_not_resources() -> None:
    body = "\n    %v = rocdl.raw.ptr.buffer.load %rsrc, %offset, %scalar, %aux : f16"
    made = sim.simulate(of_resource(body, "%o: memref<64xf32>", 1 << 23), "sim:gfx942")
    (finding,) = made.find(np.zeros(64, np.float16), np.zeros(64, np.float32))
    assert finding.kind == "assertion" and "the lane is added to the index" in finding.message
