# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`amdgpu`: tile copies between global memory and LDS by the tensor data mover (`tensorcnt`).

CDNA5 ISA, "Tensor Data Mover Instructions".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .....diagnostics import counted
from ....machine.engines import completes_immediately
from ....machine.findings import Site
from ....machine.memory import POISON
from ....ops.memref import BARRIER_BYTES, mixed
from ....translation.translator import Step, Unsupported, attribute, require_chip
from ...execution import timing
from ...execution.code import ThreadTranslator, operation
from ...execution.counters import TENSOR, hold, started
from ...execution.engines import Work
from ...execution.lanes import Array, spread, take
from ...execution.memory import View
from ..memory.memref import memory_dtype
from .lds_barriers import arrive_behind, check_place
from .lds_copies import first_lanes

_WIDE = np.dtype(np.int64)


@dataclass(frozen=True)
class _Base:
    """The location of a tile: its byte offsets in global memory and in LDS."""

    memory: View
    first: Any
    lds: View
    second: Any

    def take(self, lanes: Array, memo: dict[int, Any]) -> _Base:
        first, second = (take(x, lanes, 0, memo) for x in (self.first, self.second))
        return _Base(self.memory.take(lanes, memo), first, self.lds.take(lanes, memo), second)


@dataclass(frozen=True)
class _Descriptor:
    """A tile with its dimensions, outermost first; sizes and strides in elements."""

    base: _Base
    tensor: tuple[Any, ...]
    strides: tuple[Any, ...]
    tile: tuple[Any, ...]
    padding: tuple[Any, Any] | None
    """The padding in dwords, and the dwords between two paddings."""
    steps: tuple[Any, Any, Any] | None
    """The increments of iterations in memory and in LDS, and their number."""
    rows: Any = None
    """The gathered rows, for two-dimensional tiles."""
    mask: Any = None
    """The multicast mask, and whether the early-timeout bit is set."""
    barrier: Any = None
    """The byte of the LDS barrier that is signaled at completion."""

    def take(self, lanes: Array, memo: dict[int, Any]) -> _Descriptor:
        def some(values: Any) -> Any:
            return None if values is None else tuple(take(value, lanes, 0, memo) for value in values)

        parts = (some(x) for x in (self.tensor, self.strides, self.tile, self.padding, self.steps))
        rows, mask = take(self.rows, lanes, 1, memo), take(self.mask, lanes, 0, memo)
        barrier = take(self.barrier, lanes, 0, memo)
        return _Descriptor(self.base.take(lanes, memo), *parts, rows=rows, mask=mask, barrier=barrier)


@operation("amdgpu.make_dma_base", "amdgpu.make_gather_dma_base")
def _make_base(op: Any, tr: ThreadTranslator) -> Step:
    segments = attribute(op, "operandSegmentSizes")
    operands, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    require_chip(tr.target, "tensor copies to LDS", lambda target: "tensor_counter" in target.waits)
    memory, indices = operands[0], operands[1 : 1 + segments[1]]
    lds, places = operands[1 + segments[1]], operands[2 + segments[1] :]
    for position in (0, 1 + segments[1]):
        memory_dtype(op.operands[position].type)
        tr.uses(op.operands[position].type)

    def step(st: Any) -> None:
        source, target = st.v[memory], st.v[lds]
        first, _ = st.locate(source, [st.v[i] for i in indices], (), site, "the global address of the tile", None)
        second, _ = st.locate(target, [st.v[i] for i in places], (), site, "the LDS address of the tile", None)
        st.slots = ()
        st.v[result] = _Base(source, first, target, second)

    return step


_NAMES = ("base", "tensor", "strides", "tile", "mask", "timeout", "amount", "interval", "barrier", "at")
_NAMES += ("by_memory", "by_lds", "times")


