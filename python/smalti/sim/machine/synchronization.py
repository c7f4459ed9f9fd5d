# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Thread barriers, cluster barriers and mbarriers with phases and transaction counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...diagnostics import counted
from .clocks import HappensBefore, VectorClock, join
from .findings import Finding, Site
from .state import Actor

NUMBERS = 16
"""Thread barriers per block (PTX, `bar`)."""
MOST_ARRIVALS = (1 << 20) - 1
"""The largest arrival count and the largest transaction count of an mbarrier phase (PTX, "Contents of the mbarrier
object")."""


def wrong_barrier(number: int, count: int | None, warp: int) -> str | None:
    """Why a thread barrier is invalid, or None."""
    if not 0 <= number < NUMBERS:
        return f"invalid barrier number {number}; a block has barriers 0 to {NUMBERS - 1}"
    if count is not None and (count <= 0 or count % warp):
        return f"barrier {number} expects {counted(count, 'thread')}; the count must be a positive multiple of the warp size {warp}"
    return None


class Wait:
    """A wait of a warpgroup or warp."""

    __slots__ = ("barrier", "clocks", "describe", "inner", "ready", "site")

    def __init__(
        self,
        site: Site,
        ready: Callable[[], bool],
        describe: Callable[[], str],
        clocks: Callable[[], HappensBefore],
        barrier: Any = None,
        inner: bool = False,
    ) -> None:
        self.site = site
        self.clocks = clocks
        """The clocks that the completed wait acquires."""
        self.ready = ready
        self.describe = describe
        self.barrier = barrier
        """The mbarrier, if the wait is for one."""
        self.inner = inner
        """Whether the wait is for parts of the same agent, which wait themselves."""


class Poll(Wait):
    """A wait of a polling loop for a change of memory. The loop may continue without one, unless it is stuck."""

    __slots__ = ("refuse", "stuck")

    def __init__(
        self, site: Site, ready: Callable[[], bool], what: str, stuck: bool, refuse: Callable[[], None]
    ) -> None:
        super().__init__(site, ready, lambda: what, HappensBefore)
        self.stuck = stuck
        """Whether the next iteration would repeat the previous one forever."""
        self.refuse = refuse
        """Raises an error if it cannot be decided whether this is a deadlock."""


class Meeting:
    """One use of a thread barrier."""

    __slots__ = ("arrived", "clocks", "count", "done", "groups", "published", "site")

    def __init__(self, count: int, site: Site) -> None:
        self.count = count
        self.site = site
        self.arrived = 0
        self.groups: list[Actor] = []
        self.done = False
        self.clocks = HappensBefore()
        self.published: list[tuple[Site, int]] = []
        """The acquires of the participants from other synchronization than thread barriers."""


class ThreadBarrier:
    """`bar.sync` with a number; number 0 with all threads is the block barrier."""

    __slots__ = ("agent", "before", "completed", "ended", "everyone", "meeting", "name")

    def __init__(self, name: str, agent: int, everyone: int, ended: Sequence[Actor] = ()) -> None:
        self.name = name
        self.everyone = everyone
        """The thread count of the block."""
        self.ended = ended
        """Exited groups, for which the barrier does not wait: PTX ISA, "exit"; ISA guides of CDNA and RDNA,
        "S_BARRIER"."""
        self.agent = agent
        """The agent number of completed uses."""
        self.completed = 0
        self.meeting: Meeting | None = None
        self.before: Meeting | None = None
        """The last completed use."""

    def arrive(self, group: Actor, count: int, site: Site, waits: bool = True) -> Meeting | str:
        """The use of the barrier in which the group participates, or an error message. The group waits, or only
        arrives without `waits`."""
        meeting, published = self.meeting, group.arrive_at_barrier(count) if waits else list(group.pending_acquires)
        if self.before is not None and group.known.used.get(self.agent, 0) < self.completed:
            others = ", ".join(dict.fromkeys(other.name for other in self.before.groups))
            group.report(
                "barrier",
                f"{group.name} arrives at {self.name} while the previous use by {others} may be incomplete; the "
                "arrival may "
                "count for that use",
                site,
                hint=f"order this arrival of {group.name} after the previous use, or use another barrier number",
                others=[
                    Finding(
                        "barrier",
                        f"{self.before.groups[-1].name} uses the barrier here",
                        group.block.position,
                        agent=self.before.groups[-1].name,
                        location=self.before.site.location,
                    )
                ],
            )
        if meeting is None:
            meeting = self.meeting = Meeting(count, site)
        if meeting.count != count:
            return f"{self.name} expects {counted(count, 'thread')} here, but {counted(meeting.count, 'thread')} where others wait; all must expect the same number"
        meeting.arrived += group.counted
        if meeting.arrived > count:
            return f"too many arrivals: {self.name} expects {counted(count, 'thread')}, but {counted(meeting.arrived, 'thread has', 'threads have')} arrived; change the thread count of the barrier or the threads that execute it"
        meeting.groups.append(group)
        meeting.clocks.join(group.release())
        meeting.published += published
        self.advance()
        return meeting

    def advance(self, stuck: bool = False) -> bool:
        """Completes the use if all participants that can arrive have arrived. A barrier of a part of the block waits
        for its count; exited groups count only if all others are `stuck`. Returns whether the use completed."""
        meeting = self.meeting
        if meeting is None:
            return False
        gone = sum(group.counted for group in self.ended if group not in meeting.groups)
        counts = stuck or meeting.count >= self.everyone
        if meeting.arrived + (gone if counts else 0) < meeting.count:
            return False
        meeting.done = True
        self.completed += 1
        meeting.clocks.used[self.agent] = self.completed
        self.before, self.meeting = meeting, None
        return True


