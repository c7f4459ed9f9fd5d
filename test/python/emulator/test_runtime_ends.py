# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Deadlocks, endless loops and spinning threads."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hand_written import ADDRESS, BARRIER, BLOCK, BLOCKS_THAT_MEET, PLAIN, THREAD, TID, build, ints, run

pytestmark = pytest.mark.usefixtures("no_files")


@pytest.mark.parametrize("emulator", [PLAIN, ADDRESS, THREAD], ids=lambda path: path.name)
def test_a_barrier_that_some_never_reach(tmp_path: Path, emulator: Path) -> None:
    body = f"""\
{TID}{BLOCK}
%isEarly = icmp ult i32 %tid, 40
%isFirst = icmp eq i32 %block, 2
%isMissing = and i1 %isEarly, %isFirst
br i1 %isMissing, label %other, label %stay
stay:
{BARRIER}
br label %end
other:
device void "llvm.nvvm.barrier.cta.sync.aligned.all"(i32 1)
br label %end
end:
ret void
"""
    library = build(tmp_path, body)
    result = run(library, block="16 8 1", grid="2 2 1", blocks="0 3", emulator=emulator).check()
    body = body.replace("icmp ult i32 %tid, 40", "icmp ult i32 %tid, 4")
    library = build(tmp_path, body.replace("icmp eq i32 %block, 2", "icmp eq i32 %block, 1"))
    result = run(library, block="16 8 1", grid="2 2 1", blocks="1 2", emulator=emulator)
    assert result.code == 1
    finding = result.finding
    assert finding["kind"] == "deadlock"
    assert finding["block"] == [1, 0, 0]
    assert finding["thread"] == [0, 0, 0]
    missing = ", ".join(f"{16 * y}-{16 * y + 3}" for y in range(8))
    assert f"where 96 of 128 threads have arrived, missing: threads {missing}" in finding["message"]
    assert f"threads {missing} wait at barrier 1" in finding["message"]
    assert len(finding["pc"]) == 1
    waiting = next(other for other in finding["others"] if "at barrier 1" in other["note"])
    assert waiting["pc"] == finding["pc"]


@pytest.mark.parametrize("barrier", ['all"(i32 0)', 'count"(i32 1, i32 128)'])
@pytest.mark.parametrize("early", [4, 32, 127])
def test_barriers_do_not_wait_for_exited_threads(tmp_path: Path, barrier: str, early: int) -> None:
    """PTX ISA, "exit". Only a part of a warp may have exited."""
    body = f"""\
{TID}
%isEarly = icmp ult i32 %tid, {early}
br i1 %isEarly, label %end, label %stay
stay:
device void "llvm.nvvm.barrier.cta.sync.aligned.{barrier}
br label %end
end:
ret void
"""
    run(build(tmp_path, body), block="128 1 1").check()


def test_threads_that_wait_at_different_barriers(tmp_path: Path) -> None:
    body = f"""\
{TID}
%wave = udiv i32 %tid, 32
device void "llvm.nvvm.barrier.cta.sync.aligned.all"(i32 %wave)
ret void
"""
    finding = run(build(tmp_path, body), block="64 1 1").finding
    assert finding["kind"] == "deadlock"
    assert (
        "threads 0-31 wait at barrier 0, where 32 of 64 threads have arrived, missing: threads 32-63"
        in (finding["message"])
    )
    assert (
        "threads 32-63 wait at barrier 1, where 32 of 64 threads have arrived, missing: threads 0-31"
        in (finding["message"])
    )
    assert [other["thread"] for other in finding["others"]] == [[0, 0, 0], [32, 0, 0]]


def test_threads_that_disagree_about_a_barrier(tmp_path: Path) -> None:
    body = f"""\
{TID}
%isLow = icmp ult i32 %tid, 32
%count = select i1 %isLow, i32 64, i32 96
device void "llvm.nvvm.barrier.cta.sync.aligned.count"(i32 1, i32 %count)
ret void
"""
    finding = run(build(tmp_path, body), block="96 1 1").finding
    assert finding["message"] == (
        "barrier 1: this thread expects 96 threads, but earlier arrivals expect 64; all participants must pass the same count"
    )
    assert finding["thread"] == [32, 0, 0]


@pytest.mark.parametrize("emulator", [PLAIN, ADDRESS, THREAD], ids=lambda path: path.name)
def test_an_endless_loop_is_stopped_with_its_location(tmp_path: Path, emulator: Path) -> None:
    body = f"""\
{TID}
%isThird = icmp eq i32 %tid, 3
br i1 %isThird, label %loop, label %stay
loop:
%i = phi i32 [0, %0], [%next, %loop]
%next = add i32 %i, 1
store volatile i32 %next, ptr %out
br label %loop
stay:
{BARRIER}
ret void
"""
    began = time.monotonic()
    result = run(build(tmp_path, body, "ptr %out"), ints(1), timeout=0.5, emulator=emulator)
    assert time.monotonic() - began < 10
    assert result.code == 1
    finding = result.finding
    assert finding["kind"] == "timeout"
    assert finding["thread"] == [3, 0, 0]
    assert "the launch exceeded the time limit of 0.5 s; in block 0, " in finding["message"]
    assert "thread 3 runs" in finding["message"]
    assert (
        "threads 0-2 wait at barrier 0, where 3 of 32 threads have arrived, missing: threads 3-31"
        in (finding["message"])
    )
    assert len(finding["pc"]) == 1


SPIN = f"""\
{TID}
%isLast = icmp eq i32 %tid, 31
br i1 %isLast, label %set, label %loop
set:
store atomic i32 1, ptr %out release, align 4
br label %end
loop:
call void @smalti_emu_yield()
%seen = load atomic i32, ptr %out acquire, align 4
%isSet = icmp eq i32 %seen, 1
br i1 %isSet, label %end, label %loop
end:
ret void
"""


@pytest.mark.parametrize("emulator", [PLAIN, ADDRESS, THREAD], ids=lambda path: path.name)
@pytest.mark.parametrize("order", ["lowest-first", "highest-first"])
def test_threads_that_spin_let_others_run(tmp_path: Path, order: str, emulator: Path) -> None:
    run(build(tmp_path, SPIN, "ptr %out"), ints(1), order=order, emulator=emulator).check()


@pytest.mark.parametrize("emulator", [PLAIN, ADDRESS, THREAD], ids=lambda path: path.name)
def test_threads_that_spin_for_ever_are_named(tmp_path: Path, emulator: Path) -> None:
    body = SPIN.replace("store atomic i32 1", "store atomic i32 2")
    finding = run(build(tmp_path, body, "ptr %out"), ints(1), timeout=0.5, emulator=emulator).finding
    assert finding["kind"] == "timeout"
    assert re.search(r"spin", finding["message"])
    assert "thread 31 has exited" in finding["message"]


def test_blocks_of_several_workers_wait_for_each_other(tmp_path: Path) -> None:
    # Each of two blocks waits for the other's flag: they run at the same time.
    run(build(tmp_path, BLOCKS_THAT_MEET, "ptr %out"), ints(2), grid="2 1 1", workers=2).check()
