"""`amdgpu`: buffers with bounds, waits and barriers, and what lanes of a wave exchange."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .... import ir
from ...program import Step, Unsupported, attribute
from .. import bounds
from ..code import ThreadTranslator, operation
from ..counters import COPY, DS, LOAD, STORE, TENSOR
from ..lanes import dtype_of, rank_of, spread
from ..memory import View
from .gpu import from_lane, thread_barrier, wait_for_all, whole_warps
from .memref import memory_dtype

# ---------------------------------------------------------------------------------------------------------------------
# Buffers
# ---------------------------------------------------------------------------------------------------------------------


def _span(view: View) -> Any:
    """Bytes of a buffer as MLIR's conversion computes them: of its dimensions the longest, without the offset."""
    longest: Any = view.dtype.itemsize if not view.shape else 0
    for size, stride in zip(view.shape, view.strides, strict=True):
        longest = np.maximum(longest, size * stride)
    return longest if isinstance(longest, np.ndarray) and longest.ndim else int(longest)


@operation("amdgpu.fat_raw_buffer_cast")
def _buffer_cast(op: Any, tr: ThreadTranslator) -> Step:
    segments = attribute(op, "operandSegmentSizes")
    operands, (result,) = tr.operands(op), tr.results(op)
    source, valid = operands[0], operands[1] if segments[1] else None
    checks = attribute(op, "boundsCheck", True) or tr.target.architecture.startswith("CDNA")
    resets = "resetOffset" in op.attributes

    def step(st: Any) -> None:
        view: View = st.v[source]
        begin = view.offset if resets else view.begin
        limit = None
        if checks:
            limit = _span(view) if valid is None else st.v[valid]
        st.v[result] = replace(view, begin=begin, limit=limit)

    return step


def _place(op: Any, tr: ThreadTranslator, skip: int) -> Any:
    """A function that gives a checked buffer, and the byte in it that a raw access goes to."""
    segments = attribute(op, "operandSegmentSizes")
    operands = tr.operands(op)[skip:]
    source, indices = operands[0], operands[1 : 1 + segments[skip + 1]]
    scalar = operands[-1] if segments[-1] else None
    more = attribute(op, "indexOffset", 0)
    checks = attribute(op, "boundsCheck", True) or tr.target.architecture.startswith("CDNA")
    ty: Any = op.operands[skip].type
    memory_dtype(ty)
    tr.uses(ty)

    def place(st: Any) -> tuple[View, Any]:
        view: View = st.v[source]
        size = view.dtype.itemsize
        first = view.offset + more * size
        for index, stride in zip(indices, view.strides, strict=True):
            value = st.v[index]
            first = first + (value.astype(np.int64) if isinstance(value, np.ndarray) else value) * stride
        if scalar is not None:
            first = first + st.v[scalar] * size
        return replace(view, strides=(*view.strides[:-1], size), limit=_span(view) if checks else 1 << 32), first

    return place


def _vector(ty: Any) -> tuple[int, ...]:
    return tuple(ty.shape) if isinstance(ty, ir.VectorType) else ()


@operation("amdgpu.raw_buffer_load")
def _raw_load(op: Any, tr: ThreadTranslator) -> Step:
    place = _place(op, tr, 0)
    (result,), site, shape = tr.results(op), tr.site(op), _vector(op.results[0].type)

    def step(st: Any) -> None:
        view, first = place(st)
        st.v[result] = bounds.load(st, view, first, shape, st.mask, site, "the load")

    return step


@operation("amdgpu.raw_buffer_store")
def _raw_store(op: Any, tr: ThreadTranslator) -> Step:
    place = _place(op, tr, 1)
    value, site, shape = tr.operands(op)[0], tr.site(op), _vector(op.operands[0].type)

    def step(st: Any) -> None:
        view, first = place(st)
        bounds.store(st, view, first, st.v[value], shape, st.mask, site, "the store")

    return step


_ATOMICS: dict[str, Any] = {"fadd": np.add, "fmax": np.fmax, "smax": np.maximum, "umin": np.minimum}


