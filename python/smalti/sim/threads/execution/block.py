# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks and warps of thread-level kernels, and their vector clocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....diagnostics import counted
from ...machine.agents import Agent
from ...machine.clocks import HappensBefore
from ...machine.findings import Finding
from ...machine.machine import Block, Cluster, Machine
from .cluster_loads import Requests
from .counters import DS, LOAD, STORE, Counters
from .events import iteration_of
from .lanes import Array
from .memory import LaneBuffer
from .slots import Slots

NEVER = np.iinfo(np.int32).max
"""A step that always happens before everything."""


class Warp(Agent):
    """A warp or wave, with its vector clocks."""

    def __init__(self, block: ThreadBlock, index: int) -> None:
        super().__init__(block, min(block.warp_size, block.thread_count - index * block.warp_size))
        self.index = self.warp_index = index
        self.counted = block.warp_size
        self.name = f"{block.warp_name} {index}"
        self.team: Any = None
        """The converged warps of which it is one."""
        self.uneven: set[str] = set()
        """The streams in which some threads have committed more groups than others."""
        self.waits_of_lanes: dict[int, Array] = {}
        """The clock of each thread for operations that it issued itself, by agent, if the threads differ."""
        self.queues: dict[str, Any] = {}
        """Outstanding operations of other kinds, by completion mechanism."""
        self.counters: Counters | None = None
        """The wait counters of an AMD wave."""
        self.signaled: Any = None
        """The use of the block barrier that it has signaled and not waited for."""
        self.member: Any = None
        """The state of the named barrier that it has joined."""
        self.cluster_uses = self.cluster_step = 0
        """The uses of an AMD cluster barrier for which it has waited, and the step of the last wait."""
        self.knows: Array = block.knows[index]
        """For each pair of lanes the last step of the one that happens before the next access of the other."""
        self.syncs: list[tuple[int, Any]] = []
        """The synchronization of lanes: up to which step, and the op if it was `bar.warp.sync` or the block
        barrier."""
        self.published: list[tuple[Array, Any]] = []
        """Releases by fences: the lanes, and the clocks that their later relaxed atomic writes publish
        (`ordering.Told`)."""
        self.noticed: list[tuple[Array, int, Any]] = []
        """Relaxed atomic reads: the lanes, the scope, and the clocks that a later fence acquires."""
        self.sources: dict[int, list[tuple[int, tuple[Any, ...]]]] = {}
        """By agents of other blocks: acquired steps, and the ops that ordered them."""
        self.ready: dict[int, Any] = {}
        """The completion times of the values of slots, in a run with a timeline (see `timing`)."""

    def acquire(self, clocks: HappensBefore, site: Any, threads: int = 0, lanes: Array | None = None) -> None:
        # The effect of a block barrier is determined at later accesses.
        of_block = threads == self.block.thread_count
        self._hears(clocks, site if of_block else None)
        if of_block:
            told, known = clocks.visible, self.known.visible
            of_block = all(step <= known.get(agent, 0) for agent, step in told.items())
        if self.counters is None:
            self._hears_of_itself(clocks.seen.get(self.agent, 0), lanes, site if of_block else None)
        before = len(self.pending_acquires)
        super().acquire(clocks, site, threads)
        if of_block:
            del self.pending_acquires[before:]

    def relies_on(self, agent: int, step: int) -> None:
        """Marks the synchronization that orders a step of an agent before the warp as effective."""
        found = self.block.heard.get((self.index, agent))
        if found is not None and step > found[1]:
            self.machine.effective.add((found[0].number, "removed"))

    def _hears(self, clocks: HappensBefore, site: Any) -> None:
        """Publishes the clocks of the warp: at the block barrier `site`, or by other synchronization."""
        heard = self.block.heard
        if site is not None and (site.number, "removed") in self.machine.effective:
            site = None
        if site is None and not heard:
            return
        for agent, step in clocks.seen.items():
            before = self.known.seen.get(agent, 0)
            if step < before or agent == self.agent:
                continue
            # A barrier that orders nothing new is not needed.
            heard.pop((self.index, agent), None)
            if step > before and site is not None:
                heard[self.index, agent] = (site, before)

    def knows_of(self, agent: int, step: int, thread: int = -1) -> bool:
        """Whether an operation of another cluster, or of one of its threads, happens before."""
        if self.known.seen.get(agent, 0) < step:
            steps = self.known.lanes.get(agent)
            return steps is not None and thread >= 0 and bool(steps[thread % len(steps)] >= step)
        self.relies_on(agent, step)
        for upto, sites in self.sources.get(agent, ()):
            if upto >= step:
                self.machine.effective |= {(site.number, kind) for site in sites for kind in ("removed", "narrowed")}
                break
        return True

    def waited(self, agent: int, upto: int, threads: Array | None) -> None:
        """Records that all threads of the warp, or some, waited for their own operations up to steps of an agent."""
        known = self.own.get(agent, 0)
        if threads is None:
            self.waits_of_lanes.pop(agent, None)
            self.own[agent] = max(upto, known)
            return
        lanes = self.waits_of_lanes.get(agent, np.full(self.counted, known)).copy()
        lanes[threads % self.counted] = np.maximum(lanes[threads % self.counted], upto)
        self.waits_of_lanes[agent] = lanes
        self.own[agent] = int(lanes[: self.threads].min())

    # -- Threads that run by themselves --------------------------------------------------------------------------------

    def synchronize(self, lanes: Array, site: Any) -> None:
        """A barrier of lanes: their accesses before it happen before those after it."""
        self.next_step()
        now, which = self.step - 1, np.flatnonzero(lanes)
        if len(which) == self.threads:
            self.knows[:] = now
        else:
            found = self.knows[which].max(0)
            found[which] = now
            self.knows[which] = found
        self.syncs.append((now, site))
        self.block.syncs_warps = True
        self.block.learns(self)

    def _hears_of_itself(self, step: int, lanes: Array | None, site: Any) -> None:
        """Orders the accesses of the warp before later ones of lanes, or of all."""
        which: Any = slice(None) if lanes is None else np.flatnonzero(lanes)
        if step and (self.knows[which] < step).any():
            self.knows[which] = np.maximum(self.knows[which], step)
            self.syncs.append((step, site))
            # In a block of one warp no other access shows the effect of its barriers.
            self.block.syncs_warps |= site is not None and len(self.block.warps) == 1

    def chains(self, lanes: Array) -> None:
        """Orders lanes one after the other: each acquires the releases of those before it."""
        known = self.knows[lanes]
        known[np.arange(len(lanes)), lanes] = self.step - 1
        self.knows[lanes] = np.maximum.accumulate(known, 0)
        self.syncs.append((self.step - 1, None))

    def only_sync(self, step: int) -> Any:
        """The barrier that orders a step before lanes, if no other synchronization does."""
        found: Any = None
        for upto, site in reversed(self.syncs):
            if upto < step:
                break
            if found is not None or site is None:
                return None
            found = site
        return found

    def release(self, lanes: Array | None = None) -> HappensBefore:
        """The clocks that a release of lanes of this warp, or of all, publishes."""
        self.block.tells((self.copies.agent, self.bulk.agent, self.bulk.reads, self.wgmmas.agent))
        told = super().release()
        if lanes is None or not self.block.independent:
            return told
        which = np.flatnonzero(lanes)
        if len(which) >= self.threads:
            return told
        steps = self.knows[which].max(0)
        steps[which] = self.step - 1
        told.seen[self.agent] = int(steps[: self.threads].min())
        told.lanes[self.agent] = steps
        return told

    def tells(self, lanes: Array) -> HappensBefore | None:
        """The clocks that the arrivals of some lanes publish; None if all lanes arrive."""
        if len(lanes) >= self.threads or not self.block.independent:
            return None
        chosen = np.zeros(self.block.warp_size, np.bool_)
        chosen[lanes] = True
        return self.release(chosen)

    @property
    def loops(self) -> tuple[int, ...]:
        """The induction variables of the enclosing loops."""
        return iteration_of(tuple(self.team.loops), self.team.threads, self._thread())

    def _thread(self) -> int:
        """The first active thread."""
        team = self.team
        running = team.which == team.warps.index(self)
        if team.mask is not None and (running & team.mask).any():
            running &= team.mask
        return int(team.threads[running.argmax()])

    def report(
        self, kind: str, message: str, site: Any, *, hint: str | None = None, others: Iterable[Finding] = ()
    ) -> None:
        """Reports a finding of the warp."""
        lane = int(np.flatnonzero(self.team.threads == self._thread())[0])
        self.team.report(kind, message, site, lane, hint=hint, others=others)


