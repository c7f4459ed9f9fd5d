"""What happens beside a program of threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..findings import Finding
from ..memory import POISON
from .lanes import Array, spread
from .shadow import iteration_of


class Work:
    """Asynchronous work that lanes of a team started."""

    def __init__(self, st: Any, site: Any) -> None:
        self.site = site
        self.block, self.machine = st.block, st.machine
        self.threads: Array = st.threads
        self.loops = tuple(st.loops)
        self.numbers: bool = st.machine.how.numbers

    def leaks(self, what: str, edge: str) -> None:
        """Reports that nothing waited for it."""
        thread = int(self.threads[0])
        self.machine.findings.add(
            Finding(
                "leak",
                f"{what} that nothing waits for before the program ends",
                self.block.position,
                self.block.name_of(thread),
                self.site.location,
                iteration_of(self.loops, self.threads, thread),
                (),
                edge,
            )
        )


class LaneCopy(Work):
    """A copy of some bytes by each lane. It happens warp by warp."""

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
        """The thread of each lane that copies."""
        self.first = spread(first, wide, st.lanes)[lanes]
        self.second = spread(second, wide, st.lanes)[lanes]
        self.given = spread(given, wide, st.lanes)[lanes]

    def poison(self) -> None:
        """Until it has happened, nobody wants to read its destination."""
        unit = _unit(self.size, self.second)
        self.target.typed(np.dtype(f"V{unit}" if unit > 8 else f"u{unit}"))[self._places(self.second, unit)] = (
            np.frombuffer(bytes([POISON]) * unit, f"V{unit}" if unit > 8 else f"u{unit}")[0]
        )

    def _places(self, first: Array, unit: int) -> Array:
        return (first[:, None] + np.arange(0, self.size, unit)) // unit

    def happen(self) -> None:
        """Lets it happen for all threads."""
        self.complete(None)

    def complete(self, warps: list[Any] | None) -> None:
        """Lets it happen for the threads of some warps; for those to whom it happened already it does nothing."""
        if warps is None:
            chosen = slice(None)
        else:
            which = np.isin(self.of // self.block.warp_size, [warp.index for warp in warps])
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
    """A copy that one thread started: elements from somewhere to somewhere."""

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
        self.barriers: tuple[Any, ...] = ()
        """The barriers that are told of so many bytes."""
        self.bytes = 0
        self.done = False

    def poison(self) -> None:
        """Until it has happened, nobody wants to read its destination."""
        if self.numbers:
            self._fill(POISON)

    def _fill(self, byte: int) -> None:
        width = self.kind.itemsize
        self.target.typed(self.kind)[self.to // width] = int.from_bytes(bytes([byte]) * width, "little")

    def complete(self, warps: list[Any] | None = None) -> None:
        """Lets it happen."""
        _ = warps
        if self.done:
            return
        self.done = True
        if self.numbers:
            width = self.kind.itemsize
            if not self.inside.all():
                self._fill(self.fill)
            found = self.source.typed(self.kind)[self.at[self.inside] // width]
            self.target.typed(self.kind)[self.to[self.inside] // width] = found
        for barrier in self.barriers:
            barrier.complete(self.bytes)


def _unit(size: int, first: Array) -> int:
    """Bytes that can be moved at a time."""
    unit = 16
    places = int(np.bitwise_or.reduce(first)) if first.size else 0
    while (size | places) & (unit - 1):
        unit //= 2
    return unit


def commit(st: Any, stream: str, site: Any) -> None:
    """Ends a group of work of each warp."""
    same_for_warps(st, "ends a group of copies", site)
    for warp in st.active_warps():
        st.block.commits(getattr(warp, stream), site)


def same_for_warps(st: Any, what: str, site: Any) -> None:
    """Groups are counted for warps: a thread that goes another way would count otherwise."""
    if st.mask is None:
        return
    rows = st.mask.reshape(len(st.warps), -1)
    for warp, row in zip(st.warps, rows, strict=True):
        if row.any() and int(row.sum()) != warp.threads and warp.threads > 1:
            st.stop("divergence", f"a part of {warp.name} {what}, which the simulator counts for warps", site)


def wait_for_groups(st: Any, name: str, left: int, site: Any, reads: bool = False) -> None:
    """Waits until at most so many groups of a stream are in flight: each thread knows of what it started itself, or of
    what that `reads` alone."""
    done: dict[int, tuple[Any, list[Any]]] = {}
    for warp in st.active_warps():
        stream = getattr(warp, name)
        upto = stream.committed - left
        if upto <= 0:
            continue
        agents = {stream.reads, stream.reads if reads else stream.agent}
        st.block.waits_for(stream, upto, site, agents)
        for number in sorted(n for n in stream.groups if n <= upto):
            for work in stream.groups.pop(number):
                done.setdefault(id(work), (work, []))[1].append(warp)
        stream.completed = max(stream.completed, upto)
        for agent in agents:
            warp.own[agent] = max(upto, warp.own.get(agent, 0))
    for work, warps in done.values():
        work.complete(warps)
