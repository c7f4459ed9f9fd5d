"""What all launchers share: checking arguments against what the program declares, before anything runs."""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .. import dtypes
from ..errors import LaunchError
from . import arrays
from .arguments import Argument, Entry

_SCALAR_FORMATS = {
    "f64": "d",
    "f32": "f",
    "i1": "?",
    "i64": "Q",
    "i32": "I",
    "i16": "H",
    "i8": "B",
    "index": "Q",
    "ui64": "Q",
    "ui32": "I",
    "ui16": "H",
    "ui8": "B",
}
"""How scalar arguments lie in memory, by their MLIR type, in the letters of `struct`. Integers are taken modulo their
size."""


class ParameterLayout:
    """Where the arguments of a kernel lie in memory: one after the other, each in 8 bytes."""

    def __init__(self, arguments: Sequence[Argument]) -> None:
        form = ""
        masks: list[tuple[int, int]] = []
        for argument in arguments:
            letter = "Q" if argument.is_memref else _SCALAR_FORMATS[argument.dtype.mlir]
            size = struct.calcsize(letter)
            form += f"{letter}{8 - size}x"
            if not argument.is_memref and letter in "BHIQ":
                masks.append((argument.index, (1 << 8 * size) - 1))
        self._struct = struct.Struct("<" + form)
        self._masks = masks
        self.size = 8 * len(arguments)
        self.offsets = range(0, self.size, 8)

    def pack_into(self, buffer: Any, values: Sequence[Any]) -> None:
        """Writes addresses and numbers."""
        if self._masks:
            values = list(values)
            for index, mask in self._masks:
                values[index] &= mask
        self._struct.pack_into(buffer, 0, *values)

    def pack(self, values: Sequence[Any]) -> bytearray:
        """The same, into memory of its own."""
        buffer = bytearray(self.size)
        self.pack_into(buffer, values)
        return buffer


def check_count(name: str, types: Sequence[str], given: int) -> None:
    """Raises unless a call of a kernel has as many arguments as it takes."""
    if given != len(types):
        raise LaunchError(
            f"@{name} takes {len(types)} argument{'s' * (len(types) != 1)} ({', '.join(types)}), {given} given"
        )


def can_be_passed(argument: Argument) -> bool:
    """Whether a scalar argument can be passed from Python."""
    return argument.dtype.mlir in _SCALAR_FORMATS


GPU_ALIGNMENT = 16
"""What GPU code assumes of an argument's address unless the program says otherwise, in bytes."""


def shape_text(shape: Sequence[int | None]) -> str:
    return "x".join("?" if extent is None else str(extent) for extent in shape) or "scalar"


def _check_strides(argument: Argument, given: arrays.ArrayView) -> None:
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


def check_array(argument: Argument, given: arrays.ArrayView, device: str) -> None:
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
            f"{argument}: its shape is {shape_text(given.shape)}, the kernel needs {shape_text(argument.shape)}"
        )
    if not dtypes.accepts(argument.dtype, given.dtype):
        raise LaunchError(f"{argument}: its element type is {given.dtype}, the kernel needs {argument.dtype}")
    if given.readonly and argument.writes:
        raise LaunchError(f"{argument}: the kernel writes it, and it is read-only")
    _check_strides(argument, given)


_DEVICE_HINTS = {
    (arrays.CPU, arrays.CUDA): "pass device arrays: torch tensors on 'cuda', CuPy, JAX or numba device arrays",
    (arrays.CPU, arrays.HIP): "pass device arrays, such as torch tensors of a ROCm build on 'cuda'",
}


def check_alignment(argument: Argument, pointer: int, least: int) -> None:
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
    # Arrays that begin before this one and do not end before it.
    open_: list[int] = []
    for j in sorted(range(len(views)), key=extents.__getitem__):
        first, last = extents[j]
        open_ = [i for i in open_ if extents[i][1] > first]
        for i in open_:
            if first == last or not (writes[i] or writes[j]):
                continue
            # Two arrays with gaps may interleave and share nothing; telling that apart takes longer than a launch.
            if _is_dense(views[i], sizes[i]) or _is_dense(views[j], sizes[j]):
                low, high = min(i, j), max(i, j)
                return (low, high) if writes[low] else (high, low)
        open_.append(j)
    return None


