"""Builds and runs emulated kernels: compile for the host, guard every argument, run the blocks in a child process."""

from __future__ import annotations

import ctypes
import enum
import functools
import hashlib
import mmap
import os
import platform
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from smalti import toolchain
from smalti.kernel import Kernel
from smalti.launch import GPU_ALIGNMENT

from . import rewrite

RUNTIME = Path(__file__).with_name("runtime.cpp")
_POISON = 0xFF
"""A byte that makes a NaN of every type of floats."""


class EmulationError(Exception):
    """The kernel did what it must not: its message says which thread did what."""


class Order(enum.IntEnum):
    """The order in which the waves of a block run; see runtime.cpp."""

    FIRST_AHEAD = 0
    LAST_AHEAD = 1
    IN_STEP = 2


@dataclass(frozen=True)
class Schedule:
    """What a GPU leaves open."""

    order: Order = Order.FIRST_AHEAD
    late_copies: bool = True
    """Whether asynchronous copies happen at their wait, and not at their issue."""


SCHEDULES = tuple(Schedule(order, late) for order in Order for late in (True, False))


def missing_tool() -> str | None:
    """What keeps kernels from being emulated here, or None."""
    if toolchain.find_llvm_tool("llc") is None:
        return f"no llc was found (apt install llvm-{toolchain.LLVM_MAJOR})"
    if toolchain.find_llvm_tool("llvm-dis") is None:
        return f"no llvm-dis was found (apt install llvm-{toolchain.LLVM_MAJOR})"
    if _cxx() is None:
        return "no C++ compiler was found (apt install g++)"
    return None


def _cxx() -> str | None:
    return next((found for name in ("g++", "clang++", "c++") if (found := shutil.which(name))), None)


def _run(command: Sequence[str | Path]) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise EmulationError(f"{' '.join(map(str, command))} failed:\n{done.stderr[:4000]}")


def _make(output: Path, commands: Iterable[Sequence[str | Path]], made: Path) -> None:
    """Runs commands that make the file `made`, which then gets the name `output` at once."""
    for command in commands:
        _run(command)
    made.replace(output)


class Emulator:
    """Makes emulated kernels, and keeps what it built in a folder by content."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, suffix: str, *contents: str) -> Path:
        return self._folder / (hashlib.sha256("\0".join(contents).encode()).hexdigest()[:24] + suffix)

    @functools.cached_property
    def _runtime(self) -> Path:
        """The runtime's object file, made once for its text."""
        output = self._path(".o", RUNTIME.read_text())
        if not output.exists():
            with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
                made = Path(scratch) / "runtime.o"
                flags = ["-std=c++17", "-O2", "-fPIC", "-U_FORTIFY_SOURCE"]
                _make(output, [[_cxx() or "c++", *flags, "-c", RUNTIME, "-o", made]], made)
        return output

    @functools.cached_property
    def _table(self) -> Any:
        """The runtime as a library of its own, to ask for its instructions."""
        return self._library(self._runtime.with_suffix(".so"), [])

    def _library(self, output: Path, objects: list[Path]) -> Any:
        if not output.exists():
            with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
                made = Path(scratch) / "library.so"
                _make(output, [[_cxx() or "c++", "-shared", *objects, self._runtime, "-o", made]], made)
        return ctypes.CDLL(str(output))

    def build(self, kernel: Kernel) -> EmulatedKernel:
        """`kernel` from the very LLVM IR that its code was generated from."""
        return self.build_ir(kernel.asm["llvm"], kernel)

    def build_ir(self, device_ir: str, kernel: Kernel) -> EmulatedKernel:
        module = rewrite.to_host(device_ir, kernel.symbol, lambda name: self._table.emulated_find(name.encode()))
        library = self._path(".so", module.text, RUNTIME.read_text())
        if not library.exists():
            llc = toolchain.find_llvm_tool("llc")
            assert llc is not None, missing_tool()
            # Half floats are computed in hardware from this level on.
            level = ["-mcpu=x86-64-v3"] if platform.machine() == "x86_64" else []
            with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
                source, code = Path(scratch) / "kernel.ll", Path(scratch) / "kernel.o"
                source.write_text(module.text)
                _run([llc.path, "-O1", *level, "-relocation-model=pic", "-filetype=obj", source, "-o", code])
                return EmulatedKernel(kernel, self._library(library, [code]), module.shared_bytes)
        return EmulatedKernel(kernel, self._library(library, []), module.shared_bytes)


