# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory, views, and the shadow that records the last accesses."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .values import Packing, collapse, packed, spread, unpacked

Array = np.ndarray[Any, Any]


@functools.lru_cache(maxsize=4096)
def _merged(
    shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int, grain: int
) -> tuple[tuple[int, ...], tuple[int, ...], bool]:
    """The grains of a view as shape and strides of fewer dimensions, and whether they are contiguous."""
    sizes, steps = [itemsize // grain], [grain]
    for size, step in sorted(zip(shape, strides, strict=True), key=lambda pair: abs(pair[1])):
        if size == 1:
            continue
        if step == sizes[-1] * steps[-1]:
            sizes[-1] *= size
        else:
            sizes.append(size)
            steps.append(step)
    return tuple(reversed(sizes)), tuple(reversed(steps)), len(sizes) == 1


class Buffer:
    """A buffer with a shadow that records the last accesses."""

    __slots__ = ("block", "data", "grain", "name", "read_only", "reads", "shared", "writes")

    def __init__(
        self, name: str, data: Array, grain: int, shared: bool, read_only: bool = False, block: Any = None
    ) -> None:
        self.name = name
        self.data = data
        """The bytes."""
        self.grain = grain
        """Bytes per entry of the shadow."""
        self.shared = shared
        self.block = block
        """The block of a shared-memory buffer."""
        self.read_only = read_only
        """Whether the kernel never writes it, so that accesses need no check."""
        self.writes: Array | None = None
        self.reads: Array | None = None

    def shadow(self) -> tuple[Array, Array]:
        """For each grain the number of the last write, and of the set of reads since then; 0 for none."""
        if self.writes is None or self.reads is None:
            grains = -(-self.data.size // self.grain)
            self.writes = np.zeros(grains, np.int32)
            self.reads = np.zeros(grains, np.int32)
        return self.writes, self.reads


@dataclass(frozen=True, slots=True)
class MemRef:
    """A view of a buffer. Offset and strides are in bytes."""

    buffer: Buffer
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    outside: str | None = None
    """Why the view is out of bounds, if it is."""
    packing: Packing | None = None
    """How elements smaller than a byte are packed; shape, strides and type are those of the bytes then."""
    begin: int = 0
    """The offset of the underlying memory, from which offsets count."""

    @property
    def size(self) -> int:
        """The bytes of its elements."""
        return math.prod(self.shape) * self.dtype.itemsize

    def extent(self) -> tuple[int, int]:
        """The first byte, and the byte after the last."""
        low = high = self.offset
        for size, step in zip(self.shape, self.strides, strict=True):
            if size == 0:
                return self.offset, self.offset
            if step >= 0:
                high += (size - 1) * step
            else:
                low += (size - 1) * step
        return low, high + self.dtype.itemsize

    def array(self) -> Array:
        """The elements, in place; the bytes of packed elements."""
        return np.ndarray(self.shape, self.dtype, self.buffer.data, self.offset, self.strides)

    def elements(self) -> Array:
        """The elements, in place unless they are packed."""
        how = self.packing
        if how is None:
            return self.array()
        found = unpacked(np.ascontiguousarray(np.moveaxis(self.array(), how.dimension, -1)), how.count)
        if how.dtype != found.dtype:
            found = (found.view(np.uint8) & (1 << 8 // how.count) - 1).view(how.dtype)
        return np.moveaxis(found, -1, how.dimension)

    def held(self, elements: Array) -> Array:
        """The array for these elements, as `array` returns it."""
        how = self.packing
        if how is None:
            return elements
        found = packed(np.ascontiguousarray(np.moveaxis(elements, how.dimension, -1)), how.count)
        return np.moveaxis(found, -1, how.dimension)

    def grains(self, shadow: Array) -> Array:
        """The part of a shadow array for this view: each grain once, in any order."""
        grain = self.buffer.grain
        shape, strides, run = _merged(self.shape, self.strides, self.dtype.itemsize, grain)
        if run:
            start = self.offset // grain
            return shadow[start : start + shape[0]]
        width = shadow.itemsize
        steps = tuple(step // grain * width for step in strides)
        return np.ndarray(shape, shadow.dtype, shadow, self.offset // grain * width, steps)

    def why_outside(self) -> str | None:
        """Why an access of the whole view is out of bounds, or None."""
        if self.outside is not None:
            return self.outside
        low, high = self.extent()
        if low < 0 or high > self.buffer.data.size:
            return f"bytes [{low}, {high}) of {self.buffer.name}, whose size is {self.buffer.data.size} B"
        return None

    def key(self) -> tuple[Any, ...]:
        """A key that is equal for views of the same elements in the same order."""
        return (self.offset, self.shape, self.strides, self.dtype.itemsize)

    def describe(self) -> str:
        """The location of the view, for messages."""
        low, high = self.extent()
        return f"bytes [{low}, {high}) of {self.buffer.name}"


POISON = 0xFF
"""Fills memory that a copy will write, or that is uninitialized, with NaN or -1."""


def fill(memory: MemRef, byte: int) -> None:
    """Fills memory with a byte."""
    shape, strides = (*memory.shape, memory.dtype.itemsize), (*memory.strides, 1)
    np.ndarray(shape, np.uint8, memory.buffer.data, memory.offset, strides)[...] = byte


def poison(memory: MemRef) -> None:
    """Fills memory with values that make a premature read visible."""
    fill(memory, POISON)


@dataclass(frozen=True)
class Window:
    """A box of an array in global memory, and the box that it is copied to or from."""

    inside: MemRef | None
    """The part of the box in the array; None if there is none."""
    place: tuple[Any, ...]
    """The index of that part in the other memory."""
    complete: bool
    """Whether the whole box is in the array."""


def window(memory: MemRef, starts: list[int], lengths: list[int]) -> Window:
    """The box of `memory` at `starts`; a dimension of length -1 has size one and is dropped."""
    offset, shape, strides, place = memory.offset, [], [], []
    complete = True
    for start, length, size, step in zip(starts, lengths, memory.shape, memory.strides, strict=True):
        count = 1 if length == -1 else length
        low, high = max(start, 0), min(start + count, size)
        if low >= high:
            return Window(None, (), False)
        complete = complete and high - low == count
        offset += low * step
        if length != -1:
            shape.append(high - low)
            # The stride of a single element is not used, and may exceed numpy's range.
            strides.append(step if high - low > 1 else 0)
            place.append(slice(low - start, high - start))
    packing = memory.packing
    if packing is not None:
        packing = packing.of([i for i, length in enumerate(lengths) if length != -1])
    inside = MemRef(memory.buffer, offset, tuple(shape), tuple(strides), memory.dtype, memory.outside, packing)
    return Window(inside, tuple(place), complete)


def part(memory: MemRef, place: tuple[Any, ...]) -> MemRef:
    """The box of memory that slices select."""
    offset = memory.offset
    shape = []
    for piece, step in zip(place, memory.strides, strict=True):
        offset += piece.start * step
        shape.append(piece.stop - piece.start)
    return replace(memory, offset=offset, shape=tuple(shape))


def in_registers(array: Array) -> MemRef:
    """A vector as temporary memory: the source of a copy out of registers."""
    flat = np.ascontiguousarray(array)
    buffer = Buffer("registers", flat.reshape(-1).view(np.uint8), 1, shared=True)
    return MemRef(buffer, 0, flat.shape, flat.strides, flat.dtype)


class Private:
    """Private memory (`memref.alloca`): its elements are values of the group."""

    __slots__ = ("cells", "default", "dtype", "shape")

    def __init__(self, shape: tuple[int, ...], default: Any, dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.default = default
        self.dtype = dtype
        self.cells: dict[tuple[int, ...], Any] = {}

    def load(self, place: tuple[int, ...], st: Any) -> Any:
        """The elements of the threads of a group or warp."""
        found = self.cells.get(place, self.default)
        if st.parent is None or not isinstance(found, np.ndarray):
            return found
        return collapse(found[32 * st.warp : 32 * st.warp + 32])

    def store(self, place: tuple[int, ...], value: Any, st: Any) -> None:
        """Changes the elements of the threads of a group or warp."""
        if st.parent is not None:
            whole = np.array(spread(self.cells.get(place, self.default), self.dtype, st.parent.threads))
            whole[32 * st.warp : 32 * st.warp + 32] = value
            value = collapse(whole)
        self.cells[place] = value


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address: a byte of a buffer, or an entry of the argument table."""

    buffer: Any
    offset: int


class Registers:
    """A vector that an issued `wgmma` will write."""

    __slots__ = ("value", "wgmma")

    def __init__(self, wgmma: Any) -> None:
        self.wgmma = wgmma
        self.value: Array | None = None
