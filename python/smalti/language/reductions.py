# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, scans, sorts and histograms."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

from ..bindings import ir, triton_xla
from ..diagnostics import counted
from .arithmetic import (
    Operand,
    as_value,
    bits,
    broadcast_to,
    cast,
    compare,
    maximum,
    minimum,
    tile_type,
    to_scalar,
    where,
    wrap,
)
from .shapes import axis_of, iota, reshape
from .tile_ops import require_tile_level, tile_ops
from .types import DType, Misuse, boolean, float32, int32, is_float, is_integer
from .types import dtype as to_dtype
from .values import Scalar, Tile, Value, method

Axis = int | Sequence[int] | None
Combine = Callable[..., Any]


def _tiles(values: Any) -> list[Tile]:
    items = list(values) if isinstance(values, (tuple, list)) else [values]
    for item in items:
        if not isinstance(item, Tile):
            raise Misuse(f"{item!r} is not a tile", "pass a tile or a tuple of tiles")
    if any(item.shape != items[0].shape for item in items):
        raise Misuse(
            f"the tiles of one reduction or scan have different shapes: {', '.join(str(item.shape) for item in items)}"
        )
    return items


def _axes(tile: Tile, axis: Axis) -> list[int]:
    if axis is None:
        return list(range(tile.ndim))
    return sorted({axis_of(tile, a) for a in ([axis] if isinstance(axis, int) else axis)})


def fill_region(
    op: Any,
    dtypes: Sequence[DType],
    function: Combine,
    form: str,
    results: Sequence[DType],
    end: Callable[[list[ir.Value]], Any] | None = None,
) -> None:
    """Gives `op` its region: `function` on one scalar of each of `dtypes`. `form` is the hint if the function has other
    parameters. `end` creates the terminator; default: that of reductions."""
    _require_parameters(function, len(dtypes), form)
    types = [dtype.mlir.removeprefix("u") for dtype in dtypes]
    arguments = [ir.Type.parse(t) for t in types]
    block = op.regions[0].blocks.append(*arguments, arg_locs=[ir.Location.current] * len(arguments))
    with ir.InsertionPoint(block):
        scalars = [Scalar(value, dtype) for value, dtype in zip(block.arguments, dtypes, strict=True)]
        result = function(*scalars)
        items = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(items) != len(results):
            raise Misuse(
                f"the function receives {counted(len(dtypes), 'element')} and returns {counted(len(items), 'value')}; it must return {len(results)}"
            )
        yielded = [to_scalar(item, dtype) for item, dtype in zip(items, results, strict=True)]
        (end or tile_ops().end_of_region)([item.value for item in yielded])


def _require_parameters(function: Combine, count: int, form: str) -> None:
    try:
        parameters = inspect.signature(function)
    except (TypeError, ValueError):
        # A function of C may not state its parameters.
        return
    try:
        parameters.bind(*range(count))
    except TypeError:
        raise Misuse(
            f"the function has the parameters {parameters}, but receives {counted(count, 'element')}", form
        ) from None


def _form(tiles: Sequence[Tile]) -> str:
    """The hint for functions that combine two elements of each tile."""
    numbers = [str(i) for i in range(len(tiles))] if len(tiles) > 1 else [""]
    names = [f"{letter}{number}" for letter in "ab" for number in numbers]
    return f"for {counted(len(tiles), 'tile')}: combine({', '.join(names)})"


def _initial(tiles: Sequence[Tile], init: Any) -> list[Scalar]:
    items = list(init) if isinstance(init, (tuple, list)) else [init]
    if len(items) != len(tiles):
        raise Misuse(
            f"{counted(len(items), 'initial value is', 'initial values are')} given for {counted(len(tiles), 'tile')}; one per tile is required"
        )
    return [to_scalar(item, tile.dtype) for item, tile in zip(items, tiles, strict=True)]


def reduce(tiles: Any, axis: Axis, function: Combine, init: Any, keepdims: bool = False) -> Any:
    """Combines the elements along `axis` (None: all) with `function`, which is associative and commutative.

    With several tiles, `function(a0, a1, ..., b0, b1, ...)` returns a tuple. `init` has one value for each tile, and enters
    each result once. Example: `sl.reduce(t, 1, lambda a, b: a * b, 1.0)`.
    """
    inputs = _tiles(tiles)
    dims = _axes(inputs[0], axis)
    inits = _initial(inputs, init)
    shape = [size for d, size in enumerate(inputs[0].shape) if d not in dims]
    types = [tile_type(shape, t.dtype) for t in inputs]
    op = tile_ops().reduce(types, [t.value for t in inputs], [i.value for i in inits], dims)
    dtypes = [t.dtype for t in inputs]
    fill_region(op, dtypes * 2, function, _form(inputs), dtypes)
    results: list[Any] = [wrap(result, dtype) for result, dtype in zip(op.results, dtypes, strict=True)]
    if keepdims:
        kept = [1 if d in dims else size for d, size in enumerate(inputs[0].shape)]
        results = [broadcast_to(r, kept) if isinstance(r, Scalar) else reshape(r, kept) for r in results]
    return tuple(results) if isinstance(tiles, (tuple, list)) else results[0]


