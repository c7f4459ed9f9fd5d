# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that move the elements of tiles, or replace them. They do not add errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arithmetic import select
from .interpreter import Interpreter, handles
from .memory import fill_of, mixed, position
from .values import Value, certain, element_type, error_of, integer, integers, moved, shape_of, width_of, wrap


@handles("tensor.extract")
def _element(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    tile, *indices = operands
    place = position(op, indices, tile.data.shape)
    return Value(tile.data[place], None if tile.error is None else tile.error[place])


@handles("tensor.splat")
def _splat(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    shape = shape_of(op.results[0].type)
    return moved(operands[0], lambda x: np.broadcast_to(x, shape).copy())


@handles("triton_xla.mask")
def _mask(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    tile, *dynamic, value = operands
    bounds = mixed(integers(op, "static_bounds"), dynamic)
    keep = np.ones(tile.data.shape, bool)
    for dimension, bound in enumerate(bounds):
        keep &= np.indices(tile.data.shape, sparse=True)[dimension] < bound
    return select(Value(keep), tile, value)


def broadcast(tile: np.ndarray, dims: Sequence[int], shape: Sequence[int]) -> np.ndarray:
    """Dimension `i` of the tile becomes dimension `dims[i]` of the result."""
    sizes = [1] * len(shape)
    for dim, size in zip(dims, tile.shape, strict=True):
        sizes[dim] = size
    return np.broadcast_to(tile.reshape(sizes), shape).copy()


@handles("triton_xla.broadcast")
def _broadcast(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    dims, shape = integers(op, "dims"), shape_of(op.results[0].type)
    return moved(operands[0], lambda x: broadcast(x, dims, shape))


@handles("triton_xla.transpose")
def _transpose(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    permutation = integers(op, "permutation")
    return moved(operands[0], lambda x: np.transpose(x, permutation))


@handles("triton_xla.reshape", "triton_xla.squeeze_dims")
def _reshape(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    shape = shape_of(op.results[0].type)
    return moved(operands[0], lambda x: x.reshape(shape))


@handles("triton_xla.iota")
def _iota(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    ty, shape = element_type(op.results[0].type), shape_of(op.results[0].type)
    data = np.indices(shape)[integer(op, "dim")]
    # Floats are rounded to nearest.
    return Value(data.astype(ty.numpy).astype(np.float64) if ty.kind == "f" else wrap(data, width_of(ty)))


@handles("triton_xla.concat")
def _concat(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    dim = integer(op, "dim")
    data = np.concatenate([v.data for v in operands], dim)
    if all(v.error is None for v in operands):
        return Value(data)
    return Value(data, np.concatenate([error_of(v) for v in operands], dim))


@handles("triton_xla.slice")
def _slice(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    window = tuple(
        slice(offset, offset + (size - 1) * stride + 1, stride)
        for offset, size, stride in zip(*(integers(op, name) for name in ("offsets", "sizes", "strides")), strict=True)
    )
    return moved(operands[0], lambda x: x[window])


@handles("triton_xla.split")
def _split(_: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    dim, count = integer(op, "dim"), len(op.results)
    size = operands[0].data.shape[dim] // count

    def part(number: int) -> Value:
        return moved(operands[0], lambda x: np.take(x, range(number * size, (number + 1) * size), dim))

    return [part(number) for number in range(count)]


def gather_along(tile: Value, indices: np.ndarray, dim: int, fill: Any) -> Value:
    """Element `[i, j]` is `tile[i, indices[i, j]]` for dimension 1; an index out of range gives `fill`."""
    size = tile.data.shape[dim]
    inside = (indices >= 0) & (indices < size)
    where: list[Any] = list(np.indices(indices.shape))
    where[dim] = np.where(inside, indices, 0)
    taken = moved(tile, lambda x: x[tuple(where)])
    return select(Value(inside), taken, Value(np.asarray(fill, tile.data.dtype)))


@handles("triton_xla.gather_tile")
def _gather_tile(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    tile, indices = operands
    fill = fill_of(op, element_type(op.results[0].type))
    return gather_along(tile, certain(indices, "an index"), integer(op, "dim"), fill)
