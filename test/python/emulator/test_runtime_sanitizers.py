# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime of the emulator under the sanitizers: races, accesses out of bounds, and correct kernels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hand_written import (
    ADDRESS,
    BARRIER,
    BLOCK,
    ORDERS,
    SHARED,
    THREAD,
    TID,
    Memory,
    at_thread,
    build,
    ints,
    reverse,
    run,
)

pytestmark = pytest.mark.usefixtures("no_files")

#
# ThreadSanitizer
#


def races(library: Path, *arrays: np.ndarray[Any, Any], **options: Any) -> list[dict[str, Any]]:
    result = run(library, *arrays, emulator=THREAD, **options)
    assert {finding["kind"] for finding in result.findings} <= {"race"}, result.lines
    assert result.code == (1 if result.findings else 0)
    return result.findings


@pytest.mark.parametrize("order", ORDERS)
def test_a_barrier_orders_shared_memory(tmp_path: Path, order: str) -> None:
    # Blocks one after the other use the same shared memory and stacks: no race.
    library = build(tmp_path, reverse(), "ptr %out", shared=256, sanitizer="thread")
    run(library, ints(64), block="64 1 1", order=order, emulator=THREAD).check()
    body = reverse().replace("ptr %out, i32 %tid", "ptr %out, i32 %place")
    body = body.replace(TID, f"{TID}{BLOCK}%begin = mul i32 %block, 64\n%place = add i32 %begin, %tid\n")
    library = build(tmp_path, body, "ptr %out", shared=256, sanitizer="thread")
    run(library, ints(640), grid="10 1 1", block="64 1 1", order=order, emulator=THREAD).check()


@pytest.mark.parametrize("order", ORDERS)
def test_a_missing_barrier_is_a_race(tmp_path: Path, order: str) -> None:
    library = build(tmp_path, reverse(""), "ptr %out", shared=256, sanitizer="thread")
    findings = races(library, ints(64), block="64 1 1", order=order)
    assert findings
    for finding in findings:
        (other,) = finding["others"]
        assert finding["block"] == other["block"] == [0, 0, 0]
        assert finding["thread"][0] + other["thread"][0] == 63
        assert finding["write"] != other["write"]
        assert finding["bytes"] == 4
        assert (finding["address"] - SHARED) // 4 in (finding["thread"][0], other["thread"][0])
        assert finding["pc"] and other["pc"] and finding["pc"] != other["pc"]
        assert "of shared memory (256 bytes)" in finding["message"]
        assert "is unordered with" in finding["message"]


def test_a_barrier_without_the_thread_does_not_order_it(tmp_path: Path) -> None:
    # Both waves wait at barriers, each at one of its own.
    named = """\
%wave = udiv i32 %tid, 32
%id = add i32 %wave, 1
device void "llvm.nvvm.barrier.cta.sync.aligned.count"(i32 %id, i32 32)
"""
    library = build(tmp_path, reverse(named), "ptr %out", shared=256, sanitizer="thread")
    assert races(library, ints(64), block="64 1 1")


def test_a_barrier_does_not_order_later_uses(tmp_path: Path) -> None:
    # A barrier before the writes, but not between them and the reads.
    body = reverse("").replace("%square =", f"{BARRIER}{BARRIER}%square =")
    library = build(tmp_path, body, "ptr %out", shared=256, sanitizer="thread")
    assert races(library, ints(64), block="64 1 1")


def test_blocks_that_write_the_same_are_a_race(tmp_path: Path) -> None:
    body = f"""\
{TID}{BLOCK}
%to = getelementptr i32, ptr %out, i32 %tid
store i32 %block, ptr %to
ret void
"""
    library = build(tmp_path, body, "ptr %out", sanitizer="thread")
    run(library, ints(32), emulator=THREAD).check()
    findings = races(library, ints(32), grid="2 3 1", blocks="2 4")
    assert findings
    for finding in findings:
        (other,) = finding["others"]
        assert sorted([finding["block"], other["block"]]) == [[0, 1, 0], [1, 1, 0]]
        assert finding["thread"] == other["thread"]
        assert finding["write"] and other["write"]
        assert "of argument 0 (128 bytes)" in finding["message"]


