# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Release, acquire and vector clocks of warps and warpgroups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from .clocks import GLOBAL, SHARED, HappensBefore, VectorClock, join
from .findings import Finding, Site, Stop
from .synchronization import ClusterMeeting, Mbarrier, Stream


class Agent:
    """Threads that execute one program together and have one vector clock: a warpgroup or a warp."""

    warp_index: int | None = None
    """The number of the warp in its block, if the agent is a warp."""
    name: str

    def __init__(self, block: Any, threads: int) -> None:
        self.block = block
        self.machine = block.machine
        self.threads = threads
        self.counted = threads
        """The number of threads that thread barriers count."""
        self.agent: int = self.machine.agent()
        self.step = 1
        self.dirty = False
        """Whether the agent did something in this step."""
        self.pending_acquires: list[tuple[Site, int]] = []
        """Acquires without an access of this agent after them, which therefore had no effect so far; with the thread
        count of a thread barrier, else 0."""
        self.fenced = {SHARED: 0, GLOBAL: 0}
        """The last step whose writes a proxy fence of this agent followed, for shared and global memory."""
        self.known = HappensBefore()
        """What happens before the next access of every thread."""
        self.leader: VectorClock = {}
        """The additional clock of the elected thread."""
        self.own: VectorClock = {}
        """The additional clock of each thread for the operations that it issued itself."""
        self.own_fenced: VectorClock = {}
        self.wgmmas = Stream(self.machine.agent())
        self.bulk = Stream(self.machine.agent(), self.machine.agent())
        self.copies = Stream(self.machine.agent())
        self.now = 0.0
        """The time of the agent, in a run with a timeline."""
        self.arrived: ClusterMeeting | None = None
        """The use of the cluster barrier at which the agent arrived without having waited."""
        self.republished: list[tuple[Site, int]] = []
        """The acquires from thread barriers before the cluster arrival, which the cluster wait acquires again."""
        self.met: Site | None = None
        """The wait after which all blocks of the cluster are known to have started."""
        self.visible_barriers: set[Mbarrier] = set()
        """Mbarriers whose initialization the cluster barrier makes visible."""
        self.last_wait: tuple[Site, VectorClock] | None = None
        """The last cluster wait, and the clock before it."""
        self.finished = False

    @property
    def loops(self) -> Sequence[Any]:
        """Induction variables of the enclosing loops."""
        raise NotImplementedError

    def all(self) -> Sequence[Agent]:
        """The agent, and its warps if they ran independently."""
        return [self]

    def release(self) -> HappensBefore:
        """The clocks that a release of all threads of the agent publishes."""
        published = self.known.copy()
        self.next_step()
        published.seen[self.agent] = self.step - 1
        for sign, step in self.fenced.items():
            published.visible[sign * self.agent] = step
        published.moment = self.now
        for mine in (self.leader, self.own):
            for agent, step in mine.items():
                published.seen[agent] = max(step, published.seen.get(agent, 0))
        for agent, step in self.own_fenced.items():
            published.visible[agent] = max(step, published.visible.get(agent, 0))
        return published

    def next_step(self) -> None:
        """Ends the step, so that later accesses are distinguished from earlier ones."""
        if self.dirty:
            self.step += 1
            self.dirty = False

    def acquire(self, clocks: HappensBefore, site: Site, threads: int = 0) -> None:
        """Joins published clocks into those of the agent."""
        if self.machine.recorder is not None:
            self.machine.recorder.wait(self, clocks.moment, site)
        known = bool(self.visible_barriers) and self._has_seen(clocks)
        if not self.known.join(clocks):
            return
        self.last_wait = None
        if not known:
            self.pending_acquires.append((site, threads))

    def _has_seen(self, clocks: HappensBefore) -> bool:
        """Whether all changed in the clocks is the initialization of mbarriers, which the cluster barrier made visible
        before."""
        published: dict[int, set[int]] = {}
        for barrier in self.visible_barriers:
            published.setdefault(barrier.initialized.agent, set()).add(barrier.initialized.step)
        return all(
            published.get(agent, set()).issuperset(range(before.get(agent, 0) + 1, step + 1))
            for before, clock in (
                (self.known.seen, clocks.seen),
                (self.known.visible, clocks.visible),
                (self.known.completed, clocks.completed),
            )
            for agent, step in clock.items()
        )

    def acquire_phases(self, barrier: Mbarrier, phases: int, site: Site, of_cluster: bool = False) -> None:
        """Acquires the first `phases` phases of an mbarrier, which are complete, at cluster scope or at block
        scope."""
        published = barrier.published_clocks(phases, of_cluster)
        publishes_more = barrier.publishes_more(published, self.known)
        before = len(self.pending_acquires)
        barrier.waited(self, phases, site)
        self.acquire(published, site)
        if not publishes_more:
            del self.pending_acquires[before:]
        if barrier.phase:
            # Without any of these arrivals the wait would never end.
            self.machine.effective.update((place.number, "awaited") for place in barrier.awaited)

    def arrive_at_barrier(self, threads: int) -> list[tuple[Site, int]]:
        """Arrives at a thread barrier, which subsumes the acquires of earlier barriers with fewer threads. Returns the
        acquires that the barrier forwards to other agents."""
        self.pending_acquires = [(site, number) for site, number in self.pending_acquires if not 0 < number <= threads]
        return [entry for entry in self.pending_acquires if not entry[1]] if threads > self.threads else []

    def acquired_from_barrier(self, published: list[tuple[Site, int]]) -> None:
        """Adds the acquires of the other participants of a thread barrier."""
        self.pending_acquires += [entry for entry in dict.fromkeys(published) if entry not in self.pending_acquires]

    def mark_effective(self, counts: Callable[[int], bool] = lambda number: True) -> None:
        """Marks the pending acquires as effective, because the agent accesses something after them."""
        if self.pending_acquires:
            self.machine.effective.update(
                (site.number, "removed") for site, number in self.pending_acquires if counts(number)
            )
            self.pending_acquires = [(site, number) for site, number in self.pending_acquires if not counts(number)]

    def wait_for_groups(self, stream: Stream, upto: int, site: Site) -> None:
        """Marks a wait for the groups up to a number: as effective if groups were outstanding, and as exact if the
        last one was."""
        for number in stream.groups:
            if number <= upto:
                self.machine.effective.add((site.number, "removed"))
                if number == upto:
                    self.machine.effective.add((site.number, "weakened"))

    # -- Clusters ------------------------------------------------------------------------------------------------------

    def arrive_at_cluster(self, site: Site, relaxed: bool) -> None:
        """Arrives at the cluster barrier."""
        if self.arrived is not None:
            self.stop(
                "barrier",
                "this is the second arrival at the cluster barrier without a wait; a wait between two arrivals is required",
                site,
            )
        # A relaxed arrival orders only fenced initializations and completed waits.
        self.arrived = self.block.cluster.arrive(self, self._observed() if relaxed else self.release())
        self.republished = []
        if not relaxed:
            # Acquires from block barriers are republished, and the other blocks acquire the other ones.
            self.republished = [(place, number) for place, number in self.pending_acquires if number]
            self.mark_effective(lambda number: number == 0)

    def _observed(self) -> HappensBefore:
        """The completed barrier uses, without visible writes."""
        published = HappensBefore()
        published.used = dict(self.known.used)
        return published

    def cluster_arrival(self, site: Site) -> ClusterMeeting:
        """The use of the cluster barrier for which the agent waits."""
        if self.arrived is None:
            self.stop(
                "barrier",
                "this wait at the cluster barrier does not have a prior arrival; arrive before the wait",
                site,
            )
        return self.arrived

    def acquire_cluster(self, meeting: ClusterMeeting, site: Site) -> None:
        """Acquires the clocks of a completed use of the cluster barrier."""
        self.arrived = None
        if self.met is None:
            self.met = site
        self.visible_barriers |= meeting.initialized
        self.pending_acquires = [entry for entry in self.pending_acquires if entry not in self.republished]
        before = dict(self.known.seen)
        self.acquire(meeting.clocks, site)
        self.last_wait = (site, before)

    def access_remote(self, block: Any, what: str, site: Site, *published: tuple[int, int]) -> None:
        """Accesses the memory of another block. That block must have started, and must not exit before it is ordered
        after the step of one of the given agents."""
        if self.met is None:
            hint = "execute nvvm.cluster.arrive and nvvm.cluster.wait before the access"
            self.report(
                "barrier", f"{what} targets block {block.position}, which may not have started", site, hint=hint
            )
        else:
            self.machine.effective.add((self.met.number, "removed"))
        self.block.cluster.remote.append((self, block, list(published), what, site))

    def sees_initialization(self, barrier: Mbarrier) -> bool:
        """Whether the initialization of an mbarrier happens before the next access of all threads, also through the
        cluster barrier."""
        made = barrier.initialized
        if self.known.seen.get(made.agent, 0) >= made.step:
            return True
        if barrier.lane is not None and made.agent in self.known.lanes:
            return bool(self.known.lanes[made.agent][barrier.lane] >= made.step)
        if barrier in self.visible_barriers:
            assert self.met is not None and barrier.fenced is not None
            self.machine.effective |= {(self.met.number, "removed"), (barrier.fenced.number, "removed")}
            return True
        return False

    def stop(self, kind: str, message: str, site: Site, hint: str | None = None) -> NoReturn:
        """Reports a finding after which the block cannot continue."""
        self.report(kind, message, site, hint=hint)
        raise Stop

    def report(
        self, kind: str, message: str, site: Site | None, *, hint: str | None = None, others: Iterable[Finding] = ()
    ) -> None:
        """Reports a finding of this agent."""
        raise NotImplementedError

    def fence(self, site: Site, spaces: tuple[int, ...]) -> None:
        """A fence between the generic and the async proxy, by all threads, for these memory spaces."""
        self.next_step()
        changed = False
        for sign in spaces:
            changed |= self.fenced[sign] != self.step - 1
            self.fenced[sign] = self.step - 1
            for agent, step in self.known.seen.items():
                if self.known.visible.get(sign * agent, 0) < step:
                    self.known.visible[sign * agent] = step
                    changed = True
            for agent, steps in self.known.lanes.items():
                join(self.known.visible, {sign * agent: int(steps.max())})
            self.own_fenced |= {sign * agent: step for agent, step in self.own.items()}
        if changed:
            self.pending_acquires.append((site, 0))
        if SHARED not in spaces:
            return
        for barrier in self.block.barriers.values():
            if barrier.initialized.group is self:
                barrier.fenced = barrier.fenced or site
