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
"""The number of what comes before the constants of the program, among buffers that are SPACING apart."""
SHARED_BEGIN = 1 << 60
"""The address of shared memory among those of global memory."""
PRIVATE_BEGIN = 1 << 61
"""The same of the first memory that each thread has for itself; others follow SPACING apart."""
BLOCK_BITS = 24
"""In an address of the shared memory of a cluster, the bits ahead of those that say which block's it is: 0 for one's
own, or the number of the block in the cluster and 1."""
NAMED_BARRIERS, NAMED_BARRIER_BYTES, MOST_NAMED_BARRIERS = 1 << 32, 16, 16
"""The first of the pointers that name barriers of AMD's chips, how far apart they are, and how many a block has."""
PAD = 16
"""Buffers are as long as a multiple of it, so that they can be seen as elements of any type."""


class LaneBuffer(Buffer):
    """A piece of memory that threads share."""

    __slots__ = ("_typed", "address", "kinds", "lanes", "places", "size", "tables", "threads")

    def __init__(self, name: str, size: int, grain: int, shared: bool, read_only: bool = False, fill: int = 0) -> None:
        length = -(-size // PAD) * PAD
        # Of zeros that nobody touches there is no memory.
        data = np.full(length, fill, np.uint8) if fill else np.zeros(length, np.uint8)
        super().__init__(name, data, grain, shared, read_only)
        self.size = size
        self.address = 0
        """The number of a pointer to it, in global memory."""
        self.threads: Array | None = None
        """For each grain the thread that wrote it last, in its block."""
        self.lanes: Array | None = None
        """For each grain the lanes that wrote it last together, as bits."""
        self.tables: dict[str, Any] = {}
        """Who accessed what, besides the last write (`shadow.Table`)."""
        self.kinds: set[tuple[int, int]] = set()
        """Scopes and sizes of atomic accesses."""
        self.places: dict[int, list[Any]] = {}
        """By bytes, what those learn who read what atomic accesses wrote there."""
        self._typed: dict[np.dtype[Any], Array] = {}

    def typed(self, dtype: np.dtype[Any]) -> Array:
        """All of it as elements of a type."""
        found = self._typed.get(dtype)
        if found is None:
            found = self._typed[dtype] = self.data.view(dtype)
        return found


class PrivateBuffer:
    """Memory that every thread has for itself (`memref.alloca`)."""

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
    """A memref: a view of a buffer. Offset and strides count bytes; each is a number, or an array of one a thread."""

    buffer: Any
    offset: Any
    shape: tuple[Any, ...]
    strides: tuple[Any, ...]
    dtype: np.dtype[Any]
    limit: Any = None
    """Bytes from `begin` on behind which reads give zeros and writes do nothing; None where accesses must not go there."""
    begin: Any = 0
    """Where what it is a view of begins: from there a pointer goes, and offsets count."""
    slots: tuple[Slot, ...] = ()
    """The slots that it took of memory which has several."""

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
        """Where the elements of a vector along the last dimensions are, in bytes from its first."""
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
    """Elements at `first + steps` bytes: with the thread in front where `first` is an array of one a thread, else
    without. Threads outside of a mask get zeros."""
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
    """Writes elements, an array of a row for each thread."""
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
    """Strides of elements that follow each other."""
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
