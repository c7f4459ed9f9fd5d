# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of operations, from the latencies and throughputs of the target table.

Each block has a compute unit and an equal share of the bandwidth of global memory, without caches. Instruction issue,
addresses, barriers and bank conflicts take no time.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ... import targets
from ...errors import TargetError
from .findings import Site
from .state import Actor
from .timeline import Slice
from .values import is_vector

_WORDS = {
    "memory_bandwidth": "the bandwidth of global memory",
    "global_latency": "the latency of global memory",
    "shared_latency": "the latency of shared memory",
    "shared_bytes": "the throughput of shared memory",
    "results": "the throughput of arithmetic",
    "special_results": "the throughput of special functions",
    "f16_macs": "the 16-bit matmul rate",
    "tf32_macs": "the tf32 matmul rate",
    "eight_bit_macs": "the 8-bit matmul rate",
    "units": "the number of compute units",
    "megahertz": "the clock rate",
    "parts": "the number of partitions of a compute unit",
}

_RATES = {"f16": "f16_macs", "bf16": "f16_macs", "tf32": "tf32_macs", "i8": "eight_bit_macs"}
_RATES |= {"f8E4M3FN": "eight_bit_macs", "f8E5M2": "eight_bit_macs"}
"""Fields of `targets.Timing`, by the type of the operands."""


class _Pipe:
    """A resource with one user at a time. Warps request it in any order."""

    def __init__(self) -> None:
        self._starts: list[float] = []
        self._ends: list[float] = []

    def free(self, at: float, time: float) -> float:
        """The first time from `at` on at which it is free for this duration."""
        i = bisect.bisect_right(self._ends, at)
        while i < len(self._starts) and self._starts[i] < at + time:
            at = max(at, self._ends[i])
            i += 1
        return at

    def take(self, at: float, time: float) -> float:
        """Reserves it at that time, and returns the time."""
        at = self.free(at, time)
        i = bisect.bisect_right(self._ends, at)
        if i and self._ends[i - 1] == at:
            self._ends[i - 1] = at + time
        else:
            self._starts.insert(i, at)
            self._ends.insert(i, at + time)
        return at


def _take(pipes: Sequence[_Pipe], at: float, time: float) -> float:
    """The first time at which all of them are free."""
    while any((later := pipe.free(at, time)) > at for pipe in pipes):
        at = later
    for pipe in pipes:
        pipe.take(at, time)
    return at


@dataclass
class _Unit:
    """A compute unit with one block."""

    memory: _Pipe = field(default_factory=_Pipe)
    """Its share of the bandwidth of global memory."""
    shared: _Pipe = field(default_factory=_Pipe)
    arithmetic: list[_Pipe] = field(default_factory=list)
    """One per partition."""
    matrix: list[_Pipe] = field(default_factory=list)


