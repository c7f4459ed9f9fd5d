# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asynchronous operations of thread-level kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...machine.clocks import VectorClock
from ...machine.findings import Finding
from ...machine.memory import POISON
from . import timing
from .events import iteration_of
from .lanes import Array, spread


class Work:
    """An asynchronous operation that lanes issued."""

    def __init__(self, st: Any, site: Any) -> None:
        self.site = site
        self.block, self.machine = st.block, st.machine
        self.threads: Array = st.threads
        self.loops = tuple(st.loops)
        self.numbers: bool = st.machine.how.numbers
        self.barriers: tuple[Any, ...] = ()
        """The mbarriers that count its bytes."""
        self.ends: tuple[tuple[int, int], ...] = ()
        """The agents and steps that complete with it."""
        self.used: VectorClock = {}
        """The completed barrier uses at its issue."""
        self.moments: dict[int, tuple[float, float]] = {}
        """By warp, the times at which all reads and all writes are done, in a run with a timeline."""

    def tells(self, barrier: Any, warp: Any) -> None:
        """A warp issues it with an mbarrier."""
        self.barriers, self.ends = (barrier,), ((barrier.agent, barrier.phase + 1),)
        self.used = dict(warp.known.used)
        barrier.initialized.group.block.started.append(self)

    @property
    def waiting(self) -> Array:
        """The issuing threads that have not waited for it."""
        return self.threads

    def of_warp(self, warp: Any) -> Array:
        """Those of a warp."""
        return self.waiting[self.waiting // self.block.warp_size == warp.index]

    def waited_by(self, threads: Array) -> None:
        """Some threads waited for it."""
        raise NotImplementedError

    def leaks(self, what: str, hint: str) -> None:
        """Reports that no wait covers it."""
        thread = int(self.threads[0])
        self.machine.findings.add(
            Finding(
                "leak",
                f"{what} is outstanding at the end of the kernel; no wait covers it",
                self.block.position,
                agent=self.block.name_of(thread),
                location=self.site.location,
                iteration=iteration_of(self.loops, self.threads, thread),
                others=(),
                hint=hint,
            )
        )


class LaneCopy(Work):
    """A copy by each lane, executed warp by warp."""

    def __init__(
        self,
        st: Any,
        source: Any,
        first: Any,
        target: Any,
        second: Any,
        size: int,
        given: Any,
        mask: Array | None,
        site: Any,
    ) -> None:
        super().__init__(st, site)
        self.source, self.target, self.size = source, target, size
        wide = np.dtype(np.int64)
        lanes = np.arange(st.lanes) if mask is None else np.flatnonzero(mask)
        self.of: Array = st.threads[lanes]
        """The thread of each copying lane."""
        self.first = spread(first, wide, st.lanes)[lanes]
        self.second = spread(second, wide, st.lanes)[lanes]
        self.given = spread(given, wide, st.lanes)[lanes]
        self._waiting = self.of

    @property
    def waiting(self) -> Array:
        return self._waiting

    def waited_by(self, threads: Array) -> None:
        self._waiting = self._waiting[~np.isin(self._waiting, threads)]
        self._complete(np.isin(self.of, threads))

    def sizes(self) -> dict[int, int]:
        """The bytes that warps copy, by warp number."""
        of = self.of // self.block.warp_size
        return {int(index): int(self.given[of == index].sum()) for index in np.unique(of)}

    def poison(self) -> None:
        """Poisons the destination while the copy is in flight."""
        unit = _unit(self.size, self.second)
        self.target.typed(np.dtype(f"V{unit}" if unit > 8 else f"u{unit}"))[self._places(self.second, unit)] = (
            np.frombuffer(bytes([POISON]) * unit, f"V{unit}" if unit > 8 else f"u{unit}")[0]
        )

    def _places(self, first: Array, unit: int) -> Array:
        return (first[:, None] + np.arange(0, self.size, unit)) // unit

    def happen(self) -> None:
        """Executes the copy for all threads."""
        self.complete(None)

    def complete(self, warps: list[Any] | None) -> None:
        """Executes the copy for the threads of some warps, unless it was executed for them."""
        if warps is None:
            self._complete(np.ones(len(self.of), np.bool_))
        else:
            self._complete(np.isin(self.of // self.block.warp_size, [warp.index for warp in warps]))

    def _complete(self, which: Array) -> None:
        """Executes the copy for some of the remaining threads."""
        if not which.any():
            return
        chosen = slice(None) if which.all() else which
        first, second, given = self.first[chosen], self.second[chosen], self.given[chosen]
        if not self.numbers or not len(first):
            return
        if (given == self.size).all():
            unit = min(_unit(self.size, first), _unit(self.size, second))
            kind = np.dtype(f"V{unit}" if unit > 8 else f"u{unit}")
            found = self.source.typed(kind)[self._places(first, unit)]
        else:
            unit, kind = 1, np.dtype(np.uint8)
            there = np.arange(self.size) < given[:, None]
            found = self.source.data[np.where(there, first[:, None] + np.arange(self.size), 0)]
            found = np.where(there, found, 0).astype(np.uint8)
        self.target.typed(kind)[self._places(second, unit)] = found
        keep = np.ones(len(self.of), np.bool_)
        keep[chosen] = False
        self.of, self.first = self.of[keep], self.first[keep]
        self.second, self.given = self.second[keep], self.given[keep]


class BulkCopy(Work):
    """A copy that one thread issued, of elements at arbitrary offsets."""

    def __init__(
        self,
        st: Any,
        lane: int,
        source: Any,
        at: Array,
        target: Any,
        to: Array,
        width: int,
        site: Any,
        inside: Array,
        fill: int = 0,
    ) -> None:
        super().__init__(st, site)
        self.thread = int(st.threads[lane])
        self.threads = st.threads[lane : lane + 1]
        self.loops = tuple(i[lane : lane + 1] if isinstance(i, np.ndarray) else i for i in self.loops)
        self.source, self.at, self.target, self.to = source, at, target, to
        self.kind = np.dtype(f"u{width}")
        self.inside, self.fill = inside, fill
        self._waiting = self.threads
        self.combine: Any = None
        """A function of the old and the new elements, and their type, for a copy with a reduction."""
        self.bytes = 0
        """The bytes that mbarriers count."""
        self.done = False

    def poison(self) -> None:
        """Poisons the destination while the copy is in flight."""
        if self.numbers:
            self._fill(POISON)

    def _fill(self, byte: int) -> None:
        width = self.kind.itemsize
        self.target.typed(self.kind)[self.to // width] = int.from_bytes(bytes([byte]) * width, "little")

    @property
    def waiting(self) -> Array:
        return self._waiting

    def waited_by(self, threads: Array) -> None:
        if np.isin(self._waiting, threads).any():
            self._waiting = self._waiting[:0]
            self.complete()

    def complete(self, warps: list[Any] | None = None) -> None:
        """Executes the copy."""
        _ = warps
        if self.done:
            return
        self.done = True
        if self.numbers:
            width = self.kind.itemsize
            if not self.inside.all():
                self._fill(self.fill)
            found = self.source.typed(self.kind)[self.at[self.inside] // width]
            place = self.to[self.inside] // width
            if self.combine is not None:
                function, dtype = self.combine
                there = self.target.typed(dtype)
                found = function(there[place], found.view(dtype)).astype(dtype).view(self.kind)
            self.target.typed(self.kind)[place] = found
        self.at = self.to = self.inside = self.at[:0]
        for barrier in self.barriers:
            moment = max((end for _, end in self.moments.values()), default=0.0)
            barrier.complete(self.bytes, self.used, moment)

    def same(self, row: int, column: int) -> bool:
        """Whether the copy leaves a grain of its destination unchanged."""
        _ = row
        width = self.kind.itemsize
        unit = min(width, self.target.grain)
        element, part = divmod(column * unit, width)
        source, target = self.at[element] + part, self.to[element] + part
        return self.numbers and bool(
            (self.source.data[source : source + unit] == self.target.data[target : target + unit]).all()
        )


def _unit(size: int, first: Array) -> int:
    """The bytes that can be moved at once."""
    unit = 16
    places = int(np.bitwise_or.reduce(first)) if first.size else 0
    while (size | places) & (unit - 1):
        unit //= 2
    return unit


def commit(st: Any, name: str, site: Any) -> None:
    """Commits a group of each warp, with the operations that the active threads issued."""
    for warp, threads in _parts(st):
        stream = getattr(warp, name)
        if threads is None:
            st.block.commits(stream, site)
            continue
        kept = [work for work in stream.open if not np.isin(work.waiting, threads).any()]
        stream.open = [work for work in stream.open if work not in kept]
        # The other threads have one group less, which matters for waits that leave groups outstanding.
        others = any(not np.isin(work.of_warp(warp), threads).all() for work in [*stream.in_flight(), *kept])
        warp.uneven |= {name} if others else set()
        st.block.commits(stream, site)
        stream.open = kept


def _parts(st: Any) -> Iterator[tuple[Any, Array | None]]:
    """The active warps and their active threads; None for all threads."""
    if st.mask is None:
        for warp in st.warps:
            yield warp, None
        return
    rows, threads = st.mask.reshape(len(st.warps), -1), st.threads.reshape(len(st.warps), -1)
    for warp, row, numbers in zip(st.warps, rows, threads, strict=True):
        if row.any():
            yield warp, None if int(row.sum()) == st.remaining(warp) else numbers[row]


def same_for_warps(st: Any, what: str, site: Any) -> None:
    """Reports a partial warp for operations that the simulator counts per warp."""
    for warp, threads in _parts(st):
        if threads is not None:
            st.stop(
                "divergence",
                f"only some threads of {warp.name} {what}; the simulator counts groups per warp, so all threads of "
                "the warp must do so",
                site,
            )


def wait_for_groups(st: Any, name: str, left: int, site: Any, reads: bool = False) -> None:
    """Waits until at most `left` groups of a stream are outstanding. This orders the operations of a thread, or with
    `reads` their reads, before its later accesses."""
    done: dict[int, tuple[Any, list[Any]]] = {}
    for warp, threads in _parts(st):
        stream = getattr(warp, name)
        upto = stream.upto(left)
        if upto <= 0:
            continue
        if not stream.groups and not stream.open:
            warp.uneven -= {name}
        if left and name in warp.uneven:
            message = (
                f"some but not all threads of {warp.name} committed a group before this wait for at most {left} "
                "outstanding "
                "groups; the simulator counts groups per warp, so all threads must commit together"
            )
            st.stop("divergence", message, site)
        agents = {stream.reads, stream.reads if reads else stream.agent}
        st.block.waits_for(stream, upto, site, agents)
        all_over = True
        for number in sorted(n for n in stream.groups if n <= upto):
            timing.waited(warp, stream.groups[number], site, reads)
            works = stream.groups.pop(number)
            if threads is None:
                for work in works:
                    done.setdefault(id(work), (work, []))[1].append(warp)
                continue
            for work in works:
                work.waited_by(threads)
            if others := [work for work in works if work.of_warp(warp).size]:
                stream.groups[number] = others
                all_over = False
        if threads is None:
            stream.completed = max(stream.completed, upto)
        for agent in agents:
            warp.waited(agent, upto, None if all_over else threads)
    for work, warps in done.values():
        work.complete(warps)
