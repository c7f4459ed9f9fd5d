"""Copies to LDS that AMD's counters tell of: by lanes (`gather_to_lds`, `load.to.lds`, asynchronous loads of gfx1250), and
of tiles by the tensor data mover."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .... import ir
from ...engines import happens_at_once
from ...memory import POISON
from ...ops.memref import mixed
from ...translator import Site, Step, Unsupported, attribute
from .. import timing
from ..code import ThreadTranslator, operation
from ..counters import ASYNC, COPY, TENSOR, hold, started
from ..engines import LaneCopy, Work
from ..lanes import Array, dtype_of, spread, take
from ..memory import SPACING, View
from .buffers_amd import buffers_of, byte_in
from .cp_async import check_copy
from .llvm import address_space, constant_of, pointee
from .memref import memory_dtype

_WIDE = np.dtype(np.int64)


def _start(
    st: Any, kind: str, sources: list[tuple[Any, Any, Any]], second: Any, size: int, given: Any, site: Site
) -> None:
    """Starts a copy to LDS by each lane: `sources` are buffers, the bytes in them, and the lanes that copy from there. Of
    `size` bytes `given` are copied, and the others become zeros."""
    stream = started(st, kind)
    for buffer, first, mask in sources:
        mask = check_copy(st, buffer, first, st.block.shared, second, size, given, mask, site, stream)
        copy = LaneCopy(st, buffer, first, st.block.shared, second, size, given, mask, site)
        timing.copied(st, copy, copy.sizes, lambda warp: kind)
        hold(st, kind, copy)
        if happens_at_once(st):
            copy.happen()
        elif st.machine.how.numbers:
            copy.poison()


def _first_lanes(st: Any) -> Array:
    """For each lane the first lane of its wave that runs."""
    size = st.block.warp_size
    running = np.ones(st.lanes, np.bool_) if st.mask is None else st.mask
    return np.repeat(running.reshape(-1, size).argmax(1) + np.arange(len(st.warps)) * size, size)


def _of_waves(st: Any, second: Any, stride: int) -> Array:
    """Where each lane of a wave writes: one behind the other from where its first lane says."""
    base = spread(second, _WIDE, st.lanes)[_first_lanes(st)]
    return base + np.arange(st.lanes) % st.block.warp_size * stride


def _lane_bytes(tr: ThreadTranslator, size: int) -> int:
    """Bytes that a lane writes: narrow elements become dwords, three dwords four."""
    if size not in (1, 2, 4) and (size not in (12, 16) or 16 not in tr.target.async_copy_bytes):
        raise Unsupported(f"a copy of {size} bytes a lane on {tr.target.name}")
    if tr.target.async_copy != "lds_load":
        raise Unsupported(f"a copy to LDS on {tr.target.name}")
    return max(4, 16 if size == 12 else size)


def _inside(view: View, first: Any, size: int, scalar: Any = 0) -> Any:
    """How many bytes of each lane's come from inside of a checked buffer."""
    left = np.clip(view.limit - ((first - scalar - view.begin & 0xFFFFFFFF) + scalar), 0, size)
    # Dwords are checked one by one, what is narrower as it is.
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
        raise Unsupported(f"a copy of {moved}")
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
        # Of the places only those of the first lanes are used.
        st.mask = np.arange(st.lanes) == _first_lanes(st)
        if before is not None:
            st.mask = st.mask & before
        second, _ = st.locate(v[target], [v[i] for i in places], (), site, "the copy", True)
        st.mask = before
        _start(st, COPY, [(view.buffer, first, mask)], _of_waves(st, second, stride), stride, given, site)

    return step


def _buffers(st: Any, pointer: Any, space: int, site: Site) -> list[tuple[Any, Any, Any]]:
    """The buffers that pointers of lanes go to, the bytes in them, and the lanes that go there."""
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
        raise Unsupported(f"a copy from {op.operands[0].type}")
    size, offset = attribute(op, "size"), attribute(op, "offset")
    stride = _lane_bytes(tr, size)
    tr.uses_shared(stride)

    def step(st: Any) -> None:
        second = _of_waves(st, st.v[target] + offset, stride)
        _start(st, COPY, _buffers(st, st.v[source] + offset, space, site), second, stride, size, site)

    return step


@operation("rocdl.raw.ptr.buffer.load.lds")
def _buffer_load_lds(op: Any, tr: ThreadTranslator) -> Step:
    """The constant offset counts on both sides (CDNA3 ISA, "Memory Buffer Load to LDS")."""
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
    if len(op.operands) > 2 and constant_of(op.operands[2]):
        raise Unsupported("a load for several blocks")
    size, offset = int(op.name.rpartition(".b")[2]) // 8, attribute(op, "offset")
    if "async_counter" not in tr.target.waits:
        raise Unsupported(f"an asynchronous load on {tr.target.name}")
    space = address_space(op.operands[0].type)
    tr.uses_shared(size)

    def step(st: Any) -> None:
        # Each lane names its own place.
        second = st.v[target] + offset
        _start(st, ASYNC, _buffers(st, st.v[source] + offset, space, site), second, size, size, site)

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Tiles
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Base:
    """Where a tile is: in global memory and in LDS, with the bytes at which it begins."""

    memory: View
    first: Any
    lds: View
    second: Any

    def take(self, lanes: Array, memo: dict[int, Any]) -> _Base:
        first, second = (take(x, lanes, 0, memo) for x in (self.first, self.second))
        return _Base(self.memory.take(lanes, memo), first, self.lds.take(lanes, memo), second)


