"""Who knows what: agents that do things, and learn of what others did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from .clocks import GLOBAL, SHARED, Clock, Knowledge, join
from .findings import Finding, Site, Stop
from .synchronisation import ClusterMeeting, Mbarrier, Stream


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
        self.learned: list[tuple[Site, int]] = []
        """Where something was learned since this group did something; of barriers of threads, for how many."""
        self.fenced = {SHARED: 0, GLOBAL: 0}
        """The last step whose writes a proxy fence of this group followed, to shared and to global memory."""
        self.known = Knowledge()
        """What every thread knows."""
        self.leader: Clock = {}
        """What the elected thread knows besides."""
        self.own: Clock = {}
        """What each thread knows of what it started itself."""
        self.own_fenced: Clock = {}
        self.products = Stream(self.machine.agent())
        self.bulk = Stream(self.machine.agent(), self.machine.agent())
        self.copies = Stream(self.machine.agent())
        self.now = 0.0
        """The moment up to which it has run, in a run with a timeline."""
        self.arrived: ClusterMeeting | None = None
        """The use of the cluster's barrier at which it arrived, and has not waited."""
        self.retold: list[tuple[Site, int]] = []
        """What it had learned from barriers of threads when it arrived there, which the wait tells again."""
        self.met: Site | None = None
        """The wait behind which all blocks of the cluster are known to run."""
        self.sees: set[Mbarrier] = set()
        """Barriers whose initialisation the barrier of the cluster told of."""
        self.last_wait: tuple[Site, Clock] | None = None
        """The wait for the cluster that it learned from last, and what it knew before."""
        self.finished = False

    @property
    def loops(self) -> Sequence[Any]:
        """Induction variables of the loops that run."""
        raise NotImplementedError

    def all(self) -> Sequence[Agent]:
        """It, and its warps where they ran by themselves."""
        return [self]

    def release(self) -> Knowledge:
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

    def acquire(self, knowledge: Knowledge, site: Site, threads: int = 0) -> None:
        """Learns what others told."""
        if self.machine.recorder is not None:
            self.machine.recorder.wait(self, knowledge.moment, site)
        known = bool(self.sees) and self._has_seen(knowledge)
        if not self.known.join(knowledge):
            return
        self.last_wait = None
        if not known:
            self.learned.append((site, threads))

    def _has_seen(self, knowledge: Knowledge) -> bool:
        """Whether the barrier of the cluster told all of it before: that barriers are initialised."""
        told: dict[int, set[int]] = {}
        for barrier in self.sees:
            told.setdefault(barrier.initialised.agent, set()).add(barrier.initialised.step)
        return all(
            told.get(agent, set()).issuperset(range(before.get(agent, 0) + 1, step + 1))
            for before, clock in (
                (self.known.seen, knowledge.seen),
                (self.known.visible, knowledge.visible),
                (self.known.over, knowledge.over),
            )
            for agent, step in clock.items()
        )

    def passes(self, barrier: Mbarrier, phases: int, site: Site, of_cluster: bool = False) -> None:
        """Learns what so many phases of a barrier tell, which are complete; in the scope of the cluster, or of its
        block."""
        told = barrier.told(phases, of_cluster)
        tells = barrier.tells(told, self.known)
        before = len(self.learned)
        barrier.waited(self, phases, site)
        self.acquire(told, site)
        if not tells:
            del self.learned[before:]
        if barrier.phase:
            # It would wait for ever without any of them.
            self.machine.effective.update((place.number, "awaited") for place in barrier.awaited)

    def meets(self, threads: int) -> list[tuple[Site, int]]:
        """Comes to a barrier of threads, from which all is learned that smaller ones before it told. Returns what others
        learn there, as it was learned in other ways."""
        self.learned = [(site, number) for site, number in self.learned if not 0 < number <= threads]
        return [entry for entry in self.learned if not entry[1]] if threads > self.threads else []

    def met_others(self, told: list[tuple[Site, int]]) -> None:
        """Learned at a barrier of threads what those that came to it had learned."""
        self.learned += [entry for entry in dict.fromkeys(told) if entry not in self.learned]

    def acts(self, counts: Callable[[int], bool] = lambda number: True) -> None:
        """Does something: what it learned before has mattered."""
        if self.learned:
            self.machine.effective.update((site.number, "removed") for site, number in self.learned if counts(number))
            self.learned = [(site, number) for site, number in self.learned if not counts(number)]

    def waits_for_groups(self, stream: Stream, upto: int, site: Site) -> None:
        """Says which of the groups up to a number were in flight: without the wait, and with one that leaves one more."""
        for number in stream.groups:
            if number <= upto:
                self.machine.effective.add((site.number, "removed"))
                if number == upto:
                    self.machine.effective.add((site.number, "weakened"))

    # -- Clusters ------------------------------------------------------------------------------------------------------

    def arrives_in_cluster(self, site: Site, relaxed: bool) -> None:
        """Arrives at the barrier of the cluster."""
        if self.arrived is not None:
            self.stop("barrier", "a second arrival at the barrier of the cluster with no wait between", site)
        # A relaxed arrival orders nothing but what fences tell, and waits, which are over.
        self.arrived = self.block.cluster.arrive(self, self._observed() if relaxed else self.release())
        self.retold = []
        if not relaxed:
            # What barriers of the block told is told again, and others learn what was learned in other ways.
            self.retold = [(place, number) for place, number in self.learned if number]
            self.acts(lambda number: number == 0)

    def _observed(self) -> Knowledge:
        """What is over, of which nothing is known to be seen."""
        told = Knowledge()
        told.used = dict(self.known.used)
        return told

    def arrived_in_cluster(self, site: Site) -> ClusterMeeting:
        """The use of the cluster's barrier that it waits for."""
        if self.arrived is None:
            self.stop("barrier", "a wait at the barrier of the cluster with no arrival before", site)
        return self.arrived

    def passes_cluster(self, meeting: ClusterMeeting, site: Site) -> None:
        """Goes on behind the barrier of the cluster."""
        self.arrived = None
        if self.met is None:
            self.met = site
        self.sees |= meeting.initialised
        self.learned = [entry for entry in self.learned if entry not in self.retold]
        before = dict(self.known.seen)
        self.acquire(meeting.knowledge, site)
        self.last_wait = (site, before)

    def reaches(self, block: Any, what: str, site: Site, *told: tuple[int, int]) -> None:
        """Does something to the memory of another block: it has to run, and must not end before it is told of it, by the
        step of one of some agents."""
        if self.met is None:
            edge = "nvvm.cluster.arrive and nvvm.cluster.wait before"
            self.report("barrier", f"{what} to block {block.position}, which may not have started", site, edge=edge)
        else:
            self.machine.effective.add((self.met.number, "removed"))
        self.block.cluster.remote.append((self, block, list(told), what, site))

    def sees_barrier(self, barrier: Mbarrier) -> bool:
        """Whether all its threads know that a barrier is initialised, also from the barrier of the cluster."""
        made = barrier.initialised
        if self.known.seen.get(made.agent, 0) >= made.step:
            return True
        if barrier.lane is not None and made.agent in self.known.lanes:
            return bool(self.known.lanes[made.agent][barrier.lane] >= made.step)
        if barrier in self.sees:
            assert self.met is not None and barrier.fenced is not None
            self.machine.effective |= {(self.met.number, "removed"), (barrier.fenced.number, "removed")}
            return True
        return False

    def stop(self, kind: str, message: str, site: Site, edge: str | None = None) -> NoReturn:
        """Reports what the block cannot go on after."""
        self.report(kind, message, site, edge=edge)
        raise Stop

    def report(
        self, kind: str, message: str, site: Site | None, *, edge: str | None = None, others: Iterable[Finding] = ()
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
            self.learned.append((site, 0))
        if SHARED not in spaces:
            return
        for barrier in self.block.barriers.values():
            if barrier.initialised.group is self:
                barrier.fenced = barrier.fenced or site