class _LaunchRecord(ctypes.Structure):
    """`Launch` of runtime.cpp."""

    _fields_ = (
        ("kernel", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("grid", ctypes.c_int32 * 3),
        ("block", ctypes.c_int32 * 3),
        ("wave_size", ctypes.c_int32),
        ("shared_bytes", ctypes.c_int32),
        ("first_block", ctypes.c_int32),
        ("end_block", ctypes.c_int32),
        ("order", ctypes.c_int32),
        ("late_copies", ctypes.c_int32),
    )


class _Guarded:
    """A copy of an array in memory of its own: poison around it and in its gaps, nothing mapped around that.

    The array ends where the mapped memory ends, but for its alignment: what reads past it faults, what reads in front
    of it gets NaN, what writes anywhere else is found by `copy_back`.
    """

    def __init__(self, array: np.ndarray, alignment: int) -> None:
        self._array = array
        page = mmap.PAGESIZE
        extent = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)) + array.itemsize
        room = -(-extent // alignment) * alignment
        # Aligned as it must be and no better.
        room += alignment if room % (2 * alignment) == 0 else 0
        body = (-(-room // page) + 1) * page
        # Shared with the child that runs the kernel.
        self._memory = mmap.mmap(-1, body + 2 * page)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._bytes = np.frombuffer(self._memory, np.uint8, body, page)
        self._bytes[:] = _POISON
        start = body - room
        self.address = self._base + page + start
        self._view = np.ndarray(array.shape, array.dtype, self._bytes.data, start, array.strides)
        self._view[...] = array
        untouched = np.ones(body, bool)
        inside = np.ndarray((*array.shape, array.itemsize), bool, untouched.data, start, (*array.strides, 1))
        inside[...] = False
        self._outside = np.flatnonzero(untouched)
        self._protect(self._base, page)
        self._protect(self._base + page + body, page)

    @staticmethod
    def _protect(address: int, size: int) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), 0):
            raise OSError(ctypes.get_errno(), "mprotect")

    def copy_back(self, index: int) -> None:
        written = self._outside[self._bytes[self._outside] != _POISON]
        if len(written):
            raise EmulationError(f"argument {index}: {len(written)} bytes outside of it were written")
        self._array[...] = self._view


class EmulatedKernel:
    """A kernel that runs on the host as its chip would run it."""

    def __init__(self, kernel: Kernel, library: Any, static_shared_bytes: int) -> None:
        self._kernel = kernel
        self._library = library
        self._static_shared_bytes = static_shared_bytes

    def __call__(
        self,
        *arguments: Any,
        schedule: Schedule | None = None,
        blocks: range | None = None,
        timeout: float = 120,
    ) -> None:
        """Runs the kernel in place on numpy arrays and numbers, on some of its blocks or on all."""
        declared = self._kernel.arguments
        guarded = [
            (i, _Guarded(value, argument.alignment or GPU_ALIGNMENT))
            for i, (argument, value) in enumerate(zip(declared, arguments, strict=True))
            if isinstance(value, np.ndarray)
        ]
        addresses = {i: guard.address for i, guard in guarded}
        values = [
            np.array(addresses.get(i, value), np.int64 if i in addresses else argument.dtype.numpy)
            for i, (argument, value) in enumerate(zip(declared, arguments, strict=True))
        ]
        pointers = (ctypes.c_void_p * len(values))(*(value.ctypes.data for value in values))
        resources = self._kernel.resources
        assert resources.grid is not None and resources.block is not None
        grid = resources.grid
        blocks = blocks or range(grid[0] * grid[1] * grid[2])
        schedule = schedule or Schedule()
        record = _LaunchRecord(
            ctypes.cast(getattr(self._library, rewrite.ENTRY), ctypes.c_void_p).value,
            ctypes.addressof(pointers),
            (ctypes.c_int32 * 3)(*grid),
            (ctypes.c_int32 * 3)(*resources.block),
            self._kernel.target.wave_size,
            max(resources.shared_bytes or 0, self._static_shared_bytes),
            blocks.start,
            blocks.stop,
            schedule.order,
            schedule.late_copies,
        )
        _in_child(lambda: self._library.emulated_launch(ctypes.byref(record)), timeout)
        for i, guard in guarded:
            guard.copy_back(i)


def _in_child(run: Any, timeout: float) -> None:
    """Runs C code in a fork, so that a fault of the kernel is not one of the tests."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writer, 2)
        run()
        os._exit(0)
    os.close(writer)
    said, deadline = b"", time.monotonic() + timeout
    with open(reader, "rb", buffering=0) as stream:  # noqa: PTH123
        while True:
            ready, _, _ = select.select([stream], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                raise EmulationError(f"the kernel ran for more than {timeout} s")
            if not (some := stream.read(4096)):
                break
            said += some
    _, status = os.waitpid(child, 0)
    if code := os.waitstatus_to_exitcode(status):
        raise EmulationError(said.decode(errors="replace").strip() or f"the kernel ended with status {code}")
