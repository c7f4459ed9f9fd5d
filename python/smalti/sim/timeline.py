"""When things happen, by the latencies and throughputs that the target table has.

Each block has a compute unit for itself, and the unit's share of the bandwidth of global memory, which nothing caches.
The issue of instructions, addresses, barriers and bank conflicts cost nothing.
"""

from __future__ import annotations

import bisect
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .. import targets
from ..errors import TargetError
from .memory import MemRef
from .values import is_vector

Position = tuple[int, int, int]
Span = tuple[float, float]

_WORDS = {
    "memory_bandwidth": "the bandwidth of global memory",
    "global_latency": "the latency of global memory",
    "shared_latency": "the latency of shared memory",
    "shared_bytes": "the throughput of shared memory",
    "results": "the throughput of arithmetic",
    "special_results": "the throughput of special functions",
    "f16_macs": "the rate of 16-bit products",
    "tf32_macs": "the rate of tf32 products",
    "eight_bit_macs": "the rate of 8-bit products",
    "units": "the number of compute units",
    "megahertz": "the clock",
}


@dataclass(frozen=True)
class Slice:
    """Something that took time. Times are cycles since the begin of the block."""

    block: Position
    track: str
    """Who: `warpgroup 1`, `copies`, `matrix unit`."""
    kind: str
    """`wait`, `compute`, `access`, `copy` or `product`."""
    name: str
    start: float
    end: float
    place: str
    """Where in the source."""
    iteration: tuple[int, ...] = ()
    size: int = 0
    """Bytes, or multiply-accumulates of a product."""


@dataclass(frozen=True)
class Summary:
    """What a timeline shows, of all its blocks together. Times are cycles."""

    cycles: float
    """Of all blocks, one after the other."""
    matrix: float
    """In which the matrix unit worked."""
    compute: float
    """In which it or arithmetic of the warpgroups worked."""
    copies: float
    """In which a copy was in flight."""
    exposed: float
    """In which a copy was in flight while nothing computed."""
    waits: float
    """For which warpgroups waited, all added up."""

    @property
    def overlap(self) -> float:
        """The share of the copies' time in which something computed."""
        return 1 - self.exposed / self.copies if self.copies else 0.0

    @property
    def matrix_share(self) -> float:
        """The share of all time in which the matrix unit worked."""
        return self.matrix / self.cycles if self.cycles else 0.0

    def __str__(self) -> str:
        lines = [f"{self.cycles:.0f} cycles"]
        lines.append(f"matrix unit busy {100 * self.matrix_share:.1f} %")
        lines.append(f"copies in flight {self.copies:.0f} cycles, {100 * self.overlap:.1f} % of them under computation")
        lines.append(f"exposed copy latency {self.exposed:.0f} cycles")
        return ", ".join(lines)


@dataclass(frozen=True)
class Timeline:
    """What a run took on one compute unit for each block."""

    kernel: str
    target: str
    timing: targets.Timing
    slices: tuple[Slice, ...]

    @property
    def summary(self) -> Summary:
        blocks: dict[Position, list[Slice]] = {}
        for one in self.slices:
            blocks.setdefault(one.block, []).append(one)
        totals = np.zeros(6)
        for found in blocks.values():
            copies, compute = _when(found, "copy"), _when(found, "product", "compute")
            totals += [
                max(s.end for s in found),
                length(_when(found, "product")),
                length(compute),
                length(copies),
                length(copies) - length(intersection(copies, compute)),
                sum(s.end - s.start for s in found if s.kind == "wait"),
            ]
        return Summary(*totals.tolist())

    def trace(self) -> dict[str, Any]:
        """The timeline in the JSON format of Chrome's traces, which Perfetto opens. A block is a process there."""
        assert self.timing.megahertz is not None
        events: list[dict[str, Any]] = []
        blocks = sorted({s.block for s in self.slices})
        for pid, block in enumerate(blocks):
            events.append(_named("process_name", pid, 0, f"block {block}"))
            mine = [s for s in self.slices if s.block == block]
            tracks: dict[str, int] = {}
            for one, track in _lanes(mine):
                if track not in tracks:
                    tracks[track] = len(tracks)
                    events.append(_named("thread_name", pid, tracks[track], track))
                    order = {"name": "thread_sort_index", "ph": "M", "pid": pid, "tid": tracks[track]}
                    events.append({**order, "args": {"sort_index": tracks[track]}})
                start, end = one.start / self.timing.megahertz, one.end / self.timing.megahertz
                unit = "macs" if one.kind == "product" else "bytes"
                arguments = {"place": one.place, "cycles": round(one.end - one.start, 3)}
                if one.iteration:
                    arguments["iteration"] = list(one.iteration)
                if one.size:
                    arguments[unit] = one.size
                events.append(
                    {
                        "name": one.name,
                        "cat": one.kind,
                        "ph": "X",
                        "ts": round(start, 6),
                        "dur": round(end - start, 6),
                        "pid": pid,
                        "tid": tracks[track],
                        "args": arguments,
                    }
                )
        about = {"kernel": self.kernel, "target": self.target, "product": self.timing.product}
        return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": about}

    def save(self, path: str | Path) -> None:
        """Writes the trace to a file."""
        Path(path).write_text(json.dumps(self.trace(), indent=1) + "\n", encoding="utf-8")


