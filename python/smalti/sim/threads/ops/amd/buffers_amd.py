# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`amdgpu` and `rocdl`: bounds-checked buffers. An out-of-bounds load returns zero; an out-of-bounds store has no effect."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....machine.findings import Site
from ....translation.translator import Step, Unsupported, attribute
from ...execution import bounds
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, dtype_of, spread
from ...execution.memory import View
from ...execution.ordering import DEVICE, Order
from ...execution.polling import polling
from ..arithmetic.llvm import accessed, address_space, pointee
from ..arithmetic.vector import shape_of
from ..memory.atomics import Atomic, function_of
from ..memory.memref import memory_dtype

_WIDE = np.dtype(np.int64)
_SMALL = 0xFFFFFFFF

# ---------------------------------------------------------------------------------------------------------------------
# Memrefs
# ---------------------------------------------------------------------------------------------------------------------


def _span(view: View) -> Any:
    """The size of a buffer in bytes, as MLIR's conversion computes it: of the largest dimension, without the
    offset."""
    longest: Any = view.dtype.itemsize if not view.shape else 0
    for size, stride in zip(view.shape, view.strides, strict=True):
        longest = np.maximum(longest, size * stride)
    return longest if isinstance(longest, np.ndarray) and longest.ndim else int(longest)


@operation("amdgpu.fat_raw_buffer_cast")
def _buffer_cast(op: Any, tr: ThreadTranslator) -> Step:
    segments = attribute(op, "operandSegmentSizes")
    operands, (result,) = tr.operands(op), tr.results(op)
    source, valid = operands[0], operands[1] if segments[1] else None
    checks = attribute(op, "boundsCheck", True) or tr.target.architecture.startswith("CDNA")
    resets = "resetOffset" in op.attributes

    def step(st: Any) -> None:
        view: View = st.v[source]
        begin = view.offset if resets else view.begin
        limit = None
        if checks:
            limit = _span(view) if valid is None else st.v[valid]
        st.v[result] = replace(view, begin=begin, limit=limit)

    return step


def _place(op: Any, tr: ThreadTranslator, skip: int) -> Any:
    """A function that returns a bounds-checked buffer, the byte offset of a raw access, and the part of it from a
    scalar offset. MLIR lets the buffer begin at the start of the memref."""
    segments = attribute(op, "operandSegmentSizes")
    operands = tr.operands(op)[skip:]
    source, indices = operands[0], operands[1 : 1 + segments[skip + 1]]
    scalar = operands[-1] if segments[-1] else None
    more = attribute(op, "indexOffset", 0)
    checks = attribute(op, "boundsCheck", True) or tr.target.architecture.startswith("CDNA")
    ty: Any = op.operands[skip].type
    memory_dtype(ty)
    tr.uses(ty)

    def place(st: Any) -> tuple[View, Any, Any]:
        view: View = st.v[source]
        size = view.dtype.itemsize
        first = view.offset + more * size
        extra: Any = 0
        for index, stride in zip(indices, view.strides, strict=True):
            value = st.v[index]
            first = first + (value.astype(np.int64) if isinstance(value, np.ndarray) else value) * stride
        if scalar is not None:
            extra = st.v[scalar] * size
        limit = _span(view) if checks else 1 << 32
        return replace(view, begin=view.offset, limit=limit), first + extra, extra

    return place


@operation("amdgpu.raw_buffer_load")
def _raw_load(op: Any, tr: ThreadTranslator) -> Step:
    place = _place(op, tr, 0)
    (result,), site, shape = tr.results(op), tr.site(op), shape_of(op.results[0].type)

    def step(st: Any) -> None:
        view, first, scalar = place(st)
        steps = np.arange(math.prod(shape)) * view.dtype.itemsize
        st.v[result] = bounds.load(st, view, first, steps, shape, st.mask, site, scalar=scalar)

    return step


