# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`complex`: complex numbers of f32 or f64; functions are computed in double precision and rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..... import ir
from ....translation.translator import Step, Unsupported
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, dtype_of
from .arith import elementwise, shaped


def _sign(x: Array) -> Array:
    return np.where(x == 0, x, x / np.where(x == 0, 1, np.abs(x)))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "add": np.add,
    "angle": np.angle,
    "conj": np.conj,
    "cos": np.cos,
    "div": np.divide,
    "eq": np.equal,
    "exp": np.exp,
    "expm1": np.expm1,
    "im": np.imag,
    "log": np.log,
    "log1p": np.log1p,
    "mul": np.multiply,
    "neg": np.negative,
    "neq": np.not_equal,
    "pow": np.power,
    "re": np.real,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sign": _sign,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "sub": np.subtract,
    "tan": np.tan,
    "tanh": np.tanh,
}
_EXACT = {"add", "sub", "neg", "conj", "re", "im", "eq", "neq"}
"""The arithmetic of each type; the order of roundings in multiplication and division is not specified."""


@operation(*(f"complex.{name}" for name in _FUNCTIONS))
def _function(op: Any, tr: ThreadTranslator) -> Step:
    name = op.name.removeprefix("complex.")
    function, dtype = _FUNCTIONS[name], dtype_of(op.results[0].type)
    if dtype is None:
        raise Unsupported(f"type {op.results[0].type}")

    def compute(*given: Array) -> Array:
        with np.errstate(all="ignore"):
            wide = given if name in _EXACT else [x.astype(np.complex128) for x in given]
            return np.asarray(function(*wide)).astype(dtype)

    return elementwise(op, tr, compute)


@operation("complex.create")
def _create(op: Any, tr: ThreadTranslator) -> Step:
    dtype = dtype_of(op.results[0].type)
    if dtype is None:
        raise Unsupported(f"type {op.results[0].type}")

    def create(real: Array, imaginary: Array) -> Array:
        found = np.empty(np.broadcast(real, imaginary).shape, dtype)
        found.real, found.imag = real, imaginary
        return found

    return elementwise(op, tr, create)


@operation("complex.constant")
def _constant(op: Any, tr: ThreadTranslator) -> Step:
    (result,), dtype = tr.results(op), dtype_of(op.results[0].type)
    if dtype is None:
        raise Unsupported(f"type {op.results[0].type}")
    real, imaginary = (ir.FloatAttr(part).value for part in ir.ArrayAttr(op.attributes["value"]))
    value = shaped(np.asarray(complex(real, imaginary)), dtype)

    def step(st: Any) -> None:
        st.v[result] = value

    return step
