# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory with per-thread addresses."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...._mlir_libs._smalti import gather, scatter
from ...machine.memory import Buffer
from .lanes import Array, spread
from .slots import Slot

SPACING = 1 << 40
"""Bytes between the addresses of two buffers."""
FIRST_CONSTANT = 1 << 12
"""The number of the first constant of the module, among buffers that are SPACING apart."""
SHARED_BEGIN = 1 << 60
"""The generic address of shared memory."""
PRIVATE_BEGIN = 1 << 61
"""The generic address of the first private memory; others follow SPACING apart."""
BLOCK_BITS = 24
"""In an address of cluster shared memory, the bits below the block number: 0 for the own block, or the rank in the
cluster plus 1."""
NAMED_BARRIERS, NAMED_BARRIER_BYTES, MOST_NAMED_BARRIERS = 1 << 32, 16, 16
"""The first pointer of AMD named barriers, their distance, and their number per block."""
PAD = 16
"""Buffers are padded to a multiple of this, so that they can be viewed with any element type."""


class LaneBuffer(Buffer):
    """A buffer that threads share."""

    __slots__ = ("_typed", "address", "kinds", "lanes", "places", "size", "tables", "threads")

    def __init__(self, name: str, size: int, grain: int, shared: bool, read_only: bool = False, fill: int = 0) -> None:
        length = -(-size // PAD) * PAD
        # Untouched zeros do not occupy memory.
        data = np.full(length, fill, np.uint8) if fill else np.zeros(length, np.uint8)
        super().__init__(name, data, grain, shared, read_only)
        self.size = size
        self.address = 0
        """Its address in global memory."""
        self.threads: Array | None = None
        """For each grain the thread of its block that wrote it last."""
        self.lanes: Array | None = None
        """For each grain the lanes that wrote it last together, as bits."""
        self.tables: dict[str, Any] = {}
        """The accesses besides the last write (`shadow.Table`)."""
        self.kinds: set[tuple[int, int]] = set()
        """Scopes and sizes of atomic accesses."""
        self.places: dict[int, list[Any]] = {}
        """By byte, the clocks that an acquire of the value there acquires."""
        self._typed: dict[np.dtype[Any], Array] = {}

    def typed(self, dtype: np.dtype[Any]) -> Array:
        """The buffer as elements of a type."""
        found = self._typed.get(dtype)
        if found is None:
            found = self._typed[dtype] = self.data.view(dtype)
        return found


class PrivateBuffer:
    """Private memory (`memref.alloca`)."""

    __slots__ = ("data", "name", "size")
    shared = False

    def __init__(self, name: str, lanes: int, size: int) -> None:
        self.name = name
        self.size = size
        self.data: Array = np.full((lanes, -(-size // PAD) * PAD), 0xFF, np.uint8)

    def take(self, lanes: Array, memo: dict[int, Any]) -> PrivateBuffer:
        found = memo.get(id(self))
        if found is None:
            found = memo[id(self)] = PrivateBuffer(self.name, 0, self.size)
            found.data = self.data[lanes]
        return found


@dataclass(frozen=True, slots=True)
class View:
    """A memref: a view of a buffer. Offset and strides are in bytes; each is a number, or an array with one number per
    thread."""

    buffer: Any
    offset: Any
    shape: tuple[Any, ...]
    strides: tuple[Any, ...]
    dtype: np.dtype[Any]
    limit: Any = None
    """Bytes from `begin` after which loads return zeros and stores have no effect; None if out-of-bounds accesses are
    findings."""
    begin: Any = 0
    """The offset of the underlying memory, from which pointers and offsets count."""
    slots: tuple[Slot, ...] = ()
    """The selected slots of a multi-buffered allocation."""

    def take(self, lanes: Array, memo: dict[int, Any]) -> View:
        def some(value: Any) -> Any:
            return value[lanes] if isinstance(value, np.ndarray) else value

        buffer = self.buffer.take(lanes, memo) if isinstance(self.buffer, PrivateBuffer) else self.buffer
        return View(
            buffer,
            some(self.offset),
            tuple(some(n) for n in self.shape),
            tuple(some(n) for n in self.strides),
            self.dtype,
            some(self.limit),
            some(self.begin),
            self.slots,
        )

    def merge(self, mask: Array, other: Any) -> View | None:
        if not isinstance(other, View) or other.buffer is not self.buffer or other.limit is not self.limit:
            return None

        def both(a: Any, b: Any) -> Any:
            return (
                a
                if a is b or (not isinstance(a, np.ndarray) and not isinstance(b, np.ndarray) and a == b)
                else (np.where(mask, a, b))
            )

        return replace(
            self,
            offset=both(self.offset, other.offset),
            shape=tuple(both(a, b) for a, b in zip(self.shape, other.shape, strict=True)),
            strides=tuple(both(a, b) for a, b in zip(self.strides, other.strides, strict=True)),
            begin=both(self.begin, other.begin),
            slots=tuple(dict.fromkeys((*self.slots, *other.slots))),
        )

    def steps(self, shape: tuple[int, ...]) -> Array:
        """The byte offsets of a vector's elements along the last dimensions, from its first element."""
        if not shape:
            return _NO_STEPS
        strides = self.strides[len(self.strides) - len(shape) :]
        key = (shape, strides)
        found = _STEPS.get(key) if all(isinstance(step, int) for step in strides) else None
        if found is None:
            found = np.zeros((), np.int64)
            for size, step in zip(shape, strides, strict=True):
                found = found[..., None] + np.arange(size) * int(step)
            found = found.reshape(-1)
            if len(_STEPS) < 4096:
                _STEPS[key] = found
        return found


_NO_STEPS = np.zeros(1, np.int64)
_STEPS: dict[Any, Array] = {}


def read(buffer: Any, first: Any, steps: Array, dtype: np.dtype[Any], mask: Array | None) -> Array:
    """Elements at `first + steps` bytes: with a leading thread dimension if `first` is an array with one number per
    thread. Threads outside a mask get zeros."""
    size = dtype.itemsize
    if isinstance(buffer, PrivateBuffer):
        lanes = len(buffer.data)
        at = (spread(first, np.dtype(np.int64), lanes)[:, None] + steps) // size
        if mask is not None:
            at = np.where(mask[:, None], at, 0)
        return np.take_along_axis(buffer.data.view(dtype), at, 1)
    if not isinstance(first, np.ndarray):
        return _elements(buffer, (first + steps), dtype)
    if mask is None or mask.all():
        return gather(buffer.data, first, steps, size).view(dtype)
    found = np.zeros((len(first), len(steps)), dtype)
    found[mask] = gather(buffer.data, first[mask], steps, size).view(dtype)
    return found


def _elements(buffer: LaneBuffer, at: Array, dtype: np.dtype[Any]) -> Array:
    size = dtype.itemsize
    if size == 1:
        return buffer.typed(dtype).take(at)
    if not np.count_nonzero(at & (size - 1)):
        return buffer.typed(dtype).take(at >> (size.bit_length() - 1))
    return buffer.data.take(at[..., None] + np.arange(size)).view(dtype)[..., 0]


def write(buffer: Any, first: Any, steps: Array, values: Array, mask: Array | None) -> None:
    """Writes elements, an array with a row per thread."""
    dtype = values.dtype
    size = dtype.itemsize
    if isinstance(buffer, PrivateBuffer):
        lanes = len(buffer.data)
        at = (spread(first, np.dtype(np.int64), lanes)[:, None] + steps) // size
        rows = np.arange(lanes)[:, None]
        found = np.broadcast_to(values, at.shape)
        if mask is not None:
            rows, at, found = rows[mask], at[mask], found[mask]
        buffer.data.view(dtype)[rows, at] = found
        return
    if not isinstance(first, np.ndarray):
        at = first + steps
        found = values[-1]
        if mask is not None and len(values) > 1:
            found = values[int(np.flatnonzero(mask)[-1])]
    else:
        found = np.broadcast_to(values, (len(first), len(steps)))
        if mask is not None:
            first, found = first[mask], found[mask]
        scatter(buffer.data, first, steps, size, np.ascontiguousarray(found).view(np.uint8))
        return
    if not np.count_nonzero(at & (size - 1)):
        buffer.typed(dtype)[at >> (size.bit_length() - 1)] = found
        return
    raw = np.ascontiguousarray(found).view(np.uint8).reshape((*at.shape, size))
    buffer.data[at[..., None] + np.arange(size)] = raw


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of contiguous elements."""
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