def check_overlap(arguments: Sequence[Argument], views: Sequence[arrays.ArrayView]) -> None:
    """Raises where an array that the kernel writes shares memory with another: tiles may run in any order."""
    sizes = [max(argument.dtype.bits // 8, 1) for argument in arguments]
    if found := find_overlap(views, sizes, [argument.writes for argument in arguments]):
        written, other = (arguments[i] for i in found)
        raise LaunchError(
            f"{written}: the kernel writes it, and it shares memory with argument {other.index}",
            hint="pass a copy of one of the two",
        )


def _range(ty: dtypes.ElementType) -> tuple[int, int]:
    """The least integer that fits a type, and the first one that does not any more; none does where it is no integer."""
    if ty.kind not in "iu":
        return 0, 0
    return (0, 2**ty.bits) if ty.kind == "u" else (-(2 ** (ty.bits - 1)), 2**ty.bits)


def _shown(number: Any) -> str:
    """An integer for a message. Python does not write integers of several thousand digits."""
    bits = int(number).bit_length()
    return str(number) if bits <= 128 else f"an integer of {bits} bits"


def _overflows(ty: dtypes.ElementType, number: float) -> bool:
    """Whether a finite number rounds to infinity in a type of floats."""
    import numpy as np

    with np.errstate(over="ignore"):
        return not np.isfinite(np.float64(number).astype(ty.numpy))


def scalar(argument: Argument, value: Any) -> Any:
    """`value` as a Python number that fits the type of `argument`."""
    ty = argument.dtype
    if argument.is_unused:
        return 0
    if ty.kind == "f":
        try:
            number = float(value)
        except OverflowError:
            raise LaunchError(f"{argument}: {_shown(value)} does not fit {ty.mlir}") from None
        except (TypeError, ValueError):
            raise LaunchError(f"{argument}: a number is needed, not {type(value).__name__}") from None
        if math.isfinite(number) and _overflows(ty, number):
            raise LaunchError(f"{argument}: {number:g} does not fit {ty.mlir}")
        return number
    if ty.kind == "b":
        try:
            return bool(value)
        except (TypeError, ValueError):
            raise LaunchError(f"{argument}: a truth value is needed, not {type(value).__name__}") from None
    try:
        number = value if type(value) is int else value.__index__()
    except (AttributeError, TypeError):
        raise LaunchError(f"{argument}: an integer is needed, not {type(value).__name__}") from None
    low, high = _range(ty)
    if not low <= number < high:
        raise LaunchError(f"{argument}: {_shown(number)} does not fit {ty.mlir}")
    return number


_MOST_CALLS = 4096
"""Calls whose checks are remembered."""


class ArgumentChecker:
    """Turns the arguments of a call into addresses and numbers; checks each set of arrays once.

    `alignment` is what the code assumes of addresses that the program says nothing about, in bytes; 0 where the
    addresses that are given are not those that the code sees.
    """

    def __init__(self, what: Entry, device: str, alignment: int = 1) -> None:
        self._entry = what
        self._device = device
        self._alignment = alignment
        self._wanted = [(argument, argument.is_memref, *_range(argument.dtype)) for argument in what.arguments]
        self._known: set[tuple[Any, ...]] = set()
        self._calls: dict[tuple[Any, ...], int | None] = {}

    def views(self, given: Sequence[Any], stream: int | None = None) -> list[Any]:
        """Array views and numbers."""
        return self._checked(given, stream)[1]

    def __call__(self, given: Sequence[Any], stream: int | None = None) -> tuple[list[Any], int | None, Any]:
        """Addresses and numbers; the index of the GPU that the arrays are on, where they tell it; and what must live as
        long as the addresses are used."""
        addresses, values, device = self._checked(given, stream)
        return addresses, device, values

    def _checked(self, given: Sequence[Any], stream: int | None) -> tuple[list[Any], list[Any], int | None]:
        """Addresses and numbers, array views and numbers, and the GPU."""
        wanted = self._wanted
        if len(given) != len(wanted):
            check_count(self._entry.name, [argument.type for argument, *_ in wanted], len(given))
        # This loop is most of what a launch costs the host.
        addresses: list[Any] = []
        values: list[Any] = []
        parts: list[Any] = []
        for (argument, is_memref, low, high), value in zip(wanted, given, strict=True):
            if not is_memref:
                number = value if type(value) is int and low <= value < high else scalar(argument, value)
                values.append(number)
                addresses.append(number)
                continue
            try:
                view = arrays.view(value, stream)
            except arrays.NotAnArray as error:
                raise LaunchError(f"{argument}: {error}") from None
            values.append(view)
            addresses.append(view.pointer)
            parts.append(view.key)
        key = tuple(parts)
        if key not in self._calls:
            self._require(key, values)
        return addresses, values, self._calls[key]

    def _require(self, key: tuple[Any, ...], values: Sequence[Any]) -> None:
        """Raises unless the arrays fit; all that it depends on is in `key`."""
        memrefs = [argument for argument, is_memref, *_ in self._wanted if is_memref]
        views = [value for value in values if isinstance(value, arrays.ArrayView)]
        signature = tuple(view.signature for view in views)
        if signature not in self._known:
            for argument, view in zip(memrefs, views, strict=True):
                check_array(argument, view, self._device)
            self._known.add(signature)
        if self._alignment:
            for argument, view in zip(memrefs, views, strict=True):
                check_alignment(argument, view.pointer, self._alignment)
        check_overlap(memrefs, views)
        if len(self._calls) >= _MOST_CALLS:
            self._calls.clear()
        self._calls[key] = _common_device(memrefs, views)


def _common_device(arguments: Sequence[Argument], views: Sequence[arrays.ArrayView]) -> int | None:
    """The index of the GPU that all arrays are on, None where none of them tells it."""
    known = [(argument, view.device_index) for argument, view in zip(arguments, views, strict=True)]
    known = [(argument, index) for argument, index in known if index is not None]
    for argument, index in known[1:]:
        if index != known[0][1]:
            raise LaunchError(
                f"{argument}: its memory is on GPU {index}, that of argument {known[0][0].index} on GPU {known[0][1]}"
            )
    return known[0][1] if known else None


class DeviceMemory(Protocol):
    """What a GPU's driver does with memory, for `run_on_copies`."""

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


def run_on_copies(
    memory: DeviceMemory, device: str, call: Callable[..., None], values: Sequence[Any], repeat: int
) -> float:
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
            given.append(dataclasses.replace(view, pointer=pointer + view.pointer - first, device=device))

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