class Recorder:
    """Records the start and the end of everything that takes time, for each warpgroup or warp."""

    def __init__(self, target: targets.Target, timing: targets.Timing) -> None:
        self.target = target
        self.timing = timing
        self.slices: list[Slice] = []
        self._units: dict[Any, _Unit] = {}
        self._last: dict[Any, int] = {}
        """The last slices, which a directly following one may extend."""

    def unknown(self, what: str) -> TargetError:
        """The error for a value that the target table does not have."""
        return TargetError(
            f"no timeline: the target table does not contain {what} of {self.target.chip} ({self.timing.product}); choose another target"
        )

    def _number(self, name: str) -> float:
        found = getattr(self.timing, name)
        if found is None:
            raise self.unknown(_WORDS[name])
        return found

    def _unit(self, agent: Actor) -> _Unit:
        return self._units.setdefault(agent.block, _Unit())

    def _all_parts(self, pipes: list[_Pipe]) -> list[_Pipe]:
        if not pipes:
            pipes += [_Pipe() for _ in range(self.timing.parts or 1)]
        return pipes

    def _parts(self, pipes: list[_Pipe], agent: Actor) -> list[_Pipe]:
        """The resources of a warpgroup or warp: warps are distributed across the partitions of a unit in turn."""
        found = self._all_parts(pipes)
        return found if agent.warp_index is None else [found[agent.warp_index % int(self._number("parts"))]]

    def _bytes_of_global_memory(self) -> float:
        """Bytes per cycle of a unit when all units copy."""
        return self._number("memory_bandwidth") * 1000 / self._number("megahertz") / self._number("units")

    def _add(
        self,
        agent: Actor,
        kind: str,
        track: str,
        name: str,
        span: tuple[float, float],
        site: Site,
        size: int,
        share: float = 1.0,
        key: Any = None,
    ) -> None:
        """Records a slice. It extends a slice with the same key that ends where it starts."""
        start, end = span
        if end <= start:
            return
        iteration = tuple(agent.loops)
        if key is not None:
            key = (agent.block, kind, track, name, iteration, key)
            number = self._last.get(key)
            if number is not None and self.slices[number].start <= start <= self.slices[number].end:
                before = self.slices[number]
                self.slices[number] = replace(before, end=max(end, before.end), size=before.size + size)
                return
            self._last[key] = len(self.slices)
        place = str(site.location) if site.location is not None else ""
        self.slices.append(Slice(agent.block.position, track, kind, name, start, end, place, iteration, size, share))

    def busy(self, agent: Actor, until: float, kind: str, name: str, site: Site, size: int = 0) -> None:
        """The agent continues at this time."""
        self._add(agent, kind, agent.name, name, (agent.now, until), site, size)
        agent.now = max(agent.now, until)

    def wait(self, agent: Actor, until: float, site: Site) -> None:
        """The agent waits until this time."""
        self.busy(agent, until, "wait", f"wait: {site.name}", site)

    def access(self, agent: Actor, size: int, shared: bool, write: bool, site: Site) -> tuple[float, float]:
        """A memory access by threads. Returns when it starts, and when a read is complete or a write is issued."""
        unit = self._unit(agent)
        # All accesses use the path to shared memory.
        time = size / self._number("shared_bytes")
        first = unit.shared.take(agent.now, time)
        end = first + time
        if not shared:
            time = size / self._bytes_of_global_memory()
            begin = unit.memory.take(agent.now, time)
            if not write:
                end = max(end, begin + time + self._number("global_latency"))
                track, span = "loads from global memory", (agent.now, end)
                self._add(
                    agent, "load", track, site.name, span, site, size, key=None if agent.warp_index is None else "load"
                )
        elif not write:
            end += self._number("shared_latency")
        return first, end

    def compute(self, agent: Actor, special: bool, results: int, site: Site) -> None:
        """Arithmetic of the threads."""
        unit = self._unit(agent)
        parts = self._parts(unit.arithmetic, agent)
        share = len(parts) / len(unit.arithmetic)
        time = results / (share * self._number("special_results" if special else "results"))
        begin = _take(parts, agent.now, time)
        self._add(agent, "compute", agent.name, site.name, (begin, begin + time), site, 0, key=agent.warp_index)
        agent.now = begin + time

    def mma(self, agent: Actor, element: str, macs: int, site: Site) -> float:
        """A warp, or a warpgroup through instructions of its warps, issues an MMA, and continues when the MMA starts.
        Returns when it is complete."""
        mmas = [mma for mma in self.target.mmas if mma.kind != "fma" and mma.a == element]
        known = max((mma.macs_per_cycle for mma in mmas if mma.macs_per_cycle is not None), default=None)
        if not mmas and element == "f32":
            rate = self._number("results")
        elif known is None:
            raise self.unknown(f"the rate of MMA instructions for {element}")
        else:
            quoted = getattr(self.timing, _RATES[element]) if element in _RATES else None
            rate = min(known, quoted or known)
        unit = self._unit(agent)
        parts = self._parts(unit.matrix, agent)
        share = len(parts) / len(unit.matrix)
        time = macs / (share * rate)
        begin = _take(parts, agent.now, time)
        track = "matrix unit"
        if agent.warp_index is not None:
            track = f"{track}, partition {agent.warp_index % len(unit.matrix)}"
        name, span = f"{site.name}, {agent.name}", (begin, begin + time)
        self._add(agent, "mma", track, name, span, site, macs, share, key=agent.warp_index)
        agent.now = begin
        return begin + time

    def asynchronous_matmul(self, agent: Actor, who: str, size: int, macs: int, site: Site) -> float:
        """An asynchronous MMA on the whole matrix unit, with elements of this many bytes. Returns when it is
        complete."""
        unit = self._unit(agent)
        time = macs / self._number({1: "eight_bit_macs", 2: "f16_macs"}.get(size, "tf32_macs"))
        begin = _take(self._all_parts(unit.matrix), agent.now, time)
        self._add(agent, "mma", "matrix unit", f"{site.name}, {who}", (begin, begin + time), site, macs)
        return begin + time

    def copy(self, agent: Actor, size: int, into: bool, site: Site, key: Any = None) -> tuple[float, float]:
        """An asynchronous copy into or out of shared memory. Returns when all reads and when all writes are
        complete."""
        if not size:
            return agent.now, agent.now
        time = size / self._bytes_of_global_memory()
        read = self._unit(agent).memory.take(agent.now, time) + time
        end = read + self._number("global_latency")
        track = "copies into shared memory" if into else "copies out of shared memory"
        self._add(agent, "copy", track, site.name, (agent.now, end), site, size, key=key)
        return read, end


def words_of_access(what: str, write: bool, shared: bool) -> str:
    """The name of an access."""
    return f"{what} {'writes' if write else 'reads'} {'shared' if shared else 'global'} memory"


def arithmetic(op: Any) -> tuple[bool, int] | None:
    """Whether an op is vector arithmetic, whether it is a special function, and how many results it computes."""
    dialect, _, name = op.name.partition(".")
    if dialect not in ("arith", "math", "vector") or name == "constant":
        return None
    if dialect == "vector" and "reduction" not in name:
        return None
    sizes = [int(np.prod(v.type.shape)) for v in (*op.results, *op.operands) if is_vector(v.type)]
    simple = ("abs", "fma", "floor", "ceil", "trunc", "round", "copysign", "ct")
    special = name == "divf" or (dialect == "math" and not name.startswith(simple))
    return (special, max(sizes)) if sizes else None
