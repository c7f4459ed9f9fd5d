# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Timelines: a summary of a run, and a trace for viewers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ... import files, targets

Position = tuple[int, int, int]
Span = tuple[float, float]


@dataclass(frozen=True)
class Slice:
    """Something that took time. Times are cycles since the start of the block."""

    block: Position
    track: str
    """The track: `warpgroup 1`, `warp 3`, `copies into shared memory`, `matrix unit`."""
    kind: str
    """`wait`, `compute`, `access`, `load`, `copy` or `mma`."""
    name: str
    start: float
    end: float
    place: str
    """The source location."""
    iteration: tuple[int, ...] = ()
    size: int = 0
    """Bytes, or multiply-accumulates of an MMA."""
    share: float = 1.0
    """The used share of the unit: a matrix unit has partitions, and a warp uses one."""


@dataclass(frozen=True)
class Summary:
    """The summary of a timeline over all its blocks. Times are cycles."""

    cycles: float
    """The sum over all blocks."""
    matrix: float
    """With the whole matrix unit busy."""
    compute: float
    """With a partition of the matrix unit, or arithmetic of the threads, busy."""
    copies: float
    """With a copy or a load from global memory in flight."""
    exposed: float
    """With a copy or load in flight and no computation."""
    waits: float
    """The sum of the waits of all warpgroups, or of all warps at thread level."""

    @property
    def overlap(self) -> float:
        """The share of the copy time that overlaps with computation."""
        return 1 - self.exposed / self.copies if self.copies else 0.0

    @property
    def matrix_share(self) -> float:
        """The share of the time in which the matrix unit was busy."""
        return self.matrix / self.cycles if self.cycles else 0.0

    def __str__(self) -> str:
        lines = [f"{self.cycles:.0f} cycles"]
        lines.append(f"matrix unit busy for {100 * self.matrix_share:.1f} %")
        in_flight = f"copies and loads in flight for {self.copies:.0f} cycles"
        lines.append(f"{in_flight}, {100 * self.overlap:.1f} % of them overlapped with computation")
        lines.append(f"exposed latency {self.exposed:.0f} cycles")
        return ", ".join(lines)


@dataclass(frozen=True)
class Timeline:
    """The timeline of a run with one compute unit per block."""

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
            copies, compute = _when(found, "copy", "load"), _when(found, "mma", "compute")
            totals += [
                max(s.end for s in found),
                sum(s.share * (s.end - s.start) for s in found if s.kind == "mma"),
                length(compute),
                length(copies),
                length(copies) - length(intersection(copies, compute)),
                sum(s.end - s.start for s in found if s.kind == "wait"),
            ]
        return Summary(*totals.tolist())

    def trace(self) -> dict[str, Any]:
        """The timeline in the JSON format of Chrome traces, which Perfetto opens. Each block is a process."""
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
                unit = "macs" if one.kind == "mma" else "bytes"
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
        files.write(path, json.dumps(self.trace(), indent=1) + "\n")


def _named(name: str, pid: int, tid: int, what: str) -> dict[str, Any]:
    return {"name": name, "ph": "M", "pid": pid, "tid": tid, "args": {"name": what}}


def _lanes(slices: Sequence[Slice]) -> list[tuple[Slice, str]]:
    """Slices with tracks on which they do not overlap."""
    ends: dict[str, list[float]] = {}
    found = []
    # Warpgroups first, then asynchronous operations.
    rank = {"load": 1, "copy": 1, "mma": 2}
    for one in sorted(slices, key=lambda s: (rank.get(s.kind, 0), s.track, s.start, s.end)):
        lanes = ends.setdefault(one.track, [])
        lane = next((i for i, end in enumerate(lanes) if end <= one.start), len(lanes))
        if lane == len(lanes):
            lanes.append(0.0)
        lanes[lane] = one.end
        found.append((one, one.track if lane == 0 else f"{one.track} {lane + 1}"))
    return found


def _when(slices: Iterable[Slice], *kinds: str) -> list[Span]:
    """The union of the times of these kinds."""
    return union((s.start, s.end) for s in slices if s.kind in kinds)


def union(spans: Iterable[Span]) -> list[Span]:
    """The same time as disjoint spans, in order."""
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
    """The intersection of two unions."""
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
