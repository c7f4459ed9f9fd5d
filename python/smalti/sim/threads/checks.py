"""Whether an access is in order behind others, and what it is a finding of if it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..clocks import GLOBAL, SHARED
from ..races import distinct
from .counters import mark_waits
from .events import Event, Side, together
from .lanes import Array
from .memory import LaneBuffer

if TYPE_CHECKING:
    from .shadow import LaneChecker

BITS = np.uint32(1) << np.arange(32, dtype=np.uint32)


class Check:
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
        self._found: list[int] | None = None
        self.apart = event.block.independent
        """Whether the threads of a warp run by themselves."""
        if self.apart:
            self.bits: Array = BITS[threads % event.block.warp_size]
            self.agents_of_warps: Array = event.block.agents

    def against(
        self,
        last: Array,
        writers: Array | None,
        same: Callable[[int, int], bool] | None,
        lanes: Array | None,
    ) -> None:
        """Checks against the accesses that `last` names for each grain; `writers` are the threads that did them, and
        `lanes` bits of them."""
        checker, event = self.checker, self.event
        block = event.block
        numbers = distinct(last)
        # Agents of earlier clusters are in column 0: of them one knows little.
        columns = np.maximum(checker._agents.take(numbers) - (block.first_agent - 1), 0)
        steps = checker._steps.take(numbers)
        known = block.known_matrix().take(columns, 1) >= steps
        if len(numbers) * len(self._all_warps()) == np.count_nonzero(known[self._all_warps()]):
            # All warps know of all accesses.
            ordered = True
        else:
            ordered = known[self.warps[:, None], np.searchsorted(numbers, last)]
            bits = lanes.take(self.grains) if self.apart and lanes is not None else None
            if bits is not None:
                self._of_warps(ordered, last, bits, writers is not None)
            numbers = distinct(last[ordered])
            if not ordered.all():
                self._unordered(~ordered, last, writers, same, bits)
        if block.cluster.covered:
            for number in numbers:
                if number and checker._events[number].block.cluster is block.cluster:
                    self._relies(number)
        if block.waits or block.heard:
            self._mark_waits(ordered & (last != 0), last)
        if event.asynchronous and writers is not None:
            self._fenced(numbers, ordered, last, writers)

    def _of_warps(self, ordered: Array, last: Array, lanes: Array, written: bool) -> None:
        """What threads of the same warp did is in order if the thread itself did it, or knows of it."""
        checker, block = self.checker, self.event.block
        rows, columns = np.nonzero(~ordered)
        numbers = last[rows, columns]
        own = checker._agents.take(numbers) == self.agents_of_warps[self.warps[rows]]
        if not own.any():
            return
        rows, columns, numbers = rows[own], columns[own], numbers[own]
        steps, warps = checker._steps.take(numbers), self.warps[rows]
        mine = self.threads[rows] % block.warp_size
        named = lanes[rows, columns][:, None] & BITS != 0
        each = np.arange(len(rows))
        did = named[each, mine]
        named[each, mine] = False
        fine = ~(named & (block.knows[warps, mine] < steps[:, None])).any(1)
        if written and not self.event.write:
            # Those who write one place together write the same.
            fine |= did
        ordered[rows[fine], columns[fine]] = True
        if block.syncs_warps:
            needed = fine & named.any(1) & ~(did & (not self.event.write))
            for warp, step in set(zip(warps[needed].tolist(), steps[needed].tolist(), strict=True)):
                site = block.warps[warp].only_sync(step)
                if site is not None:
                    block.machine.effective.add((site.number, "removed"))

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

    def _another(self, lanes: int, row: int, step: int) -> int:
        """A thread of the same warp that did something of which one does not know."""
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
                # Atomic writes are looked for by themselves.
                continue
            agent, step = int(checker._agents[number]), int(checker._steps[number])
            rows, columns = np.nonzero(bad & (last == number))
            if before.block is block:
                # What a thread started itself, it knows of first.
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
                told = np.array([warp.knows_of(agent, step) for warp in block.warps])
                unknown = ~told[self.warps[rows]]
                rows, columns = rows[unknown], columns[unknown]
            for row, at in zip(rows.tolist(), columns.tolist(), strict=True):
                if event.write and before.write and same is not None and _is_over(before, block) and same(row, at):
                    # Who is last does not matter.
                    continue
                writer = int(writers[self.grains[row, at]]) if writers is not None else before.only
                if lanes is not None and agent == self.agents_of_warps[self.warps[row]]:
                    writer = self._another(int(lanes[row, at]), row, step)
                if writer < 0:
                    writer = _a_thread(before, agent)
                index = int(self.which[row])
                now = Side(event, int(self.agents[index]), int(self.steps[index]), int(self.threads[row]))
                checker._report("race", Side(before, agent, step, writer), now, self.buffer, *self._bytes(row, at))
                break

    def _relies(self, number: int) -> None:
        """The access is in order as another one is over."""
        checker, block = self.checker, self.event.block
        agent, step = int(checker._agents[number]), int(checker._steps[number])
        owner = checker._events[number].block
        if (agent, step) in owner.covers:
            owner.relies(agent, step, [block.warps[index] for index in self._all_warps()])

    def _all_warps(self) -> list[int]:
        """The warps whose threads touch the memory."""
        found = self._found
        if found is None:
            team, size = self.event.threads, self.event.block.warp_size
            of_all = len(self.threads) == len(team)
            found = self._found = (team[::size] // size).tolist() if of_all else distinct(self.warps)
        return found

    def _bytes(self, row: int, at: int) -> tuple[int, int]:
        """The bytes that the thread touches around a grain."""
        grain = self.buffer.grain
        low = int(self.grains[row].min()) * grain
        high = (int(self.grains[row].max()) + 1) * grain
        if high - low > 64:
            low = int(self.grains[row, at]) * grain
            high = low + grain
        return low, high

    def _fenced(self, numbers: list[int], ordered: Array | bool, last: Array, writers: Array) -> None:
        """Whether the asynchronous proxy sees what was written."""
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
    """Whether a write that is not known to be over can be compared with another one; that of another block is done for
    it."""
    if not before.asynchronous:
        return True
    if before.work is None or before.block is block:
        return False
    before.work.complete()
    return True


def _a_thread(event: Event, agent: int) -> int:
    """A thread of the warp that an agent belongs to."""
    warp = event.block.owner_of(agent)
    if warp is None:
        return int(event.threads[0])
    of_warp = event.threads[event.threads // event.block.warp_size == warp.index]
    return int(of_warp[0]) if of_warp.size else int(event.threads[0])
