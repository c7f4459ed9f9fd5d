# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wait counters of AMD waves: memory accesses and copies to LDS.

A store to or load from LDS is ordered for other waves after a wait of its wave (`dscnt`, `lgkmcnt`) and a barrier. The same
holds for loads and stores of global memory. Block barriers wait for what their documentation states, and `s_barrier`
for nothing. For accesses only a wait for 0 counts, because compilers merge and move accesses. Copies are counted one by one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import timing

DS, LOAD, STORE = "ds", "load", "store"
"""LDS accesses, global loads and global stores."""
COPY, ASYNC, TENSOR = "copy", "async", "tensor"
"""Copies to LDS with vmcnt, copies with asynccnt, tile copies with tensorcnt."""

_EDGES = {
    DS: ("the LDS access", "amdgpu.lds_barrier, or amdgpu.memory_counter_wait ds(0)"),
    LOAD: ("the load", "gpu.barrier, or amdgpu.memory_counter_wait load(0)"),
    STORE: ("the store", "gpu.barrier, or amdgpu.memory_counter_wait store(0)"),
    COPY: ("the copy to LDS", "amdgpu.memory_counter_wait load(N), or s_waitcnt vmcnt(N)"),
    ASYNC: ("the copy to LDS", "rocdl.s.wait.asynccnt"),
    TENSOR: ("the tile copy", "amdgpu.memory_counter_wait tensor(N), or rocdl.s.wait.tensorcnt"),
}


class Counter:
    """One wait counter of a wave."""

    def __init__(self, warp: Any, kind: str) -> None:
        self.kind = kind
        self.what, self.hint = _EDGES[kind]
        self.agent: int = warp.block.new_agent(warp)
        self.issued = 0
        """The number of issued operations; accesses between two waits count as one."""
        self.completed = 0
        """The number of operations that completed waits of the wave cover."""
        self.told = 0
        """The number of operations that are ordered for other waves, which observed them in program order."""
        self.works: deque[tuple[int, Any]] = deque()
        self.moment = 0.0
        """The time at which all accesses are complete, in a run with a timeline."""

    @property
    def is_of_accesses(self) -> bool:
        return self.kind in (DS, LOAD, STORE)

    def pending(self) -> list[Any]:
        """The outstanding copies."""
        return [work for _, work in self.works]


class Counters:
    """The wait counters of a wave."""

    def __init__(self, warp: Any) -> None:
        self.warp = warp
        self.of = {kind: Counter(warp, kind) for kind in _EDGES}
        warp.queues.update(self.of)

    def access(self, kind: str) -> int:
        """The number of an access that is executed now."""
        counter = self.of[kind]
        counter.issued = max(counter.completed, counter.told) + 1
        return counter.issued

    def start(self, kind: str) -> int:
        """The number of a copy that is issued now."""
        counter = self.of[kind]
        counter.issued += 1
        return counter.issued

    def wait(self, st: Any, kind: str, left: int, site: Any) -> None:
        """A wait that leaves this many operations outstanding."""
        counter = self.of[kind]
        if counter.is_of_accesses and left:
            return
        upto = counter.issued - left
        # An earlier wait for the same count is redundant, and so is this one for completed operations.
        st.block.waits.pop((counter.agent, upto), None)
        if upto <= counter.completed:
            return
        marks = st.machine.effective
        if (site.number, "removed") not in marks or (site.number, "weakened") not in marks:
            st.block.waits[counter.agent, upto] = (site, counter.completed)
        self._retire(st, counter, upto, site)

    def drain(self, st: Any, kinds: Iterable[str], site: Any) -> None:
        """A barrier that waits for all operations of some kinds."""
        for kind in kinds:
            counter = self.of[kind]
            st.block.waits.pop((counter.agent, counter.issued), None)
            if counter.issued > counter.completed:
                self._retire(st, counter, counter.issued, site)

    def _retire(self, st: Any, counter: Counter, upto: int, site: Any) -> None:
        if st.machine.recorder is not None:
            timing.waited(self.warp, [work for number, work in counter.works if number <= upto], site)
            st.machine.recorder.wait(self.warp, counter.moment, site)
        counter.completed = upto
        st.learn(self.warp, counter.agent, upto)
        while counter.works and counter.works[0][0] <= upto:
            _, work = counter.works.popleft()
            work.complete([self.warp])


def access_kind(shared: bool, write: bool) -> str:
    """The counter of an access."""
    return DS if shared else STORE if write else LOAD


def started(st: Any, kind: str) -> tuple[Any, Any]:
    """Counts a copy that waves issue, and returns its agent and step for each of them."""
    active = st.active_warps()
    agents = [warp.counters.of[kind].agent for warp in st.warps]
    ends = [warp.counters.start(kind) if warp in active else 0 for warp in st.warps]
    return np.array(agents, np.int32), np.array(ends, np.int32)


def hold(st: Any, kind: str, work: Any, warps: Iterable[Any] | None = None) -> None:
    """Records the copy that waves issued last; a wait for it executes it."""
    for warp in st.active_warps() if warps is None else warps:
        counter = warp.counters.of[kind]
        counter.works.append((counter.issued, work))


def mark_waits(block: Any, ordered: Iterable[tuple[int, int, int]]) -> None:
    """Marks the waits and barriers that ordered accesses: those that published the last acquired step. `ordered` has
    warps, agents and steps: the warp's access is ordered after the step of the agent."""
    known = block.known_matrix()
    for warp, agent, step in ordered:
        upto = int(known[warp, agent - block.first_agent + 1])
        block.warps[warp].relies_on(agent, step)
        found = block.waits.get((agent, upto))
        if found is None:
            continue
        site, before = found
        if step > before:
            block.machine.effective.add((site.number, "removed"))
        if step == upto:
            block.machine.effective.add((site.number, "weakened"))


__all__ = [
    "ASYNC",
    "COPY",
    "DS",
    "LOAD",
    "STORE",
    "TENSOR",
    "Counter",
    "Counters",
    "access_kind",
    "hold",
    "mark_waits",
    "started",
]
