# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`gpu`, `nvvm` and `rocdl`: ids and thread barriers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..... import ir
from .....printing import Printf
from ....machine.findings import Site
from ....machine.synchronization import Meeting, Wait, wrong_barrier
from ....ops.gpu import dimension_of
from ....translation.translator import Step, Unsupported, attribute
from ...execution.code import ThreadTranslator, operation
from ...execution.counters import COPY, DS, LOAD, STORE
from ...execution.lanes import dtype_of, held_dtype, spread

# ---------------------------------------------------------------------------------------------------------------------
# Ids
# ---------------------------------------------------------------------------------------------------------------------


def thread_id(dimension: int, result: int) -> Step:
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
    return thread_id(dimension_of(op), tr.results(op)[0])


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
    thread = thread_id(dimension, result)

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


@operation("gpu.subgroup_size", "gpu.num_subgroups", "nvvm.read.ptx.sreg.warpsize", "rocdl.wavefrontsize")
def _subgroup_size(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    size = op.name != "gpu.num_subgroups"

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
    "rocdl.workgroup.dim": "block_dim",
    "rocdl.grid.dim": "grid_dim",
}


@operation(*(f"{name}.{letter}" for name in _REGISTERS for letter in "xyz"))
def _register(op: Any, tr: ThreadTranslator) -> Step:
    base, _, letter = op.name.rpartition(".")
    dimension, name = "xyz".index(letter), _REGISTERS[base]
    (result,) = tr.results(op)
    dtype = dtype_of(op.results[0].type)
    if name == "thread_id":
        thread = thread_id(dimension, result)

        def own(st: Any) -> None:
            thread(st)
            st.v[result] = st.v[result].astype(dtype)

        return own

    def step(st: Any) -> None:
        st.v[result] = st.block.names[name][dimension]

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Thread barriers
# ---------------------------------------------------------------------------------------------------------------------


def whole_warps(st: Any, what: str, site: Site) -> None:
    """All threads of the warps must be active."""
    if st.mask is None:
        return
    rows = st.mask.reshape(len(st.warps), -1)
    for warp, row in zip(st.warps, rows, strict=True):
        if row.any() and int(row.sum()) != st.remaining(warp):
            gone = row if st.ended is None else row | st.ended.reshape(len(st.warps), -1)[st.warps.index(warp)]
            lane = int(np.flatnonzero(~gone)[0])
            st.stop(
                "divergence",
                f"{what} is in divergent control flow: lane {lane} of {warp.name} does not reach it; move it out of the branch",
                site,
                int(st.mask.argmax()),
            )


def thread_barrier(st: Any, number: int, count: int, site: Site, what: str) -> Iterator[Wait]:
    """A barrier for `count` threads of the block."""
    whole_warps(st, what, site)
    met: list[tuple[Any, Meeting]] = []
    barrier = st.block.thread_barrier(number)
    for warp in st.active_warps():
        meeting = barrier.arrive(warp, count, site)
        if not isinstance(meeting, Meeting):
            st.stop("barrier", meeting, site)
        met.append((warp, meeting))

    def describe() -> str:
        meeting = next(meeting for _, meeting in met if not meeting.done)
        there = ", ".join(sorted({warp.name for warp in meeting.groups}))
        others = [warp for warp in st.block.warps if warp not in meeting.groups]
        absent = [f"{warp.name}, which {'has exited' if warp.finished else 'does not reach it'}" for warp in others]
        missing = f"; missing: {'; '.join(absent)}" if absent else ""
        return f"{barrier.name}: {meeting.arrived} of {meeting.count} threads have arrived ({there}){missing}"

    yield Wait(site, lambda: all(meeting.done for _, meeting in met), describe, lambda: met[0][1].clocks)
    for warp, meeting in met:
        warp.acquired_from_barrier(meeting.published)
        st.acquire(warp, meeting.clocks, site, meeting.count)


def numbered(st: Any, value: Any, site: Site, what: str) -> int | None:
    """A uniform number; None if the warps were split because it differs between them."""
    found = st.uniform(value)
    if found is not None:
        return found
    classes = st.of_units(value)
    if classes is None:
        unit = "warpgroup" if st.block.unit > 1 else st.block.warp_name
        st.stop("divergence", f"threads {what}; the number must be uniform in each {unit}", site)
    st.split(classes)
    return None