@operation(*(f"amdgpu.raw_buffer_atomic_{name}" for name in _ATOMICS))
def _raw_atomic(op: Any, tr: ThreadTranslator) -> Step:
    name = op.name.rpartition("_")[2]
    place, combine = _place(op, tr, 1), _ATOMICS[name]
    value, site, shape = tr.operands(op)[0], tr.site(op), _vector(op.operands[0].type)
    count = int(np.prod(shape))

    def step(st: Any) -> None:
        view, first = place(st)
        dtype = np.dtype(f"u{view.dtype.itemsize}") if name == "umin" else view.dtype
        steps = view.steps(shape)
        at = spread(first, np.dtype(np.int64), st.lanes)
        rows = np.broadcast_to(bounds.inside(view, at, steps, dtype.itemsize).all(-1), (st.lanes,))
        if st.mask is not None:
            rows = rows & st.mask
        rows = st.in_buffer(view.buffer, at, steps, dtype.itemsize, rows, site, "the atomic operation", True)
        if not rows.any():
            return
        st.touch(view.buffer, at, steps, dtype.itemsize, rows, True, "the atomic operation", site, atomic=True)
        values = np.ascontiguousarray(spread(st.v[value], view.dtype, st.lanes, len(shape))).view(dtype)
        places = (at[:, None] + steps) // dtype.itemsize
        memory = view.buffer.typed(dtype)
        for lane in np.flatnonzero(rows).tolist():
            memory[places[lane]] = combine(memory[places[lane]], values.reshape(st.lanes, count)[lane])

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Waits and barriers
# ---------------------------------------------------------------------------------------------------------------------


def wait_for_counters(st: Any, counts: dict[str, int], site: Any) -> None:
    """Waits until at most so much of each kind is in flight."""
    for warp in st.active_warps():
        for kind, left in counts.items():
            warp.counters.wait(st, kind, left, site)


def of_vector_memory(tr: ThreadTranslator, left: int) -> dict[str, int]:
    """What a wait for vmcnt, or loadcnt, waits for. On CDNA stores are counted, too."""
    counts = {COPY: left, LOAD: left}
    if tr.target.architecture.startswith("CDNA"):
        counts[STORE] = left
    return counts


@operation("amdgpu.memory_counter_wait")
def _counter_wait(op: Any, tr: ThreadTranslator) -> Step:
    site, counts = tr.site(op), {}
    given = {name: attribute(op, name) for name in ("load", "store", "ds", "tensor") if name in op.attributes}
    if "split_counters" in tr.target.waits:
        names = {"load": LOAD, "store": STORE, "ds": DS, "tensor": TENSOR}
        counts = {names[name]: left for name, left in given.items()}
    else:
        vector = [given[name] for name in ("load", "store") if name in given]
        if vector:
            counts |= of_vector_memory(tr, min(vector))
        if "ds" in given:
            counts[DS] = given["ds"]

    def step(st: Any) -> None:
        wait_for_counters(st, counts, site)

    return step


@operation("amdgpu.lds_barrier")
def _lds_barrier(op: Any, tr: ThreadTranslator) -> None:
    site = tr.site(op)

    def wait(st: Any) -> Any:
        wait_for_all(st, (DS, COPY))
        return thread_barrier(st, 0, st.block.thread_count, site, "a barrier")

    tr.blocking(wait)


@operation("amdgpu.sched_barrier")
def _nothing(op: Any, tr: ThreadTranslator) -> None:
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Lanes
# ---------------------------------------------------------------------------------------------------------------------


