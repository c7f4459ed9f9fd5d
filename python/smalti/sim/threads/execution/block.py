"""Blocks and warps of thread-level kernels, and their vector clocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

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
"""A step that is known to be over always."""


class Warp(Agent):
    """A warp or wave: what it knows."""

    def __init__(self, block: ThreadBlock, index: int) -> None:
        super().__init__(block, min(block.warp_size, block.thread_count - index * block.warp_size))
        self.index = self.warp_index = index
        self.counted = block.warp_size
        self.name = f"{block.warp_name} {index}"
        self.team: Any = None
        """The team that it is in."""
        self.uneven: set[str] = set()
        """The streams of whose groups some threads have ended more than others."""
        self.waits_of_lanes: dict[int, Array] = {}
        """What each thread knows of what it started itself, by agents, where they know different things."""
        self.queues: dict[str, Any] = {}
        """Asynchronous work of other kinds, by what tells of it."""
        self.counters: Counters | None = None
        """What a wave of AMD waits for."""
        self.signalled: Any = None
        """The meeting at the barrier of the block that it has signalled to, and not waited for."""
        self.member: Any = None
        """What it knows of the named barrier that it has joined."""
        self.cluster_uses = self.cluster_step = 0
        """Uses of the barrier of a cluster of AMD's that it has waited for, and the step in which it did last."""
        self.knows: Array = block.knows[index]
        """For each lane and each other one the last step whose accesses by that one it knows of."""
        self.syncs: list[tuple[int, Any]] = []
        """What made lanes know of each other: up to which step, and `bar.warp.sync` or the block's barrier if it was one."""
        self.published: list[tuple[Array, Any]] = []
        """What fences released: the lanes, and what relaxed atomic writes of theirs tell (`ordering.Told`)."""
        self.noticed: list[tuple[Array, int, Any]] = []
        """What relaxed atomic reads found: the lanes, the scope, and what a fence makes them learn."""
        self.sources: dict[int, list[tuple[int, tuple[Any, ...]]]] = {}
        """By agents of other blocks: steps that it learned of, and from what."""
        self.ready: dict[int, Any] = {}
        """When values of slots are there, in a run with a timeline (see `timing`)."""

    def acquire(self, clocks: HappensBefore, site: Any, threads: int = 0, lanes: Array | None = None) -> None:
        # What a barrier of the block mattered for is seen at accesses.
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
        """Something is in order as the warp knows a step of an agent to be over."""
        found = self.block.heard.get((self.index, agent))
        if found is not None and step > found[1]:
            self.machine.effective.add((found[0].number, "removed"))

    def _hears(self, clocks: HappensBefore, site: Any) -> None:
        """Others tell what they know: at a barrier of the block, which `site` is, or in other ways."""
        heard = self.block.heard
        if site is not None and (site.number, "removed") in self.machine.effective:
            site = None
        if site is None and not heard:
            return
        for agent, step in clocks.seen.items():
            before = self.known.seen.get(agent, 0)
            if step < before or agent == self.agent:
                continue
            # A barrier that told the same before is not needed.
            heard.pop((self.index, agent), None)
            if step > before and site is not None:
                heard[self.index, agent] = (site, before)

    def knows_of(self, agent: int, step: int, thread: int = -1) -> bool:
        """Whether something that another cluster did, or one thread of it, is known to be over."""
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
        """All of its threads, or some, know of what they started themselves that steps of an agent are over."""
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
        """Lanes wait for each other, and know of each other's accesses behind that."""
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
        """Lanes, or all, learn from others of what their warp did."""
        which: Any = slice(None) if lanes is None else np.flatnonzero(lanes)
        if step and (self.knows[which] < step).any():
            self.knows[which] = np.maximum(self.knows[which], step)
            self.syncs.append((step, site))
            # In a block of one warp nothing else shows what its barriers are for.
            self.block.syncs_warps |= site is not None and len(self.block.warps) == 1

    def chains(self, lanes: Array) -> None:
        """Lanes learn of each other one after the other: each of those before it, which have released."""
        known = self.knows[lanes]
        known[np.arange(len(lanes)), lanes] = self.step - 1
        self.knows[lanes] = np.maximum.accumulate(known, 0)
        self.syncs.append((self.step - 1, None))

    def only_sync(self, step: int) -> Any:
        """The barrier that lanes know of a step from, if nothing else made them."""
        found: Any = None
        for upto, site in reversed(self.syncs):
            if upto < step:
                break
            if found is not None or site is None:
                return None
            found = site
        return found

    def release(self, lanes: Array | None = None) -> HappensBefore:
        """What those learn that lanes of this warp, or all, tell what they did and know of each other."""
        self.block.tells((self.copies.agent, self.bulk.agent, self.bulk.reads, self.products.agent))
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
        """What arrivals of some lanes tell; None where all of them arrive."""
        if len(lanes) >= self.threads or not self.block.independent:
            return None
        chosen = np.zeros(self.block.warp_size, np.bool_)
        chosen[lanes] = True
        return self.release(chosen)

    @property
    def loops(self) -> tuple[int, ...]:
        """The induction variables of the loops that run."""
        return iteration_of(tuple(self.team.loops), self.team.threads, self._thread())

    def _thread(self) -> int:
        """The first thread that runs."""
        team = self.team
        running = team.which == team.warps.index(self)
        if team.mask is not None and (running & team.mask).any():
            running &= team.mask
        return int(team.threads[running.argmax()])

    def report(
        self, kind: str, message: str, site: Any, *, hint: str | None = None, others: Iterable[Finding] = ()
    ) -> None:
        """Reports what the warp does."""
        lane = int(np.flatnonzero(self.team.threads == self._thread())[0])
        self.team.report(kind, message, site, lane, hint=hint, others=others)


