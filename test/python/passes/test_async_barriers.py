# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Barrier objects that are not nvgpu barrier groups, through both loop passes, on an emulated chip.

Kernels with PTX instructions: a barrier is eight bytes of a buffer, and copies and waits take addresses. One thread
issues the copies: the first of the block, or the one of a warp that `elect.sync` chooses.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import smalti
from helpers import DESCRIPTOR, SHARED
from loops import runner
from loops.case import Case
from smalti.emulator import SCHEDULES, Emulation, tensor_map
from smalti.errors import EmulationError

THREADS, TRIPS = 128, 10
COPIES = {
    "own": "nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %bar, box[%x] {isCTAOnly = true}\n"
    "  : !llvm.ptr<3>, !llvm.ptr",
    "cluster": "%there = llvm.addrspacecast %to : !llvm.ptr<3> to !llvm.ptr<7>\n"
    "nvvm.cp.async.bulk.tensor.shared.cluster.global %there, %map, %bar, box[%x] : !llvm.ptr<7>, !llvm.ptr",
    "bytes": "%there = llvm.addrspacecast %to : !llvm.ptr<3> to !llvm.ptr<7>\n"
    "nvvm.cp.async.bulk.shared.cluster.global %there, %from, %bar, %bytes : !llvm.ptr<7>, !llvm.ptr<1>",
}
FIRST = "%is_first = arith.cmpi eq, %t, %c0 : index\n"
ELECTED = """%t32 = arith.index_cast %t : index to i32
%five = arith.constant 5 : i32
%own_warp = arith.shrui %t32, %five : i32
%all = arith.constant -1 : i32
%last_lane = arith.constant 31 : i32
%warp = nvvm.shfl.sync idx %all, %own_warp, %zero, %last_lane : i32 -> i32
%is_first_warp = arith.cmpi eq, %warp, %zero : i32
%elected = nvvm.elect.sync -> i1
%is_first = arith.andi %is_first_warp, %elected : i1
"""
ISSUES = {"first": FIRST, "elected": ELECTED}
PARITIES = {
    "carried": "",
    "number": "%phase = arith.andi %number, %one : i32\n",
}


def kernel(copy: str, issue: str, parity: str, barriers: int = 1) -> str:
    """One tile, on the last of so many barriers."""
    carried = parity == "carried"
    prologue = (
        ""
        if barriers == 1
        else f"%bar = llvm.getelementptr %first[{barriers - 1}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64\n"
    )
    text = f"""gpu.module @m {{
  gpu.func @k(%tensor: DESCRIPTOR, %a: memref<1280xf32> {{llvm.noalias}}, %o: memref<128xf32> {{llvm.noalias}}, %n: index) kernel
      attributes {{known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %width = arith.constant 128 : i32
    %c512 = arith.constant 512 : index
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %bytes = arith.constant 512 : i32
    %ticks = arith.constant 1000 : i32
    %init = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %t = gpu.thread_id x
    %m = arith.subi %c127, %t : index
    {ISSUES[issue]}
    %map = builtin.unrealized_conversion_cast %tensor : DESCRIPTOR to !llvm.ptr
    %tile = memref.alloc() {{alignment = 128 : i64}} : TILE
    %bars = memref.alloc() : BARS
    %bars_index = memref.extract_aligned_pointer_as_index %bars : BARS -> index
    %bars_i64 = arith.index_cast %bars_index : index to i64
    {"%bar" if barriers == 1 else "%first"} = llvm.inttoptr %bars_i64 : i64 to !llvm.ptr<3>
    {prologue}%tile_index = memref.extract_aligned_pointer_as_index %tile : TILE -> index
    %tile_i64 = arith.index_cast %tile_index : index to i64
    %to = llvm.inttoptr %tile_i64 : i64 to !llvm.ptr<3>
    %start = memref.extract_aligned_pointer_as_index %a : memref<1280xf32> -> index
    scf.if %is_first {{
      nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    }}
    gpu.barrier
    %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init, {"%phase" if carried else "%unused"} = %zero)
        -> (f32, i32) {{
      %number = arith.index_cast %i : index to i32
      {PARITIES[parity]}%x = arith.muli %number, %width : i32
      %distance = arith.muli %i, %c512 : index
      %place = arith.addi %start, %distance : index
      %place_i64 = arith.index_cast %place : index to i64
      %from = llvm.inttoptr %place_i64 : i64 to !llvm.ptr<1>
      scf.if %is_first {{
        nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
        {COPIES[copy]}
      }}
      nvvm.mbarrier.try_wait.parity %bar, %phase, %ticks : !llvm.ptr<3>, i32, i32
      %v = memref.load %tile[%m] : TILE
      %h = arith.mulf %acc, %half : f32
      %next = arith.addf %h, %v : f32
      gpu.barrier
      %other = arith.xori {"%phase" if carried else "%unused"}, %one : i32
      scf.yield %next, %other : f32, i32
    }}
    memref.store %sum#0, %o[%t] : memref<128xf32>
    gpu.return
  }}
}}
"""
    return (
        text.replace("DESCRIPTOR", DESCRIPTOR)
        .replace("TILE", f"memref<128xf32, {SHARED}>")
        .replace("BARS", f"memref<{barriers}xi64, {SHARED}>")
    )


