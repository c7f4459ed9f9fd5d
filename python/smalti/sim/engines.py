"""What happens beside the program: copies, and products of the tensor core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import TargetError
from .clocks import Knowledge
from .findings import Finding
from .machine import Group
from .matmul import multiply
from .memory import Array, MemRef, Registers, fill, poison
from .synchronisation import Mbarrier, Stream
from .timeline import Recorder


def start(
    group: Group, work: Copy | Product | TensorWork, stream: Stream | None, spoils: Sequence[MemRef] = ()
) -> None:
    """Starts work, which a group of a stream holds, or the barriers that a copy tells. While it is in flight, nobody
    wants to read what it `spoils`."""
    if stream is not None:
        stream.open.append(work)
    if group.machine.recorder is not None:
        work.read, work.end = work.recorded(group, group.machine.recorder)
    if happens_at_once(group):
        work.complete()
        return
    if group.machine.how.numbers:
        for memory in spoils:
            poison(memory)
    if stream is None:
        group.block.flights.append(work)


def happens_at_once(group: Any) -> bool:
    """Whether what is started now happens at once."""
    machine = group.machine
    if machine.chance is not None:
        return machine.chance.random() < 0.3
    return machine.how.completion == "early"


class Copy:
    """A copy that was started."""

    __slots__ = ("barriers", "combine", "done", "end", "fills", "group", "moves", "numbers", "read", "site", "size")

    def __init__(
        self,
        group: Group,
        moves: Sequence[tuple[MemRef, MemRef]],
        site: Any,
        *,
        fills: Sequence[tuple[MemRef, int]] = (),
        combine: Any = None,
        barriers: Sequence[Mbarrier] = (),
        size: int = 0,
    ) -> None:
        self.group = group
        self.moves = moves
        """From where to where."""
        self.fills = fills
        """Memory that is filled with a byte before."""
        self.combine = combine
        """A function of what is there and what comes, where the copy does not replace."""
        self.barriers = barriers
        """The barriers in shared memory that are told of so many bytes."""
        self.size = size
        self.site = site
        self.done = False
        self.numbers = group.machine.how.numbers
        self.read = self.end = 0.0
        """When all is read and when all is there, in a run with a timeline."""

    def recorded(self, group: Group, recorder: Recorder) -> tuple[float, float]:
        return recorder.copy(group, self.moves, self.site)

    def complete(self) -> None:
        if self.done:
            return
        self.done = True
        if self.numbers:
            for memory, byte in self.fills:
                fill(memory, byte)
            for source, destination in self.moves:
                target = destination.array()
                if self.combine is None:
                    target[...] = source.array()
                else:
                    target[...] = self.combine(target, source.array()).astype(target.dtype)
        for barrier in self.barriers:
            barrier.complete(self.size, self.end)

    def waited(self) -> None:
        """The program knows that it is done."""

    leaks = "a copy into shared memory that nothing waits for before the program ends"


class Product:
    """A product that was started."""

    __slots__ = ("a", "accumulator", "b", "end", "numbers", "read", "result", "site")

    def __init__(self, group: Group, accumulator: Any, a: Any, b: MemRef, site: Any) -> None:
        self.accumulator: Any = accumulator
        self.a: Any = a
        self.b = b
        self.site = site
        self.numbers = group.machine.how.numbers
        self.result = Registers(self)
        self.read = self.end = 0.0

    def recorded(self, group: Group, recorder: Recorder) -> tuple[float, float]:
        macs = self.a.shape[0] * self.a.shape[1] * self.b.shape[1]
        end = recorder.product(group, self.b.dtype, macs, True, self.site)
        return end, end

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


class TensorWork:
    """A product or a copy of the tensor core of Blackwell, which does what a warpgroup starts one after the other."""

    __slots__ = ("before", "done", "end", "numbers", "read", "run", "site")

    def __init__(self, group: Group, run: Callable[[], None], site: Any) -> None:
        self.run = run
        self.site = site
        self.numbers = group.machine.how.numbers
        self.done = False
        self.read = self.end = 0.0
        waiting = group.tensor.in_flight()
        self.before: TensorWork | None = waiting[-1] if waiting else None

    def recorded(self, group: Group, recorder: Recorder) -> tuple[float, float]:
        raise TargetError(f"there is no timeline of programs with {self.site.name}")

    def complete(self) -> None:
        chain: list[TensorWork] = []
        work: TensorWork | None = self
        while work is not None and not work.done:
            chain.append(work)
            work = work.before
        for work in reversed(chain):
            work.done = True
            work.before = None
            if work.numbers:
                work.run()

    def waited(self) -> None:
        """The program knows that it is done."""


class Commit:
    """An arrival on barriers when what the tensor core was told to do before is done."""

    __slots__ = ("barriers", "group", "number", "site", "stream")

    def __init__(self, group: Group, barrier: Mbarrier, site: Any) -> None:
        self.group = group
        self.stream = group.tensor
        self.stream.commit()
        self.number = self.stream.committed
        self.barriers = (barrier,)
        self.site = site

    leaks = "an arrival of the tensor core that nothing waits for before the program ends"

    def complete(self) -> None:
        # What was started first is done first.
        for flight in list(self.group.block.flights):
            if isinstance(flight, Commit) and flight.stream is self.stream and flight.number < self.number:
                self.group.block.complete(flight)
        self.stream.complete(self.number)
        told = Knowledge()
        told.seen[self.stream.agent] = told.visible[self.stream.agent] = self.number
        for barrier in self.barriers:
            if barrier.pending < 1:
                self.group.report(
                    "barrier",
                    f"the tensor core arrives on {barrier.name}, whose phase {barrier.phase} has all its arrivals",
                    self.site,
                    edge="a wait for the phase before",
                )
                continue
            barrier.arrive(1, told)


def read_registers(group: Group, registers: Registers, site: Any) -> Array:
    """The value of registers that a product writes."""
    product = registers.product
    if product is not None:
        committed = any(product in works for works in group.products.groups.values())
        edge = "nvvm.wgmma.wait.group that covers it"
        if not committed:
            edge = "nvvm.wgmma.commit.group behind the product, and " + edge
        what = "the product is started here"
        group.report(
            "accumulator",
            f"{site.name} uses the result of a product that may not be there",
            site,
            edge=edge,
            others=[Finding("accumulator", what, group.block.position, group.name, product.site.location)],
        )
        product.complete()
        registers.product = None
    assert registers.value is not None
    return registers.value
