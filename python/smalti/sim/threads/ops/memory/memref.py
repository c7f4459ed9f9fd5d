# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`memref`: per-thread views, and accesses of single elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..... import ir
from ....machine.values import PACKED, signed
from ....ops.memref import kept_dimensions, memory_space, mixed, promised
from ....translation.translator import Step, Unsupported, attribute, strides_and_offset
from ...execution import bounds
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import SMALL_TYPES, dtype_of, held_dtype
from ...execution.memory import PrivateBuffer, View, contiguous
from ...execution.slots import Slot
from ..arithmetic.arith import shaped


def index_reader(op: Any, tr: ThreadTranslator, first: int, last: int = 0) -> Callable[[Any], list[Any]]:
    """A function that returns the indices of an access: the operands from `first` on, without the last ones."""
    slots = tr.operands(op)
    slots = slots[first : len(slots) - last]

    def read(st: Any) -> list[Any]:
        v = st.v
        return [v[slot] for slot in slots]

    return read


def memory_dtype(ty: Any) -> np.dtype[Any]:
    found = dtype_of(ty.element_type)
    if isinstance(ty.element_type, ir.VectorType) or found is None or str(ty.element_type) in SMALL_TYPES:
        raise Unsupported.wrong_type("the memory", ty)
    return found


def allocation(ty: Any) -> tuple[int, tuple[tuple[int, ...], tuple[int, ...], np.dtype[Any]]]:
    """The size of a type in bytes, its shape, its strides in bytes, and its numpy type."""
    if not ty.has_static_shape:
        raise Unsupported(f"the op allocates {ty}; a static shape is required")
    shape, dtype = tuple(ty.shape), memory_dtype(ty)
    strides = contiguous(shape)
    if math.prod(shape) and (list(strides), 0) != strides_and_offset(ty):
        raise Unsupported(f"the op allocates {ty}; a contiguous layout is required")
    return math.prod(shape) * dtype.itemsize, (shape, tuple(by * dtype.itemsize for by in strides), dtype)


