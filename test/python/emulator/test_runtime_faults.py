# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Findings of the emulator's runtime without a sanitizer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hand_written import ADDRESS, BLOCK, PLAIN, SHARED, THREAD, TID, Memory, at_thread, build, ints, llvm_tool, run

pytestmark = pytest.mark.usefixtures("no_files")


@pytest.mark.parametrize(
    ("action", "kind", "message", "write"),
    [
        (
            "%to = getelementptr i8, ptr %out, i64 4096\nstore volatile i32 1, ptr %to",
            "out-of-bounds",
            "out-of-bounds write: 3968 bytes past the end of argument 0 (128 bytes)",
            True,
        ),
        (
            "%to = getelementptr i8, ptr %out, i64 -4096\n%v = load volatile i32, ptr %to",
            "out-of-bounds",
            "out-of-bounds read: 4096 bytes before argument 0 (128 bytes)",
            False,
        ),
        (
            "store volatile i32 1, ptr inttoptr (i64 64 to ptr)",
            "fault",
            "invalid write: address 0x40, which does not belong to an argument",
            True,
        ),
        (
            f"store volatile i32 1, ptr inttoptr (i64 {SHARED + 8192} to ptr)",
            "out-of-bounds",
            "out-of-bounds write: 8092 bytes past the end of shared memory (100 bytes)",
            True,
        ),
        (
            "%v = load volatile i32, ptr inttoptr (i64 -81985529216486896 to ptr)",
            "misaligned",
            "misaligned access, or access to an address outside of the address space (the processor does not report which)",
            None,
        ),
        (
            "%zero = load volatile i32, ptr %zeros\n%d = udiv i32 5, %zero\nstore volatile i32 %d, ptr %out",
            "fault",
            "integer division by zero",
            None,
        ),
        ("call void @llvm.trap()", "trap", "the kernel executed a trap", None),
        (
            "%m = alloca i8, i64 400000\nstore volatile i8 1, ptr %m",
            "fault",
            "stack overflow: the thread needs more than",
            None,
        ),
    ],
    ids=["behind", "before", "null", "shared", "no-address", "division", "trap", "stack"],
)
def test_a_fault_is_a_finding(tmp_path: Path, action: str, kind: str, message: str, write: bool | None) -> None:
    library = build(tmp_path, at_thread(action), "ptr %out, ptr %zeros", shared=100)
    result = run(library, ints(32), np.zeros(4, np.int32), grid="2 1 1")
    assert result.code == 1
    finding = result.finding
    assert (finding["kind"], finding["thread"], finding["write"]) == (kind, [7, 0, 0], write)
    assert message in finding["message"]
    assert len(finding["pc"]) == 1
    symbols = subprocess.run(
        [str(llvm_tool("llvm-nm")), "-S", str(library)], capture_output=True, text=True, check=True
    )
    begin, size = next(
        (int(words[0], 16), int(words[1], 16))
        for line in symbols.stdout.splitlines()
        if (words := line.split())[-1] == "kernel"
    )
    assert begin <= finding["pc"][0] < begin + size


def test_a_fault_in_a_system_function_has_the_location_of_its_call(tmp_path: Path) -> None:
    action = (
        "%to = getelementptr i8, ptr %out, i64 4096\ncall void @llvm.memset.p0.i64(ptr %to, i8 1, i64 %n, i1 false)"
    )
    library = build(tmp_path, at_thread(action), "ptr %out, i64 %n")
    memory = Memory([ints(32)])
    memory.lines.append(f"value 1 {(1000).to_bytes(8, 'little').hex()}")
    finding = run(library, memory=memory).finding
    assert finding["kind"] == "out-of-bounds"
    assert len(finding["pc"]) == 1


def test_an_instruction_that_fails_says_where(tmp_path: Path) -> None:
    body = at_thread('device void "llvm.nvvm.barrier.cta.sync.aligned.all"(i32 16)')
    finding = run(build(tmp_path, body)).finding
    assert finding["thread"] == [7, 0, 0]
    assert finding["message"] == "barrier number 16 does not exist; it must be from 0 to 15"
    assert len(finding["pc"]) == 1


NAN_KINDS = (np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)


def test_shared_memory_is_poison_at_the_begin_of_each_block(tmp_path: Path) -> None:
    body = f"""\
{TID}{BLOCK}
%base = inttoptr i64 {SHARED} to ptr
%mine = getelementptr i32, ptr %base, i32 %tid
%value = load i32, ptr %mine
store i32 7, ptr %mine
%begin = mul i32 %block, 32
%place = add i32 %begin, %tid
%to = getelementptr i32, ptr %out, i32 %place
store i32 %value, ptr %to
ret void
"""
    for emulator in (PLAIN, ADDRESS, THREAD):
        library = build(tmp_path, body, "ptr %out", shared=64)
        result = run(library, np.zeros(96, np.int32), grid="3 1 1", shared=64, emulator=emulator).check()
        (data,) = result.arrays
        for kind in NAN_KINDS:
            assert np.isnan(data.view(kind)).all(), kind
        for kind in (np.int16, np.int32, np.int64):
            assert not np.isin(data.view(kind), (0, -1)).any(), kind


@pytest.mark.parametrize("value", ["i32 1", "i16 -1", "i32 -1"])
@pytest.mark.parametrize("emulator", [PLAIN, THREAD], ids=lambda path: path.name)
def test_a_write_past_shared_memory_is_found(tmp_path: Path, emulator: Path, value: str) -> None:
    action = f"store volatile {value}, ptr inttoptr (i64 {SHARED + 120} to ptr)"
    library = build(tmp_path, at_thread(action), shared=100)
    run(library, shared=12, emulator=emulator).check()
    result = run(library, shared=8, grid="1 4 1", emulator=emulator)
    assert result.code == 1
    finding = result.finding
    assert finding["kind"] == "red-zone"
    assert finding["block"] == [0, 0, 0]
    # The first byte of -1 is what lay there.
    first = 1 if "-1" in value else 0
    assert f"{first} bytes past the end of shared memory (120 bytes)" in finding["message"]


def test_a_write_between_arguments_is_found(tmp_path: Path) -> None:
    action = "%to = getelementptr i8, ptr %out, i64 -6\nstore volatile i32 1, ptr %to, align 1"
    result = run(build(tmp_path, at_thread(action), "ptr %out"), ints(32))
    assert result.code == 1
    finding = result.finding
    assert finding["kind"] == "red-zone"
    assert finding["message"] == (
        "4 bytes outside the arguments were written; the first is 6 bytes before argument 0 (128 bytes)"
    )


def test_a_write_to_a_gap_of_an_argument_is_found(tmp_path: Path) -> None:
    action = "%to = getelementptr i8, ptr %out, i64 24\nstore volatile i16 1, ptr %to"
    memory = Memory([ints(32)])
    place = int(memory.lines[0].split()[2])
    memory.lines.append(f"hole {place + 24} 8")
    finding = run(build(tmp_path, at_thread(action), "ptr %out"), memory=memory).finding
    assert finding["message"] == (
        "2 bytes outside the arguments were written; the first is byte 24 of argument 0 (128 bytes), "
        "in a gap between its rows"
    )