@operation("amdgpu.raw_buffer_store")
def _raw_store(op: Any, tr: ThreadTranslator) -> Step:
    place = _place(op, tr, 1)
    value, site, shape = tr.operands(op)[0], tr.site(op), shape_of(op.operands[0].type)

    def step(st: Any) -> None:
        view, first, scalar = place(st)
        steps = np.arange(math.prod(shape)) * view.dtype.itemsize
        bounds.store(st, view, first, steps, st.v[value], shape, st.mask, site, scalar=scalar)

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Atomic operations
# ---------------------------------------------------------------------------------------------------------------------

_ATOMICS = {"fadd": "fadd", "fmax": "fmax", "smax": "max", "umin": "umin", "cmpswap": "xchg"}
"""LLVM's names of atomic operations."""


def _updating(op: Any, tr: ThreadTranslator, name: str) -> Any:
    """A function that updates each lane's element, one after the other, if it is in bounds; it returns the old values,
    or zeros."""
    dtype, shape = dtype_of(op.operands[0].type), shape_of(op.operands[0].type)
    if dtype is None:
        raise Unsupported.wrong_type("the operand", op.operands[0].type)
    atomic = Atomic(op, tr, dtype, math.prod(shape), Order(DEVICE))
    combine = function_of(_ATOMICS[name], dtype)

    def update(st: Any, view: View, first: Any, scalar: Any, slots: list[int], mask: Array | None) -> Array:
        new, *wanted = (spread(st.v[slot], dtype, st.lanes, len(shape)).reshape(st.lanes, -1) for slot in slots)
        at = spread(first, _WIDE, st.lanes)
        rows = np.broadcast_to(bounds.inside(view, at, atomic.steps, dtype.itemsize, scalar).all(-1), (st.lanes,))
        if mask is not None:
            rows = rows & mask
        found, _ = atomic.update(
            st, view.buffer, at, lambda there, lanes: combine(there, new[lanes]), rows, wanted[0] if wanted else None
        )
        return found.reshape(st.lanes, *shape)

    return update


@operation(*(f"amdgpu.raw_buffer_atomic_{name}" for name in _ATOMICS))
def _raw_atomic(op: Any, tr: ThreadTranslator) -> Step | None:
    name = op.name.rpartition("_")[2]
    given = 2 if name == "cmpswap" else 1
    place, update = _place(op, tr, given), _updating(op, tr, name)
    slots, results = tr.operands(op)[:given], tr.results(op)

    def step(st: Any) -> None:
        view, first, scalar = place(st)
        found = update(st, view, first, scalar, slots, st.mask)
        for result in results:
            st.v[result] = found

    return polling(op, tr, step)


# ---------------------------------------------------------------------------------------------------------------------
# Buffer resources
# ---------------------------------------------------------------------------------------------------------------------

_FIRST = 1 << 58
"""The number of the first resource, among pointers."""


@dataclass(frozen=True)
class Resource:
    """A buffer resource."""

    base: int
    space: int
    """The pointer to its first byte."""
    limit: int
    """Its size in bytes."""


@operation("rocdl.make.buffer.rsrc")
def _make_resource(op: Any, tr: ThreadTranslator) -> Step:
    """CDNA3 ISA, "Buffer Resource Descriptor"; RDNA3 ISA, "Buffer Addressing: Range checking"."""
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    space, architecture = address_space(op.operands[0].type), tr.target.architecture
    if address_space(op.results[0].type) != 8:
        raise Unsupported(f"the buffer resource has type {op.results[0].type}; it must be !llvm.ptr<8>")

    def made(st: Any, base: int, stride: int, records: int, flags: int) -> int:
        if stride >> 14 & 3 or flags >> 23 & 1:
            st.stop(
                "assertion",
                "the buffer resource enables swizzling, or the lane is added to the index, which the simulator does not support; clear these bits of the resource",
                site,
            )
        limit = records if architecture == "GFX12.5" else records & _SMALL
        if architecture.startswith("RDNA") and flags >> 28 & 3 != 3:
            # Not bytes are checked, but that there is something.
            limit = 1 << 33 if limit else 0
        known = st.block.resources
        resource = Resource(base, space, limit)
        return known.setdefault(resource, _FIRST + len(known))

    def step(st: Any) -> None:
        parts = [st.v[slot] for slot in slots]
        if not any(isinstance(part, np.ndarray) for part in parts):
            st.v[result] = made(st, *map(int, parts))
            return
        rows = np.stack([spread(part, _WIDE, st.lanes) for part in parts], 1)
        if st.mask is not None:
            rows = np.where(st.mask[:, None], rows, rows[st.mask][:1])
        some, which = np.unique(rows, axis=0, return_inverse=True)
        numbers = np.array([made(st, *row) for row in some.tolist()])
        st.v[result] = numbers[which.reshape(-1)] if len(numbers) > 1 else int(numbers[0])

    return step