@operation("amdgpu.make_dma_descriptor", "amdgpu.make_gather_dma_descriptor")
def _make_descriptor(op: Any, tr: ThreadTranslator) -> Step:
    operands, (result,) = tr.operands(op), tr.results(op)
    given: dict[str, list[int]] = {}
    gathers = op.name == "amdgpu.make_gather_dma_descriptor"
    names = (_NAMES[0], "rows", *_NAMES[1:]) if gathers else _NAMES
    for name, count in zip(names, attribute(op, "operandSegmentSizes"), strict=True):
        given[name], operands = operands[:count], operands[count:]
    if given["barrier"]:
        tr.uses_shared(BARRIER_BYTES)
        # Others poll what the arrival changes.
        tr.polls = True
    site = tr.site(op)
    tensor = mixed(attribute(op, "global_static_sizes"), given["tensor"])
    strides = mixed(attribute(op, "global_static_strides"), given["strides"])
    tile = mixed(attribute(op, "shared_static_sizes"), given["tile"])
    if strides[-1] != (False, 1):
        raise Unsupported(
            "the innermost stride of the tensor in global memory is dynamic or not 1; it must be a static 1"
        )
    numbers_without_sign = 0
    if gathers:
        rows: Any = op.operands[1].type
        count, numbers_without_sign = rows.shape[0], (1 << rows.element_type.width) - 1
        if len(tile) != 2 or tile[0] != (False, count) or given["times"]:
            raise Unsupported(
                f"the op gathers {counted(count, 'row')} of the tensor; the tile in LDS must have two dimensions and {counted(count, 'row')}"
            )

    def step(st: Any) -> None:
        def values(items: Any) -> Any:
            return tuple(st.v[value] if is_slot else value for is_slot, value in items)

        def chosen(*names: str) -> Any:
            return tuple(st.v[given[name][0]] for name in names) if given[names[0]] else None

        (base,) = given["base"]
        st.v[result] = _Descriptor(
            st.v[base],
            values(tensor),
            values(strides),
            values(tile),
            chosen("amount", "interval"),
            chosen("by_memory", "by_lds", "times"),
            spread(st.v[given["rows"][0]], _WIDE, st.lanes, 1) & numbers_without_sign if gathers else None,
            _mask_of(st, given["mask"], given["timeout"]),
            _barrier_of(st, given["barrier"], given["at"], site),
        )

    return step


def _mask_of(st: Any, mask: list[int], timeout: list[int]) -> Any:
    """The multicast mask of the blocks, with an additional bit for the early timeout."""
    if not mask:
        return None
    bits = [spread(st.v[mask[0]], np.dtype(np.bool_), st.lanes, 1)]
    bits += [spread(st.v[slot], np.dtype(np.bool_), st.lanes)[:, None] for slot in timeout]
    every = np.concatenate(bits, 1)
    return (every << np.arange(every.shape[1])).sum(1)


def _barrier_of(st: Any, barrier: list[int], indices: list[int], site: Site) -> Any:
    """The byte of a barrier in LDS."""
    if not barrier:
        return None
    view: View = st.v[barrier[0]]
    at, mask = st.locate(view, [st.v[i] for i in indices], (), site, "the arrival", True)
    st.slots = ()
    check_place(st, view.buffer, at, mask, site)
    return at


class TileCopy(Work):
    """A tile copy that a wave issued: offsets of its elements, and whether they are inside the tensor."""

    def __init__(
        self, st: Any, site: Site, source: Any, first: Array, target: Any, second: Array, given: Array, size: int
    ) -> None:
        super().__init__(st, site)
        self.source, self.target, self.first, self.second = source, target, first, second
        self.given, self.size, self.done = given, size, False

    def _places(self, first: Array) -> Array:
        return first[:, None] + np.arange(self.size)

    def poison(self) -> None:
        self.target.data[self._places(self.second)] = POISON

    def complete(self, warps: list[Any] | None) -> None:
        if self.done:
            return
        self.done = True
        if self.numbers:
            found = self.source.data[self._places(np.where(self.given, self.first, 0))]
            self.target.data[self._places(self.second)] = np.where(self.given[:, None], found, 0)


