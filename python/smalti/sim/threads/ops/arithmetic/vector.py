# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`vector`, and `llvm` structs: per-thread vectors. Memory is in `vector_memory`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..... import ir
from .....diagnostics import counted
from .....dialects.vector import CombiningKind
from .....instructions import fused
from ....ops.registers import enumerator
from ....translation.translator import Step, Unsupported, attribute
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, bits_of, dtype_of, held_dtype, packed_bits, rank_of, spread, unpacked_bits
from .arith import combining, elementwise, shaped


def shape_of(ty: Any) -> tuple[int, ...]:
    """The shape of a vector; () for a scalar."""
    return tuple(ty.shape) if isinstance(ty, ir.VectorType) else ()


def element_dtype(ty: Any) -> np.dtype[Any]:
    """The numpy type of elements or of a scalar."""
    found = dtype_of(ty)
    if found is None:
        raise Unsupported(f"type {ty}")
    return found


def _moved_dtype(ty: Any) -> np.dtype[Any]:
    """The same for ops that only move elements."""
    found = held_dtype(ty)
    if found is None:
        raise Unsupported(f"type {ty}")
    return found


def on_vectors(op: Any, tr: ThreadTranslator, function: Callable[..., Array], mask_rank: int = 0) -> Step:
    """An op that moves elements: `function` takes the operands, with a leading lane dimension if one has it, and
    whether they have it. Inside `vector.mask` it also takes the mask, if it has a rank."""
    operands, (result,) = tr.operands(op), tr.results(op)
    kinds = [(_moved_dtype(value.type), rank_of(value.type)) for value in op.operands]
    if tr.vector_mask is not None and mask_rank:
        operands, kinds = [*operands, tr.vector_mask], [*kinds, (np.dtype(np.bool_), mask_rank)]
    wanted = _moved_dtype(op.results[0].type)

    def step(st: Any) -> None:
        found = [np.asarray(st.v[slot], dtype) for slot, (dtype, _) in zip(operands, kinds, strict=True)]
        lanes = any(a.ndim > rank for a, (_, rank) in zip(found, kinds, strict=True))
        if lanes:
            found = [spread(a, dtype, st.lanes, rank) for a, (dtype, rank) in zip(found, kinds, strict=True)]
        st.v[result] = shaped(function(lanes, *found), wanted)

    return step


def _at(lanes: bool, index: tuple[Any, ...]) -> tuple[Any, ...]:
    return (slice(None), *index) if lanes else index


def _positions(op: Any, tr: ThreadTranslator, first: int) -> tuple[list[int], list[int]]:
    """Static positions, with the slots of dynamic ones."""
    return list(attribute(op, "static_position")), tr.operands(op)[first:]


def _part(op: Any, tr: ThreadTranslator, index: tuple[Any, ...]) -> Step:
    """The part of a vector at an index."""
    (source,), (result,) = tr.operands(op), tr.results(op)
    rank, wanted, of_lanes = rank_of(op.operands[0].type), _moved_dtype(op.results[0].type), (slice(None), *index)

    def step(st: Any) -> None:
        x = np.asarray(st.v[source], wanted)
        st.v[result] = x[of_lanes] if x.ndim > rank else shaped(x[index], wanted)

    return step


@operation("vector.extract")
def _extract(op: Any, tr: ThreadTranslator) -> Step:
    static, dynamic = _positions(op, tr, 1)
    if not dynamic:
        return _part(op, tr, tuple(static))
    source, (result,), site = tr.operands(op)[0], tr.results(op), tr.site(op)
    rank, shape, wanted = rank_of(op.operands[0].type), shape_of(op.operands[0].type), _moved_dtype(op.results[0].type)

    def step(st: Any) -> None:
        rest = iter(dynamic)
        place = [st.v[next(rest)] if at < 0 else at for at in static]
        x = st.v[source]
        if not isinstance(x, np.ndarray):
            x = np.asarray(x)
        if any(isinstance(at, np.ndarray) for at in place):
            x = spread(x, x.dtype, st.lanes, rank)
            st.v[result] = shaped(
                x[(np.arange(st.lanes), *(_inside(st, at, n, site) for at, n in zip(place, shape, strict=False)))],
                wanted,
            )
        else:
            st.v[result] = shaped(
                x[_at(x.ndim > rank, tuple(_inside(st, at, n, site) for at, n in zip(place, shape, strict=False)))],
                wanted,
            )

    return step


