"""Finds accesses that nothing orders, of many threads at a time.

The shadow of a buffer names for each grain the last write, and for each warp its last read since, its last atomic write
and its last atomic read since. All are numbers: an access of a team has one for each of its warps (and step, where they
differ).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..clocks import GLOBAL, SHARED
from ..races import distinct
from .counters import mark_waits
from .lanes import Array
from .memory import LaneBuffer
from .ordering import BLOCK, CLUSTER, DEVICE

NEVER = np.iinfo(np.int32).max


class Event:
    """One operation of a team that touches memory."""

    __slots__ = (
        "asynchronous",
        "block",
        "lanes",
        "level",
        "loops",
        "only",
        "reads",
        "site",
        "size",
        "threads",
        "what",
        "work",
        "write",
    )

    def __init__(
        self,
        what: str,
        write: bool,
        site: Any,
        team: Any,
        asynchronous: bool = False,
        work: Any = None,
        *,
        level: int = 0,
        reads: bool = False,
        size: int = 0,
    ) -> None:
        self.what = what
        self.write = write
        self.site = site
        self.asynchronous = asynchronous
        """Whether it goes through the asynchronous proxy."""
        self.level = level
        """The scope of an atomic access (see `ordering`); 0 for others."""
        self.reads = reads or not write
        self.size = size
        """Bytes that are accessed together."""
        self.work = work
        """The copy that does it, where others may do the same."""
        self.block = team.block
        self.loops = tuple(team.loops)
        self.threads = team.threads
        self.only = -1
        """The thread, where one alone did it."""
        self.lanes: tuple[Array, Array] | None = None
        """The grains that each of some threads read, and these threads, where each knows first that its own is over."""

    def reader_of(self, grains: Array, agent: int) -> Any:
        """The thread of an agent's warp that alone read each of some grains; -1 where that is not known."""
        if self.lanes is None:
            return self.only
        rows, threads = self.lanes
        mine = threads // self.block.warp_size == self.block.owner_of(agent).index
        flat, by = rows[mine].reshape(-1), np.repeat(threads[mine], rows.shape[1])
        order = np.argsort(flat, kind="stable")
        flat, by = flat[order], by[order]
        begins = np.flatnonzero(np.concatenate([[True], flat[1:] != flat[:-1]]))
        low, high = np.minimum.reduceat(by, begins), np.maximum.reduceat(by, begins)
        return np.where(low == high, low, -1)[np.searchsorted(flat[begins], grains)]


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


def together(one: Event, other: Event) -> bool:
    """Whether two atomic accesses are no race: of the same bytes, and in scopes that have both."""
    least = BLOCK if one.block is other.block else CLUSTER if one.block.cluster is other.block.cluster else DEVICE
    return one.size == other.size and min(one.level, other.level) >= least


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
        checking = _Check(self, buffer, event, grains, threads, threads // block.warp_size, agents, steps, which)
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

    def _remember(self, checking: _Check, rows: list[int], which: Array, numbers: Array) -> None:
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

    def _add_lanes(self, checking: _Check, table: Table, places: Array) -> None:
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
        kept[rows, columns] = lanes.take(places[rows, columns]) & ~(known * _BITS).sum(1).astype(np.uint32)
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


_BITS = np.uint32(1) << np.arange(32, dtype=np.uint32)


def _set_bits(into: Array, places: Array, bits: Array) -> None:
    """Replaces what is at places by the bits of all that name them."""
    wanted = np.broadcast_to(bits[:, None], places.shape)
    into[places] = wanted
    if np.count_nonzero(into.take(places) != wanted):
        into[places] = 0
        np.bitwise_or.at(into, places, wanted)


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
        self._found: list[int] | None = None
        self.apart = event.block.independent
        """Whether the threads of a warp run by themselves."""
        if self.apart:
            self.bits: Array = _BITS[threads % event.block.warp_size]
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
        named = lanes[rows, columns][:, None] & _BITS != 0
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
