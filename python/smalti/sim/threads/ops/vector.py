"""`vector`, and the structures of `llvm`: vectors that each thread has for itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import ir
from ...ops.registers import enumerator
from ...program import Step, Unsupported, attribute
from ..code import ThreadTranslator, operation
from ..lanes import SMALL_TYPES, Array, dtype_of, rank_of, spread
from ..memory import View
from .arith import combining, elementwise, shaped
from .memref import index_reader

DYNAMIC = ir.ShapedType.get_dynamic_size()


def _shape(ty: Any) -> tuple[int, ...]:
    return tuple(ty.shape) if isinstance(ty, ir.VectorType) else ()


def _dtype(ty: Any) -> np.dtype[Any]:
    found = dtype_of(ty)
    if found is None:
        raise Unsupported(f"numbers of type {ty}")
    return found


def on_vectors(op: Any, tr: ThreadTranslator, function: Callable[..., Array]) -> Step:
    """An operation that moves elements: `function` gets the operands, with the lane in front of each where one has it,
    and whether they have."""
    operands, (result,) = tr.operands(op), tr.results(op)
    kinds = [(_dtype(value.type), rank_of(value.type)) for value in op.operands]
    wanted = _dtype(op.results[0].type)

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
    """Constant positions, with the slots of those that are not, which are DYNAMIC or the like in the first."""
    return list(attribute(op, "static_position")), tr.operands(op)[first:]


@operation("vector.extract")
def _extract(op: Any, tr: ThreadTranslator) -> Step:
    static, dynamic = _positions(op, tr, 1)
    if not dynamic:
        index = tuple(static)
        return on_vectors(op, tr, lambda lanes, x: x[_at(lanes, index)])
    source, (result,), site = tr.operands(op)[0], tr.results(op), tr.site(op)
    rank, shape, wanted = rank_of(op.operands[0].type), _shape(op.operands[0].type), _dtype(op.results[0].type)

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
            f"element {np.asarray(at).reshape(-1)[lane if bad.ndim else 0]} of a vector of {size}",
            site,
            lane,
        )
    return np.clip(at, 0, size - 1)


@operation("vector.insert")
def _insert(op: Any, tr: ThreadTranslator) -> Step:
    static, dynamic = _positions(op, tr, 2)
    value, target = tr.operands(op)[:2]
    (result,), site = tr.results(op), tr.site(op)
    dtype, rank, shape = _dtype(op.results[0].type), rank_of(op.results[0].type), _shape(op.results[0].type)
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
    shape, rank = _shape(op.results[0].type), rank_of(op.operands[0].type)

    def broadcast(lanes: bool, x: Array) -> Array:
        if not lanes:
            return np.broadcast_to(x, shape)
        wide = x.reshape(x.shape[:1] + (1,) * (len(shape) - rank) + x.shape[1:])
        return np.broadcast_to(wide, (len(x), *shape))

    return on_vectors(op, tr, broadcast)


@operation("vector.from_elements")
def _from_elements(op: Any, tr: ThreadTranslator) -> Step:
    shape = _shape(op.results[0].type)
    return on_vectors(op, tr, lambda lanes, *xs: np.stack(xs, -1).reshape((*xs[0].shape, *shape)))


@operation("vector.to_elements")
def _to_elements(op: Any, tr: ThreadTranslator) -> Step:
    (source,), results = tr.operands(op), tr.results(op)
    rank, dtype = rank_of(op.operands[0].type), _dtype(op.operands[0].type)

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


@operation("vector.bitcast")
def _bitcast(op: Any, tr: ThreadTranslator) -> Step:
    dtype = _dtype(op.results[0].type)
    source, target = (SMALL_TYPES.get(str(value.type.element_type)) for value in (op.operands[0], op.results[0]))
    if source is None and target is None:
        return on_vectors(op, tr, lambda lanes, x: np.ascontiguousarray(x).view(dtype))

    def cast(lanes: bool, x: Array) -> Array:
        found = np.ascontiguousarray(x).view(np.uint8)
        if source is not None:
            found = np.packbits(_bits(found, source[1]), axis=-1, bitorder="little")
        if target is not None:
            planes = np.unpackbits(found, axis=-1, bitorder="little")
            planes = planes.reshape(*planes.shape[:-1], -1, target[1])
            found = np.packbits(planes, axis=-1, bitorder="little")[..., 0]
        return found.view(dtype)

    return on_vectors(op, tr, cast)


def _bits(codes: Array, count: int) -> Array:
    """The lower bits of each number, one behind the other."""
    planes = np.unpackbits(codes[..., None], axis=-1, count=count, bitorder="little")
    return planes.reshape(*codes.shape[:-1], -1)


@operation("llvm.bitcast")
def _llvm_bitcast(op: Any, tr: ThreadTranslator) -> Step:
    dtype, shape = _dtype(op.results[0].type), _shape(op.results[0].type)

    def cast(lanes: bool, x: Array) -> Array:
        flat = np.ascontiguousarray(x).reshape((len(x), -1) if lanes else (1, -1)).view(dtype)
        return flat.reshape(((len(x),) if lanes else ()) + shape)

    return on_vectors(op, tr, cast)


@operation("vector.shape_cast")
def _shape_cast(op: Any, tr: ThreadTranslator) -> Step:
    shape = _shape(op.results[0].type)
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
    small = list(_shape(op.operands[0].type))
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
    shape = _shape(op.results[0].type)
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
    dtype = _dtype(op.results[0].type)

    def fma(x: Array, y: Array, z: Array) -> Array:
        wide = np.float64
        return (x.astype(wide) * y.astype(wide) + z.astype(wide)).astype(dtype)

    return elementwise(op, tr, fma)


_KINDS = {0: "add", 1: "mul", 2: "minui", 3: "minsi", 4: "minnumf", 5: "maxui", 6: "maxsi", 7: "maxnumf", 8: "and"}
_KINDS |= {9: "or", 10: "xor", 11: "minimumf", 12: "maximumf"}


@operation("vector.reduction")
def _reduction(op: Any, tr: ThreadTranslator) -> Step:
    combine = combining(str(enumerator(op, "kind", _KINDS)), _dtype(op.results[0].type))
    size = _shape(op.operands[0].type)[0]

    def reduce(lanes: bool, x: Array, *start: Array) -> Array:
        found = start[0] if start else x[..., 0]
        for i in range(0 if start else 1, size):
            found = combine(found, x[..., i]).astype(x.dtype)
        return found

    return on_vectors(op, tr, reduce)


# ---------------------------------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------------------------------


@operation("vector.load")
def _load(op: Any, tr: ThreadTranslator) -> Step:
    (source, *_), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    indices, shape, dtype = index_reader(op, tr, 1), _shape(op.results[0].type), _dtype(op.results[0].type)
    tr.uses(op.operands[0].type)

    def step(st: Any) -> None:
        view: View = st.v[source]
        if view.dtype != dtype:
            st.stop("assertion", "a vector of vectors", site)
        st.v[result] = st.load(view, indices(st), shape, site)

    return step


@operation("vector.store")
def _store(op: Any, tr: ThreadTranslator) -> Step:
    (value, target, *_), site = tr.operands(op), tr.site(op)
    indices, shape = index_reader(op, tr, 2), _shape(op.operands[0].type)
    tr.uses(op.operands[1].type)

    def step(st: Any) -> None:
        st.store(st.v[target], indices(st), st.v[value], shape, site)

    return step


def _dimensions(op: Any) -> list[int | None]:
    """For each dimension of a vector the one of the memory that it goes along; None for one that is repeated."""
    found: list[int | None] = []
    for expression in ir.AffineMapAttr(op.attributes["permutation_map"]).value.results:
        if isinstance(expression, ir.AffineDimExpr):
            found.append(expression.position)
        elif isinstance(expression, ir.AffineConstantExpr):
            found.append(None)
        else:
            raise Unsupported(f"the map {op.attributes['permutation_map']}")
    return found


def _transfer(op: Any, tr: ThreadTranslator, memory: int, vector_type: Any) -> Any:
    """A function that gives, of a transfer, its elements' first bytes, their steps, and which of them are there."""
    base = op.operands[memory]
    if not isinstance(base.type, ir.MemRefType):
        raise Unsupported(f"a transfer of {base.type}")
    segments = attribute(op, "operandSegmentSizes")
    start = sum(segments[: memory + 1])
    slots = tr.operands(op)[start : start + segments[memory + 1]]
    mask_slot = tr.operands(op)[-1] if segments[-1] else None
    dimensions = _dimensions(op)
    shape = _shape(vector_type)
    inside = list(attribute(op, "in_bounds", [False] * len(shape)))
    site = tr.site(op)
    tr.uses(base.type)
    source = tr.slot(base)
    read = op.name == "vector.transfer_read"
    along = {d: i for i, d in enumerate(dimensions) if d is not None}

    def locate(st: Any) -> tuple[View, Any, Array, Any, Array | None]:
        view: View = st.v[source]
        at = [st.v[slot] for slot in slots]
        there: Any = None
        checked = []
        for dimension, (index, size) in enumerate(zip(at, view.shape, strict=True)):
            i = along.get(dimension)
            if i is None or inside[i]:
                continue
            checked.append(dimension)
            places = np.arange(shape[i]).reshape((shape[i],) + (1,) * (len(shape) - i - 1))
            column = np.asarray(index).reshape(np.shape(index) + (1,) * len(shape))
            limit = np.asarray(size).reshape(np.shape(size) + (1,) * len(shape))
            ok = (column + places < limit) & (column + places >= 0)
            there = ok if there is None else there & ok
        if mask_slot is not None:
            there = st.v[mask_slot] if there is None else there & st.v[mask_slot]
        offset, running = view.offset, st.mask
        for dimension, (index, size, stride) in enumerate(zip(at, view.shape, view.strides, strict=True)):
            i = along.get(dimension)
            length = 1 if i is None else shape[i]
            if dimension not in checked and mask_slot is None:
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
    shape, dtype = _shape(ty), _dtype(ty)
    locate = _transfer(op, tr, 0, ty)
    segments = attribute(op, "operandSegmentSizes")
    padding = tr.operands(op)[sum(segments[:2])]

    def step(st: Any) -> None:
        view, offset, steps, there, running = locate(st)
        if there is None:
            st.v[result] = st.load_bytes(view.buffer, offset, steps, dtype, shape, running, site)
            return
        # Elements that are not there are not touched.
        flat = np.broadcast_to(np.asarray(there).reshape((-1, len(steps))), (st.lanes, len(steps)))
        found = np.empty((st.lanes, len(steps)), dtype)
        pad = np.asarray(st.v[padding], dtype)
        for column in range(len(steps)):
            ok = flat[:, column] if running is None else flat[:, column] & running
            value = st.load_bytes(view.buffer, offset + steps[column], steps[:1] * 0, dtype, (), ok, site)
            found[:, column] = np.where(flat[:, column], value, pad)
        st.v[result] = found.reshape((st.lanes, *shape))

    return step


