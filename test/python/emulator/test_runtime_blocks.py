# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks, their threads and their waves in the runtime of the emulator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hand_written import ADDRESS, BARRIER, ORDERS, PLAIN, SHARED, THREAD, TID, WRITE_INDEX, build, ints, reverse, run

pytestmark = pytest.mark.usefixtures("no_files")

#
# Blocks and threads
#


@pytest.mark.parametrize("emulator", [PLAIN, ADDRESS, THREAD], ids=lambda path: path.name)
@pytest.mark.parametrize("workers", [1, 3])
def test_every_thread_of_every_block_runs(tmp_path: Path, workers: int, emulator: Path) -> None:
    library = build(tmp_path, WRITE_INDEX, "ptr %out")
    result = run(library, ints(10 * 64), emulator=emulator, grid="10 1 1", block="64 1 1", workers=workers).check()
    np.testing.assert_array_equal(result.arrays[0], np.arange(640) ^ 5)
    assert result.lines[-2] == {"progress": [10, 10]}


def test_blocks_of_the_most_threads_run_under_the_thread_sanitizer(tmp_path: Path) -> None:
    library = build(tmp_path, WRITE_INDEX.replace("%block, 64", "%block, 2048"), "ptr %out", sanitizer="thread")
    result = run(library, ints(4096), block="2048 1 1", grid="2 1 1", emulator=THREAD).check()
    np.testing.assert_array_equal(result.arrays[0], np.arange(4096) ^ 5)


