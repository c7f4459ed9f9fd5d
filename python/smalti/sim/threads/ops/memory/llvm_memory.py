# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`llvm`: private memory, block copies, and masked accesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..... import ir
from ....translation.translator import Step, Unsupported
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import spread
from ...execution.memory import PRIVATE_BEGIN, SPACING, PrivateBuffer
from ..arithmetic.llvm import accessed, address_space, constant_of, pointee, pointees
from ..arithmetic.llvm_types import layout_of
from ..arithmetic.vector import element_dtype, shape_of
from .memref import MOST_COPIED, MOST_PRIVATE


@operation("llvm.alloca")
def _alloca(op: Any, tr: ThreadTranslator) -> Step:
    (result,), kept = tr.results(op), tr.temporary()
    size = layout_of(op.attributes["elem_type"].value).size * constant_of(op.operands[0])
    if size > MOST_PRIVATE:
        raise Unsupported(
            f"the op allocates {size} B of private memory per thread; the simulator supports at most {MOST_PRIVATE} B"
        )
    tr.privates.append(kept)
    pointer = PRIVATE_BEGIN + (len(tr.privates) - 1) * SPACING

    def step(st: Any) -> None:
        if st.v[kept] is None:
            st.v[kept] = PrivateBuffer("private memory", st.lanes, size)
        st.v[result] = pointer

    return step


_BYTE = np.dtype(np.uint8)


def _length(st: Any, slot: int, site: Any) -> int:
    found = st.require_uniform(
        st.v[slot],
        "the number of bytes to copy or set differs between threads; the simulator supports only a uniform number",
        site,
    )
    if found > MOST_COPIED:
        st.stop(
            "assertion",
            f"each thread copies or sets {found} B; the simulator supports at most {MOST_COPIED} B per op",
            site,
        )
    return found


def _counted(op: Any, tr: ThreadTranslator, at: int) -> Callable[[Any, Any], int]:
    """A function that returns the number of copied bytes, from an operand or an attribute."""
    if "len" in op.attributes:
        size = ir.IntegerAttr(op.attributes["len"]).value
        return lambda st, site: size
    slot = tr.operands(op)[at]
    return lambda st, site: _length(st, slot, site)


@operation(*(f"llvm.intr.{name}" for name in ("memcpy", "memcpy.inline", "memmove")))
def _copy(op: Any, tr: ThreadTranslator) -> Step:
    target, source = tr.operands(op)[:2]
    site, count = tr.site(op), _counted(op, tr, 2)
    spaces = [address_space(value.type) for value in list(op.operands)[:2]]
    tr.uses_shared(1)
    tr.smallest = 1

    def step(st: Any) -> None:
        size = count(st, site)
        if not size:
            return
        steps = np.arange(size)
        buffer, first = pointee(st, st.v[source], spaces[1], site, "the copy")
        found = st.load_bytes(buffer, first, steps, _BYTE, (size,), st.mask, site, "the copy")
        buffer, first = pointee(st, st.v[target], spaces[0], site, "the copy")
        st.store_bytes(buffer, first, steps, _BYTE, found, (size,), st.mask, site, "the copy")

    return step


@operation("llvm.intr.memset", "llvm.intr.memset.inline")
def _fill(op: Any, tr: ThreadTranslator) -> Step:
    target, value = tr.operands(op)[:2]
    site, count = tr.site(op), _counted(op, tr, 2)
    space = address_space(op.operands[0].type)
    tr.uses_shared(1)
    tr.smallest = 1

    def step(st: Any) -> None:
        size = count(st, site)
        if not size:
            return
        found = np.asarray(st.v[value], np.int8).view(_BYTE)
        wide = np.broadcast_to(found[..., None], (*found.shape, size))
        buffer, first = pointee(st, st.v[target], space, site, "the store")
        st.store_bytes(buffer, first, np.arange(size), _BYTE, wide, (size,), st.mask, site)

    return step


_HERE = np.zeros(1, np.int64)


@operation("llvm.intr.masked.load")
def _masked_load(op: Any, tr: ThreadTranslator) -> Step:
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    dtype, shape, steps = accessed(op.results[0].type, "load", tr)
    space = address_space(op.operands[0].type)

    def step(st: Any) -> None:
        wanted = spread(st.v[slots[1]], np.dtype(np.bool_), st.lanes, 1)
        found = np.zeros((st.lanes, *shape), dtype)
        if len(slots) > 2:
            found[:] = spread(st.v[slots[2]], dtype, st.lanes, 1)
        for buffer, first, mask in pointees(st, st.v[slots[0]], space, site, "the load"):
            for i, by in enumerate(steps.tolist()):
                lanes = wanted[:, i] if mask is None else wanted[:, i] & mask
                part = st.load_bytes(buffer, first + by, _HERE, dtype, (), lanes, site)
                found[:, i] = np.where(lanes, part, found[:, i])
        st.v[result] = found

    return step


@operation("llvm.intr.masked.store")
def _masked_store(op: Any, tr: ThreadTranslator) -> Step:
    (value, pointer, mask_slot), site = tr.operands(op), tr.site(op)
    dtype, _, steps = accessed(op.operands[0].type, "store", tr)
    space = address_space(op.operands[1].type)

    def step(st: Any) -> None:
        wanted = spread(st.v[mask_slot], np.dtype(np.bool_), st.lanes, 1)
        values = spread(st.v[value], dtype, st.lanes, 1)
        for buffer, first, mask in pointees(st, st.v[pointer], space, site, "the store"):
            for i, by in enumerate(steps.tolist()):
                lanes = wanted[:, i] if mask is None else wanted[:, i] & mask
                st.store_bytes(buffer, first + by, _HERE, dtype, values[:, i], (), lanes, site)

    return step


@operation("llvm.intr.vector.deinterleave2")
def _deinterleave(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (result,) = tr.operands(op), tr.results(op)
    dtype, rank = element_dtype(op.operands[0].type), len(shape_of(op.operands[0].type))

    def step(st: Any) -> None:
        x = spread(st.v[source], dtype, st.lanes, rank)
        st.v[result] = (x[..., ::2], x[..., 1::2])

    return step


@operation("llvm.intr.trap", "llvm.intr.debugtrap", "llvm.intr.ubsantrap")
def _trap(op: Any, tr: ThreadTranslator) -> Step:
    site = tr.site(op)

    def step(st: Any) -> None:
        if st.mask is None or st.mask.any():
            st.stop("assertion", "the kernel executes a trap", site, st.first_lane())

    return step
