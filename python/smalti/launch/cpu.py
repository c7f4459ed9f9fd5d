# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launcher for the CPU: JIT compilation, and ranges of tiles on several threads."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import io
import os
import threading
import time
import warnings
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import pace
from ..bindings import ir, passmanager
from ..calling import _launcher, arrays, calls
from ..codegen import line_tables
from ..diagnostics import Diagnostic, counted
from ..errors import LaunchError
from .host_code import HostCode

if TYPE_CHECKING:
    from .compiled import CompiledCode

PARALLEL_SECONDS = 200e-6
"""Shorter work runs on one thread, because waking other threads takes longer."""
_INTERRUPTED, _TIMED_OUT = -1, -2
"""Values of the stop flag after a signal and after the time limit. The kernel sets the flag to N > 0 for the N-th run-time
error (`smalti-lower-cpu-loops`)."""
_HINTS = "blocks=range(N) runs N tiles, time_limit=SECONDS stops the run"


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, calls.num_threads() - 1), thread_name_prefix="smalti")


# A forked process does not have the threads.
os.register_at_fork(after_in_child=_pool.cache_clear)


def descriptor(view: arrays.ArrayView, packed: int) -> Any:
    """The descriptor of an array for a kernel, of which the first two words are the address."""
    # The strided memref descriptor of MLIR: allocated and aligned pointer, offset, sizes, strides; all 64-bit words. Sizes
    # and strides count elements, and those of an array of packed elements count bytes.
    shape, strides = view.shape, view.strides
    if packed > 1:
        shape = (*shape[:-1], shape[-1] * packed)
        strides = (*(stride * packed for stride in strides[:-1]), 1)
    fields = [view.pointer, view.pointer, 0, *shape, *strides]
    return (ctypes.c_int64 * len(fields))(*fields)


@contextlib.contextmanager
def _stopping(flag: ctypes.c_int32, time_limit: float | None) -> Generator[None, None, None]:
    """In this block, Ctrl-C and the time limit set the flag, which compiled loops read."""

    def stop() -> None:
        flag.value = flag.value or _TIMED_OUT

    timer = threading.Timer(time_limit, stop) if time_limit is not None else None
    # Python runs signal handlers only in the main thread.
    is_main = threading.current_thread() is threading.main_thread()
    try:
        if is_main:
            _launcher.watch_interrupts(ctypes.addressof(flag))
        if timer is not None:
            timer.daemon = True
            timer.start()
        yield
    finally:
        if is_main:
            _launcher.unwatch_interrupts(ctypes.addressof(flag))
        if timer is not None:
            timer.cancel()


def _wait_for(futures: Sequence[Future[None]], flag: ctypes.c_int32) -> None:
    """Waits for work that uses the memory of the caller. An exception of a signal handler stops the work, and is raised
    after the work has ended."""
    interrupt = None
    while True:
        try:
            wait(futures)
            break
        except BaseException as raised:
            interrupt = interrupt or raised
            flag.value = flag.value or _INTERRUPTED
    if interrupt is not None:
        raise interrupt


def module_with_lines(kernel: CompiledCode) -> ir.Module:
    """The lowered module, with source lines in its machine code if the kernel has them."""
    if not kernel.has_line_info:
        return kernel.module
    bytecode = io.BytesIO()
    kernel.module.operation.write_bytecode(bytecode)
    module = ir.Module.parse(bytecode.getvalue(), kernel.module.context)
    pipeline = f"builtin.module({line_tables.passes(kernel.target).rstrip(',')})"
    manager: Any = passmanager.PassManager.parse(pipeline, module.context)
    manager.run(module.operation)
    return module