@operation("memref.alloc")
def _alloc(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    ty = op.results[0].type
    if memory_space(ty) != "shared" or len(op.operands):
        raise Unsupported(f"the op allocates {ty}; shared memory of a static shape is required")
    size, view = allocation(ty)
    offset = tr.allocate(size)
    tr.uses(ty)

    def step(st: Any) -> None:
        st.v[result] = View(st.block.shared, offset, *view, begin=offset)

    return step


MOST_PRIVATE = 1 << 19
"""Private memory per thread in bytes (CUDA's programming guide, "Compute capabilities")."""


@operation("memref.dealloc")
def _dealloc(op: Any, tr: ThreadTranslator) -> None:
    return None


@operation("memref.alloca")
def _alloca(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    ty = op.results[0].type
    if memory_space(ty) == "shared":
        return _alloc(op, tr)
    size, view = allocation(ty)
    if size > MOST_PRIVATE:
        raise Unsupported(
            f"the op allocates {size} B of private memory per thread; the simulator supports at most {MOST_PRIVATE} B"
        )

    def step(st: Any) -> None:
        st.v[result] = View(PrivateBuffer("private memory", st.lanes, size), 0, *view)

    return step


@operation("gpu.dynamic_shared_memory")
def _dynamic_shared_memory(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    dtype = memory_dtype(op.results[0].type)

    def step(st: Any) -> None:
        begin = st.block.dynamic_begin
        size = dtype.itemsize
        shape = ((st.block.shared.size - begin) // size,)
        st.v[result] = View(st.block.shared, begin, shape, (size,), dtype, begin=begin)

    return step


@operation("memref.view")
def _view(op: Any, tr: ThreadTranslator) -> Step:
    source, shift, *sizes = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    ty = op.results[0].type
    shape, dtype = mixed(list(ty.shape), sizes), memory_dtype(ty)
    tr.uses(ty)
    constant = isinstance(op.operands[1], ir.OpResult) and op.operands[1].owner.name == "arith.constant"
    if ty.has_static_shape and constant:
        first = ir.IntegerAttr(op.operands[1].owner.attributes["value"]).value
        tr.dynamic_bytes = max(tr.dynamic_bytes, first + math.prod(ty.shape) * dtype.itemsize)

    def step(st: Any) -> None:
        memory: View = st.v[source]
        lengths = tuple(st.v[value] if is_slot else value for is_slot, value in shape)
        by, strides = dtype.itemsize, []
        for size in reversed(lengths):
            strides.append(by)
            by = by * size
        begin, end = st.v[shift], st.v[shift] + by
        if (np.asarray(end) > np.asarray(memory.shape[0])).any():
            st.report(
                "out-of-bounds",
                f"the view of bytes [{begin}, {end}) is out of bounds: the memory has {memory.shape[0]} B",
                site,
            )
        first = memory.offset + begin
        st.v[result] = View(memory.buffer, first, lengths, tuple(reversed(strides)), dtype, begin=first)

    return step


def _value(st: Any, item: tuple[bool, int]) -> Any:
    is_slot, value = item
    return st.v[value] if is_slot else value


@operation("memref.subview")
def _subview(op: Any, tr: ThreadTranslator) -> Step:
    segments = attribute(op, "operandSegmentSizes")
    source, *dynamic = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    offsets = mixed(attribute(op, "static_offsets"), dynamic[: segments[1]])
    sizes = mixed(attribute(op, "static_sizes"), dynamic[segments[1] : segments[1] + segments[2]])
    steps = mixed(attribute(op, "static_strides"), dynamic[segments[1] + segments[2] :])
    kept = kept_dimensions(
        [ir.ShapedType.get_dynamic_size() if s else n for s, n in sizes], list(op.results[0].type.shape)
    )
    tr.uses(op.results[0].type)
    is_slot, first = offsets[0] if offsets else (False, 0)

    def step(st: Any) -> None:
        memory: View = st.v[source]
        offset = memory.offset
        shape, strides = [], []
        taken = memory.slots
        if is_slot and memory.buffer.shared and st.v[first].__class__ is int and memory.offset.__class__ is int:
            taken = (*taken, Slot(site.number, memory.offset, st.v[first]))
        for item, length, by, size, stride in zip(offsets, sizes, steps, memory.shape, memory.strides, strict=True):
            start, count, times = _value(st, item), _value(st, length), _value(st, by)
            offset = offset + start * stride
            shape.append(count)
            strides.append(stride * times)
            if memory.limit is None:
                _check(st, start, count, times, size, len(shape) - 1, memory, site)
        st.v[result] = replace(
            memory,
            offset=offset,
            shape=tuple(shape[i] for i in kept),
            strides=tuple(strides[i] for i in kept),
            slots=taken,
        )

    return step


def _check(st: Any, start: Any, count: Any, times: Any, size: Any, dimension: int, memory: View, site: Any) -> None:
    """Reports a nonempty view that is out of bounds."""
    last = start + (count - 1) * times
    bad = (np.asarray(count) > 0) & ((np.asarray(start) < 0) | (np.asarray(last) >= size))
    if not bad.any():
        return
    bad = np.broadcast_to(bad, (st.lanes,))
    if st.mask is not None:
        bad = bad & st.mask
    if not bad.any() or not memory.buffer.shared:
        # A view of global memory is reported when it is accessed.
        return
    lane = int(np.flatnonzero(bad)[0])
    begin, end, of = (int(x[lane]) if isinstance(x, np.ndarray) else int(x) for x in (start, last, size))
    message = f"the view of {memory.buffer.name} is out of bounds: indices {begin} to {end} in dimension {dimension}, whose size is {of}"
    st.report("out-of-bounds", message, site, lane)


@operation("memref.cast", "memref.memory_space_cast", "memref.assume_alignment", "memref.distinct_objects")
def _cast(op: Any, tr: ThreadTranslator) -> Step:
    operands, results = tr.operands(op), tr.results(op)
    moves = tr.moves(operands[: len(results)], results)
    if op.name != "memref.cast":
        return moves
    wrong, site = promised(op), tr.site(op)

    def step(st: Any) -> None:
        if (message := wrong(st.v[operands[0]])) is not None:
            st.stop("assertion", message, site)
        moves(st)

    return step


@operation("memref.transpose")
def _transpose(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (result,) = tr.operands(op), tr.results(op)
    permutation = ir.AffineMapAttr(op.attributes["permutation"]).value
    order = [ir.AffineDimExpr(found).position for found in permutation.results]

    def step(st: Any) -> None:
        memory: View = st.v[source]
        st.v[result] = replace(
            memory, shape=tuple(memory.shape[i] for i in order), strides=tuple(memory.strides[i] for i in order)
        )

    return step


@operation("memref.expand_shape")
def _expand(op: Any, tr: ThreadTranslator) -> Step:
    source, *sizes = tr.operands(op)
    (result,) = tr.results(op)
    items = mixed(attribute(op, "static_output_shape"), sizes)
    groups = attribute(op, "reassociation")

    def step(st: Any) -> None:
        memory: View = st.v[source]
        shape = tuple(_value(st, item) for item in items)
        strides: list[Any] = [0] * len(shape)
        for stride, group in zip(memory.strides, groups, strict=True):
            by = stride
            for i in reversed(group):
                strides[i] = by
                by = by * shape[i]
        st.v[result] = replace(memory, shape=shape, strides=tuple(strides))

    return step


@operation("memref.collapse_shape")
def _collapse(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (result,) = tr.operands(op), tr.results(op)
    groups = attribute(op, "reassociation")

    def step(st: Any) -> None:
        memory: View = st.v[source]
        shape, strides = [], []
        for group in groups:
            size = memory.shape[group[0]]
            for i in group[1:]:
                size = size * memory.shape[i]
            shape.append(size)
            # The stride of a group is that of its last dimension that is longer than one.
            longer = [i for i in group if memory.shape[i].__class__ is not int or memory.shape[i] != 1]
            strides.append(memory.strides[longer[-1] if longer else group[-1]])
        st.v[result] = replace(memory, shape=tuple(shape), strides=tuple(strides))

    return step


@operation("memref.reinterpret_cast")
def _reinterpret(op: Any, tr: ThreadTranslator) -> Step:
    segments = attribute(op, "operandSegmentSizes")
    source, *dynamic = tr.operands(op)
    (result,) = tr.results(op)
    (offset,) = mixed(attribute(op, "static_offsets"), dynamic[: segments[1]])
    sizes = mixed(attribute(op, "static_sizes"), dynamic[segments[1] : segments[1] + segments[2]])
    strides = mixed(attribute(op, "static_strides"), dynamic[segments[1] + segments[2] :])
    tr.uses(op.results[0].type)

    def step(st: Any) -> None:
        memory: View = st.v[source]
        size = memory.dtype.itemsize
        st.v[result] = replace(
            memory,
            offset=memory.begin + _value(st, offset) * size,
            shape=tuple(_value(st, item) for item in sizes),
            strides=tuple(_value(st, item) * size for item in strides),
        )

    return step


@operation("memref.extract_strided_metadata")
def _metadata(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (base, offset, *rest) = tr.operands(op), tr.results(op)

    def step(st: Any) -> None:
        memory: View = st.v[source]
        st.block.slots.needed(memory.slots)
        size = memory.dtype.itemsize
        st.v[base] = replace(memory, offset=memory.begin, shape=(), strides=())
        st.v[offset] = (memory.offset - memory.begin) // size
        for slot, value in zip(rest, (*memory.shape, *(by // size for by in memory.strides)), strict=True):
            st.v[slot] = value

    return step


@operation("memref.dim")
def _dim(op: Any, tr: ThreadTranslator) -> Step:
    source, index = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)

    def step(st: Any) -> None:
        which = st.require_uniform(
            st.v[index], "threads pass different dimensions; the dimension must be uniform", site
        )
        shape = st.v[source].shape
        if not 0 <= which < len(shape):
            st.stop(
                "assertion",
                f"the op reads the size of dimension {which}; the memref has rank {len(shape)}, so the dimension must be from 0 to {len(shape) - 1}",
                site,
            )
        st.v[result] = shape[which]

    return step


@operation("memref.load")
def _load(op: Any, tr: ThreadTranslator) -> Step:
    (source, *_), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    indices = index_reader(op, tr, 1)
    if str(op.operands[0].type.element_type) in PACKED:
        return _load_of_packed(op, tr, indices)
    tr.uses(op.operands[0].type)
    memory_dtype(op.operands[0].type)

    def step(st: Any) -> None:
        st.v[result] = st.load(st.v[source], indices(st), (), site)

    return step


def _load_of_packed(op: Any, tr: ThreadTranslator, indices: Callable[[Any], list[Any]]) -> Step:
    """A load of the byte of an element of an argument."""
    (source, *_), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    ty = op.operands[0].type.element_type
    count, held = PACKED[str(ty)], held_dtype(ty)
    assert held is not None
    bits = 8 // count
    # Arguments are in global memory.
    tr.smallest = 1

    def step(st: Any) -> None:
        view: View = st.v[source]
        first, mask = st.locate(view, indices(st), (), site, "the load", False)
        number = first - view.begin
        byte = view.begin + number // count
        found = np.asarray(st.load_bytes(view.buffer, byte, view.steps(()), np.dtype(np.uint8), (), mask, site))
        codes = np.asarray(found >> number % count * bits & (1 << bits) - 1).astype(np.uint8)
        st.v[result] = shaped(signed(codes.view(np.int8), bits) if held == np.int8 else codes.view(held), held)

    return step


@operation("memref.store")
def _store(op: Any, tr: ThreadTranslator) -> Step:
    (value, target, *_), site = tr.operands(op), tr.site(op)
    indices = index_reader(op, tr, 2)
    tr.uses(op.operands[1].type)

    def step(st: Any) -> None:
        st.store(st.v[target], indices(st), st.v[value], (), site)

    return step


@operation("memref.copy")
def _copy(op: Any, tr: ThreadTranslator) -> Step:
    """Each thread copies all elements."""
    (source, target), site = tr.operands(op), tr.site(op)
    memory_dtype(op.operands[0].type)
    for value in op.operands:
        tr.uses(value.type)

    def step(st: Any) -> None:
        views: list[View] = [st.v[source], st.v[target]]
        shapes = [[st.uniform(size) for size in view.shape] for view in views]
        if None in (*shapes[0], *shapes[1]) or any(isinstance(by, np.ndarray) for v in views for by in v.strides):
            st.stop(
                "divergence",
                "the shape or a stride of a memref of the copy differs between threads; the simulator supports only uniform ones",
                site,
            )
        if shapes[0] != shapes[1]:
            st.stop(
                "assertion",
                f"the source of the copy has shape {shapes[0]}, but the destination has shape {shapes[1]}; the shapes must "
                "be equal",
                site,
            )
        shape = tuple(shapes[0])
        if not math.prod(shape):
            return
        if math.prod(shape) > MOST_COPIED:
            st.stop(
                "assertion",
                f"each thread copies {math.prod(shape)} elements; the simulator supports at most {MOST_COPIED} per op",
                site,
            )
        first, mask = st.locate(views[0], [0] * len(shape), shape, site, "the copy", False)
        found = bounds.load(st, views[0], first, views[0].steps(shape), shape, mask, site, "the copy")
        st.store(views[1], [0] * len(shape), found, shape, site, "the copy")

    return step


MOST_COPIED = 1 << 20
"""The most elements that each thread may copy."""


@operation("memref.rank")
def _rank(op: Any, tr: ThreadTranslator) -> Step:
    (result,), rank = tr.results(op), len(op.operands[0].type.shape)

    def step(st: Any) -> None:
        st.v[result] = rank

    return step


@operation("memref.reshape")
def _reshape(op: Any, tr: ThreadTranslator) -> Step:
    (source, lengths), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    ty = op.results[0].type
    if not isinstance(ty, ir.MemRefType):
        raise Unsupported(f"the result has type {ty}; only a ranked memref is supported")
    sizes, dynamic = list(ty.shape), ir.ShapedType.get_dynamic_size()

    def step(st: Any) -> None:
        memory: View = st.v[source]
        shape = []
        for i, size in enumerate(sizes):
            shape.append(size if size != dynamic else st.load(st.v[lengths], [i], (), site))
        strides, by = [], memory.dtype.itemsize
        for size in reversed(shape):
            strides.append(by)
            by = by * size
        st.v[result] = replace(memory, shape=tuple(shape), strides=tuple(reversed(strides)))

    return step


@operation("memref.prefetch", "affine.prefetch")
def _prefetch(op: Any, tr: ThreadTranslator) -> None:
    """An op that only affects performance."""
