# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants and the operations of `arith`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from .. import ir
from .interpreter import HANDLERS, Handler, Interpreter, handles
from .values import Value, attribute_data, element_type, error_of, rounded, signed_of, unsigned_of, width_of, wrap


@handles("arith.constant")
def _constant(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return Value(attribute_data(op.attributes["value"], op.results[0].type))


def _float_binary(function: Callable[[Any, Any], Any], bound: Callable[[Value, Value, np.ndarray], Any]) -> Handler:
    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        a, b = operands
        data = function(a.data, b.data)
        error = None if a.error is None and b.error is None else bound(a, b, data)
        return rounded(data, element_type(op.results[0].type), error)

    return handler


def _sum_bound(a: Value, b: Value, _: np.ndarray) -> np.ndarray:
    return error_of(a) + error_of(b)


def multiplication_bound(a: Value, b: Value, _: np.ndarray) -> np.ndarray:
    return np.abs(a.data) * error_of(b) + np.abs(b.data) * error_of(a) + error_of(a) * error_of(b)


def _quotient_bound(a: Value, b: Value, quotient: np.ndarray) -> np.ndarray:
    divisor = np.maximum(np.abs(b.data) - error_of(b), np.finfo(np.float64).tiny)
    return (error_of(a) + np.abs(quotient) * error_of(b)) / divisor


HANDLERS["arith.addf"] = _float_binary(np.add, _sum_bound)
HANDLERS["arith.subf"] = _float_binary(np.subtract, _sum_bound)
HANDLERS["arith.mulf"] = _float_binary(np.multiply, multiplication_bound)
HANDLERS["arith.divf"] = _float_binary(np.divide, _quotient_bound)
HANDLERS["arith.remf"] = _float_binary(np.fmod, _sum_bound)


def exact_float(function: Callable[..., Any]) -> Handler:
    """A handler of an operation without rounding: the result is an operand, possibly with another sign."""

    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        errors = [v.error for v in operands if v.error is not None]
        data = np.asarray(function(*(v.data for v in operands)))
        return Value(data, np.maximum.reduce([np.broadcast_to(e, data.shape) for e in errors]) if errors else None)

    return handler


HANDLERS["arith.negf"] = exact_float(np.negative)
HANDLERS["arith.maximumf"] = exact_float(np.maximum)
HANDLERS["arith.minimumf"] = exact_float(np.minimum)
HANDLERS["arith.maxnumf"] = exact_float(np.fmax)
HANDLERS["arith.minnumf"] = exact_float(np.fmin)


def _integer(function: Callable[[Any, Any], Any], unsigned: bool = False) -> Handler:
    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        bits = width_of(element_type(op.results[0].type))
        x, y = (unsigned_of(v.data, bits) if unsigned else signed_of(v) for v in operands[:2])
        return Value(wrap(function(x, y), bits))

    return handler


def _truncated_quotient(a: Any, b: Any) -> Any:
    """Integer division that rounds toward zero, as in arith. numpy rounds down."""
    divisor = cast(Any, np.where(b == 0, 1, b))
    quotient = np.abs(a) // np.abs(divisor)
    return cast(Any, np.where((a < 0) == (divisor < 0), quotient, -quotient))


def _remainder(a: Any, b: Any) -> Any:
    return a - _truncated_quotient(a, b) * b


def _nonzero(b: Any) -> Any:
    return np.where(b == 0, 1, b).astype(np.asarray(b).dtype)


_INTEGER_FUNCTIONS: tuple[tuple[str, Callable[[Any, Any], Any], bool], ...] = (
    ("addi", np.add, False),
    ("subi", np.subtract, False),
    ("muli", np.multiply, False),
    ("divsi", _truncated_quotient, False),
    ("remsi", _remainder, False),
    ("ceildivsi", lambda a, b: -((-a) // _nonzero(b)), False),
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
for _name, _binary, _is_unsigned in _INTEGER_FUNCTIONS:
    HANDLERS[f"arith.{_name}"] = _integer(_binary, _is_unsigned)


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


@handles("arith.cmpi")
def _cmpi(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    compare, unsigned = _INTEGER_PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
    bits = width_of(element_type(op.operands[0].type))
    a, b = (unsigned_of(v.data, bits) if unsigned else signed_of(v) for v in operands)
    return Value(np.asarray(compare(a, b)))


_FLOAT_PREDICATES = (None, np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal, None)


@handles("arith.cmpf")
def _cmpf(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    # arith numbers the ordered comparisons 0 to 7 and the unordered ones 8 to 15.
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    a, b = (v.data for v in operands)
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in (0, 15):
        return Value(np.full(np.shape(a), predicate == 15))
    if predicate in (7, 14):
        return Value(np.asarray(unordered if predicate == 14 else ~unordered))
    compare = _FLOAT_PREDICATES[predicate if predicate < 8 else predicate - 7]
    assert compare is not None
    result = compare(a, b)
    return Value(np.asarray((result & ~unordered) if predicate < 8 else (result | unordered)))


@handles("arith.select")
def _select(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    condition, a, b = operands
    error = None
    if a.error is not None or b.error is not None:
        error = np.where(condition.data, error_of(a), error_of(b))
    return Value(np.where(condition.data, a.data, b.data), error)


@handles("arith.extf")
def _extf(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return operands[0]


@handles("arith.truncf")
def _truncf(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return rounded(operands[0].data, element_type(op.results[0].type), operands[0].error)


@handles("arith.extsi", "arith.trunci", "arith.index_cast")
def _resize(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return Value(wrap(signed_of(operands[0]), width_of(element_type(op.results[0].type))))


@handles("arith.extui", "arith.index_castui")
def _extend_unsigned(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    source = unsigned_of(operands[0].data, width_of(element_type(op.operands[0].type)))
    return Value(wrap(source, width_of(element_type(op.results[0].type))))


@handles("arith.sitofp")
def _sitofp(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return rounded(signed_of(operands[0]), element_type(op.results[0].type), None)


@handles("arith.uitofp")
def _uitofp(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    source = unsigned_of(operands[0].data, width_of(element_type(op.operands[0].type)))
    return rounded(source, element_type(op.results[0].type), None)


@handles("arith.fptosi", "arith.fptoui")
def _fptoint(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return Value(wrap(np.trunc(operands[0].data), width_of(element_type(op.results[0].type))))


@handles("arith.bitcast")
def _bitcast(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    source, result = element_type(op.operands[0].type), element_type(op.results[0].type)
    bits = np.ascontiguousarray(operands[0].data.astype(source.numpy)).view(result.numpy)
    return Value(bits.astype(np.float64) if result.kind == "f" else wrap(bits, width_of(result)))
