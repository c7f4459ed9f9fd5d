# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`memref`, and the views of `mosaic_gpu`. Transforms of shared memory (tiles, swizzles) do not change the indices of
elements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ... import ir
from ...dialects.mosaic_gpu import TmemAttr
from ...errors import LaunchError
from ..machine.findings import Site
from ..machine.machine import Group, State
from ..machine.memory import MemRef, Private
from ..machine.races import SAME
from ..machine.values import Packing, collapse, integer_bits, numpy_type, packing, spread
from ..translation.translator import Step, Translator, Unsupported, attribute, operation, plain, strides_and_offset
from .arith import type_of

BARRIER = "!mosaic_gpu.barrier"
BARRIER_BYTES = 8


_SPACES = {0: "global", 1: "global", 3: "shared", 5: "private"}
_SPACES |= {"global": "global", "workgroup": "shared", "private": "private"}
"""The memory spaces of integers and of the keywords of `gpu.address_space`."""


def memory_space(ty: Any) -> str:
    """`global`, `shared`, `private`, `tensor`, or MLIR's name."""
    space = ty.memory_space
    if space is None:
        return "global"
    if isinstance(space, TmemAttr):
        return "tensor"
    return _SPACES.get(plain(space), str(space))


def memory_type(ty: Any) -> np.dtype[Any]:
    """The numpy type of the elements of memory; an mbarrier is a 64-bit number."""
    if str(ty.element_type).startswith(BARRIER):
        return np.dtype(np.int64)
    return type_of(ty)


