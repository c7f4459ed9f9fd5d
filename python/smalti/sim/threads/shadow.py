"""Finds accesses that nothing orders, of many threads at a time.

The shadow of a buffer names for each grain the last write, and for each warp its last read since. Both are numbers: an
access of a team has one for each of its warps (and step, where they differ).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .counters import mark_waits
from .lanes import Array
from .memory import LaneBuffer

NEVER = np.iinfo(np.int32).max


class Event:
    """One operation of a team that touches memory."""

    __slots__ = ("asynchronous", "atomic", "block", "loops", "only", "site", "threads", "what", "write")

    def __init__(
        self, what: str, write: bool, site: Any, team: Any, asynchronous: bool = False, atomic: bool = False
    ) -> None:
        self.what = what
        self.write = write
        self.site = site
        self.asynchronous = asynchronous
        """Whether it goes through the asynchronous proxy."""
        self.atomic = atomic
        self.block = team.block
        self.loops = tuple(team.loops)
        self.threads = team.threads
        self.only = -1
        """The thread, where one alone did it."""


class Side:
    """One thread's part of an event, for messages."""

    def __init__(self, event: Event, agent: int, step: int, thread: int) -> None:
        self.agent, self.step, self.thread = agent, step, thread
        self.what, self.write, self.site = event.what, event.write, event.site
        self.asynchronous, self.block = event.asynchronous, event.block
        self.warp = event.block.warps[thread // event.block.warp_size]
        self.name = event.block.name_of(thread)
        self.iteration = iteration_of(event.loops, event.threads, thread)


def iteration_of(loops: tuple[Any, ...], threads: Array, thread: int) -> tuple[int, ...]:
    """The induction variables of a thread."""
    where = np.flatnonzero(threads == thread)
    lane = int(where[0]) if where.size else 0
    return tuple(int(i[lane]) if isinstance(i, np.ndarray) else int(i) for i in loops)


Report = Callable[[str, Side, Side, LaneBuffer, int, int], None]


class LaneChecker:
    """Checks every access against those before it that the shadow of the memory names."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._agents: Array = np.zeros(1024, np.int32)
        self._steps: Array = np.zeros(1024, np.int32)
        self._events: list[Any] = [None]

    def _number(self, event: Event, agents: Array, steps: Array) -> int:
        """The first of the numbers of an event, one for each agent."""
        first = len(self._events)
        end = first + len(agents)
        while end > len(self._agents):
            self._agents = np.concatenate([self._agents, np.zeros_like(self._agents)])
            self._steps = np.concatenate([self._steps, np.zeros_like(self._steps)])
        self._agents[first:end] = agents
        self._steps[first:end] = steps
        self._events.extend([event] * len(agents))
        return first

    def access(
        self,
        buffer: LaneBuffer,
        event: Event,
        grains: Array,
        threads: Array,
        agents: Array,
        steps: Array,
        which: Array,
        same: Callable[[int, int], bool] | None = None,
    ) -> bool:
        """Checks and remembers an access. Returns whether all that was read was written before.

        `grains` has a row of grains for each of `threads`. `agents` and `steps` say who tells of the end of the access;
        `which` says for each thread which of them. `same` says of a row and a column whether a write changes nothing.
        """
        block = event.block
        rows = [] if event.write else block.reader_rows(agents)
        writes, reads = shadow(buffer, block)
        first = self._number(event, agents, steps)
        warps = threads // block.warp_size
        last = writes.take(grains)
        checking = _Check(self, buffer, event, grains, threads, warps, agents, steps, which)
        if last.any():
            checking.against(last, buffer.threads, same)
        numbers = (which + first)[:, None]
        if event.write:
            for row in (*range(block.reader_count), -1):
                readers = reads[row].take(grains)
                if readers.any():
                    checking.against(readers, None, None)
                    reads[row][grains] = 0
            writes[grains] = numbers
            assert buffer.threads is not None
            buffer.threads[grains] = threads[:, None]
            return True
        for index, row in enumerate(rows):
            part = which == index
            places = grains if len(rows) == 1 or part.all() else grains[part]
            if not buffer.shared:
                self._keep_foreign(reads, row, places, block)
            reads[row][places] = first + index
        return bool(last.all())

    def _keep_foreign(self, reads: Array, row: int, places: Array, block: Any) -> None:
        """What another block read last must not be forgotten where a block reads it again."""
        before = reads[row].take(places)
        foreign = (before != 0) & (self._agents.take(before) < block.first_agent)
        if foreign.any():
            reads[-1][places[foreign]] = before[foreign]


def shadow(buffer: LaneBuffer, block: Any) -> tuple[Array, Array]:
    """For each grain the number of the last write; and a row of numbers of reads for each reader, and a last row for
    readers of other blocks."""
    if buffer.writes is None or buffer.reads is None:
        grains = -(-buffer.data.size // buffer.grain)
        buffer.writes = np.zeros(grains, np.int32)
        buffer.reads = np.zeros((2, grains), np.int32)
        buffer.threads = np.zeros(grains, np.int16)
    wanted = block.reader_count + 1
    if len(buffer.reads) < wanted:
        more = np.zeros((wanted + 8, buffer.reads.shape[1]), np.int32)
        more[: len(buffer.reads) - 1] = buffer.reads[:-1]
        more[-1] = buffer.reads[-1]
        buffer.reads = more
    return buffer.writes, buffer.reads


class _Check:
    """One access, which is checked against numbers of others."""

    def __init__(
        self,
        checker: LaneChecker,
        buffer: LaneBuffer,
        event: Event,
        grains: Array,
        threads: Array,
        warps: Array,
        agents: Array,
        steps: Array,
        which: Array,
    ) -> None:
        self.checker, self.buffer, self.event = checker, buffer, event
        self.grains, self.threads, self.warps = grains, threads, warps
        self.agents, self.steps, self.which = agents, steps, which

    def against(self, last: Array, writers: Array | None, same: Callable[[int, int], bool] | None) -> None:
        """Checks against the accesses that `last` names for each grain; `writers` are the threads that did them."""
        checker, event = self.checker, self.event
        block = event.block
        # Agents of other blocks are in column 0, of which nobody knows anything.
        column = checker._agents.take(last)
        column = np.maximum(column - (block.first_agent - 1), 0)
        steps = checker._steps.take(last)
        known = block.known_matrix()
        ordered = known[self.warps[:, None], column] >= steps
        if block.covers:
            for number in np.unique(last[ordered]).tolist():
                if number and checker._events[number].block is block:
                    self._relies(number)
        if not ordered.all():
            self._unordered(~ordered, last, writers, same)
        if block.waits or block.heard:
            self._mark_waits(ordered & (last != 0), last)
        if event.asynchronous:
            self._fenced(ordered, last, writers)

    def _mark_waits(self, ordered: Array, last: Array) -> None:
        """Says which waits for counters the order came from."""
        checker, block = self.checker, self.event.block
        pairs = np.unique(
            np.broadcast_to(self.warps[:, None], last.shape)[ordered].astype(np.int64) << 32 | last[ordered]
        )
        numbers = pairs & 0xFFFFFFFF
        agents = checker._agents.take(numbers)
        own = agents >= block.first_agent
        mark_waits(block, (pairs >> 32)[own], agents[own], checker._steps.take(numbers)[own])

    def _unordered(
        self, bad: Array, last: Array, writers: Array | None, same: Callable[[int, int], bool] | None
    ) -> None:
        checker, event = self.checker, self.event
        block = event.block
        for number in np.unique(last[bad]).tolist():
            before: Event = checker._events[number]
            if before.atomic and event.atomic:
                continue
            agent, step = int(checker._agents[number]), int(checker._steps[number])
            rows, columns = np.nonzero(bad & (last == number))
            if before.block is block:
                # What a thread started itself, it knows of first.
                own = np.array([warp.own.get(agent, 0) >= step for warp in block.warps])
                started = before.only if writers is None else writers[self.grains[rows, columns]]
                others = ~own[self.warps[rows]] | (started != self.threads[rows])
                if block.covers and not others.all():
                    self._relies(number)
                rows, columns = rows[others], columns[others]
            for row, at in zip(rows.tolist(), columns.tolist(), strict=True):
                if event.write and before.write and not before.asynchronous and same is not None and same(row, at):
                    # Who is last does not matter.
                    continue
                writer = int(writers[self.grains[row, at]]) if writers is not None else before.only
                if writer < 0:
                    writer = _a_thread(before, agent)
                index = int(self.which[row])
                now = Side(event, int(self.agents[index]), int(self.steps[index]), int(self.threads[row]))
                checker._report("race", Side(before, agent, step, writer), now, self.buffer, *self._bytes(row, at))
                break

    def _relies(self, number: int) -> None:
        """The access is in order as another one is over."""
        checker, block = self.checker, self.event.block
        warps = [block.warps[index] for index in np.unique(self.warps).tolist()]
        block.relies(int(checker._agents[number]), int(checker._steps[number]), warps)

    def _bytes(self, row: int, at: int) -> tuple[int, int]:
        """The bytes that the thread touches around a grain."""
        grain = self.buffer.grain
        low = int(self.grains[row].min()) * grain
        high = (int(self.grains[row].max()) + 1) * grain
        if high - low > 64:
            low = int(self.grains[row, at]) * grain
            high = low + grain
        return low, high

    def _fenced(self, ordered: Array, last: Array, writers: Array | None) -> None:
        """Whether the asynchronous proxy sees what was written."""
        if writers is None:
            return
        checker, block = self.checker, self.event.block
        for number in np.unique(last[ordered]).tolist():
            before: Event = checker._events[number]
            if not number or before.asynchronous or before.block is not block:
                continue
            agent, step = int(checker._agents[number]), int(checker._steps[number])
            rows, columns = np.nonzero(ordered & (last == number))
            for index in np.unique(self.warps[rows]).tolist():
                warp = block.warps[index]
                if warp.known.visible.get(agent, 0) >= step or (agent == warp.agent and step <= warp.fenced):
                    continue
                place = int((self.warps[rows] == index).argmax())
                row, at = int(rows[place]), int(columns[place])
                writer = int(writers[int(self.grains[row, at])])
                which = int(self.which[row])
                now = Side(self.event, int(self.agents[which]), int(self.steps[which]), int(self.threads[row]))
                bytes_of = self._bytes(row, at)
                checker._report("missing-fence", Side(before, agent, step, writer), now, self.buffer, *bytes_of)
                break


def _a_thread(event: Event, agent: int) -> int:
    """A thread of the warp that an agent belongs to."""
    warp = event.block.owner_of(agent)
    if warp is None:
        return int(event.threads[0])
    of_warp = event.threads[event.threads // event.block.warp_size == warp.index]
    return int(of_warp[0]) if of_warp.size else int(event.threads[0])