class ThreadCluster(Cluster):
    """A cluster of blocks that run concurrently."""

    def __init__(self, machine: Machine, sizes: tuple[int, int, int]) -> None:
        super().__init__(sizes)
        self.blocks: list[Any] = []
        self.first_agent = machine.agent()
        self.rows: dict[int, int] = {}
        """The rows of shadows for readers, by agent: one for each warp, and one for each engine that reads."""
        self.barrier: Any = None
        """Its cluster barrier on AMD chips."""
        self.asked = Requests(self)

    @property
    def covered(self) -> bool:
        """Whether there are waits whose effect is not decided."""
        return any(block.covers for block in self.blocks)

    def block(self, number: int, who: Any, what: str, site: Any) -> ThreadBlock:
        """The block with a rank in the cluster."""
        if not 0 <= number < len(self.blocks):
            who.stop(
                "out-of-bounds",
                f"{what} targets block {number}, which is outside the cluster of {counted(len(self.blocks), 'block')}",
                site,
            )
        return self.blocks[number]

    def check(self) -> None:
        """Checks at the end of the kernel."""
        for block in self.blocks:
            block.check_leaks()
        self.check_remote_accesses()
        self.asked.check()


@dataclass(frozen=True)
class Cover:
    """The first wait that completed a group of asynchronous operations."""

    site: Any
    commit: Any
    """The op that committed the group."""
    last: bool
    """Whether the group was the last one of the wait."""
    index: int
    """The waits for the stream so far."""


