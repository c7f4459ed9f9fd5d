"""`arith`, `math`, `affine`: the same functions for numbers of all threads, numbers of each, and vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import values
from ...ops import affine, arith, conversions, math
from ...translator import Step, Unsupported, attribute
from ..code import ThreadTranslator, operation
from ..lanes import Array, dtype_of, held_dtype, in_front, rank_of


def elementwise(
    op: Any,
    tr: ThreadTranslator,
    function: Callable[..., Any],
    numbers: Callable[..., Any] | None = None,
    narrow: bool = False,
) -> Step:
    """An operation on elements. `numbers` computes with Python's, where all operands are such. `narrow` says that it
    knows integers of less than a byte."""
    operands, (result,) = tr.operands(op), tr.results(op)
    type_of = held_dtype if narrow else dtype_of
    dtypes = [type_of(value.type) for value in op.operands]
    wanted = type_of(op.results[0].type)
    if wanted is None or None in dtypes:
        raise Unsupported(f"numbers of type {op.results[0].type}")
    if len(operands) == 1:
        (x,), (kind,) = operands, dtypes

        def unary(st: Any) -> None:
            a = st.v[x]
            if a.__class__ is int and numbers is not None:
                st.v[result] = numbers(a)
            else:
                st.v[result] = shaped(function(np.asarray(a, kind)), wanted)

        return unary
    if len(operands) == 2:
        (x, y), (kind, other) = operands, dtypes

        def binary(st: Any) -> None:
            a, b = st.v[x], st.v[y]
            if a.__class__ is int and b.__class__ is int and numbers is not None:
                st.v[result] = numbers(a, b)
            else:
                st.v[result] = shaped(function(np.asarray(a, kind), np.asarray(b, other)), wanted)

        return binary

    def step(st: Any) -> None:
        found = [np.asarray(st.v[slot], kind) for slot, kind in zip(operands, dtypes, strict=True)]
        st.v[result] = shaped(function(*found), wanted)

    return step


_KINDS = {"add": "addi", "mul": "muli", "and": "andi", "or": "ori", "xor": "xori"}


def combining(name: str, dtype: np.dtype[Any], ty: Any = None) -> Callable[..., Any]:
    """The function that a reduction combines two numbers with, by MLIR's name of the kind. A type says of integers how
    many bits they have."""
    if dtype.kind in "ib":
        name = _KINDS.get(name, name)
        return arith.integer_array_function(name) if ty is None else arith.integer_function_of(name, ty)
    return arith.FLOAT_FUNCTIONS[{"add": "addf", "mul": "mulf"}.get(name, name)]


def shaped(found: Any, dtype: np.dtype[Any]) -> Any:
    """What a function gives, as a value of the program."""
    if np.ndim(found) == 0:
        return int(found) if dtype.kind in "ib" else dtype.type(found)
    return found if found.dtype == dtype else found.astype(dtype)


def _on_numbers(op: Any, function: Callable[..., Any]) -> Callable[..., Any] | None:
    bits = values.integer_bits(op.results[0].type)
    if bits is None:
        return None
    cut = values.wrap(bits)
    return lambda *given: cut(function(*given))


@operation(*(f"arith.{name}" for name in arith.INTEGER_NAMES))
def _integers(op: Any, tr: ThreadTranslator) -> Step:
    name = op.name.removeprefix("arith.")
    bits = values.integer_bits(op.operands[0].type)
    numbers = None if bits is None else _on_numbers(op, arith.integer_functions(bits)[name])
    return elementwise(op, tr, arith.integer_function_of(name, op.results[0].type), numbers, narrow=True)


@operation(*(f"arith.{name}" for name in arith.FLOAT_FUNCTIONS))
def _floats(op: Any, tr: ThreadTranslator) -> Step:
    return elementwise(op, tr, arith.FLOAT_FUNCTIONS[op.name.removeprefix("arith.")])


@operation("arith.cmpi", "arith.cmpf")
def _compare(op: Any, tr: ThreadTranslator) -> Step:
    function, _ = arith.compare_arrays(op)
    numbers = arith.compare_numbers(op)
    return elementwise(op, tr, function, numbers and (lambda x, y: int(numbers(x, y))), narrow=op.name == "arith.cmpi")


@operation("arith.select")
def _select(op: Any, tr: ThreadTranslator) -> Step:
    condition, yes, no = tr.operands(op)
    (result,) = tr.results(op)
    ty, site = op.results[0].type, tr.site(op)
    dtype, rank = held_dtype(ty), rank_of(ty)
    each = rank_of(op.operands[0].type) > 0

    def step(st: Any) -> None:
        v = st.v
        chosen = v[condition]
        if not isinstance(chosen, np.ndarray):
            v[result] = v[yes] if chosen else v[no]
        elif dtype is not None:
            where = chosen if each else in_front(chosen, rank)
            v[result] = np.where(where, np.asarray(v[yes], dtype), np.asarray(v[no], dtype))
        else:
            merged = v[yes].merge(chosen, v[no]) if hasattr(v[yes], "merge") else None
            if merged is None:
                st.stop("divergence", "threads of a warp choose different memory", site)
            v[result] = merged

    return step


@operation("arith.constant")
def _constant(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    value = conversions.constant(op.attributes["value"], op.results[0].type)

    def step(st: Any) -> None:
        st.v[result] = value

    return step


@operation(*(f"arith.{name}" for name in (*conversions.CONVERSIONS, "index_cast", "index_castui")))
def _convert(op: Any, tr: ThreadTranslator) -> Step:
    name = op.name.removeprefix("arith.")
    source, target = arith.held_type(op.operands[0].type), arith.held_type(op.results[0].type)
    function = conversions.narrow_conversion(op, name, conversions.conversion(name, source, target))
    bits = values.integer_bits(op.operands[0].type)
    numbers = None
    if bits is not None and values.integer_bits(op.results[0].type) is not None and name != "bitcast":
        unsigned, negate = name in ("extui", "index_castui"), bits == 1 and name in ("extsi", "index_cast")
        mask = (1 << bits) - 1
        numbers = _on_numbers(op, lambda x: x & mask if unsigned else -x if negate else x)

    def on_arrays(x: Array) -> Array:
        return function(x.reshape(x.shape or (1,))).reshape(x.shape)

    return elementwise(op, tr, on_arrays, numbers, narrow=True)


@operation(*(f"math.{name}" for name in math.FUNCTIONS))
def _math(op: Any, tr: ThreadTranslator) -> Step:
    return elementwise(op, tr, math.rounded(op))


@operation(*(f"math.{name}" for name in math.INTEGER_FUNCTIONS))
def _integer_math(op: Any, tr: ThreadTranslator) -> Step:
    function = math.INTEGER_FUNCTIONS[op.name.removeprefix("math.")]
    return elementwise(op, tr, lambda x: function(x.reshape(x.shape or (1,))).reshape(x.shape))


@operation("affine.apply", "affine.min", "affine.max")
def _apply(op: Any, tr: ThreadTranslator) -> Step:
    functions = affine.functions(op)
    operands, (result,) = tr.operands(op), tr.results(op)
    pick = np.maximum if op.name == "affine.max" else np.minimum

    def step(st: Any) -> None:
        given = [st.v[slot] for slot in operands]
        found = functions[0](given)
        for function in functions[1:]:
            found = pick(found, function(given))
        st.v[result] = found if isinstance(found, np.ndarray) and found.ndim else int(found)

    return step


@operation("affine.delinearize_index")
def _delinearize(op: Any, tr: ThreadTranslator) -> Step:
    index, *dynamic = tr.operands(op)
    results, basis = tr.results(op), _basis(op, dynamic)
    sizes = basis if len(basis) == len(results) else [0, *basis]

    def step(st: Any) -> None:
        left = st.v[index]
        for slot, size in reversed(list(zip(results[1:], sizes[1:], strict=True))):
            by = st.v[~size] if size < 0 else size
            st.v[slot] = left % by
            left = left // by
        st.v[results[0]] = left

    return step


@operation("affine.linearize_index")
def _linearize(op: Any, tr: ThreadTranslator) -> Step:
    slots, (result,) = tr.operands(op), tr.results(op)
    count = attribute(op, "operandSegmentSizes")[0]
    indices, basis = slots[:count], _basis(op, slots[count:])
    # The size of the outermost dimension may be left away.
    sizes = basis[len(basis) - count + 1 :]

    def step(st: Any) -> None:
        found = st.v[indices[0]]
        for index, size in zip(indices[1:], sizes, strict=True):
            found = found * (st.v[~size] if size < 0 else size) + st.v[index]
        st.v[result] = found

    return step


def _basis(op: Any, dynamic: list[int]) -> list[int]:
    """Sizes, or the complements of the slots of those that are not constant."""
    rest = iter(dynamic)
    return [~next(rest) if size < 0 else size for size in attribute(op, "static_basis")]
