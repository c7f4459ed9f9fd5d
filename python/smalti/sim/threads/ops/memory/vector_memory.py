# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`vector`: whole and masked loads and stores. Bounds-checked buffers behave like the hardware."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..... import ir
from ....ops.vector import transfer_dimensions
from ....translation.translator import Step, Unsupported, attribute
from ...execution import bounds
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, bits_of, packed_bits, rank_of, spread, unpacked_bits
from ...execution.memory import View
from ..arithmetic.vector import element_dtype, shape_of
from .memref import index_reader, memory_dtype


def stored_dtype(ty: Any) -> np.dtype[Any]:
    """The numpy type of a vector's elements in memory."""
    if bits_of(ty) == 1 and shape_of(ty) != (1,):
        raise Unsupported(f"the op accesses {ty} in memory; of vectors of i1, only vector<1xi1> is supported")
    return element_dtype(ty)


_BOOL, _WIDE = np.dtype(np.bool_), np.dtype(np.int64)
_HERE = np.zeros(1, np.int64)


def _is_packed(ty: Any) -> bool:
    """Whether LLVM packs the elements of a vector in memory, although a scalar occupies a byte."""
    return bits_of(ty) == 1 and len(shape_of(ty)) == 1 and shape_of(ty) != (1,)


def _bits_at(op: Any, tr: ThreadTranslator, memory: int, ty: Any) -> tuple[int, Array, Any]:
    """The number of bits, their bytes, and a function that returns the first byte of each lane."""
    count, indices = shape_of(ty)[0], index_reader(op, tr, memory + 1)
    source, site, write = tr.operands(op)[memory], tr.site(op), op.name == "vector.store"
    tr.uses(op.operands[memory].type)

    def locate(st: Any) -> tuple[Any, Any, Any]:
        view: View = st.v[source]
        if view.limit is not None:
            st.stop(
                "assertion",
                "the memref is bounds-checked (amdgpu.fat_raw_buffer_cast), and the simulator does not support vectors of i1 in such a memref",
                site,
            )
        return view.buffer, *st.locate(view, indices(st), (), site, "the store" if write else "the load", write)

    return count, np.arange(-(-count // 8)), locate


_BYTE = np.dtype(np.uint8)


def _load_bits(op: Any, tr: ThreadTranslator) -> Step:
    (result,), site = tr.results(op), tr.site(op)
    count, steps, locate = _bits_at(op, tr, 0, op.results[0].type)

    def step(st: Any) -> None:
        buffer, first, mask = locate(st)
        found = st.load_bytes(buffer, first, steps, _BYTE, steps.shape, mask, site)
        st.v[result] = unpacked_bits(found, 1, count, _BOOL)

    return step


def _store_bits(op: Any, tr: ThreadTranslator) -> Step:
    value, site = tr.operands(op)[0], tr.site(op)
    _, steps, locate = _bits_at(op, tr, 1, op.operands[0].type)

    def step(st: Any) -> None:
        buffer, first, mask = locate(st)
        found = packed_bits(np.ascontiguousarray(np.asarray(st.v[value], _BOOL)), 1)
        st.store_bytes(buffer, first, steps, _BYTE, found, steps.shape, mask, site)

    return step


@operation("vector.load")
def _load(op: Any, tr: ThreadTranslator) -> Step:
    if _is_packed(op.results[0].type):
        return _load_bits(op, tr)
    (source, *_), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    indices, shape, dtype = index_reader(op, tr, 1), shape_of(op.results[0].type), stored_dtype(op.results[0].type)
    tr.uses(op.operands[0].type)

    def step(st: Any) -> None:
        view: View = st.v[source]
        if view.dtype != dtype:
            st.stop(
                "assertion",
                f"the memref has elements of {view.dtype}, but the vector has elements of {dtype}; both must have the same "
                "type",
                site,
            )
        st.v[result] = st.load(view, indices(st), shape, site)

    return step


@operation("vector.store")
def _store(op: Any, tr: ThreadTranslator) -> Step:
    if _is_packed(op.operands[0].type):
        return _store_bits(op, tr)
    (value, target, *_), site = tr.operands(op), tr.site(op)
    indices, shape = index_reader(op, tr, 2), shape_of(op.operands[0].type)
    stored_dtype(op.operands[0].type)
    tr.uses(op.operands[1].type)

    def step(st: Any) -> None:
        st.store(st.v[target], indices(st), st.v[value], shape, site)

    return step


def _transfer(op: Any, tr: ThreadTranslator, memory: int, vector_type: Any) -> Any:
    """A function that returns for a transfer the first bytes of its elements, their steps, and which of them are in
    bounds."""
    base = op.operands[memory]
    if not isinstance(base.type, ir.MemRefType):
        raise Unsupported(f"the op accesses {base.type}; a memref is required")
    segments = attribute(op, "operandSegmentSizes")
    start = sum(segments[: memory + 1])
    slots = tr.operands(op)[start : start + segments[memory + 1]]
    mask_slot = tr.operands(op)[-1] if segments[-1] else tr.vector_mask
    dimensions = transfer_dimensions(op)
    shape = shape_of(vector_type)
    inside = list(attribute(op, "in_bounds", [False] * len(shape)))
    site = tr.site(op)
    tr.uses(base.type)
    source = tr.slot(base)
    read = op.name == "vector.transfer_read"
    along = {d: i for i, d in enumerate(dimensions) if d is not None}

    # A mask has the memory's dimensions in their order, except for broadcast ones.
    order = sorted(along)
    to_vector = [order.index(d) for d in dimensions if d is not None]
    column = tuple(None if d is None else slice(None) for d in dimensions)

    def of_elements(mask: Any) -> Any:
        each = mask.ndim - len(order)
        mask = mask.transpose([*range(each), *(each + axis for axis in to_vector)])
        return np.broadcast_to(mask[(slice(None),) * each + column], (*mask.shape[:each], *shape))

    def locate(st: Any) -> tuple[View, Any, Array, Any, Array | None]:
        view: View = st.v[source]
        st.slots = view.slots
        at = [st.v[slot] for slot in slots]
        there: Any = None
        checked = []
        for dimension, (index, size) in enumerate(zip(at, view.shape, strict=True)):
            i = along.get(dimension)
            if i is None or inside[i]:
                continue
            checked.append(dimension)
            places = np.arange(shape[i]).reshape((shape[i],) + (1,) * (len(shape) - i - 1))
            begin = np.asarray(index).reshape(np.shape(index) + (1,) * len(shape))
            limit = np.asarray(size).reshape(np.shape(size) + (1,) * len(shape))
            ok = (begin + places < limit) & (begin + places >= 0)
            there = ok if there is None else there & ok
        if mask_slot is not None:
            wanted = of_elements(st.v[mask_slot])
            there = wanted if there is None else there & wanted
        offset, running = view.offset, st.mask
        for dimension, (index, size, stride) in enumerate(zip(at, view.shape, view.strides, strict=True)):
            i = along.get(dimension)
            length = 1 if i is None else shape[i]
            if dimension not in checked and mask_slot is None and view.limit is None:
                running = st._inside(
                    running,
                    index,
                    length,
                    size,
                    dimension,
                    view.buffer,
                    site,
                    "the load" if read else "the store",
                    not read,
                )
            offset = offset + index * stride
        steps: Any = np.zeros((), np.int64)
        for i, size in enumerate(shape):
            d = dimensions[i]
            by = 0 if d is None else view.strides[d]
            steps = steps[..., None] + np.arange(size) * by
        if there is not None and there.all():
            there = None
        return view, offset, steps.reshape(-1), there, running

    return locate


@operation("vector.transfer_read")
def _transfer_read(op: Any, tr: ThreadTranslator) -> Step:
    (result,), site = tr.results(op), tr.site(op)
    ty = op.results[0].type
    shape, dtype = shape_of(ty), stored_dtype(ty)
    locate = _transfer(op, tr, 0, ty)
    segments = attribute(op, "operandSegmentSizes")
    padding = tr.operands(op)[sum(segments[:2])]

    def step(st: Any) -> None:
        view, offset, steps, there, running = locate(st)
        if there is None:
            st.v[result] = bounds.load(st, view, offset, steps, shape, running, site)
            return
        # Elements that are not there are not touched.
        flat = np.broadcast_to(np.asarray(there).reshape((-1, len(steps))), (st.lanes, len(steps)))
        found = np.empty((st.lanes, len(steps)), dtype)
        pad = np.asarray(st.v[padding], dtype)
        for column in range(len(steps)):
            ok = flat[:, column] if running is None else flat[:, column] & running
            value = bounds.load(st, view, offset + steps[column], _HERE, (), ok, site)
            found[:, column] = np.where(flat[:, column], value, pad)
        st.v[result] = found.reshape((st.lanes, *shape))

    return step


@operation("vector.transfer_write")
def _transfer_write(op: Any, tr: ThreadTranslator) -> Step:
    value, site = tr.operands(op)[0], tr.site(op)
    ty = op.operands[0].type
    shape, dtype = shape_of(ty), stored_dtype(ty)
    locate = _transfer(op, tr, 1, ty)

    def step(st: Any) -> None:
        view, offset, steps, there, running = locate(st)
        if there is None:
            bounds.store(st, view, offset, steps, st.v[value], shape, running, site)
            return
        flat = np.broadcast_to(np.asarray(there).reshape((-1, len(steps))), (st.lanes, len(steps)))
        values = spread(st.v[value], dtype, st.lanes, len(shape)).reshape(st.lanes, -1)
        for column in range(len(steps)):
            ok = flat[:, column] if running is None else flat[:, column] & running
            bounds.store(st, view, offset + steps[column], _HERE, values[:, column], (), ok, site)

    return step


def _by_elements(st: Any, wanted: Array, places: Any, access: Any) -> None:
    """Calls `access` for each element of vectors, with its number and its indices, for the enabled lanes."""
    before = st.mask
    for number, at in places:
        st.mask = wanted[:, number] if before is None else wanted[:, number] & before
        if st.mask.any():
            access(number, at)
    st.mask = before


def _behind(at: list[Any], shape: tuple[int, ...]) -> Any:
    """The indices of a vector's elements in memory, in order, and their numbers."""
    for number, offsets in enumerate(np.ndindex(shape)):
        front = len(at) - len(offsets)
        yield number, [*at[:front], *(i + by for i, by in zip(at[front:], offsets, strict=True))]


def _chosen(at: list[Any], indices: Array) -> Any:
    """The same for a gather along the last dimension."""
    for number in range(indices.shape[1]):
        yield number, [*at[:-1], at[-1] + indices[:, number]]


def _packed(at: list[Any], wanted: Array) -> Any:
    """The same for contiguous compressed elements: only enabled lanes advance."""
    before = np.cumsum(wanted, 1) - wanted
    for number in range(wanted.shape[1]):
        yield number, [*at[:-1], at[-1] + before[:, number]]


@operation("vector.maskedload", "vector.expandload", "vector.gather")
def _masked_load(op: Any, tr: ThreadTranslator) -> Step:
    gathers, packed, outer = op.name == "vector.gather", op.name == "vector.expandload", tr.vector_mask
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    source, (mask, passed) = slots[0], slots[-2:]
    if not isinstance(op.operands[0].type, ir.MemRefType):
        raise Unsupported(f"the op loads from {op.operands[0].type}; a memref is required")
    ty = op.results[0].type
    shape, dtype = shape_of(ty), stored_dtype(ty)
    indices, rank = index_reader(op, tr, 1, 3 if gathers else 2), len(shape)
    memory_dtype(op.operands[0].type)
    tr.uses(op.operands[0].type)

    def step(st: Any) -> None:
        at = indices(st)
        wanted = spread(st.v[mask], _BOOL, st.lanes, rank).reshape(st.lanes, -1)
        found = spread(st.v[passed], dtype, st.lanes, rank).reshape(st.lanes, -1).copy()
        places = _packed(at, wanted) if packed else _behind(at, shape)
        if outer is not None:
            wanted = wanted & spread(st.v[outer], _BOOL, st.lanes, rank).reshape(st.lanes, -1)
        if gathers:
            places = _chosen(at, spread(st.v[slots[-3]], _WIDE, st.lanes, rank).reshape(st.lanes, -1))

        def load(number: int, index: list[Any]) -> None:
            found[:, number] = np.where(st.mask, st.load(st.v[source], index, (), site), found[:, number])

        _by_elements(st, wanted, places, load)
        st.v[result] = found.reshape(st.lanes, *shape)

    return step


@operation("vector.maskedstore", "vector.compressstore", "vector.scatter")
def _masked_store(op: Any, tr: ThreadTranslator) -> Step:
    scatters, packed = op.name == "vector.scatter", op.name == "vector.compressstore"
    slots, site = tr.operands(op), tr.site(op)
    target, (mask, value) = slots[0], slots[-2:]
    if not isinstance(op.operands[0].type, ir.MemRefType):
        raise Unsupported(f"the op stores to {op.operands[0].type}; a memref is required")
    ty = op.operands[len(op.operands) - 1].type
    shape, dtype, rank = shape_of(ty), stored_dtype(ty), rank_of(ty)
    indices = index_reader(op, tr, 1, 3 if scatters else 2)
    memory_dtype(op.operands[0].type)
    tr.uses(op.operands[0].type)

    def step(st: Any) -> None:
        at = indices(st)
        wanted = spread(st.v[mask], _BOOL, st.lanes, rank).reshape(st.lanes, -1)
        values = spread(st.v[value], dtype, st.lanes, rank).reshape(st.lanes, -1)
        places = _packed(at, wanted) if packed else _behind(at, shape)
        if scatters:
            # One after the other: of equal indices the last counts.
            places = _chosen(at, spread(st.v[slots[-3]], _WIDE, st.lanes, rank).reshape(st.lanes, -1))
        _by_elements(st, wanted, places, lambda i, index: st.store(st.v[target], index, values[:, i], (), site))

    return step


_MASKABLE = {f"vector.{name}" for name in ("transfer_read", "transfer_write", "gather", "reduction", "multi_reduction")}
_MASKABLE |= {"vector.contract", "vector.outerproduct"}


@operation("vector.mask")
def _mask(op: Any, tr: ThreadTranslator) -> None:
    mask, *passed = tr.operands(op)
    block, results = tr.only_block(op.regions[0]), tr.results(op)
    *operations, ends = (view.operation for view in block.operations)
    for inside in operations:
        if inside.name not in _MASKABLE:
            raise Unsupported(
                f"the region contains '{inside.name}', which cannot be masked; maskable ops: "
                f"{', '.join(sorted(_MASKABLE))}"
            )
        tr.vector_mask = mask
        tr.operation(inside)
        tr.vector_mask = None
    tr.emit(tr.moves(tr.operands(ends), results))
    if not passed:
        return
    ty = op.results[0].type
    shape, dtype = shape_of(ty), stored_dtype(ty)
    if shape != shape_of(op.operands[0].type):
        raise Unsupported(
            f"the mask has type {op.operands[0].type}, but the pass-through value has type {ty}; their shapes must be equal"
        )

    def choose(st: Any) -> None:
        found = [st.v[mask], np.asarray(st.v[results[0]], dtype), np.asarray(st.v[passed[0]], dtype)]
        st.v[results[0]] = np.where(*found)

    tr.emit(choose)
