# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The processes of the emulator, and their protocol."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hand_written import BLOCKS_THAT_MEET, PLAIN, TID, Memory, build, ints, run, start

pytestmark = pytest.mark.usefixtures("no_files")

#
# Processes
#


def _children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _wait_for(condition: Any) -> Any:
    for _ in range(200):
        if found := condition():
            return found
        time.sleep(0.05)
    pytest.fail("it did not happen")


LOOP = """\
br label %loop
loop:
store volatile i32 1, ptr %out
br label %loop
"""


def test_a_worker_that_is_killed_is_reported(tmp_path: Path) -> None:
    memory = Memory([ints(1)])
    process = start(build(tmp_path, LOOP, "ptr %out"), memory, {"grid": "8 1 1", "workers": 2}, PLAIN)
    workers = _wait_for(lambda: len(found := _children(process.pid)) == 2 and found)
    os.kill(workers[1], signal.SIGKILL)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 1
    (finding,) = [json.loads(line) for line in output.splitlines()]
    assert finding["kind"] == "crash"
    assert finding["message"].startswith("a worker process of the emulator was killed by signal 9 (Killed); if ")
    assert finding["block"] is not None
    os.close(memory.descriptor)


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("end", ["kill", "close"])
def test_workers_end_with_their_parents(tmp_path: Path, end: str) -> None:
    memory = Memory([ints(1)])
    process = start(build(tmp_path, LOOP, "ptr %out"), memory, {"grid": "8 1 1", "workers": 2}, PLAIN)
    workers = _wait_for(lambda: len(found := _children(process.pid)) == 2 and found)
    if end == "kill":
        process.kill()
    assert process.stdin and process.stdout
    process.stdin.close()
    process.stdout.close()
    process.wait(timeout=20)
    _wait_for(lambda: not any(map(_is_running, workers)))
    os.close(memory.descriptor)


def test_progress_is_reported(tmp_path: Path) -> None:
    # A block takes some tens of milliseconds.
    body = """\
br label %loop
loop:
%i = phi i32 [0, %0], [%next, %loop]
%next = add i32 %i, 1
store volatile i32 %next, ptr %out
%goesOn = icmp ult i32 %next, 12000000
br i1 %goesOn, label %loop, label %end
end:
ret void
"""
    result = run(build(tmp_path, body, "ptr %out"), ints(1), grid="64 1 1", block="8 1 1", workers=2).check()
    progress = [line["progress"] for line in result.lines if "progress" in line]
    # How often depends on how busy the machine is.
    assert len(progress) >= 2
    assert progress == sorted(progress)
    assert progress[-1] == [64, 64]


def test_a_library_with_variables_runs_in_one_worker(tmp_path: Path) -> None:
    # The flag states that blocks share variables: a single worker waits for itself, and does not end.
    library = build(tmp_path, BLOCKS_THAT_MEET, "ptr %out", flags=1)
    finding = run(library, ints(2), grid="2 1 1", workers=2, timeout=0.5).finding
    assert finding["kind"] == "timeout"
    assert finding["block"] == [0, 0, 0]


