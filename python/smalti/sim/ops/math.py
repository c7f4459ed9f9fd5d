# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`math`: computed in double precision and rounded once."""

from __future__ import annotations

import math as standard
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ir
from ...instructions import fused
from ..machine.machine import State
from ..machine.values import collapse, element_type, held_integer, integer_bits, is_vector, signed
from ..translation.translator import Step, Translator, operation
from .arith import floats, held_type, on_vectors, type_of
from .conversions import convert_float

Array = np.ndarray[Any, Any]


def _each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    return lambda x: np.asarray(np.frompyfunc(function, 1, 1)(x)).astype(np.float64)


def _power(x: Array, y: Array) -> Array:
    return np.power(x, y)


def _round_half_away(x: Array) -> Array:
    whole = np.trunc(x)
    return np.copysign(whole + (np.abs(x - whole) >= 0.5) * np.sign(x), x)


FUNCTIONS: dict[str, Callable[..., Array]] = {
    "absf": np.abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "copysign": np.copysign,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": _each(standard.erf),
    "erfc": _each(standard.erfc),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "fma": fused,
    "fpowi": _power,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "powf": _power,
    "round": _round_half_away,
    "roundeven": np.rint,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}


def rounded(op: ir.Operation) -> Callable[..., Array]:
    """The function of an op; its result is rounded once."""
    function = FUNCTIONS[op.name.removeprefix("math.")]
    dtype = type_of(op.results[0].type)
    if function is fused:
        return lambda *arrays: convert_float(np.asarray(fused(*(np.asarray(a, dtype) for a in arrays))), dtype)
    return lambda *arrays: convert_float(np.asarray(function(*(np.asarray(a, np.float64) for a in arrays))), dtype)


@operation(*(f"math.{name}" for name in FUNCTIONS))
def _floats(op: ir.Operation, translator: Translator) -> Step:
    return floats(op, translator, rounded(op))


def _count_leading_zeros(x: Array) -> Array:
    bits = x.dtype.itemsize * 8
    unsigned = x.view(f"u{x.dtype.itemsize}").astype(np.uint64)
    count = np.full(x.shape, bits)
    for shift in range(bits):
        count = np.where(unsigned >> np.uint64(shift) != 0, bits - 1 - shift, count)
    return count.astype(x.dtype)


def _count_trailing_zeros(x: Array) -> Array:
    lowest = x & -x
    return np.where(x == 0, x.dtype.itemsize * 8, x.dtype.itemsize * 8 - 1 - _count_leading_zeros(lowest)).astype(
        x.dtype
    )


def _count_ones(x: Array) -> Array:
    return np.bitwise_count(x.view(f"u{x.dtype.itemsize}")).astype(x.dtype)


INTEGER_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "absi": np.abs,
    "ctlz": _count_leading_zeros,
    "cttz": _count_trailing_zeros,
    "ctpop": _count_ones,
}


def integer_function(op: ir.Operation) -> Callable[[Array], Array]:
    """The function of an op on integers, which may have other widths than those of numpy."""
    name, ty = op.name.removeprefix("math."), op.results[0].type
    function, bits, dtype = INTEGER_FUNCTIONS[name], integer_bits(element_type(ty)), held_type(ty)
    assert bits is not None
    held = held_integer(bits)
    width = held.itemsize * 8
    if bits == width:
        return function

    def compute(x: Array) -> Array:
        if name == "absi":
            return x if bits == 1 else signed(np.abs(x), bits)
        codes = x.astype(held) & (1 << bits) - 1
        found = function(codes)
        if name == "ctlz":
            found = found - (width - bits)
        elif name == "cttz":
            found = np.where(codes == 0, bits, found)
        return (found & 1).astype(dtype) if bits == 1 else signed(found.astype(dtype), bits)

    return compute


@operation(*(f"math.{name}" for name in INTEGER_FUNCTIONS))
def _integers(op: ir.Operation, translator: Translator) -> Step:
    function = integer_function(op)
    if is_vector(op.results[0].type):
        return on_vectors(op, translator, function)
    dtype = held_type(op.results[0].type)
    (x,), (result,) = translator.operands(op), translator.results(op)
    assert integer_bits(op.results[0].type)

    def step(st: State) -> None:
        value = st.v[x]
        found = function(np.asarray(value, dtype).reshape(np.shape(value) or (1,)))
        st.v[result] = collapse(found)

    return step
