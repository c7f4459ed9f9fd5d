"""What runs programs: the machine, clusters of blocks, and blocks."""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .agents import Agent
from .clocks import Clock, Knowledge
from .explain import explain
from .findings import Findings, TimeLimit
from .memory import Buffer, MemRef
from .options import Simulation, seed_of
from .races import Access, Checker
from .recorder import Recorder
from .synchronisation import ClusterMeeting, Mbarrier, Stream, ThreadBarrier

if TYPE_CHECKING:
    from .group import Group

Three = tuple[int, int, int]

BEAT = 1.0
"""Seconds between two reports of progress."""


class Machine:
    """What all blocks of a launch share."""

    def __init__(self, how: Simulation, findings: Findings, recorder: Recorder | None = None) -> None:
        self.how = how
        self.recorder = recorder
        """Told of what takes time, in a run with a timeline."""
        self.findings = findings
        self.checker = Checker(self._report)
        self.agents = 0
        """Agents so far."""
        self.lane_checker: Any = None
        """The checker of programs of threads."""
        self.polling = False
        """Whether threads may wait for others to change memory."""
        self.changes = 0
        """How often threads changed it, in such a program."""
        self.effective: set[tuple[int, str]] = set()
        """Synchronisation that someone learned from who then did something: the number of the operation, and what
        would be a mistake."""
        seed = seed_of(how.completion)
        self.chance = random.Random(seed) if seed is not None else None
        """Decides when asynchronous work happens, where that is random."""

        self.waiting: deque[tuple[int, list[tuple[int, int, int]]]] = deque()
        """Clusters that were not launched: their numbers, and the places of their blocks."""

        self.done, self.total = 0, 0
        """Blocks that have ended, and of all."""
        now = time.monotonic()
        self._deadline = now + how.time_limit if how.time_limit is not None else math.inf
        self._alarm = min(now + BEAT, self._deadline)

    def tick(self, who: Any, site: Any) -> None:
        """Called again and again while a program runs, such as in each iteration of a loop: ends a run that reached its
        time limit, and tells of progress."""
        now = time.monotonic()
        if now < self._alarm:
            return
        if now >= self._deadline:
            raise TimeLimit(who, site)
        self._alarm = min(now + BEAT, self._deadline)
        self.progress()

    def progress(self, ended: int = 0) -> None:
        """So many more blocks have ended."""
        self.done += ended
        if self.how.progress is not None:
            self.how.progress(self.done, self.total)

    def agent(self) -> int:
        self.agents += 1
        return self.agents

    def cancel(self, cluster: Cluster) -> tuple[int, int, int] | None:
        """Takes a cluster's launch away, for another one to do its work; says where its first block is."""
        if not self.waiting or not cluster.share:
            return None
        cluster.share -= 1
        return self.waiting.popleft()[1][0]

    def _report(self, kind: str, before: Access, now: Access, memory: MemRef) -> None:
        self.findings.add(explain(kind, before, now, memory))