def _inside(st: Any, at: Any, size: int, site: Any) -> Any:
    bad = (np.asarray(at) < 0) | (np.asarray(at) >= size)
    if st.mask is not None and bad.ndim:
        bad = bad & st.mask
    if bad.any():
        lane = int(np.flatnonzero(bad)[0]) if bad.ndim else st.first_lane()
        st.report(
            "out-of-bounds",
            f"index {np.asarray(at).reshape(-1)[lane if bad.ndim else 0]} is out of bounds: the vector has {counted(size, 'element')}",
            site,
            lane,
        )
    return np.clip(at, 0, size - 1)


@operation("vector.insert")
def _insert(op: Any, tr: ThreadTranslator) -> Step:
    static, dynamic = _positions(op, tr, 2)
    value, target = tr.operands(op)[:2]
    (result,), site = tr.results(op), tr.site(op)
    dtype, rank, shape = _moved_dtype(op.results[0].type), rank_of(op.results[0].type), shape_of(op.results[0].type)
    inner = rank_of(op.operands[0].type)

    def step(st: Any) -> None:
        rest = iter(dynamic)
        place = [st.v[next(rest)] if at < 0 else at for at in static]
        x, y = np.asarray(st.v[value], dtype), np.asarray(st.v[target], dtype)
        each = any(isinstance(at, np.ndarray) for at in place)
        if each or x.ndim > inner or y.ndim > rank:
            x, y = spread(x, dtype, st.lanes, inner), spread(y, dtype, st.lanes, rank).copy()
            where = tuple(_inside(st, at, n, site) for at, n in zip(place, shape, strict=False))
            y[(np.arange(st.lanes) if each else slice(None), *where)] = x
        else:
            y = y.copy()
            y[tuple(_inside(st, at, n, site) for at, n in zip(place, shape, strict=False))] = x
        st.v[result] = y

    return step


@operation("vector.broadcast", "vector.splat")
def _broadcast(op: Any, tr: ThreadTranslator) -> Step:
    shape, rank = shape_of(op.results[0].type), rank_of(op.operands[0].type)

    def broadcast(lanes: bool, x: Array) -> Array:
        if not lanes:
            return np.broadcast_to(x, shape)
        wide = x.reshape(x.shape[:1] + (1,) * (len(shape) - rank) + x.shape[1:])
        return np.broadcast_to(wide, (len(x), *shape))

    return on_vectors(op, tr, broadcast)


@operation("vector.from_elements")
def _from_elements(op: Any, tr: ThreadTranslator) -> Step:
    shape = shape_of(op.results[0].type)

    def gather(lanes: bool, *xs: Array) -> Array:
        found = np.empty((*xs[0].shape, len(xs)), xs[0].dtype)
        for i, x in enumerate(xs):
            found[..., i] = x
        return found.reshape((*xs[0].shape, *shape))

    return on_vectors(op, tr, gather)


@operation("vector.to_elements")
def _to_elements(op: Any, tr: ThreadTranslator) -> Step:
    (source,), results = tr.operands(op), tr.results(op)
    rank, dtype = rank_of(op.operands[0].type), _moved_dtype(op.operands[0].type)

    def step(st: Any) -> None:
        x = np.asarray(st.v[source], dtype)
        flat = x.reshape((st.lanes, -1)).T if x.ndim > rank else x.reshape(-1)
        for slot, part in zip(results, flat, strict=True):
            st.v[slot] = shaped(part, dtype)

    return step