def test_a_range_of_blocks_runs(tmp_path: Path) -> None:
    library = build(tmp_path, WRITE_INDEX, "ptr %out")
    result = run(library, ints(640), grid="10 1 1", block="64 1 1", blocks="3 5").check()
    expected = np.where((np.arange(640) // 64 >= 3) & (np.arange(640) // 64 < 5), np.arange(640) ^ 5, -1)
    np.testing.assert_array_equal(result.arrays[0], expected)


@pytest.mark.parametrize("order", ORDERS)
def test_a_barrier_orders_threads(tmp_path: Path, order: str) -> None:
    library = build(tmp_path, reverse(), "ptr %out", shared=256)
    result = run(library, ints(64), block="64 1 1", order=order).check()
    np.testing.assert_array_equal(result.arrays[0], np.arange(63, -1, -1) ** 2)


def test_named_barriers_count_their_threads(tmp_path: Path) -> None:
    # The two waves of a pair synchronize at their own barrier; no barrier waits for all waves.
    named = """\
%pair = udiv i32 %tid, 64
%id = add i32 %pair, 1
device void "llvm.nvvm.barrier.cta.sync.aligned.count"(i32 %id, i32 64)
"""
    body = reverse(named).replace("sub i32 63, %tid", "xor i32 %tid, 63")
    library = build(tmp_path, body, "ptr %out", shared=1024)
    for order in ORDERS:
        result = run(library, ints(128), block="128 1 1", order=order).check()
        np.testing.assert_array_equal(result.arrays[0], (np.arange(128) ^ 63) ** 2)


def test_a_producer_arrives_and_goes_on(tmp_path: Path) -> None:
    # The first wave arrives at barrier 1 and ends; the second waits there for what the first wrote.
    body = f"""\
{TID}
%base = inttoptr i64 {SHARED} to ptr
%isProducer = icmp ult i32 %tid, 32
br i1 %isProducer, label %produce, label %consume
produce:
%mine = getelementptr i32, ptr %base, i32 %tid
store i32 %tid, ptr %mine
device void "llvm.nvvm.barrier.cta.arrive.aligned.count"(i32 1, i32 64)
ret void
consume:
device void "llvm.nvvm.barrier.cta.sync.aligned.count"(i32 1, i32 64)
%from = sub i32 63, %tid
%other = getelementptr i32, ptr %base, i32 %from
%value = load i32, ptr %other
%place = sub i32 %tid, 32
%to = getelementptr i32, ptr %out, i32 %place
store i32 %value, ptr %to
ret void
"""
    library = build(tmp_path, body, "ptr %out", shared=128)
    for order in ORDERS:
        result = run(library, ints(32), block="64 1 1", order=order).check()
        np.testing.assert_array_equal(result.arrays[0], np.arange(31, -1, -1))


def test_waves_of_amd_that_ended_do_not_count_at_a_barrier(tmp_path: Path) -> None:
    body = """\
%tid = device i32 "llvm.amdgcn.workitem.id.x"()
%isEarly = icmp ult i32 %tid, 64
br i1 %isEarly, label %end, label %stay
stay:
device void "llvm.amdgcn.s.barrier"()
br label %end
end:
ret void
"""
    library = build(tmp_path, body)
    for order in ORDERS:
        run(library, vendor="amd", wave=64, block="128 1 1", order=order).check()


def test_lanes_of_amd_that_ended_do_not_count_at_a_barrier(tmp_path: Path) -> None:
    # Lanes 0 to 19 of each wave: the wave arrives at the barrier.
    body = """\
%tid = device i32 "llvm.amdgcn.workitem.id.x"()
%lane = urem i32 %tid, 64
%isEarly = icmp ult i32 %lane, 20
br i1 %isEarly, label %end, label %stay
stay:
device void "llvm.amdgcn.s.barrier"()
device void "llvm.amdgcn.s.barrier"()
br label %end
end:
ret void
"""
    library = build(tmp_path, body)
    for order in ORDERS:
        run(library, vendor="amd", wave=64, block="128 1 1", order=order).check()


def test_an_amd_wave_that_signals_and_exits_counts_once(tmp_path: Path) -> None:
    # The second wave writes before it signals, the first reads after both have, the third ends when it has signaled.
    shared = f"%base = inttoptr i64 {SHARED} to ptr\n"
    body = f"""\
{shared}%tid = device i32 "llvm.amdgcn.workitem.id.x"()
%wave = udiv i32 %tid, 32
%isWriter = icmp eq i32 %wave, 1
br i1 %isWriter, label %write, label %signal
write:
store i32 7, ptr %base
br label %signal
signal:
device void "llvm.amdgcn.s.barrier.signal"(i32 -1)
%isReader = icmp eq i32 %wave, 0
br i1 %isReader, label %read, label %end
read:
device void "llvm.amdgcn.s.barrier.wait"(i16 -1)
%value = load i32, ptr %base
%to = getelementptr i32, ptr %out, i32 %tid
store i32 %value, ptr %to
br label %end
end:
ret void
"""
    library = build(tmp_path, body, "ptr %out", shared=64)
    for order in ORDERS:
        result = run(library, ints(32), vendor="amd", wave=32, block="96 1 1", order=order).check()
        np.testing.assert_array_equal(result.arrays[0], 7)


#
# Instructions of a wave
#


@pytest.mark.parametrize("order", ORDERS)
def test_the_sides_of_a_branch_have_instructions_of_their_own(tmp_path: Path, order: str) -> None:
    # Lane 0's number among those of the same side: each side's own first lane.
    body = """\
%tid = device i32 "llvm.amdgcn.workitem.id.x"()
%isLow = icmp ult i32 %tid, 20
br i1 %isLow, label %low, label %high
low:
%first = device i32 "llvm.amdgcn.readfirstlane.i32"(i32 %tid)
br label %end
high:
%other = device i32 "llvm.amdgcn.readfirstlane.i32"(i32 %tid)
br label %end
end:
%side = phi i32 [%first, %low], [%other, %high]
%all = device i32 "llvm.amdgcn.readfirstlane.i32"(i32 %tid)
%scaled = mul i32 %all, 1000
%sum = add i32 %side, %scaled
%to = getelementptr i32, ptr %out, i32 %tid
store i32 %sum, ptr %to
ret void
"""
    library = build(tmp_path, body, "ptr %out")
    result = run(library, ints(64), vendor="amd", wave=64, block="64 1 1", order=order).check()
    np.testing.assert_array_equal(result.arrays[0], np.where(np.arange(64) < 20, 0, 20))


def test_an_instruction_waits_for_its_members_from_both_sides(tmp_path: Path) -> None:
    body = f"""\
{TID}
%isLow = icmp ult i32 %tid, 7
br i1 %isLow, label %low, label %high
low:
%a = device i32 "llvm.nvvm.shfl.sync.idx.i32"(i32 -1, i32 %tid, i32 30, i32 31)
br label %end
high:
%b = device i32 "llvm.nvvm.shfl.sync.idx.i32"(i32 -1, i32 %tid, i32 3, i32 31)
br label %end
end:
%value = phi i32 [%a, %low], [%b, %high]
%to = getelementptr i32, ptr %out, i32 %tid
store i32 %value, ptr %to
ret void
"""
    library = build(tmp_path, body, "ptr %out")
    for order in ORDERS:
        result = run(library, ints(32), order=order).check()
        np.testing.assert_array_equal(result.arrays[0], np.where(np.arange(32) < 7, 30, 3))


def test_members_that_ended_are_not_waited_for(tmp_path: Path) -> None:
    body = f"""\
{TID}
%isEarly = icmp ult i32 %tid, 5
br i1 %isEarly, label %end, label %stay
stay:
device void "llvm.nvvm.bar.warp.sync"(i32 -1)
br label %end
end:
ret void
"""
    run(build(tmp_path, body)).check()


def test_a_member_that_waits_elsewhere_is_named(tmp_path: Path) -> None:
    body = f"""\
{TID}
%isOther = icmp eq i32 %tid, 9
br i1 %isOther, label %other, label %stay
other:
{BARRIER}
br label %end
stay:
device void "llvm.nvvm.bar.warp.sync"(i32 -1)
br label %end
end:
ret void
"""
    result = run(build(tmp_path, body))
    assert result.code == 1
    assert result.finding["kind"] == "deadlock"
    message = result.finding["message"]
    assert (
        "threads 0-8, 10-31 wait at llvm.nvvm.bar.warp.sync with member mask 0xffffffff in warp 0, missing: thread 9"
        in (message)
    )
    assert "thread 9 waits at barrier 0, where 1 of 32 threads have arrived" in message


def test_a_lane_outside_of_the_mask_is_found(tmp_path: Path) -> None:
    body = 'device void "llvm.nvvm.bar.warp.sync"(i32 255)\nret void\n'
    finding = run(build(tmp_path, body)).finding
    assert finding["kind"] == "divergence"
    assert finding["thread"] == [8, 0, 0]
    assert (
        "lane 8 executes llvm.nvvm.bar.warp.sync with member mask 0xff, which does not include the lane"
        in finding["message"]
    )


def test_a_wave_instruction_does_not_run_in_a_part_of_the_wave(tmp_path: Path) -> None:
    body = f"""\
{TID}
%isEarly = icmp eq i32 %tid, 5
br i1 %isEarly, label %end, label %stay
stay:
%base = inttoptr i64 {SHARED} to ptr
%row = device i32 "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3"(ptr %base)
br label %end
end:
ret void
"""
    finding = run(build(tmp_path, body, shared=1024)).finding
    assert finding["kind"] == "divergence"
    assert "requires all 32 lanes of the warp, but only 31 reach it" in finding["message"]
    assert "thread 5 has exited" in finding["message"]
