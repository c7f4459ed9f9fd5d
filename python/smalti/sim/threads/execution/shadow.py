# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Race detection for many threads at a time.

The shadow of a buffer names for each grain the last write, and for each warp its last read since then, its last atomic write
and its last atomic read since then. These are access numbers: an access of converged warps has one number per warp (and per
step, where the steps differ).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...._mlir_libs._smalti import remember_lanes, remember_others, remember_writes
from .checks import Check
from .events import Event, Side
from .lanes import Array
from .memory import LaneBuffer
from .ordering import BLOCK, DEVICE

Report = Callable[[str, Side, Side, LaneBuffer, int, int], None]


class Table:
    """For each grain, access numbers: a row for each warp or engine, and rows for other clusters."""

    __slots__ = ("_grains", "_known", "others", "rows")

    def __init__(self, grains: int) -> None:
        self._grains = grains
        self.rows: dict[int, tuple[Array, Array]] = {}
        """In addition to the access number, its lanes, as bits."""
        self.others: list[Array] = []
        self._known: dict[bytes, tuple[list[Array], list[Array]]] = {}

    def rows_of(self, block: Any, agents: Array) -> tuple[list[Array], list[Array]]:
        """The rows of a block's agents, and those of lanes."""
        key = agents.tobytes()
        found = self._known.get(key)
        if found is None:
            rows = [self.row(number) for number in block.reader_rows(agents)]
            found = self._known[key] = ([row for row, _ in rows], [lanes for _, lanes in rows])
        return found

    def row(self, number: int) -> tuple[Array, Array]:
        """A row of access numbers, and one of lanes. Untouched parts do not occupy memory."""
        found = self.rows.get(number)
        if found is None:
            found = self.rows[number] = (np.zeros(self._grains, np.int32), np.zeros(self._grains, np.uint32))
        return found

    def more(self) -> Array:
        """An additional row for other clusters."""
        self.others.append(np.zeros(self._grains, np.int32))
        return self.others[-1]

    def all(self) -> list[tuple[Array, Array | None]]:
        """Rows of access numbers, with those of lanes where they may matter."""
        return [*(self.rows[row] for row in sorted(self.rows)), *((row, None) for row in self.others)]


class LaneChecker:
    """Checks every access against the accesses before it that the shadow records."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._agents: Array = np.zeros(1024, np.int32)
        self._steps: Array = np.zeros(1024, np.int32)
        self._clusters: Array = np.zeros(1024, np.int32)
        self._events: list[Any] = [None]

    def _number(self, event: Event, agents: Array, steps: Array) -> int:
        """The first access number of an event, which has one per agent."""
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
    ) -> tuple[Array | None, bool]:
        """Checks and records an access. Returns the grains of shared memory that were read uninitialized, if any, and
        whether several threads write the same grain.

        `grains` has a row of grains for each of `threads`. `agents` and `steps` are those of the access; `which` has
        for each thread its index in them. `same` returns for a row and a column whether a write changes nothing.
        """
        block, atomic = event.block, event.level > 0
        writes = shadow(buffer)
        assert buffer.threads is not None
        first = self._number(event, agents, steps)
        check = Check(self, buffer, event, grains, threads, agents, steps, which)
        found = check.before(writes)
        if found is not None:
            check.against(found, writes, buffer.threads, same, buffer.lanes)
        for table in self._others(buffer, event):
            for row, lanes in table.all():
                others = check.before(row)
                if others is not None:
                    check.against(others, row, None, None, lanes)
                    if event.write and not atomic:
                        row[grains] = 0
        new = None
        if (found is None or found.unwritten) and ((buffer.shared and event.reads) or (event.write and atomic)):
            new = writes.take(grains) == 0
        several = False
        if event.write and not atomic:
            lanes = buffer.lanes if block.independent else None
            numbers = which + np.int32(first)
            several = remember_writes(writes, buffer.threads, lanes, grains, numbers, threads, block.warp_size)
        else:
            self._remember(check, agents, first)
        if event.write and atomic and new is not None:
            # The written grains are initialized.
            writes[grains[new]] = np.broadcast_to((which + first)[:, None], grains.shape)[new]
            buffer.threads[grains[new]] = np.broadcast_to(threads[:, None], grains.shape)[new]
        return new if buffer.shared and event.reads else None, several

    def _remember(self, check: Check, agents: Array, first: int) -> None:
        """Records accesses that later ones are checked against: reads, and atomic accesses."""
        buffer, event, grains, which = check.buffer, check.event, check.grains, check.which
        block = event.block
        name = "reads" if not event.level else "updates" if event.write else "peeks"
        table = buffer.tables.get(name)
        if table is None:
            table = buffer.tables[name] = Table(len(shadow(buffer)))
        numbers, bits = table.rows_of(block, agents)
        if block.independent:
            # The lanes that access a grain. Earlier lanes are kept, unless their accesses happen before those of all of these.
            known = (self._agents, self._steps, block.knows, block.agents)
            remember_lanes(numbers, bits, grains, which, check.threads, *known)
        own = -1 if buffer.shared else block.first_agent
        if not remember_others(numbers, grains, which, first, self._clusters, own):
            self._keep_foreign(table, numbers, check, block)
            remember_others(numbers, grains, which, first, self._clusters, -1)

    def _others(self, buffer: LaneBuffer, event: Event) -> list[Table]:
        """Checks for races besides the last write."""
        names = ["updates"] if event.reads or event.level else []
        if event.write:
            names = ["reads", "peeks", "updates"]
        if event.level:
            # Atomic accesses of the same size within each other's scope do not race.
            buffer.kinds.add((min(event.level, DEVICE), event.size))
            alone = buffer.shared and event.block.cluster.sizes == (1, 1, 1)
            least = BLOCK if alone else DEVICE
            if len({size for _, size in buffer.kinds}) == 1 and all(level >= least for level, _ in buffer.kinds):
                names = ["reads"] if event.write else []
        return [buffer.tables[name] for name in names if name in buffer.tables]

    def _keep_foreign(self, table: Table, rows: list[Array], check: Check, block: Any) -> None:
        """Keeps the last access of another cluster if a further cluster accesses the same grain. If clusters
        synchronize, all of them are kept; otherwise one suffices, because clusters are unordered."""
        grains = check.grains
        before = np.empty(grains.shape, np.int32)
        for number, row in enumerate(rows):
            mine = check.which == number
            before[mine] = row.take(grains[mine])
        foreign = (before != 0) & (self._clusters.take(before) != block.first_agent)
        left, numbers = grains[foreign], before[foreign]
        depth = 0
        while left.size:
            row = table.others[depth] if depth < len(table.others) else table.more()
            there = row.take(left)
            row[left] = np.where((there == 0) | (not block.machine.polling), numbers, there)
            # Several lanes may have accessed one grain.
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
