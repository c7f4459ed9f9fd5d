"""Blocks, their warpgroups, and which of them runs."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any

import numpy as np

from .agents import Agent
from .clocks import Clock, Knowledge
from .findings import Finding, Findings, Stop
from .memory import Buffer, MemRef
from .options import Simulation, seed_of
from .races import LEADER, PIPE, TENSOR, Access, Checker
from .recorder import Recorder, words_of_access
from .synchronisation import ClusterMeeting, Mbarrier, Poll, Stream, ThreadBarrier, Wait

Three = tuple[int, int, int]
Program = Generator[Wait | None, None, None]


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

            knowing = [one for member in block.members for one in member.all() if knows(one.known.seen)]
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
        """Waves that have ended, which barriers of AMD's chips do not wait for."""
        self.flights: list[Any] = []
        """Copies that a barrier in shared memory tells of, in the order of their issue."""
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
            self.thread_barriers[number] = ThreadBarrier(name, self.machine.agent(), self.ended)
        return self.thread_barriers[number]

    def complete(self, flight: Any) -> None:
        """Lets a copy happen."""
        self.flights.remove(flight)
        flight.complete()


class Group(Agent):
    """A warpgroup, or a block whose warps run one program together."""

    def __init__(self, block: Block, index: int, first: int, threads: int, values: list[Any], name: str) -> None:
        super().__init__(block, threads)
        self.index = index
        self.name = name
        self.first = first
        """The number of the first thread."""
        self.v = values
        """Values of the program, by slot."""
        self.loops: list[int] = []
        """Induction variables of the loops that run."""
        self.parent: Group | None = None
        """The group whose warp it is."""
        self.warp: int | None = None
        """Which warp of it."""
        self.warps: list[Group] = []
        """Its warps, where they ever ran by themselves."""
        self.register_fences: tuple[Any, list[Any], list[Any]] = (None, [], [])
        """The last fence of registers for products, and the values that were there at it and at the one before."""
        self.tensor = Stream(self.machine.agent(), self.machine.agent())
        block.cluster.pipes[self.tensor.reads] = self.tensor
        """Products and copies of the tensor core of Blackwell."""
        self.tensor_loads = Stream(self.machine.agent())
        self.tensor_stores = Stream(self.machine.agent())
        self.tensor_known: Clock = {}
        """What it knows of the tensor core behind a fence."""
        self.tensor_before: Clock = {}
        """What it knew behind the fence before that."""
        self.tensor_fence: Any = None
        """The last fence."""
        self.wait: Wait | None = None
        self.program: Program | None = None

    @property
    def lanes(self) -> int:
        """Threads that run now."""
        return self.threads

    @property
    def arrivals(self) -> int:
        """As how many threads it arrives on a barrier of `mosaic_gpu`: a warp stands for its warpgroup."""
        return self.threads if self.parent is None else self.parent.threads

    def thread_numbers(self) -> np.ndarray[Any, Any]:
        """The numbers of these threads in the block."""
        return np.arange(self.first, self.first + self.threads)

    def elected(self) -> Any:
        """The owner of what one thread does for all: a group's is that of its first warp."""
        return LEADER if not self.warp else (LEADER, self.warp)

    def all(self) -> list[Group]:
        """It, and its warps."""
        return [self, *self.warps]

    def related(self, other: Group) -> bool:
        """Whether it is `other`, one of its warps, or the group whose warp that is."""
        return self is other or self.parent is other or self is other.parent

    # -- Clocks --------------------------------------------------------------------------------------------------------

    def release(self) -> Knowledge:
        """What those learn that all threads tell what they did."""
        told = super().release()
        for warp in self.warps:
            told.join(warp.release())
        return told

    def fence(self, site: Any, spaces: tuple[int, ...]) -> None:
        """A fence between the generic and the asynchronous proxy, by all threads."""
        super().fence(site, spaces)
        for warp in self.warps:
            warp.fence(site, spaces)

    def alone(self) -> Knowledge:
        """What those learn that one thread of the group tells what it did."""
        told = self.known.copy()
        told.moment = self.now
        self.next_step()
        return told

    # -- Memory --------------------------------------------------------------------------------------------------------

    def touch(
        self,
        memory: MemRef,
        write: bool,
        what: str,
        site: Any,
        owner: Any,
        *,
        stream: tuple[int, int] | None = None,
        asynchronous: bool = False,
        atomic: bool = False,
        alike: Callable[[], bool] | None = None,
        work: Any = None,
    ) -> bool:
        """Checks an access. Returns whether it is inside of the memory.

        `stream` is the agent and the step of what is asynchronous, and `work` does it; `alike` tells of a write whether
        it changes nothing.
        """
        if (outside := memory.why_outside()) is not None:
            verb = "writes" if write else "reads"
            self.report("out-of-bounds", f"{what} {verb} {outside}", site)
            return False
        self.acts()
        if stream is None:
            self.dirty = True
            if self.machine.recorder is not None:
                self._takes_time(self.machine.recorder, memory, write, what, site)
        if not self.machine.how.races:
            return True
        agent, step = stream or (self.agent, self.step)
        now = Access(agent, step, owner, what, write, asynchronous, self, site, atomic, work)
        besides = self.leader if owner == self.elected() else self.own if owner == TENSOR else {}
        written = self.machine.checker.access(memory, now, self.known, besides, alike)
        if not written and not write and memory.buffer.shared:
            edge = "a write of all of it that is ordered before"
            message = f"{what} reads {memory.describe()}, of which a part was never written"
            self.report("uninitialised", message, site, edge=edge)
        return True

    def _takes_time(self, recorder: Recorder, memory: MemRef, write: bool, what: str, site: Any) -> None:
        size, shared = memory.size, memory.buffer.shared
        _, end = recorder.access(self, size, shared, write, site)
        recorder.busy(self, end, "access", words_of_access(what, write, shared), site, size)

    # -- Findings ------------------------------------------------------------------------------------------------------

    def report(
        self, kind: str, message: str, site: Any, *, edge: str | None = None, others: Iterable[Finding] = ()
    ) -> None:
        self.machine.findings.add(
            Finding(
                kind,
                message,
                self.block.position,
                self.name,
                site.location if site is not None else None,
                tuple(self.loops),
                tuple(others),
                edge,
            )
        )