class ThreadCluster(Cluster):
    """Blocks of threads that run together."""

    def __init__(self, machine: Machine, sizes: tuple[int, int, int]) -> None:
        super().__init__(sizes)
        self.blocks: list[Any] = []
        self.first_agent = machine.agent()
        self.rows: dict[int, int] = {}
        """The rows of shadows that say who read, by agents: one for each warp, and for each engine that reads."""
        self.barrier: Any = None
        """Its barrier on AMD's chips."""
        self.asked = Requests(self)

    @property
    def covered(self) -> bool:
        """Whether there are waits of which it is not known whether something relies on them."""
        return any(block.covers for block in self.blocks)

    def block(self, number: int, who: Any, what: str, site: Any) -> ThreadBlock:
        """The block of a number that somebody names."""
        if not 0 <= number < len(self.blocks):
            who.stop(
                "out-of-bounds",
                f"{what} targets block {number}, which is outside the cluster of {len(self.blocks)} blocks",
                site,
            )
        return self.blocks[number]

    def check(self) -> None:
        """What is wrong when the program is over."""
        for block in self.blocks:
            block.check_leaks()
        self.check_remote_accesses()
        self.asked.check()


@dataclass(frozen=True)
class Cover:
    """The wait that was first over a group of asynchronous work."""

    site: Any
    commit: Any
    """What ended the group."""
    last: bool
    """Whether the group was the last that the wait was for."""
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
        """Warps that stay together."""
        self.warp_name = warp_name
        self.first_agent = cluster.first_agent
        self.independent = True
        """Whether the threads of a warp run by themselves: else they run in lockstep."""
        self.syncs_warps = False
        """Whether lanes of a warp wait for each other."""
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
            for stream in (warp.products, warp.bulk, warp.copies):
                self._owners[stream.agent] = self._owners[stream.reads] = warp
        self.shares: dict[Any, dict[int, Array]] = {}
        """What warps give to reductions of the block, by the meetings there."""
        self.waits: dict[tuple[int, int], tuple[Any, int]] = {}
        """By counters' agents and how much of them is over: the waits that told of it, and how much was over before."""
        self.heard: dict[tuple[int, int], tuple[Any, int]] = {}
        """By warps and agents: the barriers of the block that told of it, and how much was known before."""
        self.covers: dict[tuple[int, int], Cover] = {}
        """By agent and step: waits of which it is not known whether something relies on them."""
        self.slots = Slots(self)
        self._waits: dict[int, int] = {}
        self._told: set[tuple[int, int]] = set()
        """Waits, by agent and index, behind which others were told, and ahead of the next one."""
        self._commits: dict[tuple[int, int], Any] = {}
        self.resources: dict[Any, int] = {}
        """Buffers of AMD's chips with bounds, and the pointers that stand for them."""
        self.named_barriers: dict[int, Any] = {}
        """Barriers of AMD's chips, by the pointers that name them."""
        self.lds_arrivals: dict[int, list[Any]] = {}
        """What arrivals in the phase that is not over tell, by the bytes of barriers in LDS."""
        self.out_of_scope = False
        """Whether warps know of something to be over that is not told in their scope."""
        self._known: Array | None = None
        self._stale: set[int] = set()

    def count_accesses(self) -> None:
        """Waves have to wait for accesses before a barrier tells of them."""
        for warp in self.warps:
            warp.counters = Counters(warp)

    @property
    def members(self) -> list[Warp]:
        """The agents that its threads are, all of them."""
        return self.warps

    def reader_rows(self, agents: Array) -> list[int]:
        """Rows of the shadow that say what agents read."""
        return [self._rows.setdefault(int(agent), len(self._rows)) for agent in agents]

    def new_agent(self, owner: Warp | None = None) -> int:
        """A new agent; `owner` is the warp whose work it tells of."""
        agent = self.machine.agent()
        if owner is not None:
            self._owners[agent] = owner
        return agent

    # -- What waits are for --------------------------------------------------------------------------------------------

    def commits(self, stream: Any, site: Any) -> None:
        """A group ends here."""
        self._commits[stream.agent, stream.next] = site
        stream.commit()

    def splits(self, stream: Any, site: Any) -> None:
        """What was started before is told of here."""
        if stream.open:
            self._commits[stream.agent, stream.next] = site
            stream.split()

    def waits_for(self, stream: Any, upto: int, site: Any, agents: set[int]) -> None:
        """Remembers a wait for groups, until something relies on it: an access that only it orders, or work that would
        be in flight at the end. Another wait before that makes it needless."""
        for agent in agents:
            index = self._waits[agent] = self._waits.get(agent, 0) + 1
            for number in stream.groups:
                if number <= upto:
                    commit = self._commits[stream.agent, number]
                    self.covers[agent, number] = Cover(site, commit, number == upto, index)

    def tells(self, agents: Iterable[int]) -> None:
        """Others learn what waits told."""
        self._told.update((agent, self._waits[agent]) for agent in agents if agent in self._waits)

    def relies(self, agent: int, step: int, warps: Iterable[Warp] = ()) -> None:
        """Something is in order as a step of an agent is over, for some warps; without them, at the end."""
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
        """Threads of a barrier of all: warps count as whole ones."""
        return len(self.warps) * self.warp_size

    def owner_of(self, agent: int) -> Warp | None:
        return self._owners.get(agent)

    def name_of(self, thread: int) -> str:
        return f"{self.warp_name} {thread // self.warp_size}, lane {thread % self.warp_size}"

    def is_known(self, ends: Iterable[tuple[int, int]]) -> bool:
        """Whether a warp knows one of some steps of agents to be over."""
        return any(warp.known.seen.get(agent, 0) >= step for agent, step in ends for warp in self.warps)

    def learns(self, warp: Warp) -> None:
        """The warp knows more than before."""
        self._stale.add(warp.index)
        self.out_of_scope = self.out_of_scope or bool(warp.known.completed)

    def known_matrix(self) -> Array:
        """For each warp and agent of the cluster (from column 1 on) the last step that the warp knows to be over."""
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
            # The lanes of a wave run in lockstep. Of others it is looked at each, where there is something to see.
            mine = 0 if self.syncs_warps else int(warp.knows.min())
            row[warp.agent - self.first_agent + 1] = NEVER if warp.counters is not None else mine
            if warp.counters is not None:
                # A wave's accesses happen one after the other.
                for kind in (DS, LOAD, STORE):
                    row[warp.counters.of[kind].agent - self.first_agent + 1] = NEVER
        self._stale.clear()
        return self._known
