# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nvvm`: TMA copies of boxes with tensor maps, and bulk copies of contiguous bytes."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..... import dtypes
from .....calling import tensor_maps
from ....machine.engines import completes_immediately
from ....ops.barriers import check_bytes, check_fence
from ....translation.translator import Step, Unsupported, attribute, groups_left
from ...execution import timing
from ...execution.code import ThreadTranslator, operation
from ...execution.engines import BulkCopy, commit, wait_for_groups
from ...execution.lanes import Array
from ...execution.memory import BLOCK_BITS
from ...execution.ordering import DEVICE
from ..arithmetic.arith import combining
from ..arithmetic.llvm import address_space, pointee
from .cluster import MOST_BLOCKS, address_in
from .mbarrier import find, home

ALIGNMENT = 128
"""The alignment of a box in shared memory."""


@dataclass(frozen=True)
class Map:
    """A tensor map argument."""

    described: tensor_maps.TensorMap
    buffer: Any
    begin: int = 0
    """The byte of the buffer at which the described array begins."""

    @property
    def width(self) -> int:
        return element_bytes(self.described)

    def box(self, coordinates: list[int]) -> tuple[Array, Array]:
        """The first bytes of a box's elements in global memory, and which of them are in the array."""
        described = self.described
        at, inside = np.full((), self.begin + described.offset), np.ones((), np.bool_)
        for first, size, extent, stride, by in zip(
            coordinates, described.box, *described.static_layout, described.element_strides, strict=True
        ):
            index = first + np.arange(-(-size // by)) * by
            at = at[..., None] + index * stride
            inside = inside[..., None] & ((index >= 0) & (index < extent))
        return at.reshape(-1), inside.reshape(-1)

    def places(self, first: int, count: int) -> Array:
        """The offsets of elements in shared memory: chunks of 16 bytes are permuted within lines of the swizzle
        size."""
        at = first + np.arange(count) * self.width
        if self.described.swizzle > 16:
            at = at ^ (at >> 3 & (self.described.swizzle - 16))
        return at


def combining_boxes(of: Map, kind: str, st: Any, site: Any) -> tuple[Any, np.dtype[Any]]:
    """The reduction function of a copy, and its type (PTX ISA, "cp.reduce.async.bulk.tensor")."""
    element = dtypes.from_mlir(of.described.element)
    assert element is not None
    kinds = ("add", "min", "max", "and", "or", "xor")
    if element.kind == "f":
        kinds = kinds[:3] if element.bits == 16 else kinds[:1]
    if element.bits < 32 and element.mlir not in ("f16", "bf16"):
        kinds = ()
    if kind not in kinds:
        supported = ", ".join(kinds) or "none"
        message = (
            f"a TMA copy cannot reduce elements of {element.mlir} with '{kind}'; supported reductions: {supported}"
        )
        st.stop("assertion", message, site)
    if kind in ("min", "max"):
        kind += "numf" if element.kind == "f" else "si"
    return combining(kind, element.numpy), element.numpy


def element_bytes(described: tensor_maps.TensorMap) -> int:
    """The bytes of an array element."""
    element = dtypes.from_mlir(described.element)
    assert element is not None
    return element.bits // 8


_LOADS = {"nvvm.cp.async.bulk.tensor.shared.cluster.global", "nvvm.prefetch", "nvvm.cp.async.bulk.tensor.prefetch"}
_LOADS |= {"nvgpu.tma.async.load", "nvgpu.tma.prefetch.descriptor", "nvgpu.tma.fence.descriptor"}


def stores(value: Any) -> bool:
    """Whether a tensor map may be used to write."""
    return any(use.owner.operation.name not in _LOADS for use in value.uses)


def segments(op: Any, tr: ThreadTranslator, *names: str) -> dict[str, list[int]]:
    operands, at, found = tr.operands(op), 0, {}
    for name, size in zip(names, attribute(op, "operandSegmentSizes"), strict=True):
        found[name] = operands[at : at + size]
        at += size
    return found


def issuers(st: Any, predicate: list[int]) -> Iterator[int]:
    """The lanes that issue a copy."""
    running = np.ones(st.lanes, np.bool_) if st.mask is None else st.mask
    if predicate:
        running = running & np.asarray(st.v[predicate[0]], np.bool_)
    yield from np.flatnonzero(running).tolist()


def of_lane(value: Any, lane: int) -> int:
    return int(value[lane]) if isinstance(value, np.ndarray) else int(value)


def _only(st: Any, lane: int) -> Array:
    mask = np.zeros(st.lanes, np.bool_)
    mask[lane] = True
    return mask


def _stream(st: Any, agent: int, step: int) -> tuple[Array, Array]:
    count = len(st.warps)
    return np.full(count, agent, np.int32), np.full(count, step, np.int32)


def _units(places: Array, width: int, grain: int) -> Array:
    """The byte offsets of the grains of elements."""
    if width <= grain:
        return places
    return (places[:, None] + np.arange(0, width, grain)).reshape(-1)


def _inside(st: Any, buffer: Any, places: Array, width: int, lane: int, write: bool, site: Any) -> Array:
    """Which elements are in the destination buffer."""
    fine = (places >= 0) & (places + width <= buffer.size)
    if not fine.all():
        verb = "writes" if write else "reads"
        low, high = int(places.min()), int(places.max()) + width
        message = f"the copy {verb} bytes [{low}, {high}) of {buffer.name}, whose size is {buffer.size} B"
        st.report("out-of-bounds", message, site, lane)
    return fine


def _touch(
    st: Any,
    buffer: Any,
    places: Array,
    width: int,
    lane: int,
    write: bool,
    site: Any,
    stream: Any,
    work: Any = None,
    level: int = 0,
) -> None:
    """Checks the accesses of a copy to elements; with a level, as atomic accesses."""
    if places.size:
        units = _units(places, width, buffer.grain)
        unit, mask = min(width, buffer.grain), _only(st, lane)
        more = {"stream": stream, "asynchronous": True, "work": work, "level": level, "reads": level > 0}
        st.touch(buffer, 0, units, unit, mask, write, "the copy", site, **more)


def _load(
    st: Any,
    lane: int,
    source: Any,
    at: Array,
    inside: Array,
    fill: int,
    target: int,
    places: Any,
    width: int,
    mbar: Any,
    site: Any,
    mask: int | None = None,
) -> None:
    """Issues a copy into shared memory that completes on an mbarrier; with a mask, to the same offset of several
    blocks and their mbarriers. `places` are the element offsets relative to the first one."""
    warp = st.warps[int(st.which[lane])]
    place = of_lane(mbar, lane)
    block, first = home(warp, target, site, "the copy")
    blocks = [(block, place)] if mask is None else list(_named(warp, mask, place & ((1 << BLOCK_BITS) - 1), site))
    to = places(first)
    if not len(to):
        return
    moments: dict[int, tuple[float, float]] = {}
    for number, (block, where) in enumerate(blocks):
        barrier = find(warp, where, site, "the copy", anywhere=True)
        if home(warp, where, site, "the copy")[0] is not block:
            warp.stop(
                "assertion",
                f"the destination of the copy and {barrier.name} are in different blocks; the mbarrier must be in "
                "the destination block",
                site,
            )
        check_fence(warp, barrier, site)
        stream = _stream(st, barrier.agent, barrier.phase + 1)
        size = len(to) * width
        fine = _inside(st, block.shared, to, width, lane, True, site)
        if not number:
            wanted = at[inside]
            read = _inside(st, source, wanted, width, lane, False, site)
            _touch(st, source, wanted[read], width, lane, False, site, stream)
            if not read.all():
                inside = inside.copy()
                inside[inside] = read
        _touch(st, block.shared, to[fine], width, lane, True, site, stream)
        barrier.issued += size
        check_bytes(warp, barrier, site, barrier.pending)
        copy = BulkCopy(st, lane, source, at[fine], block.shared, to[fine], width, site, inside[fine], fill)
        copy.bytes = size
        copy.tells(barrier, warp)
        # It is fetched once.
        copy.moments = moments
        if not number:
            timing.copied(st, copy, {warp.index: int(copy.inside.sum()) * width})
        if completes_immediately(st):
            copy.complete()
            continue
        copy.poison()
        st.block.flights.append(copy)


def _named(warp: Any, mask: int, byte: int, site: Any) -> Iterator[tuple[Any, int]]:
    """The blocks of a mask, and a byte address in each."""
    for number in range(MOST_BLOCKS):
        if mask >> number & 1:
            yield warp.block.cluster.block(number, warp, "the copy", site), address_in(number, byte)


def _check_mode(op: Any) -> None:
    mode = str(op.attributes["mode"]) if "mode" in op.attributes else "<tile>"
    if not mode.endswith("<tile>"):
        raise Unsupported(f"the attribute 'mode' of the copy is {mode}; only the tile mode is supported")


@operation("nvvm.cp.async.bulk.tensor.shared.cluster.global")
def _load_box(op: Any, tr: ThreadTranslator) -> Step:
    given = segments(op, tr, "target", "map", "box", "barrier", "im2col", "multicast", "hint", "predicate")
    _check_mode(op)
    if "group" in op.attributes:
        raise Unsupported(
            "the copy has the attribute 'group', by which one mbarrier counts the bytes of a pair of blocks; only copies "
            "without 'group' are supported"
        )
    target, source, mbar = given["target"][0], given["map"][0], given["barrier"][0]
    mask, site = given["multicast"], tr.site(op)

    def step(st: Any) -> None:
        for lane in issuers(st, given["predicate"]):
            at = [of_lane(st.v[slot], lane) for slot in reversed(given["box"])]
            blocks = of_lane(st.v[mask[0]], lane) & 0xFFFF if mask else None
            load_box(st, lane, st.v[source], at, of_lane(st.v[target], lane), st.v[mbar], site, blocks)

    return step


def load_box(
    st: Any, lane: int, of: Any, coordinates: list[int], target: int, mbar: Any, site: Any, blocks: int | None
) -> None:
    """Issues a copy of a box into shared memory."""
    if not isinstance(of, Map):
        st.stop(
            "assertion",
            "the descriptor operand of the copy is not the address of a tensor map; pass a tensor map of the launch",
            site,
        )
    at, inside = of.box(coordinates)
    if target % ALIGNMENT:
        st.report(
            "assertion",
            f"the box is at byte {target} of shared memory; the address must be a multiple of {ALIGNMENT} B",
            site,
            lane,
        )
    fill = 0 if of.described.fill == "zeros" else 0xFF
    places = functools.partial(of.places, count=len(at))
    _load(st, lane, of.buffer, at, inside, fill, target, places, of.width, mbar, site, blocks)


@operation("nvvm.cp.async.bulk.shared.cluster.global")
def _load_bytes(op: Any, tr: ThreadTranslator) -> Step:
    given = segments(op, tr, "target", "source", "barrier", "size", "multicast", "hint")
    return _bytes(tr, op, given, address_space(op.operands[1].type))


@operation("nvvm.cp.async.bulk.shared.cluster.shared.cta")
def _send_bytes(op: Any, tr: ThreadTranslator) -> Step:
    given = {name: [slot] for name, slot in zip(("target", "source", "barrier", "size"), tr.operands(op), strict=True)}
    return _bytes(tr, op, given, 3)


def _bytes(tr: ThreadTranslator, op: Any, given: dict[str, list[int]], space: int) -> Step:
    """A bulk copy of contiguous bytes into shared memory."""
    target, source, mbar, size = (given[name][0] for name in ("target", "source", "barrier", "size"))
    mask, site = given.get("multicast"), tr.site(op)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[source], space, site, "the copy")
        for lane in issuers(st, []):
            count, to = of_lane(st.v[size], lane), of_lane(st.v[target], lane)
            unit = _unit(st, lane, site, count, of_lane(first, lane), to)
            steps = np.arange(0, count, unit)
            blocks = of_lane(st.v[mask[0]], lane) & 0xFFFF if mask else None
            at, there = of_lane(first, lane) + steps, np.ones(len(steps), np.bool_)
            places = functools.partial(np.add, steps)
            _load(st, lane, buffer, at, there, 0, to, places, unit, st.v[mbar], site, blocks)

    return step


CHUNK = 16
"""The alignment of the addresses and sizes of bulk copies."""


def _unit(st: Any, lane: int, site: Any, size: int, source: int, target: int) -> int:
    """The bytes that are moved at once."""
    numbers = (size, source, target)
    if any(number % CHUNK for number in numbers):
        message = (
            f"the copy has a size of {size} B, source byte {source} and destination byte {target}; all three must be "
            f"multiples of {CHUNK} B"
        )
        st.report("assertion", message, site, lane)
    unit = 8
    while any(number % unit for number in numbers):
        unit //= 2
    return unit


def _store(
    st: Any, lane: int, at: Array, inside: Array, target: Any, places: Array, width: int, site: Any, combine: Any = None
) -> None:
    """Issues a copy out of shared memory to the bulk stream of its thread."""
    warp = st.warps[int(st.which[lane])]
    stream = warp.bulk
    fine = _inside(st, st.block.shared, places, width, lane, False, site)
    _touch(st, st.block.shared, places[fine], width, lane, False, site, _stream(st, stream.reads, stream.next))
    keep = inside & fine
    keep[inside] &= _inside(st, target, at[inside], width, lane, True, site)
    there = np.ones(int(keep.sum()), np.bool_)
    copy = BulkCopy(st, lane, st.block.shared, places[keep], target, at[keep], width, site, there)
    copy.combine = combine
    ends = _stream(st, stream.agent, stream.next)
    # Copies that combine are relaxed accesses of the whole device.
    level = DEVICE if combine is not None else 0
    _touch(st, target, at[keep], width, lane, True, site, ends, copy if combine is None else None, level)
    timing.copied(st, copy, {warp.index: len(there) * width}, into=False)
    stream.open.append(copy)
    if completes_immediately(st):
        copy.complete()


@operation("nvvm.cp.async.bulk.tensor.global.shared.cta")
def _store_box(op: Any, tr: ThreadTranslator) -> Step:
    given = segments(op, tr, "map", "source", "box", "hint", "predicate")
    _check_mode(op)
    target, source = given["map"][0], given["source"][0]
    site = tr.site(op)

    def step(st: Any) -> None:
        for lane in issuers(st, given["predicate"]):
            at = [of_lane(st.v[slot], lane) for slot in reversed(given["box"])]
            store_box(st, lane, st.v[target], at, of_lane(st.v[source], lane), site)

    return step


def store_box(
    st: Any, lane: int, of: Any, coordinates: list[int], source: int, site: Any, kind: str | None = None
) -> None:
    """Issues a copy of a box out of shared memory, with or without a reduction."""
    if not isinstance(of, Map):
        st.stop(
            "assertion",
            "the descriptor operand of the copy is not the address of a tensor map; pass a tensor map of the launch",
            site,
        )
    if source % ALIGNMENT:
        st.report(
            "assertion",
            f"the box is at byte {source} of shared memory; the address must be a multiple of {ALIGNMENT} B",
            site,
            lane,
        )
    at, inside = of.box(coordinates)
    combine = combining_boxes(of, kind, st, site) if kind is not None else None
    _store(st, lane, at, inside, of.buffer, of.places(source, len(at)), of.width, site, combine)


@operation("nvvm.cp.async.bulk.tensor.reduce")
def _reduce_box(op: Any, tr: ThreadTranslator) -> Step:
    given = segments(op, tr, "map", "source", "box", "hint")
    kind = str(op.attributes["redKind"]).rpartition("<")[2].rstrip(">")
    if kind in ("inc", "dec"):
        raise Unsupported(f"the copy reduces with '{kind}'; supported reductions: add, min, max, and, or, xor")
    _check_mode(op)
    (target,), (source,), site = given["map"], given["source"], tr.site(op)

    def step(st: Any) -> None:
        for lane in issuers(st, []):
            at = [of_lane(st.v[slot], lane) for slot in reversed(given["box"])]
            store_box(st, lane, st.v[target], at, of_lane(st.v[source], lane), site, kind)

    return step


@operation("nvvm.cp.async.bulk.global.shared.cta")
def _store_bytes(op: Any, tr: ThreadTranslator) -> Step:
    given = segments(op, tr, "target", "source", "size", "hint", "mask")
    if given["mask"]:
        raise Unsupported("the copy has a byte mask; only copies without a mask are supported")
    target, source, size = (given[name][0] for name in ("target", "source", "size"))
    space, site = address_space(op.operands[0].type), tr.site(op)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[target], space, site, "the copy")
        for lane in issuers(st, []):
            unit = _unit(st, lane, site, *(of_lane(value, lane) for value in (st.v[size], st.v[source], first)))
            steps = np.arange(0, of_lane(st.v[size], lane), unit)
            there = np.ones(len(steps), np.bool_)
            places, at = of_lane(st.v[source], lane) + steps, of_lane(first, lane) + steps
            _store(st, lane, at, there, buffer, places, unit, site)

    return step


@operation("nvvm.cp.async.bulk.commit.group")
def _commit(op: Any, tr: ThreadTranslator) -> Step:
    site = tr.site(op)

    def step(st: Any) -> None:
        commit(st, "bulk", site)

    return step


@operation("nvvm.cp.async.bulk.wait_group")
def _wait(op: Any, tr: ThreadTranslator) -> Step:
    left, reads, site = groups_left(op, "group"), "read" in op.attributes, tr.site(op)

    def step(st: Any) -> None:
        wait_for_groups(st, "bulk", left, site, reads)

    return step


@operation(
    "nvvm.prefetch", "nvvm.cp.async.bulk.prefetch", "nvvm.cp.async.bulk.tensor.prefetch", "nvvm.prefetch.tensormap"
)
def _prefetch(op: Any, tr: ThreadTranslator) -> None:
    return None