class ClusterMeeting:
    """One use of a cluster barrier, with separate arrivals and waits."""

    __slots__ = ("arrived", "clocks", "initialized")

    def __init__(self) -> None:
        self.arrived: set[Actor] = set()
        """The arrived agents."""
        self.clocks = HappensBefore()
        self.initialized: set[Mbarrier] = set()
        """Mbarriers whose initialization a fence published, which a relaxed arrival publishes too."""


class Use:
    """An arrival on an mbarrier, or a wait for it."""

    __slots__ = ("actor", "iteration", "number", "site")

    def __init__(self, actor: Actor, number: int, site: Site) -> None:
        self.actor, self.number, self.site = actor, number, site
        self.iteration = tuple(actor.loops)

    def finding(self, message: str, others: tuple[Finding, ...] = (), hint: str | None = None) -> Finding:
        """A finding at this use."""
        actor, place = self.actor, self.site.location if self.site is not None else None
        return Finding(
            "barrier",
            message,
            actor.block.position,
            agent=actor.name,
            location=place,
            iteration=self.iteration,
            others=others,
            hint=hint,
        )

    def report(self, finding: Finding) -> None:
        """Reports a finding at this use."""
        self.actor.machine.findings.add(finding, alike=(self.site,))

    def report_phase_aliasing(self, barrier: Mbarrier, phase: int) -> None:
        """Reports that a later phase may complete before this wait observes its own phase."""
        last, name = barrier.last, self.actor.name
        others = (last.finding(f"an arrival for phase {phase} is here"),) if last is not None else ()
        message = (
            f"this wait for phase {phase - 1} of {barrier.name} may run after phase {phase} completes (phase "
            "aliasing) and "
            f"would then block until phase {phase + 1}"
        )
        hint = f"let {name} arrive, after this wait, on a barrier whose completion happens before the arrivals for phase {phase}"
        self.report(self.finding(message, others, hint))