def _exchange(op: Any, tr: ThreadTranslator, lanes: Any) -> Step:
    """Every lane gets what another lane of its wave has."""
    (source,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    rank, dtype = rank_of(op.operands[0].type), dtype_of(op.operands[0].type)

    def step(st: Any) -> None:
        whole_warps(st, "an exchange between lanes", site)
        st.v[result] = from_lane(st, st.v[source], lanes(np.arange(st.lanes) % st.block.warp_size), rank, dtype)

    return step


@operation("amdgpu.swizzle_bitmode")
def _swizzle(op: Any, tr: ThreadTranslator) -> Step:
    keep, put, flip = (attribute(op, f"{name}_mask") & 31 for name in ("and", "or", "xor"))
    return _exchange(op, tr, lambda lane: lane // 32 * 32 + (((lane & keep) | put) ^ flip))


@operation("amdgpu.permlane_swap")
def _permlane_swap(op: Any, tr: ThreadTranslator) -> Step:
    length = attribute(op, "row_length")
    return _exchange(op, tr, lambda lane: lane ^ length)


_ROW = 16
"""Lanes of a row of `dpp`."""


def _dpp_sources(kind: str, argument: Any, lane: Any, wave: int) -> tuple[Any, Any]:
    """For each lane the one that it reads, and whether there is one."""
    row, inside = lane // _ROW * _ROW, lane % _ROW
    everywhere = np.ones(len(lane), np.bool_)
    if kind == "quad_perm":
        return lane // 4 * 4 + np.array(argument)[lane % 4], everywhere
    if kind in ("row_shl", "row_shr"):
        at = inside + argument * (1 if kind == "row_shl" else -1)
        ok = (at >= 0) & (at < _ROW)
        return row + np.where(ok, at, 0), ok
    if kind == "row_ror":
        return row + (inside - argument) % _ROW, everywhere
    if kind == "row_mirror":
        return row + _ROW - 1 - inside, everywhere
    if kind == "row_half_mirror":
        return lane // 8 * 8 + 7 - lane % 8, everywhere
    if wave == 64 and kind in ("wave_shl", "wave_shr", "wave_rol", "wave_ror"):
        at = lane + (1 if kind in ("wave_shl", "wave_rol") else -1)
        return at % wave, everywhere if kind in ("wave_rol", "wave_ror") else (at >= 0) & (at < wave)
    if wave == 64 and kind == "row_bcast_15":
        return np.maximum(row - 1, 0), lane >= _ROW
    if wave == 64 and kind == "row_bcast_31":
        return np.full(len(lane), 31), lane >= 32
    raise Unsupported(f"{kind} in a wave of {wave}")


@operation("amdgpu.dpp")
def _dpp(op: Any, tr: ThreadTranslator) -> Step:
    old, source = tr.operands(op)
    (result,) = tr.results(op)
    kind = str(op.attributes["kind"]).rpartition("<")[2].rstrip(">").split()[-1]
    argument: Any = 1
    if "permArgument" in op.attributes:
        found = op.attributes["permArgument"]
        if isinstance(found, ir.ArrayAttr):
            argument = [ir.IntegerAttr(item).value for item in found]
        elif isinstance(found, ir.IntegerAttr):
            argument = found.value
    rows, banks = attribute(op, "row_mask", 15), attribute(op, "bank_mask", 15)
    zeros = attribute(op, "bound_ctrl", False)
    lane = np.arange(tr.warp_size)
    sources, exists = _dpp_sources(kind, argument, lane, tr.warp_size)
    enabled = (rows >> lane // _ROW % 4 & 1 == 1) & (banks >> lane % _ROW // 4 & 1 == 1)
    rank, dtype = rank_of(op.operands[0].type), dtype_of(op.operands[0].type)
    if dtype is None or rank:
        raise Unsupported(f"dpp of {op.operands[0].type}")

    def step(st: Any) -> None:
        waves = len(st.warps)
        at = (np.arange(waves)[:, None] * st.block.warp_size + sources).reshape(-1)
        there = np.tile(exists, waves)
        if st.mask is not None:
            there = there & st.mask[at]
        value = spread(st.v[source], dtype, st.lanes)[at]
        before = spread(st.v[old], dtype, st.lanes)
        writes = np.tile(enabled, waves)
        st.v[result] = np.where(writes & there, value, np.where(writes & zeros, np.zeros((), dtype), before))

    return step


def transposed_read(tr: ThreadTranslator, dtype: np.dtype[Any], count: int) -> Any:
    """A function that deals to the lanes what they read: vectors of `count` elements."""
    bits = 8 * dtype.itemsize
    found = [
        read
        for read in tr.target.transposed_reads
        if read.element_bits == bits and read.bytes == count * dtype.itemsize
    ]
    if not found:
        raise Unsupported(f"a transposed read of {count} elements of {bits} bits on {tr.target.name}")
    (read,) = found
    lane, e = np.arange(tr.warp_size)[:, None], np.arange(count)[None, :]
    group, shift = lane // count, read.first_element_bits + read.first_lane_bits
    source = e & (1 << read.first_element_bits) - 1
    source = source | (group & (1 << read.first_lane_bits) - 1) << read.first_element_bits
    source = source | e >> read.first_element_bits << shift
    source = source | group >> read.first_lane_bits << count.bit_length() - 1 + read.first_lane_bits

    def deal(values: Any) -> Any:
        rows = values.reshape(-1, tr.warp_size, count)
        return rows[:, source, lane % count].reshape(values.shape)

    return deal


@operation("amdgpu.transpose_load")
def _transpose_load(op: Any, tr: ThreadTranslator) -> Step:
    source, *indices = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    shape = _vector(op.results[0].type)
    dtype = memory_dtype(op.operands[0].type)
    tr.uses(op.operands[0].type)
    deal = transposed_read(tr, dtype, shape[0])

    def step(st: Any) -> None:
        whole_warps(st, "a transposed read", site)
        found = st.load(st.v[source], [st.v[i] for i in indices], shape, site)
        st.v[result] = deal(spread(found, dtype, st.lanes, 1))

    return step
