# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asynchronous copies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ir
from ...dialects.mosaic_gpu import CopyPartitionedAttr, TMAReduction
from ..machine.engines import Copy, start
from ..machine.findings import Site
from ..machine.machine import Group, State
from ..machine.memory import POISON, MemRef, Pointer, Window, part, window
from ..machine.values import packing
from ..translation.translator import Translated, Translator, Unsupported, attribute, operation, vector_reader
from . import barriers
from .arith import type_of
from .cluster import there
from .memref import byte_layout, memory_space
from .registers import combining, enumerator, same_bytes


def _starts(op: ir.Operation, translator: Translator, slots: list[int]) -> Callable[[Any], list[int]]:
    site = translator.site(op)

    def read(st: State) -> list[int]:
        found = []
        for slot in slots:
            value = st.v[slot]
            if isinstance(value, np.ndarray):
                st.stop(
                    "divergence",
                    "threads of the warpgroup pass different copy offsets; the offsets must be uniform",
                    site,
                )
            found.append(int(value))
        return found

    return read


def _segments(op: ir.Operation, translator: Translator, names: tuple[str, ...]) -> dict[str, list[int]]:
    operands, at, found = translator.operands(op), 0, {}
    for name, size in zip(names, attribute(op, "operandSegmentSizes"), strict=True):
        found[name] = operands[at : at + size]
        at += size
    return found


def _predicate(slots: list[int]) -> Callable[[Any], bool]:
    if not slots:
        return lambda st: True
    (slot,) = slots

    def read(st: State) -> bool:
        value = st.v[slot]
        if isinstance(value, np.ndarray):
            # The elected thread issues the copy.
            return bool(value.any())
        return bool(value)

    return read


def _moves(box: Window, memory: MemRef) -> list[tuple[MemRef, MemRef]]:
    """A view of a box of an array in the shape of the destination."""
    return [] if box.inside is None else [(box.inside, part(memory, box.place))]


def _in_bytes(op: Any, gathered: bool) -> Callable[[MemRef, list[int], list[int]], tuple[list[int], list[int]]]:
    """The box of an array that a copy accesses, in bytes if elements are packed."""
    types = [value.type for value in list(op.operands)[:2]]
    layouts = [byte_layout(ty)[3] for ty in types if packing(ty.element_type, 0)]
    if not layouts:
        type_of(types[0])
        return lambda memory, starts, lengths: (starts, lengths)
    rows = [how.dimension == ty.rank - 1 for how, ty in zip(layouts, types, strict=False) if how]
    if gathered or types[0].element_type != types[1].element_type or not all(rows):
        raise Unsupported(
            f"the copy is from {types[0]} to {types[1]}, whose elements are smaller than a byte; such a copy requires scalar "
            "indices, equal element types, and stride 1 in the last dimension"
        )

    def read(memory: MemRef, starts: list[int], lengths: list[int]) -> tuple[list[int], list[int]]:
        how = memory.packing
        assert how is not None
        return how.in_bytes(starts), how.in_bytes(lengths)

    return read


# ---------------------------------------------------------------------------------------------------------------------
# TMA
# ---------------------------------------------------------------------------------------------------------------------


# Modules of JAX 0.10 do not have the operand `peer`.
_LOAD_OPERANDS = ("source", "target", "barrier", "indices", "predicate", "peer")


