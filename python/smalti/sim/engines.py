"""What happens beside the program: copies, and products of the tensor core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .machine import Group
from .memory import Array, MemRef, Registers
from .races import LEADER
from .synchronisation import Mbarrier

POISON = 0xFF
"""The bytes of memory that a copy will write, or that nothing was written to: NaN, or -1."""


def poison(memory: MemRef) -> None:
    """Fills memory with what nobody wants to read."""
    shape, strides = (*memory.shape, memory.dtype.itemsize), (*memory.strides, 1)
    np.ndarray(shape, np.uint8, memory.buffer.data, memory.offset, strides)[...] = POISON


def happens_at_issue(group: Group) -> bool:
    """Whether what is started now happens at once."""
    machine = group.machine
    if machine.chance is not None:
        return machine.chance.random() < 0.3
    return machine.how.completion == "early"


# ---------------------------------------------------------------------------------------------------------------------
# Windows
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Window:
    """A box of an array in global memory, and the same box of what it is copied to or from."""

    inside: MemRef | None
    """The part of the box that is in the array; None where nothing is."""
    place: tuple[Any, ...]
    """Where that part is in the other memory: an index of its array."""
    complete: bool
    """Whether nothing of the box is outside."""


def window(memory: MemRef, starts: list[int], lengths: list[int]) -> Window:
    """The box of `memory` that begins at `starts`; a dimension of length -1 is one long and is dropped."""
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
            strides.append(step)
            place.append(slice(low - start, high - start))
    inside = MemRef(memory.buffer, offset, tuple(shape), tuple(strides), memory.dtype, memory.outside)
    return Window(inside, tuple(place), complete)


def part(memory: MemRef, place: tuple[Any, ...]) -> MemRef:
    """The box of memory that slices say."""
    offset = memory.offset
    shape = []
    for piece, step in zip(place, memory.strides, strict=True):
        offset += piece.start * step
        shape.append(piece.stop - piece.start)
    return MemRef(memory.buffer, offset, tuple(shape), memory.strides, memory.dtype, memory.outside)


# ---------------------------------------------------------------------------------------------------------------------
# Copies into shared memory that a barrier counts
# ---------------------------------------------------------------------------------------------------------------------


class Load:
    """A copy into shared memory, of which barriers are told."""

    __slots__ = ("barriers", "bytes", "destinations", "fill", "group", "numbers", "site", "source")

    def __init__(
        self,
        group: Group,
        source: Window,
        destinations: list[MemRef],
        barriers: list[Mbarrier],
        size: int,
        fill: int,
        site: Any,
    ) -> None:
        self.group = group
        self.source = source
        self.destinations = destinations
        self.barriers = barriers
        self.bytes = size
        self.fill = fill
        self.site = site
        self.numbers = group.machine.how.numbers

    def complete(self) -> None:
        if self.numbers:
            for destination in self.destinations:
                target = destination.array()
                if not self.source.complete:
                    if self.fill:
                        target[...] = 0
                    else:
                        poison(destination)
                if self.source.inside is not None:
                    target[self.source.place] = self.source.inside.array()
        for barrier in self.barriers:
            barrier.complete(self.bytes)


# ---------------------------------------------------------------------------------------------------------------------
# Copies out of shared memory, and copies in groups
# ---------------------------------------------------------------------------------------------------------------------


class Copy:
    """A copy that a group of copies holds."""

    __slots__ = ("combine", "destination", "done", "numbers", "site", "source", "zero")

    def __init__(
        self, group: Group, source: MemRef | None, destination: MemRef, site: Any, combine: Any = None, zero: Any = None
    ) -> None:
        self.source = source
        self.destination = destination
        self.combine = combine
        """A function of what is there and what comes, where the copy does not replace."""
        self.zero = zero
        """Memory that is filled with zeros before."""
        self.site = site
        self.done = False
        self.numbers = group.machine.how.numbers

    def complete(self) -> None:
        if self.done:
            return
        self.done = True
        if not self.numbers:
            return
        if self.zero is not None:
            self.zero.array()[...] = 0
        if self.source is None:
            return
        target = self.destination.array()
        if self.combine is None:
            target[...] = self.source.array()
        else:
            target[...] = self.combine(target, self.source.array()).astype(target.dtype)

    def waited(self) -> None:
        """The program knows that it is done."""


# ---------------------------------------------------------------------------------------------------------------------
# Products
# ---------------------------------------------------------------------------------------------------------------------


def to_float(array: Array) -> Array:
    """Elements of a narrower type as float32, exactly."""
    if array.dtype.name == "bfloat16":
        return (np.ascontiguousarray(array).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32)


_SMALL = 1 << 18
"""Products of numbers up to which OpenBLAS starts no threads, which cost more than they give in products so small."""


def _matmul(a: Array, b: Array) -> Array:
    rows, columns = a.shape[0], b.shape[1]
    step = max(1, _SMALL // max(1, a.shape[1] * columns))
    found = np.empty((rows, columns), a.dtype)
    for first in range(0, rows, step):
        np.matmul(a[first : first + step], b, out=found[first : first + step])
    return found


def multiply(accumulator: Array, a: Array, b: Array, tf32: bool = False) -> Array:
    """`accumulator + a @ b`, in the accumulator's type: integers wrap, floats are added up in float32."""
    if accumulator.dtype.kind == "i":
        product = _matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64)
        return (accumulator.astype(np.int64) + product).astype(accumulator.dtype)
    left, right = to_float(a), to_float(b)
    if tf32:
        left, right = _tf32(left), _tf32(right)
    with np.errstate(all="ignore"):
        result = _matmul(left, right)
        result += accumulator
        return result.astype(accumulator.dtype, copy=False)


