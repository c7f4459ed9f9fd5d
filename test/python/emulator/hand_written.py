# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hand-written kernels for the emulator's runtime, without the rewriter.

A kernel is host LLVM IR, in which a line `%x = device i32 "llvm.nvvm.foo"(i32 %a)` is replaced by the rewriter's code
for an instruction's call.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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


def llvm_tool(name: str) -> Path:
    tool = toolchain.find_llvm_tool(name)
    if tool is None:
        pytest.fail(f"no {name} was found (apt install llvm-{toolchain.LLVM_MAJOR} lld-{toolchain.LLVM_MAJOR})")
    return tool.path


def host_linker() -> Path:
    tool = toolchain.find_host_linker()
    if tool is None:
        pytest.fail("no linker was found (apt install binutils)")
    return tool.path


class _Module:
    """The text of a kernel library."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._sites: list[str] = []

    def _call(self, found: re.Match[str]) -> str:
        """The rewriter's translation of a call: operands to memory, the call, the result from memory."""
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
        [llvm_tool("opt"), f"-passes={_PASSES[sanitizer]}", *recover, source, "-o", bitcode],
        [llvm_tool("llc"), "-O1", "-relocation-model=pic", "-filetype=obj", bitcode, "-o", code],
        [host_linker(), "-shared", code, "-o", library],
    ):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return library


@dataclass
class Result:
    """The output of a launch."""

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
        self._offsets: list[int] = []
        end = PAGE
        guards = [0]
        for i, array in enumerate(arrays):
            pages = (array.nbytes + PAGE - 1) // PAGE * PAGE
            offset = end + (pages - array.nbytes) // 16 * 16
            self._offsets.append(offset)
            self.lines.append(f"array {i} {offset} {array.nbytes} 0 argument {i}")
            self.lines.append(f"hole {end} {offset - end}")
            self.lines.append(f"hole {offset + array.nbytes} {end + pages - offset - array.nbytes}")
            guards.append(end + pages)
            end += pages + PAGE
        self.lines += [f"guard {guard} {PAGE}" for guard in guards]
        self.bytes = end
        self.descriptor = os.memfd_create("arguments")
        os.ftruncate(self.descriptor, end)
        for array, offset in zip(arrays, self._offsets, strict=True):
            os.pwrite(self.descriptor, array.tobytes(), offset)

    def read(self) -> list[np.ndarray[Any, Any]]:
        return [
            np.frombuffer(os.pread(self.descriptor, array.nbytes, offset), array.dtype).reshape(array.shape)
            for array, offset in zip(self._arrays, self._offsets, strict=True)
        ]


def start(
    library: Path,
    memory: Memory,
    options: dict[str, object],
    emulator: Path,
) -> subprocess.Popen[bytes]:
    """Starts an emulator and sends it the launch."""
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


def run(
    library: Path,
    *arrays: np.ndarray[Any, Any],
    emulator: Path = PLAIN,
    memory: Memory | None = None,
    **options: object,
) -> Result:
    """Runs the kernel on one block of 32 threads, or with the given options."""
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

# Each thread writes its index, combined with that of its block, to its own element.
WRITE_INDEX = f"""\
{TID}{BLOCK}
%begin = mul i32 %block, 64
%offset = add i32 %begin, %tid
%value = xor i32 %offset, 5
%to = getelementptr i32, ptr %out, i32 %offset
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


# Each of two blocks waits for the other's flag.
BLOCKS_THAT_MEET = f"""\
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
ORDERS = ["lowest-first", "highest-first", "round-robin", "random:1", "random:2"]