def explain(kind: str, before: Access, now: Access, memory: MemRef) -> Finding:
    """A race, or a write that is not visible, in words."""

    def verb(access: Access) -> str:
        return "writes" if access.write else "reads"

    def side(access: Access) -> str:
        return f"{access.what} {verb(access)}"

    place = memory.describe()
    if kind == "missing-fence" and before.owner == PIPE:
        message = f"{side(now)} {place}, which {before.what} wrote, and may be ordered before the wait for it"
        edge = "nvvm.tcgen05.fence <after> behind the wait"
    elif kind == "missing-fence":
        message = f"{side(now)} {place}, which {before.what} wrote through the generic proxy"
        edge = "a proxy fence (nvvm.fence.proxy async.shared) between the write and it"
    else:
        message = f"{side(now)} {place} while {before.what} may still {verb(before)[:-1]} it"
        edge = _edge(before, now)
    other = Finding(
        kind, f"{side(before)} it here", before.block, before.group.name, before.site.location, before.iteration
    )
    return Finding(kind, message, now.block, now.group.name, now.site.location, now.iteration, (other,), edge)


OF_CLUSTERS = (
    "an arrival behind it on a barrier that the other block waits for before, in shared memory or the cluster's"
)
"""What would order two blocks of a cluster, in words."""


def _edge(before: Access, now: Access) -> str:
    if before.group.block.cluster is not now.group.block.cluster:
        return "nothing orders the blocks of a grid; each has to write memory of its own, or to use atomics"
    same = before.group is now.group
    streams = {
        before.group.products.agent: "nvvm.wgmma.wait.group",
        before.group.bulk.agent: "nvvm.cp.async.bulk.wait_group (without read)",
        before.group.bulk.reads: "nvvm.cp.async.bulk.wait_group",
        before.group.copies.agent: "mosaic_gpu.async_wait_group",
        before.group.tensor.agent: "a wait for a barrier of mosaic_gpu.tcgen05_commit_arrive",
        before.group.tensor_loads.agent: "nvvm.tcgen05.wait <load>",
        before.group.tensor_stores.agent: "nvvm.tcgen05.wait <store>",
    }
    if before.agent in streams:
        wait = f"{streams[before.agent]} that covers it in {before.group.name}"
        if before.owner == PIPE or (same and now.owner in (LEADER, TENSOR)):
            return wait
        return f"{wait}, and a barrier behind it that {'its threads' if same else now.group.name} wait for"
    if before.agent != before.group.agent:
        return f"a wait by {now.group.name} for the phase of the barrier that tells of {before.what}"
    if before.group.block is not now.group.block:
        return OF_CLUSTERS
    if same:
        return f"a barrier of the threads of {now.group.name} between them: other threads touch the same bytes"
    return f"an arrival of {before.group.name} behind it on a barrier that {now.group.name} waits for before"