def buffers_of(st: Any, pointer: Any, site: Site, what: str) -> Iterator[tuple[View, Array | None]]:
    """The buffers that lanes access, and the lanes of each."""
    known = {number: resource for resource, number in st.block.resources.items()}
    running = pointer if st.mask is None or not isinstance(pointer, np.ndarray) else pointer[st.mask]
    for number in np.unique(running).tolist():
        if number not in known:
            st.stop(
                "out-of-bounds",
                f"{what} uses a buffer resource that the kernel did not create; create it with rocdl.make.buffer.rsrc",
                site,
            )
        resource = known[number]
        mask = st.mask
        if isinstance(pointer, np.ndarray):
            mask = pointer == number if mask is None else mask & (pointer == number)
        buffer, first = pointee(st, resource.base, resource.space, site, what)
        yield View(buffer, first, (), (), np.dtype(np.uint8), resource.limit, first), mask


def byte_in(view: View, offset: Any, scalar: Any) -> tuple[Any, Any]:
    """The byte offset in a buffer, and the part of it from the scalar offset."""
    offset, scalar = (
        value.astype(np.int64) & _SMALL if isinstance(value, np.ndarray) else value & _SMALL
        for value in (offset, scalar)
    )
    return view.begin + offset + scalar, scalar


@operation("rocdl.raw.ptr.buffer.load")
def _buffer_load(op: Any, tr: ThreadTranslator) -> Step:
    (resource, offset, scalar, _), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    dtype, shape, steps = accessed(op.results[0].type, "load", tr)

    def step(st: Any) -> None:
        found: Any = np.zeros(shape, dtype)
        for view, mask in buffers_of(st, st.v[resource], site, "the load"):
            first, more = byte_in(view, st.v[offset], st.v[scalar])
            value = bounds.load(st, replace(view, dtype=dtype), first, steps, shape, mask, site, scalar=more)
            if mask is None or mask is st.mask:
                found = value
            else:
                found = np.where(mask.reshape((-1, *(1 for _ in shape))), value, found)
        st.v[result] = found

    return step


@operation("rocdl.raw.ptr.buffer.store")
def _buffer_store(op: Any, tr: ThreadTranslator) -> Step:
    (value, resource, offset, scalar, _), site = tr.operands(op), tr.site(op)
    dtype, shape, steps = accessed(op.operands[0].type, "store", tr)

    def step(st: Any) -> None:
        for view, mask in buffers_of(st, st.v[resource], site, "the store"):
            first, more = byte_in(view, st.v[offset], st.v[scalar])
            bounds.store(st, replace(view, dtype=dtype), first, steps, st.v[value], shape, mask, site, scalar=more)

    return step


@operation(*(f"rocdl.raw.ptr.buffer.atomic.{name}" for name in _ATOMICS))
def _buffer_atomic(op: Any, tr: ThreadTranslator) -> Step | None:
    name = op.name.rpartition(".")[2]
    given = 2 if name == "cmpswap" else 1
    slots, results, site = tr.operands(op), tr.results(op), tr.site(op)
    resource, offset, scalar = slots[given : given + 3]
    update = _updating(op, tr, name)

    def step(st: Any) -> None:
        found: Any = 0
        for view, mask in buffers_of(st, st.v[resource], site, "the atomic access"):
            first, more = byte_in(view, st.v[offset], st.v[scalar])
            part = update(st, view, first, more, slots[:given], mask)
            found = part if mask is None else np.where(mask.reshape(-1, *(1,) * (part.ndim - 1)), part, found)
        for result in results:
            st.v[result] = found

    return polling(op, tr, step)


__all__ = ["Resource", "buffers_of", "byte_in"]