def static_layout(ty: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides of a type, in elements."""
    if not ty.has_static_shape:
        raise Unsupported(f"the shape of {ty} is dynamic; a static shape is required")
    strides, _ = strides_and_offset(ty)
    if any(step == ir.ShapedType.get_dynamic_stride_or_offset() for step in strides):
        raise Unsupported(f"the strides of {ty} are dynamic; static strides are required")
    return tuple(ty.shape), tuple(strides)


def byte_layout(ty: Any) -> tuple[tuple[int, ...], tuple[int, ...], np.dtype[Any], Packing | None]:
    """Shape, strides in bytes, and type of memory; for packed elements those of the bytes, with the packing."""
    shape, strides = static_layout(ty)
    how = packing(ty.element_type, 0)
    if how is None:
        dtype = memory_type(ty)
        return shape, tuple(step * dtype.itemsize for step in strides), dtype, None
    rows = [i for i, size in enumerate(shape) if strides[i] == 1 and size % how.count == 0]
    if not rows or any(step % how.count for i, step in enumerate(strides) if i != rows[-1] and shape[i] != 1):
        raise Unsupported(
            f"the rows of {ty} do not consist of whole bytes; use sizes and strides that are multiples of {how.count} elements"
        )
    how = replace(how, dimension=rows[-1])
    steps = tuple(1 if i == how.dimension else step // how.count for i, step in enumerate(strides))
    return tuple(how.in_bytes(shape)), steps, np.dtype(np.int8), how


def _uses(ty: Any, translator: Translator, offset: int = 0) -> None:
    if memory_space(ty) != "shared":
        return
    if not ty.has_static_shape:
        translator.uses_shared(memory_type(ty).itemsize)
        return
    shape, strides, dtype, _ = byte_layout(ty)
    translator.uses_shared(dtype.itemsize)
    end = offset + sum((n - 1) * step for n, step in zip(shape, strides, strict=True)) + dtype.itemsize
    translator.uses_shared(offset or 16, end)
    for step in strides:
        translator.uses_shared(step or 16)


@operation("mosaic_gpu.slice_smem")
def _slice_smem(op: ir.Operation, translator: Translator) -> Step:
    (result,) = translator.results(op)
    ty = op.results[0].type
    shape, strides, dtype, how = byte_layout(ty)
    offset = attribute(op, "offset")
    _uses(ty, translator, offset)

    def step(st: Group) -> None:
        st.v[result] = MemRef(st.block.shared, offset, shape, strides, dtype, packing=how, begin=offset)

    return step


@operation("memref.alloc")
def _alloc(op: ir.Operation, translator: Translator) -> Step:
    (result,) = translator.results(op)
    ty = op.results[0].type
    if memory_space(ty) != "shared" or len(op.operands):
        raise Unsupported(f"the op allocates {ty}; a static shape in shared memory is required")
    shape, strides = static_layout(ty)
    dtype = memory_type(ty)
    translator.allocated = max(translator.allocated, translator.shared_end)
    offset = -(-translator.allocated // 1024) * 1024
    _uses(ty, translator, offset)
    translator.allocated = offset + math.prod(shape) * dtype.itemsize
    translator.uses_shared(16, translator.allocated)
    steps = tuple(step * dtype.itemsize for step in strides)

    def step(st: Group) -> None:
        st.v[result] = MemRef(st.block.shared, offset, shape, steps, dtype, begin=offset)

    return step


@operation("memref.dealloc")
def _dealloc(op: ir.Operation, translator: Translator) -> None:
    return None


@operation("memref.alloca")
def _alloca(op: Any, translator: Translator) -> Step:
    (result,) = translator.results(op)
    ty = op.results[0].type
    shape, _ = static_layout(ty)
    dtype = type_of(ty)
    default: Any = 0 if integer_bits(ty.element_type) else dtype.type(math.nan)

    def step(st: State) -> None:
        st.v[result] = Private(shape, default, dtype)

    return step


def mixed(static: list[int], dynamic: list[int]) -> list[tuple[bool, int]]:
    """Constants, and slots of dynamic values."""
    rest = iter(dynamic)
    placeholder = ir.ShapedType.get_dynamic_stride_or_offset()
    size = ir.ShapedType.get_dynamic_size()
    return [(True, next(rest)) if value in (placeholder, size) else (False, value) for value in static]


def _number(st: State, item: tuple[bool, int], site: Site) -> int:
    is_slot, value = item
    if not is_slot:
        return value
    found = st.v[value]
    if isinstance(found, np.ndarray):
        st.stop(
            "divergence",
            "threads of the warpgroup pass different sizes, offsets, strides or dimensions; they must be uniform",
            site,
        )
    return int(found)


@operation("memref.subview")
def _subview(op: Any, translator: Translator) -> Step:
    segments = attribute(op, "operandSegmentSizes")
    source, *dynamic = translator.operands(op)
    (result,) = translator.results(op)
    offsets = mixed(attribute(op, "static_offsets"), dynamic[: segments[1]])
    sizes = mixed(attribute(op, "static_sizes"), dynamic[segments[1] : segments[1] + segments[2]])
    steps = mixed(attribute(op, "static_strides"), dynamic[segments[1] + segments[2] :])
    site = translator.site(op)
    dynamic_size = ir.ShapedType.get_dynamic_size()
    kept = kept_dimensions([dynamic_size if s else n for s, n in sizes], list(op.results[0].type.shape))
    _uses(op.results[0].type, translator)
    is_slot, slot = offsets[0] if offsets else (False, 0)

    def step(st: State) -> None:
        memory = st.v[source]
        offset, outside = memory.offset, memory.outside
        strides = []
        if is_slot and memory.buffer.shared and st.v[slot].__class__ is int and st.v[slot]:
            st.machine.effective.add((site.number, "shared"))
        starts, how = [_number(st, item, site) for item in offsets], memory.packing
        counts = [_number(st, item, site) for item in sizes]
        if how is not None:
            starts, counts = how.in_bytes(starts), how.in_bytes(counts)
        for start, length, by, size, stride in zip(starts, counts, steps, memory.shape, memory.strides, strict=True):
            times = _number(st, by, site)
            if times != 1 and how is not None and how.dimension == len(strides):
                raise LaunchError(
                    f"the view has stride {times} in dimension {len(strides)}; for elements smaller than a byte, the stride must be 1"
                )
            last = start + (length - 1) * times
            if outside is None and length and not (min(start, last) >= 0 and max(start, last) < size):
                dimension = len(strides)
                outside = (
                    f"{memory.buffer.name} through an out-of-bounds view: indices {start} to {last} in dimension "
                    f"{dimension}, whose size is {size}"
                )
            offset += start * stride
            strides.append(stride * times)
        st.v[result] = MemRef(
            memory.buffer,
            offset,
            tuple(counts[i] for i in kept),
            tuple(strides[i] for i in kept),
            memory.dtype,
            outside,
            how.of(kept) if how else None,
            memory.begin,
        )

    return step


def kept_dimensions(sizes: list[int], wanted: list[int]) -> list[int]:
    """The dimensions that a rank-reduced result keeps; dropped dimensions have size one."""
    ones = [i for i, size in enumerate(sizes) if size == 1]
    for dropped in itertools.combinations(ones, len(sizes) - len(wanted)):
        kept = [i for i in range(len(sizes)) if i not in dropped]
        if [sizes[i] for i in kept] == wanted:
            return kept
    raise Unsupported(f"the view has sizes {sizes}, but its type has shape {wanted}; a type may drop only sizes of 1")


def promised(op: ir.Operation) -> Callable[[Any], str | None]:
    """A function that checks memory against the static sizes that a cast adds."""
    given, wanted = op.operands[0].type, op.results[0].type
    if not isinstance(given, ir.MemRefType) or not isinstance(wanted, ir.MemRefType) or given.rank != wanted.rank:
        return lambda memory: None
    known = [i for i in range(wanted.rank) if given.is_dynamic_dim(i) and not wanted.is_dynamic_dim(i)]
    stated = {i: wanted.shape[i] for i in known}

    def wrong(memory: Any) -> str | None:
        for dimension, size in stated.items():
            if np.any(np.asarray(memory.shape[dimension]) != size):
                return f"the result type of the cast states size {size} for dimension {dimension}; the actual size is {memory.shape[dimension]}"
        return None

    return wrong


@operation("memref.cast", "mosaic_gpu.with_transforms", "memref.memory_space_cast")
def _cast(op: ir.Operation, translator: Translator) -> Step:
    (source,), (result,) = translator.operands(op), translator.results(op)
    wrong, site = promised(op), translator.site(op)

    def step(st: State) -> None:
        memory = st.v[source]
        if memory.__class__ is MemRef and (message := wrong(memory)) is not None:
            st.stop("assertion", message, site)
        st.v[result] = memory

    return step


@operation("memref.transpose")
def _transpose(op: ir.Operation, translator: Translator) -> Step:
    (source,), (result,) = translator.operands(op), translator.results(op)
    permutation = ir.AffineMapAttr(op.attributes["permutation"]).value
    order = [ir.AffineDimExpr(found).position for found in permutation.results]

    def step(st: State) -> None:
        memory = st.v[source]
        shape, strides = tuple(memory.shape[i] for i in order), tuple(memory.strides[i] for i in order)
        how = memory.packing.of(order) if memory.packing else None
        st.v[result] = replace(memory, shape=shape, strides=strides, packing=how)

    return step


@operation("memref.expand_shape")
def _expand(op: ir.Operation, translator: Translator) -> Step:
    source, *sizes = translator.operands(op)
    (result,), site = translator.results(op), translator.site(op)
    items = mixed(attribute(op, "static_output_shape"), sizes)
    groups = attribute(op, "reassociation")

    def step(st: State) -> None:
        memory = st.v[source]
        shape = tuple(_number(st, item, site) for item in items)
        for size, group in zip(memory.shape, groups, strict=True):
            if math.prod(shape[i] for i in group) != size:
                st.stop(
                    "assertion",
                    f"a dimension of size {size} cannot be expanded to the sizes {' x '.join(str(shape[i]) for i in group)}; their product must be {size}",
                    site,
                )
        strides = [0] * len(shape)
        for stride, group in zip(memory.strides, groups, strict=True):
            by = stride
            for i in reversed(group):
                strides[i] = by
                by *= shape[i]
        st.v[result] = replace(memory, shape=shape, strides=tuple(strides))

    return step


@operation("memref.collapse_shape")
def _collapse(op: ir.Operation, translator: Translator) -> Step:
    (source,), (result,) = translator.operands(op), translator.results(op)
    groups = attribute(op, "reassociation")

    def step(st: State) -> None:
        memory = st.v[source]
        shape = tuple(math.prod(memory.shape[i] for i in group) for group in groups)
        strides = []
        for group in groups:
            # The stride of a group is that of its last dimension with a size above one.
            longer = [i for i in group if memory.shape[i] != 1]
            strides.append(memory.strides[longer[-1] if longer else group[-1]])
        st.v[result] = replace(memory, shape=shape, strides=tuple(strides))

    return step


@operation("memref.extract_strided_metadata")
def _metadata(op: ir.Operation, translator: Translator) -> Step:
    (source,), (base, offset, *rest) = translator.operands(op), translator.results(op)

    def step(st: State) -> None:
        memory, size = st.v[source], st.v[source].dtype.itemsize
        st.v[base] = replace(memory, offset=memory.begin, shape=(), strides=())
        st.v[offset] = (memory.offset - memory.begin) // size
        for slot, value in zip(rest, (*memory.shape, *(by // size for by in memory.strides)), strict=True):
            st.v[slot] = value

    return step


@operation("memref.reinterpret_cast")
def _reinterpret_with_strides(op: ir.Operation, translator: Translator) -> Step:
    segments = attribute(op, "operandSegmentSizes")
    source, *dynamic = translator.operands(op)
    (result,) = translator.results(op)
    (offset,) = mixed(attribute(op, "static_offsets"), dynamic[: segments[1]])
    sizes = mixed(attribute(op, "static_sizes"), dynamic[segments[1] : segments[1] + segments[2]])
    strides = mixed(attribute(op, "static_strides"), dynamic[segments[1] + segments[2] :])
    site = translator.site(op)

    def step(st: State) -> None:
        memory = st.v[source]
        size = memory.dtype.itemsize
        st.v[result] = replace(
            memory,
            offset=memory.begin + _number(st, offset, site) * size,
            shape=tuple(_number(st, item, site) for item in sizes),
            strides=tuple(_number(st, item, site) * size for item in strides),
        )

    return step


@operation("mosaic_gpu.reinterpret_cast")
def _reinterpret(op: Any, translator: Translator) -> Step:
    (source,), (result,) = translator.operands(op), translator.results(op)
    shape, strides = static_layout(op.results[0].type)
    _, first = strides_and_offset(op.results[0].type)
    if first not in (0, ir.ShapedType.get_dynamic_stride_or_offset()):
        raise Unsupported(
            f"the result type {op.results[0].type} has a static offset other than 0; its offset must be 0 or dynamic"
        )

    def step(st: State) -> None:
        memory = st.v[source]
        steps = tuple(by * memory.dtype.itemsize for by in strides)
        st.v[result] = replace(memory, shape=shape, strides=steps)

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Single elements
# ---------------------------------------------------------------------------------------------------------------------


def index_error(index: int, size: int, dimension: int) -> str | None:
    """Why the index is out of bounds, or None."""
    if 0 <= index < size:
        return None
    return f"the index {index} of dimension {dimension} is out of bounds; the size is {size}"


def element_at(st: State, memory: MemRef, indices: list[int], site: Site) -> MemRef | None:
    """The element at indices, or None after a finding."""
    offset = memory.offset
    for dimension, (index, size, stride) in enumerate(zip(indices, memory.shape, memory.strides, strict=True)):
        if not 0 <= index < size:
            st.report(
                "out-of-bounds",
                f"index {index} of {memory.buffer.name} is out of bounds: dimension {dimension} has size {size}",
                site,
            )
            return None
        offset += index * stride
    return MemRef(memory.buffer, offset, (), (), memory.dtype, memory.outside)


def _private_place(st: State, memory: Private, indices: list[Any], site: Site) -> tuple[int, ...] | None:
    place = []
    for index, size in zip(indices, memory.shape, strict=True):
        if isinstance(index, np.ndarray):
            st.stop(
                "divergence",
                "threads access different elements of private memory; in a block-level kernel, the indices must be uniform",
                site,
            )
        if not 0 <= index < size:
            st.report(
                "out-of-bounds",
                f"index {index} is out of bounds: this dimension of the private memory has size {size}",
                site,
            )
            return None
        place.append(int(index))
    return tuple(place)


@operation("memref.load")
def _load(op: ir.Operation, translator: Translator) -> Step:
    source, *indices = translator.operands(op)
    (result,) = translator.results(op)
    site, dtype = translator.site(op), numpy_type(op.results[0].type)
    if dtype is None:
        raise Unsupported.wrong_type("the element", op.results[0].type)
    integer = dtype.kind in "ib"

    def convert(found: Any) -> Any:
        return int(found) if integer else found

    def step(st: Group) -> None:
        memory = st.v[source]
        at = [st.v[i] for i in indices]
        if memory.__class__ is Private:
            place = _private_place(st, memory, at, site)
            st.v[result] = memory.default if place is None else memory.load(place, st)
            return
        if not any(isinstance(i, np.ndarray) for i in at):
            element = element_at(st, memory, at, site)
            fine = element is not None and st.touch(element, False, "the load", site, SAME)
            st.v[result] = convert(element.array()[()]) if fine and element is not None else convert(dtype.type(0))
            return
        lanes = [spread(i, np.dtype(np.int64), st.lanes) for i in at]
        found = np.zeros(st.lanes, dtype)
        for lane in range(st.lanes):
            element = element_at(st, memory, [int(i[lane]) for i in lanes], site)
            if element is not None and st.touch(element, False, "the load", site, ("lane", lane)):
                found[lane] = element.array()[()]
        st.v[result] = collapse(found)

    return step


@operation("memref.store")
def _store(op: ir.Operation, translator: Translator) -> Step:
    value, target, *indices = translator.operands(op)
    site = translator.site(op)

    def put(st: Group, element: MemRef | None, owner: Any, number: Any) -> None:
        if element is None:
            return
        array = element.array()
        alike = lambda: array.tobytes() == np.asarray(number, array.dtype).tobytes()  # noqa: E731
        if st.touch(element, True, "the store", site, owner, alike=alike):
            array[()] = number

    def step(st: Group) -> None:
        memory = st.v[target]
        at = [st.v[i] for i in indices]
        found = st.v[value]
        if memory.__class__ is Private:
            place = _private_place(st, memory, at, site)
            if place is not None:
                memory.store(place, found, st)
            return
        if not any(isinstance(i, np.ndarray) for i in (*at, found)):
            put(st, element_at(st, memory, at, site), SAME, found)
            return
        lanes = [spread(i, np.dtype(np.int64), st.lanes) for i in at]
        numbers = spread(found, memory.dtype, st.lanes)
        for lane in range(st.lanes):
            put(st, element_at(st, memory, [int(i[lane]) for i in lanes], site), ("lane", lane), numbers[lane])

    return step


@operation("memref.dim")
def _dim(op: ir.Operation, translator: Translator) -> Step:
    source, index = translator.operands(op)
    (result,), site = translator.results(op), translator.site(op)

    def step(st: State) -> None:
        memory, at = st.v[source], _number(st, (True, index), site)
        if not 0 <= at < len(memory.shape):
            st.stop(
                "assertion",
                f"the op reads the size of dimension {at}; the memref has rank {len(memory.shape)}, so the dimension must be from 0 to {len(memory.shape) - 1}",
                site,
            )
        how = memory.packing if memory.__class__ is MemRef else None
        st.v[result] = memory.shape[at] * (how.count if how is not None and how.dimension == at else 1)

    return step