@pytest.mark.parametrize(("first", "second"), [(0, 1), (3, 67), (10, 74)])
def test_races_between_blocks_are_found_among_many(tmp_path: Path, first: int, second: int) -> None:
    # Two blocks of many write the same.
    body = f"""\
{TID}{BLOCK}
%isSecond = icmp eq i32 %block, {second}
%begin = select i1 %isSecond, i32 {first}, i32 %block
%from = mul i32 %begin, 256
%place = add i32 %from, %tid
%to = getelementptr i32, ptr %out, i32 %place
store i32 %block, ptr %to
ret void
"""
    library = build(tmp_path, body, "ptr %out", sanitizer="thread")
    run(library, ints(256 * 80), grid="80 1 1", block="256 1 1", blocks=f"0 {second}", emulator=THREAD).check()
    findings = races(library, ints(256 * 80), grid="80 1 1", block="256 1 1")
    assert findings
    for finding in findings:
        (other,) = finding["others"]
        assert finding["block"] == [second, 0, 0]
        assert finding["thread"] == other["thread"]
        if other["block"] is None:
            assert re.search(rf"one of the blocks .*\b{first}\b", other["note"])
            assert other["note"].endswith(": a write of 4 bytes")
        else:
            assert other["block"] == [first, 0, 0]


def test_atomics_do_not_race(tmp_path: Path) -> None:
    body = """\
%old = atomicrmw add ptr %out, i32 1 monotonic
ret void
"""
    library = build(tmp_path, body, "ptr %out", sanitizer="thread")
    result = run(library, np.zeros(1, np.int32), grid="40 1 1", emulator=THREAD).check()
    assert result.arrays[0][0] == 40 * 32
    library = build(
        tmp_path,
        body.replace("atomicrmw add ptr %out, i32 1 monotonic", "load i32, ptr %out").replace(
            "ret void", "%new = add i32 %old, 1\nstore i32 %new, ptr %out\nret void"
        ),
        "ptr %out",
        sanitizer="thread",
    )
    assert races(library, np.zeros(1, np.int32))


def test_release_and_acquire_order_blocks(tmp_path: Path) -> None:
    # Block 0 writes a value and then a flag, for which block 1 spins.
    body = f"""\
{BLOCK}
%flag = getelementptr i32, ptr %out, i32 1
%isFirst = icmp eq i32 %block, 0
br i1 %isFirst, label %set, label %loop
set:
store i32 41, ptr %out
store atomic i32 1, ptr %flag release, align 4
br label %end
loop:
call void @smalti_emu_yield()
%seen = load atomic i32, ptr %flag ORDER, align 4
%isSet = icmp eq i32 %seen, 1
br i1 %isSet, label %use, label %loop
use:
%value = load i32, ptr %out
%new = add i32 %value, 1
%to = getelementptr i32, ptr %out, i32 2
store i32 %new, ptr %to
br label %end
end:
ret void
"""
    library = build(tmp_path, body.replace("ORDER", "acquire"), "ptr %out", sanitizer="thread")
    result = run(library, np.zeros(3, np.int32), grid="2 1 1", block="1 1 1", emulator=THREAD).check()
    assert result.arrays[0].tolist() == [41, 1, 42]
    library = build(tmp_path, body.replace("ORDER", "monotonic"), "ptr %out", sanitizer="thread")
    assert races(library, np.zeros(3, np.int32), grid="2 1 1", block="1 1 1")


