# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of a call, and their memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import inputs
from ...calling import arrays, calls
from ...calling.arguments import Argument
from ...errors import LaunchError
from ..machine.memory import Buffer, MemRef
from ..machine.values import numpy_type
from .program import Parameter
from .random_arguments import element


@dataclass(frozen=True)
class BoundArgument:
    """An argument with the value of a call."""

    parameter: Parameter
    array: np.ndarray[Any, Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements; in bytes if several elements share a byte."""

    @property
    def extent(self) -> tuple[int, int]:
        """The first byte, and the byte after the last, relative to the first element."""
        if 0 in self.shape:
            return 0, 0
        steps = [(size - 1) * step for size, step in zip(self.shape, self.strides, strict=True)]
        low, high = sum(step for step in steps if step < 0), sum(step for step in steps if step > 0)
        return low * self.array.itemsize, (high + 1) * self.array.itemsize

    def of_elements(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shape and strides in the program."""
        packed = self.parameter.packed
        if packed == 1:
            return self.shape, self.strides
        shape = (*self.shape[:-1], self.shape[-1] * packed)
        return shape, (*(step * packed for step in self.strides[:-1]), 1)

    def number(self) -> Any:
        """A scalar as a run-time value."""
        return self.array.item() if self.array.dtype.kind in "ib" else self.array[()]

    def view(self, place: ArgumentMemory, dtype: np.dtype[Any] | None = None) -> MemRef:
        """A view of its elements in memory."""
        steps = tuple(step * self.array.itemsize for step in self.strides)
        return MemRef(place.buffer, place.offset, self.shape, steps, dtype or self.array.dtype, begin=place.offset)


@dataclass(frozen=True)
class ArgumentMemory:
    """The memory of the first element of an array."""

    buffer: Any
    offset: int = 0


def bind(parameter: Parameter, value: Any) -> BoundArgument:
    """Binds a call's value to an argument. Raises an error if it does not match."""
    wanted = element(parameter)
    argument = Argument(parameter.index, str(parameter.type), wanted, None, None, True, parameter.written)
    if parameter.scalar:
        number = calls.scalar(argument, value)
        if wanted.kind in "iu":
            # Integers are signed in run-time values.
            number = (number + (1 << wanted.bits - 1) & (1 << wanted.bits) - 1) - (1 << wanted.bits - 1)
        with np.errstate(over="ignore"):
            return BoundArgument(parameter, np.asarray(number).astype(wanted.numpy), (), ())
    try:
        array = np.asarray(value)
    except Exception as problem:
        raise LaunchError(f"{parameter}: {type(value).__name__} is not an array: {problem}") from None
    if array.dtype == np.object_ and not isinstance(value, np.ndarray):
        raise LaunchError(f"{parameter}: {type(value).__name__} is not an array; pass a numpy array")
    if array.size and not _address(array):
        raise LaunchError(
            f"{parameter}: the array of shape {array.shape} has address 0, so it is not allocated; pass an array with memory"
        )
    if parameter.written and not isinstance(value, np.ndarray):
        raise LaunchError(
            f"{parameter}: the kernel writes this argument; pass a numpy array instead of {type(value).__name__}"
        )
    # The strides in the type are those of the copy, so the array may have any others.
    argument = replace(argument, shape=tuple(parameter.shape), strides=(None,) * len(array.shape))
    name = array.dtype.name if array.dtype.isnative else f"{array.dtype.name} in non-native byte order"
    readonly = not array.flags.writeable
    view = arrays.ArrayView(
        _address(array), array.shape, arrays.row_major(array.shape), name, arrays.CPU, readonly=readonly
    )
    calls.check_array(argument, view, arrays.CPU)
    stored = numpy_type(parameter.type.element_type)
    if parameter.packed == 1 and stored is not None and stored != wanted.numpy:
        # The kernel stores these elements as integers.
        array = array.view(stored)
    return BoundArgument(parameter, array, array.shape, _strides(parameter, array))


def _strides(parameter: Parameter, array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """The strides in elements: dynamic ones are those of the array."""
    if 0 in array.shape:
        return (0,) * array.ndim
    if parameter.written:
        calls.check_distinct(parameter, array.shape, array.strides)
    found = []
    for dimension, (wanted, by, size) in enumerate(zip(parameter.strides, array.strides, array.shape, strict=True)):
        if wanted is not None:
            found.append(wanted)
            continue
        if by % array.itemsize and size > 1:
            message = f"the stride of dimension {dimension} is {by} B; it must be a multiple of the element size, {array.itemsize} B"
            raise LaunchError(f"{parameter}: {message}")
        found.append(by // array.itemsize)
    return tuple(found)


# ---------------------------------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------------------------------

Make = Callable[[int, str, int, int, bool], Buffer]
"""Creates memory: for the first argument in it, with a name, a size, the bytes of a grain, and whether it is
read-only."""


def place_arguments(bound: Sequence[BoundArgument], make: Make) -> list[ArgumentMemory | None]:
    """The memory of the arguments, with the contents of the arrays; None for scalars. Arrays that overlap share memory
    if one of them is written."""
    found: list[ArgumentMemory | None] = [None] * len(bound)
    for group in _sharing(bound):
        many = len(group) > 1
        begins = [_address(bound[i].array) if many else 0 for i in group]
        extents = [bound[i].extent for i in group]
        low = min(begin + first for begin, (first, _) in zip(begins, extents, strict=True))
        high = max(begin + last for begin, (_, last) in zip(begins, extents, strict=True))
        name = " and ".join(bound[i].parameter.name for i in group)
        grain = math.gcd(*(bound[i].array.itemsize for i in group), *(begin - low for begin in begins))
        read_only = not any(bound[i].parameter.written for i in group)
        buffer = make(bound[group[0]].parameter.index, name, high - low, grain, read_only)
        for i, begin in zip(group, begins, strict=True):
            found[i] = where = ArgumentMemory(buffer, begin - low)
            bound[i].view(where).array()[...] = bound[i].array
    return found


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _sharing(bound: Sequence[BoundArgument]) -> Iterator[list[int]]:
    """The arrays, grouped by overlap if one of the group is written."""
    arrays = [i for i, one in enumerate(bound) if not one.parameter.scalar]
    while arrays:
        group = [arrays.pop(0)]
        for i in group:
            for other in list(arrays):
                if _share(bound[i], bound[other]):
                    arrays.remove(other)
                    group.append(other)
        if len(group) > 1:
            for i in group:
                _lies_so(bound[i], [bound[j].parameter for j in group if j != i])
        yield sorted(group)


def _share(one: BoundArgument, other: BoundArgument) -> bool:
    return (one.parameter.written or other.parameter.written) and calls.share_memory(one.array, other.array)


def _lies_so(bound: BoundArgument, others: Sequence[Parameter]) -> None:
    """An array that shares memory is not copied to another layout, so its strides must be those of the type."""
    for dimension, (wanted, by, size) in enumerate(zip(bound.strides, bound.array.strides, bound.shape, strict=True)):
        if size > 1 and wanted * bound.array.itemsize != by:
            raise LaunchError(
                f"{bound.parameter}: the stride of dimension {dimension} is {by} B, but the type requires "
                f"{wanted * bound.array.itemsize} B. The array cannot be copied to such a layout, because it shares memory with "
                f"{others[0]}: pass an array with the required strides, or one that does not share memory"
            )


def with_shapes(parameters: Sequence[Parameter], shapes: Mapping[int, Sequence[int]]) -> list[Parameter]:
    """The parameters with shapes for dynamic sizes."""
    for index in shapes:
        if not any(parameter.index == index and not parameter.scalar for parameter in parameters):
            raise LaunchError(
                f"a shape is given for argument {index}, which is not an array argument of the kernel; its arguments are: "
                f"{', '.join(map(str, parameters))}"
            )
    return [_with_shape(parameter, shapes.get(parameter.index, parameter.shape)) for parameter in parameters]


def _with_shape(parameter: Parameter, wanted: Sequence[int | None]) -> Parameter:
    fits = len(wanted) == len(parameter.shape)
    if not fits or any(n not in (None, size) for n, size in zip(parameter.shape, wanted, strict=True)):
        raise LaunchError(
            f"{parameter}: the shape is {calls.shape_text(wanted)}; the kernel requires "
            f"{calls.required_shape(parameter.shape)}"
        )
    if None in wanted:
        hint = inputs.shape_hint(parameter.index, parameter.shape)
        raise LaunchError(f"{parameter}: {hint}; in Python shapes={{{parameter.index}: (...)}}")
    return replace(parameter, shape=tuple(wanted))
