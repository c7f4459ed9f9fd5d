# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`cp.async`: copies into shared memory that each thread issues and waits for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....machine.clocks import HappensBefore
from ....machine.engines import completes_immediately
from ....ops.barriers import count_arrivals
from ....translation.translator import Step, Unsupported, attribute, groups_left
from ...execution import timing
from ...execution.block import Warp
from ...execution.code import ThreadTranslator, operation
from ...execution.engines import LaneCopy, Work, commit, same_for_warps, wait_for_groups
from ...execution.lanes import Array
from ...execution.memory import View
from ..arithmetic.llvm import address_space, pointee
from ..memory.memref import memory_dtype
from .mbarrier import by_barrier, find, place_of


def start_copy(
    st: Any, source: Any, first: Any, target: Any, second: Any, size: int, given: Any, mask: Any, site: Any
) -> None:
    """Issues a copy of `given` bytes by each lane of a mask, between byte offsets of buffers. The rest of `size` bytes
    becomes zeros."""
    st.aligned(second, size, mask, site, "the copy", True)
    st.aligned(
        first, size, mask if not isinstance(given, np.ndarray) else _and(mask, given > 0), site, "the copy", False
    )
    warps = st.active_warps()
    ends = np.array([w.copies.next for w in st.warps], np.int32)
    agents = np.array([w.copies.agent for w in st.warps], np.int32)
    mask = check_copy(st, source, first, target, second, size, given, mask, site, (agents, ends))
    copy = LaneCopy(st, source, first, target, second, size, given, mask, site)
    timing.copied(st, copy, copy.sizes, lambda warp: warp.copies.next)
    for warp in warps:
        warp.copies.open.append(copy)
    if completes_immediately(st):
        copy.happen()
    elif st.machine.how.numbers:
        copy.poison()


def _and(mask: Any, other: Any) -> Any:
    return other if mask is None else mask & other


def check_copy(
    st: Any,
    source: Any,
    first: Any,
    target: Any,
    second: Any,
    size: int,
    given: Any,
    mask: Any,
    site: Any,
    stream: tuple[Any, Any],
) -> Any:
    """Checks both sides of a copy that completes with a stream. Returns the lanes that are in bounds."""
    # The source: elements of one byte, by lanes with equal sizes.
    for count in np.unique(np.asarray(given if mask is None or not isinstance(given, np.ndarray) else given[mask])):
        if count <= 0:
            continue
        some = mask
        if isinstance(given, np.ndarray):
            some = given == count if mask is None else mask & (given == count)
        unit = source.grain if int(count) % source.grain == 0 else 1
        steps = np.arange(0, int(count), unit)
        fine = st.in_buffer(source, first, steps, unit, some, site, "the copy", False)
        st.touch(source, first, steps, unit, fine, False, "the copy", site, stream=stream)
    unit = target.grain
    steps = np.arange(0, size, unit)
    mask = st.in_buffer(target, second, steps, unit, mask, site, "the copy", True)
    st.touch(target, second, steps, unit, mask, True, "the copy", site, stream=stream)
    return mask


@operation("nvgpu.device_async_copy")
def _device_async_copy(op: Any, tr: ThreadTranslator) -> Step:
    segments = attribute(op, "operandSegmentSizes")
    operands = tr.operands(op)
    target, operands = operands[0], operands[1:]
    target_indices, operands = operands[: segments[1]], operands[segments[1] :]
    source, operands = operands[0], operands[1:]
    source_indices, operands = operands[: segments[3]], operands[segments[3] :]
    read = operands[0] if operands else None
    site, count = tr.site(op), attribute(op, "dstElements")
    target_type, source_type = op.operands[0].type, op.operands[1 + segments[1]].type
    dtype = memory_dtype(target_type)
    if count * dtype.itemsize not in (4, 8, 16):
        raise Unsupported.invalid(
            f"each thread copies {count * dtype.itemsize} B; cp.async copies 4, 8 or 16 B per thread"
        )
    tr.uses(target_type)
    tr.uses(source_type)
    (result,) = tr.results(op)

    def step(st: Any) -> None:
        v = st.v
        v[result] = 0
        memory: View = v[source]
        destination: View = v[target]
        second, mask = st.locate(destination, [v[i] for i in target_indices], (count,), site, "the copy", True)
        given: Any = count if read is None else np.clip(v[read], 0, count)
        at = [v[i] for i in source_indices]
        # Only what is read has to be inside.
        reading, before = given > 0, st.mask
        if isinstance(reading, np.ndarray):
            st.mask = reading if before is None else reading & before
        first: Any = 0
        if np.any(reading):
            first, fine = st.locate(memory, at, (given,), site, "the copy", False)
            if fine is not st.mask:
                bad = ~fine if st.mask is None else st.mask & ~fine
                mask = ~bad if mask is None else mask & ~bad
            if isinstance(reading, np.ndarray):
                first = np.where(reading, first, 0)
        st.mask = before
        size = dtype.itemsize
        start_copy(st, memory.buffer, first, destination.buffer, second, count * size, given * size, mask, site)

    return step


