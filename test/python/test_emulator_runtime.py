"""The runtime of the emulator on kernels written by hand: its executables alone, without what compiles for them.

A kernel is LLVM IR of the host, in which a line `%x = device i32 "llvm.nvvm.foo"(i32 %a)` stands for what the rewriter
makes of an instruction's call.
"""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import toolchain

EMULATORS = Path(smalti.__file__).parent / "_emulator"
PLAIN = EMULATORS / "smalti-emulator"
ADDRESS = EMULATORS / "smalti-emulator-asan"
THREAD = EMULATORS / "smalti-emulator-tsan"

PAGE = os.sysconf("SC_PAGESIZE")
SHARED = 0x50000000
"""`sharedBaseAddress` of Layout.h."""

_BYTES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "float": 4, "i64": 8, "ptr": 8}
_PASSES = {
    "": "default<O1>",
    "address": "default<O1>,asan",
    "thread": "default<O1>,tsan-module,function(tsan)",
}


def _tool(name: str) -> Path:
    tool = toolchain.find_llvm_tool(name)
    if tool is None:
        pytest.fail(f"no {name} was found (apt install llvm-{toolchain.LLVM_MAJOR} lld-{toolchain.LLVM_MAJOR})")
    return tool.path


class _Module:
    """The text of a kernel library."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._sites: list[str] = []

    def _call(self, found: re.Match[str]) -> str:
        """What the rewriter makes of a call: operands to memory, the call, the result from memory."""
        variable, result, name, text = found["variable"], found["result"], found["name"], found["operands"]
        operands = [tuple(operand.rsplit(" ", 1)) for operand in text.split(", ")] if text else []
        if name not in self._names:
            self._names.append(name)
        entry, site, count = self._names.index(name), len(self._sites), max(len(operands), 1)
        sizes = [_BYTES[type_] for type_, _ in operands] or [0]
        self._sites.append(
            f"@sizes{site} = private constant [{count} x i32] [{', '.join(f'i32 {size}' for size in sizes)}]\n"
            f"@site{site} = private constant {{i32, i32, i32, i32, ptr}} {{i32 {_BYTES.get(result, 0)}, "
            f"i32 {len(operands)}, i32 {site}, i32 0, ptr @sizes{site}}}\n"
        )
        lines = []
        for i, (type_, value) in enumerate(operands):
            lines += [
                f"store {type_} {value}, ptr %slot{i}, !nosanitize !0",
                f"%at{site}.{i} = getelementptr ptr, ptr %slots, i64 {i}",
                f"store ptr %slot{i}, ptr %at{site}.{i}, !nosanitize !0",
            ]
        lines += [
            f"%to{site} = getelementptr ptr, ptr @smalti_emu_entries, i64 {entry}",
            f"%entry{site} = load ptr, ptr %to{site}, !nosanitize !0",
            f"call void @smalti_emu_call(ptr %entry{site}, ptr @site{site}, ptr %result, ptr %slots) nomerge",
        ]
        if result != "void":
            lines.append(f"{variable} = load {result}, ptr %result, !nosanitize !0")
        return "\n".join(lines)

    def text(self, body: str, parameters: str, shared: int, flags: int, sanitizer: str) -> str:
        pattern = r'(?:(?P<variable>%\w+) = )?device (?P<result>\w+) "(?P<name>[^"]*)"\((?P<operands>.*)\)'
        body = re.sub(pattern, self._call, body)
        names = [
            f'@name{i} = private constant [{len(name) + 1} x i8] c"{name}\\00"' for i, name in enumerate(self._names)
        ]
        table = ", ".join([*(f"ptr @name{i}" for i in range(len(names))), "ptr null"])
        types = [parameter.split()[0] for parameter in parameters.split(", ") if parameter]
        loads = [
            f"%p{i} = getelementptr ptr, ptr %arguments, i64 {i}\n%q{i} = load ptr, ptr %p{i}, !nosanitize !0\n"
            f"%a{i} = load {type_}, ptr %q{i}, !nosanitize !0"
            for i, type_ in enumerate(types)
        ]
        arguments = ", ".join(f"{type_} %a{i}" for i, type_ in enumerate(types))
        slots = "\n".join(f"%slot{i} = alloca i64, align 16" for i in range(8))
        attribute = f"sanitize_{sanitizer}" if sanitizer else ""
        return "\n".join(
            [
                f'target triple = "{platform.machine()}-unknown-linux-gnu"',
                *names,
                *self._sites,
                f"@smalti_emu_names = constant [{len(names) + 1} x ptr] [{table}]",
                f"@smalti_emu_entries = global [{len(names) + 1} x ptr] zeroinitializer",
                f"@smalti_emu_shared_bytes = constant i32 {shared}",
                f"@smalti_emu_flags = constant i32 {flags}",
                "declare void @smalti_emu_call(ptr, ptr, ptr, ptr)",
                "declare void @smalti_emu_yield()",
                f"define internal void @kernel({parameters}) noinline {attribute} {{",
                f"%slots = alloca [8 x ptr]\n%result = alloca [8 x i64], align 16\n{slots}",
                body,
                "}",
                "define void @smalti_emu_kernel_k(ptr %arguments) {",
                *loads,
                f"call void @kernel({arguments})\nret void\n}}",
                "!0 = !{}",
            ]
        )


def build(
    folder: Path, body: str, parameters: str = "", *, shared: int = 0, flags: int = 0, sanitizer: str = ""
) -> Path:
    """A kernel library with the kernel `k`."""
    source, bitcode, code, library = (folder / f"kernel{suffix}" for suffix in (".ll", ".bc", ".o", ".so"))
    source.write_text(_Module().text(body, parameters, shared, flags, sanitizer))
    recover = ["-asan-recover=1"] if sanitizer == "address" else []
    for command in (
        [_tool("opt"), f"-passes={_PASSES[sanitizer]}", *recover, source, "-o", bitcode],
        [_tool("llc"), "-O1", "-relocation-model=pic", "-filetype=obj", bitcode, "-o", code],
        [_tool("ld.lld"), "-shared", code, "-o", library],
    ):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return library


@dataclass
class Result:
    """What a launch said."""

    code: int
    lines: list[dict[str, Any]]
    arrays: list[np.ndarray[Any, Any]] = field(default_factory=list)

    @property
    def findings(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if "kind" in line]

    @property
    def finding(self) -> dict[str, Any]:
        """The only one."""
        assert len(self.findings) == 1, self.lines
        return self.findings[0]

    def check(self) -> Result:
        assert self.code == 0, self.lines
        assert not self.findings
        assert "done" in self.lines[-1], self.lines
        return self


class Memory:
    """The memory of the arguments: each array at the end of pages of its own, between guards."""

    def __init__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
        self.lines: list[str] = []
        self._arrays = arrays
        self._places: list[int] = []
        end = PAGE
        guards = [0]
        for i, array in enumerate(arrays):
            pages = (array.nbytes + PAGE - 1) // PAGE * PAGE
            place = end + (pages - array.nbytes) // 16 * 16
            self._places.append(place)
            self.lines.append(f"array {i} {place} {array.nbytes}")
            self.lines.append(f"hole {end} {place - end}")
            self.lines.append(f"hole {place + array.nbytes} {end + pages - place - array.nbytes}")
            guards.append(end + pages)
            end += pages + PAGE
        self.lines += [f"guard {guard} {PAGE}" for guard in guards]
        self.bytes = end
        self.descriptor = os.memfd_create("arguments")
        os.ftruncate(self.descriptor, end)
        for array, place in zip(arrays, self._places, strict=True):
            os.pwrite(self.descriptor, array.tobytes(), place)

    def read(self) -> list[np.ndarray[Any, Any]]:
        return [
            np.frombuffer(os.pread(self.descriptor, array.nbytes, place), array.dtype).reshape(array.shape)
            for array, place in zip(self._arrays, self._places, strict=True)
        ]


def start(
    library: Path,
    memory: Memory,
    options: dict[str, object],
    emulator: Path,
) -> subprocess.Popen[bytes]:
    """Starts an emulator, which waits for its launch, and tells it."""
    if not emulator.exists():
        pytest.fail(f"{emulator} was not built")
    process = subprocess.Popen(
        [str(emulator)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[memory.descriptor]
    )
    given = {"library": library, "kernel": "k", "timeout": 60, **options}
    lines = [f"{key} {value}" for key, value in given.items()]
    lines += [f"memory {memory.descriptor} {memory.bytes}", *memory.lines, "run"]
    assert process.stdin is not None
    process.stdin.write("".join(f"{line}\n" for line in lines).encode())
    process.stdin.flush()
    return process


@pytest.fixture(autouse=True)
def no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is written beside what a launch says."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield
    assert not list(folder.iterdir())


def run(
    library: Path,
    *arrays: np.ndarray[Any, Any],
    emulator: Path = PLAIN,
    memory: Memory | None = None,
    **options: object,
) -> Result:
    """Runs the kernel on one block of 32 threads, or as the options say."""
    memory = memory or Memory(arrays)
    process = start(library, memory, {"block": "32 1 1", **options}, emulator)
    output, _ = process.communicate(timeout=120)
    result = Result(process.returncode, [json.loads(line) for line in output.splitlines()], memory.read())
    os.close(memory.descriptor)
    return result


def ints(count: int) -> np.ndarray[Any, Any]:
    return np.full(count, -1, np.int32)


TID = '%tid = device i32 "llvm.nvvm.read.ptx.sreg.tid.x"()\n'
BLOCK = '%block = device i32 "llvm.nvvm.read.ptx.sreg.ctaid.x"()\n'
BARRIER = 'device void "llvm.nvvm.barrier.cta.sync.aligned.all"(i32 0)\n'

# Writes each thread's number, changed by its block's, to its own place.
WRITE_INDEX = f"""\
{TID}{BLOCK}
%begin = mul i32 %block, 64
%place = add i32 %begin, %tid
%value = xor i32 %place, 5
%to = getelementptr i32, ptr %out, i32 %place
store i32 %value, ptr %to
ret void
"""


def reverse(barrier: str = BARRIER) -> str:
    """Each thread writes shared memory and reads what its opposite of 64 wrote."""
    return f"""\
{TID}
%base = inttoptr i64 {SHARED} to ptr
%mine = getelementptr i32, ptr %base, i32 %tid
%square = mul i32 %tid, %tid
store i32 %square, ptr %mine
{barrier}
%opposite = sub i32 63, %tid
%other = getelementptr i32, ptr %base, i32 %opposite
%value = load i32, ptr %other
%to = getelementptr i32, ptr %out, i32 %tid
store i32 %value, ptr %to
ret void
"""


ORDERS = ["first-ahead", "last-ahead", "in-step", "random:1", "random:2"]


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
    # Each wave of a pair meets the other at a barrier of its own; nobody waits for all.
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
    # Lanes 0 to 19 of each wave: the wave itself comes to the barrier.
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


def test_a_wave_of_amd_that_signals_and_ends_stands_for_itself_alone(tmp_path: Path) -> None:
    # The second wave writes before it signals, the first reads after both have, the third ends when it has signalled.
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
        "threads 0-8, 10-31 wait at llvm.nvvm.bar.warp.sync for the lanes 0xffffffff of wave 0, and not thread 9"
        in (message)
    )
    assert "thread 9 waits at barrier 0, where 1 of 32 threads have arrived" in message


def test_a_lane_outside_of_the_mask_is_found(tmp_path: Path) -> None:
    body = 'device void "llvm.nvvm.bar.warp.sync"(i32 255)\nret void\n'
    finding = run(build(tmp_path, body)).finding
    assert finding["kind"] == "divergence"
    assert finding["thread"] == [8, 0, 0]
    assert "lane 8 executes llvm.nvvm.bar.warp.sync for the lanes 0xff, of which it is none" in finding["message"]


def test_an_instruction_that_needs_the_wave_is_not_done_by_a_part(tmp_path: Path) -> None:
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
    assert "needs all 32 lanes of a wave, 31 have come to it" in finding["message"]
    assert "thread 5 has ended" in finding["message"]


#
# Deadlocks and time
#


@pytest.mark.parametrize("emulator", [PLAIN, ADDRESS, THREAD], ids=lambda path: path.name)
def test_a_barrier_that_some_never_reach(tmp_path: Path, emulator: Path) -> None:
    body = f"""\
{TID}{BLOCK}
%isEarly = icmp ult i32 %tid, 40
%isFirst = icmp eq i32 %block, 2
%isMissing = and i1 %isEarly, %isFirst
br i1 %isMissing, label %end, label %stay
stay:
{BARRIER}
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
    assert finding["thread"] == [4, 0, 0]
    missing = ", ".join(f"{16 * y}-{16 * y + 3}" for y in range(8))
    assert f"where 96 of 128 threads have arrived, and not threads {missing}" in finding["message"]
    assert f"threads {missing} have ended" in finding["message"]
    assert len(finding["pc"]) == 1
    waiting = next(other for other in finding["others"] if "barrier 0" in other["note"])
    assert waiting["pc"] == finding["pc"]


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
        "threads 0-31 wait at barrier 0, where 32 of 64 threads have arrived, and not threads 32-63"
        in (finding["message"])
    )
    assert (
        "threads 32-63 wait at barrier 1, where 32 of 64 threads have arrived, and not threads 0-31"
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
    assert finding["message"] == ("barrier 1: this thread expects 96 threads, those that arrived before expect 64")
    assert finding["thread"] == [32, 0, 0]


@pytest.mark.parametrize("emulator", [PLAIN, ADDRESS, THREAD], ids=lambda path: path.name)
def test_a_loop_without_end_is_ended_where_it_is(tmp_path: Path, emulator: Path) -> None:
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
    assert "the launch took more than 0.5 s: in block 0 " in finding["message"]
    assert "thread 3 runs" in finding["message"]
    assert (
        "threads 0-2 wait at barrier 0, where 3 of 32 threads have arrived, and not threads 3-31"
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
@pytest.mark.parametrize("order", ["first-ahead", "last-ahead"])
def test_threads_that_spin_let_others_run(tmp_path: Path, order: str, emulator: Path) -> None:
    run(build(tmp_path, SPIN, "ptr %out"), ints(1), order=order, emulator=emulator).check()


@pytest.mark.parametrize("emulator", [PLAIN, ADDRESS, THREAD], ids=lambda path: path.name)
def test_threads_that_spin_for_ever_are_named(tmp_path: Path, emulator: Path) -> None:
    body = SPIN.replace("store atomic i32 1", "store atomic i32 2")
    finding = run(build(tmp_path, body, "ptr %out"), ints(1), timeout=0.5, emulator=emulator).finding
    assert finding["kind"] == "timeout"
    assert re.search(r"spin", finding["message"])
    assert "thread 31 has ended" in finding["message"]


def test_blocks_of_several_workers_wait_for_each_other(tmp_path: Path) -> None:
    # Each of two blocks waits for the other's flag: they run at the same time.
    body = f"""\
{BLOCK}
%mine = getelementptr i32, ptr %out, i32 %block
store atomic i32 1, ptr %mine release, align 4
%otherBlock = sub i32 1, %block
%theirs = getelementptr i32, ptr %out, i32 %otherBlock
br label %loop
loop:
call void @smalti_emu_yield()
%seen = load atomic i32, ptr %theirs acquire, align 4
%isSet = icmp eq i32 %seen, 1
br i1 %isSet, label %end, label %loop
end:
ret void
"""
    run(build(tmp_path, body, "ptr %out"), ints(2), grid="2 1 1", workers=2).check()


#
# Faults
#


def at_thread(action: str, thread: int = 7) -> str:
    return f"""\
{TID}
%isIt = icmp eq i32 %tid, {thread}
br i1 %isIt, label %do, label %end
do:
{action}
br label %end
end:
ret void
"""


@pytest.mark.parametrize(
    ("action", "kind", "message", "write"),
    [
        (
            "%to = getelementptr i8, ptr %out, i64 4096\nstore volatile i32 1, ptr %to",
            "out-of-bounds",
            "a write: 3968 bytes behind the end of argument 0 (128 bytes)",
            True,
        ),
        (
            "%to = getelementptr i8, ptr %out, i64 -4096\n%v = load volatile i32, ptr %to",
            "out-of-bounds",
            "a read: 4096 bytes before argument 0 (128 bytes)",
            False,
        ),
        (
            "store volatile i32 1, ptr inttoptr (i64 64 to ptr)",
            "fault",
            "a write: address 0x40, which belongs to no argument",
            True,
        ),
        (
            f"store volatile i32 1, ptr inttoptr (i64 {SHARED + 8192} to ptr)",
            "out-of-bounds",
            "a write: 8092 bytes behind the end of shared memory (100 bytes)",
            True,
        ),
        (
            "%v = load volatile i32, ptr inttoptr (i64 -81985529216486896 to ptr)",
            "misaligned",
            "an access that is not aligned, or to an address that no memory can have",
            None,
        ),
        (
            "%zero = load volatile i32, ptr %zeros\n%d = udiv i32 5, %zero\nstore volatile i32 %d, ptr %out",
            "fault",
            "a division of integers by zero",
            None,
        ),
        ("call void @llvm.trap()", "trap", "the kernel came to a trap", None),
        (
            "%m = alloca i8, i64 400000\nstore volatile i8 1, ptr %m",
            "fault",
            "the thread needs more private memory than there is",
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
    symbols = subprocess.run([str(_tool("llvm-nm")), "-S", str(library)], capture_output=True, text=True, check=True)
    begin, size = next(
        (int(words[0], 16), int(words[1], 16))
        for line in symbols.stdout.splitlines()
        if (words := line.split())[-1] == "kernel"
    )
    assert begin <= finding["pc"][0] < begin + size


def test_a_fault_in_a_function_of_the_system_has_the_place_of_its_call(tmp_path: Path) -> None:
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
    assert finding["message"] == "barrier 16: a block has the barriers 0 to 15"
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
def test_a_write_behind_shared_memory_is_found(tmp_path: Path, emulator: Path, value: str) -> None:
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
    assert f"{first} bytes behind the end of shared memory (120 bytes)" in finding["message"]


def test_a_write_between_arguments_is_found(tmp_path: Path) -> None:
    action = "%to = getelementptr i8, ptr %out, i64 -6\nstore volatile i32 1, ptr %to, align 1"
    result = run(build(tmp_path, at_thread(action), "ptr %out"), ints(32))
    assert result.code == 1
    finding = result.finding
    assert finding["kind"] == "red-zone"
    assert finding["message"] == (
        "4 bytes outside the arguments were written, the first is 6 bytes before argument 0 (128 bytes)"
    )


def test_a_write_to_a_gap_of_an_argument_is_found(tmp_path: Path) -> None:
    action = "%to = getelementptr i8, ptr %out, i64 24\nstore volatile i16 1, ptr %to"
    memory = Memory([ints(32)])
    place = int(memory.lines[0].split()[2])
    memory.lines.append(f"hole {place + 24} 8")
    finding = run(build(tmp_path, at_thread(action), "ptr %out"), memory=memory).finding
    assert finding["message"] == (
        "2 bytes outside the arguments were written, the first is byte 24 of argument 0 (128 bytes), "
        "in a gap between its rows"
    )


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
    assert finding["kind"] == "ended"
    assert finding["message"] == "a worker was ended by signal 9 (Killed)"
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


def test_progress_is_told(tmp_path: Path) -> None:
    # A block takes some tens of milliseconds.
    body = """\
br label %loop
loop:
%i = phi i32 [0, %0], [%next, %loop]
%next = add i32 %i, 1
store volatile i32 %next, ptr %out
%goesOn = icmp ult i32 %next, 24000000
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
    # The flag says that blocks share variables: a lone worker waits for itself, and does not end.
    body = f"""\
{BLOCK}
%mine = getelementptr i32, ptr %out, i32 %block
store atomic i32 1, ptr %mine release, align 4
%otherBlock = sub i32 1, %block
%theirs = getelementptr i32, ptr %out, i32 %otherBlock
br label %loop
loop:
call void @smalti_emu_yield()
%seen = load atomic i32, ptr %theirs acquire, align 4
%isSet = icmp eq i32 %seen, 1
br i1 %isSet, label %end, label %loop
end:
ret void
"""
    library = build(tmp_path, body, "ptr %out", flags=1)
    finding = run(library, ints(2), grid="2 1 1", workers=2, timeout=0.5).finding
    assert finding["kind"] == "timeout"
    assert finding["block"] == [0, 0, 0]


#
# The protocol
#


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["grid 1 2"], "'grid 1 2': a word is missing"),
        (["grid 1 2 3 4"], "'grid 1 2 3 4': '4' is too much"),
        (["grid 1 0 3"], "'grid 1 0 3': 0 is not from 1 to 2147483647"),
        (["block 1 x 3"], "'block 1 x 3': 'x' is not a number"),
        (["block 64 64 1"], "a block has at most 2048 threads"),
        (["wave 65"], "'wave 65': 65 is not from 1 to 64"),
        (["vendor intel"], "'vendor intel': 'intel' is not known here"),
        (["order random:x"], "'order random:x': 'random:x' has no seed that is a number"),
        (["order slow"], "'order slow': 'slow' is not known here"),
        (["timeout never"], "'timeout never': 'never' is not a number of seconds"),
        (["blocks 0 2"], "'blocks' are none of the grid"),
        (["hole 0 1"], "a range lies outside 'memory'"),
        (["address memory 0 0"], "an 'address' lies outside of what holds it"),
        (["value 0 00", "address value 0 0 0"], "an 'address' lies outside of what holds it"),
        (["value 0 00", "address value 1 0 0"], "an 'address' is in an argument that there is not"),
        (["address stack 0 0"], "'address stack 0 0': 'stack' is not known here"),
        (["value 1 00"], "argument 0 is missing"),
        (["value 0 0g"], "'value 0 0g': '0g' are not bytes in hexadecimal"),
        (["value 0 00", "value 0 01"], "'value 0 01': this argument is there twice"),
        (["speed 3"], "'speed 3': 'speed' is not known here"),
        (["kernel other"], "the kernel library has no kernel 'other'"),
        (["library /nowhere.so"], "the kernel library cannot be loaded: "),
        (["shared 1048576"], "the kernel has 1048832 bytes of shared memory, more than any GPU"),
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
    assert json.loads(done.stdout)["message"] == "the launch ended before 'run'"


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
    assert result.finding["message"] == "not emulated: llvm.nvvm.nothing.x, asm:nothing $0;"
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
        assert "and nothing orders them" in finding["message"]


def test_a_barrier_of_others_orders_nothing(tmp_path: Path) -> None:
    # Both waves wait at barriers, each at one of its own.
    named = """\
%wave = udiv i32 %tid, 32
%id = add i32 %wave, 1
device void "llvm.nvvm.barrier.cta.sync.aligned.count"(i32 %id, i32 32)
"""
    library = build(tmp_path, reverse(named), "ptr %out", shared=256, sanitizer="thread")
    assert races(library, ints(64), block="64 1 1")


def test_a_barrier_orders_no_later_use(tmp_path: Path) -> None:
    # A barrier before the writes, and none between them and the reads.
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


def test_atomics_are_no_race(tmp_path: Path) -> None:
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
    # The block that comes last to a counter reads what the others wrote.
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
    # And not with the other wave.
    body = body.replace("xor i32 %tid, 1", "xor i32 %tid, 64")
    library = build(tmp_path, body, "ptr %out", shared=512, sanitizer="thread")
    assert races(library, ints(128), vendor="amd", wave=64, block="128 1 1")


@pytest.mark.parametrize("copies", ["late", "early"])
@pytest.mark.parametrize(("barrier", "count"), [(BARRIER, 0), ("", 1)], ids=["barrier", "nothing"])
def test_what_an_instruction_does_to_memory_is_seen(tmp_path: Path, barrier: str, count: int, copies: str) -> None:
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
def test_a_copy_may_write_at_once(tmp_path: Path, barrier: str, count: int, copies: str) -> None:
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
            "a write of 4 bytes: 0 bytes behind the end of argument 0 (116 bytes)",
            4,
            True,
        ),
        (
            "%to = getelementptr i8, ptr %out, i64 114\n%v = load volatile i32, ptr %to, align 1",
            # The sanitizer tells the last byte of what is not aligned.
            "a read of 4 bytes: 1 bytes behind the end of argument 0 (116 bytes)",
            4,
            False,
        ),
        (
            "%to = getelementptr i8, ptr %out, i64 -8\n%v = load volatile i64, ptr %to",
            "a read of 8 bytes: 8 bytes before argument 0 (116 bytes)",
            8,
            False,
        ),
        (
            f"%v = load volatile i32, ptr inttoptr (i64 {SHARED + 104} to ptr)",
            "a read of 4 bytes: 4 bytes behind the end of shared memory (100 bytes)",
            4,
            False,
        ),
        (
            "%to = getelementptr i8, ptr %out, i64 112\ncall void @llvm.memset.p0.i64(ptr %to, i8 1, i64 16, i1 false)",
            "a write of 16 bytes: 0 bytes behind the end of argument 0 (116 bytes)",
            16,
            True,
        ),
        (
            "%to = getelementptr i8, ptr %out, i64 24\n%v = load volatile i64, ptr %to",
            "a read of 8 bytes: byte 24 of argument 0 (116 bytes), in a gap between its rows",
            8,
            False,
        ),
    ],
    ids=["behind", "across", "before", "shared", "memset", "gap"],
)
def test_an_access_outside_of_memory_is_found(
    tmp_path: Path, action: str, message: str, size: int, write: bool
) -> None:
    # 12 bytes lie between the array and the end of its page.
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


def test_accesses_outside_of_memory_are_found_at_each_place(tmp_path: Path) -> None:
    # The launch goes on: what else is wrong is found in the same run.
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
    assert finding["message"] == "a read of 16 bytes: 16 bytes before argument 0 (16 bytes)"
    assert len(finding["pc"]) == 1


def test_clean_kernels_are_clean_under_address_sanitizer(tmp_path: Path) -> None:
    library = build(tmp_path, reverse(), "ptr %out", shared=256, sanitizer="address")
    for order in ORDERS:
        result = run(library, ints(64), block="64 1 1", order=order, emulator=ADDRESS).check()
        np.testing.assert_array_equal(result.arrays[0], np.arange(63, -1, -1) ** 2)
