# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of `math`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .arithmetic import exact_float, multiplication_bound
from .interpreter import HANDLERS, Handler, Interpreter, handles
from .values import Value, element_type, error_of, rounded, signed_of, width_of, wrap

_FUNCTION_ULPS = 4


def _erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def _round_half_away(x: np.ndarray) -> np.ndarray:
    return np.trunc(x + np.copysign(0.5, x))


def _function(function: Callable[[Any], Any]) -> Handler:
    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        x, ty = operands[0], element_type(op.results[0].type)
        data = np.asarray(function(x.data), np.float64)
        error = (_FUNCTION_ULPS - 1) * ty.rounding * np.abs(data) if ty.bits < 64 else np.zeros(data.shape)
        if x.error is not None:
            ends = [np.abs(np.asarray(function(x.data + side * x.error)) - data) for side in (-1, 1)]
            error = error + np.nan_to_num(np.maximum(*ends))
        return rounded(data, ty, error)

    return handler


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "erf": _erf,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": _round_half_away,
    "roundeven": np.rint,
}
for _name, _unary in _FUNCTIONS.items():
    HANDLERS[f"math.{_name}"] = _function(_unary)


HANDLERS["math.absf"] = exact_float(np.abs)


@handles("math.powf")
def _powf(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    x, y = operands
    ty = element_type(op.results[0].type)
    data = np.power(x.data, y.data)
    error = (_FUNCTION_ULPS - 1) * ty.rounding * np.abs(data)
    if x.error is not None or y.error is not None:
        corners = [np.power(x.data + i * error_of(x), y.data + j * error_of(y)) for i in (-1, 1) for j in (-1, 1)]
        error = error + np.nan_to_num(np.maximum.reduce([np.abs(c - data) for c in corners]))
    return rounded(data, ty, error)


@handles("math.fma")
def _fma(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    a, b, c = operands
    ty = element_type(op.results[0].type)
    error = None
    if any(v.error is not None for v in operands):
        error = multiplication_bound(a, b, a.data) + error_of(c)
    if ty.bits == 64:
        # numpy rounds the multiplication, so this rounding is part of the bound.
        error = ty.rounding * np.abs(a.data * b.data) + ty.rounding * np.abs(c.data) + (0 if error is None else error)
    return rounded(a.data * b.data + c.data, ty, error)


@handles("math.absi")
def _absi(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return Value(wrap(np.abs(signed_of(operands[0])), width_of(element_type(op.results[0].type))))
