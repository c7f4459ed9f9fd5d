# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`rocdl`: barriers in LDS of gfx1250, which are words that count arrivals and that waves poll.

CDNA5 ISA, "LDS Barriers", with the bit ranges that AMD's compilers use (MLIR, `amdgpu.ds_barrier_init` and related ops;
Triton, BarrierOpToLLVM.cpp): the pending arrivals minus one from bit 0, the phase from bit 29, the initial count from bit 32.
The arrival that makes the count negative completes the phase, whose number decreases by one. An arrival is ordered with the
LDS accesses of its wave (MLIR, `rocdl.ds.atomic.barrier.arrive.rtn.b64`); an asynchronous arrival, and that of the tensor
data mover, is ordered with its copies. A wave that observes the completed phase acquires what its arrivals release.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .....diagnostics import counted
from ....machine.clocks import HappensBefore
from ....machine.engines import completes_immediately
from ....machine.findings import Site
from ....ops.memref import BARRIER_BYTES
from ....translation.translator import Step, Unsupported, require_chip
from ...execution.code import ThreadTranslator, operation
from ...execution.counters import ASYNC, DS, hold, started
from ...execution.engines import Work
from ...execution.lanes import Array, spread
from ...execution.memory import LaneBuffer, read, write
from ...execution.ordering import BLOCK, Told, merged
from ..arithmetic.llvm import address_space, pointee

_WIDE = np.dtype(np.int64)
_PENDING_BITS, _INIT_BIT = 29, 32
_PENDING, _PHASES = (1 << _PENDING_BITS) - 1, (1 << _INIT_BIT - _PENDING_BITS) - 1
_STEPS = np.zeros(1, np.int64)


def after_arrival(state: int, count: int) -> tuple[int, bool]:
    """The word after an arrival, and whether the arrival completes the phase. Excess arrivals are not counted."""
    pending, phase, rest = state & _PENDING, state >> _PENDING_BITS & _PHASES, state >> _INIT_BIT
    over = count > pending
    pending -= count
    if over:
        pending, phase = pending + (rest & 0xFFFF) + 1, phase - 1
    return rest << _INIT_BIT | (phase & _PHASES) << _PENDING_BITS | pending & _PENDING, over


def _arrive(warp: Any, buffer: LaneBuffer, at: int, counts: list[int], clocks: HappensBefore, site: Site) -> list[int]:
    """Lanes of a wave arrive at a barrier one after the other. Returns the old word of each."""
    cell, block, found = np.array([at]), warp.block, []
    state = int(read(buffer, cell, _STEPS, _WIDE, None)[0, 0]) & (1 << 64) - 1
    told = block.lds_arrivals.setdefault(at, [])
    told.append(Told(warp, BLOCK, clocks, (site,)))
    over = False
    for count in counts:
        found.append(state)
        missing = (state & _PENDING) + 1
        if state >> _INIT_BIT + 16 or not 0 <= count <= missing:
            message = (
                f"too many arrivals: {counted(count, 'arrival')} on the barrier at byte {at} of LDS, whose current phase needs only "
                f"{missing} more; wait for the previous phase before the arrival, or initialize the barrier with a larger count"
                if not state >> _INIT_BIT + 16
                else f"the arrival uses byte {at} of LDS, where no barrier is initialized; initialize the barrier before the arrival"
            )
            warp.stop("barrier", message, site)
        state, over = after_arrival(state, count)
        if over:
            buffer.places[at] = merged([*buffer.places.get(at, []), *told])
            told.clear()
            told.append(Told(warp, BLOCK, clocks, (site,)))
    if over:
        told.clear()
    write(buffer, cell, _STEPS, np.array([[state]], np.uint64).view(_WIDE), None)
    block.machine.changes += state != found[0]
    return found


def _by_cell(st: Any, places: Any) -> list[tuple[Any, int, Array]]:
    """The active waves, and their lanes by byte offset."""
    running = np.ones(st.lanes, np.bool_) if st.mask is None else st.mask
    at, found = spread(places, _WIDE, st.lanes), []
    for index, warp in enumerate(st.warps):
        lanes = np.flatnonzero(running & (st.which == index))
        found += [(warp, cell, lanes[at[lanes] == cell]) for cell in np.unique(at[lanes]).tolist()]
    return found


def check_place(st: Any, buffer: Any, places: Any, mask: Array | None, site: Site) -> Array | None:
    """The lanes whose address is valid for a barrier in LDS."""
    if not buffer.shared or buffer.block is not st.block:
        st.stop(
            "barrier",
            f"the arrival uses a barrier in {buffer.name}; the barrier must be in the LDS of the same block",
            site,
        )
    st.aligned(places, BARRIER_BYTES, mask, site, "the arrival", True)
    return st.in_buffer(buffer, places, _STEPS, BARRIER_BYTES, mask, site, "the arrival", True)