@operation("vector.transfer_write")
def _transfer_write(op: Any, tr: ThreadTranslator) -> Step:
    value, site = tr.operands(op)[0], tr.site(op)
    ty = op.operands[0].type
    shape, dtype = _shape(ty), _dtype(ty)
    locate = _transfer(op, tr, 1, ty)

    def step(st: Any) -> None:
        view, offset, steps, there, running = locate(st)
        if there is None:
            st.store_bytes(view.buffer, offset, steps, dtype, st.v[value], shape, running, site)
            return
        flat = np.broadcast_to(np.asarray(there).reshape((-1, len(steps))), (st.lanes, len(steps)))
        values = spread(st.v[value], dtype, st.lanes, len(shape)).reshape(st.lanes, -1)
        for column in range(len(steps)):
            ok = flat[:, column] if running is None else flat[:, column] & running
            st.store_bytes(view.buffer, offset + steps[column], steps[:1] * 0, dtype, values[:, column], (), ok, site)

    return step


@operation("vector.maskedload")
def _masked_load(op: Any, tr: ThreadTranslator) -> Step:
    source, *_, mask, passed = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    ty = op.results[0].type
    shape, dtype = _shape(ty), _dtype(ty)
    indices = index_reader(op, tr, 1, 2)
    tr.uses(op.operands[0].type)

    def step(st: Any) -> None:
        view: View = st.v[source]
        at = indices(st)
        wanted = spread(st.v[mask], np.dtype(np.bool_), st.lanes, 1)
        found = spread(st.v[passed], dtype, st.lanes, 1).copy()
        before = st.mask
        for i in range(shape[0]):
            st.mask = wanted[:, i] if before is None else wanted[:, i] & before
            if st.mask.any():
                value = st.load(view, [*at[:-1], at[-1] + i], (), site)
                found[:, i] = np.where(st.mask, value, found[:, i])
        st.mask = before
        st.v[result] = found

    return step


