# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor memory of Blackwell, and `tcgen05` ops.

A logical memory of M rows occupies the bytes of its columns. The offset of an element within the columns is not the
hardware's. Elements of less than 32 bits are packed, unless the layout states otherwise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import instructions, ir
from ...diagnostics import counted
from ...dialects.mosaic_gpu import TiledLayoutAttr, TMEMLoadReduction
from ..machine.engines import Commit, Copy, TensorWork, completes_immediately, multiply, start
from ..machine.findings import Site
from ..machine.machine import Block, Group, State
from ..machine.memory import Array, Buffer, MemRef, Pointer, in_registers
from ..machine.races import FREE, PIPE, SAME, TENSOR
from ..machine.values import packing
from ..translation.translator import (
    Step,
    Translated,
    Translator,
    Unsupported,
    attribute,
    operation,
    vector_reader,
)
from . import barriers, tensor_operands
from .arith import held_type, type_of
from .cluster import there
from .memref import byte_layout, memory_space
from .registers import enumerator

COLUMNS = 512
COLUMN_BYTES = 128 * 4


def _view(buffer: Buffer, offset: int, ty: Any, packed: bool) -> MemRef:
    """The memory of a type from a byte on."""
    rows, columns = ty.shape
    how = packing(ty.element_type, 1)
    if how is not None:
        return MemRef(buffer, offset, tuple(how.in_bytes((rows, columns))), (1, rows), np.dtype(np.int8), packing=how)
    dtype = type_of(ty)
    step = dtype.itemsize if packed else 4
    return MemRef(buffer, offset, (rows, columns), (step, rows * step), dtype)