def _places_of(descriptor: _Descriptor, size: int, loads: bool) -> tuple[Array, Array, Array]:
    """The byte offsets of the tile's elements in memory and in LDS, and whether they are inside the tensor."""
    tile = descriptor.tile
    index = np.indices(tile).reshape(len(tile), -1)
    place = np.arange(index.shape[1]) * size
    if descriptor.rows is not None:
        index[0] = descriptor.rows[index[0]]
    offset = sum(i * by for i, by in zip(index, descriptor.strides, strict=True))
    given = np.all([i < limit for i, limit in zip(index, descriptor.tensor, strict=True)], axis=0)
    if descriptor.padding is not None and loads:
        amount, interval = descriptor.padding
        place = place + place // (4 * interval) * 4 * amount
    by_memory, by_lds, times = descriptor.steps or (0, 0, 1)
    turn = np.arange(times)[:, None]
    first = (turn * by_memory + offset) * size + descriptor.base.first
    second = turn * by_lds * size + place + descriptor.base.second
    return first.reshape(-1), second.reshape(-1), np.tile(given, times)


@operation("amdgpu.tensor_load_to_lds", "amdgpu.tensor_store_from_lds")
def _tensor_copy(op: Any, tr: ThreadTranslator) -> Step:
    (source,), site = tr.operands(op), tr.site(op)
    loads = op.name == "amdgpu.tensor_load_to_lds"
    what = "the tile copy"

    def step(st: Any) -> None:
        stream, firsts, before = started(st, TENSOR), first_lanes(st), st.mask
        memo: dict[int, Any] = {}
        for warp in st.active_warps():
            lanes = st.which == st.warps.index(warp)
            # A wave's request is that of its first lane.
            lane = firsts[lanes][:1]
            descriptor = _numbers_of(st.v[source].take(lane, memo))
            memo = {}
            base, rows, blocks = descriptor.base, descriptor.rows, descriptor.mask
            size = base.memory.dtype.itemsize
            if rows is not None and (np.diff(rows) < 0).any() and (rows >= descriptor.tensor[0]).any():
                # CDNA5 ISA, "Tensor Data Mover Instructions".
                message = (
                    f"the gathered row indices are not sorted, and some are outside the tensor of {descriptor.tensor[0]} "
                    "rows; "
                    "sort them, or keep all of them inside"
                )
                st.report("assertion", message, site, int(lane[0]))
            first, second, given = _places_of(descriptor, size, loads)
            if blocks is not None and loads:
                st.block.cluster.asked.add(warp, blocks, (base.memory.buffer.address, first.tobytes()), site)
            sides = [(base.memory.buffer, first, first[given]), (base.lds.buffer, second, second)]
            if not loads:
                sides.reverse()
                sides[0] = (*sides[0][:2], second[given])
            mask = lanes if before is None else lanes & before
            st.mask, fine = mask, True
            for (buffer, _, touched), writes in zip(sides, (False, True), strict=True):
                if not len(touched):
                    continue
                ok = st.in_buffer(buffer, 0, touched, size, mask, site, what, writes)
                fine = fine and bool(ok is None or ok[mask].all())
                if fine:
                    st.slots = base.lds.slots
                    st.touch(buffer, 0, touched, size, mask, writes, what, site, stream=stream)
            st.mask = before
            if not fine:
                continue
            (from_, at, _), (to, into, _) = sides
            if not loads:
                # Elements outside are not written.
                at, into, given = at[given], into[given], given[given]
            copy = TileCopy(st, site, from_, at, to, into, given, size)
            copy.threads = st.threads[lanes]
            timing.copied(st, copy, {warp.index: int(given.sum()) * size}, into=loads)
            hold(st, TENSOR, copy, [warp])
            if completes_immediately(st):
                copy.complete(None)
            elif copy.numbers:
                copy.poison()
            if descriptor.barrier is not None:
                arrive_behind(st, warp, TENSOR, lane, st.block.shared, descriptor.barrier, site)

    return step


def _numbers_of(descriptor: _Descriptor) -> _Descriptor:
    """The descriptor of one lane, with numbers instead of arrays."""

    def one(value: Any) -> Any:
        return int(value[0]) if isinstance(value, np.ndarray) else int(value)

    def some(values: Any) -> Any:
        return None if values is None else tuple(one(value) for value in values)

    d, base = descriptor, descriptor.base
    numbers = _Base(base.memory, one(base.first), base.lds, one(base.second))
    parts = (some(x) for x in (d.tensor, d.strides, d.tile, d.padding, d.steps))
    mask, barrier = (None if value is None else one(value) for value in (d.mask, d.barrier))
    return _Descriptor(numbers, *parts, rows=None if d.rows is None else d.rows[0], mask=mask, barrier=barrier)
