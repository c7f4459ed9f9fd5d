# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The machine, clusters, blocks and thread groups."""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any, NoReturn, Protocol

import numpy as np

from .agents import Agent
from .clocks import HappensBefore, VectorClock
from .explain import explain
from .findings import Finding, Findings, Site, TimeLimit
from .memory import Buffer, MemRef
from .options import Simulation, seed_of
from .races import LEADER, TENSOR, Access, Checker
from .recorder import Recorder, words_of_access
from .synchronization import ClusterMeeting, Mbarrier, Stream, ThreadBarrier, Wait

Three = tuple[int, int, int]
Program = Generator[Wait | None, None, None]

BEAT = 1.0
"""Seconds between two reports of progress."""


class Machine:
    """State that all blocks of a launch share."""

    def __init__(self, how: Simulation, findings: Findings, recorder: Recorder | None = None) -> None:
        self.how = how
        self.recorder = recorder
        """Records times, in a run with a timeline."""
        self.findings = findings
        self.checker = Checker(self._report)
        self.agents = 0
        """The number of agents so far."""
        self.atomics: dict[tuple[Buffer, int], HappensBefore] = {}
        """What atomic operations released, by the element."""
        self.lane_checker: Any = None
        """The race checker of thread-level kernels."""
        self.polling = False
        """Whether threads may poll memory."""
        self.changes = 0
        """The number of changes of memory, if threads may poll it."""
        self.effective: set[tuple[int, str]] = set()
        """Synchronization that had an effect: the number of the op, and the mutation that would be an error."""
        seed = seed_of(how.completion)
        self.chance = random.Random(seed) if seed is not None else None
        """Chooses when asynchronous operations complete, with a random completion order."""

        self.waiting: deque[tuple[int, list[tuple[int, int, int]]]] = deque()
        """Clusters that are not launched: their numbers, and the positions of their blocks."""

        self.done, self.total = 0, 0
        """The completed blocks, and all blocks."""
        now = time.monotonic()
        self._deadline = now + how.time_limit if how.time_limit is not None else math.inf
        self._alarm = min(now + BEAT, self._deadline)

    def tick(self, who: Any, site: Site | None) -> None:
        """Called regularly while a program runs, for example in each iteration of a loop: checks the time limit and
        reports progress."""
        now = time.monotonic()
        if now < self._alarm:
            return
        if now >= self._deadline:
            raise TimeLimit(who, site)
        self._alarm = min(now + BEAT, self._deadline)
        self.progress()

    def progress(self, ended: int = 0) -> None:
        """Counts completed blocks."""
        self.done += ended
        if self.how.progress is not None:
            self.how.progress(self.done, self.total)

    def agent(self) -> int:
        self.agents += 1
        return self.agents

    def cancel(self, cluster: Cluster) -> tuple[int, int, int] | None:
        """Cancels the launch of a cluster for another cluster, and returns the position of its first block."""
        if not self.waiting or not cluster.share:
            return None
        cluster.share -= 1
        return self.waiting.popleft()[1][0]

    def _report(self, kind: str, before: Access, now: Access, memory: MemRef) -> None:
        self.findings.add(explain(kind, before, now, memory))


