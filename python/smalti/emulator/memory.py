# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory of a launch: copies of its arrays, each between poison and inaccessible pages.

An array ends at the end of its mapped memory, up to its alignment. The emulator fills the gaps between and inside of the
arrays with NaN and checks them after the run. A read past an array faults or gives NaN; a write faults or is found.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import mmap
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..calling import arrays, calls
from ..errors import LaunchError
from .findings import Finding

_PAGE = mmap.PAGESIZE


@dataclass(frozen=True)
class Array:
    """An array argument."""

    index: int
    view: arrays.ArrayView
    itemsize: int
    alignment: int
    """The alignment of the address that the code assumes, in bytes."""
    writes: bool
    """Whether the kernel may write it."""
    title: str
    """Its name in messages."""
    address: Address | None = None
    """An address that the emulator writes into it."""


@dataclass(frozen=True)
class Address:
    """The address of an array inside another argument. The emulator inserts it at run time."""

    offset: int
    """In bytes."""
    of: int
    """The index of the array."""
    plus: int = 0
    """An offset that is added to it, in bytes."""


ADDRESS_BYTES = 8


class _Placed:
    """An array and its copy in the memory of a launch."""

    def __init__(self, array: Array, begin: int) -> None:
        self.array = array
        view = array.view
        self.low, high = calls.extent(view, array.itemsize)
        self.bytes = high - self.low
        self.first = view.pointer - self.low
        """The offset of the first element. Elements precede it if strides are negative."""
        room = -(-(self.bytes - self.first) // array.alignment) * array.alignment
        # The first element is aligned as required, and not to the next power of two.
        room += array.alignment if room % (2 * array.alignment) == 0 else 0
        room += self.first
        # At least a page of poison before it.
        body = (-(-room // _PAGE) + 1) * _PAGE
        self.begin = begin
        self.end = begin + body
        self.start = self.end - room
        self.strides = tuple(stride * array.itemsize for stride in view.strides)
        self._type = np.dtype(f"V{array.itemsize}")

    @property
    def is_dense(self) -> bool:
        return self.bytes == math.prod(self.array.view.shape) * self.array.itemsize

    def inside(self, memory: np.ndarray) -> np.ndarray:
        """The elements of the copy."""
        return np.ndarray(self.array.view.shape, self._type, memory.data, self.start + self.first, self.strides)

    @functools.cached_property
    def original(self) -> np.ndarray:
        """The elements of the array itself."""
        if not self.bytes:
            return np.zeros(self.array.view.shape, self._type)
        # A view that the caller cannot write is only ever read here.
        buffer: Any = (ctypes.c_char * self.bytes).from_address(self.low)
        return np.ndarray(self.array.view.shape, self._type, buffer, self.first, self.strides)

    @functools.cached_property
    def gaps(self) -> list[tuple[int, int]]:
        """The bytes between the elements of an array that has such, as offset and size in the memory."""
        if self.is_dense or not self.bytes:
            return []
        free = np.ones(self.bytes + 2, bool)
        shape = (*self.array.view.shape, self.array.itemsize)
        np.ndarray(shape, bool, free.data, 1 + self.first, (*self.strides, 1))[...] = False
        free[0] = free[-1] = False
        edges = np.flatnonzero(free[1:] != free[:-1])
        return [(self.start + int(first), int(end - first)) for first, end in zip(edges[::2], edges[1::2], strict=True)]

    def holes(self) -> Iterator[tuple[int, int]]:
        """All bytes between the guards that are not elements."""
        yield self.begin, self.start - self.begin
        yield from self.gaps
        yield self.start + self.bytes, self.end - self.start - self.bytes


class Memory:
    """The arrays of a launch in one anonymous file, which the emulator maps."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        self._placed: list[_Placed] = []
        end = _PAGE
        for array in arrays:
            placed = _Placed(array, end)
            self._placed.append(placed)
            end = placed.end + _PAGE
        self.size = end
        self.descriptor = os.memfd_create("smalti-arguments")
        try:
            os.ftruncate(self.descriptor, self.size)
            self._map = mmap.mmap(self.descriptor, self.size)
        except OSError as error:
            os.close(self.descriptor)
            raise LaunchError(
                f"cannot allocate {self.size} B of memory for the arguments of the kernel: {error.strerror}"
            ) from None
        self._bytes = np.frombuffer(self._map, np.uint8)
        for placed in self._placed:
            placed.inside(self._bytes)[...] = placed.original

    def close(self) -> None:
        """Releases the memory."""
        os.close(self.descriptor)

    def description(self) -> Iterator[str]:
        """The lines that describe the memory to the emulator."""
        yield f"memory {self.descriptor} {self.size}"
        for offset in itertools.chain((0,), (placed.end for placed in self._placed)):
            yield f"guard {offset} {_PAGE}"
        for placed in self._placed:
            # Without the type, which the title has in parentheses.
            name = placed.array.title.partition(" (")[0]
            yield f"array {placed.array.index} {placed.start} {placed.bytes} {placed.first} {name}"
            yield from (f"hole {offset} {size}" for offset, size in placed.holes() if size)
        for placed in self._placed:
            if address := placed.array.address:
                yield f"address memory {placed.start + address.offset} {self.target(address)}"

    def target(self, address: Address) -> int:
        """The target of an address."""
        of = next(placed for placed in self._placed if placed.array.index == address.of)
        return of.start + of.first + address.plus

    def findings(self) -> list[Finding]:
        """Findings for read-only arrays that have changed."""
        return [
            Finding(
                "read-only",
                f"{placed.array.title} is read-only, but the kernel changed it; pass a writable array, or remove the write",
            )
            for placed in self._placed
            if not placed.array.writes and not self._same(placed)
        ]

    def _same(self, placed: _Placed) -> bool:
        copy, original = _as_bytes(placed.inside(self._bytes)), _as_bytes(placed.original)
        if address := placed.array.address:
            there = slice(address.offset, address.offset + ADDRESS_BYTES)
            copy = copy.copy()
            copy[there] = original[there]
        return np.array_equal(copy, original)

    def copy_back(self) -> None:
        """Copies the results to the arrays of the caller."""
        for placed in self._placed:
            if placed.array.writes:
                placed.original[...] = placed.inside(self._bytes)


def _as_bytes(elements: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(elements).reshape(-1).view(np.uint8)