@pytest.mark.parametrize(("fence", "count"), [("fence seq_cst", 0), ("", 1)], ids=["fence", "nothing"])
def test_fences_order_blocks_around_relaxed_atomics(tmp_path: Path, fence: str, count: int) -> None:
    # The last block at a counter reads the writes of the others.
    body = f"""\
{BLOCK}
%mine = getelementptr i32, ptr %out, i32 %block
store i32 %block, ptr %mine
{fence}
%old = atomicrmw add ptr %counter, i32 1 monotonic
%isLast = icmp eq i32 %old, 3
br i1 %isLast, label %last, label %end
last:
{fence}
%first = load i32, ptr %out
%from = getelementptr i32, ptr %out, i32 1
%second = load i32, ptr %from
%sum = add i32 %first, %second
%to = getelementptr i32, ptr %out, i32 4
store i32 %sum, ptr %to
br label %end
end:
ret void
"""
    library = build(tmp_path, body, "ptr %out, ptr %counter", sanitizer="thread")
    findings = races(library, np.zeros(5, np.int32), np.zeros(1, np.int32), grid="4 1 1", block="1 1 1")
    assert bool(findings) == bool(count)


EXCHANGE_IN_WAVE = f"""\
{{tid}}
%base = inttoptr i64 {SHARED} to ptr
%mine = getelementptr i32, ptr %base, i32 %tid
store i32 %tid, ptr %mine
{{between}}
%opposite = xor i32 %tid, 1
%other = getelementptr i32, ptr %base, i32 %opposite
%value = load i32, ptr %other
%to = getelementptr i32, ptr %out, i32 %tid
store i32 %value, ptr %to
ret void
"""


@pytest.mark.parametrize(
    ("between", "count"),
    [
        ('device void "llvm.nvvm.bar.warp.sync"(i32 -1)', 0),
        ('%got = device i32 "llvm.nvvm.shfl.sync.idx.i32"(i32 -1, i32 %tid, i32 0, i32 31)', 1),
        ("", 1),
    ],
    ids=["sync", "shuffle", "nothing"],
)
def test_lanes_of_nvidia_are_ordered_by_a_sync(tmp_path: Path, between: str, count: int) -> None:
    body = EXCHANGE_IN_WAVE.format(tid=TID, between=between)
    library = build(tmp_path, body, "ptr %out", shared=256, sanitizer="thread")
    assert bool(races(library, ints(32))) == bool(count)


def test_lanes_of_amd_are_ordered_by_each_instruction_of_the_wave(tmp_path: Path) -> None:
    tid = '%tid = device i32 "llvm.amdgcn.workitem.id.x"()\n'
    body = EXCHANGE_IN_WAVE.format(tid=tid, between='device void "llvm.amdgcn.wave.barrier"()')
    library = build(tmp_path, body, "ptr %out", shared=256, sanitizer="thread")
    run(library, ints(64), vendor="amd", wave=64, block="64 1 1", emulator=THREAD).check()
    # Lockstep does not order them (docs/emulation.md).
    alone = build(tmp_path, EXCHANGE_IN_WAVE.format(tid=tid, between=""), "ptr %out", shared=256, sanitizer="thread")
    assert races(alone, ints(64), vendor="amd", wave=64, block="64 1 1")
    # And not with the other wave.
    body = body.replace("xor i32 %tid, 1", "xor i32 %tid, 64")
    library = build(tmp_path, body, "ptr %out", shared=512, sanitizer="thread")
    assert races(library, ints(128), vendor="amd", wave=64, block="128 1 1")


