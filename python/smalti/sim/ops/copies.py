"""Asynchronous copies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ir
from ..engines import Copy, start
from ..memory import POISON, MemRef, Window, part, window
from ..program import Translated, Translator, Unsupported, attribute, operation, vector_reader
from . import barriers
from .arith import type_of
from .cluster import there
from .memref import memory_space
from .registers import combining, enumerator, same_bytes


def _starts(op: Any, translator: Translator, slots: list[int]) -> Callable[[Any], list[int]]:
    site = translator.site(op)

    def read(st: Any) -> list[int]:
        found = []
        for slot in slots:
            value = st.v[slot]
            if isinstance(value, np.ndarray):
                st.stop("divergence", "threads of the warpgroup name different places to copy", site)
            found.append(int(value))
        return found

    return read


def _segments(op: Any, translator: Translator, names: tuple[str, ...]) -> dict[str, list[int]]:
    operands, at, found = translator.operands(op), 0, {}
    for name, size in zip(names, attribute(op, "operandSegmentSizes"), strict=True):
        found[name] = operands[at : at + size]
        at += size
    return found


def _predicate(slots: list[int]) -> Callable[[Any], bool]:
    if not slots:
        return lambda st: True
    (slot,) = slots

    def read(st: Any) -> bool:
        value = st.v[slot]
        if isinstance(value, np.ndarray):
            # Whoever is elected starts the copy.
            return bool(value.any())
        return bool(value)

    return read


def _moves(box: Window, memory: MemRef) -> list[tuple[MemRef, MemRef]]:
    """What comes from a box of an array into the memory that has its shape."""
    return [] if box.inside is None else [(box.inside, part(memory, box.place))]


# ---------------------------------------------------------------------------------------------------------------------
# The tensor memory accelerator
# ---------------------------------------------------------------------------------------------------------------------


# A module of JAX 0.10 has no peers.
_LOAD_OPERANDS = ("source", "target", "barrier", "indices", "predicate", "peer")


@operation("mosaic_gpu.async_load")
def _async_load(op: Any, translator: Translator) -> Translated:
    given = _segments(op, translator, _LOAD_OPERANDS[: len(attribute(op, "operandSegmentSizes"))])
    if given.get("peer"):
        raise Unsupported("memory of another device")
    if "leader_tracked" in op.attributes:
        raise Unsupported("a copy that the barrier of one block counts for all")
    shared_along = attribute(op, "collective", [])
    if memory_space(op.operands[0].type) != "global" or memory_space(op.operands[1].type) != "shared":
        raise Unsupported(f"a copy from {op.operands[0].type} to {op.operands[1].type}")
    (source,), (target,), (address,) = given["source"], given["target"], given["barrier"]
    site = translator.site(op)
    gathered = next((i for i in range(len(given["indices"])) if _names_rows(op, 3 + i)), None)
    if gathered is not None and shared_along:
        raise Unsupported("rows that a vector names, for several blocks")
    rows = vector_reader(op, 3 + gathered, translator) if gathered is not None else None
    if gathered is not None:
        given["indices"].pop(gathered)
    starts = _starts(op, translator, given["indices"])
    enabled = _predicate(given.get("predicate", []))
    lengths = attribute(op, "slice_lengths")
    fill = attribute(op, "oob_fill_mode", 2)
    type_of(op.operands[0].type)

    def waiting(st: Any) -> Any:
        if not enabled(st):
            return
        memory, destination, first = st.v[source], st.v[target], starts(st)
        shape, blocks = lengths, [st.block]
        if shared_along:
            blocks = _sharing(st, shared_along)
            first, shape, destination = _share(st, first, lengths, destination, blocks, site)
        if gathered is None or rows is None:
            boxes = [window(memory, first, shape)]
        else:
            boxes = _rows(memory, first, shape, gathered, rows(st).tolist())
        complete = all(box.complete for box in boxes)
        size = math.prod(abs(length) for length in shape) * memory.dtype.itemsize
        if fill == 1 and not complete:
            st.report("out-of-bounds", "a copy leaves the array although it promises not to", site)
        counting, destinations = [], []
        for block in blocks:
            own = not shared_along
            place = destination if own else there(block, destination)
            barrier = barriers.find(st, st.v[address] if own else there(block, st.v[address]), site, "a copy")
            if not barrier.fenced:
                st.report(
                    "missing-fence",
                    f"a copy on {barrier.name}, whose initialisation it may not see",
                    site,
                    edge="nvvm.fence.mbarrier.init behind the initialisation",
                )
                barrier.fenced = True
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

    return barriers.in_warps(op, translator, waiting)


def _names_rows(op: Any, operand: int) -> bool:
    return isinstance(op.operands[operand].type, ir.VectorType)


def _rows(memory: MemRef, starts: list[int], lengths: list[int], gathered: int, rows: list[int]) -> list[Window]:
    """A box for each row that is gathered in a dimension; one behind the other in the destination."""
    kept = sum(length != -1 for length in lengths[:gathered])
    one = [1 if i == gathered else length for i, length in enumerate(lengths)]
    found = []
    for number, row in enumerate(rows):
        box = window(memory, [*starts[:gathered], row, *starts[gathered:]], one)
        place = tuple(slice(number, number + 1) if i == kept else at for i, at in enumerate(box.place))
        found.append(Window(box.inside, place, box.complete))
    return found


def _sharing(st: Any, dimensions: list[int]) -> list[Any]:
    """The blocks of the cluster that share a copy along dimensions; this one is among them."""
    mine = st.block.names["cluster_block_id"]
    others = [i for i in range(3) if i not in dimensions]
    return [b for b in st.block.cluster.blocks if all(b.names["cluster_block_id"][i] == mine[i] for i in others)]


def _share(
    st: Any, starts: list[int], lengths: list[int], destination: MemRef, blocks: list[Any], site: Any
) -> tuple[list[int], list[int], MemRef]:
    """The part of a shared copy that this block fetches for all: of the first dimension that has a part for each."""
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
    st.stop("assertion", f"a copy of {lengths} has no equal parts for {parts} blocks", site)
    raise AssertionError


@operation("mosaic_gpu.async_prefetch")
def _prefetch(op: Any, translator: Translator) -> None:
    return None


_REDUCTIONS = {0: "add", 1: "min", 2: "max", 3: "inc", 4: "dec", 5: "and", 6: "or", 7: "xor"}
_REDUCTIONS |= {8: "umin", 9: "umax", 10: "smin", 11: "smax"}


@operation("mosaic_gpu.async_store")
def _async_store(op: Any, translator: Translator) -> Translated:
    given = _segments(op, translator, ("source", "target", "indices", "predicate", "peer"))
    if given["peer"] or attribute(op, "is_global_broadcast", False):
        raise Unsupported("memory of another device")
    if memory_space(op.operands[0].type) != "shared" or memory_space(op.operands[1].type) != "global":
        raise Unsupported(f"a copy from {op.operands[0].type} to {op.operands[1].type}")
    if any(_names_rows(op, 2 + i) for i in range(len(given["indices"]))):
        raise Unsupported("a copy into rows that a vector names")
    (source,), (target,) = given["source"], given["target"]
    starts, site = _starts(op, translator, given["indices"]), translator.site(op)
    enabled = _predicate(given["predicate"])
    lengths = attribute(op, "slice_lengths")
    commit = attribute(op, "commit_group", True)
    kind = enumerator(op, "reduction_op", _REDUCTIONS)
    combine = combining(kind, type_of(op.operands[0].type)) if kind else None
    type_of(op.operands[1].type)

    def waiting(st: Any) -> Any:
        stream = st.bulk
        if enabled(st):
            box = window(st.v[target], starts(st), lengths)
            memory = st.v[source]
            moment = (stream.reads, stream.next)
            if not st.touch(memory, False, "the copy", site, st.elected(), stream=moment, asynchronous=True):
                return
            if box.inside is not None:
                inside = box.inside
                data = part(memory, box.place)
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
                    alike=lambda: same_bytes(inside.array(), data.array()),
                    work=copy,
                )
                start(st, copy, stream)
        if commit:
            stream.commit()
        yield None

    return barriers.in_warps(op, translator, waiting)


# ---------------------------------------------------------------------------------------------------------------------
# Copies that every thread starts and waits for
# ---------------------------------------------------------------------------------------------------------------------


@operation("mosaic_gpu.async_copy")
def _async_copy(op: Any, translator: Translator) -> Translated:
    source, *indices, target = translator.operands(op)
    starts, site = _starts(op, translator, indices), translator.site(op)
    lengths = list(op.operands[len(op.operands) - 1].type.shape)
    type_of(op.operands[0].type)

    def waiting(st: Any) -> Any:
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
