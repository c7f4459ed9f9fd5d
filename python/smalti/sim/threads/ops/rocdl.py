"""`rocdl`: waits, barriers, and what lanes of a wave exchange."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...program import Step, Unsupported, attribute
from ...synchronisation import Meeting, Wait
from ..code import ThreadTranslator, operation
from ..counters import ASYNC, DS, LOAD, STORE, TENSOR
from ..lanes import dtype_of, rank_of, spread
from .amdgpu import of_vector_memory, transposed_read, wait_for_counters
from .gpu import from_lane, thread_barrier, wait_for_all, whole_warps
from .llvm import address_space, pointee

# ---------------------------------------------------------------------------------------------------------------------
# Waits and barriers
# ---------------------------------------------------------------------------------------------------------------------

_WAITS = {
    "loadcnt": LOAD,
    "storecnt": STORE,
    "dscnt": DS,
    "asynccnt": ASYNC,
    "tensorcnt": TENSOR,
}


@operation(*(f"rocdl.s.wait.{name}" for name in _WAITS))
def _wait(op: Any, tr: ThreadTranslator) -> Step:
    site, kind, left = tr.site(op), _WAITS[op.name.rpartition(".")[2]], attribute(op, "count")
    if "split_counters" not in tr.target.waits:
        raise Unsupported(f"{tr.target.name} has no such counter")
    counts = {kind: left}

    def step(st: Any) -> None:
        wait_for_counters(st, counts, site)

    return step


def waitcnt(architecture: str, bits: int) -> tuple[int, int, int, int]:
    """What `s_waitcnt` says of vmcnt and lgkmcnt, and the largest numbers that it can say, which wait for nothing."""
    if architecture.startswith("CDNA"):
        return bits & 15 | (bits >> 14 & 3) << 4, bits >> 8 & 15, 63, 15
    return bits >> 10 & 63, bits >> 4 & 63, 63, 63


@operation("rocdl.s.waitcnt")
def _waitcnt(op: Any, tr: ThreadTranslator) -> Step:
    site = tr.site(op)
    if "vmcnt" not in tr.target.waits:
        raise Unsupported(f"{tr.target.name} has no vmcnt")
    vector, lds, most, most_lds = waitcnt(tr.target.architecture, attribute(op, "bitfield"))
    counts = of_vector_memory(tr, vector) if vector < most else {}
    if lds < most_lds:
        counts[DS] = lds

    def step(st: Any) -> None:
        wait_for_counters(st, counts, site)

    return step


@operation("rocdl.s.barrier")
def _bare_barrier(op: Any, tr: ThreadTranslator) -> None:
    site = tr.site(op)
    tr.blocking(lambda st: thread_barrier(st, 0, st.block.thread_count, site, "a barrier"))


@operation("rocdl.barrier")
def _barrier(op: Any, tr: ThreadTranslator) -> None:
    site = tr.site(op)

    def wait(st: Any) -> Any:
        wait_for_all(st)
        return thread_barrier(st, 0, st.block.thread_count, site, "a barrier")

    tr.blocking(wait)


_WORK_GROUP = -1
"""The barrier of the block."""


def _is_of_block(op: Any) -> None:
    which = attribute(op, "id")
    if which != _WORK_GROUP:
        raise Unsupported(
            f"barrier {which}; of barriers with signals the simulator knows that of the block, {_WORK_GROUP}"
        )


@operation("rocdl.s.barrier.signal")
def _signal(op: Any, tr: ThreadTranslator) -> Step:
    site = tr.site(op)
    _is_of_block(op)

    def step(st: Any) -> None:
        whole_warps(st, "a signal", site)
        barrier = st.block.thread_barrier(0)
        for warp in st.active_warps():
            if warp.signalled is not None:
                st.stop("barrier", f"{warp.name} signals again before it has waited", site)
            warp.meets(st.block.thread_count)
            meeting = barrier.arrive(warp, st.block.thread_count, site)
            if not isinstance(meeting, Meeting):
                st.stop("barrier", meeting, site)
            warp.signalled = meeting

    return step


@operation("rocdl.s.barrier.wait")
def _wait_for_signals(op: Any, tr: ThreadTranslator) -> None:
    site = tr.site(op)
    _is_of_block(op)

    def wait(st: Any) -> Any:
        whole_warps(st, "a wait", site)
        met = [(warp, warp.signalled) for warp in st.active_warps()]
        for warp, meeting in met:
            if meeting is None:
                st.stop("barrier", f"{warp.name} waits for the barrier of the block before it signals", site)

        def describe() -> str:
            meeting = next(meeting for _, meeting in met if not meeting.done)
            there = ", ".join(sorted({warp.name for warp in meeting.groups}))
            return f"the barrier of the block: {meeting.arrived} of {meeting.count} threads have signalled ({there})"

        yield Wait(site, lambda: all(meeting.done for _, meeting in met), describe, lambda: met[0][1].knowledge)
        for warp, meeting in met:
            warp.signalled = None
            st.acquire(warp, meeting.knowledge, site, meeting.count)

    tr.blocking(wait)


@operation(
    "rocdl.s.setprio",
    "rocdl.sched.barrier",
    "rocdl.sched.group.barrier",
    "rocdl.iglp.opt",
    "rocdl.s.nop",
    "rocdl.s.sleep",
    "rocdl.s.wait.expcnt",
    "rocdl.wave.barrier",
)
def _nothing(op: Any, tr: ThreadTranslator) -> None:
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Lanes
# ---------------------------------------------------------------------------------------------------------------------


@operation("rocdl.readfirstlane")
def _first_lane(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (result,) = tr.operands(op), tr.results(op)
    rank, dtype = rank_of(op.operands[0].type), dtype_of(op.operands[0].type)

    def step(st: Any) -> None:
        size = st.block.warp_size
        running = np.ones((len(st.warps), size), np.bool_) if st.mask is None else st.mask.reshape(-1, size)
        st.v[result] = from_lane(st, st.v[source], np.repeat(running.argmax(1), size), rank, dtype)

    return step


@operation("rocdl.readlane", "rocdl.ds_bpermute")
def _read_lane(op: Any, tr: ThreadTranslator) -> Step:
    operands, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    # The lane's number, or four times it.
    reads = op.name == "rocdl.readlane"
    value, which = operands if reads else reversed(operands)
    dtype, rank = dtype_of(op.results[0].type), rank_of(op.results[0].type)

    def step(st: Any) -> None:
        whole_warps(st, "an exchange between lanes", site)
        lane = spread(st.v[which], np.dtype(np.int64), st.lanes)
        lane = (lane if reads else lane >> 2) % st.block.warp_size
        st.v[result] = from_lane(st, st.v[value], lane, rank, dtype)

    return step


@operation("rocdl.mbcnt.lo", "rocdl.mbcnt.hi")
def _count_lanes(op: Any, tr: ThreadTranslator) -> Step:
    (mask, start), (result,) = tr.operands(op), tr.results(op)
    first = 32 if op.name == "rocdl.mbcnt.hi" else 0

    def step(st: Any) -> None:
        bits = spread(st.v[mask], np.dtype(np.int32), st.lanes)
        below = np.clip(np.arange(st.lanes) % st.block.warp_size - first, 0, 32)
        kept = bits.view(np.uint32).astype(np.uint64) & ((np.uint64(1) << below.astype(np.uint64)) - np.uint64(1))
        ones = np.unpackbits(kept.astype(np.uint32).view(np.uint8).reshape(-1, 4), axis=1).sum(1)
        st.v[result] = (spread(st.v[start], np.dtype(np.int32), st.lanes) + ones).astype(np.int32)

    return step


@operation("rocdl.ds.read.tr16.b64", "rocdl.ds.read.tr8.b64")
def _transposed(op: Any, tr: ThreadTranslator) -> Step:
    (pointer,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    ty: Any = op.results[0].type
    dtype, shape = dtype_of(ty), tuple(ty.shape)
    if dtype is None:
        raise Unsupported(f"a read of {ty}")
    unit = np.dtype(np.uint8 if "tr8" in op.name else np.uint16)
    count = 8 // unit.itemsize
    deal = transposed_read(tr, unit, count)
    tr.uses_shared(unit.itemsize)
    steps, space = np.arange(count) * unit.itemsize, address_space(op.operands[0].type)

    def step(st: Any) -> None:
        whole_warps(st, "a transposed read", site)
        buffer, first = pointee(st, st.v[pointer], space, site, "the load")
        found = st.load_bytes(buffer, first, steps, unit, (count,), st.mask, site)
        dealt = np.ascontiguousarray(deal(spread(found, unit, st.lanes, 1)))
        st.v[result] = dealt.view(dtype).reshape(st.lanes, *shape)

    return step
