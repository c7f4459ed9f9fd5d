"""`gpu`, and of `nvvm` and `rocdl`: who one is, barriers of threads, what lanes of a warp tell each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...ops.gpu import dimension_of
from ...ops.registers import enumerator
from ...program import Site, Step, Unsupported, attribute
from ...synchronisation import Meeting, Wait
from ..code import ThreadTranslator, operation
from ..counters import COPY, DS, LOAD, STORE
from ..lanes import dtype_of, rank_of, spread
from .arith import combining

# ---------------------------------------------------------------------------------------------------------------------
# Who one is
# ---------------------------------------------------------------------------------------------------------------------


def _thread_id(dimension: int, result: int) -> Step:
    def step(st: Any) -> None:
        sizes = st.block.names["block_dim"]
        found = st.threads
        for size in sizes[:dimension]:
            found = found // size
        if dimension == 2 or all(size == 1 for size in sizes[dimension + 1 :]):
            st.v[result] = found
        else:
            st.v[result] = found % sizes[dimension]

    return step


@operation("gpu.thread_id")
def _gpu_thread_id(op: Any, tr: ThreadTranslator) -> Step:
    return _thread_id(dimension_of(op), tr.results(op)[0])


_POSITIONS = (
    "block_id",
    "block_dim",
    "grid_dim",
    "cluster_block_id",
    "cluster_dim_blocks",
    "cluster_id",
    "cluster_dim",
)


@operation(*(f"gpu.{name}" for name in _POSITIONS))
def _position(op: Any, tr: ThreadTranslator) -> Step:
    dimension, name = dimension_of(op), op.name.removeprefix("gpu.")
    (result,) = tr.results(op)

    def step(st: Any) -> None:
        st.v[result] = st.block.names[name][dimension]

    return step


@operation("gpu.global_id")
def _global_id(op: Any, tr: ThreadTranslator) -> Step:
    dimension, (result,) = dimension_of(op), tr.results(op)
    thread = _thread_id(dimension, result)

    def step(st: Any) -> None:
        thread(st)
        names = st.block.names
        st.v[result] = st.v[result] + names["block_id"][dimension] * names["block_dim"][dimension]

    return step


@operation("gpu.lane_id", "nvvm.read.ptx.sreg.laneid")
def _lane_id(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    dtype = dtype_of(op.results[0].type)

    def step(st: Any) -> None:
        st.v[result] = (st.threads % st.block.warp_size).astype(dtype)

    return step


@operation("gpu.subgroup_id", "nvvm.read.ptx.sreg.warpid")
def _subgroup_id(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    dtype = dtype_of(op.results[0].type)

    def step(st: Any) -> None:
        st.v[result] = (st.threads // st.block.warp_size).astype(dtype)

    return step


@operation("gpu.subgroup_size", "gpu.num_subgroups")
def _subgroup_size(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    size = op.name == "gpu.subgroup_size"

    def step(st: Any) -> None:
        st.v[result] = st.block.warp_size if size else len(st.block.warps)

    return step


_REGISTERS = {
    "nvvm.read.ptx.sreg.tid": "thread_id",
    "nvvm.read.ptx.sreg.ctaid": "block_id",
    "nvvm.read.ptx.sreg.ntid": "block_dim",
    "nvvm.read.ptx.sreg.nctaid": "grid_dim",
    "rocdl.workitem.id": "thread_id",
    "rocdl.workgroup.id": "block_id",
}


@operation(*(f"{name}.{letter}" for name in _REGISTERS for letter in "xyz"))
def _register(op: Any, tr: ThreadTranslator) -> Step:
    base, _, letter = op.name.rpartition(".")
    dimension, name = "xyz".index(letter), _REGISTERS[base]
    (result,) = tr.results(op)
    dtype = dtype_of(op.results[0].type)
    if name == "thread_id":
        thread = _thread_id(dimension, result)

        def own(st: Any) -> None:
            thread(st)
            st.v[result] = st.v[result].astype(dtype)

        return own

    def step(st: Any) -> None:
        st.v[result] = st.block.names[name][dimension]

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Barriers of threads
# ---------------------------------------------------------------------------------------------------------------------


def whole_warps(st: Any, what: str, site: Site) -> None:
    """All threads of the warps have to come."""
    if st.mask is None:
        return
    rows = st.mask.reshape(len(st.warps), -1)
    for warp, row in zip(st.warps, rows, strict=True):
        if row.any() and int(row.sum()) != warp.threads:
            lane = int(np.flatnonzero(~row)[0])
            st.stop("divergence", f"{what} where lane {lane} of {warp.name} does not come", site, int(st.mask.argmax()))


def thread_barrier(st: Any, number: int, count: int, site: Site, what: str) -> Iterator[Wait]:
    """A barrier at which `count` threads of the block wait for each other."""
    whole_warps(st, what, site)
    met: list[tuple[Any, Meeting]] = []
    barrier = st.block.thread_barrier(number)
    for warp in st.active_warps():
        warp.meets(count)
        meeting = barrier.arrive(warp, count, site)
        if not isinstance(meeting, Meeting):
            st.stop("barrier", meeting, site)
        met.append((warp, meeting))

    def describe() -> str:
        meeting = next(meeting for _, meeting in met if not meeting.done)
        there = ", ".join(sorted({warp.name for warp in meeting.groups}))
        others = [warp for warp in st.block.warps if warp not in meeting.groups]
        absent = [f"{warp.name}, which {'has ended' if warp.finished else 'does not come'}" for warp in others]
        missing = f"; missing: {'; '.join(absent)}" if absent else ""
        return f"{barrier.name}: {meeting.arrived} of {meeting.count} threads are there ({there}){missing}"

    yield Wait(site, lambda: all(meeting.done for _, meeting in met), describe, lambda: met[0][1].knowledge)
    for warp, meeting in met:
        st.acquire(warp, meeting.knowledge, site, meeting.count)


def numbered(st: Any, value: Any, site: Site, what: str) -> int | None:
    """A number that all threads of the team have; None where the team was split by it."""
    found = st.uniform(value)
    if found is not None:
        return found
    rows = st.by_unit(value)
    if st.mask is not None or (rows != rows[:, :1]).any():
        st.stop("divergence", f"threads {what}", site)
    st.split(rows[:, 0])
    return None


@operation("gpu.barrier", "nvvm.barrier0")
def _barrier(op: Any, tr: ThreadTranslator) -> None:
    site = tr.site(op)

    def wait(st: Any) -> Any:
        wait_for_all(st)
        return thread_barrier(st, 0, st.block.thread_count, site, "a barrier")

    tr.blocking(wait)


def wait_for_all(st: Any, kinds: Sequence[str] = (DS, COPY, LOAD, STORE)) -> None:
    """A barrier waits for accesses and copies of some kinds, on AMD's chips."""
    for warp in st.active_warps():
        if warp.counters is not None:
            own = [kind for kind in kinds if kind != COPY] if st.machine.how.own_waits else kinds
            warp.counters.drain(st, own)