def _tf32(array: Array) -> Array:
    """What the tensor core sees of 32-bit numbers: their upper 19 bits."""
    return (np.ascontiguousarray(array).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


class Product:
    """A product that was started."""

    __slots__ = ("a", "accumulator", "b", "numbers", "result", "site")

    def __init__(self, group: Group, accumulator: Any, a: Any, b: MemRef, site: Any) -> None:
        self.accumulator: Any = accumulator
        self.a: Any = a
        self.b = b
        self.site = site
        self.numbers = group.machine.how.numbers
        self.result = Registers(self)

    def complete(self) -> None:
        if self.result.value is not None:
            return
        accumulator: Any = self.accumulator
        if accumulator.__class__ is Registers:
            if accumulator.value is None:
                accumulator.product.complete()
            accumulator = accumulator.value
        if self.numbers:
            a = self.a.array() if self.a.__class__ is MemRef else self.a
            b = self.b.array()
            accumulator = multiply(accumulator, a, b, tf32=a.dtype == np.float32)
        self.result.value = accumulator
        self.accumulator = self.a = None

    def waited(self) -> None:
        """The program knows that it is done."""
        self.result.product = None


def read_registers(group: Group, registers: Registers, site: Any) -> Array:
    """The value of registers that a product writes."""
    product = registers.product
    if product is not None:
        committed = any(product in works for works in group.products.groups.values())
        edge = "nvvm.wgmma.wait.group that covers it"
        if not committed:
            edge = "nvvm.wgmma.commit.group behind the product, and " + edge
        group.report(
            "accumulator",
            f"{site.name} uses the result of a product that may not be there",
            site,
            edge=edge,
            others=[_started(group, product)],
        )
        product.complete()
        registers.product = None
    assert registers.value is not None
    return registers.value


def _started(group: Group, work: Any) -> Any:
    from .findings import Finding

    return Finding("accumulator", "the product is started here", group.block.position, group.name, work.site.location)


__all__ = ["LEADER", "Copy", "Load", "Product", "Window", "multiply", "part", "read_registers", "window"]
