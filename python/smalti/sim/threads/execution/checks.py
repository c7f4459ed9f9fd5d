# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks whether an access is ordered after the accesses before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ...._mlir_libs._smalti import AccessesBefore, look_before
from ...machine.clocks import GLOBAL, SHARED
from ...machine.races import distinct
from .counters import mark_waits
from .events import Event, Side, together
from .lanes import Array
from .memory import LaneBuffer

BITS = np.uint32(1) << np.arange(32, dtype=np.uint32)


class Accesses(Protocol):
    """The recorded accesses, by number, and the report function."""

    _agents: Array
    _steps: Array
    _events: list[Any]
    _report: Callable[..., None]


class Check:
    """One access that is checked against recorded ones."""

    def __init__(
        self,
        checker: Accesses,
        buffer: LaneBuffer,
        event: Event,
        grains: Array,
        threads: Array,
        agents: Array,
        steps: Array,
        which: Array,
    ) -> None:
        self.checker, self.buffer, self.event = checker, buffer, event
        self.grains, self.threads = grains, threads
        self.agents, self.steps, self.which = agents, steps, which
        self._found: list[int] | None = None

    @property
    def warps(self) -> Array:
        """The warp of each thread."""
        return self.threads // self.event.block.warp_size

    def before(self, row: Array) -> AccessesBefore | None:
        """The entries of a row of the shadow for the grains; None if the row is empty."""
        checker, block = self.checker, self.event.block
        accesses, known = (checker._agents, checker._steps), block.known_matrix()
        return look_before(row, self.grains, self.threads, block.warp_size, *accesses, known, block.first_agent)

    def against(
        self,
        before: AccessesBefore,
        row: Array,
        writers: Array | None,
        same: Callable[[int, int], bool] | None,
        lanes: Array | None,
    ) -> None:
        """Checks against the accesses in a row of the shadow; `writers` are their threads, and `lanes` bits of
        them."""
        checker, event = self.checker, self.event
        block = event.block
        pairs, ordered = None, before.ordered
        if ordered is not None:
            ordered = ordered.view(np.bool_)
            last = row.take(self.grains)
            bits = lanes.take(self.grains) if block.independent and lanes is not None else None
            found = bits is not None and self._of_warps(ordered, last, bits, writers is not None)
            found = (event.write and block.out_of_scope and self._over(ordered, last)) or found
            found = (bits is not None and self._of_lanes(ordered, last, bits)) or found
            if found:
                warps = np.broadcast_to(self.warps[:, None], last.shape)
                behind = ordered & (last != 0)
                pairs = sorted(set(zip(warps[behind].tolist(), last[behind].tolist(), strict=True)))
            if not ordered.all():
                self._unordered(~ordered, last, writers, same, bits)
        covered, heard = block.cluster.covered, block.waits or block.heard
        written = writers if event.asynchronous else None
        if not covered and not heard and written is None:
            return
        pairs = before.pairs if pairs is None else pairs
        if covered:
            for number in sorted({number for _, number in pairs}):
                if checker._events[number].block.cluster is block.cluster:
                    self._relies(number)
        if heard:
            self._mark_waits(pairs)
        if written is not None:
            last = row.take(self.grains)
            self._fenced(sorted({number for _, number in pairs}), True if ordered is None else ordered, last, written)

    def _over(self, ordered: Array, last: Array) -> bool:
        """Memory of completed reads and copies may be overwritten, although stores of the same steps are not visible.
        Returns whether this orders any access."""
        checker, warps = self.checker, self.event.block.warps
        found = False
        rows, columns = np.nonzero(~ordered)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            number = int(last[row, column])
            before = checker._events[number]
            if number and (before.asynchronous or not before.write):
                over = warps[int(self.warps[row])].known.completed
                if over.get(int(checker._agents[number]), 0) >= int(checker._steps[number]):
                    ordered[row, column] = found = True
        return found

    def _of_lanes(self, ordered: Array, last: Array, lanes: Array) -> bool:
        """Accesses of lanes of other warps are ordered if these lanes released them. Returns whether this orders any
        access."""
        checker, warps = self.checker, self.event.block.warps
        if not any(warp.known.lanes for warp in warps):
            return False
        found = False
        rows, columns = np.nonzero(~ordered)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            number = int(last[row, column])
            steps = warps[int(self.warps[row])].known.lanes.get(int(checker._agents[number]))
            named = lanes[row, column] & BITS != 0
            if steps is not None and (steps[named] >= int(checker._steps[number])).all():
                ordered[row, column] = found = True
        return found

    def _of_warps(self, ordered: Array, last: Array, lanes: Array, written: bool) -> bool:
        """Accesses of threads of the same warp are ordered if they are of the same thread, or if it acquired them.
        Returns whether this orders any access."""
        checker, block = self.checker, self.event.block
        rows, columns = np.nonzero(~ordered)
        numbers = last[rows, columns]
        own = checker._agents.take(numbers) == block.agents[self.warps[rows]]
        if not own.any():
            return False
        rows, columns, numbers = rows[own], columns[own], numbers[own]
        steps, warps = checker._steps.take(numbers), self.warps[rows]
        mine = self.threads[rows] % block.warp_size
        named = lanes[rows, columns][:, None] & BITS != 0
        each = np.arange(len(rows))
        did = named[each, mine]
        named[each, mine] = False
        fine = ~(named & (block.knows[warps, mine] < steps[:, None])).any(1)
        if written and not self.event.write:
            # Threads that write the same bytes in one op write equal values.
            fine |= did
        ordered[rows[fine], columns[fine]] = True
        if block.syncs_warps:
            needed = fine & named.any(1) & ~(did & (not self.event.write))
            for warp, step in set(zip(warps[needed].tolist(), steps[needed].tolist(), strict=True)):
                site = block.warps[warp].only_sync(step)
                if site is not None:
                    block.machine.effective.add((site.number, "removed"))
        return True

    def _mark_waits(self, pairs: list[tuple[int, int]]) -> None:
        """Marks the counter waits that ordered warps after accesses with these numbers."""
        checker, block = self.checker, self.event.block
        behind = ((warp, int(checker._agents[number]), int(checker._steps[number])) for warp, number in pairs)
        mark_waits(block, {item for item in behind if item[1] >= block.first_agent})

    def _another(self, lanes: int, row: int, step: int) -> int:
        """A thread of the same warp with an access that does not happen before."""
        warp, size = int(self.warps[row]), self.event.block.warp_size
        mine = int(self.threads[row]) % size
        known = self.event.block.knows[warp, mine] >= step
        return warp * size + next(i for i in range(size) if lanes >> i & 1 and i != mine and not known[i])

    def _unordered(
        self,
        bad: Array,
        last: Array,
        writers: Array | None,
        same: Callable[[int, int], bool] | None,
        lanes: Array | None,
    ) -> None:
        checker, event = self.checker, self.event
        block = event.block
        for number in np.unique(last[bad]).tolist():
            before: Event = checker._events[number]
            if before.level and (writers is not None or (event.level and together(before, event))):
                # Atomic writes have their own rows.
                continue
            agent, step = int(checker._agents[number]), int(checker._steps[number])
            rows, columns = np.nonzero(bad & (last == number))
            if before.block is block:
                # A thread's own operations are ordered by its own waits.
                own = np.array([warp.own.get(agent, 0) >= step for warp in block.warps])[self.warps[rows]]
                owner = block.owner_of(agent)
                if owner is not None and (waits := owner.waits_of_lanes.get(agent)) is not None:
                    mine = self.warps[rows] == owner.index
                    own[mine] = waits[self.threads[rows[mine]] % block.warp_size] >= step
                grains = self.grains[rows, columns]
                started = before.reader_of(grains, agent) if writers is None else writers[grains]
                others = ~own | (started != self.threads[rows])
                if block.covers and not others.all():
                    self._relies(number)
                rows, columns = rows[others], columns[others]
            elif before.block.cluster is not block.cluster:
                told = np.array([warp.knows_of(agent, step, before.only) for warp in block.warps])
                unknown = ~told[self.warps[rows]]
                rows, columns = rows[unknown], columns[unknown]
            for row, at in zip(rows.tolist(), columns.tolist(), strict=True):
                if event.write and before.write and same is not None and _is_over(before, block) and same(row, at):
                    # The order of the last accesses does not matter.
                    continue
                writer = int(writers[self.grains[row, at]]) if writers is not None else before.only
                if lanes is not None and agent == block.agents[self.warps[row]]:
                    writer = self._another(int(lanes[row, at]), row, step)
                if writer < 0:
                    writer = _a_thread(before, agent)
                index = int(self.which[row])
                now = Side(event, int(self.agents[index]), int(self.steps[index]), int(self.threads[row]))
                checker._report("race", Side(before, agent, step, writer), now, self.buffer, *self._bytes(row, at))
                break

    def _relies(self, number: int) -> None:
        """Marks an access as ordered by the completion of another one."""
        checker, block = self.checker, self.event.block
        agent, step = int(checker._agents[number]), int(checker._steps[number])
        owner = checker._events[number].block
        if (agent, step) in owner.covers:
            owner.relies(agent, step, [block.warps[index] for index in self._all_warps()])

    def _all_warps(self) -> list[int]:
        """The warps whose threads access the memory."""
        found = self._found
        if found is None:
            team, size = self.event.threads, self.event.block.warp_size
            of_all = len(self.threads) == len(team)
            found = self._found = (team[::size] // size).tolist() if of_all else distinct(self.warps)
        return found

    def _bytes(self, row: int, at: int) -> tuple[int, int]:
        """The bytes that the thread accesses around a grain."""
        grain = self.buffer.grain
        low = int(self.grains[row].min()) * grain
        high = (int(self.grains[row].max()) + 1) * grain
        if high - low > 64:
            low = int(self.grains[row, at]) * grain
            high = low + grain
        return low, high

    def _fenced(self, numbers: list[int], ordered: Array | bool, last: Array, writers: Array) -> None:
        """Whether the writes are visible to the async proxy."""
        checker, block = self.checker, self.event.block
        sign = SHARED if self.buffer.shared else GLOBAL

        def sees(warp: Any, agent: int, step: int) -> bool:
            visible = warp.known.visible.get(sign * agent, 0)
            return visible >= step or (agent == warp.agent and step <= warp.fenced[sign])

        for number in numbers:
            before: Event = checker._events[number]
            if not number or before.asynchronous or before.block.cluster is not block.cluster:
                continue
            agent, step = int(checker._agents[number]), int(checker._steps[number])
            if all(sees(block.warps[index], agent, step) for index in self._all_warps()):
                continue
            rows, columns = np.nonzero(ordered & (last == number))
            for index in np.unique(self.warps[rows]).tolist():
                if sees(block.warps[index], agent, step):
                    continue
                place = int((self.warps[rows] == index).argmax())
                row, at = int(rows[place]), int(columns[place])
                writer = int(writers[int(self.grains[row, at])])
                which = int(self.which[row])
                now = Side(self.event, int(self.agents[which]), int(self.steps[which]), int(self.threads[row]))
                bytes_of = self._bytes(row, at)
                checker._report("missing-fence", Side(before, agent, step, writer), now, self.buffer, *bytes_of)
                break


def _is_over(before: Event, block: Any) -> bool:
    """Whether an unordered write can be compared with another one; a copy of another block is executed for this."""
    if not before.asynchronous:
        return True
    if before.work is None or before.block is block:
        return False
    before.work.complete()
    return True


def _a_thread(event: Event, agent: int) -> int:
    """A thread of the warp of an agent."""
    warp = event.block.owner_of(agent)
    if warp is None:
        return int(event.threads[0])
    of_warp = event.threads[event.threads // event.block.warp_size == warp.index]
    return int(of_warp[0]) if of_warp.size else int(event.threads[0])
