"""Finds accesses that nothing orders, of many threads at a time.

The shadow of a buffer names for each grain the last write, and for each warp its last read since, its last atomic write
and its last atomic read since. All are numbers: an access of a team has one for each of its warps (and step, where they
differ).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..races import distinct
from .checks import BITS, Check
from .events import Event, Side
from .lanes import Array
from .memory import LaneBuffer
from .ordering import BLOCK, DEVICE

Report = Callable[[str, Side, Side, LaneBuffer, int, int], None]


class Table:
    """For each grain, numbers of accesses: a row for each warp or engine, and rows for those of other clusters."""

    __slots__ = ("lanes", "others", "rows", "used")

    def __init__(self, grains: int) -> None:
        self.rows: Array = np.zeros((1, grains), np.int32)
        self.lanes: Array = np.zeros((1, grains), np.uint32)
        """Which lanes did that, as bits."""
        self.used: set[int] = set()
        self.others: list[Array] = []

    def has(self, count: int) -> None:
        """Makes so many rows."""
        if len(self.rows) < count:
            more = np.zeros((count + 8, self.rows.shape[1]), np.int32)
            more[: len(self.rows)] = self.rows
            bits = np.zeros(more.shape, np.uint32)
            bits[: len(self.lanes)] = self.lanes
            self.rows, self.lanes = more, bits

    def all(self) -> list[tuple[Array, Array | None]]:
        """Rows of numbers, with those of lanes where they may matter."""
        return [
            *((self.rows[row], self.lanes[row]) for row in sorted(self.used)),
            *((row, None) for row in self.others),
        ]


class LaneChecker:
    """Checks every access against those before it that the shadow of the memory names."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._agents: Array = np.zeros(1024, np.int32)
        self._steps: Array = np.zeros(1024, np.int32)
        self._clusters: Array = np.zeros(1024, np.int32)
        self._events: list[Any] = [None]

    def _number(self, event: Event, agents: Array, steps: Array) -> int:
        """The first of the numbers of an event, one for each agent."""
        first = len(self._events)
        end = first + len(agents)
        while end > len(self._agents):
            self._agents = np.concatenate([self._agents, np.zeros_like(self._agents)])
            self._steps = np.concatenate([self._steps, np.zeros_like(self._steps)])
            self._clusters = np.concatenate([self._clusters, np.zeros_like(self._clusters)])
        self._agents[first:end] = agents
        self._clusters[first:end] = event.block.first_agent
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
    ) -> Array | None:
        """Checks and remembers an access. Returns which grains were read that nobody wrote before, if any.

        `grains` has a row of grains for each of `threads`. `agents` and `steps` say who tells of the end of the access;
        `which` says for each thread which of them. `same` says of a row and a column whether a write changes nothing.
        """
        block, atomic = event.block, event.level > 0
        writes = shadow(buffer)
        first = self._number(event, agents, steps)
        last = writes.take(grains)
        checking = Check(self, buffer, event, grains, threads, threads // block.warp_size, agents, steps, which)
        known = np.count_nonzero(last)
        if known:
            checking.against(last, buffer.threads, same, buffer.lanes)
        for table in self._others(buffer, event):
            for row, lanes in table.all():
                before = row.take(grains)
                if np.count_nonzero(before):
                    checking.against(before, None, None, lanes)
                    if event.write and not atomic:
                        row[grains] = 0
        numbers = (which + first)[:, None]
        assert buffer.threads is not None
        if event.write and not atomic:
            writes[grains] = numbers
            buffer.threads[grains] = threads[:, None]
            if checking.apart:
                assert buffer.lanes is not None
                _set_bits(buffer.lanes, grains, checking.bits)
        else:
            self._remember(checking, block.reader_rows(agents), which, numbers)
        missing = last == 0 if event.reads and known < last.size else None
        if event.write and atomic and known < last.size:
            # What is written now is initialised.
            new = last == 0
            writes[grains[new]] = np.broadcast_to(numbers, grains.shape)[new]
            buffer.threads[grains[new]] = np.broadcast_to(threads[:, None], grains.shape)[new]
        return missing

    def _remember(self, checking: Check, rows: list[int], which: Array, numbers: Array) -> None:
        """Remembers what others may follow: reads, and atomic accesses."""
        buffer, event, grains = checking.buffer, checking.event, checking.grains
        name = "reads" if not event.level else "updates" if event.write else "peeks"
        table = buffer.tables.get(name)
        if table is None:
            table = buffer.tables[name] = Table(len(shadow(buffer)))
        table.has(event.block.reader_count)
        table.used.update(rows)
        places = grains + (np.array(rows) * table.rows.shape[1])[which][:, None]
        if not buffer.shared:
            self._keep_foreign(table, places, grains, event.block)
        if checking.apart:
            self._add_lanes(checking, table, places)
        table.rows.reshape(-1)[places] = numbers

    def _add_lanes(self, checking: Check, table: Table, places: Array) -> None:
        """Lanes that access a place. Those that did before are remembered besides them, where none of these knows that
        they have."""
        before, lanes = table.rows.take(places), table.lanes.reshape(-1)
        block, warps = checking.event.block, checking.warps[:, None]
        least = block.knows.min((1, 2))
        numbers = np.array(distinct(before))
        open_ = self._agents.take(numbers)[:, None] == checking.agents_of_warps
        open_ = open_ & (self._steps.take(numbers)[:, None] > least) & (numbers != 0)[:, None]
        if np.count_nonzero(open_):
            own = checking.agents_of_warps[checking.warps][:, None] == self._agents.take(before)
            open_ = own & (self._steps.take(before) > least[warps]) & (before != 0)
        if not np.count_nonzero(open_):
            _set_bits(lanes, places, checking.bits)
            return
        rows, columns = np.nonzero(open_)
        known = block.knows[checking.warps[rows], checking.threads[rows] % block.warp_size]
        known = known >= self._steps.take(before[rows, columns])[:, None]
        kept = np.zeros(places.shape, np.uint32)
        kept[rows, columns] = lanes.take(places[rows, columns]) & ~(known * BITS).sum(1).astype(np.uint32)
        np.bitwise_and.at(lanes, places, kept)
        np.bitwise_or.at(lanes, places, np.broadcast_to(checking.bits[:, None], places.shape))

    def _others(self, buffer: LaneBuffer, event: Event) -> list[Table]:
        """What an access is a race with besides the last write."""
        names = ["updates"] if event.reads or event.level else []
        if event.write:
            names = ["reads", "peeks", "updates"]
        if event.level:
            # Atomic accesses of one size and of scopes that have all are never one.
            buffer.kinds.add((min(event.level, DEVICE), event.size))
            alone = buffer.shared and event.block.cluster.sizes == (1, 1, 1)
            least = BLOCK if alone else DEVICE
            if len({size for _, size in buffer.kinds}) == 1 and all(level >= least for level, _ in buffer.kinds):
                names = ["reads"] if event.write else []
        return [buffer.tables[name] for name in names if name in buffer.tables]

    def _keep_foreign(self, table: Table, places: Array, grains: Array, block: Any) -> None:
        """What another cluster did last must not be forgotten where one does it again. Where they wait for each other,
        none of what several did is; else one of them is enough, as nothing orders them."""
        before = table.rows.take(places)
        foreign = (before != 0) & (self._clusters.take(before) != block.first_agent)
        if not foreign.any():
            return
        left, numbers = grains[foreign], before[foreign]
        depth = 0
        while left.size:
            if depth == len(table.others):
                table.others.append(np.zeros(table.rows.shape[1], np.int32))
            row = table.others[depth]
            there = row.take(left)
            row[left] = np.where((there == 0) | (not block.machine.polling), numbers, there)
            # Several lanes may have had one place.
            lost = row.take(left) != numbers
            if not block.machine.polling:
                return
            left, numbers = left[lost], numbers[lost]
            depth += 1


def shadow(buffer: LaneBuffer) -> Array:
    """For each grain the number of the last write."""
    if buffer.writes is None:
        grains = -(-buffer.data.size // buffer.grain)
        buffer.writes = np.zeros(grains, np.int32)
        buffer.threads = np.zeros(grains, np.int16)
        buffer.lanes = np.zeros(grains, np.uint32)
    return buffer.writes


def _set_bits(into: Array, places: Array, bits: Array) -> None:
    """Replaces what is at places by the bits of all that name them."""
    wanted = np.broadcast_to(bits[:, None], places.shape)
    into[places] = wanted
    if np.count_nonzero(into.take(places) != wanted):
        into[places] = 0
        np.bitwise_or.at(into, places, wanted)
