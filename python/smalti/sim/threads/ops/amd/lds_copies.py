# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies to LDS with a wait counter: `gather_to_lds`, `load.to.lds`, and the asynchronous loads of gfx1250."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..... import ir
from ....machine.engines import completes_immediately
from ....machine.findings import Site
from ....translation.translator import Step, Unsupported, attribute, require_chip
from ...execution import timing
from ...execution.code import ThreadTranslator, operation
from ...execution.counters import ASYNC, COPY, hold, started
from ...execution.engines import LaneCopy
from ...execution.lanes import Array, dtype_of, spread
from ...execution.memory import SPACING, View
from ..arithmetic.llvm import address_space, constant_of, pointee
from ..memory.memref import memory_dtype
from ..nvidia.cp_async import check_copy
from .buffers_amd import buffers_of, byte_in
from .cluster_amd import asks_together

_WIDE = np.dtype(np.int64)


def _start(
    st: Any, kind: str, sources: list[tuple[Any, Any, Any]], second: Any, size: int, given: Any, site: Site
) -> None:
    """Issues a copy to LDS by each lane: `sources` are buffers, byte offsets, and lanes. `given` of `size` bytes are
    copied, and the others become zeros."""
    stream = started(st, kind)
    for buffer, first, mask in sources:
        mask = check_copy(st, buffer, first, st.block.shared, second, size, given, mask, site, stream)
        copy = LaneCopy(st, buffer, first, st.block.shared, second, size, given, mask, site)
        timing.copied(st, copy, copy.sizes, lambda warp: kind)
        hold(st, kind, copy)
        if completes_immediately(st):
            copy.happen()
        elif st.machine.how.numbers:
            copy.poison()


def first_lanes(st: Any) -> Array:
    """For each lane the first active lane of its wave."""
    size = st.block.warp_size
    running = np.ones(st.lanes, np.bool_) if st.mask is None else st.mask
    return np.repeat(running.reshape(-1, size).argmax(1) + np.arange(len(st.warps)) * size, size)


def _of_waves(st: Any, second: Any, stride: int) -> Array:
    """The destination of each lane of a wave: consecutive, from the address of the first lane."""
    base = spread(second, _WIDE, st.lanes)[first_lanes(st)]
    return base + np.arange(st.lanes) % st.block.warp_size * stride


def _lane_bytes(tr: ThreadTranslator, size: int) -> int:
    """The bytes that a lane writes: narrow elements become dwords, three dwords four."""
    require_chip(tr.target, "this instruction", lambda target: target.async_copy == "lds_load")
    known = (1, 2, 4, 12, 16) if 16 in tr.target.async_copy_bytes else (1, 2, 4)
    if size not in known:
        raise Unsupported.invalid(
            f"each lane copies {size} B; {tr.target.name} supports only copies of {', '.join(map(str, known))} B per lane"
        )
    return max(4, 16 if size == 12 else size)


def _inside(view: View, first: Any, size: int, scalar: Any = 0) -> Any:
    """The number of each lane's bytes that are in bounds of a checked buffer."""
    left = np.clip(view.limit - ((first - scalar - view.begin & 0xFFFFFFFF) + scalar), 0, size)
    # Each dword is checked; narrower elements are checked as a whole.
    given = left // 4 * 4 if size >= 4 else np.where(left == size, size, 0)
    return given if isinstance(given, np.ndarray) and given.ndim else int(given)


