"""Who knows what: agents that do things, and learn of what others did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from .clocks import GLOBAL, SHARED, HappensBefore, VectorClock, join
from .findings import Finding, Site, Stop
from .synchronization import ClusterMeeting, Mbarrier, Stream


class Agent:
    """Threads that run one program together and have one clock: a warpgroup, or a warp."""

    warp_index: int | None = None
    """Which warp of its block it is, if it is one."""
    name: str

    def __init__(self, block: Any, threads: int) -> None:
        self.block = block
        self.machine = block.machine
        self.threads = threads
        self.counted = threads
        """Threads that barriers of threads count."""
        self.agent: int = self.machine.agent()
        self.step = 1
        self.dirty = False
        """Whether something was done in this step."""
        self.pending_acquires: list[tuple[Site, int]] = []
        """Where something was learned since this group did something; of barriers of threads, for how many."""
        self.fenced = {SHARED: 0, GLOBAL: 0}
        """The last step whose writes a proxy fence of this group followed, to shared and to global memory."""
        self.known = HappensBefore()
        """What every thread knows."""
        self.leader: VectorClock = {}
        """What the elected thread knows besides."""
        self.own: VectorClock = {}
        """What each thread knows of what it started itself."""
        self.own_fenced: VectorClock = {}
        self.products = Stream(self.machine.agent())
        self.bulk = Stream(self.machine.agent(), self.machine.agent())
        self.copies = Stream(self.machine.agent())
        self.now = 0.0
        """The moment up to which it has run, in a run with a timeline."""
        self.arrived: ClusterMeeting | None = None
        """The use of the cluster's barrier at which it arrived, and has not waited."""
        self.republished: list[tuple[Site, int]] = []
        """What it had learned from barriers of threads when it arrived there, which the wait tells again."""
        self.met: Site | None = None
        """The wait behind which all blocks of the cluster are known to run."""
        self.visible_barriers: set[Mbarrier] = set()
        """Barriers whose initialization the barrier of the cluster told of."""
        self.last_wait: tuple[Site, VectorClock] | None = None
        """The wait for the cluster that it learned from last, and what it knew before."""
        self.finished = False

    @property
    def loops(self) -> Sequence[Any]:
        """Induction variables of the loops that run."""
        raise NotImplementedError

    def all(self) -> Sequence[Agent]:
        """It, and its warps where they ran by themselves."""
        return [self]

    def release(self) -> HappensBefore:
        """What those learn that this group tells what it did."""
        told = self.known.copy()
        self.next_step()
        told.seen[self.agent] = self.step - 1
        for sign, step in self.fenced.items():
            told.visible[sign * self.agent] = step
        told.moment = self.now
        for mine in (self.leader, self.own):
            for agent, step in mine.items():
                told.seen[agent] = max(step, told.seen.get(agent, 0))
        for agent, step in self.own_fenced.items():
            told.visible[agent] = max(step, told.visible.get(agent, 0))
        return told

    def next_step(self) -> None:
        """What it does from here on is told apart from what it did."""
        if self.dirty:
            self.step += 1
            self.dirty = False

    def acquire(self, clocks: HappensBefore, site: Site, threads: int = 0) -> None:
        """Learns what others told."""
        if self.machine.recorder is not None:
            self.machine.recorder.wait(self, clocks.moment, site)
        known = bool(self.visible_barriers) and self._has_seen(clocks)
        if not self.known.join(clocks):
            return
        self.last_wait = None
        if not known:
            self.pending_acquires.append((site, threads))

    def _has_seen(self, clocks: HappensBefore) -> bool:
        """Whether the barrier of the cluster told all of it before: that barriers are initialized."""
        told: dict[int, set[int]] = {}
        for barrier in self.visible_barriers:
            told.setdefault(barrier.initialized.agent, set()).add(barrier.initialized.step)
        return all(
            told.get(agent, set()).issuperset(range(before.get(agent, 0) + 1, step + 1))
            for before, clock in (
                (self.known.seen, clocks.seen),
                (self.known.visible, clocks.visible),
                (self.known.completed, clocks.completed),
            )
            for agent, step in clock.items()
        )

    def acquire_phases(self, barrier: Mbarrier, phases: int, site: Site, of_cluster: bool = False) -> None:
        """Learns what so many phases of a barrier tell, which are complete; in the scope of the cluster, or of its
        block."""
        told = barrier.told(phases, of_cluster)
        tells = barrier.tells(told, self.known)
        before = len(self.pending_acquires)
        barrier.waited(self, phases, site)
        self.acquire(told, site)
        if not tells:
            del self.pending_acquires[before:]
        if barrier.phase:
            # It would wait for ever without any of them.
            self.machine.effective.update((place.number, "awaited") for place in barrier.awaited)

    def arrive_at_barrier(self, threads: int) -> list[tuple[Site, int]]:
        """Comes to a barrier of threads, from which all is learned that smaller ones before it told. Returns what others
        learn there, as it was learned in other ways."""
        self.pending_acquires = [(site, number) for site, number in self.pending_acquires if not 0 < number <= threads]
        return [entry for entry in self.pending_acquires if not entry[1]] if threads > self.threads else []

    def acquired_from_barrier(self, told: list[tuple[Site, int]]) -> None:
        """Learned at a barrier of threads what those that came to it had learned."""
        self.pending_acquires += [entry for entry in dict.fromkeys(told) if entry not in self.pending_acquires]

    def mark_effective(self, counts: Callable[[int], bool] = lambda number: True) -> None:
        """Does something: what it learned before has mattered."""
        if self.pending_acquires:
            self.machine.effective.update(
                (site.number, "removed") for site, number in self.pending_acquires if counts(number)
            )
            self.pending_acquires = [(site, number) for site, number in self.pending_acquires if not counts(number)]

    def wait_for_groups(self, stream: Stream, upto: int, site: Site) -> None:
        """Says which of the groups up to a number were in flight: without the wait, and with one that leaves one more."""
        for number in stream.groups:
            if number <= upto:
                self.machine.effective.add((site.number, "removed"))
                if number == upto:
                    self.machine.effective.add((site.number, "weakened"))

    # -- Clusters ------------------------------------------------------------------------------------------------------

    def arrive_at_cluster(self, site: Site, relaxed: bool) -> None:
        """Arrives at the barrier of the cluster."""
        if self.arrived is not None:
            self.stop("barrier", "second arrival at the cluster barrier without a wait between the two arrivals", site)
        # A relaxed arrival orders nothing but what fences tell, and waits, which are over.
        self.arrived = self.block.cluster.arrive(self, self._observed() if relaxed else self.release())
        self.republished = []
        if not relaxed:
            # What barriers of the block told is told again, and others learn what was learned in other ways.
            self.republished = [(place, number) for place, number in self.pending_acquires if number]
            self.mark_effective(lambda number: number == 0)

    def _observed(self) -> HappensBefore:
        """What is over, of which nothing is known to be seen."""
        told = HappensBefore()
        told.used = dict(self.known.used)
        return told

    def cluster_arrival(self, site: Site) -> ClusterMeeting:
        """The use of the cluster's barrier that it waits for."""
        if self.arrived is None:
            self.stop("barrier", "wait at the cluster barrier without a prior arrival", site)
        return self.arrived

    def acquire_cluster(self, meeting: ClusterMeeting, site: Site) -> None:
        """Goes on behind the barrier of the cluster."""
        self.arrived = None
        if self.met is None:
            self.met = site
        self.visible_barriers |= meeting.initialized
        self.pending_acquires = [entry for entry in self.pending_acquires if entry not in self.republished]
        before = dict(self.known.seen)
        self.acquire(meeting.clocks, site)
        self.last_wait = (site, before)

    def access_remote(self, block: Any, what: str, site: Site, *told: tuple[int, int]) -> None:
        """Does something to the memory of another block: it has to run, and must not end before it is told of it, by the
        step of one of some agents."""
        if self.met is None:
            hint = "execute nvvm.cluster.arrive and nvvm.cluster.wait before the access"
            self.report(
                "barrier", f"{what} targets block {block.position}, which may not have started", site, hint=hint
            )
        else:
            self.machine.effective.add((self.met.number, "removed"))
        self.block.cluster.remote.append((self, block, list(told), what, site))

    def sees_initialization(self, barrier: Mbarrier) -> bool:
        """Whether all its threads know that a barrier is initialized, also from the barrier of the cluster."""
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
        """Reports what the block cannot go on after."""
        self.report(kind, message, site, hint=hint)
        raise Stop

    def report(
        self, kind: str, message: str, site: Site | None, *, hint: str | None = None, others: Iterable[Finding] = ()
    ) -> None:
        """Reports what it does."""
        raise NotImplementedError

    def fence(self, site: Site, spaces: tuple[int, ...]) -> None:
        """A fence between the generic and the asynchronous proxy, by all threads, for some memory."""
        self.next_step()
        news = False
        for sign in spaces:
            news |= self.fenced[sign] != self.step - 1
            self.fenced[sign] = self.step - 1
            for agent, step in self.known.seen.items():
                if self.known.visible.get(sign * agent, 0) < step:
                    self.known.visible[sign * agent] = step
                    news = True
            for agent, steps in self.known.lanes.items():
                join(self.known.visible, {sign * agent: int(steps.max())})
            self.own_fenced |= {sign * agent: step for agent, step in self.own.items()}
        if news:
            self.pending_acquires.append((site, 0))
        if SHARED not in spaces:
            return
        for barrier in self.block.barriers.values():
            if barrier.initialized.group is self:
                barrier.fenced = barrier.fenced or site
