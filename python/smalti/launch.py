"""What all launchers share: checking arguments against what the program declares, before anything runs."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import itertools
import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from . import arrays, entry
from .errors import LaunchError

SCALARS: dict[str, Any] = {
    "f64": ctypes.c_double,
    "f32": ctypes.c_float,
    "i64": ctypes.c_int64,
    "i32": ctypes.c_int32,
    "i16": ctypes.c_int16,
    "i8": ctypes.c_int8,
    "i1": ctypes.c_bool,
    "index": ctypes.c_int64,
    "ui64": ctypes.c_uint64,
    "ui32": ctypes.c_uint32,
    "ui16": ctypes.c_uint16,
    "ui8": ctypes.c_uint8,
}
"""How scalar arguments are passed, by their MLIR type."""

GPU_ALIGNMENT = 16
"""What GPU code assumes of an argument's address unless the program says otherwise, in bytes."""


def _shape_text(shape: Sequence[int | None]) -> str:
    return "x".join("?" if extent is None else str(extent) for extent in shape) or "scalar"


def _check_strides(argument: entry.Argument, given: arrays.ArrayView) -> None:
    assert argument.strides is not None
    for dimension, (wanted, stride, extent) in enumerate(
        zip(argument.strides, given.strides, given.shape, strict=True)
    ):
        # Along one element there is no step to take; an empty array has no element at all.
        if wanted is None or wanted == stride or extent == 1 or 0 in given.shape:
            continue
        raise LaunchError(
            f"{argument}: its stride along dimension {dimension} is {stride} elements, the kernel needs {wanted}",
            hint="pass a row-major copy (numpy.ascontiguousarray), or declare the memref with a strided layout",
        )


def check_array(argument: entry.Argument, given: arrays.ArrayView, device: str) -> None:
    """Raises unless the memory fits; depends on nothing but `given.signature`."""
    assert argument.shape is not None
    # ROCm builds of array libraries present HIP memory in CUDA's array interface.
    if given.device != device and (given.device, device) != (arrays.CUDA, arrays.HIP):
        raise LaunchError(
            f"{argument}: its memory is on {given.device}, this kernel runs on {device}",
            hint=_DEVICE_HINTS.get((given.device, device)),
        )
    fits = len(given.shape) == len(argument.shape) and all(
        wanted in (None, extent) for wanted, extent in zip(argument.shape, given.shape, strict=False)
    )
    if not fits:
        raise LaunchError(
            f"{argument}: its shape is {_shape_text(given.shape)}, the kernel needs {_shape_text(argument.shape)}"
        )
    from . import dtypes

    if not dtypes.accepts(argument.dtype, given.dtype):
        raise LaunchError(f"{argument}: its element type is {given.dtype}, the kernel needs {argument.dtype}")
    if given.readonly and argument.writes:
        raise LaunchError(f"{argument}: the kernel writes it, and it is read-only")
    _check_strides(argument, given)


_DEVICE_HINTS = {
    (arrays.CPU, arrays.CUDA): "pass device arrays: torch tensors on 'cuda', CuPy, JAX or numba device arrays",
    (arrays.CPU, arrays.HIP): "pass device arrays, such as torch tensors of a ROCm build on 'cuda'",
}


