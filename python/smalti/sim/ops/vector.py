# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`vector`: vectors of a whole warpgroup or block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import ir
from ..machine.machine import Group, State
from ..machine.memory import window
from ..machine.values import is_vector
from ..translation.translator import Step, Translator, Unsupported, attribute, operation, vector_reader
from .arith import FLOAT_FUNCTIONS, held_type, integer_function_of, maximum, minimum, type_of
from .registers import same_bytes
from .scratch import scratch

Array = np.ndarray[Any, Any]

_KINDS: dict[str, str] = {
    "add": "add",
    "mul": "mul",
    "minsi": "minsi",
    "minui": "minui",
    "maxsi": "maxsi",
    "maxui": "maxui",
    "minimumf": "minimumf",
    "maximumf": "maximumf",
    "minnumf": "minnumf",
    "maxnumf": "maxnumf",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
}


def _combining(op: ir.Operation, dtype: np.dtype[Any]) -> Callable[[Array, Array], Array]:
    kind, ty = attribute(op, "kind"), op.operands[0].type
    name = _KINDS.get(kind)
    if name is None:
        raise Unsupported(f"the op reduces with {kind}; supported reductions: {', '.join(_KINDS)}")
    if name in ("add", "mul"):
        name += "i" if dtype.kind in "ib" else "f"
    return FLOAT_FUNCTIONS[name] if name in FLOAT_FUNCTIONS else integer_function_of(name, ty)


_FAST = {np.add: np.add, np.multiply: np.multiply, maximum: np.maximum, minimum: np.minimum}


def reduce(function: Callable[[Array, Array], Array], x: Array, axes: tuple[int, ...]) -> Array:
    """Reduces the elements along `axes`: halves with halves, as threads do."""
    if x.dtype.kind == "f" and x.dtype.itemsize >= 4 and function in _FAST:
        return np.asarray(_FAST[function].reduce(x, axis=axes), x.dtype)
    (found,) = reduce_tuples(lambda a, b: [np.asarray(function(a[0], b[0]), x.dtype)], [x], axes)
    return found


Tuple = list[Array]


def reduce_tuples(combine: Callable[[Tuple, Tuple], Tuple], arrays: Tuple, axes: tuple[int, ...]) -> Tuple:
    """Reduces several arrays together along `axes`: halves with halves."""
    kept = [i for i in range(arrays[0].ndim) if i not in axes]
    shape = [arrays[0].shape[i] for i in kept]
    flat = [np.transpose(x, [*kept, *axes]).reshape(*shape, -1) for x in arrays]
    while (size := flat[0].shape[-1]) > 1:
        half = size // 2
        left, right, rest = ([x[..., part] for x in flat] for part in _halves(half))
        flat = [np.concatenate(parts, -1) for parts in zip(combine(left, right), rest, strict=True)]
    return [x[..., 0] for x in flat]


def _halves(half: int) -> tuple[slice, slice, slice]:
    return slice(half), slice(half, 2 * half), slice(2 * half, None)


@operation("vector.multi_reduction")
def _multi_reduction(op: ir.Operation, translator: Translator) -> Step:
    axes = tuple(attribute(op, "reduction_dims"))
    dtype = held_type(op.operands[0].type)
    function = _combining(op, dtype)
    source, start = (vector_reader(op, i, translator) for i in range(2))
    (result,) = translator.results(op)
    scalar = not is_vector(op.results[0].type)
    exchange = scratch(op, translator, axes)

    def step(st: State) -> None:
        exchange(st)
        with np.errstate(all="ignore"):
            found = np.asarray(function(reduce(function, source(st), axes), np.asarray(start(st), dtype)), dtype)
        st.v[result] = scalar_of(found) if scalar else found

    return step


def scalar_of(found: Any) -> Any:
    """The value of a scalar."""
    return int(found) if found.dtype.kind in "ib" else found[()]


@operation("vector.reduction")
def _reduction(op: ir.Operation, translator: Translator) -> Step:
    dtype = held_type(op.operands[0].type)
    function = _combining(op, dtype)
    readers = [vector_reader(op, i, translator) for i in range(len(op.operands))]
    (result,) = translator.results(op)
    exchange = scratch(op, translator, (0,))

    def step(st: State) -> None:
        exchange(st)
        with np.errstate(all="ignore"):
            found = reduce(function, readers[0](st), (0,))
            if len(readers) > 1:
                found = np.asarray(function(found, np.asarray(readers[1](st), dtype)), dtype)
        st.v[result] = scalar_of(np.asarray(found))

    return step


