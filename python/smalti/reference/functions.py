# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of `math`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from .. import dtypes
from .arithmetic import exact_float, integer_operation
from .interpreter import HANDLERS, Handler, Interpreter, handles
from .values import (
    Value,
    element_type,
    error_of,
    is_uncertain,
    rounded,
    smallest_normal,
    spread,
    unknown_where,
    unsigned_of,
    width_of,
    wrap,
)

_FUNCTION_ULPS = 4


def _elements(function: Callable[..., float]) -> Callable[..., np.ndarray]:
    return np.vectorize(function, otypes=[np.float64])


def _round_half_away(x: np.ndarray) -> np.ndarray:
    whole = np.trunc(x)
    return np.copysign(np.abs(whole) + (np.abs(x - whole) >= 0.5), x)


def _reciprocal_root(x: Any) -> Any:
    return 1.0 / np.sqrt(x)


def _function_value(data: np.ndarray, ty: dtypes.ElementType, error: np.ndarray | None) -> Value:
    """The value of a function, with the error of an implementation and the propagated one."""
    ulps = (_FUNCTION_ULPS - 1) * ty.rounding * np.abs(data)
    ulps = np.where(np.isfinite(ulps), ulps, 0.0)
    return rounded(data, ty, ulps if error is None else ulps + error)


def _function(function: Callable[..., Any], most: float = math.inf) -> Handler:
    """A handler of a function. Its propagated error is at most `most` times the one of its operand."""

    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        data = np.asarray(function(*(v.data for v in operands)), np.float64)
        error = spread(function, data, *operands)
        if error is not None and most < math.inf:
            error = most * error_of(operands[0])
        return _function_value(data, element_type(op.results[0].type), error)

    return handler


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "cosh": np.cosh,
    "erf": _elements(math.erf),
    "erfc": _elements(math.erfc),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    # numpy.power computes x**0.5 as a square root, which is -0 for -0 and NaN for -inf.
    "powf": np.float_power,
    "rsqrt": _reciprocal_root,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
for _name, _formula in _FUNCTIONS.items():
    HANDLERS[f"math.{_name}"] = _function(_formula)
# The ends of an interval do not bound a wave; its slope does.
HANDLERS["math.sin"] = _function(np.sin, most=1.0)
HANDLERS["math.cos"] = _function(np.cos, most=1.0)

_EXACT_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "absf": np.abs,
    "ceil": np.ceil,
    "copysign": np.copysign,
    "floor": np.floor,
    "round": _round_half_away,
    "roundeven": np.rint,
    "trunc": np.trunc,
}
for _name, _formula in _EXACT_FUNCTIONS.items():
    HANDLERS[f"math.{_name}"] = exact_float(_formula)


def _clamp(x: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


HANDLERS["math.clampf"] = exact_float(_clamp)


@handles("math.sincos")
def _sincos(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    ty = element_type(op.results[0].type)
    return [
        _function_value(np.asarray(function(operands[0].data)), ty, operands[0].error) for function in (np.sin, np.cos)
    ]


@handles("math.fpowi")
def _fpowi(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    data = np.power(operands[0].data, operands[1].data.astype(np.float64))
    ty = element_type(op.results[0].type)
    # A power by multiplications has an error for each of them.
    count = np.abs(operands[1].data).astype(np.float64)
    error = ty.rounding * count * np.where(np.isfinite(data), np.abs(data), 0.0)
    propagated = spread(np.power, data, *operands)
    return _function_value(data, ty, error if propagated is None else error + propagated)


def _multiply_add(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


@handles("math.fma")
def _fma(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    a, b, c = operands
    ty = element_type(op.results[0].type)
    data = np.asarray(_multiply_add(a.data, b.data, c.data))
    error = spread(_multiply_add, data, *operands)
    if ty.bits == 64:
        # numpy rounds the multiplication, so this rounding is part of the bound.
        own = ty.rounding * (np.abs(a.data * b.data) + np.abs(c.data))
        own = np.where(np.isfinite(own), own, 0.0)
        error = own if error is None else own + error
    return rounded(data, ty, error, exact=True)


_CLASSES: dict[str, Callable[[np.ndarray, float], Any]] = {
    "isfinite": lambda x, _: np.isfinite(x),
    "isinf": lambda x, _: np.isinf(x),
    "isnan": lambda x, _: np.isnan(x),
    "isnormal": lambda x, smallest: np.isfinite(x) & (np.abs(x) >= smallest),
}


def _class(holds: Callable[[np.ndarray, float], Any]) -> Handler:
    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        smallest = smallest_normal(element_type(op.operands[0].type))

        def function(x: np.ndarray) -> np.ndarray:
            return np.asarray(holds(x, smallest))

        data = function(operands[0].data)
        return Value(data, spread(function, data, operands[0]))

    return handler


for _name, _holds in _CLASSES.items():
    HANDLERS[f"math.{_name}"] = _class(_holds)


def _power(base: Any, exponent: Any) -> Any:
    """An integer power that wraps. A negative exponent gives the truncated quotient, as in `math.ipowi`."""
    result: Any = np.ones_like(base)
    square, rest = base, np.maximum(exponent, 0)
    while np.any(rest):
        result = cast(Any, np.where(rest & 1, result * square, result))
        square, rest = square * square, rest >> 1
    odd: Any = np.where(exponent & 1, -1, 1)
    return np.where(exponent >= 0, result, np.where(base == 1, 1, np.where(base == -1, odd, 0)))


HANDLERS["math.ipowi"] = integer_operation(_power)
HANDLERS["math.absi"] = integer_operation(np.abs)


def _bit_count(count: Callable[[int, int], int]) -> Handler:
    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        bits = width_of(element_type(op.results[0].type))

        def function(x: Any) -> int:
            return count(int(x), bits)

        data = np.vectorize(function, otypes=[np.int64])(unsigned_of(operands[0].data, bits))
        return Value(wrap(data, bits), unknown_where(is_uncertain(*operands), data.shape))

    return handler


HANDLERS["math.ctpop"] = _bit_count(lambda x, bits: x.bit_count())
HANDLERS["math.ctlz"] = _bit_count(lambda x, bits: bits - x.bit_length())
HANDLERS["math.cttz"] = _bit_count(lambda x, bits: (x & -x).bit_length() - 1 if x else bits)