def place_names(block: Three, grid: Three, threads: Three, cluster: Three) -> dict[str, tuple[int, ...]]:
    """Positions and sizes of a block, by the name of the op that returns them."""
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
    """A cluster: blocks that run concurrently and access each other's shared memory."""

    def __init__(self, sizes: tuple[int, int, int]) -> None:
        self.sizes = sizes
        self.blocks: list[Block] = []
        """In the order of their ranks in the cluster, x first."""
        self.meeting: ClusterMeeting | None = None
        """The last use of the cluster barrier."""
        self.pipes: dict[int, Stream] = {}
        """The `tcgen05` streams of its threads, by the agent that orders their issue."""
        self.begun: dict[tuple[int, int], Any] = {}
        """The fence that orders the issue, by agent and step."""
        self.share = 0
        """The number of further clusters whose launch it can cancel."""
        self.refused = False
        """Whether a cancel request was refused."""
        self.remote: list[tuple[Agent, Block, list[tuple[int, int]], str, Any]] = []
        """Accesses to the memory of other blocks: agent, target block, the agents and steps that complete it,
        description, and op."""

    def arrive(self, agent: Agent, clocks: HappensBefore) -> ClusterMeeting:
        """An arrival at the cluster barrier, with the clocks that it publishes."""
        if self.meeting is None or not self.missing(self.meeting):
            self.meeting = ClusterMeeting()
        meeting = self.meeting
        meeting.arrived.add(agent)
        meeting.clocks.join(clocks)
        meeting.initialized.update(b for b in agent.block.barriers.values() if b.fenced)
        return meeting

    def missing(self, meeting: ClusterMeeting) -> list[Agent]:
        """The agents that have not arrived. Exited ones are not counted (PTX ISA, `exit`)."""
        found = (agent for block in self.blocks for agent in block.members)
        return [agent for agent in found if agent not in meeting.arrived and not agent.finished]

    def check_remote_accesses(self) -> None:
        """A block must not exit before it is ordered after the accesses of others to its shared memory."""
        for agent, block, published, what, site in self.remote:

            def knows(clock: VectorClock, published: list[tuple[int, int]] = published) -> bool:
                return any(clock.get(of, 0) >= step for of, step in published)

            members = [one for member in block.members for one in member.all()]
            knowing = [one for one in members if knows(one.known.seen) or knows(one.known.completed)]
            if not knowing:
                agent.report(
                    "leak",
                    f"{what} targets the shared memory of block {block.position}, which may have exited",
                    site,
                    hint=f"let block {block.position} wait for the access, or reach a cluster barrier before the block exits",
                )
            last = {one.last_wait[0] for one in knowing if one.last_wait and not knows(one.last_wait[1])}
            if len(last) == 1 and all(one.last_wait and not knows(one.last_wait[1]) for one in knowing):
                agent.machine.effective.add((last.pop().number, "removed"))

    def peer(self, block: Block, dimension: int, index: int) -> Block | None:
        """The block with this index in one dimension, and the index of `block` in the others."""
        place = list(block.names["cluster_block_id"])
        place[dimension] = index
        if not 0 <= index < self.sizes[dimension]:
            return None
        return self.blocks[place[0] + self.sizes[0] * (place[1] + self.sizes[1] * place[2])]


class Block:
    """A block: its shared memory, its barriers and its warpgroups."""

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
        """Exited groups, warps or waves, which barriers do not wait for."""
        self.flights: list[Any] = []
        """Outstanding copies with an mbarrier, in issue order."""
        self.arrivals: list[Any] = []
        """Outstanding arrivals after copies of AMD waves, at polled barriers, in issue order."""
        self.started: list[Any] = []
        """All issued copies and arrivals with an mbarrier."""
        self.groups: list[Group] = []
        self.on_new: Callable[[Any], None] | None = None
        """Called with each group that starts while others run."""
        self.tensor_grain = 4
        self.tensor: Buffer | None = None
        """Tensor memory, once allocated."""
        self.columns: dict[Any, tuple[int, int]] = {}
        """Allocated columns of tensor memory, by allocation."""
        self.cluster = cluster
        cluster.blocks.append(self)
        self.names: dict[str, tuple[int, ...]] = {}
        """Positions and sizes, by the name of the op that returns them."""

    @property
    def members(self) -> list[Any]:
        """All agents of the block."""
        return self.groups

    def thread_barrier(self, number: int) -> ThreadBarrier:
        if number not in self.thread_barriers:
            name = "the block barrier" if number == 0 else f"block barrier {number}"
            self.thread_barriers[number] = ThreadBarrier(name, self.machine.agent(), self.counted, self.ended)
        return self.thread_barriers[number]

    @property
    def counted(self) -> int:
        """The thread count of a barrier of all threads."""
        return self.names["threads"][0]

    def leave(self, members: Iterable[Any]) -> None:
        """Records exited groups or warps."""
        self.ended += members
        for barrier in self.thread_barriers.values():
            barrier.advance()

    def release(self) -> bool:
        """Called if no thread can make progress: completes a barrier whose missing participants have all exited.
        Returns whether one completed."""
        return any(barrier.advance(stuck=True) for barrier in self.thread_barriers.values())

    def complete(self, flight: Any) -> None:
        """Executes a copy."""
        self.flights.remove(flight)
        flight.complete()