@dataclass(frozen=True)
class _Descriptor:
    """A tile, with its dimensions outermost first; sizes and strides of elements."""

    base: _Base
    tensor: tuple[Any, ...]
    strides: tuple[Any, ...]
    tile: tuple[Any, ...]
    padding: tuple[Any, Any] | None
    """Dwords that are left out, and behind how many."""
    steps: tuple[Any, Any, Any] | None
    """By how much iterations go on in memory and in LDS, and their number."""
    rows: Any = None
    """The rows that are chosen, of tiles of two dimensions."""

    def take(self, lanes: Array, memo: dict[int, Any]) -> _Descriptor:
        def some(values: Any) -> Any:
            return None if values is None else tuple(take(value, lanes, 0, memo) for value in values)

        parts = (some(x) for x in (self.tensor, self.strides, self.tile, self.padding, self.steps))
        return _Descriptor(self.base.take(lanes, memo), *parts, rows=take(self.rows, lanes, 1, memo))


@operation("amdgpu.make_dma_base", "amdgpu.make_gather_dma_base")
def _make_base(op: Any, tr: ThreadTranslator) -> Step:
    segments = attribute(op, "operandSegmentSizes")
    operands, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    if "tensor_counter" not in tr.target.waits:
        raise Unsupported(f"copies of tiles on {tr.target.name}")
    memory, indices = operands[0], operands[1 : 1 + segments[1]]
    lds, places = operands[1 + segments[1]], operands[2 + segments[1] :]
    for position in (0, 1 + segments[1]):
        memory_dtype(op.operands[position].type)
        tr.uses(op.operands[position].type)

    def step(st: Any) -> None:
        source, target = st.v[memory], st.v[lds]
        first, _ = st.locate(source, [st.v[i] for i in indices], (), site, "the base of a tile", False)
        second, _ = st.locate(target, [st.v[i] for i in places], (), site, "the base of a tile", False)
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
    if given["mask"] or given["barrier"]:
        raise Unsupported("a tile for several blocks, or of whose end a barrier is told")
    tensor = mixed(attribute(op, "global_static_sizes"), given["tensor"])
    strides = mixed(attribute(op, "global_static_strides"), given["strides"])
    tile = mixed(attribute(op, "shared_static_sizes"), given["tile"])
    if strides[-1] != (False, 1):
        raise Unsupported("a tile whose rows have gaps between their elements")
    numbers_without_sign = 0
    if gathers:
        rows: Any = op.operands[1].type
        count, numbers_without_sign = rows.shape[0], (1 << rows.element_type.width) - 1
        if len(tile) != 2 or tile[0] != (False, count) or given["times"]:
            raise Unsupported(f"{count} chosen rows of another tile than one of two dimensions, which has so many")

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
        )

    return step


class TileCopy(Work):
    """A copy of a tile that a wave started: elements of some bytes, and whether they are inside of the tensor."""

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
    """The bytes of the tile's elements in memory and in LDS, and whether they are inside of the tensor."""
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
    what = "the copy of a tile"

    def step(st: Any) -> None:
        stream, firsts, before = started(st, TENSOR), _first_lanes(st), st.mask
        memo: dict[int, Any] = {}
        for warp in st.active_warps():
            lanes = st.which == st.warps.index(warp)
            # What a wave asks for is of its first lane.
            lane = firsts[lanes][:1]
            descriptor = _numbers_of(st.v[source].take(lane, memo))
            memo = {}
            base, rows = descriptor.base, descriptor.rows
            size = base.memory.dtype.itemsize
            if rows is not None and (np.diff(rows) < 0).any() and (rows >= descriptor.tensor[0]).any():
                # CDNA5 ISA, "Tensor Data Mover Instructions".
                st.report("assertion", "rows outside of the tensor are chosen, and not in order", site, int(lane[0]))
            first, second, given = _places_of(descriptor, size, loads)
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
                # What is outside is not written.
                at, into, given = at[given], into[given], given[given]
            copy = TileCopy(st, site, from_, at, to, into, given, size)
            copy.threads = st.threads[lanes]
            timing.copied(st, copy, {warp.index: int(given.sum()) * size}, into=loads)
            hold(st, TENSOR, copy, [warp])
            if happens_at_once(st):
                copy.complete(None)
            elif copy.numbers:
                copy.poison()

    return step


def _numbers_of(descriptor: _Descriptor) -> _Descriptor:
    """A descriptor of one lane, with numbers for arrays."""

    def one(value: Any) -> Any:
        return int(value[0]) if isinstance(value, np.ndarray) else int(value)

    def some(values: Any) -> Any:
        return None if values is None else tuple(one(value) for value in values)

    d, base = descriptor, descriptor.base
    numbers = _Base(base.memory, one(base.first), base.lds, one(base.second))
    parts = (some(x) for x in (d.tensor, d.strides, d.tile, d.padding, d.steps))
    return _Descriptor(numbers, *parts, rows=None if d.rows is None else d.rows[0])
