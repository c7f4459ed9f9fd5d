"""Tensor memory of Blackwell, and what its tensor core does.

A logical memory of M rows takes the bytes of its columns; within them each element has its own place, which is not the
hardware's. Elements of less than 32 bits are packed, where the layout does not say that they are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ir
from ..engines import Commit, Copy, TensorWork, happens_at_once, start
from ..matmul import multiply
from ..memory import Buffer, MemRef, in_registers
from ..program import Site, Step, Translated, Translator, Unsupported, attribute, operation, vector_reader
from ..races import PIPE, SAME, TENSOR
from . import barriers
from .arith import type_of
from .memref import memory_space

COLUMNS = 512
COLUMN_BYTES = 128 * 4


def _view(buffer: Buffer, offset: int, ty: Any, packed: bool) -> MemRef:
    """The memory of a type from a byte on."""
    dtype = type_of(ty)
    rows, columns = ty.shape
    step = dtype.itemsize if packed else 4
    return MemRef(buffer, offset, (rows, columns), (step, rows * step), dtype)


def _columns(memory: MemRef) -> int:
    """The columns of 32 bits that it takes."""
    low, high = memory.extent()
    return -(-(high - low) // COLUMN_BYTES)


def _tensor_memory(block: Any) -> Buffer:
    if block.tensor is None:
        data = np.full(COLUMNS * COLUMN_BYTES, 0xFF, np.uint8)
        block.tensor = Buffer("tensor memory", data, block.tensor_grain, shared=True, block=block)
    return block.tensor


def _uses(op: Any, translator: Translator) -> None:
    for value in (*op.operands, *op.results):
        if isinstance(value.type, ir.MemRefType) and memory_space(value.type) == "#mosaic_gpu.tmem":
            translator.tensor_grain = min(translator.tensor_grain, type_of(value.type).itemsize)


@operation("mosaic_gpu.tmem_alloc")
def _alloc(op: Any, translator: Translator) -> Step:
    if attribute(op, "collective", False):
        raise Unsupported("tensor memory that two blocks allocate together")
    (place,), (result,) = translator.operands(op), translator.results(op)
    ty, packing, site = op.results[0].type, attribute(op, "packing", 1), translator.site(op)
    _uses(op, translator)
    packed = packing > 1 or type_of(ty).itemsize == 4

    def step(st: Any) -> None:
        block = st.block
        found = block.columns.get(site.number)
        if found is None:
            # One warp of the block allocates, and all see it behind a barrier.
            memory = _view(_tensor_memory(block), 0, ty, packed)
            count = max(32, 1 << (_columns(memory) - 1).bit_length())
            first = max((at + size for at, size in block.columns.values()), default=0)
            if first + count > COLUMNS:
                st.stop("out-of-bounds", f"{count} columns of tensor memory, of which {COLUMNS - first} are left", site)
            found = block.columns[site.number] = (first, count)
            st.touch(st.v[place], True, "the allocation", site, SAME)
        st.v[result] = _view(_tensor_memory(block), found[0] * COLUMN_BYTES, ty, packed)

    return step


@operation("mosaic_gpu.tmem_dealloc")
def _dealloc(op: Any, translator: Translator) -> Step:
    (memory,), site = translator.operands(op), translator.site(op)

    def step(st: Any) -> None:
        if st.index:
            return
        at = st.v[memory].offset // COLUMN_BYTES
        names = [name for name, (first, _) in st.block.columns.items() if first == at]
        if not names:
            st.report("out-of-bounds", "tensor memory is freed that is not allocated", site)
        for name in names:
            del st.block.columns[name]

    return step


@operation("mosaic_gpu.tmem_relinquish_alloc_permit")
def _relinquish(op: Any, translator: Translator) -> None:
    return None


@operation("mosaic_gpu.slice_tmem")
def _slice(op: Any, translator: Translator) -> Step:
    (source,), (result,) = translator.operands(op), translator.results(op)
    offset, ty = attribute(op, "offset") * COLUMN_BYTES, op.results[0].type
    _uses(op, translator)

    def step(st: Any) -> None:
        memory = st.v[source]
        st.v[result] = _view(memory.buffer, memory.offset + offset, ty, True)

    return step


@operation("mosaic_gpu.tmem_layout_cast")
def _layout_cast(op: Any, translator: Translator) -> Step:
    (source,), (result,) = translator.operands(op), translator.results(op)
    ty = op.results[0].type
    first_tile = re.search(r"\[\[(\d+), (\d+)\]", str(op.attributes["new_layout"]))
    # A layout of whole rows whose first tile is one element wide has one in each column.
    apart = type_of(ty).itemsize < 4 and first_tile is not None and first_tile[2] == "1"

    def step(st: Any) -> None:
        memory = st.v[source]
        if apart and memory.strides[0] == memory.dtype.itemsize:
            memory = _view(memory.buffer, memory.offset, ty, False)
        st.v[result] = memory

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Registers
# ---------------------------------------------------------------------------------------------------------------------


@operation("mosaic_gpu.async_load_tmem")
def _load(op: Any, translator: Translator) -> Step:
    if "reduce" in op.attributes:
        raise Unsupported("a reduction while tensor memory is loaded")
    (source,), (result,) = translator.operands(op), translator.results(op)
    shape, dtype, site = tuple(op.results[0].type.shape), type_of(op.results[0].type), translator.site(op)
    _uses(op, translator)

    def step(st: Any) -> None:
        memory, stream = st.v[source], st.tensor_loads
        # What it gives can be used at once, but the memory must not be written before the wait.
        if st.touch(memory, False, "the load", site, TENSOR, stream=(stream.agent, stream.next)):
            st.v[result] = memory.array().copy()
        else:
            st.v[result] = np.zeros(shape, dtype)

    return step


@operation("mosaic_gpu.async_store_tmem")
def _store(op: Any, translator: Translator) -> Step:
    _, target = translator.operands(op)
    value, site = vector_reader(op, 0, translator), translator.site(op)
    _uses(op, translator)

    def step(st: Any) -> None:
        memory, stream, found = st.v[target], st.tensor_stores, value(st)
        if st.touch(memory, True, "the store", site, TENSOR, stream=(stream.agent, stream.next)):
            start(st, Copy(st, [(in_registers(found), memory)], site), stream, [memory])

    return step


@operation("nvvm.tcgen05.wait")
def _wait(op: Any, translator: Translator) -> Step:
    loads = "load" in str(op.attributes["kind"])
    site = translator.site(op)

    def step(st: Any) -> None:
        stream = st.tensor_loads if loads else st.tensor_stores
        if stream.open:
            st.machine.effective.add((site.number, "removed"))
        stream.commit()
        stream.complete(stream.committed)
        st.own[stream.agent] = stream.committed

    return step


@operation("nvvm.tcgen05.fence")
def _fence(op: Any, translator: Translator) -> Step | None:
    if "after" not in str(op.attributes["kind"]):
        return None
    site = translator.site(op)

    def step(st: Any) -> None:
        streams = [group.tensor.agent for group in st.block.groups]
        if any(st.known.seen.get(agent, 0) > st.tensor_known.get(agent, 0) for agent in streams):
            st.learned.append((site, 0))
        st.tensor_known = dict(st.known.seen)

    return step


# ---------------------------------------------------------------------------------------------------------------------
# The tensor core
# ---------------------------------------------------------------------------------------------------------------------


def _touch(st: Any, memory: MemRef, write: bool, what: str, site: Site) -> None:
    """An access of the tensor core."""
    stream = st.tensor
    shared = memory.buffer is not st.block.tensor
    if not st.touch(memory, write, what, site, PIPE, stream=(stream.agent, stream.next), asynchronous=shared):
        st.stop("out-of-bounds", f"{what} cannot be done", site)


def _started(op: Any, translator: Translator, begin: Callable[[Any], Callable[[], None]]) -> Translated:
    """Something that the tensor core does: `begin` checks its accesses and returns what it does."""
    site = translator.site(op)

    def waiting(st: Any) -> Any:
        run = begin(st)
        start(st, TensorWork(st, run, site), st.tensor)
        yield None

    return barriers.in_warps(op, translator, waiting)


@operation("mosaic_gpu.tcgen05_mma")
def _mma(op: Any, translator: Translator) -> Translated:
    segments = attribute(op, "operandSegmentSizes")
    if any(segments[4:]):
        raise Unsupported("scales and sparse operands")
    if attribute(op, "collective", False):
        raise Unsupported("a product of two blocks")
    accumulator, a, b, accumulate = translator.operands(op)
    for value in list(op.operands)[:3]:
        type_of(value.type)
    _uses(op, translator)
    site = translator.site(op)

    def begin(st: Any) -> Callable[[], None]:
        target, left, right = st.v[accumulator], st.v[a], st.v[b]
        adds = bool(st.v[accumulate])
        for memory in (left, right, *((target,) if adds else ())):
            _touch(st, memory, False, "the product", site)
        _touch(st, target, True, "the product", site)

        def run() -> None:
            array = target.array()
            before = array.copy() if adds else np.zeros(array.shape, array.dtype)
            x, y = left.array(), right.array()
            array[...] = multiply(before, x, y, tf32=x.dtype == np.float32)

        return run

    return _started(op, translator, begin)


@operation("mosaic_gpu.async_store_smem_to_tmem")
def _copy(op: Any, translator: Translator) -> Translated:
    if attribute(op, "collective", False):
        raise Unsupported("a copy for two blocks")
    source, target = translator.operands(op)
    type_of(op.operands[0].type)
    _uses(op, translator)
    site = translator.site(op)

    def begin(st: Any) -> Callable[[], None]:
        there, here = st.v[target], st.v[source]
        _touch(st, here, False, "the copy", site)
        _touch(st, there, True, "the copy", site)

        def run() -> None:
            there.array()[...] = here.array()

        return run

    return _started(op, translator, begin)


@operation("mosaic_gpu.tcgen05_commit_arrive")
def _commit(op: Any, translator: Translator) -> Translated:
    if attribute(op, "collective", False):
        raise Unsupported("an arrival in two blocks")
    (address,), site = translator.operands(op), translator.site(op)

    def waiting(st: Any) -> Any:
        barrier = barriers.find(st, st.v[address], site, "an arrival")
        commit = Commit(st, barrier, site)
        st.acts()
        if happens_at_once(st):
            commit.complete()
        else:
            st.block.flights.append(commit)
        yield None

    return barriers.in_warps(op, translator, waiting)
