# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Creation of tiles, and changes of their shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..bindings import ir, triton_xla
from ..diagnostics import counted
from . import arithmetic
from .arithmetic import Operand, as_value, broadcast_to, common, constant, tile_type, to_scalar
from .tile_ops import require_tile_level, tile_ops
from .types import Misuse, float32, index, int32, is_integer
from .types import dtype as to_dtype
from .values import Scalar, Tile, Value, method, parameter_of

Shape = int | Sequence[int]


def static_shape(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of numbers. Raises Misuse if a size is not a constant."""
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for size in sizes:
        if isinstance(size, Value) or not isinstance(size, int) or isinstance(size, bool):
            if isinstance(size, Scalar) and (name := parameter_of(size.value)):
                raise Misuse(
                    f"the size of a tile is not a constant: `{name}` is a number of the kernel",
                    f"annotate it: `{name}: smalti.constexpr`",
                )
            raise Misuse(f"the size {size!r} of a tile is not a constant", "pass it as a smalti.constexpr parameter")
    return sizes


def axis_of(tile: Value, axis: int) -> int:
    """The number of a dimension; negative ones count from the end."""
    if not isinstance(axis, int) or not -tile.ndim <= axis < tile.ndim:
        raise Misuse(f"axis is {axis!r}, but the tile has {counted(tile.ndim, 'dimension')}")
    return axis % tile.ndim


def full(shape: Shape, value: Operand, dtype: Any = None) -> Tile:
    """A tile whose elements are `value`. Example: `sl.full((64, 64), -1.0, sl.float32)`."""
    wanted = None if dtype is None else to_dtype(dtype)
    scalar = as_value(value, wanted)
    return broadcast_to(scalar if wanted is None else arithmetic.cast(scalar, wanted), static_shape(shape))


def zeros(shape: Shape, dtype: Any = float32) -> Tile:
    """A tile of zeros. Example: `acc = sl.zeros((64, 64))`."""
    return full(shape, 0, dtype)


def ones(shape: Shape, dtype: Any = float32) -> Tile:
    """A tile of ones."""
    return full(shape, 1, dtype)


def arange(start: int, stop: int | None = None, dtype: Any = int32) -> Tile:
    """The numbers from `start` to `stop - 1`, or from 0 to `start - 1`. The bounds are constants.

    Example: `columns = sl.arange(64)`.
    """
    low, high = (0, start) if stop is None else (start, stop)
    (low, high) = static_shape((low, high))
    if high <= low:
        raise Misuse(f"arange({low}, {high}) does not have elements", "the second number must be above the first")
    wanted = to_dtype(dtype)
    counts = Tile(tile_ops().iota(tile_type((high - low,), wanted), 0), wanted)
    return counts + low if low else counts


def iota(shape: Shape, axis: int, dtype: Any = int32) -> Tile:
    """A tile of `shape` whose elements are their index along `axis`."""
    wanted = to_dtype(dtype)
    sizes = static_shape(shape)
    if not 0 <= axis < len(sizes):
        raise Misuse(f"axis is {axis}, but the shape has {counted(len(sizes), 'dimension')}")
    return Tile(tile_ops().iota(tile_type(sizes, wanted), axis), wanted)


def reshaped(what: str, old: Sequence[int], shape: Sequence[Any]) -> tuple[int, ...]:
    """The new shape of something of shape `old`: numbers or one tuple, of which one number may be -1. Raises Misuse."""
    sizes = list(static_shape(shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape))
    count = math.prod(old)
    if -1 in sizes:
        rest = -math.prod(sizes)
        if rest <= 0 or count % rest:
            raise Misuse(
                f"{what} of shape {tuple(old)} cannot be reshaped to {tuple(sizes)}",
                f"use one -1; {count} must be a multiple of the other sizes, multiplied",
            )
        sizes[sizes.index(-1)] = count // rest
    if math.prod(sizes) != count:
        raise Misuse(
            f"{what} of shape {tuple(old)} has {counted(count, 'element')}, and the shape {tuple(sizes)} has {math.prod(sizes)}"
        )
    return tuple(sizes)


@method
def reshape(tile: Tile, *shape: Any) -> Tile:
    """The elements in row-major order in another shape; one size may be -1. Example: `t.reshape(8, -1)`."""
    sizes = reshaped("a tile", tile.shape, shape)
    return (
        tile if sizes == tile.shape else Tile(tile_ops().reshape(tile_type(sizes, tile.dtype), tile.value), tile.dtype)
    )


@method
def transpose(tile: Tile, *permutation: Any) -> Tile:
    """The tile with permuted dimensions, or with reversed ones. Example: `t.transpose(0, 2, 1)`."""
    order = list(permutation[0] if len(permutation) == 1 and isinstance(permutation[0], (tuple, list)) else permutation)
    order = [axis_of(tile, axis) for axis in order] or list(range(tile.ndim))[::-1]
    if sorted(order) != list(range(tile.ndim)):
        raise Misuse(f"{tuple(order)} is not a permutation of the {counted(tile.ndim, 'dimension')}")
    if order == list(range(tile.ndim)):
        return tile
    ty = tile_type([tile.shape[axis] for axis in order], tile.dtype)
    return Tile(tile_ops().transpose(ty, tile.value, order), tile.dtype)


@method
def broadcast(value: Operand, shape: Shape) -> Tile:
    """The value repeated to `shape` by numpy's rule."""
    return broadcast_to(value, static_shape(shape))


@method
def expand_dims(tile: Tile, axis: int) -> Tile:
    """The tile with a new dimension of size 1, as `t[:, None]`."""
    if not -tile.ndim - 1 <= axis <= tile.ndim:
        raise Misuse(f"axis is {axis}, but must be from {-tile.ndim - 1} to {tile.ndim}")
    sizes = list(tile.shape)
    sizes.insert(axis % (tile.ndim + 1), 1)
    return reshape(tile, sizes)


@method
def squeeze(tile: Tile, axis: int) -> Tile:
    """The tile without a dimension of size 1."""
    axis = axis_of(tile, axis)
    if tile.shape[axis] != 1:
        raise Misuse(f"dimension {axis} of a tile of shape {tile.shape} does not have size 1")
    sizes = [size for d, size in enumerate(tile.shape) if d != axis]
    return Tile(tile_ops().squeeze(tile_type(sizes, tile.dtype), tile.value, axis), tile.dtype)


def concat(tiles: Sequence[Tile], axis: int = 0) -> Tile:
    """The tiles one after the other along `axis`. Their other sizes are equal."""
    values = [v for v in common(*tiles) if isinstance(v, Tile)]
    if not values or len(values) != len(tiles):
        raise Misuse("an operand of concat is not a tile, or none is given", "pass a list of tiles")
    axis = axis_of(values[0], axis)
    rest = {v.shape[:axis] + v.shape[axis + 1 :] for v in values}
    if len(rest) != 1:
        raise Misuse(
            f"tiles of shapes {', '.join(str(v.shape) for v in values)} differ in a dimension other than {axis}"
        )
    sizes = list(values[0].shape)
    sizes[axis] = sum(v.shape[axis] for v in values)
    ty = tile_type(sizes, values[0].dtype)
    return Tile(tile_ops().concat(ty, [v.value for v in values], axis), values[0].dtype)


def stack(tiles: Sequence[Tile], axis: int = 0) -> Tile:
    """The tiles along a new dimension."""
    return concat([expand_dims(tile, axis) for tile in tiles], axis)


@method
def split(tile: Tile, parts: int, axis: int = 0) -> tuple[Tile, ...]:
    """`parts` tiles of equal size along `axis`."""
    axis = axis_of(tile, axis)
    if parts < 1 or tile.shape[axis] % parts:
        raise Misuse(
            f"dimension {axis} of a tile of shape {tile.shape} cannot be split into {counted(parts, 'equal part')}",
            "use a divisor of the size",
        )
    sizes = list(tile.shape)
    sizes[axis] //= parts
    results = tile_ops().split(tile_type(sizes, tile.dtype), tile.value, parts, axis)
    return tuple(Tile(result, tile.dtype) for result in results)


def _getitem(tile: Value, key: Any) -> Any:
    """Numpy's basic indexing of a tile: None, slices and integers, all static."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(k, Value) for k in keys):
        raise Misuse(
            "a tile is indexed by a value that is computed when the kernel runs", "use sl.gather(tile, indices, axis)"
        )
    given = sum(k is not None and k is not Ellipsis for k in keys)
    if given > tile.ndim:
        raise Misuse(
            f"{counted(given, 'index is', 'indices are')} given for a tile of {counted(tile.ndim, 'dimension')}",
            "use one index per dimension",
        )
    filler = [slice(None)] * (tile.ndim - given)
    at = next((i for i, k in enumerate(keys) if k is Ellipsis), None)
    keys = keys + filler if at is None else keys[:at] + filler + keys[at + 1 :]
    offsets: list[int] = []
    sizes: list[int] = []
    steps: list[int] = []
    shape: list[int] = []
    for k in keys:
        if k is None:
            shape.append(1)
            continue
        size = tile.shape[len(offsets)]
        if isinstance(k, slice):
            start, stop, step = k.indices(size)
            length = len(range(start, stop, step))
            if step < 1 or length < 1:
                raise Misuse(
                    f"a slice of a dimension of size {size} has {counted(length, 'element')} and step {step}; both must be positive"
                )
            shape.append(length)
        elif isinstance(k, int):
            if not -size <= k < size:
                raise Misuse(f"index {k} is out of bounds for a dimension of size {size}")
            start, length, step = k % size, 1, 1
        else:
            raise Misuse(f"a tile is indexed by {k!r}; use integers, slices and None")
        offsets.append(start)
        sizes.append(length)
        steps.append(step)
    assert isinstance(tile, Tile) or not offsets
    result: Any = tile
    if tuple(sizes) != tile.shape:
        ty = tile_type(sizes, tile.dtype)
        result = Tile(tile_ops().slice(ty, tile.value, offsets, sizes, steps), tile.dtype)
    if isinstance(result, Scalar):
        return broadcast_to(result, shape) if shape else result
    return reshape(result, shape)


@method
def gather(tile: Tile, indices: Tile, axis: int, fill: int | float | None = None) -> Tile:
    """The elements of a tile at `indices` along `axis`, as numpy's take_along_axis.

    An index that is out of bounds reads `fill` (default: 0). `indices` has the shape of the tile except along `axis`.
    """
    require_tile_level("sl.gather")
    axis = axis_of(tile, axis)
    if not is_integer(indices.dtype):
        raise Misuse(f"the indices are {indices.dtype}, but must be integers", "convert them with .to(sl.int32)")
    attr = None if fill is None else arithmetic.attribute(fill, tile.dtype)
    ty = tile_type(indices.shape, tile.dtype)
    return Tile(triton_xla.gather_tile(ty, tile.value, indices.value, axis, fill=attr), tile.dtype)


@method
def mask(tile: Tile, bounds: Sequence[int | Scalar], value: int | float = 0) -> Tile:
    """The tile with `value` where an index is not below the bound of its dimension. One bound for each dimension."""
    require_tile_level("sl.mask", "use sl.where")
    if len(bounds) != tile.ndim:
        raise Misuse(
            f"{counted(len(bounds), 'bound is', 'bounds are')} given for a tile of {counted(tile.ndim, 'dimension')}",
            "use one per dimension",
        )
    dynamic = [to_scalar(b, index).value for b in bounds if isinstance(b, Value)]
    static = [
        ir.ShapedType.get_dynamic_size() if isinstance(b, Value) else min(max(int(b), 0), size)
        for b, size in zip(bounds, tile.shape, strict=True)
    ]
    return Tile(triton_xla.mask(tile.value, dynamic, static, constant(value, tile.dtype).value), tile.dtype)


Value.operators["getitem"] = _getitem