def counted(st: Any, number: int, value: Any, site: Site) -> int:
    """The thread count of a barrier: the value of an operand, or all threads for None. Checks both."""
    count = None if value is None else st.uniform(value)
    if value is not None and count is None:
        st.stop("divergence", "threads pass different thread counts for a barrier; the count must be uniform", site)
    if (wrong := wrong_barrier(number, count, st.block.warp_size)) is not None:
        st.stop("barrier", wrong, site)
    return st.block.counted if count is None else count


@operation("gpu.barrier", "nvvm.barrier0", "rocdl.barrier")
def _barrier(op: Any, tr: ThreadTranslator) -> None:
    site = tr.site(op)

    def wait(st: Any) -> Any:
        wait_for_all(st, site)
        return thread_barrier(st, 0, st.block.counted, site, "the barrier")

    tr.blocking(wait)


def wait_for_all(st: Any, site: Site, kinds: Sequence[str] = (DS, COPY, LOAD, STORE)) -> None:
    """A barrier waits for accesses and copies of some kinds, on AMD chips."""
    for warp in st.active_warps():
        if warp.counters is not None:
            own = [kind for kind in kinds if kind != COPY] if st.machine.how.explicit_waits else kinds
            warp.counters.drain(st, own, site)


@operation("nvvm.barrier")
def _named_barrier(op: Any, tr: ThreadTranslator) -> None:
    segments, site = attribute(op, "operandSegmentSizes"), tr.site(op)
    operands = iter(tr.operands(op))
    which = next(operands) if segments[0] else None
    count = next(operands) if segments[1] else None
    if len(op.operands) > segments[0] + segments[1] or len(op.results):
        raise Unsupported("the barrier has a reduction; only barriers without a reduction are supported")

    def wait(st: Any) -> Any:
        chosen = 0 if which is None else numbered(st, st.v[which], site, "pass different barrier numbers")
        if chosen is None:
            return st.pc
        threads = counted(st, chosen, None if count is None else st.v[count], site)
        return thread_barrier(st, chosen, threads, site, "the barrier")

    tr.blocking(wait)


@operation("nvvm.barrier.arrive")
def _arrive(op: Any, tr: ThreadTranslator) -> None:
    segments, site = attribute(op, "operandSegmentSizes", [len(op.operands) - 1, 1]), tr.site(op)
    operands = iter(tr.operands(op))
    which = next(operands) if segments[0] else None
    count = next(operands)

    def arrive(st: Any) -> Any:
        chosen = 0 if which is None else numbered(st, st.v[which], site, "pass different barrier numbers")
        if chosen is None:
            return st.pc
        whole_warps(st, "the arrival", site)
        threads = counted(st, chosen, st.v[count], site)
        for warp in st.active_warps():
            meeting = st.block.thread_barrier(chosen).arrive(warp, threads, site, waits=False)
            if not isinstance(meeting, Meeting):
                st.stop("barrier", meeting, site)
        return None

    tr.control(arrive)


@operation(
    "nvvm.setmaxregister",
    "nvvm.griddepcontrol",
    "nvvm.nanosleep",
    "nvvm.pmevent",
    "nvvm.fence.proxy.acquire",
    "nvvm.fence.proxy.release",
)
def _nothing(op: Any, tr: ThreadTranslator) -> None:
    """Ops without effect on the order of accesses in one launch, such as fences of tensor maps that are created before
    it."""


@operation("gpu.printf")
def _printf(op: Any, tr: ThreadTranslator) -> Step:
    types = [dtype for value in op.operands if (dtype := held_dtype(value.type)) is not None]
    if len(types) != len(op.operands):
        raise Unsupported("the op prints a value that is neither an integer nor a float; convert it to one of them")
    values = list(zip(tr.operands(op), types, strict=True))
    bits = [0 if isinstance(value.type, ir.FloatType) else getattr(value.type, "width", 64) for value in op.operands]
    try:
        line = Printf(attribute(op, "format"), bits)
    except ValueError as error:
        raise Unsupported(str(error)) from error

    def step(st: Any) -> None:
        columns = [spread(st.v[value], dtype, st.lanes) for value, dtype in values]
        for lane in range(st.lanes) if st.mask is None else np.flatnonzero(st.mask):
            sys.stdout.write(line([column[lane] for column in columns]))

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Lanes of a warp
# ---------------------------------------------------------------------------------------------------------------------


def from_lane(st: Any, value: Any, lanes: Any, rank: int, dtype: Any) -> Any:
    """The values of lanes of the same warp."""
    if not isinstance(value, np.ndarray) or value.ndim == rank:
        return value
    size = st.block.warp_size
    base = np.arange(st.lanes) // size * size
    return spread(value, dtype, st.lanes, rank)[base + lanes]