class ThreadBlock(Block):
    """A block of threads."""

    def __init__(
        self,
        machine: Machine,
        position: tuple[int, int, int],
        shared_bytes: int,
        grain: int,
        threads: int,
        warp_size: int,
        warp_name: str,
        cluster: ThreadCluster,
    ) -> None:
        super().__init__(machine, position, 0, grain, cluster)
        self.shared = LaneBuffer(self.shared.name, shared_bytes, grain, shared=True, fill=0xFF)
        self.shared.block = self
        self.thread_count = threads
        self.warp_size = warp_size
        self.unit = 1
        """The number of warps that never diverge from each other."""
        self.warp_name = warp_name
        self.first_agent = cluster.first_agent
        self.independent = True
        """Whether the threads of a warp are independent; otherwise they run in lockstep."""
        self.syncs_warps = False
        """Whether the kernel has barriers of lanes of a warp."""
        count = -(-threads // warp_size)
        self.knows: Array = np.zeros((count, warp_size, warp_size), np.int32)
        """`Warp.knows`."""
        self.warps = [Warp(self, index) for index in range(count)]
        self._rows = cluster.rows
        for warp in self.warps:
            self._rows[warp.agent] = len(self._rows)
        self.agents: Array = np.array([warp.agent for warp in self.warps], np.int32)
        self._owners = {warp.agent: warp for warp in self.warps}
        for warp in self.warps:
            for stream in (warp.wgmmas, warp.bulk, warp.copies):
                self._owners[stream.agent] = self._owners[stream.reads] = warp
        self.shares: dict[Any, dict[int, Array]] = {}
        """The operands of block-wide reductions, by barrier use."""
        self.waits: dict[tuple[int, int], tuple[Any, int]] = {}
        """By counter agent and completed count: the wait, and the completed count before it."""
        self.heard: dict[tuple[int, int], tuple[Any, int]] = {}
        """By warp and agent: the block barriers that published a step, and the step before."""
        self.covers: dict[tuple[int, int], Cover] = {}
        """By agent and step: waits whose effect is not decided."""
        self.slots = Slots(self)
        self._waits: dict[int, int] = {}
        self._told: set[tuple[int, int]] = set()
        """Waits, by agent and index, after which the warp released, and before the next one."""
        self._commits: dict[tuple[int, int], Any] = {}
        self.resources: dict[Any, int] = {}
        """Bounds-checked buffers of AMD chips, and their pointers."""
        self.named_barriers: dict[int, Any] = {}
        """Named barriers of AMD chips, by pointer."""
        self.lds_arrivals: dict[int, list[Any]] = {}
        """The clocks that arrivals of the current phase publish, by the byte of the LDS barrier."""
        self.out_of_scope = False
        """Whether warps have acquired completed steps whose stores are out of scope."""
        self._known: Array | None = None
        self._stale: set[int] = set()

    def count_accesses(self) -> None:
        """Enables wait counters: waves must wait for accesses before a barrier orders them."""
        for warp in self.warps:
            warp.counters = Counters(warp)

    @property
    def members(self) -> list[Warp]:
        """All agents of the block."""
        return self.warps

    def reader_rows(self, agents: Array) -> list[int]:
        """Rows of the shadow for the reads of agents."""
        return [self._rows.setdefault(int(agent), len(self._rows)) for agent in agents]

    def new_agent(self, owner: Warp | None = None) -> int:
        """A new agent; `owner` is the warp whose operations it completes."""
        agent = self.machine.agent()
        if owner is not None:
            self._owners[agent] = owner
        return agent

    # -- Effects of waits -----------------------------------------------------------------------------------------------

    def commits(self, stream: Any, site: Any) -> None:
        """Records the commit of a group."""
        self._commits[stream.agent, stream.next] = site
        stream.commit()

    def splits(self, stream: Any, site: Any) -> None:
        """Separates earlier operations from later ones."""
        if stream.open:
            self._commits[stream.agent, stream.next] = site
            stream.split()

    def waits_for(self, stream: Any, upto: int, site: Any, agents: set[int]) -> None:
        """Records a wait for groups until its effect is decided: by an access that only this wait orders, or by an
        operation that would be outstanding at the end. An earlier wait makes it redundant."""
        for agent in agents:
            index = self._waits[agent] = self._waits.get(agent, 0) + 1
            for number in stream.groups:
                if number <= upto:
                    commit = self._commits[stream.agent, number]
                    self.covers[agent, number] = Cover(site, commit, number == upto, index)

    def tells(self, agents: Iterable[int]) -> None:
        """Records a release after waits."""
        self._told.update((agent, self._waits[agent]) for agent in agents if agent in self._waits)

    def relies(self, agent: int, step: int, warps: Iterable[Warp] = ()) -> None:
        """Records an access that is ordered by a step of an agent, for some warps; without warps, the end of the
        kernel."""
        cover = self.covers.get((agent, step))
        if cover is None:
            return
        owner = self._owners.get(agent)
        own = [
            owner is not None and w.block is self and w.index // self.unit == owner.index // self.unit for w in warps
        ]
        told = not all(own) and (agent, cover.index) in self._told
        if told or ((not own or any(own)) and self._waits[agent] == cover.index):
            effective = self.machine.effective
            effective |= {(cover.site.number, "removed"), (cover.commit.number, "removed")}
            if cover.last:
                effective.add((cover.site.number, "weakened"))
            del self.covers[agent, step]

    @property
    def counted(self) -> int:
        """The thread count of a barrier of all threads, with partial warps counted as whole ones."""
        return len(self.warps) * self.warp_size

    def owner_of(self, agent: int) -> Warp | None:
        return self._owners.get(agent)

    def name_of(self, thread: int) -> str:
        return f"{self.warp_name} {thread // self.warp_size}, lane {thread % self.warp_size}"

    def is_known(self, ends: Iterable[tuple[int, int]]) -> bool:
        """Whether one of some steps of agents happens before the warp."""
        return any(warp.known.seen.get(agent, 0) >= step for agent, step in ends for warp in self.warps)

    def learns(self, warp: Warp) -> None:
        """Invalidates the matrix of clocks after an acquire of the warp."""
        self._stale.add(warp.index)
        self.out_of_scope = self.out_of_scope or bool(warp.known.completed)

    def known_matrix(self) -> Array:
        """For each warp and agent of the cluster (from column 1) the last step that happens before."""
        wanted = self.machine.agents - self.first_agent + 2
        if self._known is None or self._known.shape[1] < wanted:
            self._known = np.zeros((len(self.warps), wanted + 16), np.int32)
            self._stale = set(range(len(self.warps)))
        if not self._stale:
            return self._known
        for index in self._stale:
            warp = self.warps[index]
            row = self._known[index]
            for agent, step in warp.known.seen.items():
                if agent >= self.first_agent:
                    row[agent - self.first_agent + 1] = step
            # The lanes of a wave run in lockstep. Independent lanes are checked one by one, where there is a
            # difference.
            mine = 0 if self.syncs_warps else int(warp.knows.min())
            row[warp.agent - self.first_agent + 1] = NEVER if warp.counters is not None else mine
            if warp.counters is not None:
                # The accesses of a wave are in program order.
                for kind in (DS, LOAD, STORE):
                    row[warp.counters.of[kind].agent - self.first_agent + 1] = NEVER
        self._stale.clear()
        return self._known
