# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asynchronous operations at block level: copies, `wgmma` and `tcgen05`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import instructions
from ...errors import TargetError
from .clocks import join
from .findings import Finding, Site
from .machine import Group
from .memory import Array, MemRef, Registers, fill, poison
from .recorder import Recorder
from .synchronization import Mbarrier, Stream, Use


def multiply(
    accumulator: Array,
    a: Array,
    b: Array,
    tf32: bool = False,
    unsigned: tuple[bool, bool] = (False, False),
    **how: Any,
) -> Array:
    """`accumulator + a @ b` in the accumulator's type, as `instructions.matmul` defines it. 32-bit elements may count
    as tf32, and 8-bit integers as unsigned."""
    names = [instructions.type_name(array.dtype) for array in (a, b, accumulator)]
    if tf32:
        names[:2] = "tf32", "tf32"
    for operand, is_unsigned in enumerate(unsigned):
        if is_unsigned:
            names[operand] = "ui8"
    return instructions.matmul(accumulator, a, b, *names, **how)


def start(group: Group, work: Copy | Matmul | TensorWork, stream: Stream | None, spoils: Sequence[MemRef] = ()) -> None:
    """Issues an asynchronous operation to a group of a stream, or for the mbarriers of a copy. The memory in `spoils`
    is poisoned while the operation is in flight."""
    if stream is not None:
        stream.open.append(work)
    if group.machine.recorder is not None:
        work.read, work.end = work.recorded(group, group.machine.recorder)
    if isinstance(work, Copy) and stream is None:
        group.block.started.append(work)
    if completes_immediately(group):
        work.complete()
        return
    if group.machine.how.numbers:
        for memory in spoils:
            poison(memory)
    if stream is None:
        group.block.flights.append(work)


def completes_immediately(group: Any) -> bool:
    """Whether an operation that is issued now executes immediately."""
    machine = group.machine
    if machine.chance is not None:
        return machine.chance.random() < 0.3
    return machine.how.completion == "early"


class Copy:
    """An issued copy."""

    __slots__ = (
        "barriers",
        "combine",
        "done",
        "end",
        "ends",
        "fills",
        "group",
        "moves",
        "numbers",
        "read",
        "site",
        "size",
        "used",
    )

    def __init__(
        self,
        group: Group,
        moves: Sequence[tuple[MemRef, MemRef]],
        site: Site,
        *,
        fills: Sequence[tuple[MemRef, int]] = (),
        combine: Any = None,
        barriers: Sequence[Mbarrier] = (),
        size: int = 0,
    ) -> None:
        self.group = group
        self.moves = moves
        """Pairs of source and destination."""
        self.fills = fills
        """Memory that is first filled with a byte."""
        self.combine = combine
        """A function of the old and the new elements, for a copy with a reduction."""
        self.barriers = barriers
        """The mbarriers that count the bytes of the copy."""
        self.size = size
        self.used = dict(group.known.used) if barriers else {}
        self.ends = tuple((barrier.agent, barrier.phase + 1) for barrier in barriers)
        """The agents and steps that complete with the copy."""
        self.site = site
        self.done = False
        self.numbers = group.machine.how.numbers
        self.read = self.end = 0.0
        """The times at which all reads and all writes are done, in a run with a timeline."""

    def recorded(self, group: Group, recorder: Recorder) -> tuple[float, float]:
        # A multicast copy reads its source once.
        size = sum(source.size for source in {id(source): source for source, _ in self.moves}.values())
        return recorder.copy(group, size, all(target.buffer.shared for _, target in self.moves), self.site)

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
            barrier.complete(self.size, self.used, self.end)

    def waited(self) -> None:
        """The copy is known to be complete."""

    leaks = "the copy into shared memory is outstanding at the end of the kernel; no wait covers it"


class Matmul:
    """An issued `wgmma`."""

    __slots__ = ("a", "accumulator", "b", "end", "numbers", "read", "result", "site", "unsigned")

    def __init__(
        self, group: Group, accumulator: Any, a: Any, b: MemRef, unsigned: tuple[bool, bool], site: Site
    ) -> None:
        self.accumulator: Any = accumulator
        self.a: Any = a
        self.b = b
        self.unsigned = unsigned
        self.site = site
        self.numbers = group.machine.how.numbers
        self.result = Registers(self)
        self.read = self.end = 0.0

    def recorded(self, group: Group, recorder: Recorder) -> tuple[float, float]:
        macs = self.a.shape[0] * self.a.shape[1] * self.b.shape[1]
        end = recorder.asynchronous_matmul(group, group.name, self.b.dtype.itemsize, macs, self.site)
        return end, end

    def complete(self) -> None:
        if self.result.value is not None:
            return
        accumulator: Any = self.accumulator
        if accumulator.__class__ is Registers:
            if accumulator.value is None:
                accumulator.wgmma.complete()
            accumulator = accumulator.value
        if self.numbers:
            a = self.a.array() if self.a.__class__ is MemRef else self.a
            b = self.b.array()
            accumulator = multiply(accumulator, a, b, a.dtype == np.float32, self.unsigned)
        self.result.value = accumulator
        self.accumulator = self.a = None

    def waited(self) -> None:
        """The `wgmma` is known to be complete."""
        self.result.wgmma = None


