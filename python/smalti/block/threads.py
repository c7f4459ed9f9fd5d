# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks, thread groups and warps, and thread-level code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from .. import ir
from ..diagnostics import counted
from ..dialects import arith, gpu, mosaic_gpu, nvvm
from ..language.arithmetic import as_value, wrap
from ..language.grid import tile_id
from ..language.types import Misuse, index, member, mlir_type
from ..language.types import dtype as to_dtype
from ..language.values import Scalar, Tile, Value
from .barriers import Barrier, group_index_i32
from .layouts import Layout, layout_attribute
from .memory import Axis, Memory
from .state import current


def block_id(axis: int = 0) -> Scalar:
    """The number of the block in dimension `axis` of the grid: an `index` scalar."""
    return tile_id(axis)


def num_blocks(axis: int = 0) -> int:
    """The number of blocks in dimension `axis` of the grid, which is a constant."""
    grid = current().launch.grid
    if not isinstance(axis, int) or not 0 <= axis < len(grid):
        raise Misuse(
            f"the argument of num_blocks is {axis!r}, but must be a dimension of the grid, from 0 to {len(grid) - 1}"
        )
    return grid[axis]


def cluster_block_id(axis: Axis = "x") -> Scalar:
    """The number of the block in its cluster along `axis`: an `index` scalar."""
    return Scalar(gpu.cluster_block_id(member(gpu.Dimension, "axis", axis)), index)


def thread_group() -> Scalar:
    """The number of the thread group in the block: an `index` scalar, 0 to `thread_groups - 1`.

    An `if` on it specializes the thread groups: `if sb.thread_group() == 0: ...`.
    """
    number = group_index_i32()
    return Scalar(arith.index_cast(mlir_type(index), number), index)


def set_max_registers(count: int, action: Literal["increase", "decrease"]) -> None:
    """Changes the number of registers per thread of the thread group (sm_90a and later): a multiple of 8 from 24 to 256."""
    nvvm.setmaxregister(count, member(nvvm.SetMaxRegisterAction, "action", action))


# --- Regions ---


def _outside(value: Any) -> ir.Value:
    if isinstance(value, (Barrier, Memory, Value)):
        return value.value
    raise Misuse(f"{value!r} is an operand of a region, but must be a tile, a scalar, memory or a barrier")


def _inside(value: Any, argument: ir.Value) -> Any:
    """The argument of a region for an operand."""
    if isinstance(value, Barrier):
        return value.with_value(argument)
    if isinstance(value, Memory):
        return type(value)(argument, value.dtype, value.name)
    return wrap(argument, value.dtype)


def _region(op: Any, operands: Sequence[Any], function: Callable[..., Any]) -> Any:
    """Fills the region of an op with a call of `function`; the result is that of the function."""
    values = [_outside(operand) for operand in operands]
    block = op.regions[0].blocks.append(*[value.type for value in values], arg_locs=[ir.Location.current] * len(values))
    with ir.InsertionPoint(block):
        result = function(*[_inside(o, a) for o, a in zip(operands, block.arguments, strict=True)])
    return block, result


def warp_map(function: Callable[..., None], *operands: Any) -> None:
    """Each of the four warps of the thread group executes `function` independently.

    `function` receives the operands: scalars, memory and barriers. It cannot use other values of the kernel.
    Example: `sb.warp_map(lambda b: b.arrive(), barrier)`.
    """
    given = [as_value(o) if isinstance(o, (int, float)) else o for o in operands]
    if any(isinstance(operand, Tile) for operand in given):
        raise Misuse("an operand of warp_map is a tile, which all warps hold together", "store it to shared memory")
    op = mosaic_gpu.WarpMapOp([_outside(o) for o in given])
    _, result = _region(op, given, function)
    if result is not None:
        raise Misuse("the function of warp_map returns a value, but must return None")


def custom_primitive(
    function: Callable[..., Any],
    operands: Sequence[Any],
    results: Sequence[tuple[Any, Any]],
    in_layouts: Sequence[Layout] = (),
    out_layouts: Sequence[Layout] = (),
    in_transforms: Sequence[str] = (),
) -> Any:
    """Thread-level code: each thread executes `function` on its part of the operands.

    `results` has the shape and element type of each result, `()` for a scalar. `in_layouts` has a layout for each tile among
    the operands, and `out_layouts` one for each tile among the results. `in_transforms` has the transforms of each operand in
    shared memory, as MLIR text. `function` cannot use other values of the kernel.
    """
    given = [as_value(o) if isinstance(o, (int, float)) else o for o in operands]
    typed = [(tuple(shape), to_dtype(dtype)) for shape, dtype in results]
    types = [ir.VectorType.get(list(s), mlir_type(d)) if s else mlir_type(d) for s, d in typed]
    tiles = [o for o in given if isinstance(o, Tile)]
    shapes = [s for s, _ in typed if s]
    for what, layouts, count in (("in_layouts", in_layouts, len(tiles)), ("out_layouts", out_layouts, len(shapes))):
        if len(layouts) != count:
            raise Misuse(f"{what} has {counted(len(layouts), 'layout')} for {counted(count, 'tile')}")
    op = mosaic_gpu.CustomPrimitiveOp(
        types,
        [_outside(o) for o in given],
        ir.ArrayAttr.get([layout_attribute(x, t.shape) for x, t in zip(in_layouts, tiles, strict=True)]),
        ir.ArrayAttr.get([ir.Attribute.parse(text) for text in in_transforms]),
        ir.ArrayAttr.get([layout_attribute(x, s) for x, s in zip(out_layouts, shapes, strict=True)]),
    )
    block, returned = _region(op, given, function)
    items = list(returned) if isinstance(returned, (tuple, list)) else [] if returned is None else [returned]
    if len(items) != len(types):
        raise Misuse(f"the function returns {counted(len(items), 'value')}, but results has {len(types)}")
    with ir.InsertionPoint(block):
        mosaic_gpu.return_([as_value(item, dtype).value for item, (_, dtype) in zip(items, typed, strict=True)])
    values = [wrap(result, dtype) for result, (_, dtype) in zip(op.results, typed, strict=True)]
    return values[0] if len(values) == 1 else tuple(values)