def with_second_tile(text: str) -> str:
    """An additional tile of half the size, whose copy completes in the same phase."""
    half = DESCRIPTOR.replace("128xf32", "64xf32")
    tile = f"memref<64xf32, {SHARED}>"
    for old, new in {
        f"%tensor: {DESCRIPTOR}, ": f"%tensor: {DESCRIPTOR}, %tensor_b: {half}, ",
        "%bytes = arith.constant 512 : i32": "%bytes = arith.constant 768 : i32",
        "%map = ": f"%map_b = builtin.unrealized_conversion_cast %tensor_b : {half} to !llvm.ptr\n%map = ",
        "%tile = ": f"""%m_b = arith.shrui %m, %c1 : index
    %tile_b = memref.alloc() {{alignment = 128 : i64}} : {tile}
    %tile_b_index = memref.extract_aligned_pointer_as_index %tile_b : {tile} -> index
    %tile_b_i64 = arith.index_cast %tile_b_index : index to i64
    %to_b = llvm.inttoptr %tile_b_i64 : i64 to !llvm.ptr<3>
    %tile = """,
        COPIES["own"]: "%x_b = arith.shrui %x, %one : i32\n"
        + COPIES["own"].replace("%to,", "%to_b,").replace("%map,", "%map_b,").replace("[%x]", "[%x_b]")
        + "\n"
        + COPIES["own"],
        "%v = memref.load": f"%v_b = memref.load %tile_b[%m_b] : {tile}\n%v_a = memref.load",
        "%h = arith.mulf": "%v = arith.addf %v_a, %v_b : f32\n%h = arith.mulf",
    }.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def pipelined(text: str, stages: int, depth: int, tiles: int = 1) -> str:
    passes = f"smalti-multi-buffer{{depth={depth} target=sm_90a}},smalti-pipeline-loops{{stages={stages}}}"
    outcome = runner.transform(Case(text, "sm_90a", f"builtin.module(gpu.module(gpu.func({passes})))"))
    assert outcome.pipelined == 1, outcome.missed
    assert outcome.slotted == tiles, outcome.missed
    return outcome.text


def right_trips(text: str, trips: range, how: Emulation) -> list[int]:
    """For which numbers of iterations the kernel gives the right numbers."""
    code = smalti.compile(text, target="emu:sm_90a", depth=1, stages=1)
    rows = np.random.default_rng(3).integers(-9, 9, (TRIPS, THREADS)).astype(np.float32)
    right = []
    for count in trips:
        wanted, out = np.zeros(THREADS, np.float32), np.zeros(THREADS, np.float32)
        for row in rows[:count]:
            wanted = wanted * 0.5 + row[::-1]
        code.launcher(tensor_map(rows.reshape(-1), (THREADS,)), rows.reshape(-1), out, count, emulation=how)
        if (out == wanted).all():
            right.append(count)
    return right


