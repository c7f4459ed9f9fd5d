"""`nvvm`: copies of boxes that tensor maps describe (TMA), and of runs of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .... import dtypes, tensor_maps
from ...engines import happens_at_once
from ...ops.barriers import check_bytes
from ...program import Step, Unsupported, attribute
from ..code import ThreadTranslator, operation
from ..engines import BulkCopy, wait_for_groups
from ..lanes import Array
from .llvm import address_space, pointee
from .mbarrier import find

ALIGNMENT = 128
"""Of a box in shared memory."""


@dataclass(frozen=True)
class Map:
    """A tensor map that a kernel takes."""

    described: tensor_maps.TensorMap
    buffer: Any

    @property
    def width(self) -> int:
        return element_bytes(self.described)

    def box(self, coordinates: list[int]) -> tuple[Array, Array]:
        """The first bytes of a box's elements in global memory, and which of them are in the array."""
        described = self.described
        at, inside = np.full((), described.offset), np.ones((), np.bool_)
        for first, size, extent, stride, by in zip(
            coordinates, described.box, described.extents, described.strides, described.element_strides, strict=True
        ):
            index = first + np.arange(-(-size // by)) * by
            at = at[..., None] + index * stride
            inside = inside[..., None] & ((index >= 0) & (index < extent))
        return at.reshape(-1), inside.reshape(-1)

    def places(self, first: int, count: int) -> Array:
        """Where elements are in shared memory: chunks of 16 bytes are exchanged within lines of the swizzle's size."""
        at = first + np.arange(count) * self.width
        if self.described.swizzle > 16:
            at = at ^ (at >> 3 & (self.described.swizzle - 16))
        return at


def element_bytes(described: tensor_maps.TensorMap) -> int:
    """Bytes of an element of an array."""
    element = dtypes.from_mlir(described.element)
    assert element is not None
    return element.bits // 8


_LOADS = {"nvvm.cp.async.bulk.tensor.shared.cluster.global", "nvvm.prefetch", "nvvm.cp.async.bulk.tensor.prefetch"}


def stores(value: Any) -> bool:
    """Whether a tensor map may be used to write."""
    return any(use.owner.operation.name not in _LOADS for use in value.uses)


def _segments(op: Any, tr: ThreadTranslator, *names: str) -> dict[str, list[int]]:
    operands, at, found = tr.operands(op), 0, {}
    for name, size in zip(names, attribute(op, "operandSegmentSizes"), strict=True):
        found[name] = operands[at : at + size]
        at += size
    return found


def _issuers(st: Any, predicate: list[int]) -> Iterator[int]:
    """The lanes that start a copy."""
    running = np.ones(st.lanes, np.bool_) if st.mask is None else st.mask
    if predicate:
        running = running & np.asarray(st.v[predicate[0]], np.bool_)
    yield from np.flatnonzero(running).tolist()


def _of_lane(value: Any, lane: int) -> int:
    return int(value[lane]) if isinstance(value, np.ndarray) else int(value)


def _only(st: Any, lane: int) -> Array:
    mask = np.zeros(st.lanes, np.bool_)
    mask[lane] = True
    return mask


def _stream(st: Any, agent: int, step: int) -> tuple[Array, Array]:
    count = len(st.warps)
    return np.full(count, agent, np.int32), np.full(count, step, np.int32)


def _units(places: Array, width: int, grain: int) -> Array:
    """Bytes at which the grains of elements begin."""
    if width <= grain:
        return places
    return (places[:, None] + np.arange(0, width, grain)).reshape(-1)


def _touch(st: Any, buffer: Any, places: Array, width: int, lane: int, write: bool, site: Any, stream: Any) -> Array:
    """Checks what a copy does with elements. Returns those that are in the buffer."""
    outside = (places < 0) | (places + width > buffer.size)
    if outside.any():
        verb = "writes" if write else "reads"
        low, high = int(places.min()), int(places.max()) + width
        message = f"the copy {verb} bytes {low} to {high} of {buffer.name}, which has {buffer.size}"
        st.report("out-of-bounds", message, site, lane)
        places = places[~outside]
    if places.size:
        units = _units(places, width, buffer.grain)
        unit = min(width, buffer.grain)
        st.touch(buffer, 0, units, unit, _only(st, lane), write, "the copy", site, stream=stream, asynchronous=True)
    return ~outside


def _load(
    st: Any,
    lane: int,
    source: Any,
    at: Array,
    inside: Array,
    fill: int,
    places: Array,
    width: int,
    mbar: Any,
    site: Any,
) -> None:
    """Starts a copy into shared memory, of which a barrier is told."""
    warp = st.warps[int(st.which[lane])]
    barrier = find(warp, _of_lane(mbar, lane), site, "a copy")
    if not barrier.fenced:
        st.report(
            "missing-fence",
            f"a copy on {barrier.name}, whose initialisation it may not see",
            site,
            lane,
            edge="nvvm.fence.mbarrier.init behind the initialisation",
        )
        barrier.fenced = True
    stream = _stream(st, barrier.agent, barrier.phase + 1)
    size = len(places) * width
    if inside.any():
        _touch(st, source, at[inside], width, lane, False, site, stream)
    fine = _touch(st, st.block.shared, places, width, lane, True, site, stream)
    barrier.issued += size
    check_bytes(warp, barrier, site, barrier.pending)
    copy = BulkCopy(st, lane, source, at[fine], st.block.shared, places[fine], width, site, inside[fine], fill)
    copy.barriers, copy.bytes = (barrier,), size
    if happens_at_once(st):
        copy.complete()
        return
    copy.poison()
    st.block.flights.append(copy)


@operation("nvvm.cp.async.bulk.tensor.shared.cluster.global")
def _load_box(op: Any, tr: ThreadTranslator) -> Step:
    given = _segments(op, tr, "target", "map", "box", "barrier", "im2col", "multicast", "hint", "predicate")
    if given["im2col"] or given["multicast"] or "tile" not in str(op.attributes.get("mode", "tile")):
        raise Unsupported("a copy of columns, or to several blocks")
    target, source, mbar = given["target"][0], given["map"][0], given["barrier"][0]
    site = tr.site(op)

    def step(st: Any) -> None:
        of: Map = st.v[source]
        if not isinstance(of, Map):
            st.stop("assertion", "a copy without a tensor map", site)
        for lane in _issuers(st, given["predicate"]):
            at, inside = of.box([_of_lane(st.v[slot], lane) for slot in reversed(given["box"])])
            first = _of_lane(st.v[target], lane)
            if first % ALIGNMENT:
                st.report("assertion", f"a box at byte {first}, which is no multiple of {ALIGNMENT}", site, lane)
            places = of.places(first, len(at))
            fill = 0 if of.described.fill == "zeros" else 0xFF
            _load(st, lane, of.buffer, at, inside, fill, places, of.width, st.v[mbar], site)

    return step


@operation("nvvm.cp.async.bulk.shared.cluster.global")
def _load_bytes(op: Any, tr: ThreadTranslator) -> Step:
    given = _segments(op, tr, "target", "source", "barrier", "size", "multicast", "hint")
    if given["multicast"]:
        raise Unsupported("a copy to several blocks")
    target, source, mbar, size = (given[name][0] for name in ("target", "source", "barrier", "size"))
    space, site = address_space(op.operands[1].type), tr.site(op)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[source], space, site, "the copy")
        for lane in _issuers(st, []):
            unit = _unit(_of_lane(st.v[size], lane), _of_lane(first, lane), _of_lane(st.v[target], lane))
            steps = np.arange(0, _of_lane(st.v[size], lane), unit)
            places, at = _of_lane(st.v[target], lane) + steps, _of_lane(first, lane) + steps
            there = np.ones(len(at), np.bool_)
            _load(st, lane, buffer, at, there, 0, places, unit, st.v[mbar], site)

    return step


def _unit(*numbers: int) -> int:
    unit = 8
    while any(number % unit for number in numbers):
        unit //= 2
    return unit


def _store(st: Any, lane: int, at: Array, inside: Array, target: Any, places: Array, width: int, site: Any) -> None:
    """Starts a copy out of shared memory, which its thread's stream holds."""
    warp = st.warps[int(st.which[lane])]
    stream = warp.bulk
    if stream.open and stream.open[0].thread != int(st.threads[lane]):
        st.stop("assertion", "copies that several threads of a warp start, which the simulator counts for warps", site)
    _touch(st, st.block.shared, places, width, lane, False, site, _stream(st, stream.reads, stream.next))
    fine = np.ones(len(at), np.bool_)
    if inside.any():
        fine[inside] = _touch(st, target, at[inside], width, lane, True, site, _stream(st, stream.agent, stream.next))
    keep = fine & inside
    there = np.ones(int(keep.sum()), np.bool_)
    copy = BulkCopy(st, lane, st.block.shared, places[keep], target, at[keep], width, site, there)
    stream.open.append(copy)
    if happens_at_once(st):
        copy.complete()


@operation("nvvm.cp.async.bulk.tensor.global.shared.cta")
def _store_box(op: Any, tr: ThreadTranslator) -> Step:
    given = _segments(op, tr, "map", "source", "box", "hint", "predicate")
    target, source = given["map"][0], given["source"][0]
    site = tr.site(op)

    def step(st: Any) -> None:
        of: Map = st.v[target]
        for lane in _issuers(st, given["predicate"]):
            at, inside = of.box([_of_lane(st.v[slot], lane) for slot in reversed(given["box"])])
            places = of.places(_of_lane(st.v[source], lane), len(at))
            _store(st, lane, at, inside, of.buffer, places, of.width, site)

    return step


@operation("nvvm.cp.async.bulk.global.shared.cta")
def _store_bytes(op: Any, tr: ThreadTranslator) -> Step:
    given = _segments(op, tr, "target", "source", "size", "hint", "mask")
    if given["mask"]:
        raise Unsupported("a mask of bytes")
    target, source, size = (given[name][0] for name in ("target", "source", "size"))
    space, site = address_space(op.operands[0].type), tr.site(op)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[target], space, site, "the copy")
        for lane in _issuers(st, []):
            unit = _unit(_of_lane(st.v[size], lane), _of_lane(first, lane), _of_lane(st.v[source], lane))
            steps = np.arange(0, _of_lane(st.v[size], lane), unit)
            there = np.ones(len(steps), np.bool_)
            places, at = _of_lane(st.v[source], lane) + steps, _of_lane(first, lane) + steps
            _store(st, lane, at, there, buffer, places, unit, site)

    return step


@operation("nvvm.cp.async.bulk.commit.group")
def _commit(op: Any, tr: ThreadTranslator) -> Step:
    site = tr.site(op)

    def step(st: Any) -> None:
        for warp in st.active_warps():
            st.block.commits(warp.bulk, site)

    return step


@operation("nvvm.cp.async.bulk.wait_group")
def _wait(op: Any, tr: ThreadTranslator) -> Step:
    left, reads, site = attribute(op, "group"), "read" in op.attributes, tr.site(op)

    def step(st: Any) -> None:
        wait_for_groups(st, "bulk", left, site, reads)

    return step


@operation(
    "nvvm.prefetch", "nvvm.cp.async.bulk.prefetch", "nvvm.cp.async.bulk.tensor.prefetch", "nvvm.prefetch.tensormap"
)
def _prefetch(op: Any, tr: ThreadTranslator) -> None:
    return None