def check_alignment(argument: entry.Argument, pointer: int, least: int) -> None:
    """Raises unless the memory starts where the code may assume it does."""
    size = max(argument.dtype.bits // 8, 1)
    if pointer % size:
        raise LaunchError(f"{argument}: its address is not a multiple of its element size, {size} bytes")
    needed = max(size, argument.alignment if argument.alignment is not None else least)
    if pointer % needed:
        raise LaunchError(
            f"{argument}: its address is a multiple of {pointer & -pointer} bytes, the kernel needs {needed}",
            hint="pass an array that starts an allocation, or state less with the argument attribute llvm.align",
        )


def extent(view: arrays.ArrayView, size: int) -> tuple[int, int]:
    """The first byte of an array and the one past its last."""
    if 0 in view.shape:
        return view.pointer, view.pointer
    steps = [(extent - 1) * stride for extent, stride in zip(view.shape, view.strides, strict=True)]
    low, high = sum(s for s in steps if s < 0), sum(s for s in steps if s > 0)
    return view.pointer + low * size, view.pointer + (high + 1) * size


def _is_dense(view: arrays.ArrayView, size: int) -> bool:
    first, last = extent(view, size)
    return last - first == math.prod(view.shape) * size


def find_overlap(
    views: Sequence[arrays.ArrayView], sizes: Sequence[int], writes: Sequence[bool]
) -> tuple[int, int] | None:
    """An array that is written and another one that it shares memory with; `sizes` are those of the elements."""
    extents = [extent(view, size) for view, size in zip(views, sizes, strict=True)]
    for i, j in itertools.permutations(range(len(views)), 2):
        if not writes[i] or max(extents[i][0], extents[j][0]) >= min(extents[i][1], extents[j][1]):
            continue
        # Two arrays with gaps may interleave and share nothing; telling that apart takes longer than a launch.
        if _is_dense(views[i], sizes[i]) or _is_dense(views[j], sizes[j]):
            return i, j
    return None


def check_overlap(arguments: Sequence[entry.Argument], views: Sequence[arrays.ArrayView]) -> None:
    """Raises where an array that the kernel writes shares memory with another: tiles may run in any order."""
    sizes = [max(argument.dtype.bits // 8, 1) for argument in arguments]
    if found := find_overlap(views, sizes, [argument.writes for argument in arguments]):
        written, other = (arguments[i] for i in found)
        raise LaunchError(
            f"{written}: the kernel writes it, and it shares memory with argument {other.index}",
            hint="pass a copy of one of the two",
        )


def scalar(argument: entry.Argument, value: Any) -> Any:
    """`value` as a Python number that fits the type of `argument`."""
    ty = argument.dtype
    if ty.kind == "f":
        try:
            return float(value)
        except (TypeError, ValueError):
            raise LaunchError(f"{argument}: a number is needed, not {type(value).__name__}") from None
    if ty.kind == "b":
        return bool(value)
    try:
        number = value.__index__()
    except (AttributeError, TypeError):
        raise LaunchError(f"{argument}: an integer is needed, not {type(value).__name__}") from None
    low, high = (0, 2**ty.bits) if ty.kind == "u" else (-(2 ** (ty.bits - 1)), 2**ty.bits)
    if not low <= number < high:
        raise LaunchError(f"{argument}: {number} does not fit {ty.mlir}")
    return number


class ArgumentChecker:
    """Turns the arguments of a call into array views and numbers; checks each signature once.

    `alignment` is what the code assumes of addresses that the program says nothing about, in bytes; 0 where the
    addresses that are given are not those that the code sees.
    """

    def __init__(self, what: entry.Entry, device: str, alignment: int = 1) -> None:
        self._entry = what
        self._device = device
        self._alignment = alignment
        self._known: set[tuple[Any, ...]] = set()

    def __call__(self, given: Sequence[Any], stream: int | None = None) -> list[Any]:
        wanted = self._entry.arguments
        if len(given) != len(wanted):
            declared = ", ".join(argument.type for argument in wanted)
            raise LaunchError(
                f"@{self._entry.name} takes {len(wanted)} argument{'s' * (len(wanted) != 1)} ({declared}), "
                f"{len(given)} given"
            )
        values: list[Any] = []
        signature: list[Any] = []
        for argument, value in zip(wanted, given, strict=True):
            if not argument.is_memref:
                values.append(scalar(argument, value))
                continue
            try:
                view = arrays.view(value, stream)
            except arrays.NotAnArray as error:
                raise LaunchError(f"{argument}: {error}") from None
            values.append(view)
            signature.append(view.signature)
        memrefs = [argument for argument in wanted if argument.is_memref]
        views = [value for value in values if isinstance(value, arrays.ArrayView)]
        key = tuple(signature)
        if key not in self._known:
            for argument, view in zip(memrefs, views, strict=True):
                check_array(argument, view, self._device)
            self._known.add(key)
        if self._alignment:
            for argument, view in zip(memrefs, views, strict=True):
                check_alignment(argument, view.pointer, self._alignment)
        check_overlap(memrefs, views)
        return values


class DeviceMemory(Protocol):
    """What a GPU's driver does with memory, for `run_on_copies`."""

    device: str

    def allocate(self, size: int) -> int: ...
    def upload(self, pointer: int, host: int, size: int) -> None: ...
    def download(self, host: int, pointer: int, size: int) -> None: ...
    def free(self, pointer: int) -> None: ...
    def synchronize(self) -> None: ...


@functools.cache
def num_threads() -> int:
    """How much of this machine a launch on the CPU takes: `SMALTI_NUM_THREADS`, or a thread a core."""
    given = os.environ.get("SMALTI_NUM_THREADS")
    if given:
        try:
            return max(1, int(given))
        except ValueError:
            raise LaunchError(f"SMALTI_NUM_THREADS is '{given}', a number is wanted") from None
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def best_time(run: Callable[[], None], repeat: int) -> float:
    """The shortest of `repeat` runs, in seconds."""
    best = math.inf
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def run_on_copies(memory: DeviceMemory, call: Callable[..., None], values: Sequence[Any], repeat: int) -> float:
    """Runs a GPU kernel on copies of host arrays, copies them back, and returns the shortest run in seconds."""
    import numpy as np

    copies: list[tuple[int, int, int]] = []
    given: list[Any] = []
    try:
        for value in values:
            if not isinstance(value, np.ndarray):
                given.append(value)
                continue
            view = arrays.view(value)
            first, last = extent(view, value.itemsize)
            pointer = memory.allocate(max(last - first, 1))
            copies.append((pointer, first, last - first))
            memory.upload(pointer, first, last - first)
            on_device = dataclasses.replace(view, pointer=pointer + view.pointer - first, device=memory.device)
            given.append(on_device)

        def run() -> None:
            call(*given)
            memory.synchronize()

        seconds = best_time(run, repeat)
        for pointer, host, size in copies:
            memory.download(host, pointer, size)
        return seconds
    finally:
        for pointer, _, _ in copies:
            memory.free(pointer)