class Scheduler:
    """Runs the warpgroups of blocks that are there at the same time."""

    def __init__(
        self, machine: Machine, blocks: list[Block], number: int, more: Callable[[], list[Block]] = list
    ) -> None:
        self.machine = machine
        self.blocks = blocks
        self._more = more
        """Gives other blocks, which start when none of the first can go on."""
        groups = [group for block in blocks for group in block.groups]
        order = machine.how.order
        self.in_turn = order == "round-robin"
        seed = seed_of(order)
        self.random = random.Random(f"{seed}:{number}") if seed is not None else None
        if order == "last-ahead":
            groups.reverse()
        elif order == "adversarial":
            turn = number % max(len(groups), 1)
            groups = groups[turn:] + groups[:turn]
        self.groups = groups
        """First those that go first."""
        for block in blocks:
            block.on_new = groups.append if order != "last-ahead" else lambda new: groups.insert(0, new)
        self._turn = 0

    def run(self) -> None:
        while True:
            if self.machine.chance is not None:
                self._complete_by_chance()
            able = [g for g in self.groups if not g.finished and (g.wait is None or g.wait.ready())]
            if able:
                self._advance(self._pick(able))
            elif self._complete_what_is_waited_for() or self._start():
                continue
            elif all(g.finished for g in self.groups):
                return
            elif polls := [g for g in self.groups if not g.finished and isinstance(g.wait, Poll) and not g.wait.stuck]:
                for group in polls:
                    self._advance(group)
            else:
                self._deadlock()
                return

    def _start(self) -> bool:
        """Lets other blocks begin."""
        self.groups[:] = [group for group in self.groups if not group.finished]
        blocks = self._more()
        for block in blocks:
            self.groups += block.groups
            block.on_new = self.groups.append
        self.blocks = [*self.blocks, *blocks]
        self._turn = 0
        return bool(blocks)

    def _pick(self, able: list[Group]) -> Group:
        if self.machine.recorder is not None:
            return min(able, key=lambda g: g.now if g.wait is None else max(g.now, g.wait.knowledge().moment))
        if self.random is not None:
            return self.random.choice(able)
        if not self.in_turn:
            return able[0]
        later = [g for g in able if self.groups.index(g) >= self._turn]
        group = (later or able)[0]
        self._turn = self.groups.index(group) + 1
        return group

    def _advance(self, group: Group) -> None:
        group.wait = None
        assert group.program is not None
        in_time = self.machine.recorder is not None
        ahead = not self.in_turn and self.random is None and not in_time
        for wait in group.program:
            if wait is not None and (in_time or not wait.ready()):
                group.wait = wait
                return
            if not ahead:
                return
        group.finished = True

    def _complete_by_chance(self) -> None:
        chance = self.machine.chance
        assert chance is not None
        for block in self.blocks:
            if block.flights and chance.random() < 0.25:
                block.complete(chance.choice(block.flights))

    def _complete_what_is_waited_for(self) -> bool:
        """Lets one copy happen, one that somebody waits for."""
        wanted = {id(g.wait.barrier) for g in self.groups if g.wait is not None and g.wait.barrier is not None}
        for block in self.blocks:
            flights = [f for f in block.flights if wanted & {id(b) for b in f.barriers}]
            if flights:
                # The newest one first: what relies on the order of copies is wrong.
                block.complete(flights[-1])
                return True
        return False

    def _deadlock(self) -> None:
        waiting = [g for g in self.groups if not g.finished and not (g.wait and g.wait.inner)]
        for group in waiting:
            if isinstance(group.wait, Poll):
                group.wait.refuse()
        told = [
            Finding(
                "deadlock",
                f"waits for {g.wait.describe() if g.wait else 'nothing'}",
                g.block.position,
                g.name,
                g.wait.site.location if g.wait else None,
                tuple(g.loops),
            )
            for g in waiting
        ]
        for group in waiting:
            barrier = group.wait.barrier if group.wait else None
            if barrier is not None and not barrier.pending and barrier.transactions > 0:
                group.report(
                    "transaction",
                    f"{barrier.name} was told to expect {barrier.expected} bytes in phase {barrier.phase}, "
                    f"of which copies brought {barrier.expected - barrier.transactions}",
                    group.wait.site if group.wait else None,
                    edge=f"a copy of {barrier.transactions} bytes that this barrier counts",
                )
        first = told[0]
        self.machine.findings.add(
            Finding(
                "deadlock",
                f"nobody in the {'block' if len(self.blocks) == 1 else 'cluster'} can go on; this one {first.message}",
                first.block,
                first.agent,
                first.location,
                first.iteration,
                tuple(told[1:]),
                "what the barriers say is missing",
            )
        )
        raise Stop