def scan(tiles: Any, axis: int, function: Combine, init: Any, exclusive: bool = False, reverse: bool = False) -> Any:
    """Prefix reductions along `axis` with an associative `function`; see `reduce` for its arguments.

    The first operands of `function` are accumulated: they combine the elements that the scan passed first, also with `reverse`.
    With `exclusive`, an element combines only earlier elements. With `reverse`, the scan starts at the last element.
    """
    inputs = _tiles(tiles)
    inits = _initial(inputs, init)
    op = tile_ops().scan(
        [t.value for t in inputs], [i.value for i in inits], axis_of(inputs[0], axis), exclusive, reverse
    )
    dtypes = [t.dtype for t in inputs]
    fill_region(op, dtypes * 2, function, _form(inputs), dtypes)
    results = tuple(Tile(result, dtype) for result, dtype in zip(op.results, dtypes, strict=True))
    return results if isinstance(tiles, (tuple, list)) else results[0]


def _less(a: Any, b: Any) -> Any:
    """The total order of a sort: NaN is greater than all numbers."""
    less = compare("lt", a, b)
    if not is_float(a.dtype):
        return less
    return bits("or", less, bits("and", compare("eq", a, a), compare("ne", b, b)))


def sort(tiles: Any, axis: int = -1, before: Combine | None = None, descending: bool = False) -> Any:
    """Sorts along `axis`; the sort is stable. With several tiles, the first one has the keys.

    NaN is greater than all numbers, as in numpy and torch: it comes last, or first if `descending`.
    `before(a0, b0, a1, b1, ...)` returns whether the first element comes before the second one; the default compares
    the keys. It must order all elements. Example: `keys, positions = sl.sort((keys, positions), descending=True)`.
    """
    require_tile_level("sl.sort")
    inputs = _tiles(tiles)
    op = triton_xla.SortOp([t.value.type for t in inputs], [t.value for t in inputs], axis_of(inputs[0], axis))
    if before is not None and descending:
        raise Misuse(
            "sl.sort is called with both before and descending",
            "remove descending, and let before compare in reverse order",
        )
    comes_first = before or (lambda a, b, *_: _less(b, a) if descending else _less(a, b))
    dtypes = [t.dtype for t in inputs for _ in range(2)]
    names = ", ".join(f"a{i}, b{i}" for i in range(len(inputs)))
    fill_region(op, dtypes, comes_first, f"for {counted(len(inputs), 'tile')}: before({names})", [boolean])
    results = tuple(Tile(result, t.dtype) for result, t in zip(op.results, inputs, strict=True))
    return results if isinstance(tiles, (tuple, list)) else results[0]


def _lowest(dtype: DType, sign: int) -> Any:
    """The identity of a maximum (sign -1) or minimum (sign 1)."""
    if is_float(dtype):
        return sign * math.inf
    if dtype.kind == "u":
        return 0 if sign < 0 else 2**dtype.bits - 1
    if dtype == boolean:
        return sign > 0
    return -(2 ** (dtype.bits - 1)) if sign < 0 else 2 ** (dtype.bits - 1) - 1


def _widened(tile: Tile, dtype: Any) -> Any:
    """The tile in the type in which `sum` and its relatives compute: `dtype`, or one of at least 32 bits if it is None."""
    source = as_value(tile).dtype
    if dtype is not None:
        wanted = to_dtype(dtype)
    elif is_float(source):
        wanted = float32 if source.bits < 32 else source
    else:
        wanted = source if source.bits >= 32 and is_integer(source) else int32
    return cast(as_value(tile), wanted)


@method
def sum_(tile: Tile, axis: Axis = None, keepdims: bool = False, dtype: Any = None) -> Tile:
    """The sum along `axis` (None: all dimensions).

    f16, bf16 and smaller floats are summed in float32, and booleans and integers of at most 16 bits in int32, unless `dtype`
    is given. The order of the additions is not specified.
    """
    return reduce(_widened(tile, dtype), axis, lambda a, b: a + b, 0, keepdims)


