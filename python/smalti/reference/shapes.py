# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that move the elements of tiles, or replace them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .. import ir
from .interpreter import Interpreter, handles
from .memory import mixed
from .values import Value, element_type, error_of, shape_of


@handles("tensor.splat")
def _splat(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    shape = shape_of(op.results[0].type)
    source = operands[0]
    error = None if source.error is None else np.broadcast_to(source.error, shape).copy()
    return Value(np.broadcast_to(source.data, shape).copy(), error)


@handles("tensor.empty")
def _empty(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    # The contents are unspecified. NaN makes a use visible in the result.
    ty = op.results[0].type
    element = element_type(ty)
    fill: Any = np.nan if element.kind == "f" else 0
    return Value(np.full(shape_of(ty), fill, np.float64 if element.kind == "f" else np.int64))


@handles("triton_xla.mask")
def _mask(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    tile, *dynamic, value = operands
    bounds = mixed([int(v) for v in ir.DenseI64ArrayAttr(op.attributes["static_bounds"])], dynamic)
    keep = np.ones(tile.data.shape, bool)
    for dimension, bound in enumerate(bounds):
        lanes = cast(Any, np.arange(tile.data.shape[dimension]) < bound)
        keep &= lanes.reshape([-1 if d == dimension else 1 for d in range(tile.data.ndim)])
    error = None
    if tile.error is not None or value.error is not None:
        error = np.where(keep, error_of(tile), error_of(value))
    return Value(np.where(keep, tile.data, value.data), error)
