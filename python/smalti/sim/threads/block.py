"""Blocks of threads, and their warps: what each knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ..agents import Agent
from ..clocks import Knowledge
from ..findings import Stop
from ..machine import Block, Machine
from .counters import DS, LOAD, STORE, Counters
from .lanes import Array
from .memory import LaneBuffer
from .shadow import NEVER, iteration_of


class Warp(Agent):
    """A warp or wave: what it knows."""

    def __init__(self, block: ThreadBlock, index: int) -> None:
        super().__init__(block, min(block.warp_size, block.thread_count - index * block.warp_size))
        self.index = index
        self.name = f"{block.warp_name} {index}"
        self.team: Any = None
        """The team that it is in."""
        self.queues: dict[str, Any] = {}
        """Asynchronous work of other kinds, by what tells of it."""
        self.counters: Counters | None = None
        """What a wave of AMD waits for."""
        self.signalled: Any = None
        """The meeting at the barrier of the block that it has signalled to, and not waited for."""
        self.finished = False

    def acquire(self, knowledge: Knowledge, site: Any, threads: int = 0) -> None:
        if self.counters is not None:
            self.counters.hears(knowledge, site)
        super().acquire(knowledge, site, threads)
        if self.counters is not None:
            # What it mattered for is seen at accesses.
            self.learned.clear()

    def release(self) -> Knowledge:
        """What those learn that this warp tells what it did."""
        self.block.tells((self.copies.agent, self.bulk.agent, self.bulk.reads, self.products.agent))
        return super().release()

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

    def report(self, kind: str, message: str, site: Any, *, edge: str | None = None) -> None:
        """Reports what the warp does."""
        lane = int(np.flatnonzero(self.team.threads == self._thread())[0])
        self.team.report(kind, message, site, lane, edge=edge)

    def stop(self, kind: str, message: str, site: Any) -> NoReturn:
        """Reports what the block cannot go on after."""
        self.report(kind, message, site)
        raise Stop


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
    ) -> None:
        super().__init__(machine, position, 0, grain)
        self.shared = LaneBuffer("shared memory", shared_bytes, grain, shared=True, fill=0xFF)
        self.thread_count = threads
        self.warp_size = warp_size
        self.unit = 1
        """Warps that stay together."""
        self.warp_name = "warp" if warp_size == 32 else "wave"
        self.first_agent = machine.agent()
        self.warps = [Warp(self, index) for index in range(-(-threads // warp_size))]
        self._rows = {warp.agent: warp.index for warp in self.warps}
        self._owners = {warp.agent: warp for warp in self.warps}
        for warp in self.warps:
            for stream in (warp.products, warp.bulk, warp.copies):
                self._owners[stream.agent] = self._owners[stream.reads] = warp
        self.waits: dict[tuple[int, int], tuple[Any, int]] = {}
        """By counters' agents and how much of them is over: the waits that told of it, and how much was over before."""
        self.heard: dict[tuple[int, int], tuple[Any, int]] = {}
        """By waves and counters' agents: the barriers that told of it, and how much was known before."""
        self.covers: dict[tuple[int, int], Cover] = {}
        """By agent and step: waits of which it is not known whether something relies on them."""
        self._waits: dict[int, int] = {}
        self._told: set[tuple[int, int]] = set()
        """Waits, by agent and index, behind which others were told, and ahead of the next one."""
        self._commits: dict[tuple[int, int], Any] = {}
        self._known: Array | None = None
        self._stale: set[int] = set()

    def count_accesses(self) -> None:
        """Waves have to wait for accesses before a barrier tells of them."""
        for warp in self.warps:
            warp.counters = Counters(warp)

    @property
    def reader_count(self) -> int:
        """Rows of the shadow that say who read: one for each warp, and for each engine that reads."""
        return len(self._rows)

    def reader_rows(self, agents: Array) -> list[int]:
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
        mine = not warps or any(owner is not None and w.index // self.unit == owner.index // self.unit for w in warps)
        if (warps and (agent, cover.index) in self._told) or (mine and self._waits[agent] == cover.index):
            effective = self.machine.effective
            effective |= {(cover.site.number, "removed"), (cover.commit.number, "removed")}
            if cover.last:
                effective.add((cover.site.number, "weakened"))
            del self.covers[agent, step]

    def owner_of(self, agent: int) -> Warp | None:
        return self._owners.get(agent)

    def name_of(self, thread: int) -> str:
        return f"{self.warp_name} {thread // self.warp_size}, lane {thread % self.warp_size}"

    def learns(self, warp: Warp) -> None:
        """The warp knows more than before."""
        self._stale.add(warp.index)

    def known_matrix(self) -> Array:
        """For each warp and agent of the block (from column 1 on) the last step that the warp knows to be over."""
        wanted = self.machine.agents - self.first_agent + 2
        if self._known is None or self._known.shape[1] < wanted:
            self._known = np.zeros((len(self.warps), wanted + 16), np.int32)
            self._stale = set(range(len(self.warps)))
        for index in self._stale:
            warp = self.warps[index]
            row = self._known[index]
            for agent, step in warp.known.seen.items():
                if agent >= self.first_agent:
                    row[agent - self.first_agent + 1] = step
            row[warp.agent - self.first_agent + 1] = NEVER
            if warp.counters is not None:
                # A wave's accesses happen one after the other.
                for kind in (DS, LOAD, STORE):
                    row[warp.counters.of[kind].agent - self.first_agent + 1] = NEVER
        self._stale.clear()
        return self._known