def place_names(block: Three, grid: Three, threads: Three, cluster: Three) -> dict[str, tuple[int, ...]]:
    """Positions and sizes of a block, by the name of the operation that asks."""
    return {
        "block_id": block,
        "block_dim": threads,
        "grid_dim": grid,
        "cluster_block_id": tuple(at % size for at, size in zip(block, cluster, strict=True)),
        "cluster_dim_blocks": cluster,
        "cluster_dim": tuple(count // size for count, size in zip(grid, cluster, strict=True)),
        "cluster_id": tuple(at // size for at, size in zip(block, cluster, strict=True)),
    }


class Cluster:
    """Blocks that run together, and reach each other's shared memory."""

    def __init__(self, sizes: tuple[int, int, int]) -> None:
        self.sizes = sizes
        self.blocks: list[Block] = []
        """In the order of their numbers in the cluster, with x first."""
        self.meeting: ClusterMeeting | None = None
        """The use of its barrier at which somebody arrived last."""
        self.pipes: dict[int, Stream] = {}
        """What the tensor core does for each of its threads, by the agent that tells that it was begun."""
        self.begun: dict[tuple[int, int], Any] = {}
        """The fence behind which that is told, by agent and step."""
        self.share = 0
        """How many other clusters it can take the work of, as long as there are some."""
        self.refused = False
        """Whether it was told that there are none."""
        self.remote: list[tuple[Agent, Block, list[tuple[int, int]], str, Any]] = []
        """What one block did to the memory of another: who, whose memory, what tells of it (agents and their steps), in
        words, and where."""

    def arrive(self, agent: Agent, knowledge: Knowledge) -> ClusterMeeting:
        """An arrival at the barrier of the cluster, with what it tells the others."""
        if self.meeting is None or not self.missing(self.meeting):
            self.meeting = ClusterMeeting()
        meeting = self.meeting
        meeting.arrived.add(agent)
        meeting.knowledge.join(knowledge)
        meeting.initialised.update(b for b in agent.block.barriers.values() if b.fenced)
        return meeting

    def missing(self, meeting: ClusterMeeting) -> list[Agent]:
        """Who has not arrived. Those that have ended need not (PTX ISA, `exit`)."""
        found = (agent for block in self.blocks for agent in block.members)
        return [agent for agent in found if agent not in meeting.arrived and not agent.finished]

    def check_ends(self) -> None:
        """A block must not end before it knows of what others do to its shared memory."""
        for agent, block, told, what, site in self.remote:

            def knows(clock: Clock, told: list[tuple[int, int]] = told) -> bool:
                return any(clock.get(of, 0) >= step for of, step in told)

            members = [one for member in block.members for one in member.all()]
            knowing = [one for one in members if knows(one.known.seen) or knows(one.known.over)]
            if not knowing:
                agent.report(
                    "leak",
                    f"{what} in the shared memory of block {block.position}, which may have ended before",
                    site,
                    edge=f"a wait by block {block.position} for it, or a barrier of the cluster before its end",
                )
            last = {one.last_wait[0] for one in knowing if one.last_wait and not knows(one.last_wait[1])}
            if len(last) == 1 and all(one.last_wait and not knows(one.last_wait[1]) for one in knowing):
                agent.machine.effective.add((last.pop().number, "removed"))

    def peer(self, block: Block, dimension: int, index: int) -> Block | None:
        """The block that has this index in one dimension, and is where `block` is in the others."""
        place = list(block.names["cluster_block_id"])
        place[dimension] = index
        if not 0 <= index < self.sizes[dimension]:
            return None
        return self.blocks[place[0] + self.sizes[0] * (place[1] + self.sizes[1] * place[2])]


class Block:
    """One block: its shared memory, its barriers and its warpgroups."""

    def __init__(
        self,
        machine: Machine,
        position: tuple[int, int, int],
        shared_bytes: int,
        grain: int,
        cluster: Cluster | None = None,
    ) -> None:
        cluster = cluster or Cluster((1, 1, 1))
        self.machine = machine
        self.position = position
        data = np.full(shared_bytes, 0xFF, np.uint8)
        alone = cluster.sizes == (1, 1, 1)
        name = "shared memory" if alone else f"shared memory of block {position}"
        self.shared = Buffer(name, data, grain, shared=True, block=self)
        self.barriers: dict[int, Mbarrier] = {}
        self.thread_barriers: dict[int, ThreadBarrier] = {}
        self.ended: list[Any] = []
        """Groups, warps or waves that have ended, which barriers do not wait for."""
        self.flights: list[Any] = []
        """Copies that a barrier in shared memory tells of, in the order of their issue."""
        self.arrivals: list[Any] = []
        """Arrivals behind copies of AMD's waves, at barriers that others poll, in the order of their issue."""
        self.started: list[Any] = []
        """All copies and arrivals that were started and that barriers in shared memory tell of."""
        self.groups: list[Group] = []
        self.on_new: Callable[[Any], None] | None = None
        """Told of what begins to run while others do."""
        self.tensor_grain = 4
        self.tensor: Buffer | None = None
        """Tensor memory, where it was allocated."""
        self.columns: dict[Any, tuple[int, int]] = {}
        """Allocated columns of tensor memory, by what allocated them."""
        self.cluster = cluster
        cluster.blocks.append(self)
        self.names: dict[str, tuple[int, ...]] = {}
        """Positions and sizes, by the name of the operation that asks."""

    @property
    def members(self) -> list[Any]:
        """The agents that its threads are, all of them."""
        return self.groups

    def thread_barrier(self, number: int) -> ThreadBarrier:
        if number not in self.thread_barriers:
            name = "the barrier of the block" if number == 0 else f"barrier {number} of the block"
            self.thread_barriers[number] = ThreadBarrier(name, self.machine.agent(), self.counted, self.ended)
        return self.thread_barriers[number]

    @property
    def counted(self) -> int:
        """Threads of a barrier of all."""
        return self.names["threads"][0]

    def leave(self, members: Iterable[Any]) -> None:
        """Groups or warps have ended."""
        self.ended += members
        for barrier in self.thread_barriers.values():
            barrier.advance()

    def release(self) -> bool:
        """Nobody can go on: ends a barrier that waits for nobody but those that have ended. Returns whether one did."""
        return any(barrier.advance(stuck=True) for barrier in self.thread_barriers.values())

    def complete(self, flight: Any) -> None:
        """Lets a copy happen."""
        self.flights.remove(flight)
        flight.complete()