@operation("mosaic_gpu.async_load")
def _async_load(op: ir.Operation, translator: Translator) -> Translated:
    given = _segments(op, translator, _LOAD_OPERANDS[: len(attribute(op, "operandSegmentSizes"))])
    if given.get("peer"):
        raise Unsupported("the copy accesses the memory of another device, but only one device is simulated")
    shared_along = attribute(op, "collective", [])
    if memory_space(op.operands[0].type) != "global" or memory_space(op.operands[1].type) != "shared":
        raise Unsupported(
            f"the source has type {op.operands[0].type} and the destination {op.operands[1].type}; a copy from global to shared memory is required"
        )
    (source,), (target,), (address,) = given["source"], given["target"], given["barrier"]
    site = translator.site(op)
    gathered, boxes_of = _boxes(op, translator, given["indices"], 3)
    if gathered and shared_along:
        raise Unsupported(
            "the copy has the attribute 'collective' and an index vector, but a collective copy cannot gather; use scalar indices or remove 'collective'"
        )
    tracked = attribute(op, "leader_tracked")
    if tracked is not None and not shared_along:
        raise Unsupported.invalid(
            "the copy has the attribute 'leader_tracked', which requires the attribute 'collective'; add 'collective'"
        )
    axis = tracked.axis if isinstance(tracked, CopyPartitionedAttr) else None
    starts = _starts(op, translator, given["indices"])
    enabled = _predicate(given.get("predicate", []))
    lengths = attribute(op, "slice_lengths")
    fill = attribute(op, "oob_fill_mode", 2)
    in_bytes = _in_bytes(op, gathered)
    ordered = translator.ordered_loads

    def waiting(st: Group) -> Any:
        # Warps in `warp_map` elect a thread themselves.
        if ordered and st.parent is None:
            st.synchronize(site)
        if not enabled(st):
            return
        memory, destination = st.v[source], st.v[target]
        first, shape = in_bytes(memory, starts(st), lengths)
        blocks = [st.block]
        sharing = blocks
        if shared_along:
            blocks = sharing = _sharing(st, shared_along)
            if axis is not None:
                first, shape = _partition(st, first, shape, axis, sharing, site)
                blocks = [st.block]
            else:
                first, shape, destination = _share(st, first, shape, destination, sharing, site)
        boxes = boxes_of(st, memory, first, shape)
        complete = all(box.complete for box in boxes)
        size = math.prod(abs(length) for length in shape) * memory.dtype.itemsize
        if fill == 1 and not complete:
            st.report(
                "out-of-bounds",
                f"the copy accesses indices outside the source of shape {list(memory.shape)}, although 'oob_fill_mode' "
                "declares the copy to be in bounds",
                site,
            )
        counting, destinations = [], []
        for block in blocks:
            own = not shared_along
            place = destination if own else there(block, destination)
            if own:
                barrier = barriers.find(st, st.v[address], site, "the copy")
            else:
                counts = sharing[0] if tracked else block
                at = Pointer(counts.shared, barriers.place(st.v[address]))
                barrier = barriers.find(st, at, site, "the copy")
            barriers.check_fence(st, barrier, site)
            moment = (barrier.agent, barrier.phase + 1)
            for box in boxes:
                if block is st.block and box.inside is not None:
                    st.touch(box.inside, False, "the copy", site, st.elected(), stream=moment, asynchronous=True)
            if not st.touch(place, True, "the copy", site, st.elected(), stream=moment, asynchronous=True):
                return
            barrier.issued += size
            barriers.check_bytes(st, barrier, site, barrier.pending)
            counting.append(barrier)
            destinations.append(place)
        fills = [] if complete else [(place, 0 if fill else POISON) for place in destinations]
        moves = [move for place in destinations for box in boxes for move in _moves(box, place)]
        start(st, Copy(st, moves, site, fills=fills, barriers=counting, size=size), None, destinations)
        yield None

    return Translated(waiting, True)


def _boxes(
    op: ir.Operation, translator: Translator, indices: list[int], first: int
) -> tuple[bool, Callable[..., list[Window]]]:
    """The boxes of a copy, and whether a vector among its indices selects rows. That index is removed from the
    operands from `first` on."""
    gathered = next((i for i in range(len(indices)) if isinstance(op.operands[first + i].type, ir.VectorType)), None)
    if gathered is None:
        return False, lambda st, memory, starts, lengths: [window(memory, starts, lengths)]
    rows = vector_reader(op, first + gathered, translator)
    indices.pop(gathered)
    return True, lambda st, memory, starts, lengths: _rows(memory, starts, lengths, gathered, rows(st).tolist())


def _rows(memory: MemRef, starts: list[int], lengths: list[int], gathered: int, rows: list[int]) -> list[Window]:
    """One box for each gathered row, consecutive in the destination."""
    kept = sum(length != -1 for length in lengths[:gathered])
    one = [1 if i == gathered else length for i, length in enumerate(lengths)]
    found = []
    for number, row in enumerate(rows):
        box = window(memory, [*starts[:gathered], row, *starts[gathered:]], one)
        place = tuple(slice(number, number + 1) if i == kept else at for i, at in enumerate(box.place))
        found.append(Window(box.inside, place, box.complete))
    return found


def _sharing(st: Group, dimensions: list[int]) -> list[Any]:
    """The blocks of the cluster that share a copy along dimensions, including this one."""
    mine = st.block.names["cluster_block_id"]
    others = [i for i in range(3) if i not in dimensions]
    return [b for b in st.block.cluster.blocks if all(b.names["cluster_block_id"][i] == mine[i] for i in others)]


def _partition(
    st: Group, starts: list[int], lengths: list[int], axis: int, blocks: list[Any], site: Site
) -> tuple[list[int], list[int]]:
    """The part of a partitioned copy that this block loads, along a dimension of the destination."""
    kept = [dimension for dimension, length in enumerate(lengths) if length != -1]
    dimension = kept[axis] if axis < len(kept) else -1
    if dimension < 0 or lengths[dimension] % len(blocks):
        st.stop(
            "assertion",
            f"the copy of shape {lengths} is partitioned among {len(blocks)} blocks of the cluster; the partitioned dimension must exist, and its size must be a multiple of {len(blocks)}",
            site,
        )
    first, shape = list(starts), list(lengths)
    shape[dimension] //= len(blocks)
    first[dimension] += blocks.index(st.block) * shape[dimension]
    return first, shape