def _columns(memory: MemRef) -> int:
    """The number of 32-bit columns that it occupies."""
    low, high = memory.extent()
    return -(-(high - low) // COLUMN_BYTES)


def _tensor_memory(block: Block) -> Buffer:
    if block.tensor is None:
        data = np.full(COLUMNS * COLUMN_BYTES, 0xFF, np.uint8)
        block.tensor = Buffer("tensor memory", data, block.tensor_grain, shared=True, block=block)
    return block.tensor


def _uses(op: ir.Operation, translator: Translator) -> None:
    for value in (*op.operands, *op.results):
        if isinstance(value.type, ir.MemRefType) and memory_space(value.type) == "tensor":
            translator.tensor_grain = min(translator.tensor_grain, held_type(value.type).itemsize)


@operation("mosaic_gpu.tmem_alloc")
def _alloc(op: Any, translator: Translator) -> Step:
    (place,), (result,) = translator.operands(op), translator.results(op)
    ty, apart, site = op.results[0].type, attribute(op, "packing", 1) == 1, translator.site(op)
    _uses(op, translator)
    packed = not apart or held_type(ty).itemsize == 4
    if apart and packing(ty.element_type, 1) is not None:
        raise Unsupported(
            f"the elements of {ty} are smaller than a byte, but each fills a column of tensor memory; set the attribute 'packing' to the number of elements per column"
        )

    def step(st: Group) -> None:
        block = st.block
        found = block.columns.get(site.number)
        if found is None:
            # One warp of the block allocates; a barrier makes the result visible to the others.
            memory = _view(_tensor_memory(block), 0, ty, packed)
            count = max(32, 1 << (_columns(memory) - 1).bit_length())
            first = max((at + size for at, size in block.columns.values()), default=0)
            if first + count > COLUMNS:
                st.stop(
                    "out-of-bounds",
                    f"the allocation needs {counted(count, 'column')} of tensor memory, but {COLUMNS - first} of {COLUMNS} are free; allocate less, or deallocate before",
                    site,
                )
            found = block.columns[site.number] = (first, count)
            st.touch(st.v[place], True, "the allocation", site, SAME)
        st.v[result] = _view(_tensor_memory(block), found[0] * COLUMN_BYTES, ty, packed)

    return step


@operation("mosaic_gpu.tmem_dealloc")
def _dealloc(op: ir.Operation, translator: Translator) -> Step:
    (memory,), site = translator.operands(op), translator.site(op)

    def step(st: Group) -> None:
        if st.index:
            return
        st.touch(st.v[memory], True, "the deallocation", site, FREE)
        at = st.v[memory].offset // COLUMN_BYTES
        names = [name for name, (first, _) in st.block.columns.items() if first == at]
        if not names:
            st.report(
                "out-of-bounds",
                f"the op deallocates column {at} of tensor memory, where no allocation starts; deallocate each allocation once",
                site,
            )
        for name in names:
            del st.block.columns[name]

    return step


@operation("mosaic_gpu.tmem_relinquish_alloc_permit")
def _relinquish(op: ir.Operation, translator: Translator) -> None:
    return None


@operation("mosaic_gpu.slice_tmem")
def _slice(op: ir.Operation, translator: Translator) -> Step:
    (source,), (result,) = translator.operands(op), translator.results(op)
    offset, ty = attribute(op, "offset") * COLUMN_BYTES, op.results[0].type
    _uses(op, translator)

    def step(st: State) -> None:
        memory = st.v[source]
        st.v[result] = _view(memory.buffer, memory.offset + offset, ty, True)

    return step


@operation("mosaic_gpu.tmem_layout_cast")
def _layout_cast(op: Any, translator: Translator) -> Step:
    (source,), (result,) = translator.operands(op), translator.results(op)
    ty = op.results[0].type
    layout = op.attributes["new_layout"]
    # A layout of whole rows with a first tile of one element has one element per column.
    narrow = packing(ty.element_type, 1) is None and type_of(ty).itemsize < 4
    first_tile = layout.layout.tiling[0] if isinstance(layout, TiledLayoutAttr) else []
    apart = narrow and len(first_tile) == 2 and first_tile[1] == 1

    def step(st: State) -> None:
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
    (source,), (result, *reduced) = translator.operands(op), translator.results(op)
    reduce = _reduction(op)
    shape, dtype, site = tuple(op.results[0].type.shape), held_type(op.results[0].type), translator.site(op)
    _uses(op, translator)

    def step(st: Group) -> None:
        memory, stream = st.v[source], st.tensor_loads
        st.dirty = True
        # The result can be used immediately, but the memory must not be written before the wait.
        if st.touch(memory, False, "the load", site, TENSOR, stream=(stream.agent, stream.next)):
            st.v[result] = memory.elements().copy()
        else:
            st.v[result] = np.zeros(shape, dtype)
        for slot in reduced:
            with np.errstate(all="ignore"):
                st.v[slot] = reduce(st.v[result])

    return step


def _reduction(op: ir.Operation) -> Callable[[Any], Any]:
    """The row reduction of a load (PTX ISA, tcgen05.ld.red): without `.NaN`, NaN operands are ignored."""
    kind = enumerator(op, "reduce", TMEMLoadReduction)
    if kind is not None and type_of(op.results[0].type).kind != "f":
        raise Unsupported(
            f"the result has elements of {ir.VectorType(op.results[0].type).element_type}, but the attribute 'reduce' is "
            "supported only for f32; use f32, or reduce the vector after the load"
        )
    function = np.fmin if kind in ("min", "absmin") else np.fmax
    if kind in ("min", "max"):
        return lambda array: function.reduce(array, axis=1)
    return lambda array: function.reduce(np.abs(array), axis=1)


@operation("mosaic_gpu.async_store_tmem")
def _store(op: ir.Operation, translator: Translator) -> Step:
    _, target = translator.operands(op)
    value, site = vector_reader(op, 0, translator), translator.site(op)
    _uses(op, translator)

    def step(st: Group) -> None:
        memory, stream = st.v[target], st.tensor_stores
        found = memory.held(value(st))
        if st.touch(memory, True, "the store", site, TENSOR, stream=(stream.agent, stream.next)):
            start(st, Copy(st, [(in_registers(found), memory)], site), stream, [memory])

    return step


@operation("nvvm.tcgen05.wait")
def _wait(op: ir.Operation, translator: Translator) -> Step:
    loads = attribute(op, "kind") == "load"
    site = translator.site(op)

    def step(st: Group) -> None:
        stream = st.tensor_loads if loads else st.tensor_stores
        if stream.open:
            st.machine.effective.add((site.number, "removed"))
        stream.commit()
        stream.complete(stream.committed)
        st.own[stream.agent] = stream.committed

    return step


@operation("nvvm.tcgen05.fence")
def _fence(op: ir.Operation, translator: Translator) -> Step:
    site = translator.site(op)
    if attribute(op, "kind") != "after":
        return lambda st: barriers.tells_of_the_tensor_core(st, site)

    def step(st: Group) -> None:
        st.tensor_before, st.tensor_known = st.tensor_known, dict(st.known.seen)
        st.tensor_fence = site

    return step


# ---------------------------------------------------------------------------------------------------------------------
# tcgen05 operations
# ---------------------------------------------------------------------------------------------------------------------


def _touch(st: Group, memory: MemRef, write: bool, what: str, site: Site) -> None:
    """An access of the tensor core."""
    stream, block = st.tensor, memory.buffer.block
    shared = memory.buffer is not block.tensor
    if block is not st.block:
        st.access_remote(block, what, site, (stream.agent, stream.next))
    if not st.touch(memory, write, what, site, PIPE, stream=(stream.agent, stream.next), asynchronous=shared):
        st.stop(
            "out-of-bounds",
            f"an operand of {what} is out of bounds (see the previous finding); the simulation stops here",
            site,
        )


def _blocks(op: ir.Operation, translator: Translator) -> Callable[[Any], list[Any]]:
    """The blocks of an op: with `collective` (`cta_group::2`) the pair whose ranks differ in the last bit, the even
    one first."""
    site = translator.site(op)
    if not attribute(op, "collective", False):
        return lambda st: [st.block]

    def pair(st: Group) -> list[Any]:
        blocks = st.block.cluster.blocks
        first = blocks.index(st.block) & ~1
        if first + 1 >= len(blocks):
            st.stop(
                "assertion",
                f"the op requires pairs of blocks, but block {first} of the cluster does not have a partner: the cluster has "
                f"{counted(len(blocks), 'block')}; use an even number",
                site,
            )
        return blocks[first : first + 2]

    return pair


def _of(st: Group, block: Block, memory: MemRef, site: Site) -> MemRef:
    """The same offset in the shared or tensor memory of a block."""
    if memory.buffer is not st.block.tensor:
        return there(block, memory)
    if block.tensor is None:
        st.stop(
            "out-of-bounds",
            f"the op uses tensor memory of block {block.position}, which has not allocated any; execute mosaic_gpu.tmem_alloc in that block before",
            site,
        )
    return dataclasses.replace(memory, buffer=block.tensor)


def _started(op: ir.Operation, translator: Translator, begin: Callable[[Any], Callable[[], None]]) -> Translated:
    """A `tcgen05` operation: `begin` checks its accesses and returns the function that executes it."""
    site = translator.site(op)

    def waiting(st: Group) -> Any:
        run = begin(st)
        start(st, TensorWork(st, run, site), st.tensor)
        yield None

    return Translated(waiting, True)


@operation("mosaic_gpu.tcgen05_mma")
def _mma(op: Any, translator: Translator) -> Translated:
    is_sparse = bool(attribute(op, "operandSegmentSizes")[6])
    metadata = tensor_operands.Metadata(op) if is_sparse else None
    accumulator, a, b, accumulate, *scales = translator.operands(op)
    # Counts stored elements.
    size = tensor_operands.scale_size(op) * (2 if is_sparse else 1)
    scale_type = tensor_operands.SCALE_TYPES[str(op.operands[4].type.element_type)] if size else ""
    for value in list(op.operands)[:3]:
        if str(value.type.element_type) != tensor_operands.NARROW:
            type_of(value.type)
    _uses(op, translator)
    site, blocks = translator.site(op), _blocks(op, translator)
    # Two blocks with 64 rows each have another layout of the column scales.
    halves = attribute(op, "collective", False) and op.operands[1].type.shape[0] == 64

    def begin(st: Group) -> Callable[[], None]:
        adds = bool(st.v[accumulate])
        # Each block has its own rows, and a part of the columns of `b`.
        slots = (accumulator, a, b, *scales)
        parts = [[_of(st, block, st.v[slot], site) for slot in slots] for block in blocks(st)]
        for target, *factors in parts:
            for memory in (*factors, *((target,) if adds else ())):
                _touch(st, memory, False, "the MMA", site)
            _touch(st, target, True, "the MMA", site)

        def run() -> None:
            y = np.concatenate([right.elements() for _, _, right, *_ in parts], 1)
            for target, left, _, *scaled in parts:
                array, x = target.array(), left.elements()
                how: dict[str, Any] = {}
                if metadata is not None:
                    how["sparsity"] = places = metadata.places(scaled.pop())
                    if (problem := metadata.wrong(places)) is not None:
                        st.report("assertion", problem, site)
                before = array.copy() if adds else np.zeros(array.shape, array.dtype)
                if scaled:
                    of_rows = scaled[0].array()[: x.shape[0]]
                    how["scales"] = of_rows, tensor_operands.scale_columns(scaled[1], y.shape[1], halves)
                    how["scale_type"], how["scale_block"] = scale_type, size
                array[...] = multiply(before, x, y, tf32=x.dtype == np.float32, **how)

        return run

    return _started(op, translator, begin)


_FORMS: dict[str, Callable[[Array], Array]] = {
    "mosaic_gpu.async_store_smem_to_tmem": lambda array: array,
    "mosaic_gpu.async_store_scales_smem_to_tmem": instructions.unpack_scales,
    "mosaic_gpu.async_store_sparse_metadata_smem_to_tmem": instructions.unpack_metadata,
}
"""The conversion of arrays by copies to tensor memory."""


@operation(*_FORMS)
def _copy(op: Any, translator: Translator) -> Translated:
    source, target = translator.operands(op)
    if packing(op.operands[0].type.element_type, 1) is None:
        type_of(op.operands[0].type)
    elif byte_layout(op.operands[0].type)[1][-1] != 1:
        raise Unsupported(
            f"the source has type {op.operands[0].type}; its elements are smaller than a byte, so the last dimension "
            "must have stride 1"
        )
    _uses(op, translator)
    site, blocks = translator.site(op), _blocks(op, translator)
    form = _FORMS[op.name]

    def begin(st: Group) -> Callable[[], None]:
        parts = [[_of(st, block, st.v[slot], site) for slot in (target, source)] for block in blocks(st)]
        for into, here in parts:
            _touch(st, here, False, "the copy", site)
            _touch(st, into, True, "the copy", site)

        def run() -> None:
            for into, here in parts:
                into.array()[...] = form(here.array())

        return run

    return _started(op, translator, begin)


@operation("mosaic_gpu.tcgen05_commit_arrive")
def _commit(op: ir.Operation, translator: Translator) -> Translated:
    (address,), site = translator.operands(op), translator.site(op)
    blocks = _blocks(op, translator)

    def waiting(st: Group) -> Any:
        places = [Pointer(block.shared, barriers.place(st.v[address])) for block in blocks(st)]
        # Commits of one thread arrive in order.
        published = (st.tensor.agent, st.tensor.next)
        commit = Commit(st, [barriers.find(st, place, site, "the arrival", published) for place in places], site)
        st.mark_effective()
        if completes_immediately(st):
            commit.complete()
        else:
            st.block.flights.append(commit)
        yield None

    return Translated(waiting, True)