@pytest.mark.parametrize("copies", ["late", "early"])
@pytest.mark.parametrize(("barrier", "count"), [(BARRIER, 0), ("", 1)], ids=["barrier", "nothing"])
def test_memory_effects_of_instructions_are_found(tmp_path: Path, barrier: str, count: int, copies: str) -> None:
    # Each thread copies 16 bytes, and reads what its opposite copied.
    body = f"""\
{TID}
%base = inttoptr i64 {SHARED} to ptr
%first = mul i32 %tid, 4
%mine = getelementptr i32, ptr %base, i32 %first
%from = getelementptr i32, ptr %in, i32 %first
device void "llvm.nvvm.cp.async.cg.shared.global.16"(ptr %mine, ptr %from)
device void "llvm.nvvm.cp.async.commit.group"()
device void "llvm.nvvm.cp.async.wait.group"(i32 0)
{barrier}
%opposite = sub i32 127, %first
%other = getelementptr i32, ptr %base, i32 %opposite
%value = load i32, ptr %other
%to = getelementptr i32, ptr %out, i32 %tid
store i32 %value, ptr %to
ret void
"""
    library = build(tmp_path, body, "ptr %out, ptr %in", shared=512, sanitizer="thread")
    findings = races(library, ints(32), np.arange(128, dtype=np.int32), copies=copies)
    assert bool(findings) == bool(count)
    for finding in findings:
        assert finding["pc"] and finding["others"][0]["pc"]


@pytest.mark.parametrize("copies", ["late", "early"])
@pytest.mark.parametrize(("barrier", "count"), [(BARRIER, 0), ("", 1)], ids=["barrier", "nothing"])
def test_a_copy_may_write_immediately(tmp_path: Path, barrier: str, count: int, copies: str) -> None:
    # Each thread reads what its opposite will copy to. A barrier before the wait for the copies orders nothing.
    body = f"""\
{TID}
%base = inttoptr i64 {SHARED} to ptr
%first = mul i32 %tid, 4
%opposite = sub i32 127, %first
%other = getelementptr i32, ptr %base, i32 %opposite
%value = load i32, ptr %other
{barrier}
%mine = getelementptr i32, ptr %base, i32 %first
%from = getelementptr i32, ptr %in, i32 %first
device void "llvm.nvvm.cp.async.cg.shared.global.16"(ptr %mine, ptr %from)
device void "llvm.nvvm.cp.async.commit.group"()
{BARRIER}
device void "llvm.nvvm.cp.async.wait.group"(i32 0)
%to = getelementptr i32, ptr %out, i32 %tid
store i32 %value, ptr %to
ret void
"""
    library = build(tmp_path, body, "ptr %out, ptr %in", shared=512, sanitizer="thread")
    assert bool(races(library, ints(32), np.arange(128, dtype=np.int32), copies=copies)) == bool(count)


def test_many_races_end_a_launch(tmp_path: Path) -> None:
    stores = "\n".join(
        f"%place{i} = getelementptr i32, ptr %out, i32 {i}\nstore i32 %tid, ptr %place{i}" for i in range(64)
    )
    library = build(tmp_path, f"{TID}{stores}\nret void", "ptr %out", sanitizer="thread")
    assert len(races(library, ints(64), grid="100 1 1")) == 16


#
# AddressSanitizer
#


