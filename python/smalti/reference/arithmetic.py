# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants and the operations of `arith`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, cast

import ml_dtypes
import numpy as np

from .. import instructions, ir
from .interpreter import HANDLERS, Handler, Interpreter, handles, located
from .values import (
    UNKNOWN_SIGN,
    Value,
    attribute_data,
    differences,
    element_type,
    error_of,
    is_uncertain,
    rounded,
    sign_errors,
    signed_of,
    smallest_normal,
    spread,
    unknown_where,
    unsigned_of,
    width_of,
    wrap,
)


@handles("arith.constant")
def _constant(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return Value(attribute_data(op.attributes["value"], op.results[0].type))


def _float_binary(function: Callable[[Any, Any], Any], correctly_rounded: bool = True) -> Handler:
    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        data = np.asarray(function(*(v.data for v in operands)))
        error = spread(function, data, *operands)
        return rounded(data, element_type(op.results[0].type), error, exact=correctly_rounded)

    return handler


HANDLERS["arith.addf"] = _float_binary(np.add)
HANDLERS["arith.subf"] = _float_binary(np.subtract)
HANDLERS["arith.mulf"] = _float_binary(np.multiply)


@handles("arith.divf")
def _divf(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    a, b = operands
    data = np.asarray(np.divide(a.data, b.data))
    error = spread(np.divide, data, a, b)
    if error is not None:
        # The divisor may be zero.
        error = np.where((error_of(b) > 0) & (np.abs(b.data) <= error_of(b)), np.inf, error)
    return rounded(data, element_type(op.results[0].type), error)


@handles("arith.remf")
def _remf(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    a, b = operands
    data = np.asarray(np.fmod(a.data, b.data))
    error = None
    if is_uncertain(a, b) is not None:
        quotient = np.divide(a.data, b.data)
        shift = error_of(a) + np.abs(np.trunc(quotient)) * error_of(b)
        # The result jumps by the divisor at each multiple of it.
        jumps = np.abs(quotient - np.rint(quotient)) * np.abs(b.data) <= shift
        error = np.where(shift == 0, 0.0, np.where(jumps, shift + np.abs(b.data) + error_of(b), shift))
    return rounded(data, element_type(op.results[0].type), error)


def exact_float(function: Callable[..., Any]) -> Handler:
    """A handler of an operation without rounding: the result is an operand, possibly with another sign."""

    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        data = np.asarray(function(*(v.data for v in operands)))
        return Value(data, spread(function, data, *operands))

    return handler


HANDLERS["arith.negf"] = exact_float(np.negative)


def maximum(a: Any, b: Any) -> Any:
    """The larger value, with -0 below +0, which numpy does not order."""
    return cast(Any, np.where((a == 0) & (b == 0), a + b, np.maximum(a, b)))


def _minimum(a: Any, b: Any) -> Any:
    return -maximum(-a, -b)


HANDLERS["arith.maximumf"] = exact_float(maximum)
HANDLERS["arith.minimumf"] = exact_float(_minimum)


def _number(function: Callable[[Any, Any], Any]) -> Handler:
    handler = exact_float(function)

    def with_either_zero(run: Interpreter, op: Any, operands: list[Value]) -> Value:
        value = cast(Value, handler(run, op, operands))
        signs = sign_errors(*(v.data for v in operands))
        return Value(value.data, np.maximum(error_of(value), signs)) if np.any(signs) else value

    return with_either_zero


HANDLERS["arith.maxnumf"] = _number(np.fmax)
HANDLERS["arith.minnumf"] = _number(np.fmin)


def integer_operation(function: Callable[..., Any], unsigned: bool = False) -> Handler:
    """A handler of an integer operation on signed or unsigned operands. One uncertain operand makes the result unknown,
    unless the result is a bool that does not depend on the operand."""

    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        bits = width_of(element_type(op.results[0].type))

        def evaluate(*values: np.ndarray) -> np.ndarray:
            numbers = (unsigned_of(v, bits) if unsigned else signed_of(v) for v in values)
            return wrap(np.asarray(function(*numbers)), bits)

        data = evaluate(*(v.data for v in operands))
        uncertain = is_uncertain(*operands)
        if uncertain is not None and bits == 1:
            choices = [(v.data, v.data ^ (error_of(v) != 0)) for v in operands]
            uncertain = np.logical_or.reduce([evaluate(*c) != data for c in itertools.product(*choices)])
        return Value(data, unknown_where(uncertain, data.shape))

    return handler


def _truncated_quotient(a: Any, b: Any) -> Any:
    """Integer division that rounds toward zero, as in arith. numpy rounds down."""
    divisor = _nonzero(b)
    return a // divisor + ((a % divisor != 0) & ((a < 0) != (divisor < 0)))


def _remainder(a: Any, b: Any) -> Any:
    return a - _truncated_quotient(a, b) * b


def _nonzero(b: Any) -> Any:
    return np.where(b == 0, 1, b).astype(np.asarray(b).dtype)


def _any_value(value: Value, where: np.ndarray) -> Value:
    """A value whose elements in `where` are undefined, so that every value is correct."""
    return Value(value.data, np.where(where, np.inf, error_of(value))) if where.any() else value


def _may_be_undefined(op: Any) -> bool:
    """Whether all users of the result of a division are selects, or it is in a region that is also applied to other elements."""
    parent = op.parent
    while parent.name.startswith("scf."):
        parent = parent.parent
    users = [(use.owner.operation.name, use.operand_number) for use in op.results[0].uses]
    return parent.name != "triton_xla.entry_func" or all(name == "arith.select" and n > 0 for name, n in users)


def _division(function: Callable[..., Any], is_unsigned: bool) -> Handler:
    """A handler of an integer division. An undefined element is an error, or any value if a select may drop it."""
    handler = integer_operation(function, is_unsigned)

    def divide(run: Interpreter, op: Any, operands: list[Value]) -> Value:
        value = cast(Value, handler(run, op, operands))
        a, b = operands
        bits = width_of(element_type(op.results[0].type))
        is_zero = b.data == 0
        exceeds = (signed_of(a.data) == -(1 << (bits - 1))) & (signed_of(b.data) == -1) & (not is_unsigned)
        undefined = np.broadcast_to(is_zero | exceeds, value.data.shape)
        if not undefined.any():
            return value
        uncertain = is_uncertain(a, b)
        is_certain = undefined if uncertain is None else undefined & ~uncertain
        if not is_certain.any() or _may_be_undefined(op):
            return _any_value(value, undefined)
        what = "an integer is divided by 0, or the smallest integer by -1"
        padding = "; tile elements outside the memref are 0" if value.data.ndim else ""
        raise located(op, what + padding)

    return divide


def _shift(function: Callable[..., Any], is_unsigned: bool) -> Handler:
    """A handler of a shift, which is undefined by the number of bits or more."""
    handler = integer_operation(function, is_unsigned)

    def shift(run: Interpreter, op: Any, operands: list[Value]) -> Value:
        bits = width_of(element_type(op.results[0].type))
        return _any_value(cast(Value, handler(run, op, operands)), unsigned_of(operands[1].data, bits) >= bits)

    return shift


DIVISIONS = ("divsi", "remsi", "ceildivsi", "floordivsi", "divui", "remui", "ceildivui")
_INTEGER_FUNCTIONS: tuple[tuple[str, Callable[[Any, Any], Any], bool], ...] = (
    ("addi", np.add, False),
    ("subi", np.subtract, False),
    ("muli", np.multiply, False),
    ("divsi", _truncated_quotient, False),
    ("remsi", _remainder, False),
    ("ceildivsi", lambda a, b: a // _nonzero(b) + (a % _nonzero(b) != 0), False),
    ("floordivsi", lambda a, b: a // _nonzero(b), False),
    ("divui", lambda a, b: a // _nonzero(b), True),
    ("remui", lambda a, b: a % _nonzero(b), True),
    ("ceildivui", lambda a, b: (a // _nonzero(b)) + (a % _nonzero(b) != 0), True),
    ("maxsi", np.maximum, False),
    ("minsi", np.minimum, False),
    ("maxui", np.maximum, True),
    ("minui", np.minimum, True),
    ("andi", np.bitwise_and, False),
    ("ori", np.bitwise_or, False),
    ("xori", np.bitwise_xor, False),
    ("shli", np.left_shift, True),
    ("shrui", np.right_shift, True),
    ("shrsi", np.right_shift, False),
)
_SHIFTS = ("shli", "shrui", "shrsi")
for _name, _binary, _is_unsigned in _INTEGER_FUNCTIONS:
    _handler = _division if _name in DIVISIONS else _shift if _name in _SHIFTS else integer_operation
    HANDLERS[f"arith.{_name}"] = _handler(_binary, _is_unsigned)


_INTEGER_PREDICATES: tuple[tuple[Callable[[Any, Any], Any], bool], ...] = (
    (np.equal, False),
    (np.not_equal, False),
    (np.less, False),
    (np.less_equal, False),
    (np.greater, False),
    (np.greater_equal, False),
    (np.less, True),
    (np.less_equal, True),
    (np.greater, True),
    (np.greater_equal, True),
)


@handles("arith.addui_extended")
def _addui_extended(_: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    bits = width_of(element_type(op.results[0].type))
    a, b = (unsigned_of(v.data, bits) for v in operands)
    total = wrap(a + b, bits)
    error = unknown_where(is_uncertain(*operands), total.shape)
    return Value(total, error), Value(np.asarray(unsigned_of(total, bits) < a), error)


@handles("arith.mulsi_extended", "arith.mului_extended")
def _multiply_extended(_: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    bits = width_of(element_type(op.results[0].type))
    unsigned = op.name == "arith.mului_extended"
    a, b = (np.asarray(unsigned_of(v.data, bits) if unsigned else signed_of(v.data)).astype(object) for v in operands)
    halves = (a * b, (a * b) >> bits)
    error = unknown_where(is_uncertain(*operands), np.shape(a * b))
    limit = (1 << 64) - 1
    return [Value(wrap(np.asarray(half & limit).astype(np.uint64), bits), error) for half in halves]


@handles("arith.cmpi")
def _cmpi(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    compare, unsigned = _INTEGER_PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
    bits = width_of(element_type(op.operands[0].type))
    a, b = (unsigned_of(v.data, bits) if unsigned else signed_of(v.data) for v in operands)
    data = np.asarray(compare(a, b))
    return Value(data, unknown_where(is_uncertain(*operands), data.shape))


_FLOAT_PREDICATES = (None, np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal, None)


@handles("arith.cmpf")
def _cmpf(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    # arith numbers the ordered comparisons 0 to 7 and the unordered ones 8 to 15.
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    a, b = (v.data for v in operands)
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in (0, 15):
        return Value(np.full(np.shape(unordered), predicate == 15))
    slack = error_of(operands[0]) + error_of(operands[1])
    slack = np.where((a == 0) & (b == 0) & (slack <= 2 * UNKNOWN_SIGN), 0.0, slack)
    uncertain = np.isinf(slack)
    if predicate in (7, 14):
        result = unordered if predicate == 14 else ~unordered
    else:
        compare = _FLOAT_PREDICATES[predicate if predicate < 8 else predicate - 7]
        assert compare is not None
        result = (compare(a, b) & ~unordered) if predicate < 8 else (compare(a, b) | unordered)
        if op.operands[0] != op.operands[1]:
            uncertain = uncertain | ((slack > 0) & (np.abs(a - b) <= slack))
    return Value(np.asarray(result), unknown_where(uncertain, np.shape(result)) if np.any(uncertain) else None)


@handles("arith.select")
def _select(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return select(*operands)


def select(condition: Value, a: Value, b: Value) -> Value:
    """Elements of `a` where the condition is true, and of `b` elsewhere. Where the condition is uncertain, the error covers
    both."""
    data = np.where(condition.data, a.data, b.data)
    if is_uncertain(condition, a, b) is None:
        return Value(data)
    error = np.where(condition.data, error_of(a), error_of(b))
    either = differences(a.data, b.data) + np.maximum(error_of(a), error_of(b))
    return Value(data, np.where(error_of(condition) != 0, either, error))


# f8E8M0FNU has a larger range than f16.
@handles("arith.extf", "arith.truncf")
def _convert_float(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return _rounded_by_mode(op, operands[0].data, operands[0].error)


def _rounded_by_mode(op: Any, data: Any, error: np.ndarray | None) -> Value:
    """Like `rounded`, with the rounding mode of the operation."""
    ty, mode = element_type(op.results[0].type), instructions.rounding_of(op)
    if mode == "nearest_even":
        return rounded(data, ty, error, exact=True)
    data = np.asarray(data, np.float64)
    exact: Any = instructions.convert(data, "f64", ty.mlir, rounding=mode, saturate=ty.bits <= 8).astype(np.float64)
    if ty.mlir == "f8E8M0FNU":
        exact = np.where(data < 0, np.nan, exact)
    if error is None:
        return Value(exact)
    # An inexact operand may be rounded to either neighbor of the exact one.
    near = rounded(data, ty, error + ty.rounding * np.maximum(np.abs(data), smallest_normal(ty)))
    return Value(np.where(error == 0, exact, near.data), np.where(error == 0, 0.0, error_of(near)))


@handles("arith.scaling_extf", "arith.scaling_truncf")
def _scale(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    # The scale has the type f8E8M0FNU, or is truncated to it.
    tile, scale = operands
    powers = scale.data.astype(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    function = np.multiply if op.name == "arith.scaling_extf" else np.divide
    data = function(tile.data, powers)
    return _rounded_by_mode(op, data, spread(function, data, tile, Value(powers)))


@handles("arith.extsi", "arith.trunci", "arith.index_cast")
def _resize(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    data = wrap(signed_of(operands[0].data), width_of(element_type(op.results[0].type)))
    return Value(data, unknown_where(is_uncertain(*operands), data.shape))


@handles("arith.extui", "arith.index_castui")
def _extend_unsigned(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    source = unsigned_of(operands[0].data, width_of(element_type(op.operands[0].type)))
    data = wrap(source, width_of(element_type(op.results[0].type)))
    return Value(data, unknown_where(is_uncertain(*operands), data.shape))


@handles("arith.sitofp")
def _sitofp(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return rounded(signed_of(operands[0].data), element_type(op.results[0].type), operands[0].error, exact=True)


@handles("arith.uitofp")
def _uitofp(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    source = unsigned_of(operands[0].data, width_of(element_type(op.operands[0].type)))
    error = unknown_where(is_uncertain(*operands), source.shape)
    return rounded(source, element_type(op.results[0].type), error, exact=True)


@handles("arith.fptosi", "arith.fptoui")
def _fptoint(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    ty, source = element_type(op.results[0].type), operands[0]
    bits = width_of(ty)
    is_signed = op.name == "arith.fptosi"
    low, end = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if is_signed else (0.0, 2.0**bits)
    with np.errstate(invalid="ignore"):  # Infinite numbers and errors.
        first, last = np.trunc(source.data - error_of(source)), np.trunc(source.data + error_of(source))
    in_range = (first >= low) & (last < end)
    whole = np.where(in_range, np.trunc(source.data), 0.0)
    high = whole >= 2.0**63
    codes = np.where(high, whole - 2.0**63, whole).astype(np.int64) ^ np.where(high, np.int64(-1) << 63, 0)
    value = Value(wrap(codes, bits), spread(np.trunc, np.trunc(source.data), source))
    return _any_value(value, ~in_range)


@handles("arith.bitcast")
def _bitcast(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    source, result = element_type(op.operands[0].type), element_type(op.results[0].type)
    data = operands[0].data
    if source.bits < 8:
        data = unsigned_of(data, source.bits)
    # numpy stores numbers of other sizes in the low bits of its next larger type.
    size = max(8, 1 << (source.bits - 1).bit_length())
    types = [np.dtype(f"i{size // 8}") if ty.kind == "i" else ty.numpy for ty in (source, result)]
    bits = np.ascontiguousarray(data.astype(types[0])).view(types[1]).reshape(data.shape)
    data = bits.astype(np.float64) if result.kind == "f" else wrap(bits, width_of(result))
    return Value(data, unknown_where(is_uncertain(*operands), data.shape))