#
# The protocol
#


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["grid 1 2"], "'grid 1 2': a value is missing at the end of the line"),
        (["grid 1 2 3 4"], "'grid 1 2 3 4': '4' follows the last value of the line"),
        (["grid 1 0 3"], "'grid 1 0 3': 0 is not in the range 1 to 2147483647"),
        (["block 1 x 3"], "'block 1 x 3': 'x' is not a number"),
        (["block 64 64 1"], "the block size is 64x64x1 threads; a block has at most 2048 threads"),
        (["wave 65"], "'wave 65': 65 is not in the range 1 to 64"),
        (["vendor intel"], "'vendor intel': 'intel' is not one of the supported words: nvidia, amd"),
        (["order random:x"], "'order random:x': 'random:x' requires a number after 'random:'"),
        (
            ["order slow"],
            "'order slow': 'slow' must be one of: lowest-first, highest-first, round-robin, random:SEED",
        ),
        (["timeout never"], "'timeout never': the time limit 'never' is not a number of seconds"),
        (["blocks 0 2"], "'blocks' selects the blocks 0:2, but the grid has the blocks 0:1; select a range of these"),
        (
            ["hole 0 1"],
            "a range of bytes that the kernel must not access ('hole' or 'guard') ends at byte 1 of the memory for arguments, which has 0 bytes",
        ),
        (
            ["address memory 0 0"],
            "'address' stores a pointer of 8 bytes at offset 0 of 0 bytes; it points to byte 0 of the 0 bytes",
        ),
        (
            ["value 0 00", "address value 0 0 0"],
            "'address' stores a pointer of 8 bytes at offset 0 of 1 bytes; it points to byte 0 of the 0 bytes",
        ),
        (["value 0 00", "address value 1 0 0"], "'address' names argument 1, but the launch has only 1 arguments"),
        (["address stack 0 0"], "'address stack 0 0': 'stack' is not one of the supported words: memory, value"),
        (["value 1 00"], "argument 0 is missing"),
        (["value 0 0g"], "'value 0 0g': '0g' is not a list of bytes"),
        (["value 0 00", "value 0 01"], "'value 0 01': argument 0 is described twice; describe each argument once"),
        (["speed 3"], "'speed 3': 'speed' is not a keyword of the launch description"),
        (["kernel other"], "the compiled module does not have a kernel 'other'"),
        (["library /nowhere.so"], "the kernel library cannot be loaded: "),
        (["shared 1048576"], "the kernel has 1048832 bytes of shared memory, which exceeds that of every GPU"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_launch_that_cannot_be(tmp_path: Path, lines: list[str], message: str) -> None:
    library = build(tmp_path, "ret void", shared=256)
    text = "\n".join([f"library {library}", "kernel k", *lines, "run", ""])
    done = subprocess.run([str(PLAIN)], input=text, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    finding = json.loads(done.stdout)
    assert message in finding["message"]


def test_a_launch_that_ends_early(tmp_path: Path) -> None:
    done = subprocess.run([str(PLAIN)], input="kernel k\n", capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert (
        json.loads(done.stdout)["message"]
        == "the description of the launch on standard input ends before the line 'run'"
    )


def test_instructions_that_are_not_emulated_are_all_named_before_anything_runs(tmp_path: Path) -> None:
    body = f"""\
store i32 1, ptr %out
device void "llvm.nvvm.nothing.x"()
{TID}
device void "asm:nothing $0;"(i32 %tid)
ret void
"""
    result = run(build(tmp_path, body, "ptr %out"), ints(1))
    assert result.code == 1
    assert result.finding["kind"] == "missing-instruction"
    assert (
        result.finding["message"]
        == "the kernel executes instructions that are not emulated: llvm.nvvm.nothing.x, asm:nothing $0;"
    )
    np.testing.assert_array_equal(result.arrays[0], ints(1))


def test_the_table_can_be_asked() -> None:
    listed = subprocess.run([str(PLAIN), "--list"], capture_output=True, text=True, check=True).stdout
    table = {entry["name"]: entry for entry in map(json.loads, listed.splitlines())}
    assert table["llvm.nvvm.barrier.cta.sync.aligned.all"]["scope"] == "thread"
    assert table["llvm.nvvm.bar.warp.sync"]["scope"] == "wave"
    assert all(entry["document"] for entry in table.values())
    names = ["llvm.nvvm.barrier.cta.sync.aligned.all", "llvm.nvvm.nothing", "asm:nothing"]
    missing = subprocess.run([str(PLAIN), "--missing", *names], capture_output=True, text=True, check=True).stdout
    assert missing.split() == names[1:]
    assert subprocess.run([str(PLAIN), "--what"], capture_output=True, check=False).returncode == 2


def test_scalars_and_structs_are_passed(tmp_path: Path) -> None:
    body = """\
%to = getelementptr i64, ptr %out, i64 %place
%wide = zext i32 %value to i64
store i64 %wide, ptr %to
ret void
"""
    memory = Memory([np.zeros(4, np.int64)])
    memory.lines += ["value 1 0200000000000000", "value 2 efbeadde"]
    result = run(build(tmp_path, body, "ptr %out, i64 %place, i32 %value"), memory=memory).check()
    assert result.arrays[0].tolist() == [0, 0, 0xDEADBEEF, 0]