@operation("vector.extract_strided_slice")
def _extract_slice(op: ir.Operation, translator: Translator) -> Step:
    offsets, sizes, strides = (attribute(op, name) for name in ("offsets", "sizes", "strides"))
    place = tuple(
        slice(at, at + (size - 1) * step + 1, step) for at, size, step in zip(offsets, sizes, strides, strict=True)
    )
    source = vector_reader(op, 0, translator)
    (result,) = translator.results(op)

    def step(st: State) -> None:
        st.v[result] = source(st)[place]

    return step


@operation("vector.insert_strided_slice")
def _insert_slice(op: Any, translator: Translator) -> Step:
    offsets, strides = attribute(op, "offsets"), attribute(op, "strides")
    part = list(op.operands[0].type.shape)
    whole = list(op.operands[1].type.shape)
    sizes = [1] * (len(whole) - len(part)) + part
    steps = [1] * (len(whole) - len(part)) + strides
    place = tuple(slice(at, at + (n - 1) * s + 1, s) for at, n, s in zip(offsets, sizes, steps, strict=True))
    source, target = (vector_reader(op, i, translator) for i in range(2))
    (result,) = translator.results(op)

    def step(st: State) -> None:
        found = np.array(target(st))
        found[place] = source(st).reshape(sizes)
        st.v[result] = found

    return step


@operation("vector.shape_cast")
def _shape_cast(op: Any, translator: Translator) -> Step:
    shape = tuple(op.results[0].type.shape)
    source = vector_reader(op, 0, translator)
    (result,) = translator.results(op)

    def step(st: State) -> None:
        st.v[result] = np.ascontiguousarray(source(st)).reshape(shape)

    return step


@operation("vector.bitcast")
def _bitcast(op: Any, translator: Translator) -> Step:
    for value in (op.operands[0], op.results[0]):
        if value.type.element_type.width % 8 != 0:
            raise Unsupported(
                f"the op casts elements of type {value.type.element_type}; elements must consist of whole bytes"
            )
    dtype = type_of(op.results[0].type)
    source = vector_reader(op, 0, translator)
    (result,) = translator.results(op)

    def step(st: State) -> None:
        st.v[result] = np.ascontiguousarray(source(st)).view(dtype)

    return step


@operation("vector.broadcast", "vector.splat")
def _broadcast(op: Any, translator: Translator) -> Step:
    shape, dtype = tuple(op.results[0].type.shape), held_type(op.results[0].type)
    source = vector_reader(op, 0, translator)
    (result,) = translator.results(op)
    site = translator.site(op)
    scalar = not is_vector(op.operands[0].type)

    def step(st: State) -> None:
        value = source(st)
        if scalar and isinstance(value, np.ndarray):
            st.stop("divergence", "threads pass different values for the scalar operand; it must be uniform", site)
        st.v[result] = np.broadcast_to(np.asarray(value, dtype), shape)

    return step


@operation("vector.transpose")
def _transpose(op: ir.Operation, translator: Translator) -> Step:
    permutation = attribute(op, "permutation")
    source = vector_reader(op, 0, translator)
    (result,) = translator.results(op)

    def step(st: State) -> None:
        st.v[result] = np.transpose(source(st), permutation)

    return step


@operation("vector.extract")
def _extract(op: ir.Operation, translator: Translator) -> Step:
    positions = attribute(op, "static_position")
    if any(position < 0 for position in positions):
        raise Unsupported("the position is dynamic; a static position is required in a block-level kernel")
    source = vector_reader(op, 0, translator)
    (result,) = translator.results(op)
    scalar = not is_vector(op.results[0].type)

    def step(st: State) -> None:
        found = source(st)[tuple(positions)]
        st.v[result] = scalar_of(np.asarray(found)) if scalar else found

    return step


@operation("vector.create_mask", "vector.constant_mask")
def _create_mask(op: Any, translator: Translator) -> Step:
    operands, (result,), site = translator.operands(op), translator.results(op), translator.site(op)
    shape = tuple(op.results[0].type.shape)
    constant = attribute(op, "mask_dim_sizes")

    def step(st: State) -> None:
        found = np.ones(shape, np.bool_)
        counts = [st.v[slot] for slot in operands] if constant is None else constant
        for axis, (count, size) in enumerate(zip(counts, shape, strict=True)):
            if isinstance(count, np.ndarray):
                st.stop(
                    "divergence",
                    "threads pass different sizes for the mask, which all threads share; the sizes must be uniform",
                    site,
                )
            found &= (np.arange(size) < count).reshape([-1 if i == axis else 1 for i in range(len(shape))])
        st.v[result] = found

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Transfers
# ---------------------------------------------------------------------------------------------------------------------


