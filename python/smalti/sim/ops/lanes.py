# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Per-thread vectors in `custom_primitive`: arrays with an additional leading dimension, the thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ... import instructions, ir
from ...diagnostics import counted
from ...dialects import mosaic_gpu
from ..machine.machine import Group, State
from ..machine.memory import Array
from ..machine.values import collapse, is_vector, numpy_type, spread
from ..translation.translator import (
    THREAD_OPERATIONS,
    Step,
    Translator,
    Unsupported,
    attribute,
    operation,
    vector_reader,
    walk,
)
from .arith import type_of

WARP = 32


def _places(layout: Any, shape: list[int]) -> Array:
    """The elements of each thread and register, as indices into the flattened vector."""
    layout.validate_for(shape)
    length = layout.vector_length
    found = np.empty((layout.num_warps * layout.num_lanes, layout.num_registers(shape), length), np.int64)
    for thread, register, element in np.ndindex(found.shape):
        warp, lane = divmod(thread, layout.num_lanes)
        index = layout.element_index(shape, warp, lane, register, element)
        found[thread, register, element] = np.ravel_multi_index(tuple(index), shape)
    return found


_VECTORS = {f"vector.{name}" for name in ("extract", "insert", "broadcast", "splat", "from_elements", "to_elements")}
_VECTORS |= {
    f"vector.{name}" for name in ("shuffle", "interleave", "deinterleave", "bitcast", "shape_cast", "transpose")
}
_VECTORS |= {"vector.extract_strided_slice", "vector.insert_strided_slice", "vector.step", "vector.reduction"}
"""Ops on the elements of per-thread vectors, executed as at thread level."""
_ALIKE = {"builtin.unrealized_conversion_cast", "mosaic_gpu.return", "scf.yield", "scf.for", "scf.if"}


def _has_registers(op: ir.Operation) -> bool:
    """Whether a `custom_primitive` converts a vector to per-thread vectors."""
    return any(
        inner.name == "builtin.unrealized_conversion_cast" and "layout" in inner.attributes for inner in walk(op)
    )


def _vector_of_threads(op: ir.Operation, translator: Translator) -> Step:
    if any(position < 0 for position in attribute(op, "static_position", [])):
        raise Unsupported("the position in the per-thread vector is dynamic; a static position is required")
    return THREAD_OPERATIONS[op.name](op, translator)


@contextmanager
def body_of(op: ir.Operation, translator: Translator) -> Iterator[None]:
    """A context for the translation of a region with per-thread vectors, in which vector ops act on those."""
    if not _has_registers(op):
        yield
        return
    for inner in walk(op):
        vectors = any(is_vector(value.type) for value in (*inner.operands, *inner.results))
        if vectors and not (inner.name.startswith(("arith.", "math.")) or inner.name in _VECTORS | _ALIKE):
            raise Unsupported(
                f"'{inner.name}' has a per-thread vector as operand or result; only arith, math and register ops of "
                "the vector "
                "dialect support per-thread vectors in a block-level kernel"
            )
    before = translator.operations
    translator.operations = {**before, **dict.fromkeys(_VECTORS, _vector_of_threads)}
    try:
        yield
    finally:
        translator.operations = before


@operation("nvvm.shfl.sync")
def _shuffle(op: ir.Operation, translator: Translator) -> Step:
    """A shuffle of whole warps (PTX ISA, shfl.sync)."""
    mode, dtype = attribute(op, "kind"), numpy_type(op.operands[1].type)
    if dtype is None or dtype.itemsize != 4 or numpy_type(op.results[0].type) != dtype:
        raise Unsupported(
            f"the operand has type {op.operands[1].type} and the result has type {op.results[0].type}; both must have "
            "the same 32-bit type"
        )
    operands = translator.operands(op)
    mask, value = operands[:2]
    (result,), site = translator.results(op), translator.site(op)

    def step(st: Group) -> None:
        found = st.v[value]
        if not isinstance(st.v[mask], int) or st.v[mask] & 0xFFFFFFFF != 0xFFFFFFFF:
            st.stop(
                "assertion",
                "the shuffle mask is not 0xffffffff; the simulator supports only this mask in block-level kernels",
                site,
            )
        st.v[result] = found
        if not isinstance(found, np.ndarray):
            return
        kinds = (np.dtype(np.int32), dtype, np.dtype(np.int32), np.dtype(np.int32))
        given = [spread(st.v[slot], kind, st.lanes).astype(kind) for slot, kind in zip(operands, kinds, strict=True)]
        warps = [array.reshape(-1, WARP) for array in given]
        moved = instructions.execute(f"llvm.nvvm.shfl.sync.{mode}.i32", warps, dtype)
        st.v[result] = collapse(moved.reshape(-1))

    return step


def convert(op: Any, translator: Translator) -> Step:
    """A cast between a vector and per-thread vectors."""
    if op.parent is None or op.parent.name != "mosaic_gpu.custom_primitive":
        raise Unsupported(
            "per-thread vectors are supported only in 'mosaic_gpu.custom_primitive'; move the cast inside"
        )
    results = translator.results(op)
    readers = [vector_reader(op, i, translator) for i in range(len(op.operands))]
    apart = len(readers) == 1
    whole = (op.operands if apart else op.results)[0].type
    layout = op.attributes["layout"]
    if not isinstance(layout, mosaic_gpu.TiledLayoutAttr):
        raise Unsupported(f"the attribute 'layout' is {layout}; it must be a #mosaic_gpu.TiledLayout")
    places = _places(layout.layout, list(whole.shape))
    if places.shape[1] != (len(results) if apart else len(readers)):
        raise Unsupported(
            f"the op casts {counted(len(op.operands), 'operand')} to {counted(len(results), 'result')}; a thread holds {places.shape[1]} "
            f"per-thread vectors of {whole} in its layout, so the cast must have as many"
        )
    shape, dtype = tuple(whole.shape), type_of(whole)
    threads = places.shape[0]

    def split(st: Group) -> None:
        if st.lanes != threads:
            st.stop(
                "divergence",
                f"the attribute 'layout' distributes the vector across {counted(threads, 'thread')}, but {counted(st.lanes, 'thread')} execute the op; both numbers must be equal",
                translator.site(op),
            )
        flat = np.ascontiguousarray(readers[0](st)).reshape(-1)
        for register, result in enumerate(results):
            st.v[result] = flat[places[:, register]]

    def join(st: State) -> None:
        found = np.empty(shape, dtype)
        flat = found.reshape(-1)
        for register, read in enumerate(readers):
            flat[places[:, register]] = read(st)
        st.v[results[0]] = found

    return split if apart else join
