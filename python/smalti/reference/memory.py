# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory: reads and writes of windows, elements and scattered elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from .. import dtypes, ir
from ..calling.arguments import Argument
from .interpreter import Interpreter, handles, located
from .values import Value, certain, element_type, error_of, integers, moved, operand_groups, shape_of


def relative_error(magnitude: Any, error: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.where(np.equal(error, 0), 0.0, np.divide(error, magnitude))


@dataclass
class Updates:
    """The atomic updates of each element of a memref since its last write, by its position in row-major order."""

    count: np.ndarray
    magnitude: np.ndarray
    """The sum of the magnitudes of the first value and of all added ones."""
    propagated: np.ndarray
    """The sum of the errors of these values."""
    largest: np.ndarray
    """The largest finite magnitude of the first value after multiplications by any of the operands."""
    smallest: np.ndarray
    """The smallest magnitude, except 0, of the first value after multiplications by any of the operands."""
    relative: np.ndarray
    """The relative error of the first value multiplied by all operands."""
    kind: dict[int, str]
    last: dict[int, tuple[int, int]]
    """The tile and the number of the operation of the last update."""
    unordered: np.ndarray
    """The elements of which two updates have no order. It is kept when an element is written."""

    @staticmethod
    def start(memory: Value) -> Updates:
        size = memory.data.size
        sums, errors, largest, smallest, relative = np.zeros((5, size))
        count, unordered = np.zeros(size, np.int64), np.zeros(size, bool)
        found = Updates(count, sums, errors, largest, smallest, relative, {}, {}, unordered)
        found.rebase(memory.data.reshape(-1), error_of(memory).reshape(-1), np.arange(size))
        return found

    def rebase(self, data: np.ndarray, error: np.ndarray, where: Any) -> None:
        """The bounds of the elements in `where` begin with their values."""
        magnitude = np.abs(data[where]).astype(np.float64)
        self.magnitude[where] = magnitude
        self.propagated[where] = error[where]
        self.largest[where] = np.where(np.isfinite(magnitude), magnitude, 1)
        self.smallest[where] = np.where(magnitude != 0, magnitude, 1)
        self.relative[where] = relative_error(magnitude, error[where])

    def multiply(self, at: int, operand: Any, error: float) -> None:
        """An element is multiplied by an operand."""
        magnitude = abs(float(operand))
        if np.isfinite(magnitude):
            self.largest[at] *= max(magnitude, 1)
        if magnitude != 0:
            self.smallest[at] *= min(magnitude, 1)
        self.relative[at] = (1 + self.relative[at]) * (1 + relative_error(magnitude, error)) - 1

    def restart(self, memory: Value, where: np.ndarray) -> None:
        """Elements that are written have no updates."""
        self.count[where] = 0
        self.rebase(memory.data.reshape(-1), error_of(memory).reshape(-1), where)
        for position in where.tolist():
            self.kind.pop(position, None)
            self.last.pop(position, None)


@dataclass
class Memory(Value):
    """The contents of a memref, in row-major order."""

    updates: Updates | None = None
    contended: np.ndarray | None = None
    """The elements that have unordered updates in the whole run, from a first run."""

    def is_contended(self, position: int) -> bool:
        return self.contended is not None and bool(self.contended[position])

    def copy(self) -> Memory:
        return Memory(self.data.copy(), None if self.error is None else self.error.copy())


def unpack(array: np.ndarray, argument: Argument) -> np.ndarray:
    """The elements of an array of bytes with several elements each, the first in the low bits; other arrays unchanged."""
    if argument.packed == 1:
        return array
    bits = 8 // argument.packed
    codes = array.view(np.uint8)[..., None] >> np.arange(argument.packed, dtype=np.uint8) * bits
    codes = (codes & (1 << bits) - 1).reshape(*array.shape[:-1], array.shape[-1] * argument.packed)
    if "xf4E2M1FN" in argument.type:
        return codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64)
    return codes.astype(np.int64) - ((codes.astype(np.int64) >> bits - 1) << bits)


def pack(elements: np.ndarray, argument: Argument) -> np.ndarray:
    """The inverse of `unpack`."""
    if argument.packed == 1:
        return elements
    bits = 8 // argument.packed
    if "xf4E2M1FN" in argument.type:
        elements = elements.astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
    codes = elements.astype(np.int64) & (1 << bits) - 1
    codes = codes.reshape(*codes.shape[:-1], -1, argument.packed) << np.arange(argument.packed) * bits
    return codes.sum(-1).astype(np.uint8)


def load(array: np.ndarray) -> Memory:
    """The contents of `array` as memory of the interpreter."""
    if array.dtype == bool:
        return Memory(np.array(array, order="C"))
    with np.errstate(invalid="ignore"):  # A signaling NaN becomes a quiet NaN.
        return Memory(array.astype(np.int64 if np.issubdtype(array.dtype, np.integer) else np.float64, order="C"))


def mixed(static: Sequence[int], dynamic: Sequence[Value]) -> list[int]:
    remaining = iter(dynamic)
    placeholder = ir.ShapedType.get_dynamic_size()
    return [int(certain(next(remaining), "an index")) if value == placeholder else int(value) for value in static]


def _window(op: Any, operands: list[Value], first: int) -> tuple[list[int], list[np.ndarray]]:
    """The sizes of the window, and the memory index of each element along each dimension."""
    groups = operand_groups(op, operands)[first:]
    offsets, sizes, strides = (
        mixed(integers(op, f"static_{name}"), group)
        for name, group in zip(("offsets", "sizes", "strides"), groups, strict=True)
    )
    return sizes, [o + np.arange(n) * s for o, n, s in zip(offsets, sizes, strides, strict=True)]