class CpuLauncher:
    """Compiles the kernel for the host, and runs it."""

    def __init__(self, kernel: CompiledCode) -> None:
        self._kernel = kernel
        self._check = calls.ArgumentChecker(kernel.entry, arrays.CPU)
        self._arguments = kernel.arguments
        self._symbol = kernel.symbol
        self._code = kernel.host_code or HostCode.compile(module_with_lines(kernel), kernel.symbol)
        self._layout = calls.ParameterLayout(kernel.arguments)

    @property
    def kernel(self) -> CompiledCode:
        """The kernel that the launcher runs."""
        return self._kernel

    @property
    def code(self) -> HostCode:
        """The code, to store it."""
        return self._code

    def __call__(self, *given: Any, stream: Any = None, time_limit: float | None = None) -> None:
        if stream is not None:
            raise LaunchError("stream= is not supported on the CPU; omit it")
        if time_limit is None:
            time_limit = self._kernel.time_limit
        pace.check_time_limit(time_limit)
        values = self._check.views(given)
        # The packed interface takes the address of every argument. The argument of a memref is the address of its
        # descriptor. Everything in `keep` must exist until the last tile completes.
        keep = [
            descriptor(value, argument.packed) if isinstance(value, arrays.ArrayView) else value
            for value, argument in zip(values, self._arguments, strict=True)
        ]
        cells = ctypes.create_string_buffer(max(self._layout.size, 1))
        is_array = [isinstance(value, arrays.ArrayView) for value in values]
        self._layout.pack_into(
            cells, [ctypes.addressof(x) if array else x for x, array in zip(keep, is_array, strict=True)]
        )
        # The flag, and two values for each error.
        memory = (ctypes.c_int64 * (1 + 2 * len(self._code.errors)))()
        flag = ctypes.c_int32.from_buffer(memory)
        with _stopping(flag, time_limit):
            self._run(
                [ctypes.addressof(cells) + at for at in self._layout.offsets],
                flag,
                self._kernel.entry.count_tiles(values),
            )
        if flag.value:
            self._stopped(flag.value, list(memory), time_limit)
        del keep, values

    def run_on_copies(self, values: list[Any], repeat: int = 1) -> float:
        """Runs on host arrays without copying them, and returns the shortest run in seconds."""
        return calls.best_time(lambda: self(*values), repeat)

    def _stopped(self, why: int, memory: Sequence[int], time_limit: float | None) -> None:
        """Raises the error of a run that stopped early."""
        name = f"@{self._symbol}"
        if why > 0:
            raise self.error(why, memory)
        if why == _TIMED_OUT:
            raise LaunchError(f"{name}: the time limit of {time_limit:g} s is reached", hint=pace.MORE_TIME)
        # The handler of SIGINT has run without raising an exception.
        raise KeyboardInterrupt

    def error(self, why: int, memory: Sequence[int]) -> LaunchError:
        """The error of a run after which the flag is `why`. `memory` is the flag with the values after it."""
        return LaunchError("", diagnostics=[self._error(why, memory[2 * why - 1 : 2 * why + 1])])

    def _error(self, number: int, values: Sequence[int]) -> Diagnostic:
        """The error for which the kernel sets the flag to `number`, with the values that the kernel stored."""
        error = self._code.errors[number - 1]
        message = error.message
        if error.shape is not None:
            position, tile = values
            where_in_tile = np.unravel_index(position, error.shape)
            at = f" at {[int(index) for index in where_in_tile]}" if where_in_tile else ""
            message = message.replace("the assertion failed", f"the assertion failed in tile {tile}{at}", 1)
        elif error.has_values:
            message = message.format(*values)
        return Diagnostic("error", message, error.location)

    def _range(self, count: int) -> range:
        """The tiles to run, out of `count`."""
        blocks: Any = self._kernel.blocks
        if blocks is None:
            return range(count)
        if not isinstance(blocks, range) or blocks.step != 1 or not 0 <= blocks.start < blocks.stop <= count:
            raise LaunchError(
                f"blocks is {blocks!r}; it must be a non-empty range of step 1 within the {counted(count, 'tile')}, such as range({count})"
            )
        return blocks

    def _run(self, packed: list[int], flag: ctypes.c_int32, count: int) -> None:
        tiles = self._range(count)
        if not tiles:
            return
        first, rest = tiles.start + 1, len(tiles) - 1
        # Tiles are independent, so the duration of the first tile decides whether to use threads.
        start = time.perf_counter()
        self._run_tiles(packed, flag, tiles.start, first)
        if not rest:
            return
        seconds = (time.perf_counter() - start) * rest
        workers = min(calls.num_threads(), rest)
        if workers <= 1 or seconds < PARALLEL_SECONDS:
            workers = 1
        if seconds / workers > pace.LONG:
            self._announce(f"{counted(len(tiles), 'tile')} will take about {seconds / workers:.0f} s")
        if workers == 1:
            self._run_tiles(packed, flag, first, tiles.stop)
            return
        bounds = [first + rest * i // workers for i in range(workers + 1)]
        futures: list[Future[None]] = []
        try:
            for i in range(1, workers):
                futures.append(_pool().submit(self._run_tiles, packed, flag, bounds[i], bounds[i + 1]))
            self._run_tiles(packed, flag, bounds[0], bounds[1])
        finally:
            _wait_for(futures, flag)
        for future in futures:
            future.result()

    def _announce(self, message: str) -> None:
        if self._kernel.announce is not None:
            self._kernel.announce(message)
        else:
            warnings.warn(f"@{self._symbol}: {message}: {_HINTS}", RuntimeWarning, stacklevel=2)

    def _run_tiles(self, packed: list[int], flag: ctypes.c_int32, begin: int, end: int) -> None:
        if begin >= end or flag.value:
            return
        first, last = ctypes.c_int64(begin), ctypes.c_int64(end)
        address = ctypes.c_void_p(ctypes.addressof(flag))
        more = (ctypes.addressof(one) for one in (first, last, address))
        self._code.function((ctypes.c_void_p * (len(packed) + 3))(*packed, *more))
