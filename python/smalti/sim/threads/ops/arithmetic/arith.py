# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`arith` and `math`: on uniform scalars, per-thread scalars and vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from .....dialects.arith import AtomicRMWKind
from .....instructions import rounding_of
from ....machine import values
from ....machine.findings import KINDS
from ....ops import arith, conversions, math
from ....translation.translator import Step, Unsupported
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, dtype_of, held_dtype, in_front, rank_of, spread


def elementwise(
    op: Any,
    tr: ThreadTranslator,
    function: Callable[..., Any],
    numbers: Callable[..., Any] | None = None,
    narrow: bool = False,
) -> Step:
    """An op on elements. `numbers` computes uniform scalars with Python's numbers. `narrow`: packed integer types are
    supported."""
    operands, (result,) = tr.operands(op), tr.results(op)
    type_of = held_dtype if narrow else dtype_of
    dtypes = [type_of(value.type) for value in op.operands]
    wanted = type_of(op.results[0].type)
    # numpy takes None for float64 where it compares.
    if wanted is None or any(dtype is None for dtype in dtypes):
        raise Unsupported(f"type {op.results[0].type}")
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


def arith_name(kind: AtomicRMWKind) -> str:
    """The `arith` op that combines two numbers for a kind; `assign` does not have one."""
    name = str(kind)
    return name + "i" if name in ("maxs", "maxu", "mins", "minu") else name


_KINDS = {"add": "addi", "mul": "muli", "and": "andi", "or": "ori", "xor": "xori"}


def combining(name: str, dtype: np.dtype[Any], ty: Any = None) -> Callable[..., Any]:
    """The function that combines two numbers in a reduction, by MLIR's name of the kind. The type states the bits of
    integers."""
    floats = dtype.kind not in "ib"
    name = {"add": "addf", "mul": "mulf"}.get(name, name) if floats else _KINDS.get(name, name)
    if name not in (arith.FLOAT_FUNCTIONS if floats else arith.INTEGER_NAMES):
        raise Unsupported(f"the kind '{name}' cannot combine {'floats' if floats else 'integers'}; use another kind")
    if floats:
        return arith.FLOAT_FUNCTIONS[name]
    return arith.integer_array_function(name) if ty is None else arith.integer_function_of(name, ty)


def shaped(found: Any, dtype: np.dtype[Any]) -> Any:
    """The result of a function as a value of the program."""
    if np.ndim(found) == 0:
        return int(found) if dtype.kind in "ib" else dtype.type(found)
    return found if found.dtype == dtype else found.astype(dtype)


def reporting(name: str, op: Any, tr: ThreadTranslator, step: Step) -> Step:
    """The step of an integer op, with a check of the divisor if it is a division. `name` is the `arith` name."""
    ty = op.results[0].type
    undefined = arith.undefined_elements(name, ty)
    if undefined is None or arith.is_only_selected(op):
        return step
    (x, y), site, rank = tr.operands(op), tr.site(op), rank_of(ty)

    def checked(st: Any) -> None:
        found = undefined(st.v[x], st.v[y])
        # Copies bring no data without numbers.
        if np.any(found) and st.block.machine.how.numbers:
            bad = spread(found, np.dtype(np.bool_), st.lanes, rank).reshape(st.lanes, -1).any(1)
            bad = bad if st.mask is None else bad & st.mask
            if bad.any():
                st.report("division", KINDS["division"], site, int(bad.argmax()))
        step(st)

    return checked


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
    step = elementwise(op, tr, arith.integer_function_of(name, op.results[0].type), numbers, narrow=True)
    return reporting(name, op, tr, step)


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
                st.stop(
                    "divergence", "threads of a warp select different memrefs; the condition must be warp-uniform", site
                )
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
    function = conversions.narrow_conversion(op, name, conversions.conversion(name, source, target, rounding_of(op)))
    bits = values.integer_bits(op.operands[0].type)
    numbers = None
    if bits is not None and values.integer_bits(op.results[0].type) is not None and name != "bitcast":
        unsigned, negate = name in ("extui", "index_castui"), bits == 1 and name in ("extsi", "index_cast")
        mask = (1 << bits) - 1
        numbers = _on_numbers(op, lambda x: x & mask if unsigned else -x if negate else x)

    def on_arrays(x: Array) -> Array:
        return function(x.reshape(x.shape or (1,))).reshape(x.shape)

    return elementwise(op, tr, on_arrays, numbers, narrow=True)


def _scale(x: Array, dtype: np.dtype[Any]) -> Array:
    """The power of two of a scale, of which only the exponent is used, as a number of a type."""
    if x.dtype == ml_dtypes.float8_e8m0fnu:
        code = x.view(np.uint8).astype(np.int64)
    else:
        code = np.asarray(x, np.float32).view(np.uint32).astype(np.int64) >> 23 & 255
    return conversions.convert_float(np.where(code == 255, np.nan, np.ldexp(1.0, code - 127)), dtype)


@operation("arith.scaling_extf", "arith.scaling_truncf")
def _scaling(op: Any, tr: ThreadTranslator) -> Step:
    """A multiplication by a scale in the result type, or a division in the operand type (arith dialect)."""
    source, target = arith.held_type(op.operands[0].type), arith.held_type(op.results[0].type)
    rounding = rounding_of(op)

    def extend(x: Array, scale: Array) -> Array:
        return conversions.convert_float(x, target) * _scale(scale, target)

    def truncate(x: Array, scale: Array) -> Array:
        return conversions.convert_float(np.asarray(x / _scale(scale, source)), target, rounding)

    return elementwise(op, tr, extend if op.name == "arith.scaling_extf" else truncate, narrow=True)


@operation(*(f"math.{name}" for name in math.FUNCTIONS))
def _math(op: Any, tr: ThreadTranslator) -> Step:
    return elementwise(op, tr, math.rounded(op))


@operation(*(f"math.{name}" for name in math.INTEGER_FUNCTIONS))
def _integer_math(op: Any, tr: ThreadTranslator) -> Step:
    function = math.integer_function(op)
    return elementwise(op, tr, lambda x: function(x.reshape(x.shape or (1,))).reshape(x.shape), narrow=True)
