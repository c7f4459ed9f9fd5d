"""Barriers: of threads, and in shared memory with phases and transaction counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .clocks import Knowledge


class Wait:
    """What a warpgroup waits for."""

    __slots__ = ("barrier", "describe", "knowledge", "ready", "site")

    def __init__(
        self,
        site: Any,
        ready: Callable[[], bool],
        describe: Callable[[], str],
        knowledge: Callable[[], Knowledge],
        barrier: Any = None,
    ) -> None:
        self.site = site
        self.knowledge = knowledge
        """What is learned when it is over."""
        self.ready = ready
        self.describe = describe
        self.barrier = barrier
        """The barrier in shared memory, where it is one."""


class Meeting:
    """One use of a barrier of threads."""

    __slots__ = ("arrived", "count", "done", "groups", "knowledge", "site")

    def __init__(self, count: int, site: Any) -> None:
        self.count = count
        self.site = site
        self.arrived = 0
        self.groups: list[Any] = []
        self.done = False
        self.knowledge = Knowledge()


class ThreadBarrier:
    """`bar.sync` with a number; number 0 with all threads is the barrier of the block."""

    __slots__ = ("meeting", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.meeting: Meeting | None = None

    def arrive(self, group: Any, count: int, site: Any) -> Meeting | str:
        """The meeting that the group takes part in, or what is wrong."""
        meeting = self.meeting
        if meeting is None:
            meeting = self.meeting = Meeting(count, site)
        if meeting.count != count:
            return f"{self.name} is for {count} threads here and for {meeting.count} where others wait"
        meeting.arrived += group.threads
        if meeting.arrived > count:
            return f"{self.name} is for {count} threads, and {meeting.arrived} arrive"
        meeting.groups.append(group)
        meeting.knowledge.join(group.release())
        if meeting.arrived == count:
            meeting.done = True
            self.meeting = None
        return meeting


class ClusterMeeting:
    """One use of the barrier of a cluster, at which groups arrive first and wait later."""

    __slots__ = ("groups", "initialised", "knowledge", "missing")

    def __init__(self, missing: int) -> None:
        self.missing = missing
        """Groups that have not arrived."""
        self.groups: list[Any] = []
        self.knowledge = Knowledge()
        self.initialised: set[Mbarrier] = set()
        """Barriers whose initialisation a fence told of, which a relaxed arrival does too."""


class Mbarrier:
    """A barrier in shared memory."""

    __slots__ = (
        "agent",
        "awaited",
        "brought",
        "count",
        "expected",
        "fenced",
        "initialised",
        "issued",
        "knowledge",
        "name",
        "offset",
        "pending",
        "phase",
        "released",
        "sites",
        "transactions",
        "unit",
    )

    def __init__(self, agent: int, name: str, offset: int, count: int, initialised: Any, unit: int = 1) -> None:
        self.agent = agent
        self.unit = unit
        """Threads that count as one arrival in messages."""
        self.name = name
        self.offset = offset
        self.count = count
        """Arrivals of a phase, of threads."""
        self.pending = count
        self.transactions = 0
        """Announced bytes that have not arrived."""
        self.phase = 0
        """Phases that are complete."""
        self.knowledge = Knowledge()
        """Of those that arrived in this phase."""
        self.released = Knowledge()
        """Of the phases that are complete."""
        self.initialised = initialised
        """The access that initialised it."""
        self.fenced = False
        """Whether the initialisation is visible to copies."""
        self.expected = 0
        """Bytes that were announced in this phase."""
        self.issued = 0
        """Bytes of the copies that were started in this phase."""
        self.brought = False
        """Whether bytes ever arrived."""
        self.sites: set[Any] = set()
        """Where threads arrived in this phase."""
        self.awaited: set[Any] = {initialised.site}
        """What waits for phases that are complete depend on: the initialisation, and arrivals."""

    def arrive(self, count: int, knowledge: Knowledge, site: Any = None) -> None:
        """Counts arrivals; there are not more than are wanted."""
        if site is not None:
            self.sites.add(site)
        self.knowledge.join(knowledge)
        self.pending -= count
        self.advance()

    def expect(self, count: int) -> None:
        self.transactions += count
        self.expected += count

    def complete(self, count: int, moment: float = 0.0) -> None:
        """Bytes arrived."""
        self.brought = True
        self.transactions -= count
        self.knowledge.moment = max(self.knowledge.moment, moment)
        self.advance()

    def advance(self) -> None:
        """Completes the phase where nothing is missing any more."""
        if self.pending or self.transactions:
            return
        self.phase += 1
        self.awaited |= self.sites
        self.sites.clear()
        self.released.join(self.knowledge)
        self.released.seen[self.agent] = self.phase
        self.released.visible[self.agent] = self.phase
        self.knowledge = Knowledge()
        self.pending = self.count
        self.expected = self.issued = 0

    def passed(self, parity: int) -> bool:
        """Whether a wait for the phase of this parity is over."""
        return (self.phase & 1) != parity

    def tells(self, known: Knowledge) -> bool:
        """Whether one learns more from what is complete than that it is."""
        return self.brought or any(
            step > before.get(agent, 0)
            for told, before in ((self.released.seen, known.seen), (self.released.visible, known.visible))
            for agent, step in told.items()
            if agent != self.agent
        )

    def missing(self) -> str:
        """What the phase still waits for, in words."""
        words = []
        if self.pending:
            arrivals = f"{self.pending / self.unit:g} of {self.count / self.unit:g} arrivals"
            words.append(arrivals)
        if self.transactions:
            words.append(f"{self.transactions} announced bytes")
        return " and ".join(words)


class Stream:
    """Asynchronous work of a warpgroup that is told of in groups, which complete in order."""

    __slots__ = ("agent", "committed", "completed", "groups", "open", "reads")

    def __init__(self, agent: int, reads: int | None = None) -> None:
        self.agent = agent
        self.reads = reads if reads is not None else agent
        """The agent of the reads alone, for copies that can be waited for so far; else the same."""
        self.open: list[Any] = []
        self.committed = 0
        self.completed = 0
        self.groups: dict[int, list[Any]] = {}
        """Work in flight, by the number of its group."""

    @property
    def next(self) -> int:
        """The number of the group that work started now belongs to."""
        return self.committed + 1

    def in_flight(self) -> list[Any]:
        """Work that nobody waited for."""
        return [*(work for works in self.groups.values() for work in works), *self.open]

    def end(self, upto: int, reads: bool) -> float:
        """When the work of groups is done, in a run with a timeline; or when it has read all that it reads."""
        works = [work for number, works in self.groups.items() if number <= upto for work in works]
        return max((work.read if reads else work.end for work in works), default=0.0)

    def commit(self) -> None:
        self.committed += 1
        if self.open:
            self.groups[self.committed] = self.open
            self.open = []

    def complete(self, upto: int) -> None:
        """Does the work of groups."""
        for number in sorted(n for n in self.groups if n <= upto):
            for work in self.groups.pop(number):
                work.complete()
                work.waited()
        self.completed = max(self.completed, upto)