@operation("nvvm.cp.async.shared.global")
def _copy_bytes(op: Any, tr: ThreadTranslator) -> Step:
    target, source, *given = tr.operands(op)
    site, size = tr.site(op), attribute(op, "size")
    space = address_space(op.operands[1].type)
    tr.uses_shared(size)

    def step(st: Any) -> None:
        count: Any = np.clip(st.v[given[0]], 0, size) if given else size
        # Only who reads something needs an address.
        before, reading = st.mask, np.broadcast_to(np.asarray(count) > 0, (st.lanes,))
        st.mask = reading if before is None else reading & before
        buffer, first = st.block.shared, 0
        if st.mask.any():
            buffer, first = pointee(st, st.v[source], space, site, "the copy")
            first = np.where(st.mask, first, 0)
        st.mask = before
        start_copy(st, buffer, first, st.block.shared, st.v[target], size, count, st.mask, site)

    return step


class Arrival(Work):
    """An asynchronous arrival of a warp's threads, after the completion of the copies that they issued."""

    def __init__(self, st: Any, warp: Warp, lanes: Array, site: Any) -> None:
        super().__init__(st, site)
        self.threads = st.threads[lanes]
        self.loops = tuple(i[lanes] if isinstance(i, np.ndarray) else i for i in self.loops)
        self.warp, self.number = warp, warp.copies.committed

    def complete(self) -> None:
        """Executes the copies."""
        stream, told, moment = self.warp.copies, HappensBefore(), 0.0
        for number in sorted(n for n in stream.groups if n <= self.number):
            for work in stream.groups.pop(number):
                work.complete([self.warp])
                moment = max(moment, *work.moments.get(self.warp.index, (0.0,)))
        told.seen[stream.agent] = self.number
        for barrier in self.barriers:
            barrier.clocks.join(told)
            barrier.complete(1, self.used, moment)


@operation("nvvm.cp.async.mbarrier.arrive")
def _arrive(op: Any, tr: ThreadTranslator) -> Step:
    place, site, counted = place_of(op, tr), tr.site(op), attribute(op, "noinc", False)

    def step(st: Any) -> None:
        same_for_warps(st, "arrive when their copies complete", site)
        for warp, at, lanes in by_barrier(st, place(st)):
            barrier = find(warp, at, site, "the arrival")
            st.block.splits(warp.copies, site)
            arrival = Arrival(st, warp, lanes, site)
            arrival.tells(barrier, warp)
            # The phase waits for the copies as it does for bytes. Without `noinc` the arrival is one more of it.
            barrier.transactions += 1
            barrier.pending += 0 if counted else len(lanes)
            count_arrivals(warp, barrier, len(lanes), site, HappensBefore())
            if completes_immediately(st):
                arrival.complete()
            else:
                st.block.flights.append(arrival)

    return step


@operation("nvgpu.device_async_create_group", "nvvm.cp.async.commit.group")
def _commit(op: Any, tr: ThreadTranslator) -> Step:
    results, site = tr.results(op), tr.site(op)

    def step(st: Any) -> None:
        commit(st, "copies", site)
        for slot in results:
            st.v[slot] = 0

    return step


@operation("nvgpu.device_async_wait", "nvvm.cp.async.wait.group")
def _wait(op: Any, tr: ThreadTranslator) -> Step:
    left = groups_left(op, "numGroups" if op.name.startswith("nvgpu") else "n")
    site = tr.site(op)

    def step(st: Any) -> None:
        wait_for_groups(st, "copies", left, site)

    return step
