# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows of memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ir
from .interpreter import Interpreter, handles
from .values import Value, error_of, shape_of


def mixed(static: Sequence[int], dynamic: Sequence[Value]) -> list[int]:
    remaining = iter(dynamic)
    placeholder = ir.ShapedType.get_dynamic_size()
    return [int(next(remaining).data) if value == placeholder else int(value) for value in static]


def _window(op: Any, operands: list[Value], first: int) -> tuple[list[int], list[np.ndarray]]:
    """The sizes of the window, and the memory index of each element along each dimension."""
    segments = [int(s) for s in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])]
    rest = operands[first:]
    groups: list[list[Value]] = []
    for count in segments[first:]:
        groups.append(rest[:count])
        rest = rest[count:]
    offsets, sizes, strides = (
        mixed([int(v) for v in ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"])], group)
        for name, group in zip(("offsets", "sizes", "strides"), groups, strict=True)
    )
    return sizes, [o + np.arange(n) * s for o, n, s in zip(offsets, sizes, strides, strict=True)]


def _inside(indices: Sequence[np.ndarray], shape: Sequence[int]) -> list[np.ndarray]:
    return [(i >= 0) & (i < extent) for i, extent in zip(indices, shape, strict=True)]


def _fill(op: Any) -> Any:
    return op.attributes["fill"].value if "fill" in op.attributes else 0


@handles("triton_xla.extract")
def _extract(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    source = operands[0]
    sizes, indices = _window(op, operands, 1)
    inside = _inside(indices, source.data.shape)
    target = np.ix_(*(np.nonzero(ok)[0] for ok in inside))
    origin = np.ix_(*(index[ok] for index, ok in zip(indices, inside, strict=True)))
    shape = shape_of(op.results[0].type)
    data = np.full(sizes, _fill(op), source.data.dtype)
    data[target] = source.data[origin]
    error = None
    if source.error is not None:
        error = np.zeros(sizes)
        error[target] = source.error[origin]
        error = error.reshape(shape)
    return Value(data.reshape(shape), error)


@handles("triton_xla.insert")
def _insert(_: Interpreter, op: Any, operands: list[Value]) -> None:
    tile, destination = operands[:2]
    sizes, indices = _window(op, operands, 2)
    inside = _inside(indices, destination.data.shape)
    origin = np.ix_(*(np.nonzero(ok)[0] for ok in inside))
    target = np.ix_(*(index[ok] for index, ok in zip(indices, inside, strict=True)))
    destination.data[target] = tile.data.reshape(sizes)[origin]
    if tile.error is not None or destination.error is not None:
        if destination.error is None:
            destination.error = np.zeros(destination.data.shape)
        destination.error[target] = error_of(tile).reshape(sizes)[origin]
