# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory accesses of converged warps: addresses, bounds and checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...._mlir_libs._smalti import all_fit, all_inside, grains_of
from ...machine.findings import Finding
from ...machine.synchronization import Mbarrier
from ...ops.memref import BARRIER_BYTES
from . import bounds, timing
from .block import Warp
from .counters import access_kind
from .events import Event, Side
from .lanes import Array
from .memory import LaneBuffer, PrivateBuffer, View, read, write
from .shadow import LaneChecker
from .slots import Slot
from .warps import Warps


class Accesses(Warps):
    """The memory accesses of converged warps."""

    def __init__(self, block: Any, warps: list[Warp]) -> None:
        super().__init__(block, warps)
        self.changes = 0
        """The number of changes of memory."""
        self.slots: tuple[Slot, ...] = ()
        """The slots selected by the view of the next access."""

    def locate(
        self, view: View, indices: list[Any], lengths: tuple[Any, ...], site: Any, what: str, write: bool | None
    ) -> tuple[Any, Array | None]:
        """The byte offset of a vector at indices of a view, and the active lanes for which it is in bounds. A length
        may be a number per lane. `write` is None for an address that is not accessed here."""
        offset, mask = view.offset, self.mask
        if view.buffer.shared:
            self.slots = view.slots
        leading = len(indices) - len(lengths)
        for dimension, (index, size, stride) in enumerate(zip(indices, view.shape, view.strides, strict=True)):
            length = lengths[dimension - leading] if dimension >= leading else 1
            if view.limit is None:
                mask = self._inside(mask, index, length, size, dimension, view.buffer, site, what, write)
            if index.__class__ is not int or index:
                offset = offset + index * stride
        return offset, mask

    def _inside(
        self,
        mask: Array | None,
        index: Any,
        length: Any,
        size: Any,
        dimension: int,
        buffer: Any,
        site: Any,
        what: str,
        write: bool | None,
    ) -> Array | None:
        plain = index.__class__ is np.ndarray and length.__class__ is int and size.__class__ is int
        if plain and all_inside(index, 0, size - length):
            return mask
        bad = (index < 0) | (index > size - length)
        if not isinstance(bad, np.ndarray):
            if not bad:
                return mask
            bad = np.ones(self.lanes, np.bool_)
        if mask is not None:
            bad = bad & mask
        if not bad.any():
            return mask
        lane = int(np.flatnonzero(bad)[0])
        at, of, count = (int(x[lane]) if isinstance(x, np.ndarray) else int(x) for x in (index, size, length))
        where = f"index {at}" if count == 1 else f"indices {at} to {at + count - 1}"
        verb = "points to" if write is None else "writes" if write else "reads"
        self.report(
            "out-of-bounds",
            f"{what} {verb} {where} of {buffer.name}; dimension {dimension} has size {of}",
            site,
            lane,
        )
        return ~bad if mask is None else mask & ~bad

    def in_buffer(
        self, buffer: Any, first: Any, steps: Array, size: int, mask: Array | None, site: Any, what: str, write: bool
    ) -> Array | None:
        """The lanes whose access is inside the buffer."""
        low, high = int(steps.min()), int(steps.max()) + size
        bad = (first < -low) | (first > buffer.size - high)
        if not isinstance(bad, np.ndarray):
            if not bad:
                return mask
            bad = np.ones(self.lanes, np.bool_)
        if mask is not None:
            bad = bad & mask
        if not np.count_nonzero(bad):
            return mask
        lane = int(np.flatnonzero(bad)[0])
        at = int(first[lane]) if isinstance(first, np.ndarray) else int(first)
        verb = "writes" if write else "reads"
        message = f"{what} {verb} bytes [{at + low}, {at + high}) of {buffer.name}, whose size is {buffer.size} B"
        self.report("out-of-bounds", message, site, lane)
        return ~bad if mask is None else mask & ~bad

    def aligned(self, first: Any, size: int, mask: Array | None, site: Any, what: str, write: bool) -> None:
        """Reports misaligned byte offsets, for accesses that require alignment."""
        if isinstance(first, np.ndarray):
            if not int(np.bitwise_or.reduce(first)) & (size - 1):
                return
            bad = (first & (size - 1) != 0) if mask is None else (first & (size - 1) != 0) & mask
        else:
            bad = np.full(self.lanes, bool(first & (size - 1))) if mask is None else mask & bool(first & (size - 1))
        if bad.any():
            lane = int(bad.argmax())
            byte = int(first[lane]) if isinstance(first, np.ndarray) else int(first)
            verb = "writes" if write else "reads"
            self.report(
                "assertion", f"{what} {verb} at byte offset {byte}; the offset must be a multiple of {size}", site, lane
            )

    def load(self, view: View, indices: list[Any], shape: tuple[int, ...], site: Any, what: str = "the load") -> Any:
        """A vector of some shape (a number for ()) that every lane loads at its own indices."""
        first, mask = self.locate(view, indices, shape, site, what, False)
        return bounds.load(self, view, first, view.steps(shape), shape, mask, site, what)

    def load_bytes(
        self,
        buffer: Any,
        first: Any,
        steps: Array,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        mask: Array | None,
        site: Any,
        what: str = "the load",
    ) -> Any:
        """Elements at bytes of a buffer; lanes outside the mask get zeros."""
        if first.__class__ is not np.ndarray or not all_fit(first, steps, dtype.itemsize, buffer.size):
            self.aligned(first, dtype.itemsize, mask, site, what, False)
            mask = self.in_buffer(buffer, first, steps, dtype.itemsize, mask, site, what, False)
        if mask is not None and not mask.any():
            self.slots = ()
            return np.zeros(shape, dtype) if shape else dtype.type(0)
        self.touch(buffer, first, steps, dtype.itemsize, mask, False, what, site)
        found = read(buffer, first, steps, dtype, mask)
        if found.ndim > 1:
            return found.reshape((self.lanes, *shape))
        return found.reshape(shape) if shape else number(found[0])

    def store(
        self, view: View, indices: list[Any], value: Any, shape: tuple[int, ...], site: Any, what: str = "the store"
    ) -> None:
        """Every lane stores a vector of some shape (a number for ())."""
        first, mask = self.locate(view, indices, shape, site, what, True)
        bounds.store(self, view, first, view.steps(shape), value, shape, mask, site, what)

    def store_bytes(
        self,
        buffer: Any,
        first: Any,
        steps: Array,
        dtype: np.dtype[Any],
        value: Any,
        shape: tuple[int, ...],
        mask: Array | None,
        site: Any,
        what: str = "the store",
    ) -> None:
        """Stores elements at bytes of a buffer."""
        if first.__class__ is not np.ndarray or not all_fit(first, steps, dtype.itemsize, buffer.size):
            self.aligned(first, dtype.itemsize, mask, site, what, True)
            mask = self.in_buffer(buffer, first, steps, dtype.itemsize, mask, site, what, True)
        if mask is not None and not mask.any():
            self.slots = ()
            return
        values = np.asarray(value, dtype)
        values = values.reshape(self.lanes, -1) if values.ndim > len(shape) else values.reshape(1, -1)
        self.touch(buffer, first, steps, dtype.itemsize, mask, True, what, site, values=values)
        if self.machine.polling and not isinstance(buffer, PrivateBuffer):
            before = read(buffer, first, steps, dtype, mask)
            write(buffer, first, steps, values, mask)
            self.changed(before, read(buffer, first, steps, dtype, mask))
        else:
            write(buffer, first, steps, values, mask)

    def changed(self, before: Array, after: Array) -> None:
        """Counts a change of memory, for polling threads."""
        if before.tobytes() != after.tobytes():
            self.changes += 1
            self.machine.changes += 1

    def touch(
        self,
        buffer: Any,
        first: Any,
        steps: Array,
        size: int,
        mask: Array | None,
        write: bool,
        what: str,
        site: Any,
        *,
        values: Array | None = None,
        stream: tuple[Array, Array] | None = None,
        asynchronous: bool = False,
        work: Any = None,
        marks: bool = False,
        level: int = 0,
        reads: bool = False,
        kind: str | None = None,
    ) -> None:
        """Checks an access of `size` bytes at each of `first + steps` by the lanes of a mask.

        `stream` has for each warp the agent and the step of an asynchronous access; `values` has a row per lane (or
        one for all) of written values, if they are written immediately; otherwise `work` is the copy that writes them.
        `marks`: the access is the initialization or invalidation of a barrier. An atomic access has the `level` of its
        scope, and a write with `reads` also reads. AMD chips count the access as a `kind`.
        """
        if isinstance(buffer, PrivateBuffer):
            return
        if stream is not None:
            self.owes = True
        elif self.machine.recorder is not None and not marks:
            counter = kind or access_kind(buffer.shared, write)
            timing.accessed(self, buffer, first, steps, size, mask, write and not reads, what, site, counter)
        active = self.active_warps()
        counted = self.warps[0].counters is not None
        for warp in active:
            if warp.pending_acquires:
                warp.mark_effective()
            if stream is None and not counted:
                warp.dirty = True
        if stream is None and counted:
            stream = self._counted(kind or access_kind(buffer.shared, write), active)
        if buffer.shared and buffer.block is not self.block and stream is None:
            for warp in active:
                warp.access_remote(buffer.block, what, site, (warp.agent, warp.step))
        if self.slots and buffer.shared:
            self._takes_slots(write, active, stream)
        if not self.machine.how.races or buffer.read_only:
            return
        event = Event(what, write, site, self, asynchronous, work, level=level, reads=reads, size=size)
        which, threads = self.which, self.threads
        together = not isinstance(first, np.ndarray)
        if together:
            if self.block.independent and stream is None:
                lanes = np.arange(self.lanes) if mask is None else np.flatnonzero(mask)
            else:
                # All lanes access alike: one lane of each warp is recorded.
                lanes = np.arange(0, self.lanes, self.block.warp_size)
                if mask is not None:
                    rows = mask.reshape(len(self.warps), -1)
                    lanes = (lanes + rows.argmax(1))[rows.any(1)]
            if write and values is not None and len(values) > 1 and len(lanes):
                running = np.ascontiguousarray(values if mask is None else values[mask]).view(np.uint8)
                differ = (running != running[:1]).any(1)
                if differ.any():
                    who = self.threads if mask is None else self.threads[mask]
                    self._conflict(event, int(who[0]), int(who[differ.argmax()]), buffer, int(first))
            which, threads = which[lanes], threads[lanes]
            at = np.full(len(lanes), first)
        elif mask is not None:
            which, threads, at = which[mask], threads[mask], first[mask]
        else:
            at = first
        if buffer.shared and buffer.block.barriers and not marks:
            self._spares_barriers(buffer.block.barriers.values(), at, threads, steps, event)
        grains = grains_of(at, steps, size, buffer.grain)
        if stream is not None and not write and not asynchronous and self.warps[0].counters is None:
            event.lanes = (grains, threads)
        same = self._same(buffer, grains, values, mask, first) if work is None else work.same
        several = self._check(buffer, event, grains, threads, which, stream, same)
        if several and not together:
            self._check_doubles(buffer, event, grains, threads, which, values, mask)

    def _spares_barriers(
        self, barriers: Iterable[Mbarrier], at: Array, threads: Array, steps: Array, event: Event
    ) -> None:
        """Reports an access to the bytes of an mbarrier."""
        size = event.size
        low, high = int(at.min() + steps.min()), int(at.max() + steps.max()) + size
        for barrier in barriers:
            begin, end = barrier.offset, barrier.offset + BARRIER_BYTES
            if high <= begin or end <= low:
                continue
            first = at[:, None] + steps
            hit = ((first < end) & (first + size > begin)).any(1)
            if hit.any():
                lane = int(np.flatnonzero(self.threads == threads[int(hit.argmax())])[0])
                verb = "writes" if event.write else "reads"
                message, hint = (
                    f"{event.what} {verb} the bytes of {barrier.name}, an initialized mbarrier",
                    "execute nvvm.mbarrier.inval before the access, or use another address",
                )
                self.report("barrier", message, event.site, lane, hint=hint, others=[barrier.begin("barrier")])

    def _takes_slots(self, write: bool, active: list[Warp], stream: tuple[Array, Array] | None) -> None:
        """Records an access through the view that was selected last."""
        agents, steps = stream or (self.agents, [warp.step for warp in self.warps])
        ends = {warp: (int(agent), int(step)) for warp, agent, step in zip(self.warps, agents, steps, strict=True)}
        self.block.slots.access(self.slots, write, active, *zip(*(ends[warp] for warp in active), strict=True))
        self.slots = ()

    def reads_grains(
        self, buffer: LaneBuffer, lanes: Array, grains: Array, what: str, site: Any, stream: tuple[Array, Array]
    ) -> None:
        """Checks the reads of an asynchronous operation: a row of grains for each of some lanes."""
        self.owes = True
        for warp in self.active_warps():
            warp.mark_effective()
        if self.machine.how.races:
            event = Event(what, False, site, self, asynchronous=True)
            self._check(buffer, event, grains, self.threads[lanes], self.which[lanes], stream, None)

    def _check(
        self,
        buffer: LaneBuffer,
        event: Event,
        grains: Array,
        threads: Array,
        which: Array,
        stream: tuple[Array, Array] | None,
        same: Any,
    ) -> bool:
        """Returns whether several threads write the same bytes."""
        if len(threads) == 1:
            event.only = int(threads[0])
        agents, ends = stream or (self.agents, np.array([warp.step for warp in self.warps], np.int32))
        checker: LaneChecker = self.block.checker
        missing, several = checker.access(buffer, event, grains, threads, agents, ends, which, same)
        if missing is not None:
            what, site, grain = event.what, event.site, buffer.grain
            row, column = (int(x[0]) for x in np.nonzero(missing))
            byte = int(grains[row, column]) * grain
            lane = int(np.flatnonzero(self.threads == threads[row])[0])
            message = f"{what} reads bytes [{byte}, {byte + grain}) of {buffer.name}, which are uninitialized"
            self.report(
                "uninitialized",
                message,
                site,
                lane,
                hint="write all of these bytes before the read, and synchronize the two, for example with a barrier",
            )
        return several

    def _counted(self, kind: str, active: list[Warp]) -> tuple[Array, Array]:
        """The counters that complete the access, where waves must wait for accesses."""
        counters: list[Any] = [warp.counters for warp in self.warps]
        agents = self.once(
            ("agents", kind), [self.agents], lambda _: np.array([c.of[kind].agent for c in counters], np.int32)
        )
        runs = [True] * len(counters) if active is self.warps else [warp in active for warp in self.warps]
        ends = [c.access(kind) if one else 0 for c, one in zip(counters, runs, strict=True)]
        return agents, np.array(ends, np.int32)

    def _same(self, buffer: LaneBuffer, grains: Array, values: Array | None, mask: Array | None, first: Any) -> Any:
        """A function that returns whether a write leaves a grain of a row unchanged."""
        if values is None:
            return None

        def same(row: int, column: int) -> bool:
            rows = values
            if len(values) > 1:
                rows = values if mask is None else values[mask]
                if not isinstance(first, np.ndarray):
                    rows = rows[:1]
            found = np.ascontiguousarray(rows[min(row, len(rows) - 1)]).view(np.uint8)
            grain = buffer.grain
            part = found[column * grain : (column + 1) * grain]
            at = int(grains[row, column]) * grain
            return bool((buffer.data[at : at + grain] == part).all())

        return same

    def _check_doubles(
        self,
        buffer: LaneBuffer,
        event: Event,
        grains: Array,
        threads: Array,
        which: Array,
        values: Array | None,
        mask: Array | None,
    ) -> None:
        """Checks lanes that write the same bytes in one op."""
        assert buffer.threads is not None
        lost = buffer.threads.take(grains) != threads[:, None]
        rows = None
        if values is not None and len(values) > 1:
            rows = np.ascontiguousarray(values if mask is None else values[mask])
            rows = rows.view(np.uint8).reshape(len(rows), -1, buffer.grain) if rows.size else rows
        elif values is not None:
            return
        position = {int(t): i for i, t in enumerate(threads.tolist())}
        for row, column in zip(*(x.tolist() for x in np.nonzero(lost)), strict=True):
            other = position[int(buffer.threads[grains[row, column]])]
            if rows is not None and len(rows) == len(threads):
                where = int(np.flatnonzero(grains[other] == grains[row, column])[0])
                if (rows[other][where] == rows[row][column]).all():
                    continue
            elif rows is not None:
                return
            agents = self.agents
            before = Side(event, int(agents[which[other]]), 0, int(threads[other]))
            now = Side(event, int(agents[which[row]]), 0, int(threads[row]))
            byte = int(grains[row, column]) * buffer.grain
            self.block.report_race("race", before, now, buffer, byte, byte + buffer.grain)
            return

    def _conflict(self, event: Event, one: int, other: int, buffer: LaneBuffer, byte: int) -> None:
        """Reports two threads that write different values to the same bytes."""
        sides = [Side(event, int(self.agents[0]), 0, thread) for thread in (one, other)]
        note = Finding(
            "race",
            f"{event.what} writes a different value here",
            self.block.position,
            agent=sides[0].name,
            location=event.site.location,
            iteration=sides[0].iteration,
        )
        message = f"data race: threads write different values to byte {byte} of {buffer.name} in one store"
        lane = int(np.flatnonzero(self.threads == other)[0])
        hint = "let one thread store, or let the threads store to different addresses"
        self.report("race", message, event.site, lane, hint=hint, others=[note])


def number(found: Any) -> Any:
    """An element as a value."""
    return int(found) if found.dtype.kind in "ib" else found