@operation("amdgpu.gather_to_lds")
def _gather(op: Any, tr: ThreadTranslator) -> Step:
    segments = attribute(op, "operandSegmentSizes")
    operands, site = tr.operands(op), tr.site(op)
    source, indices = operands[0], operands[1 : 1 + segments[1]]
    target, places = operands[1 + segments[1]], operands[2 + segments[1] :]
    moved = op.attributes["transferType"].value
    dtype = dtype_of(moved)
    if dtype is None:
        raise Unsupported.wrong_type("the copied value", moved)
    count = math.prod(moved.shape) if isinstance(moved, ir.VectorType) else 1
    size = count * dtype.itemsize
    stride = _lane_bytes(tr, size)
    for position in (0, 1 + segments[1]):
        memory_dtype(op.operands[position].type)
        tr.uses(op.operands[position].type)
    tr.uses_shared(stride)

    def step(st: Any) -> None:
        v = st.v
        view: View = v[source]
        shape = (size // view.dtype.itemsize,) if indices else ()
        first, mask = st.locate(view, [v[i] for i in indices], shape, site, "the copy", False)
        given: Any = size
        if view.limit is not None:
            given = _inside(view, first, size)
        before = st.mask
        # Only the destinations of the first lanes are used.
        st.mask = np.arange(st.lanes) == first_lanes(st)
        if before is not None:
            st.mask = st.mask & before
        second, _ = st.locate(v[target], [v[i] for i in places], (), site, "the copy", True)
        st.mask = before
        _start(st, COPY, [(view.buffer, first, mask)], _of_waves(st, second, stride), stride, given, site)

    return step


def _buffers(st: Any, pointer: Any, space: int, site: Site) -> list[tuple[Any, Any, Any]]:
    """The buffers of pointers of lanes, the byte offsets, and the lanes."""
    if not isinstance(pointer, np.ndarray):
        return [(*pointee(st, pointer, space, site, "the copy"), st.mask)]
    numbers = pointer // SPACING
    running = np.ones(st.lanes, np.bool_) if st.mask is None else st.mask
    before, found = st.mask, []
    for number in np.unique(numbers[running]).tolist():
        lanes = running & (numbers == number)
        st.mask = lanes
        buffer, first = pointee(st, pointer, space, site, "the copy")
        found.append((buffer, np.where(lanes, first, 0), None if lanes.all() else lanes))
    st.mask = before
    return found


@operation("rocdl.load.to.lds", "rocdl.global.load.lds")
def _load_to_lds(op: Any, tr: ThreadTranslator) -> Step:
    (source, target), site = tr.operands(op), tr.site(op)
    space = address_space(op.operands[0].type)
    if space not in (0, 1):
        raise Unsupported(
            f"the source has type {op.operands[0].type}; it must be a pointer to global memory, !llvm.ptr "
            "or !llvm.ptr<1>"
        )
    size, offset = attribute(op, "size"), attribute(op, "offset")
    stride = _lane_bytes(tr, size)
    tr.uses_shared(stride)

    def step(st: Any) -> None:
        second = _of_waves(st, st.v[target] + offset, stride)
        _start(st, COPY, _buffers(st, st.v[source] + offset, space, site), second, stride, size, site)

    return step


@operation("rocdl.raw.ptr.buffer.load.lds")
def _buffer_load_lds(op: Any, tr: ThreadTranslator) -> Step:
    """The constant offset is added on both sides (CDNA3 ISA, "Memory Buffer Load to LDS")."""
    (resource, target, _, offset, scalar, _, _), site = tr.operands(op), tr.site(op)
    size, more = constant_of(op.operands[2]), constant_of(op.operands[5])
    stride = _lane_bytes(tr, size)
    tr.uses_shared(stride)

    def step(st: Any) -> None:
        sources, before = [], st.mask
        second = _of_waves(st, st.v[target] + more, stride)
        given: Any = 0
        for view, mask in buffers_of(st, st.v[resource], site, "the copy"):
            first, extra = byte_in(view, st.v[offset] + more, st.v[scalar])
            part = _inside(view, first, size, extra)
            given = part if mask is None or mask is before else np.where(mask, part, given)
            sources.append((view.buffer, first, mask))
        _start(st, COPY, sources, second, stride, given, site)

    return step


_BITS = (8, 32, 64, 128)


@operation(*(f"rocdl.{kind}.load.async.to.lds.b{bits}" for kind in ("global", "cluster") for bits in _BITS))
def _async_load(op: Any, tr: ThreadTranslator) -> Step:
    (source, target), site = tr.operands(op)[:2], tr.site(op)
    mask = tr.operands(op)[2] if len(op.operands) > 2 else None
    size, offset = int(op.name.rpartition(".b")[2]) // 8, attribute(op, "offset")
    require_chip(tr.target, "this instruction", lambda target: "async_counter" in target.waits)
    space = address_space(op.operands[0].type)
    tr.uses_shared(size)

    def step(st: Any) -> None:
        # Each lane has its own destination.
        second = st.v[target] + offset
        if mask is not None:
            given = spread(st.v[source] + offset, _WIDE, st.lanes)
            asks_together(st, st.v[mask], lambda lanes: (size, given[lanes].tobytes()), site)
        _start(st, ASYNC, _buffers(st, st.v[source] + offset, space, site), second, size, size, site)

    return step
