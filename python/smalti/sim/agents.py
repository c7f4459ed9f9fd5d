"""Who knows what: agents that do things, and learn of what others did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .clocks import Clock, Knowledge
from .synchronisation import Mbarrier, Stream


class Agent:
    """Threads that run one program together and have one clock: a warpgroup, or a warp."""

    def __init__(self, block: Any, threads: int) -> None:
        self.block = block
        self.machine = block.machine
        self.threads = threads
        self.agent: int = self.machine.agent()
        self.step = 1
        self.dirty = False
        """Whether something was done in this step."""
        self.learned: list[tuple[Any, int]] = []
        """Where something was learned since this group did something; of barriers of threads, for how many."""
        self.fenced = 0
        """The last step whose writes a proxy fence of this group followed."""
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

    def release(self) -> Knowledge:
        """What those learn that this group tells what it did."""
        told = self.known.copy()
        self._next_step()
        told.seen[self.agent] = self.step - 1
        told.visible[self.agent] = self.fenced
        told.moment = self.now
        for mine in (self.leader, self.own):
            for agent, step in mine.items():
                told.seen[agent] = max(step, told.seen.get(agent, 0))
        for agent, step in self.own_fenced.items():
            told.visible[agent] = max(step, told.visible.get(agent, 0))
        return told

    def _next_step(self) -> None:
        if self.dirty:
            self.step += 1
            self.dirty = False

    def acquire(self, knowledge: Knowledge, site: Any, threads: int = 0) -> None:
        """Learns what others told."""
        if self.machine.recorder is not None:
            self.machine.recorder.wait(self, knowledge.moment, site)
        if self.known.join(knowledge):
            self.learned.append((site, threads))

    def passes(self, barrier: Mbarrier, site: Any) -> None:
        """Learns what the phases of a barrier tell that are complete."""
        tells = barrier.tells(self.known)
        before = len(self.learned)
        self.acquire(barrier.released, site)
        if not tells:
            del self.learned[before:]
        if barrier.phase:
            # It would wait for ever without any of them.
            self.machine.effective.update((place.number, "awaited") for place in barrier.awaited)

    def meets(self, threads: int) -> None:
        """Comes to a barrier of threads, from which all is learned that smaller ones before it told."""
        if threads > self.threads:
            # Others learn what was learned in other ways.
            self.acts(lambda number: number == 0)
        self.learned = [(site, number) for site, number in self.learned if not 0 < number <= threads]

    def acts(self, counts: Callable[[int], bool] = lambda number: True) -> None:
        """Does something: what it learned before has mattered."""
        if self.learned:
            self.machine.effective.update((site.number, "removed") for site, number in self.learned if counts(number))
            self.learned = [(site, number) for site, number in self.learned if not counts(number)]

    def waits_for_groups(self, stream: Stream, upto: int, site: Any) -> None:
        """Says which of the groups up to a number were in flight: without the wait, and with one that leaves one more."""
        for number in stream.groups:
            if number <= upto:
                self.machine.effective.add((site.number, "removed"))
                if number == upto:
                    self.machine.effective.add((site.number, "weakened"))

    def fence(self, site: Any) -> None:
        """A fence between the generic and the asynchronous proxy, by all threads."""
        self._next_step()
        news = self.fenced != self.step - 1
        self.fenced = self.step - 1
        for agent, step in self.known.seen.items():
            if self.known.visible.get(agent, 0) < step:
                self.known.visible[agent] = step
                news = True
        if news:
            self.learned.append((site, 0))
        self.own_fenced = dict(self.own)
        for barrier in self.block.barriers.values():
            if barrier.initialised.group is self:
                barrier.fenced = True