def _named(name: str, pid: int, tid: int, what: str) -> dict[str, Any]:
    return {"name": name, "ph": "M", "pid": pid, "tid": tid, "args": {"name": what}}


def _lanes(slices: Sequence[Slice]) -> list[tuple[Slice, str]]:
    """Slices with tracks on which they do not overlap."""
    ends: dict[str, list[float]] = {}
    found = []
    # Warpgroups first, then what is beside them.
    rank = {"copy": 1, "product": 2}
    for one in sorted(slices, key=lambda s: (rank.get(s.kind, 0), s.track, s.start, s.end)):
        lanes = ends.setdefault(one.track, [])
        lane = next((i for i, end in enumerate(lanes) if end <= one.start), len(lanes))
        if lane == len(lanes):
            lanes.append(0.0)
        lanes[lane] = one.end
        found.append((one, one.track if lane == 0 else f"{one.track} {lane + 1}"))
    return found


def _when(slices: Iterable[Slice], *kinds: str) -> list[Span]:
    """The time in which there was something of these kinds."""
    return union((s.start, s.end) for s in slices if s.kind in kinds)


def union(spans: Iterable[Span]) -> list[Span]:
    """The same time as spans that do not touch each other, in order."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def length(spans: Iterable[Span]) -> float:
    return sum(end - start for start, end in spans)


def intersection(first: Sequence[Span], second: Sequence[Span]) -> list[Span]:
    """What is in both of two unions."""
    found, i, j = [], 0, 0
    while i < len(first) and j < len(second):
        start, end = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if start < end:
            found.append((start, end))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return found


# ---------------------------------------------------------------------------------------------------------------------
# Recording
# ---------------------------------------------------------------------------------------------------------------------


class _Pipe:
    """What does one thing at a time. Warpgroups ask for it in any order."""

    def __init__(self) -> None:
        self._starts: list[float] = []
        self._ends: list[float] = []

    def take(self, at: float, time: float) -> float:
        """The first moment from `at` on from which it is free for so long; it is taken then."""
        i = bisect.bisect_right(self._ends, at)
        while i < len(self._starts) and self._starts[i] < at + time:
            at = max(at, self._ends[i])
            i += 1
        if i and self._ends[i - 1] == at:
            self._ends[i - 1] = at + time
        else:
            self._starts.insert(i, at)
            self._ends.insert(i, at + time)
        return at


@dataclass
class _Unit:
    """A compute unit, which a block has for itself."""

    memory: _Pipe = field(default_factory=_Pipe)
    """Its share of the bandwidth of global memory."""
    shared: _Pipe = field(default_factory=_Pipe)
    arithmetic: _Pipe = field(default_factory=_Pipe)
    matrix: _Pipe = field(default_factory=_Pipe)


class Recorder:
    """Tells of everything that takes time when it begins and ends."""

    def __init__(self, timing: targets.Timing, target: str) -> None:
        self.timing = timing
        self.target = target
        self.slices: list[Slice] = []
        self._units: dict[Any, _Unit] = {}

    def _number(self, name: str) -> float:
        found = getattr(self.timing, name)
        if found is None:
            raise TargetError(
                f"the table knows nothing about {_WORDS[name]} of {self.target} ({self.timing.product}): there is no "
                "timeline of this program"
            )
        return found

    def _unit(self, group: Any) -> _Unit:
        return self._units.setdefault(group.block, _Unit())

    def _bytes_of_global_memory(self) -> float:
        """Per cycle, what a unit has when all of them copy."""
        return self._number("memory_bandwidth") * 1000 / self._number("megahertz") / self._number("units")

    def _add(
        self, group: Any, kind: str, track: str, name: str, start: float, end: float, site: Any, size: int
    ) -> None:
        if end > start:
            place = str(site.location) if site.location is not None else ""
            iteration = tuple(group.loops)
            self.slices.append(Slice(group.block.position, track, kind, name, start, end, place, iteration, size))

    def wait(self, group: Any, until: float, site: Any) -> None:
        """The group goes on at this moment."""
        self._add(group, "wait", group.name, f"wait: {site.name}", group.now, until, site, 0)
        group.now = max(group.now, until)

    def access(self, group: Any, memory: MemRef, write: bool, what: str, site: Any) -> None:
        """The threads read or write memory themselves."""
        unit, size = self._unit(group), bytes_of(memory)
        # All of them go the way on which shared memory is, too.
        time = size / self._number("shared_bytes")
        end = unit.shared.take(group.now, time) + time
        if not memory.buffer.shared:
            time = size / self._bytes_of_global_memory()
            begin = unit.memory.take(group.now, time)
            if not write:
                end = max(end, begin + time + self._number("global_latency"))
        elif not write:
            end += self._number("shared_latency")
        verb = "writes" if write else "reads"
        space = "shared" if memory.buffer.shared else "global"
        self._add(group, "access", group.name, f"{what} {verb} {space} memory", group.now, end, site, size)
        group.now = end

    def compute(self, group: Any, special: bool, results: int, site: Any) -> None:
        """Arithmetic of the threads."""
        time = results / self._number("special_results" if special else "results")
        begin = self._unit(group).arithmetic.take(group.now, time)
        self._add(group, "compute", group.name, site.name, begin, begin + time, site, 0)
        group.now = begin + time

    def product(self, group: Any, dtype: np.dtype[Any], macs: int, tf32: bool, site: Any) -> float:
        """The matrix unit multiplies. Returns when it is done."""
        if dtype.itemsize == 4 and not tf32:
            rate = self._number("results")
        else:
            rate = self._number({1: "eight_bit_macs", 2: "f16_macs"}.get(dtype.itemsize, "tf32_macs"))
        time = macs / rate
        begin = self._unit(group).matrix.take(group.now, time)
        self._add(group, "product", "matrix unit", f"{site.name}, {group.name}", begin, begin + time, site, macs)
        return begin + time

    def copy(self, group: Any, moves: Sequence[tuple[MemRef, MemRef]], site: Any) -> tuple[float, float]:
        """A copy beside the program. Returns when all is read, and when all is there."""
        # What goes to several blocks is fetched once.
        size = sum(bytes_of(source) for source in {id(source): source for source, _ in moves}.values())
        if not size:
            return group.now, group.now
        time = size / self._bytes_of_global_memory()
        read = self._unit(group).memory.take(group.now, time) + time
        end = read + self._number("global_latency")
        into = all(target.buffer.shared for _, target in moves)
        track = "copies into shared memory" if into else "copies out of shared memory"
        self._add(group, "copy", track, site.name, group.now, end, site, size)
        return read, end


def bytes_of(memory: MemRef) -> int:
    count = memory.dtype.itemsize
    for size in memory.shape:
        count *= size
    return count


def arithmetic(op: Any) -> tuple[bool, int] | None:
    """Whether an operation is arithmetic on a vector, of special functions, and how many results it computes."""
    dialect, _, name = op.name.partition(".")
    if dialect not in ("arith", "math", "vector") or name == "constant":
        return None
    if dialect == "vector" and "reduction" not in name:
        return None
    sizes = [int(np.prod(v.type.shape)) for v in (*op.results, *op.operands) if is_vector(v.type)]
    simple = ("abs", "fma", "floor", "ceil", "trunc", "round", "copysign", "ct")
    special = name == "divf" or (dialect == "math" and not name.startswith(simple))
    return (special, max(sizes)) if sizes else None