class Group(Agent):
    """A warpgroup, or a block whose warps execute one program together."""

    block: Block
    machine: Machine

    def __init__(self, block: Block, index: int, first: int, threads: int, values: list[Any], name: str) -> None:
        super().__init__(block, threads)
        self.index = index
        self.name = name
        self.first = first
        """The number of the first thread."""
        self.v = values
        """Values of the program, by slot."""
        self._loops: list[int] = []
        self.parent: Group | None = None
        """The group of a warp."""
        self.warp: int | None = None
        """The number of the warp in that group."""
        self.warps: list[Group] = []
        """Its warps, if they ran independently."""
        self.register_fences: tuple[Any, list[Any], list[Any]] = (None, [], [])
        """The last `wgmma` register fence, and the values that existed at it and at the fence before it."""
        self.tensor = Stream(self.machine.agent(), self.machine.agent())
        block.cluster.pipes[self.tensor.reads] = self.tensor
        """`tcgen05` MMAs and copies."""
        self.tensor_loads = Stream(self.machine.agent())
        self.tensor_stores = Stream(self.machine.agent())
        self.tensor_known: VectorClock = {}
        """The `tcgen05` operations that a fence orders before later ones."""
        self.tensor_before: VectorClock = {}
        """The same before the last fence."""
        self.tensor_fence: Any = None
        """The last fence."""
        self.wait: Wait | None = None
        self.program: Program | None = None

    @property
    def loops(self) -> list[int]:
        return self._loops

    @property
    def lanes(self) -> int:
        """The number of active threads."""
        return self.threads

    @property
    def arrivals(self) -> int:
        """The number of threads as which it arrives on an mbarrier of `mosaic_gpu`: a warp stands for its
        warpgroup."""
        return self.threads if self.parent is None else self.parent.threads

    def thread_numbers(self) -> np.ndarray[Any, Any]:
        """The numbers of its threads in the block."""
        return np.arange(self.first, self.first + self.threads)

    def elected(self) -> Any:
        """The owner of an access by one elected thread: that of a group is in its first warp."""
        return LEADER if not self.warp else (LEADER, self.warp)

    def all(self) -> list[Group]:
        """The group and its warps."""
        return [self, *self.warps]

    def ending(self) -> list[Group]:
        """The agents that exit at the end of its program: a warp continues as its warpgroup."""
        return [self] if self.parent is None else []

    def related(self, other: Group) -> bool:
        """Whether `other` is the same group, one of its warps, or the group of the warp."""
        return self is other or self.parent is other or self is other.parent

    # -- Clocks --------------------------------------------------------------------------------------------------------

    def release(self) -> HappensBefore:
        """The clocks that a release of all threads publishes."""
        published = super().release()
        for warp in self.warps:
            published.join(warp.release())
        return published

    def fence(self, site: Site, spaces: tuple[int, ...]) -> None:
        """A fence between the generic and the async proxy, by all threads."""
        super().fence(site, spaces)
        for warp in self.warps:
            warp.fence(site, spaces)

    def synchronize(self, site: Site) -> None:
        """A barrier of its own threads."""
        self.arrive_at_barrier(self.threads)
        self.acquire(self.release(), site, self.threads)

    def alone(self) -> HappensBefore:
        """The clocks that a release of one thread of the group publishes."""
        published = self.known.copy()
        published.moment = self.now
        self.next_step()
        return published

    # -- Memory --------------------------------------------------------------------------------------------------------

    def touch(
        self,
        memory: MemRef,
        write: bool,
        what: str,
        site: Site,
        owner: Any,
        *,
        stream: tuple[int, int] | None = None,
        asynchronous: bool = False,
        atomic: bool = False,
        alike: Callable[[], bool] | None = None,
        work: Any = None,
    ) -> bool:
        """Checks an access. Returns whether it is in bounds.

        `stream` is the agent and the step of an asynchronous operation, and `work` executes it; `alike` returns
        whether a write changes nothing.
        """
        if (outside := memory.why_outside()) is not None:
            verb = "writes" if write else "reads"
            self.report("out-of-bounds", f"{what} {verb} {outside}", site)
            return False
        self.mark_effective()
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
            hint = "write all of these bytes before the read, and synchronize the two, for example with a barrier"
            message = f"{what} reads {memory.describe()}; some of these bytes are uninitialized"
            self.report("uninitialized", message, site, hint=hint)
        return True

    def _takes_time(self, recorder: Recorder, memory: MemRef, write: bool, what: str, site: Site) -> None:
        size, shared = memory.size, memory.buffer.shared
        _, end = recorder.access(self, size, shared, write, site)
        recorder.busy(self, end, "access", words_of_access(what, write, shared), site, size)

    # -- Findings ------------------------------------------------------------------------------------------------------

    def report(
        self, kind: str, message: str, site: Site | None, *, hint: str | None = None, others: Iterable[Finding] = ()
    ) -> None:
        self.machine.findings.add(
            Finding(
                kind,
                message,
                self.block.position,
                agent=self.name,
                location=site.location if site is not None else None,
                iteration=tuple(self.loops),
                others=tuple(others),
                hint=hint,
            )
        )


class State(Protocol):
    """The state that the steps of ops modify: a group of threads, or the host."""

    v: list[Any]
    """Values of the program, by slot."""
    machine: Machine

    @property
    def loops(self) -> list[Any]:
        """Induction variables of the enclosing loops."""
        ...

    def stop(self, kind: str, message: str, site: Site) -> NoReturn:
        """Reports a finding after which the run cannot continue."""
        ...

    def report(self, kind: str, message: str, site: Site) -> None: ...
