"""What a call gives to a program: arrays and numbers, and the memory that they are in."""

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
from .drawing import element
from .program import Parameter


@dataclass(frozen=True)
class Given:
    """An argument with what a call gives for it."""

    parameter: Parameter
    array: np.ndarray[Any, Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements; in bytes where several elements share one."""

    @property
    def extent(self) -> tuple[int, int]:
        """The first byte and the one behind the last, from its first element on."""
        if 0 in self.shape:
            return 0, 0
        steps = [(size - 1) * step for size, step in zip(self.shape, self.strides, strict=True)]
        low, high = sum(step for step in steps if step < 0), sum(step for step in steps if step > 0)
        return low * self.array.itemsize, (high + 1) * self.array.itemsize

    def of_elements(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shape and strides as the program has them."""
        packed = self.parameter.packed
        if packed == 1:
            return self.shape, self.strides
        shape = (*self.shape[:-1], self.shape[-1] * packed)
        return shape, (*(step * packed for step in self.strides[:-1]), 1)

    def number(self) -> Any:
        """A number, as values of a program are."""
        return self.array.item() if self.array.dtype.kind in "ib" else self.array[()]

    def view(self, place: Place, dtype: np.dtype[Any] | None = None) -> MemRef:
        """Its elements in memory."""
        steps = tuple(step * self.array.itemsize for step in self.strides)
        return MemRef(place.buffer, place.offset, self.shape, steps, dtype or self.array.dtype, begin=place.offset)


@dataclass(frozen=True)
class Place:
    """Where the first element of an array is."""

    buffer: Any
    offset: int = 0


def bind(parameter: Parameter, value: Any) -> Given:
    """What a call gives for an argument, if it fits."""
    wanted = element(parameter)
    argument = Argument(parameter.index, str(parameter.type), wanted, None, None, True, parameter.written)
    if parameter.scalar:
        number = calls.scalar(argument, value)
        if wanted.kind in "iu":
            # Integers are signed here, as values of a program are.
            number = (number + (1 << wanted.bits - 1) & (1 << wanted.bits) - 1) - (1 << wanted.bits - 1)
        with np.errstate(over="ignore"):
            return Given(parameter, np.asarray(number).astype(wanted.numpy), (), ())
    try:
        array = np.asarray(value)
    except Exception as problem:
        raise LaunchError(f"{parameter}: {type(value).__name__} is not an array: {problem}") from None
    if array.dtype == np.object_ and not isinstance(value, np.ndarray):
        raise LaunchError(f"{parameter}: {type(value).__name__} is not an array")
    if array.size and not _address(array):
        raise LaunchError(f"{parameter}: its memory is not allocated: the address is 0, and the shape is {array.shape}")
    if parameter.written and not isinstance(value, np.ndarray):
        raise LaunchError(f"{parameter}: the kernel writes it: pass a numpy array, not {type(value).__name__}")
    # Strides that the type states are those of a copy, so that any others fit.
    argument = replace(argument, shape=tuple(parameter.shape), strides=(None,) * len(array.shape))
    name = array.dtype.name if array.dtype.isnative else f"{array.dtype.name} in foreign byte order"
    readonly = not array.flags.writeable
    view = arrays.ArrayView(_address(array), array.shape, (0,) * array.ndim, name, arrays.CPU, readonly=readonly)
    calls.check_array(argument, view, arrays.CPU)
    return Given(parameter, array, array.shape, _strides(parameter, array))


def _strides(parameter: Parameter, array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """The strides in elements: the array says those that the type leaves open."""
    if 0 in array.shape:
        return (0,) * array.ndim
    found = []
    for dimension, (wanted, by, size) in enumerate(zip(parameter.strides, array.strides, array.shape, strict=True)):
        if parameter.written and size > 1 and not by:
            raise LaunchError(f"{parameter} is written, and the elements along dimension {dimension} are all one")
        if wanted is not None:
            found.append(wanted)
            continue
        if by % array.itemsize and size > 1:
            message = f"its stride along dimension {dimension} is {by} bytes, no number of its elements"
            raise LaunchError(f"{parameter}: {message}")
        found.append(by // array.itemsize)
    return tuple(found)


# ---------------------------------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------------------------------

Make = Callable[[int, str, int, int, bool], Buffer]
"""Makes memory: for the first argument in it, with a name, so many bytes, the bytes of a grain, and whether it is only
read."""


def place(given: Sequence[Given], make: Make) -> list[Place | None]:
    """The memory of the arguments, with what the arrays hold; None for numbers. Arrays that share memory share it
    there, too, if one of them is written."""
    found: list[Place | None] = [None] * len(given)
    for group in _sharing(given):
        many = len(group) > 1
        begins = [_address(given[i].array) if many else 0 for i in group]
        extents = [given[i].extent for i in group]
        low = min(begin + first for begin, (first, _) in zip(begins, extents, strict=True))
        high = max(begin + last for begin, (_, last) in zip(begins, extents, strict=True))
        numbers = [given[i].parameter.index for i in group]
        name = f"arguments {', '.join(map(str, numbers))}" if many else f"argument {numbers[0]}"
        grain = math.gcd(*(given[i].array.itemsize for i in group), *(begin - low for begin in begins))
        read_only = not any(given[i].parameter.written for i in group)
        buffer = make(numbers[0], name, high - low, grain, read_only)
        for i, begin in zip(group, begins, strict=True):
            found[i] = where = Place(buffer, begin - low)
            given[i].view(where).array()[...] = given[i].array
    return found


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _sharing(given: Sequence[Given]) -> Iterator[list[int]]:
    """The arrays, those together that share memory of which some is written."""
    arrays = [i for i, one in enumerate(given) if not one.parameter.scalar]
    while arrays:
        group = [arrays.pop(0)]
        for i in group:
            for other in list(arrays):
                if _share(given[i], given[other]):
                    arrays.remove(other)
                    group.append(other)
        if len(group) > 1:
            for i in group:
                _lies_so(given[i], [given[j].parameter for j in group if j != i])
        yield sorted(group)


_EFFORT = 100_000
"""Of a search for an element that two arrays have in common."""


def _share(one: Given, other: Given) -> bool:
    if not (one.parameter.written or other.parameter.written) or not np.may_share_memory(one.array, other.array):
        return False
    try:
        # numpy's types know two of its numbers only.
        return np.shares_memory(one.array, other.array, max_work=_EFFORT)  # pyright: ignore[reportArgumentType]
    except np.exceptions.TooHardError:
        return True


def _lies_so(given: Given, others: Sequence[Parameter]) -> None:
    """An array that shares memory is used where it is: it has to lie there as the type of the argument says."""
    for dimension, (wanted, by, size) in enumerate(zip(given.strides, given.array.strides, given.shape, strict=True)):
        if size > 1 and wanted * given.array.itemsize != by:
            raise LaunchError(
                f"{given.parameter} shares memory with {others[0]}, and its stride along dimension {dimension} is "
                f"{by} bytes, not the {wanted * given.array.itemsize} that its type says"
            )


def with_shapes(parameters: Sequence[Parameter], shapes: Mapping[int, Sequence[int]]) -> list[Parameter]:
    """The arguments with shapes for what the program leaves open."""
    for index in shapes:
        if not any(parameter.index == index and not parameter.scalar for parameter in parameters):
            raise LaunchError(f"there is no array {index} to have a shape: {', '.join(map(str, parameters))}")
    return [_with_shape(parameter, shapes.get(parameter.index, parameter.shape)) for parameter in parameters]


def _with_shape(parameter: Parameter, wanted: Sequence[int | None]) -> Parameter:
    fits = len(wanted) == len(parameter.shape)
    if not fits or any(n not in (None, size) for n, size in zip(parameter.shape, wanted, strict=True)):
        raise LaunchError(
            f"{parameter}: the shape is {calls.shape_text(wanted)}; the kernel requires {calls.shape_text(parameter.shape)}"
        )
    if None in wanted:
        hint = inputs.shape_hint(parameter.index, parameter.shape)
        raise LaunchError(f"{parameter}: {hint}; in Python shapes={{{parameter.index}: (...)}}")
    return replace(parameter, shape=tuple(wanted))