class Arrival(Work):
    """An asynchronous arrival of lanes of a wave, after the completion of the copies that the wave issued before."""

    def __init__(self, st: Any, warp: Any, kind: str, lanes: Array, buffer: Any, at: int, site: Site) -> None:
        super().__init__(st, site)
        self.warp, self.buffer, self.at = warp, buffer, at
        self.threads = st.threads[lanes]
        counter = warp.counters.of[kind]
        self.counter, self.number = counter, counter.issued
        self.clocks = warp.release()
        self.clocks.seen[counter.agent] = self.number
        self.done = False
        self.block.arrivals.append(self)

    def complete(self, warps: list[Any] | None = None) -> None:
        """Executes the arrival, after the earlier operations of the wave."""
        if self.done:
            return
        self.done = True
        self.block.arrivals.remove(self)
        works = self.counter.works
        while works and works[0][0] <= self.number:
            _, work = works.popleft()
            work.complete([self.warp])
            if work is self:
                break
        counts = [1] * len(self.threads)
        _arrive(self.warp, self.buffer, self.at, counts, self.clocks, self.site)


def arrive_behind(st: Any, warp: Any, kind: str, lanes: Array, buffer: Any, at: int, site: Site) -> None:
    """An arrival of lanes after the copies that their wave has issued so far."""
    counter = warp.counters.of[kind]
    agents, ends = np.zeros((2, len(st.warps)), np.int32)
    index = st.warps.index(warp)
    agents[:] = [other.counters.of[kind].agent for other in st.warps]
    ends[index] = counter.issued
    mask = np.zeros(st.lanes, np.bool_)
    mask[lanes] = True
    before, st.mask = st.mask, mask
    more: Any = {"stream": (agents, ends), "level": BLOCK, "reads": True}
    st.touch(buffer, np.full(st.lanes, at), _STEPS, BARRIER_BYTES, mask, True, "the arrival", site, **more)
    arrival = Arrival(st, warp, kind, lanes, buffer, at, site)
    hold(st, kind, arrival, [warp])
    st.mask = before
    if completes_immediately(st):
        arrival.complete()


def _pointer(op: Any, tr: ThreadTranslator) -> int:
    require_chip(tr.target, "barriers in LDS", lambda target: "tensor_counter" in target.waits)
    if address_space(op.operands[0].type) != 3:
        raise Unsupported(
            f"the barrier operand has type {op.operands[0].type}; it must be !llvm.ptr<3>, a pointer to LDS"
        )
    tr.uses_shared(BARRIER_BYTES)
    # Others poll what it changes.
    tr.polls = True
    return tr.operands(op)[0]


@operation("rocdl.ds.atomic.barrier.arrive.rtn.b64")
def _arrive_now(op: Any, tr: ThreadTranslator) -> Step:
    pointer, site = _pointer(op, tr), tr.site(op)
    count, (result,) = tr.operands(op)[1], tr.results(op)

    def step(st: Any) -> None:
        buffer, places = pointee(st, st.v[pointer], 3, site, "the arrival")
        mask = check_place(st, buffer, places, st.mask, site)
        before, st.mask = st.mask, mask
        found, counts = np.zeros(st.lanes, _WIDE), spread(st.v[count], _WIDE, st.lanes)
        changes = st.machine.changes
        for warp, at, lanes in _by_cell(st, places):
            clocks = warp.release()
            accesses = warp.counters.of[DS]
            # Later accesses are distinguished from earlier ones, which may be outstanding.
            clocks.seen[accesses.agent] = accesses.told = accesses.issued
            states = _arrive(warp, buffer, at, counts[lanes].tolist(), clocks, site)
            found[lanes] = np.array(states, np.uint64).view(_WIDE)
        more: Any = {"level": BLOCK, "reads": True, "kind": DS}
        at = spread(places, _WIDE, st.lanes)
        st.touch(buffer, at, _STEPS, BARRIER_BYTES, mask, True, "the arrival", site, **more)
        st.mask = before
        st.changes += st.machine.changes - changes
        st.v[result] = found

    return step


@operation("rocdl.ds.atomic.async.barrier.arrive.b64")
def _arrive_later(op: Any, tr: ThreadTranslator) -> Step:
    pointer, site = _pointer(op, tr), tr.site(op)

    def step(st: Any) -> None:
        buffer, places = pointee(st, st.v[pointer], 3, site, "the arrival")
        before, st.mask = st.mask, check_place(st, buffer, places, st.mask, site)
        started(st, ASYNC)
        for warp, at, lanes in _by_cell(st, places):
            arrive_behind(st, warp, ASYNC, lanes, buffer, at, site)
        st.mask = before

    return step