def _share(
    st: Group, starts: list[int], lengths: list[int], destination: MemRef, blocks: list[Any], site: Site
) -> tuple[list[int], list[int], MemRef]:
    """The part of a multicast copy that this block loads for all blocks: of the first dimension that can be
    divided."""
    parts, number = len(blocks), blocks.index(st.block)
    kept = -1
    for dimension, length in enumerate(lengths):
        if length == -1:
            continue
        kept += 1
        if length % parts == 0:
            count = length // parts
            first, shape = list(starts), list(lengths)
            first[dimension] += number * count
            shape[dimension] = count
            place = tuple(
                slice(number * count, (number + 1) * count) if i == kept else slice(0, n)
                for i, n in enumerate(destination.shape)
            )
            return first, shape, part(destination, place)
    st.stop(
        "assertion",
        f"the copy of shape {lengths} is shared by {parts} blocks of the cluster; at least one size must be a multiple of {parts}",
        site,
    )
    raise AssertionError


@operation("mosaic_gpu.async_prefetch")
def _prefetch(op: ir.Operation, translator: Translator) -> None:
    return None


@operation("mosaic_gpu.async_store")
def _async_store(op: ir.Operation, translator: Translator) -> Translated:
    given = _segments(op, translator, ("source", "target", "indices", "predicate", "peer"))
    if given["peer"] or attribute(op, "is_global_broadcast", False):
        raise Unsupported("the copy accesses the memory of another device, but only one device is simulated")
    if memory_space(op.operands[0].type) != "shared" or memory_space(op.operands[1].type) != "global":
        raise Unsupported(
            f"the source has type {op.operands[0].type} and the destination {op.operands[1].type}; a copy from shared to global memory is required"
        )
    (source,), (target,) = given["source"], given["target"]
    site = translator.site(op)
    gathered, boxes_of = _boxes(op, translator, given["indices"], 2)
    starts = _starts(op, translator, given["indices"])
    enabled = _predicate(given["predicate"])
    lengths = attribute(op, "slice_lengths")
    commit = attribute(op, "commit_group", True)
    kind = enumerator(op, "reduction_op", TMAReduction)
    combine = combining(kind, type_of(op.operands[0].type)) if kind else None
    in_bytes = _in_bytes(op, gathered)

    def waiting(st: Group) -> Any:
        stream = st.bulk
        if enabled(st):
            memory = st.v[source]
            moment = (stream.reads, stream.next)
            if not st.touch(memory, False, "the copy", site, st.elected(), stream=moment, asynchronous=True):
                return
            for box in boxes_of(st, st.v[target], *in_bytes(st.v[target], starts(st), lengths)):
                if box.inside is None:
                    continue
                inside, data = box.inside, part(memory, box.place)
                copy = Copy(st, [(data, inside)], site, combine=combine)
                st.touch(
                    inside,
                    True,
                    "the copy",
                    site,
                    st.elected(),
                    stream=(stream.agent, stream.next),
                    asynchronous=True,
                    atomic=combine is not None,
                    alike=lambda inside=inside, data=data: same_bytes(inside.array(), data.array()),
                    work=copy,
                )
                start(st, copy, stream)
        if commit:
            stream.commit()
        yield None

    return Translated(waiting, True)


# ---------------------------------------------------------------------------------------------------------------------
# Copies that every thread issues and waits for
# ---------------------------------------------------------------------------------------------------------------------


@operation("mosaic_gpu.async_copy")
def _async_copy(op: Any, translator: Translator) -> Translated:
    source, *indices, target = translator.operands(op)
    starts, site = _starts(op, translator, indices), translator.site(op)
    lengths = list(op.operands[len(op.operands) - 1].type.shape)
    type_of(op.operands[0].type)

    def waiting(st: Group) -> Any:
        stream = st.copies
        destination = st.v[target]
        box = window(st.v[source], starts(st), lengths)
        moment = (stream.agent, stream.next)
        if box.inside is not None:
            st.touch(box.inside, False, "the copy", site, ("copy", site), stream=moment)
        if not st.touch(destination, True, "the copy", site, ("copy", site), stream=moment):
            return
        fills = [] if box.complete else [(destination, 0)]
        start(st, Copy(st, _moves(box, destination), site, fills=fills), stream, [destination])
        yield None

    return Translated(waiting, True)