class Mbarrier:
    """An mbarrier."""

    __slots__ = (
        "agent",
        "ambiguous_arrivals",
        "awaited",
        "before",
        "brought",
        "clocks",
        "count",
        "end",
        "expected",
        "far",
        "far_before",
        "far_released",
        "fenced",
        "initialized",
        "issued",
        "lane",
        "last",
        "name",
        "offset",
        "pending",
        "phase",
        "released",
        "sites",
        "transactions",
        "unit",
        "uses",
        "waits",
    )

    def __init__(self, agent: int, name: str, offset: int, count: int, initialized: Any, unit: int = 1) -> None:
        self.agent = agent
        self.unit = unit
        """Threads per arrival in messages."""
        self.name = name
        self.offset = offset
        self.count = count
        """The arrival count of a phase, in threads."""
        self.pending = count
        self.transactions = 0
        """Expected bytes that have not been delivered."""
        self.phase = 0
        """The number of completed phases."""
        self.clocks = HappensBefore()
        """The clocks that the arrivals of the current phase published."""
        self.released = HappensBefore()
        """The clocks of the completed phases."""
        self.before = HappensBefore()
        """The clocks of the completed phases except the last."""
        self.far, self.far_released, self.far_before = HappensBefore(), HappensBefore(), HappensBefore()
        """The same clocks from other blocks at cluster scope. A wait at block scope does not acquire them."""
        self.uses: dict[int, Use] = {}
        """The last use by each agent."""
        self.waits: dict[int, Use] = {}
        """The last waits for the completed phase, by agent: they must complete before the next phase does."""
        self.last: Use | None = None
        """The last arrival."""
        self.end: Use | None = None
        """The op that invalidated or overwrote it."""
        self.ambiguous_arrivals: list[tuple[Use, Finding]] | None = []
        """Arrivals that may count for an earlier phase; None after a wait, from which on they are reported
        immediately."""
        self.initialized = initialized
        """The access that initialized it."""
        self.lane: int | None = None
        """The lane of its warp that initialized it, if a single lane did."""
        self.fenced: Site | None = None
        """The fence after the initialization that makes it visible to the async proxy."""
        self.expected = 0
        """Expected bytes of the current phase."""
        self.issued = 0
        """Bytes of the copies that were issued in the current phase."""
        self.brought = False
        """Whether bytes were ever delivered."""
        self.sites: set[Site] = set()
        """The arrival ops of the current phase."""
        self.awaited: set[Site] = {initialized.site}
        """The ops on which waits for completed phases depend: the initialization and arrivals."""

    def begin(self, kind: str) -> Finding:
        """The location of the initialization, for findings of a kind."""
        made = self.initialized
        return Finding(
            kind,
            "the mbarrier is initialized here",
            made.block,
            agent=made.group.name,
            location=made.site.location,
            iteration=made.iteration,
        )

    @property
    def block(self) -> Any:
        """The block of the mbarrier."""
        return self.initialized.group.block

    def arrive(
        self, count: int, clocks: HappensBefore, site: Site | None = None, block: Any = None, of_cluster: bool = True
    ) -> None:
        """Counts arrivals, at most as many as are pending. Threads of `block` publish their clocks at block scope, or
        at cluster scope too."""
        if site is not None:
            self.sites.add(site)
        if block is None or block is self.block:
            self.clocks.join(clocks)
        else:
            self.clocks.join(clocks.out_of_scope())
            if of_cluster:
                self.far.join(clocks)
        self.pending -= count
        self.advance()

    def expect(self, count: int) -> None:
        self.transactions += count
        self.expected += count

    def complete(self, count: int, used: VectorClock, moment: float = 0.0) -> None:
        """Delivers the bytes of a copy that was issued when the uses in `used` were complete."""
        self.brought = True
        join(self.clocks.used, used)
        self.transactions -= count
        self.clocks.moment = max(self.clocks.moment, moment)
        self.advance()

    def advance(self) -> None:
        """Completes the phase if nothing is outstanding."""
        if self.pending or self.transactions:
            return
        self.phase += 1
        self.awaited |= self.sites
        self.sites.clear()
        self.before = self.released.copy()
        self.released.join(self.clocks)
        self.released.seen[self.agent] = self.phase
        self.released.visible[self.agent] = self.released.visible[-self.agent] = self.phase
        self.released.used[self.agent] = self.phase
        self.clocks = HappensBefore()
        self.far_before = self.far_released.copy()
        self.far_released.join(self.far)
        self.far = HappensBefore()
        self.pending = self.count
        self.expected = self.issued = 0
        for use in self.waits.values():
            if self.released.used.get(use.actor.agent, 0) < use.number:
                use.report_phase_aliasing(self, self.phase - 1)
        self.waits.clear()

    def wanted(self, known: HappensBefore, parity: int) -> int:
        """How many phases must be complete for a wait for this parity, given the phases that happen before it."""
        for doubt, finding in self.ambiguous_arrivals or ():
            doubt.report(finding)
        self.ambiguous_arrivals = None
        complete = known.used.get(self.agent, 0)
        return complete + ((complete & 1) == parity)

    def published_clocks(self, phases: int, of_cluster: bool = False) -> HappensBefore:
        """The clocks that a wait for this many phases acquires, at block or at cluster scope."""
        last = phases >= self.phase
        published, far = (self.released, self.far_released) if last else (self.before, self.far_before)
        if not of_cluster or not far.seen:
            return published
        both = published.copy()
        both.join(far)
        return both

    def used(self, actor: Actor, site: Site) -> Use:
        """Records a use of the barrier by an agent."""
        number = actor.known.used[actor.agent] = actor.known.used.get(actor.agent, 0) + 1
        use = self.uses[actor.agent] = Use(actor, number, site)
        return use

    def report_ambiguous_arrival(self, use: Use) -> None:
        """Reports an arrival that may count for the previous phase."""
        before, name = self.phase - 1, use.actor.name
        message = (
            f"this arrival for phase {self.phase} of {self.name} may run before phase {before} completes (phase "
            "aliasing) and "
            f"would then count for phase {before}"
        )
        others = (self.last.finding(f"another arrival for phase {before} is here"),) if self.last is not None else ()
        found = use.finding(
            message, others, f"let {name} wait for phase {before}, or for an event after it, before this arrival"
        )
        if self.ambiguous_arrivals is None:
            use.report(found)
        else:
            self.ambiguous_arrivals.append((use, found))

    def waited(self, actor: Actor, phases: int, site: Site) -> None:
        """Records a completed wait of an agent. The wait may observe a later phase if no ordering prevents it, because
        it only sees the parity."""
        use = self.used(actor, site)
        if self.end is not None:
            self.still_used(use)
        if phases < self.phase:
            use.report_phase_aliasing(self, phases)
        else:
            self.waits[actor.agent] = use

    def ends(self, actor: Actor, what: str, site: Site) -> None:
        """An agent invalidates or overwrites the mbarrier; all uses must happen before."""
        self.end = Use(actor, 0, site)
        for use in self.uses.values():
            if actor.known.used.get(use.actor.agent, 0) < use.number:
                self.still_used(use, what)

    def still_used(self, use: Use, what: str = "the invalidation") -> None:
        """Reports an invalidation that is not ordered after a use."""
        assert self.end is not None
        name, other = self.end.actor.name, use.actor.name
        message = f"{what} of {self.name} is not ordered after its last use by {other}"
        hint = f"place a barrier that {other} and {name} both reach between the last use and this op"
        self.end.report(self.end.finding(message, (use.finding(f"{other} uses the mbarrier here"),), hint))

    def publishes_more(self, published: HappensBefore, known: HappensBefore) -> bool:
        """Whether a wait acquires more than the completion of the phase."""
        return (
            self.brought
            or any(
                step > before.get(agent, 0)
                for changed, before in (
                    (published.seen, known.seen),
                    (published.visible, known.visible),
                    (published.completed, known.completed),
                )
                for agent, step in changed.items()
                if abs(agent) != self.agent
            )
            or any((steps > known.seen.get(agent, 0)).any() for agent, steps in published.lanes.items())
        )

    def missing(self) -> str:
        """What is outstanding in the current phase, for messages."""
        words = []
        if self.pending:
            arrivals = f"{self.pending / self.unit:g} of {self.count / self.unit:g} arrivals"
            words.append(arrivals)
        if self.transactions:
            words.append(f"{self.transactions} expected bytes")
        return " and ".join(words)