@operation("nvvm.barrier")
def _named_barrier(op: Any, tr: ThreadTranslator) -> None:
    segments, site = attribute(op, "operandSegmentSizes"), tr.site(op)
    operands = iter(tr.operands(op))
    which = next(operands) if segments[0] else None
    count = next(operands) if segments[1] else None
    if len(op.operands) > segments[0] + segments[1] or len(op.results):
        raise Unsupported("a reduction at the barrier")

    def wait(st: Any) -> Any:
        chosen = 0 if which is None else numbered(st, st.v[which], site, "take different barriers")
        if chosen is None:
            return st.pc
        threads = st.block.thread_count if count is None else st.uniform(st.v[count])
        return thread_barrier(st, chosen, threads, site, "a barrier")

    tr.blocking(wait)


@operation("nvvm.barrier.arrive")
def _arrive(op: Any, tr: ThreadTranslator) -> None:
    segments, site = attribute(op, "operandSegmentSizes", [len(op.operands) - 1, 1]), tr.site(op)
    operands = iter(tr.operands(op))
    which = next(operands) if segments[0] else None
    count = next(operands)

    def arrive(st: Any) -> Any:
        chosen = 0 if which is None else numbered(st, st.v[which], site, "take different barriers")
        if chosen is None:
            return st.pc
        whole_warps(st, "an arrival", site)
        for warp in st.active_warps():
            meeting = st.block.thread_barrier(chosen).arrive(warp, int(st.uniform(st.v[count])), site)
            if not isinstance(meeting, Meeting):
                st.stop("barrier", meeting, site)
        return None

    tr.control(arrive)


@operation("nvvm.bar.warp.sync")
def _warp_sync(op: Any, tr: ThreadTranslator) -> Step:
    def step(st: Any) -> None:
        for warp in st.active_warps():
            # What threads know of what they started, all of them know behind it.
            for agent, end in warp.own.items():
                st.learn(warp, agent, end)

    return step


