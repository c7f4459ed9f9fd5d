# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`gpu`: reductions of a warp and of a block, and single-lane regions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..... import ir
from .....dialects.gpu import AllReduceOperation
from ....machine.clocks import HappensBefore
from ....machine.synchronization import Meeting, ThreadBarrier, Wait
from ....ops.registers import enumerator
from ....translation.translator import Step, Unsupported, attribute
from ...execution.code import Frame, ThreadTranslator, operation
from ...execution.lanes import Array, dtype_of, held_dtype, rank_of, spread
from ..arithmetic.arith import combining, shaped
from .gpu import whole_warps


@operation("gpu.subgroup_reduce")
def _subgroup_reduce(op: Any, tr: ThreadTranslator) -> Step:
    (value,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    dtype, rank = dtype_of(op.operands[0].type), rank_of(op.operands[0].type)
    if dtype is None:
        raise Unsupported(f"type {op.operands[0].type}")
    combine = combining(str(enumerator(op, "op", AllReduceOperation)), dtype)
    size, stride = attribute(op, "cluster_size"), attribute(op, "cluster_stride", 1)

    def step(st: Any) -> None:
        whole_warps(st, "the reduction", site)
        found = spread(st.v[value], dtype, st.lanes, rank)
        by = stride
        lane = np.arange(st.lanes)
        while by < (size or st.block.warp_size) * stride:
            found = combine(found, found[lane ^ by]).astype(dtype)
            by *= 2
        st.v[result] = found

    return step


@operation("gpu.all_reduce")
def _all_reduce(op: Any, tr: ThreadTranslator) -> None:
    """All threads of the block wait for each other's values; memory accesses are not ordered."""
    (value,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    dtype = dtype_of(op.operands[0].type)
    if dtype is None:
        raise Unsupported(f"type {op.operands[0].type}")
    name = enumerator(op, "op", AllReduceOperation)
    combine = _of_region(op, tr, dtype) if name is None else _of_name(name, dtype)

    def wait(st: Any) -> Any:
        whole_warps(st, "the reduction", site)
        count = st.block.thread_count
        barrier = st.block.thread_barriers.setdefault(
            ("reduction", site.number), ThreadBarrier("the reduction", st.machine.agent(), count)
        )
        found = spread(st.v[value], dtype, st.lanes).reshape(len(st.warps), -1)
        coming, meetings = st.active_warps(), []
        for warp, row in zip(st.warps, found, strict=True):
            if warp not in coming:
                continue
            meeting = barrier.meeting or Meeting(count, site)
            barrier.meeting = meeting
            meeting.arrived += warp.threads
            meeting.groups.append(warp)
            meetings.append(meeting)
            st.block.shares.setdefault(meeting, {})[warp.index] = row[: warp.threads]
            if meeting.arrived == count:
                meeting.done, barrier.meeting = True, None

        def describe() -> str:
            absent = [warp.name for warp in st.block.warps if warp not in meetings[0].groups]
            return f"a block-wide reduction; missing: {', '.join(absent)}"

        yield Wait(site, lambda: all(meeting.done for meeting in meetings), describe, HappensBefore)
        given = st.block.shares[meetings[0]]
        numbers = np.concatenate([given[index] for index in sorted(given)])
        while len(numbers) > 1:
            half = len(numbers) // 2
            sums = combine(st, numbers[:half], numbers[half : 2 * half]).astype(dtype)
            numbers = np.concatenate([sums, numbers[2 * half :]])
        st.v[result] = shaped(numbers[0], dtype)

    tr.blocking(wait)


def _of_name(name: str, dtype: np.dtype[Any]) -> Callable[[Any, Array, Array], Array]:
    combine = combining(name, dtype)
    return lambda st, x, y: combine(x, y)


def _of_region(op: Any, tr: ThreadTranslator, dtype: np.dtype[Any]) -> Callable[[Any, Array, Array], Array]:
    """The function of a reduction region for two numbers: its ops compute on arrays of any length."""
    block = tr.only_block(op.regions[0])
    first, second = (tr.slot(argument) for argument in block.arguments)
    operations = [view.operation for view in block.operations]
    steps = []
    for inside in operations[:-1]:
        if inside.name.partition(".")[0] not in ("arith", "math"):
            raise Unsupported(f"the region contains '{inside.name}'; only arith and math ops are supported in it")
        made = tr.step(inside)
        if made is None or made.step is None:
            raise Unsupported(f"the region contains '{inside.name}'; only arith and math ops are supported in it")
        steps.append(made.step)
    (given,) = tr.operands(operations[-1])

    def combine(st: Any, x: Array, y: Array) -> Array:
        st.v[first], st.v[second] = x, y
        for step in steps:
            step(st)
        return np.broadcast_to(np.asarray(st.v[given], dtype), x.shape)

    return combine


# ---------------------------------------------------------------------------------------------------------------------
# Single-lane regions
# ---------------------------------------------------------------------------------------------------------------------


@operation("gpu.warp_execute_on_lane_0")
def _on_lane_0(op: Any, tr: ThreadTranslator) -> None:
    """The first lane runs the region. It sees the distributed vectors of all lanes, and its results are distributed in
    blocks (GPU dialect, "gpu.warp_execute_on_lane_0"). It does not order memory accesses."""
    lane, *given = tr.operands(op)
    results, site, size = tr.results(op), tr.site(op), attribute(op, "warp_size")
    if size != tr.warp_size:
        raise Unsupported.invalid(f"'warp_size' is {size}; the warp size of {tr.target.chip} is {tr.warp_size}")
    block = tr.only_block(op.regions[0])
    gathered = [
        _Parts(argument.type, value.type, size)
        for argument, value in zip(block.arguments, op.operands[1:], strict=True)
    ]
    arguments = [tr.slot(argument) for argument in block.arguments]
    before = tr.waits

    def begin(st: Any) -> None:
        whole_warps(st, "the single-lane region", site)
        for slot, value, parts in zip(arguments, given, gathered, strict=True):
            st.v[slot] = parts.gather(st, st.v[value])
        running = np.broadcast_to(np.asarray(st.v[lane]) == 0, (st.lanes,))
        frame = Frame(st.mask)
        st.frames.append(frame)
        st.mask = running if st.mask is None else running & st.mask

    tr.control(begin)
    yields = tr.body(block)
    if tr.waits != before:
        raise Unsupported(
            "the region has an op that may wait for other threads, such as a barrier; move it out of the region"
        )
    kinds = [view.operation for view in block.operations][-1].operands
    scattered = [_Parts(value.type, result.type, size) for value, result in zip(kinds, op.results, strict=True)]

    def end(st: Any) -> None:
        st.mask = st.frames.pop().mask
        first = np.broadcast_to(np.asarray(st.v[lane]) == 0, (st.lanes,)).reshape(-1, size)
        for slot, value, parts in zip(results, yields, scattered, strict=True):
            st.v[slot] = parts.scatter(st, st.v[value], first.argmax(1))

    tr.control(end)


class _Parts:
    """A value of one lane, and its distribution across the lanes of a warp."""

    def __init__(self, whole: Any, part: Any, lanes: int) -> None:
        self.shape = tuple(whole.shape) if isinstance(whole, ir.VectorType) else ()
        self.part = tuple(part.shape) if isinstance(part, ir.VectorType) else ()
        self.dtype = held_dtype(whole)
        if len(self.shape) != len(self.part) or self.dtype is None:
            raise Unsupported(
                f"{whole} is distributed as {part} per lane; both must have the same rank, and elements of whole bytes"
            )
        self.scales = [n // m for n, m in zip(self.shape, self.part, strict=True)]
        self.same = self.shape == self.part
        if not self.same and int(np.prod(self.scales)) != lanes:
            raise Unsupported(
                f"{whole} is distributed as {part} per lane; the parts of all {lanes} lanes together must have "
                "as many elements as the whole"
            )

    def _interleaved(self) -> list[int]:
        """The axes of parts, each after the axis of its owner."""
        rank = len(self.part)
        return [axis for i in range(rank) for axis in (1 + i, 1 + rank + i)]

    def gather(self, st: Any, value: Any) -> Any:
        if self.same:
            return value
        assert self.dtype is not None
        parts = spread(value, self.dtype, st.lanes, len(self.part))
        warps = len(st.warps)
        parts = parts.reshape(warps, *self.scales, *self.part).transpose(0, *self._interleaved())
        return np.repeat(parts.reshape(warps, *self.shape), st.block.warp_size, 0)

    def scatter(self, st: Any, value: Any, first: Array) -> Any:
        assert self.dtype is not None
        size = st.block.warp_size
        whole = spread(value, self.dtype, st.lanes, len(self.shape))[first + np.arange(len(first)) * size]
        if self.same:
            return np.repeat(whole, size, 0)
        split = [n for pair in zip(self.scales, self.part, strict=True) for n in pair]
        order = np.argsort([0, *self._interleaved()])
        parts = whole.reshape(len(whole), *split).transpose([int(axis) for axis in order])
        return parts.reshape(st.lanes, *self.part)
