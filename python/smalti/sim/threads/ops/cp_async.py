"""Copies into shared memory that each thread starts and waits for: `cp.async`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engines import happens_at_once
from ...program import Step, Unsupported, attribute
from ..code import ThreadTranslator, operation
from ..engines import LaneCopy, commit, wait_for_groups
from ..memory import View
from .memref import memory_dtype


def start_copy(
    st: Any, source: Any, first: Any, target: Any, second: Any, size: int, given: Any, mask: Any, site: Any
) -> None:
    """Starts a copy of `given` bytes by each lane of a mask, from a byte of a buffer to one of another. The rest of
    `size` bytes becomes zeros."""
    warps = st.active_warps()
    ends = np.array([w.copies.next for w in st.warps], np.int32)
    agents = np.array([w.copies.agent for w in st.warps], np.int32)
    mask = check_copy(st, source, first, target, second, size, given, mask, site, (agents, ends))
    copy = LaneCopy(st, source, first, target, second, size, given, mask, site)
    for warp in warps:
        warp.copies.open.append(copy)
    if happens_at_once(st):
        copy.happen()
    elif st.machine.how.numbers:
        copy.poison()


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
    """Checks both sides of a copy of whose end a stream tells. Returns the lanes that stay in memory."""
    # What is read: elements of one byte, by lanes that read as many.
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
        raise Unsupported(f"a copy of {count * dtype.itemsize} bytes a thread")
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
    left = attribute(op, "numGroups" if op.name.startswith("nvgpu") else "n", 0)
    site = tr.site(op)

    def step(st: Any) -> None:
        wait_for_groups(st, "copies", left, site)

    return step


@operation("nvvm.cp.async.wait.all")
def _wait_all(op: Any, tr: ThreadTranslator) -> Step:
    site = tr.site(op)

    def step(st: Any) -> None:
        commit(st, "copies", site)
        wait_for_groups(st, "copies", 0, site)

    return step