@operation(
    "nvvm.setmaxregister",
    "gpu.printf",
)
def _nothing(op: Any, tr: ThreadTranslator) -> None:
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Lanes of a warp
# ---------------------------------------------------------------------------------------------------------------------


def from_lane(st: Any, value: Any, lanes: Any, rank: int, dtype: Any) -> Any:
    """The value that lanes of the same warp have."""
    if not isinstance(value, np.ndarray) or value.ndim == rank:
        return value
    size = st.block.warp_size
    base = np.arange(st.lanes) // size * size
    return spread(value, dtype, st.lanes, rank)[base + lanes]


_MODES = {0: "xor", 1: "up", 2: "down", 3: "idx"}


@operation("gpu.shuffle")
def _shuffle(op: Any, tr: ThreadTranslator) -> Step:
    value, offset, width = tr.operands(op)
    (result, valid), site = tr.results(op), tr.site(op)
    mode = str(enumerator(op, "mode", _MODES))
    rank, dtype = rank_of(op.operands[0].type), dtype_of(op.operands[0].type)

    def step(st: Any) -> None:
        size = st.uniform(st.v[width])
        if size is None or size <= 0 or size & (size - 1) or size > st.block.warp_size:
            st.stop("assertion", f"a shuffle of {size} lanes", site)
        whole_warps(st, "a shuffle", site)
        lane = np.arange(st.lanes) % st.block.warp_size
        by = np.asarray(st.v[offset])
        source = {"xor": lane ^ by, "up": lane - by, "down": lane + by, "idx": lane // size * size + by}[mode]
        inside = (source // size == lane // size) & (source >= 0)
        st.v[result] = from_lane(st, st.v[value], np.where(inside, source, lane), rank, dtype)
        st.v[valid] = inside

    return step


_REDUCTIONS = {0: "add", 1: "mul", 2: "minui", 3: "minsi", 4: "minnumf", 5: "maxui", 6: "maxsi", 7: "maxnumf"}
_REDUCTIONS |= {8: "and", 9: "or", 10: "xor", 11: "minimumf", 12: "maximumf"}


@operation("gpu.subgroup_reduce")
def _subgroup_reduce(op: Any, tr: ThreadTranslator) -> Step:
    (value,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    dtype, rank = dtype_of(op.operands[0].type), rank_of(op.operands[0].type)
    if dtype is None:
        raise Unsupported(f"numbers of type {op.operands[0].type}")
    combine = combining(str(enumerator(op, "op", _REDUCTIONS)), dtype)
    size, stride = attribute(op, "cluster_size"), attribute(op, "cluster_stride", 1)

    def step(st: Any) -> None:
        whole_warps(st, "a reduction", site)
        found = spread(st.v[value], dtype, st.lanes, rank)
        by = stride
        lane = np.arange(st.lanes)
        while by < (size or st.block.warp_size) * stride:
            found = combine(found, found[lane ^ by]).astype(dtype)
            by *= 2
        st.v[result] = found

    return step


@operation("nvvm.shfl.sync")
def _shfl_sync(op: Any, tr: ThreadTranslator) -> Step:
    if len(op.results) != 1 or "!llvm.struct" in str(op.results[0].type):
        raise Unsupported("a shuffle with a predicate")
    _, value, offset, clamp = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    mode = str(op.attributes["kind"]).rpartition(" ")[2].strip("<>")
    dtype = dtype_of(op.operands[1].type)

    def step(st: Any) -> None:
        whole_warps(st, "a shuffle", site)
        bits = st.uniform(st.v[clamp])
        if bits is None:
            st.stop("divergence", "threads of a warp shuffle differently", site)
            return
        segment, limit = bits >> 8 & 31, bits & 31
        lane = np.arange(st.lanes) % 32
        by = np.asarray(st.v[offset]) & 31
        low, high = lane & segment, (lane & segment) | (limit & ~segment)
        source = {"up": lane - by, "down": lane + by, "bfly": lane ^ by, "idx": low | (by & ~segment)}[mode]
        inside = source >= high if mode == "up" else source <= high
        st.v[result] = from_lane(st, st.v[value], np.where(inside, source, lane), 0, dtype)

    return step


@operation("nvvm.elect.sync")
def _elect(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)

    def step(st: Any) -> None:
        st.v[result] = st.threads % st.block.warp_size == 0

    return step
