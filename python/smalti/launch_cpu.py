"""Running a kernel on the CPU: compiled in this process, ranges of tiles on several threads."""

from __future__ import annotations

import ctypes
import functools
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from . import arrays, execution_engine, launch, toolchain
from .errors import CompileError, LaunchError

if TYPE_CHECKING:
    from .kernel import Kernel

_PARALLEL_SECONDS = 200e-6
"""Work that takes less is done before other threads have woken."""


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, launch.num_threads() - 1), thread_name_prefix="smalti")


def _descriptor(view: arrays.ArrayView) -> Any:
    # MLIR's strided memref descriptor: allocated and aligned pointer, offset, sizes, strides; every field a word.
    fields = [view.pointer, view.pointer, 0, *view.shape, *view.strides]
    return (ctypes.c_int64 * len(fields))(*fields)


class CpuLauncher:
    """Calls the compiled function."""

    def __init__(self, kernel: Kernel) -> None:
        self._check = launch.ArgumentChecker(kernel.entry, arrays.CPU)
        self._arguments = kernel.arguments
        self._tiles = kernel.entry.num_tiles
        self._symbol = kernel.symbol
        for argument in self._arguments:
            if not argument.is_memref and not launch.can_be_passed(argument):
                raise LaunchError(f"{argument}: a scalar of this type cannot be passed from Python on the CPU")
        self._layout = launch.ParameterLayout(kernel.arguments)
        libraries = [
            str(path)
            for name in ("mlir_c_runner_utils", "mlir_runner_utils", "mlir_float16_utils")
            if (path := toolchain.find_runtime_library(name))
        ]
        try:
            self._engine = execution_engine.ExecutionEngine(kernel.module, opt_level=3, shared_libs=libraries)
            self._function = self._engine.lookup(self._symbol)
        except RuntimeError as error:
            raise CompileError(f"@{self._symbol} could not be made executable: {error}") from None

    def __call__(self, *given: Any, stream: Any = None) -> None:
        if stream is not None:
            raise LaunchError("a kernel on the CPU takes no stream")
        values = self._check.views(given)
        # The packed interface takes the address of every argument; a memref's argument is its descriptor's address.
        # Everything in `keep` must live until the last tile is done.
        keep = [_descriptor(value) if isinstance(value, arrays.ArrayView) else value for value in values]
        cells = ctypes.create_string_buffer(max(self._layout.size, 1))
        is_array = [isinstance(value, arrays.ArrayView) for value in values]
        self._layout.pack_into(
            cells, [ctypes.addressof(x) if array else x for x, array in zip(keep, is_array, strict=True)]
        )
        self._run([ctypes.addressof(cells) + at for at in self._layout.offsets])
        del keep, values

    def run_on_copies(self, values: list[Any], repeat: int = 1) -> float:
        """Runs on host arrays, which need no copies here, and returns the shortest run in seconds."""
        return launch.best_time(lambda: self(*values), repeat)

    def _run(self, packed: list[int]) -> None:
        tiles = self._tiles
        workers = min(launch.num_threads(), tiles)
        if workers == 1:
            self._run_tiles(packed, 0, tiles)
            return
        # Tiles do not depend on one another, so the first one can tell whether threads are worth waking.
        start = time.perf_counter()
        self._run_tiles(packed, 0, 1)
        if (time.perf_counter() - start) * (tiles - 1) < _PARALLEL_SECONDS:
            self._run_tiles(packed, 1, tiles)
            return
        bounds = [1 + (tiles - 1) * i // workers for i in range(workers + 1)]
        futures = [_pool().submit(self._run_tiles, packed, bounds[i], bounds[i + 1]) for i in range(1, workers)]
        try:
            self._run_tiles(packed, bounds[0], bounds[1])
        finally:
            for future in futures:
                future.result()

    def _run_tiles(self, packed: list[int], begin: int, end: int) -> None:
        if begin >= end:
            return
        first, last = ctypes.c_int64(begin), ctypes.c_int64(end)
        addresses = (ctypes.c_void_p * (len(packed) + 2))(*packed, ctypes.addressof(first), ctypes.addressof(last))
        self._function(addresses)