class TensorWork:
    """A `tcgen05` MMA or copy. The operations of one warpgroup execute in issue order."""

    __slots__ = ("before", "done", "end", "followed", "numbers", "read", "run", "site")

    def __init__(self, group: Group, run: Callable[[], None], site: Site) -> None:
        self.followed = False
        """Whether a later operation of another thread is ordered after it, so that one completion covers both."""
        self.run = run
        self.site = site
        self.numbers = group.machine.how.numbers
        self.done = False
        self.read = self.end = 0.0
        # A wait for its completion acquires what its issue acquired.
        group.tensor.clocks.join(group.known)
        self.before: list[TensorWork] = group.tensor.in_flight()[-1:]
        for agent, stream in group.block.cluster.pipes.items():
            upto = group.tensor_known.get(agent, 0)
            if upto and stream is not group.tensor:
                works = [work for number, works in stream.groups.items() if number <= upto for work in works]
                self.before += works[-1:]
                for work in works:
                    work.followed = True
                join(group.tensor.clocks.seen, {stream.agent: upto})

    def recorded(self, group: Group, recorder: Recorder) -> tuple[float, float]:
        raise TargetError(
            f"no timeline: the simulator cannot estimate the time of '{self.site.name}', which the kernel executes"
        )

    def complete(self) -> None:
        waiting: list[TensorWork] = [self]
        while waiting:
            work = waiting[-1]
            if first := [before for before in work.before if not before.done]:
                waiting += first
                continue
            waiting.pop()
            work.before = []
            if not work.done:
                work.done = True
                if work.numbers:
                    work.run()

    def waited(self) -> None:
        """The operation is known to be complete."""


class Commit:
    """A `tcgen05` commit: an arrival on mbarriers when the earlier operations are complete."""

    __slots__ = ("barriers", "ends", "group", "number", "published", "site", "stream", "use")

    def __init__(self, group: Group, barriers: Sequence[Mbarrier], site: Site) -> None:
        self.group = group
        self.stream = group.tensor
        self.stream.commit()
        self.number = self.stream.committed
        self.published = self.stream.clocks.copy()
        agent = self.stream.agent
        self.published.seen[agent] = self.published.visible[agent] = self.published.visible[-agent] = self.number
        self.published.used = {**group.known.used, agent: self.number}
        self.barriers = tuple(barriers)
        self.site = site
        self.use = Use(group, 0, site)
        self.ends = ((self.stream.agent, self.number),)
        group.block.started.append(self)

    leaks = "the tcgen05 commit is outstanding at the end of the kernel; no wait covers its mbarrier arrival"

    def complete(self) -> None:
        # Operations complete in issue order.
        for flight in list(self.group.block.flights):
            if isinstance(flight, Commit) and flight.stream is self.stream and flight.number < self.number:
                self.group.block.complete(flight)
        self.stream.complete(self.number)
        for barrier in self.barriers:
            if barrier.pending < 1:
                self.group.report(
                    "barrier",
                    f"too many arrivals: the tensor core arrives on {barrier.name}, and phase {barrier.phase} already "
                    "has all its arrivals",
                    self.site,
                    hint="wait for the previous phase before the commit, or initialize the mbarrier with a larger count",
                )
                continue
            barrier.last = self.use
            barrier.arrive(1, self.published)


def read_registers(group: Group, registers: Registers, site: Site) -> Array:
    """The value of registers that a `wgmma` writes."""
    wgmma = registers.wgmma
    if wgmma is not None:
        committed = any(wgmma in works for works in group.wgmmas.groups.values())
        hint = "wait for the wgmma with nvvm.wgmma.wait.group before the result is used"
        if not committed:
            hint = "commit the wgmma with nvvm.wgmma.commit.group, and " + hint
        what = "the wgmma is issued here"
        group.report(
            "accumulator",
            f"{site.name} uses the result of a wgmma that may be in flight",
            site,
            hint=hint,
            others=[Finding("accumulator", what, group.block.position, agent=group.name, location=wgmma.site.location)],
        )
        wgmma.complete()
        registers.wgmma = None
    assert registers.value is not None
    return registers.value
