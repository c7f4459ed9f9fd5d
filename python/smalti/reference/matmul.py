# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls of tiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from .interpreter import Interpreter, handles
from .values import Value, element_type, width_of, wrap

_DOT_ROUNDING = 2.0**-23
_FLOAT8_DOT_ROUNDING = 2.0**-13
_TF32_ROUNDING = 2.0**-10


_MATMUL_CHUNK = 1 << 26
"""Number of multiplications in one call of numpy."""


def _matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    # Not `@`: for small tiles on a busy machine, BLAS threads mostly wait for each other.
    # In chunks, because Python handles Ctrl-C between calls.
    rows = max(1, _MATMUL_CHUNK // max(1, b.size))
    parts = [np.einsum("mk,kn->mn", a[at : at + rows], b) for at in range(0, len(a), rows)]
    return np.concatenate(parts) if len(parts) != 1 else parts[0]


@handles("triton_xla.dot")
def _dot(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    a, b, c = operands
    data = c.data + _matmul(a.data, b.data)
    operand = element_type(op.operands[0].type)
    if operand.kind != "f":
        return Value(wrap(data, width_of(element_type(op.results[0].type))))
    rounding = _FLOAT8_DOT_ROUNDING if operand.bits == 8 else _DOT_ROUNDING
    magnitude = _matmul(np.abs(a.data), np.abs(b.data))
    depth = a.data.shape[1]
    error = (depth + 1) * rounding * (magnitude + np.abs(c.data))
    if "tf32" in op.attributes:
        error = error + 2 * _TF32_ROUNDING * magnitude
    if a.error is not None:
        error = error + _matmul(a.error, np.abs(b.data))
    if b.error is not None:
        error = error + _matmul(np.abs(a.data), b.error)
    if c.error is not None:
        error = error + c.error
    return Value(data, np.where(np.isfinite(error), error, 0.0))
