# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls of tiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, ir
from ..dialects.triton_xla import DotAlgorithm
from .interpreter import Interpreter, handles
from .values import Value, element_type, error_of, is_uncertain, unknown_where, width_of, wrap

_DOT_ROUNDING = 2.0**-23
_FLOAT8_DOT_ROUNDING = 2.0**-13
_TF32_ROUNDING = 2.0**-10
_MATMUL_CHUNK = 1 << 26
"""Number of multiplications in one call of numpy."""


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The matmul of matrices, or of two batches of matrices."""
    if a.ndim == 3:
        return np.stack([matmul(x, y) for x, y in zip(a, b, strict=True)])
    # Not `@`: for small tiles on a busy machine, BLAS threads mostly wait for each other.
    # In chunks, because Python handles Ctrl-C between calls.
    rows = max(1, _MATMUL_CHUNK // max(1, b.size))
    parts = [np.einsum("mk,kn->mn", a[at : at + rows], b) for at in range(0, len(a), rows)]
    return np.concatenate(parts) if len(parts) != 1 else parts[0]


def integer_matmul(a: Value, b: Value, c: Value, ty: dtypes.ElementType) -> Value:
    """`a b + c`, which wraps."""
    data = wrap(c.data + matmul(a.data, b.data), width_of(ty))
    uncertain = None
    if is_uncertain(a, b, c) is not None:
        uncertain = (error_of(c) != 0) | _reaches(error_of(a) != 0, error_of(b) != 0)
    return Value(data, unknown_where(uncertain, data.shape))


def _reaches(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The results that use an element of one of the two masks."""
    return np.any(a, axis=-1)[..., :, None] | np.any(b, axis=-2)[..., None, :]


def float_matmul(
    a: Value, b: Value, c: Value, ty: dtypes.ElementType, rounding: float, *, terms: int = 1, operands: float = 0.0
) -> Value:
    """`a b + c`, in any order.

    `rounding` is the error of an addition relative to the sum of the magnitudes, `terms` the number of additions for each
    pair of elements, and `operands` the relative error of the multiplication of two elements.
    """
    data = c.data + matmul(a.data, b.data)
    # An operand that is not finite decides its results alone.
    x, y, z = (np.where(np.isfinite(v.data), np.abs(v.data), 0.0) for v in (a, b, c))
    ex, ey, ez = (np.where(np.isfinite(error_of(v)), error_of(v), 0.0) for v in (a, b, c))
    magnitude = matmul(x, y)
    error = (terms * a.data.shape[-1] + 1) * rounding * (magnitude + z) + operands * magnitude + ez
    if is_uncertain(a, b) is not None:
        error = error + matmul(ex, y + ey) + matmul(x, ey)
    unknown = np.isinf(error_of(c)) | _reaches(np.isinf(error_of(a)), np.isinf(error_of(b)))
    stored = data.astype(ty.numpy).astype(np.float64)
    error = np.where(unknown, np.inf, np.where(np.isfinite(stored), error, 0.0))
    return Value(np.where(np.isfinite(stored), data, stored), error)


@handles("triton_xla.dot")
def _dot(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    a, b, c = operands
    operand, result = element_type(op.operands[0].type), element_type(op.results[0].type)
    if operand.kind != "f":
        return integer_matmul(a, b, c, result)
    rounding = _FLOAT8_DOT_ROUNDING if operand.bits == 8 else _DOT_ROUNDING
    is_tf32 = ir.IntegerAttr(op.attributes["algorithm"]).value == DotAlgorithm.TF32
    return float_matmul(a, b, c, result, rounding, operands=2 * _TF32_ROUNDING if is_tf32 else 0.0)