@pytest.mark.parametrize(
    ("action", "message", "size", "write"),
    [
        (
            "%to = getelementptr i8, ptr %out, i64 116\nstore i32 1, ptr %to",
            "out-of-bounds write of 4 bytes: 0 bytes past the end of argument 0 (116 bytes)",
            4,
            True,
        ),
        (
            "%to = getelementptr i8, ptr %out, i64 114\n%v = load volatile i32, ptr %to, align 1",
            # The sanitizer reports the last byte of a misaligned access.
            "out-of-bounds read of 4 bytes: 1 bytes past the end of argument 0 (116 bytes)",
            4,
            False,
        ),
        (
            "%to = getelementptr i8, ptr %out, i64 -8\n%v = load volatile i64, ptr %to",
            "out-of-bounds read of 8 bytes: 8 bytes before argument 0 (116 bytes)",
            8,
            False,
        ),
        (
            f"%v = load volatile i32, ptr inttoptr (i64 {SHARED + 104} to ptr)",
            "out-of-bounds read of 4 bytes: 4 bytes past the end of shared memory (100 bytes)",
            4,
            False,
        ),
        (
            "%to = getelementptr i8, ptr %out, i64 112\ncall void @llvm.memset.p0.i64(ptr %to, i8 1, i64 16, i1 false)",
            "out-of-bounds write of 16 bytes: 0 bytes past the end of argument 0 (116 bytes)",
            16,
            True,
        ),
        (
            "%to = getelementptr i8, ptr %out, i64 24\n%v = load volatile i64, ptr %to",
            "out-of-bounds read of 8 bytes: byte 24 of argument 0 (116 bytes), in a gap between its rows",
            8,
            False,
        ),
    ],
    ids=["behind", "across", "before", "shared", "memset", "gap"],
)
def test_an_access_outside_of_memory_is_found(
    tmp_path: Path, action: str, message: str, size: int, write: bool
) -> None:
    # There are 12 bytes between the array and the end of its page.
    memory = Memory([np.zeros(29, np.int32)])
    place = int(memory.lines[0].split()[2])
    memory.lines.append(f"hole {place + 24} 8")
    library = build(tmp_path, at_thread(action), "ptr %out", shared=100, sanitizer="address")
    result = run(library, memory=memory, grid="2 1 1", workers=1, emulator=ADDRESS)
    assert result.code == 1
    finding = result.finding
    assert (finding["kind"], finding["block"], finding["thread"]) == ("out-of-bounds", [0, 0, 0], [7, 0, 0])
    assert finding["message"] == message
    assert (finding["bytes"], finding["write"]) == (size, write)
    assert len(finding["pc"]) == 1


def test_accesses_outside_of_memory_are_found_at_each_offset(tmp_path: Path) -> None:
    # The launch continues: the same run finds further errors.
    action = """\
%to = getelementptr i8, ptr %out, i64 -4
%v = load volatile i32, ptr %to
%from = getelementptr i8, ptr %out, i64 -8
%w = load volatile i32, ptr %from
"""
    library = build(tmp_path, at_thread(action), "ptr %out", sanitizer="address")
    result = run(library, ints(32), emulator=ADDRESS)
    assert result.code == 1
    assert len(result.findings) == 2
    assert len({finding["pc"][0] for finding in result.findings}) == 2


def test_an_access_outside_of_private_memory_is_found(tmp_path: Path) -> None:
    body = f"""\
{TID}
%m = alloca [32 x i32]
%place = add i32 %tid, 20
%to = getelementptr i32, ptr %m, i32 %place
store volatile i32 1, ptr %to
ret void
"""
    library = build(tmp_path, body, sanitizer="address")
    run(library, block="12 1 1", emulator=ADDRESS).check()
    finding = run(library, block="13 1 1", emulator=ADDRESS).finding
    assert finding["thread"] == [12, 0, 0]
    assert "the private memory of thread 12 (stack-buffer-overflow)" in finding["message"]


def test_an_instruction_that_reads_outside_of_memory_is_found(tmp_path: Path) -> None:
    action = f"""\
%base = inttoptr i64 {SHARED} to ptr
%from = getelementptr i8, ptr %in, i64 -16
device void "llvm.nvvm.cp.async.cg.shared.global.16"(ptr %base, ptr %from)
device void "llvm.nvvm.cp.async.wait.all"()
"""
    library = build(tmp_path, at_thread(action), "ptr %in", shared=512, sanitizer="address")
    finding = run(library, np.zeros(4, np.int32), emulator=ADDRESS).finding
    assert finding["kind"] == "out-of-bounds"
    assert finding["thread"] == [7, 0, 0]
    assert finding["message"] == "out-of-bounds read of 16 bytes: 16 bytes before argument 0 (16 bytes)"
    assert len(finding["pc"]) == 1


def test_clean_kernels_are_clean_under_address_sanitizer(tmp_path: Path) -> None:
    library = build(tmp_path, reverse(), "ptr %out", shared=256, sanitizer="address")
    for order in ORDERS:
        result = run(library, ints(64), block="64 1 1", order=order, emulator=ADDRESS).check()
        np.testing.assert_array_equal(result.arrays[0], np.arange(63, -1, -1) ** 2)