def transfer_dimensions(op: Any) -> list[int | None]:
    """For each dimension of a vector the memory dimension; None for a broadcast dimension."""
    found: list[int | None] = []
    for expression in ir.AffineMapAttr(op.attributes["permutation_map"]).value.results:
        if isinstance(expression, ir.AffineDimExpr):
            found.append(expression.position)
        elif isinstance(expression, ir.AffineConstantExpr):
            found.append(None)
        else:
            raise Unsupported(
                f"the permutation map is {op.attributes['permutation_map']}; its results must be dimensions or "
                "constants"
            )
    return found


@dataclass(frozen=True)
class _Transfer:
    """The permutation of a transfer: `order`, the memory dimensions, and the broadcast dimensions."""

    dimensions: tuple[int | None, ...]
    shape: tuple[int, ...]
    lengths: list[int]
    """The window size of each memory dimension; -1 if the vector does not have the dimension."""
    owner: Any
    """The owner: which threads access which elements."""

    @staticmethod
    def of(op: Any, memory: Any, vector: Any, layout: Any) -> _Transfer:
        if not isinstance(memory.type, ir.MemRefType):
            raise Unsupported(f"the op accesses {memory.type}; a memref is required")
        if attribute(op, "operandSegmentSizes")[-1]:
            raise Unsupported("a mask")
        dimensions, shape = tuple(transfer_dimensions(op)), tuple(vector.type.shape)
        rank = len(memory.type.shape)
        lengths = [-1] * rank
        for dimension, size in zip(dimensions, shape, strict=True):
            if dimension is not None:
                lengths[dimension] = size
        is_plain = dimensions == tuple(range(rank - len(shape), rank))
        return _Transfer(dimensions, shape, lengths, layout if is_plain else (layout, dimensions))

    def of_memory(self, vector: Array) -> Array:
        """The vector in the dimension order of the memory, without broadcast dimensions."""
        return np.transpose(vector, np.argsort([d for d in self.dimensions if d is not None]))

    def of_vector(self, window: Array) -> Array:
        """A window of the memory as the vector."""
        order = sorted(d for d in self.dimensions if d is not None)
        found = np.transpose(window, [order.index(d) for d in self.dimensions if d is not None])
        return np.broadcast_to(found[tuple(None if d is None else slice(None) for d in self.dimensions)], self.shape)


@operation("vector.transfer_read")
def _transfer_read(op: Any, translator: Translator) -> Step:
    memory, vector = op.operands[0], op.results[0]
    how = _Transfer.of(op, memory, vector, translator.layout(op, "out_layouts"))
    operands = translator.operands(op)
    rank = len(memory.type.shape)
    source, indices, padding = operands[0], operands[1 : 1 + rank], operands[1 + rank]
    dtype, window_shape = type_of(vector.type), [size for size in how.lengths if size >= 0]
    in_bounds = attribute(op, "in_bounds", [False] * len(how.shape))
    (result,), site = translator.results(op), translator.site(op)

    def step(st: Group) -> None:
        box = window(st.v[source], [int(st.v[i]) for i in indices], how.lengths)
        if not box.complete and all(in_bounds):
            st.report(
                "out-of-bounds",
                "the read is out of bounds in a dimension that 'in_bounds' declares to be in bounds; set its 'in_bounds' to false",
                site,
            )
        found = np.full(window_shape, np.asarray(st.v[padding], dtype), dtype)
        if box.inside is not None and st.touch(box.inside, False, "the read", site, (how.owner, box.inside.key())):
            found[box.place] = box.inside.array()
        st.v[result] = how.of_vector(found)

    return step


@operation("vector.transfer_write")
def _transfer_write(op: Any, translator: Translator) -> Step:
    vector, memory = op.operands[0], op.operands[1]
    how = _Transfer.of(op, memory, vector, translator.layout(op, "in_layouts"))
    operands = translator.operands(op)
    rank = len(memory.type.shape)
    value, target, indices = vector_reader(op, 0, translator), operands[1], operands[2 : 2 + rank]
    in_bounds = attribute(op, "in_bounds", [False] * len(how.shape))
    site = translator.site(op)

    def step(st: Group) -> None:
        box = window(st.v[target], [int(st.v[i]) for i in indices], how.lengths)
        if not box.complete and all(in_bounds):
            st.report(
                "out-of-bounds",
                "the write is out of bounds in a dimension that 'in_bounds' declares to be in bounds",
                site,
            )
        found = how.of_memory(value(st))
        if box.inside is None:
            return
        inside = box.inside
        alike = lambda: same_bytes(inside.array(), found[box.place])  # noqa: E731
        if st.touch(inside, True, "the write", site, (how.owner, inside.key()), alike=alike):
            inside.array()[...] = found[box.place]

    return step