@operation("vector.shuffle")
def _shuffle(op: Any, tr: ThreadTranslator) -> Step:
    order = np.maximum(np.array(attribute(op, "mask")), 0)
    flat = rank_of(op.operands[0].type) == 0

    def shuffle(lanes: bool, x: Array, y: Array) -> Array:
        axis = 1 if lanes else 0
        if flat:
            x, y = np.expand_dims(x, axis), np.expand_dims(y, axis)
        return np.concatenate([x, y], axis).take(order, axis)

    return on_vectors(op, tr, shuffle)


@operation("vector.interleave")
def _interleave(op: Any, tr: ThreadTranslator) -> Step:
    return on_vectors(op, tr, lambda lanes, x, y: np.stack([x, y], -1).reshape((*x.shape[:-1], -1)))


@operation("vector.deinterleave")
def _deinterleave(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (first, second) = tr.operands(op), tr.results(op)

    def step(st: Any) -> None:
        x = st.v[source]
        st.v[first], st.v[second] = x[..., ::2], x[..., 1::2]

    return step


@operation("vector.bitcast", "llvm.bitcast")
def _bitcast(op: Any, tr: ThreadTranslator) -> Step:
    before, behind = op.operands[0].type, op.results[0].type
    dtype, shape = _moved_dtype(behind), shape_of(behind)
    source, target = bits_of(before), bits_of(behind)
    # `vector.bitcast` keeps all dimensions but the last.
    rows = shape[:-1] if op.name == "vector.bitcast" else ()

    def cast(lanes: bool, x: Array) -> Array:
        ahead = ((len(x),) if lanes else ()) + rows
        found = np.ascontiguousarray(x).reshape((*ahead, -1)).view(np.uint8)
        if source is not None:
            found = packed_bits(found, source)
        if target is not None:
            found = unpacked_bits(found, target, shape[-1] if shape else 1, dtype)
        return found.view(dtype).reshape((*(ahead[:1] if lanes else ()), *shape))

    return on_vectors(op, tr, cast)


@operation("vector.shape_cast")
def _shape_cast(op: Any, tr: ThreadTranslator) -> Step:
    shape = shape_of(op.results[0].type)
    return on_vectors(op, tr, lambda lanes, x: x.reshape((len(x), *shape) if lanes else shape))


@operation("vector.transpose")
def _transpose(op: Any, tr: ThreadTranslator) -> Step:
    order = list(attribute(op, "permutation"))
    return on_vectors(
        op, tr, lambda lanes, x: x.transpose([0, *(i + 1 for i in order)]) if lanes else x.transpose(order)
    )


@operation("vector.extract_strided_slice")
def _extract_slice(op: Any, tr: ThreadTranslator) -> Step:
    index = tuple(slice(o, o + n) for o, n in zip(attribute(op, "offsets"), attribute(op, "sizes"), strict=True))
    return on_vectors(op, tr, lambda lanes, x: x[_at(lanes, index)])


@operation("vector.insert_strided_slice")
def _insert_slice(op: Any, tr: ThreadTranslator) -> Step:
    offsets = attribute(op, "offsets")
    small = list(shape_of(op.operands[0].type))
    extra = len(offsets) - len(small)
    sizes = [1] * extra + small
    index = tuple(slice(o, o + n) for o, n in zip(offsets, sizes, strict=True))

    def insert(lanes: bool, x: Array, y: Array) -> Array:
        y = y.copy()
        y[_at(lanes, index)] = x.reshape((*x.shape[: int(lanes)], *sizes))
        return y

    return on_vectors(op, tr, insert)


@operation("vector.step")
def _step(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    value = np.arange(op.results[0].type.shape[0])

    def step(st: Any) -> None:
        st.v[result] = value

    return step


@operation("vector.create_mask", "vector.constant_mask")
def _create_mask(op: Any, tr: ThreadTranslator) -> Step:
    operands, (result,) = tr.operands(op), tr.results(op)
    shape = shape_of(op.results[0].type)
    given = attribute(op, "mask_dim_sizes", None)

    def step(st: Any) -> None:
        counts = given if given is not None else [st.v[slot] for slot in operands]
        found: Any = np.ones((), np.bool_)
        for dimension, (count, size) in enumerate(zip(counts, shape, strict=True)):
            along = np.arange(size).reshape((size,) + (1,) * (len(shape) - dimension - 1))
            limit = count.reshape((-1,) + (1,) * len(shape)) if isinstance(count, np.ndarray) else count
            found = found & (along < limit)
        st.v[result] = np.broadcast_to(found, (*found.shape[: found.ndim - len(shape)], *shape))

    return step


@operation("vector.fma")
def _fma(op: Any, tr: ThreadTranslator) -> Step:
    dtype = element_dtype(op.results[0].type)
    return elementwise(op, tr, lambda x, y, z: fused(x, y, z).astype(dtype))


@operation("vector.reduction")
def _reduction(op: Any, tr: ThreadTranslator) -> Step:
    ty = op.results[0].type
    name, dtype, given = str(enumerator(op, "kind", CombiningKind)), _moved_dtype(ty), len(op.operands)
    combine = combining(name, dtype, ty)
    size = shape_of(op.operands[0].type)[0]

    def reduce(lanes: bool, x: Array, *more: Array) -> Array:
        if len(more) == given:
            # Elements that are masked are as those that change nothing.
            x = np.where(more[-1], x, neutral(name, dtype))
        found = more[0] if given > 1 else x[..., 0]
        for i in range(0 if given > 1 else 1, size):
            found = combine(found, x[..., i]).astype(x.dtype)
        return found

    return on_vectors(op, tr, reduce, mask_rank=1)


def neutral(name: str, dtype: np.dtype[Any]) -> Any:
    """The neutral element of a reduction."""
    if dtype.kind not in "ib":
        known = {"add": -0.0, "mul": 1.0, "maximumf": -np.inf, "minimumf": np.inf}
        return dtype.type(known.get(name.removesuffix("f") if name in ("addf", "mulf") else name, np.nan))
    if dtype.kind == "b":
        return name in ("mul", "and", "minui", "maxsi")
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    known = {"mul": 1, "muli": 1, "maxsi": low, "minsi": high, "minui": -1, "and": -1, "andi": -1}
    return dtype.type(known.get(name, 0))


# ---------------------------------------------------------------------------------------------------------------------
# Structs
# ---------------------------------------------------------------------------------------------------------------------


@operation("llvm.extractvalue")
def _extract_value(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (result,) = tr.operands(op), tr.results(op)
    position = list(attribute(op, "position"))

    def step(st: Any) -> None:
        found = st.v[source]
        for i in position:
            found = found[i]
        st.v[result] = found

    return step


@operation("llvm.insertvalue")
def _insert_value(op: Any, tr: ThreadTranslator) -> Step:
    target, value = tr.operands(op)
    (result,) = tr.results(op)
    position = list(attribute(op, "position"))
    if len(position) != 1:
        raise Unsupported(
            f"the position has {counted(len(position), 'index', 'indices')}; only one index is supported, so extract the inner struct before and insert into it"
        )
    dtype = element_dtype(op.operands[1].type)
    rank = rank_of(op.operands[1].type)

    def step(st: Any) -> None:
        # In structures there is always one value for each lane.
        found = list(st.v[target]) if st.v[target] is not None else []
        found += [None] * (position[0] + 1 - len(found))
        found[position[0]] = spread(st.v[value], dtype, st.lanes, rank)
        st.v[result] = tuple(found)

    return step


@operation("llvm.mlir.undef", "llvm.mlir.poison", "ub.poison", "llvm.mlir.zero")
def _undefined(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    ty = op.results[0].type
    dtype, shape = held_dtype(ty), shape_of(ty)
    value = None if dtype is None else np.zeros(shape, dtype) if shape else shaped(np.zeros((), dtype), dtype)
    if value is None and not str(ty).startswith("!llvm.struct"):
        raise Unsupported.wrong_type("the value", ty)

    def step(st: Any) -> None:
        st.v[result] = value

    return step