@method
def mean(tile: Tile, axis: Axis = None, keepdims: bool = False) -> Tile:
    """The mean along `axis`, as a float."""
    count = math.prod(tile.shape[a] for a in _axes(tile, axis))
    value = tile if is_float(tile.dtype) else cast(tile, float32)
    return sum_(value, axis, keepdims) / count


@method
def prod(tile: Tile, axis: Axis = None, keepdims: bool = False, dtype: Any = None) -> Tile:
    """The elements along `axis` multiplied with each other, in the types of `sum`."""
    return reduce(_widened(tile, dtype), axis, lambda a, b: a * b, 1, keepdims)


@method
def max_(tile: Tile, axis: Axis = None, keepdims: bool = False) -> Tile:
    """The maximum along `axis`. NaN if an element is NaN."""
    return reduce(tile, axis, maximum, _lowest(tile.dtype, -1), keepdims)


@method
def min_(tile: Tile, axis: Axis = None, keepdims: bool = False) -> Tile:
    """The minimum along `axis`. NaN if an element is NaN."""
    return reduce(tile, axis, minimum, _lowest(tile.dtype, 1), keepdims)


def _arg(tile: Tile, axis: int | None, order: str, keepdims: bool) -> Tile:
    if axis is None:
        tile, axis = reshape(tile, -1), 0
        keepdims = False
    axis = axis_of(tile, axis)

    def better(av: Any, ai: Any, bv: Any, bi: Any) -> Any:
        first = compare("lt", ai, bi)
        left = bits("or", compare(order, av, bv), bits("and", compare("eq", av, bv), first))
        if is_float(tile.dtype):
            # As numpy: the first NaN wins.
            a_nan, b_nan = compare("ne", av, av), compare("ne", bv, bv)
            both = bits("and", a_nan, b_nan)
            left = where(both, first, where(bits("or", a_nan, b_nan), a_nan, left))
        return where(left, av, bv), where(left, ai, bi)

    low = _lowest(tile.dtype, -1 if order == "gt" else 1)
    positions = iota(tile.shape, axis, int32)
    _, index = reduce((tile, positions), axis, better, (low, 2**31 - 1), keepdims)
    return index


@method
def argmax(tile: Tile, axis: int | None = None, keepdims: bool = False) -> Tile:
    """The position of the first maximum along `axis`, as int32; that of the first NaN if there is one."""
    return _arg(tile, axis, "gt", keepdims)


@method
def argmin(tile: Tile, axis: int | None = None, keepdims: bool = False) -> Tile:
    """The position of the first minimum along `axis`, as int32; that of the first NaN if there is one."""
    return _arg(tile, axis, "lt", keepdims)


@method
def any_(tile: Tile, axis: Axis = None, keepdims: bool = False) -> Tile:
    """Whether an element along `axis` is true or not 0."""
    return reduce(cast(as_value(tile), boolean), axis, lambda a, b: bits("or", a, b), False, keepdims)


@method
def all_(tile: Tile, axis: Axis = None, keepdims: bool = False) -> Tile:
    """Whether all elements along `axis` are true or not 0."""
    return reduce(cast(as_value(tile), boolean), axis, lambda a, b: bits("and", a, b), True, keepdims)


@method
def cumsum(tile: Tile, axis: int = 0, exclusive: bool = False, reverse: bool = False, dtype: Any = None) -> Tile:
    """The sums of the first elements along `axis`, in the types of `sum`."""
    return scan(_widened(tile, dtype), axis, lambda a, b: a + b, 0, exclusive, reverse)


@method
def cumprod(tile: Tile, axis: int = 0, exclusive: bool = False, reverse: bool = False, dtype: Any = None) -> Tile:
    """Each element multiplied with those before it along `axis`, in the types of `sum`."""
    return scan(_widened(tile, dtype), axis, lambda a, b: a * b, 1, exclusive, reverse)


@method
def softmax(tile: Tile, axis: int = -1) -> Tile:
    """`exp(t - max) / sum`, along `axis`."""
    axis = axis_of(tile, axis)
    e = Value.methods["exp"](tile - max_(tile, axis, keepdims=True))
    return e / sum_(e, axis, keepdims=True)


def histogram(tile: Tile, bins: int, mask: Operand | None = None, dtype: Any = int32) -> Tile:
    """The number of elements of the tile that are 0, 1, ..., `bins - 1`, as int32 or int64.

    Other elements, and those whose mask is false, are not counted.
    """
    require_tile_level("sl.histogram", "use sb.atomic_rmw")
    wanted = to_dtype(dtype)
    given = None if mask is None else broadcast_to(mask, tile.shape).value
    return Tile(triton_xla.histogram(tile_type((bins,), wanted), tile.value, bins, mask=given), wanted)
