# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of the arguments of a call, and memory of parameters, shared by all launchers."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import os
import struct
import time
import types
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .. import dtypes
from ..diagnostics import counted
from ..errors import LaunchError
from . import arrays
from .arguments import Argument, Entry

SMALL_FLOATS = {ty.mlir: ty for ty in dtypes.ELEMENT_TYPES if ty.kind == "f" and ty.bits <= 16}
"""Floats that Python and C do not have, which are passed as their bits, by MLIR type."""

SCALAR_FORMATS = {
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
    **{name: {8: "B", 16: "H"}[ty.bits] for name, ty in SMALL_FLOATS.items()},
}
"""The memory format of scalar arguments by MLIR type, as a `struct` format character. Integers are taken modulo 2^bits."""


def bits_of(ty: dtypes.ElementType, value: float) -> int:
    """The bits of a small float."""
    import numpy as np

    return int(np.array(value, ty.numpy).view(f"uint{ty.bits}"))


class ParameterLayout:
    """The memory layout of the parameters of a kernel: consecutive, 8 bytes each.

    With `takes_sizes`, the dynamic sizes and strides of a memref follow its address, as in a GPU kernel.
    """

    def __init__(self, arguments: Sequence[Argument], takes_sizes: bool = False) -> None:
        form = ""
        masks: list[tuple[int, int]] = []
        floats: list[tuple[int, dtypes.ElementType]] = []
        position = 0
        for argument in arguments:
            letter = "Q" if argument.is_memref else SCALAR_FORMATS[argument.dtype.mlir]
            size = struct.calcsize(letter)
            form += f"{letter}{8 - size}x"
            if not argument.is_memref and argument.dtype.mlir in SMALL_FLOATS:
                floats.append((position, argument.dtype))
            elif not argument.is_memref and letter in "BHIQ":
                masks.append((position, (1 << 8 * size) - 1))
            count = argument.num_parameters if takes_sizes else 1
            form += "q" * (count - 1)
            position += count
        self._struct = struct.Struct("<" + form)
        self._masks = masks
        self._floats = floats
        self._arguments = arguments if takes_sizes and position > len(arguments) else ()
        self.size = 8 * position
        self.offsets = range(0, self.size, 8)

    def expand(self, values: Sequence[Any], views: Sequence[Any]) -> Sequence[Any]:
        """Inserts dynamic sizes and strides, which the array views state, into addresses and numbers."""
        if not self._arguments:
            return values
        return [
            parameter
            for argument, value, view in zip(self._arguments, values, views, strict=True)
            for parameter in (value, *dynamic_parameters(argument, view))
        ]

    def pack_into(self, buffer: Any, values: Sequence[Any]) -> None:
        """Writes addresses and numbers to `buffer`."""
        if self._masks or self._floats:
            values = list(values)
            for index, mask in self._masks:
                values[index] &= mask
            for index, ty in self._floats:
                values[index] = bits_of(ty, values[index])
        self._struct.pack_into(buffer, 0, *values)

    def pack(self, values: Sequence[Any]) -> bytearray:
        """Writes addresses and numbers to a new buffer."""
        buffer = bytearray(self.size)
        self.pack_into(buffer, values)
        return buffer


def dynamic_parameters(argument: Argument, view: Any) -> list[int]:
    """The dynamic sizes and strides that a GPU kernel takes after the address of an array."""
    sizes = [argument.size(view, dimension) for dimension in argument.dynamic_sizes]
    # The stride of the last dimension of an array of packed elements is static.
    return sizes + [view.strides[dimension] * argument.packed for dimension in argument.dynamic_strides]


def check_count(name: str, types: Sequence[str], given: int) -> None:
    """Raises LaunchError if a call has the wrong number of arguments."""
    if given != len(types):
        raise LaunchError(
            f"@{name} takes {counted(len(types), 'argument')} ({', '.join(types)}); the call passes {given}"
        )


GPU_ALIGNMENT = 16
"""The alignment in bytes that GPU code assumes for an argument without `llvm.align`."""


def shape_text(shape: Sequence[int | None]) -> str:
    return "x".join("?" if extent is None else str(extent) for extent in shape) or "scalar"


def required_shape(shape: Sequence[int | None]) -> str:
    """The shape that a kernel requires, for a message."""
    return shape_text(shape) + (" (? is any size)" if None in shape else "")


