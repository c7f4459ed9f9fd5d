# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic updates, and operations on register tiles that do not compute."""

from __future__ import annotations

from typing import Any, Literal

from .. import ir
from ..diagnostics import counted
from ..dialects import arith, mosaic_gpu, vector
from ..language.arithmetic import Operand, as_value, broadcast_to
from ..language.types import DType, Misuse, boolean, is_float, is_integer, member
from ..language.values import Array, Tile
from ..language.windows import stored_value
from .memory import Memory, as_memory

AtomicKind = Literal["add", "mul", "max", "min", "and", "or", "xor", "exchange"]
Scope = Literal["block", "device", "system"]
Ordering = Literal["relaxed", "acquire", "release", "acq_rel"]

_KINDS = {
    "add": ("addf", "addi", "addi"),
    "mul": ("mulf", "muli", "muli"),
    "max": ("maximumf", "maxs", "maxu"),
    "min": ("minimumf", "mins", "minu"),
    "and": (None, "andi", "andi"),
    "or": (None, "ori", "ori"),
    "xor": (None, "xori", "xori"),
    "exchange": ("assign", "assign", "assign"),
}
"""The kinds of arith.AtomicRMWKind for floats, signed and unsigned integers."""


def _kind(name: str, dtype: DType) -> Any:
    if name not in _KINDS:
        raise Misuse(f"kind is {name!r}, but must be {', '.join(_KINDS)}")
    floats, signed, unsigned = _KINDS[name]
    found = floats if is_float(dtype) else unsigned if dtype.kind in "ub" else signed
    if found is None:
        raise Misuse(f"an atomic {name} is not supported for {dtype}", "use integers")
    return next(item for item in arith.AtomicRMWKind if str(item) == found)


def _locations(array: Array, indices: Any, mask: Any) -> tuple[Memory, Tile, ir.Value | None]:
    memory = as_memory(array, "destination")
    if memory.ndim != 1:
        raise Misuse(f"{memory} has {counted(memory.ndim, 'dimension')}, but atomics access memory of one dimension")
    if not isinstance(indices, Tile) or not is_integer(indices.dtype):
        raise Misuse(f"the indices are {indices!r}, but must be a tile of integers")
    if mask is None:
        return memory, indices, None
    given = as_value(mask)
    if given.dtype != boolean:
        raise Misuse(f"the mask is {given.dtype}, but must be a boolean", "compare it, for example with != 0")
    return memory, indices, broadcast_to(given, indices.shape).value


def atomic_rmw(
    memory: Array,
    indices: Tile,
    kind: AtomicKind,
    values: Operand,
    mask: Operand | None = None,
    scope: Scope = "device",
    ordering: Ordering = "relaxed",
) -> Tile:
    """Combines elements of memory of one dimension with `values`, atomically, and returns the old elements.

    `indices` is a tile of int32, int64 or index, in bounds where `mask` is true. `values` is repeated to its shape.
    Example: `sb.atomic_rmw(bins, t, "add", 1)`.
    """
    destination, where, active = _locations(memory, indices, mask)
    given = stored_value(values, memory.dtype, where.shape, memory.name)
    op = mosaic_gpu.AtomicRMWOp(
        given.value.type,
        _kind(kind, memory.dtype),
        given.value,
        destination.value,
        where.value,
        member(mosaic_gpu.AtomicScope, "scope", scope),
        member(mosaic_gpu.AtomicOrdering, "ordering", ordering),
        mask=active,
    )
    return Tile(op.results[0], memory.dtype)


def atomic_cas(
    memory: Array,
    indices: Tile,
    expected: Operand,
    desired: Operand,
    mask: Operand | None = None,
    scope: Scope = "device",
    ordering: Ordering = "relaxed",
) -> Tile:
    """Replaces elements that equal `expected` (as bits) by `desired`, atomically, and returns the old elements.

    The arguments are those of `atomic_rmw`.
    """
    destination, where, active = _locations(memory, indices, mask)
    values = [stored_value(v, memory.dtype, where.shape, memory.name).value for v in (expected, desired)]
    op = mosaic_gpu.AtomicCASOp(
        values[0].type,
        values[0],
        values[1],
        destination.value,
        where.value,
        member(mosaic_gpu.AtomicScope, "scope", scope),
        member(mosaic_gpu.AtomicOrdering, "ordering", ordering),
        mask=active,
    )
    return Tile(op.results[0], memory.dtype)


def optimization_barrier(*values: Tile) -> Any:
    """The tiles, through an operation that passes neither fold nor move other accesses across. NVIDIA only."""
    given = [as_value(value) for value in values]
    op = mosaic_gpu.OptimizationBarrierOp([v.value for v in given], results=[v.value.type for v in given])
    results = [type(v)(result, v.dtype) for v, result in zip(given, op.results, strict=True)]
    return results[0] if len(results) == 1 else tuple(results)


def debug_print(format: str, value: Operand, with_block_id: bool = True) -> None:
    """Prints a line for each element: `format`, with `{}` replaced by the index and the element. NVIDIA only.

    `sl.print` also prints on AMD GPUs.
    """
    given = as_value(value)
    shown = given.value
    if not isinstance(given, Tile):
        shown = vector.broadcast(ir.VectorType.get([], shown.type), shown)
    mosaic_gpu.debug_print(ir.StringAttr.get(format), shown, with_block_id=with_block_id or None)


def print_layout(format: str, value: Tile | Memory) -> None:
    """Emits a remark with the layout of a tile, or with the transforms of shared memory, when the kernel is compiled.

    `{}` in `format` is replaced; `kernel.compile(...).remarks` has the remark. Example: `sb.print_layout("acc is laid out as {}", acc)`.
    """
    mosaic_gpu.print_layout(ir.StringAttr.get(format), value.value)