@operation("vector.maskedstore")
def _masked_store(op: Any, tr: ThreadTranslator) -> Step:
    target, *_, mask, value = tr.operands(op)
    site, ty = tr.site(op), op.operands[len(op.operands) - 1].type
    shape, dtype = _shape(ty), _dtype(ty)
    indices = index_reader(op, tr, 1, 2)
    tr.uses(op.operands[0].type)

    def step(st: Any) -> None:
        at = indices(st)
        wanted = spread(st.v[mask], np.dtype(np.bool_), st.lanes, 1)
        values = spread(st.v[value], dtype, st.lanes, 1)
        before = st.mask
        for i in range(shape[0]):
            st.mask = wanted[:, i] if before is None else wanted[:, i] & before
            if st.mask.any():
                st.store(st.v[target], [*at[:-1], at[-1] + i], values[:, i], (), site)
        st.mask = before

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Structures
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
        raise Unsupported("a structure in a structure")
    dtype = _dtype(op.operands[1].type)
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
    dtype, shape = dtype_of(ty), _shape(ty)
    value = None if dtype is None else np.zeros(shape, dtype) if shape else shaped(np.zeros((), dtype), dtype)
    if value is None and not str(ty).startswith("!llvm.struct"):
        raise Unsupported(f"a value of type {ty}")

    def step(st: Any) -> None:
        st.v[result] = value

    return step