def _check_strides(argument: Argument, given: arrays.ArrayView) -> None:
    assert argument.strides is not None
    for dimension, (wanted, stride, extent) in enumerate(
        zip(argument.strides, given.strides, given.shape, strict=True)
    ):
        # The stride of a dimension of size 1, or of an empty array, is not used.
        if wanted is None or wanted == stride or extent == 1 or 0 in given.shape:
            continue
        raise LaunchError(
            f"{argument}: the stride of dimension {dimension} is {counted(stride, 'element')}; the kernel requires {wanted}",
            hint="pass a row-major copy (numpy.ascontiguousarray), or declare the memref with a strided layout",
        )


def check_distinct(argument: object, shape: Sequence[int], strides: Sequence[int]) -> None:
    """Raises LaunchError if elements of an array that a kernel writes share an address. Strides may count bytes or elements."""
    sizes = [(dimension, size, abs(strides[dimension])) for dimension, size in enumerate(shape) if size > 1]
    if 0 in shape:
        return
    for dimension, _, step in sizes:
        if step == 0:
            raise LaunchError(
                f"{argument}: the kernel writes this argument, but its elements along dimension {dimension} share one address "
                "(stride 0); pass a copy of the array"
            )
    for (one, size, step), (other, more, by) in itertools.combinations(sizes, 2):
        common = math.gcd(step, by)
        if by // common < size and step // common < more:
            raise LaunchError(
                f"{argument}: the kernel writes this argument, but elements along dimensions {one} and {other} share addresses; "
                "pass a copy of the array"
            )
    if not is_nested([(step, size) for _, size, step in sizes]) and _repeats([(step, size) for _, size, step in sizes]):
        *first, last = (str(dimension) for dimension, _, _ in sizes)
        raise LaunchError(
            f"{argument}: the kernel writes this argument, but elements along dimensions {', '.join(first)} and {last} share "
            "addresses; pass a copy of the array"
        )


def is_nested(dimensions: Sequence[tuple[int, int]]) -> bool:
    """Whether each stride is beyond the elements of all dimensions of smaller strides. Dimensions are (stride, size)."""
    last = 0
    for step, size in sorted(dimensions):
        if step <= last:
            return False
        last += (size - 1) * step
    return True


def _repeats(dimensions: Sequence[tuple[int, int]]) -> bool:
    """Whether two elements of an array of such (stride, size) dimensions have one address."""
    # The first index that differs can be 0 in one element, and those before it can be 0 in both.
    for at, (step, size) in enumerate(dimensions):
        steps, sizes = zip(*dimensions[at:], strict=True)
        later = _placed(_ANYWHERE + step, [size - 1, *sizes[1:]], steps, 1)
        if share_memory(later, _placed(_ANYWHERE, sizes[1:], steps[1:], 1)):
            return True
    return False


_ANYWHERE = 1 << 32

_EFFORT = 100_000
"""The limit of a search for a common element of two arrays."""


def _placed(pointer: int, shape: Sequence[int], strides: Sequence[int], size: int) -> Any:
    """An array at an address, whose memory is not accessed. Strides and the size of an element are in bytes."""
    import numpy as np

    described = {"version": 3, "data": (pointer, False), "typestr": f"|V{size}"}
    described |= {"shape": tuple(shape), "strides": tuple(strides)}
    return np.asarray(types.SimpleNamespace(__array_interface__=described))


def share_memory(one: Any, other: Any) -> bool:
    """Whether two numpy arrays have a byte in common. A search that takes too long counts as yes."""
    import numpy as np

    try:
        # numpy's type stubs accept only two constants.
        return np.shares_memory(one, other, max_work=_EFFORT)  # pyright: ignore[reportArgumentType]
    except np.exceptions.TooHardError:
        return True


def check_array(argument: Argument, given: arrays.ArrayView, device: str) -> None:
    """Raises LaunchError if an array does not match the argument. The result depends on `given.signature` only."""
    assert argument.shape is not None
    # ROCm builds of array libraries expose HIP memory through the CUDA array interface.
    if given.device != device and (given.device, device) != (arrays.CUDA, arrays.HIP):
        raise LaunchError(
            f"{argument}: the array is in {given.device} memory; the kernel requires {device} memory",
            hint=_DEVICE_HINTS.get((given.device, device)),
        )
    fits = len(given.shape) == len(argument.shape) and all(
        wanted in (None, extent) for wanted, extent in zip(argument.shape, given.shape, strict=False)
    )
    if not fits:
        raise LaunchError(
            f"{argument}: the shape is {shape_text(given.shape)}; the kernel requires {required_shape(argument.shape)}"
        )
    if not dtypes.accepts(argument.dtype, given.dtype):
        raise LaunchError(f"{argument}: the element type is {given.dtype}; the kernel requires {argument.dtype}")
    if given.readonly and argument.writes:
        raise LaunchError(f"{argument}: the array is read-only, but the kernel writes it; pass a writable array")
    _check_strides(argument, given)
    if argument.writes:
        check_distinct(argument, given.shape, given.strides)