@pytest.mark.grid(4)
@pytest.mark.parametrize("issue", ISSUES)
@pytest.mark.parametrize("copy", COPIES)
def test_barriers_in_memory_get_slots(copy: str, issue: str) -> None:
    parity = "carried" if (copy == "own") == (issue == "first") else "number"
    plain = kernel(copy, issue, parity, barriers=1 if issue == "first" else 2)
    assert right_trips(plain, range(3), Emulation()) == [0, 1, 2]
    stages, depth = {"own": (3, 3), "cluster": (2, 2), "bytes": (3, 5)}[copy]
    text = pipelined(plain, stages, depth)
    for how in (*SCHEDULES[:2], Emulation(copies="early"), Emulation(sanitize="thread")):
        trips = range(TRIPS + 1) if how.sanitize is None else range(8, TRIPS + 1)
        assert right_trips(text, trips, how) == list(trips), how


def right_trips_of_two(text: str, trips: range, how: Emulation) -> list[int]:
    code = smalti.compile(text, target="emu:sm_90a", depth=1, stages=1)
    numbers = np.random.default_rng(4)
    rows = numbers.integers(-9, 9, (TRIPS, THREADS)).astype(np.float32)
    others = numbers.integers(-9, 9, (TRIPS, THREADS // 2)).astype(np.float32)
    maps = tensor_map(rows.reshape(-1), (THREADS,)), tensor_map(others.reshape(-1), (THREADS // 2,))
    right = []
    for count in trips:
        wanted, out = np.zeros(THREADS, np.float32), np.zeros(THREADS, np.float32)
        for row, other in zip(rows[:count], others[:count], strict=True):
            wanted = wanted * 0.5 + row[::-1] + np.repeat(other, 2)[::-1]
        code.launcher(*maps, rows.reshape(-1), out, count, emulation=how)
        if (out == wanted).all():
            right.append(count)
    return right


@pytest.mark.parametrize(("stages", "depth"), [(2, 2), (3, 3), (3, 5)])
def test_two_copies_of_one_phase_get_slots(stages: int, depth: int) -> None:
    plain = with_second_tile(kernel("own", "first", "carried"))
    assert right_trips_of_two(plain, range(3), Emulation()) == [0, 1, 2]
    text = pipelined(plain, stages, depth, tiles=2)
    for how in (*SCHEDULES[:2], Emulation(copies="early"), Emulation(sanitize="thread")):
        trips = range(TRIPS + 1) if how.sanitize is None else range(8, TRIPS + 1)
        assert right_trips_of_two(text, trips, how) == list(trips), how


def test_the_other_parity_of_an_address_is_noticed() -> None:
    text = pipelined(kernel("own", "first", "carried"), 3, 3)
    wrong, changes = re.subn(r"arith\.cmpi eq, (%\w+), (%c1\w*) : index", r"arith.cmpi ne, \1, \2 : index", text)
    assert changes
    with pytest.raises((EmulationError, AssertionError)):
        assert right_trips(wrong, range(TRIPS + 1), Emulation()) == list(range(TRIPS + 1))


def test_a_barrier_less_is_noticed() -> None:
    text = pipelined(kernel("own", "first", "carried"), 3, 3)
    # An uninitialized barrier.
    wrong, changes = re.subn(r"nvvm\.mbarrier\.init (%\w+), %c1_i32[^\n]*\n", "", text, count=1)
    assert changes
    with pytest.raises((EmulationError, AssertionError)):
        assert right_trips(wrong, range(TRIPS + 1), Emulation()) == list(range(TRIPS + 1))