def _inside(indices: Sequence[np.ndarray], shape: Sequence[int]) -> list[np.ndarray]:
    return [(i >= 0) & (i < extent) for i, extent in zip(indices, shape, strict=True)]


def fill_of(op: Any, ty: dtypes.ElementType) -> Any:
    """The value of elements outside of memory. The type f8E8M0FNU does not have a zero; its code 0 is 2^-127."""
    if "fill" in op.attributes:
        return op.attributes["fill"].value
    return 2.0**-127 if ty.mlir == "f8E8M0FNU" else 0


def memory_of(value: Value) -> Memory:
    assert isinstance(value, Memory)
    return value


def selection(shape: Sequence[int], indices: Sequence[np.ndarray], mask: Any) -> tuple[np.ndarray, np.ndarray]:
    """The lanes that are in bounds and in the mask, and their positions in flat memory of this shape."""
    inside = np.logical_and.reduce(np.broadcast_arrays(mask, *_inside(indices, shape)))
    position = np.zeros(inside.shape, np.int64)
    for index, size in zip(indices, shape, strict=True):
        position: Any = position * size + np.where(inside, index, 0)
    return inside, position[inside]


def read_lanes(memory: Value, inside: np.ndarray, where: np.ndarray, fill: Any) -> Value:
    """The elements at the positions `where` for the lanes `inside`, and `fill` for the other lanes."""
    data = np.full(inside.shape, fill, memory.data.dtype)
    data[inside] = memory.data.reshape(-1)[where]
    if memory.error is None:
        return Value(data)
    error = np.zeros(inside.shape)
    error[inside] = memory.error.reshape(-1)[where]
    return Value(data, error)


def write_lanes(memory: Memory, inside: np.ndarray, where: np.ndarray, tile: Value) -> None:
    """Writes the lanes `inside` to the positions `where`, in row-major order: of two at one position, the last wins."""
    # numpy also keeps the last one of several elements at one position.
    memory.data.reshape(-1)[where] = tile.data[inside]
    if tile.error is not None or memory.error is not None:
        if memory.error is None:
            memory.error = np.zeros(memory.data.shape)
        memory.error.reshape(-1)[where] = error_of(tile)[inside]
    if memory.updates is not None:
        memory.updates.restart(memory, where)


@handles("triton_xla.extract")
def _extract(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    sizes, indices = _window(op, operands, 1)
    shape = shape_of(op.results[0].type)
    fill = fill_of(op, element_type(op.results[0].type))
    window = read_lanes(operands[0], *selection(operands[0].data.shape, np.ix_(*indices), np.ones(sizes, bool)), fill)
    return moved(window, lambda x: x.reshape(shape))


@handles("triton_xla.insert")
def _insert(_: Interpreter, op: Any, operands: list[Value]) -> None:
    tile, destination = operands[:2]
    sizes, indices = _window(op, operands, 2)
    lanes_ = selection(destination.data.shape, np.ix_(*indices), np.ones(sizes, bool))
    write_lanes(memory_of(destination), *lanes_, moved(tile, lambda x: x.reshape(sizes)))


def position(op: Any, indices: Sequence[Value], shape: Sequence[int]) -> tuple[int, ...]:
    """The indices of one element as numbers. Raises InterpreterError if one is out of bounds."""
    numbers = tuple(int(certain(index, "an index")) for index in indices)
    for dimension, (index, size) in enumerate(zip(numbers, shape, strict=True)):
        if not 0 <= index < size:
            raise located(op, f"the index {index} of dimension {dimension} is out of bounds; the size is {size}")
    return numbers


@handles("memref.load")
def _load(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    source, *indices = operands
    place = position(op, indices, source.data.shape)
    return moved(source, lambda x: np.asarray(x[place]))


@handles("memref.store")
def _store(_: Interpreter, op: Any, operands: list[Value]) -> None:
    value, destination, *indices = operands
    place = position(op, indices, destination.data.shape)
    where = selection(destination.data.shape, [np.asarray(index) for index in place], True)
    write_lanes(memory_of(destination), *where, value)


@handles("memref.dim")
def _dim(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    memref, number = operands
    (place,) = position(op, [number], (memref.data.ndim,))
    return Value(np.asarray(memref.data.shape[place]))


def lanes(
    memory: Value, indices: Sequence[Value], masks: Sequence[Value], shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """The lanes of an indexed access that reach memory, and their flat positions in it."""
    mask = np.broadcast_to(certain(masks[0], "the mask"), shape) if masks else np.ones(shape, bool)
    # A lane that the mask skips may have any index.
    used = (Value(index.data, np.where(mask, error_of(index), 0.0)) for index in indices)
    where = [np.broadcast_to(certain(index, "an index"), shape) for index in used]
    return selection(memory.data.shape, where, mask)


@handles("triton_xla.gather")
def _gather(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    (source,), indices, masks = operand_groups(op, operands)
    ty, shape = element_type(op.results[0].type), shape_of(op.results[0].type)
    return read_lanes(source, *lanes(source, indices, masks, shape), fill_of(op, ty))


@handles("triton_xla.scatter")
def _scatter(_: Interpreter, op: Any, operands: list[Value]) -> None:
    (tile,), (destination,), indices, masks = operand_groups(op, operands)
    inside, where = lanes(destination, indices, masks, tile.data.shape)
    if "unique" in op.attributes and len(np.unique(where)) != len(where):
        raise located(
            op,
            "two elements are scattered to the same index, but the attribute 'unique' of the op states that all indices differ; remove the attribute, or use different indices",
        )
    if "sorted" in op.attributes and np.any(np.diff(where) < 0):
        raise located(
            op,
            "the indices decrease, but the attribute 'sorted' of the op states that they do not; remove the attribute, or sort the indices",
        )
    write_lanes(memory_of(destination), inside, where, tile)