def check_facts(argument: Argument, given: arrays.ArrayView, is_gpu: bool = True) -> None:
    """Raises LaunchError if an array does not match what the code of a kernel assumes about dynamic sizes and strides."""
    steps = given.strides
    if argument.dynamic_sizes and argument.is_row_major:
        expected = 1
        for dimension in reversed(range(len(given.shape))):
            if steps[dimension] != expected and given.shape[dimension] > 1 and 0 not in given.shape:
                raise LaunchError(
                    f"{argument}: the stride of dimension {dimension} is {counted(steps[dimension], 'element')}; the kernel requires a "
                    f"row-major array, with a stride of {expected}",
                    hint="pass a row-major copy (numpy.ascontiguousarray), or declare the memref with a strided layout",
                )
            expected *= given.shape[dimension]
    for what, numbers, divisors in (
        ("size", given.shape, argument.size_divisors),
        ("stride", steps, argument.stride_divisors),
    ):
        for dimension, (number, divisor) in enumerate(zip(numbers, divisors, strict=False)):
            if number % divisor:
                raise LaunchError(
                    f"{argument}: the {what} of dimension {dimension} is {number}; the kernel requires a multiple of "
                    f"{divisor} (argument attribute triton_xla.{what}_divisors)"
                )
    if argument.max_bytes is not None:
        size = max(argument.dtype.bits // 8, 1)
        first, last = extent(given, size)
        found = max(last - first, *(number * size for number in given.shape), 0)
        if found > argument.max_bytes:
            raise LaunchError(
                f"{argument}: the array has {found} B; the kernel supports at most {argument.max_bytes} B "
                "(argument attribute triton_xla.max_bytes)"
            )
        if is_gpu and any(steps[dimension] < 0 for dimension in argument.dynamic_strides):
            raise LaunchError(
                f"{argument}: the strides are {steps} elements; a kernel with the argument attribute triton_xla.max_bytes "
                "requires strides that are not negative; pass a copy of the array, or remove the attribute"
            )


_DEVICE_HINTS = {
    (arrays.CPU, arrays.CUDA): "pass device arrays: torch tensors on 'cuda', CuPy, JAX or numba device arrays",
    (arrays.CPU, arrays.HIP): "pass device arrays, such as torch tensors of a ROCm build on 'cuda'",
}


def check_alignment(argument: Argument, pointer: int, least: int) -> None:
    """Raises LaunchError if the address does not have the alignment that the code assumes; `least` is the default of arrays."""
    size = max(argument.dtype.bits // 8, 1)
    if pointer % size:
        raise LaunchError(
            f"{argument}: the address is {pointer:#x}, which is not a multiple of the element size, {size} B",
            hint="pass a copy of the array, which is aligned",
        )
    needed = argument.address_alignment(least)
    if pointer % needed:
        raise LaunchError(
            f"{argument}: the address is aligned to {pointer & -pointer} B; the kernel requires {needed} B",
            hint="pass an array at the start of an allocation, or declare a smaller alignment with the argument attribute llvm.align",
        )


def extent(view: arrays.ArrayView, size: int) -> tuple[int, int]:
    """The addresses of the first byte of an array and of the byte after the last."""
    if 0 in view.shape:
        return view.pointer, view.pointer
    steps = [(extent - 1) * stride for extent, stride in zip(view.shape, view.strides, strict=True)]
    low, high = sum(s for s in steps if s < 0), sum(s for s in steps if s > 0)
    return view.pointer + low * size, view.pointer + (high + 1) * size


def are_interleaved(one: arrays.ArrayView, other: arrays.ArrayView, sizes: tuple[int, int]) -> bool:
    """Whether two arrays have different addresses modulo a stride, such as two blocks of columns of one matrix. `sizes` are
    element sizes."""
    placed = [
        (
            view.pointer,
            [(step * size, extent) for step, extent in zip(view.strides, view.shape, strict=True) if extent > 1],
            size,
        )
        for view, size in zip((one, other), sizes, strict=True)
    ]
    for period in {abs(step) for _, dimensions, _ in placed for step, _ in dimensions if step}:
        ranges: list[tuple[int, int]] = []
        for pointer, dimensions, size in placed:
            reach = [(extent - 1) * step for step, extent in dimensions if step % period]
            low = sum(min(by, 0) for by in reach)
            ranges.append((pointer + low, sum(map(abs, reach)) + size))
        (first, length), (second, other_length) = ranges
        distance = (second - first) % period
        if length <= distance and other_length <= period - distance:
            return True
    return False


def find_overlap(
    views: Sequence[arrays.ArrayView], sizes: Sequence[int], writes: Sequence[bool]
) -> tuple[int, int] | None:
    """The indices of an array that is written and of another array that overlaps it, or None. `sizes` are element sizes."""
    extents = [extent(view, size) for view, size in zip(views, sizes, strict=True)]
    # Arrays that start before this array and end after its start.
    open_: list[int] = []
    for j in sorted(range(len(views)), key=extents.__getitem__):
        first, last = extents[j]
        open_ = [i for i in open_ if extents[i][1] > first]
        for i in open_:
            if first == last or not (writes[i] or writes[j]):
                continue
            if are_interleaved(views[i], views[j], (sizes[i], sizes[j])):
                continue
            # An array may be in other gaps of another one.
            one, other = (
                _placed(views[k].pointer, views[k].shape, [step * sizes[k] for step in views[k].strides], sizes[k])
                for k in (i, j)
            )
            if share_memory(one, other):
                low, high = min(i, j), max(i, j)
                return (low, high) if writes[low] else (high, low)
        open_.append(j)
    return None


def check_overlap(arguments: Sequence[Argument], views: Sequence[arrays.ArrayView]) -> None:
    """Raises LaunchError if an array that the kernel writes overlaps another array, because tiles run in any order."""
    sizes = [max(argument.dtype.bits // 8, 1) for argument in arguments]
    if found := find_overlap(views, sizes, [argument.writes for argument in arguments]):
        written, other = (arguments[i] for i in found)
        raise LaunchError(
            f"{written} overlaps argument {other.index} in memory; an argument that the kernel writes must not overlap another",
            hint="pass a copy of one of the two arrays",
        )


def integer_range(ty: dtypes.ElementType) -> tuple[int, int]:
    """The smallest integer of a type, and the largest plus 1. The range is empty for other types."""
    if ty.kind not in "iu":
        return 0, 0
    return (0, 2**ty.bits) if ty.kind == "u" else (-(2 ** (ty.bits - 1)), 2**ty.bits)


def shown(number: Any) -> str:
    """An integer as text for a message. Python does not print integers of several thousand digits."""
    bits = int(number).bit_length()
    return str(number) if bits <= 128 else f"an integer of {bits} bits"


def _overflows(ty: dtypes.ElementType, number: float) -> bool:
    """Whether a finite number rounds to infinity in a float type."""
    import numpy as np

    with np.errstate(over="ignore"):
        return not np.isfinite(np.float64(number).astype(ty.numpy))


def scalar(argument: Argument, value: Any) -> Any:
    """`value` as a Python number in the range of the type of `argument`. Raises LaunchError if it is out of range."""
    ty = argument.dtype
    if argument.is_unused:
        return 0
    if ty.kind == "f":
        try:
            number = float(value)
        except OverflowError:
            raise LaunchError(f"{argument}: {shown(value)} is out of range for {ty.mlir}") from None
        except (TypeError, ValueError):
            raise LaunchError(f"{argument}: a number is required, not {type(value).__name__}") from None
        if math.isfinite(number) and _overflows(ty, number):
            raise LaunchError(f"{argument}: {number:g} is out of range for {ty.mlir}")
        return number
    is_bool = ty.kind == "b"
    try:
        # A bool of numpy does not have __index__.
        plain = value.item() if is_bool and hasattr(value, "item") else value
        number = plain if type(plain) is int else plain.__index__()
    except (AttributeError, TypeError, ValueError, RuntimeError):
        required = "a bool" if is_bool else "an integer"
        raise LaunchError(f"{argument}: {required} is required, not {type(value).__name__}") from None
    low, high = (0, 2) if is_bool else integer_range(ty)
    if not low <= number < high:
        required = "0 or 1 is required" if is_bool else f"a number from {low} to {high - 1} is required"
        raise LaunchError(f"{argument}: {shown(number)} is out of range for {ty.mlir}; {required}")
    return bool(number) if is_bool else number


_MOST_CALLS = 4096
"""Number of calls whose checks are cached."""


class ArgumentChecker:
    """Checks the arguments of a call and converts them to addresses and numbers. Each set of arrays is checked once.

    `alignment` is the alignment in bytes that the code assumes for arguments without `llvm.align`. It is 0 if the code
    does not use the addresses of the arrays. With `takes_sizes`, the code takes dynamic sizes and strides as a GPU kernel does.
    """

    def __init__(self, what: Entry, device: str, alignment: int = 1, takes_sizes: bool = False) -> None:
        self._entry = what
        self._takes_sizes = takes_sizes
        self._device = device
        self._alignment = alignment
        self._wanted = [(argument, argument.is_memref, *integer_range(argument.dtype)) for argument in what.arguments]
        self._known: set[tuple[Any, ...]] = set()
        self._calls: dict[tuple[Any, ...], int | None] = {}

    def views(self, given: Sequence[Any], stream: int | None = None) -> list[Any]:
        """Array views and numbers."""
        return self._checked(given, stream)[1]

    def __call__(self, given: Sequence[Any], stream: int | None = None) -> tuple[list[Any], int | None, Any]:
        """Addresses and numbers, the index of the GPU of the arrays or None, and objects that own the memory."""
        addresses, values, device = self._checked(given, stream)
        return addresses, device, values

    def _checked(self, given: Sequence[Any], stream: int | None) -> tuple[list[Any], list[Any], int | None]:
        """Addresses and numbers, array views and numbers, and the index of the GPU."""
        wanted = self._wanted
        if len(given) != len(wanted):
            check_count(self._entry.name, [argument.type for argument, *_ in wanted], len(given))
        # This loop takes most of the host time of a launch.
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
        """Raises LaunchError if the arrays do not match. The result depends on `key` only."""
        memrefs = [argument for argument, is_memref, *_ in self._wanted if is_memref]
        views = [value for value in values if isinstance(value, arrays.ArrayView)]
        signature = tuple(view.signature for view in views)
        if signature not in self._known:
            for argument, view in zip(memrefs, views, strict=True):
                check_array(argument, view, self._device)
                check_facts(argument, view, self._takes_sizes)
            self._known.add(signature)
        if self._alignment:
            for argument, view in zip(memrefs, views, strict=True):
                check_alignment(argument, view.pointer, self._alignment)
        check_overlap(memrefs, views)
        if len(self._calls) >= _MOST_CALLS:
            self._calls.clear()
        self._calls[key] = _common_device(memrefs, views)


def _common_device(arguments: Sequence[Argument], views: Sequence[arrays.ArrayView]) -> int | None:
    """The index of the GPU of all arrays, or None if no array states it."""
    known = [(argument, view.device_index) for argument, view in zip(arguments, views, strict=True)]
    known = [(argument, index) for argument, index in known if index is not None]
    for argument, index in known[1:]:
        if index != known[0][1]:
            raise LaunchError(
                f"{argument}: the array is on GPU {index}, but argument {known[0][0].index} is on GPU {known[0][1]}; pass arrays "
                "of one GPU"
            )
    return known[0][1] if known else None


class DeviceMemory(Protocol):
    """The memory functions of a GPU driver that `run_on_copies` uses."""

    def allocate(self, size: int) -> int: ...
    def upload(self, pointer: int, host: int, size: int) -> None: ...
    def download(self, host: int, pointer: int, size: int) -> None: ...
    def free(self, pointer: int) -> None: ...
    def synchronize(self) -> None: ...


@functools.cache
def num_threads() -> int:
    """Number of threads of a launch on the CPU: `SMALTI_NUM_THREADS`, or one per core."""
    given = os.environ.get("SMALTI_NUM_THREADS")
    if given:
        try:
            return max(1, int(given))
        except ValueError:
            raise LaunchError(
                f"SMALTI_NUM_THREADS is '{given}'; it must be the number of threads, an integer"
            ) from None
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
    """Runs a GPU kernel on copies of host arrays, copies the results back, and returns the shortest run in seconds."""
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