class Stream:
    """Asynchronous operations of a warpgroup in groups, which complete in order."""

    __slots__ = ("agent", "clocks", "committed", "completed", "ends", "groups", "open", "reads")

    def __init__(self, agent: int, reads: int | None = None) -> None:
        self.agent = agent
        self.reads = reads if reads is not None else agent
        """The agent of the reads alone, for copies with a separate wait for reads; else the same."""
        self.open: list[Any] = []
        self.clocks = HappensBefore()
        """The clocks at the issue of its operations."""
        self.committed = 0
        self.completed = 0
        self.groups: dict[int, list[Any]] = {}
        """Outstanding operations, by group number."""
        self.ends: list[int] = []
        """The last internal group of each committed group."""

    def upto(self, left: int) -> int:
        """The last group that is complete when this many committed groups are outstanding."""
        return self.ends[-1 - left] if left < len(self.ends) else 0

    @property
    def next(self) -> int:
        """The number of the group of an operation that is issued now."""
        return self.committed + 1

    def in_flight(self) -> list[Any]:
        """Outstanding operations."""
        return [*(work for works in self.groups.values() for work in works), *self.open]

    def end(self, upto: int, reads: bool) -> float:
        """The time at which the operations of groups are complete, or have completed their reads, in a run with a
        timeline."""
        works = [work for number, works in self.groups.items() if number <= upto for work in works]
        return max((work.read if reads else work.end for work in works), default=0.0)

    def commit(self) -> None:
        """Commits a group."""
        self.split()
        self.ends.append(self.committed)

    def split(self) -> None:
        """Separates earlier operations from later ones."""
        self.committed += 1
        if self.open:
            self.groups[self.committed] = self.open
            self.open = []

    def complete(self, upto: int) -> None:
        """Executes the operations of groups."""
        for number in sorted(n for n in self.groups if n <= upto):
            for work in self.groups.pop(number):
                work.complete()
                work.waited()
        self.completed = max(self.completed, upto)
