# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls of tiles."""

from __future__ import annotations

from typing import Any, Literal

from ..bindings import ir, triton_xla
from .arithmetic import broadcast_to, cast, tile_type, to_scalar
from .shapes import full
from .tile_ops import require_tile_level
from .types import DType, Misuse, float32, float64, int32, is_float, member, mlir_type
from .types import dtype as to_dtype
from .values import Scalar, Tile, Value

Algorithm = Literal["default", "ieee", "tf32", "tf32x3", "bf16", "bf16x3", "bf16x6", "bf16x9"]
ScaleLayout = Literal["linear", "padded", "swizzled_128x4"]


def _matrices(a: Any, b: Any, acc: Any) -> None:
    require_tile_level("a matmul of tiles", "use sb.mma or sb.wgmma")
    for tile in (a, b):
        if not isinstance(tile, Tile) or tile.ndim not in (2, 3):
            raise Misuse(f"{tile!r} is an operand of a matmul, but must be a tile of 2 or 3 dimensions")
    if a.ndim != b.ndim:
        raise Misuse(f"operands have shapes {a.shape} and {b.shape}, but must have the same number of dimensions")
    if acc is not None and not isinstance(acc, Value):
        raise Misuse(f"acc is {acc!r}, but must be a tile", "use sl.full(shape, number)")


def dot(
    a: Tile,
    b: Tile,
    acc: Tile | None = None,
    algorithm: Algorithm | None = None,
    dtype: Any = None,
) -> Tile:
    """The matmul `a @ b`, added to the accumulator `acc` (default: zeros). Tiles of 3 dimensions are batches.

    The accumulator is float32; float64 for float64 operands, int32 for 8-bit integers, and float16 on request
    (`dtype=sl.float16`). `algorithm` allows roundings of float32 operands. Errors: other element types, and shapes that do
    not match. Example: `acc = sl.dot(a, b, acc)`.
    """
    _matrices(a, b, acc)
    if a.shape[-1] != b.shape[-2] or a.shape[:-2] != b.shape[:-2]:
        raise Misuse(
            f"shapes {a.shape} and {b.shape} do not match: the operands have K = {a.shape[-1]} and {b.shape[-2]}",
            "transpose an operand with t.T",
        )
    eight = a.dtype.bits == 8 and b.dtype.bits == 8
    if a.dtype != b.dtype and not eight:
        raise Misuse(f"operands are {a.dtype} and {b.dtype}, but must have one element type", f"use b.to(sl.{a.dtype})")
    wanted = to_dtype(dtype) if dtype is not None else acc.dtype if acc is not None else _accumulator(a.dtype)
    shape = (*a.shape[:-1], b.shape[-1])
    start = full(shape, 0, wanted) if acc is None else broadcast_to(cast(acc, wanted), shape)
    result = triton_xla.dot(
        a.value,
        b.value,
        start.value,
        algorithm=member(triton_xla.DotAlgorithm, "algorithm", algorithm),
        unsigned_lhs=a.dtype.kind == "u" or None,
        unsigned_rhs=b.dtype.kind == "u" or None,
    )
    return Tile(result, wanted)


def _accumulator(operand: DType) -> DType:
    if operand == float64:
        return float64
    return float32 if is_float(operand) else int32


def _scaled_operand(
    name: str, scale: Tile | None, total: Any, layout: ScaleLayout, fmt: Any, packed: int | None
) -> Any:
    found: dict[str, Any] = {}
    if scale is not None:
        found[f"{name}_scale"] = scale.value
    if total is not None:
        found[f"{name}_global"] = to_scalar(total, float32).value
    if fmt is not None:
        found[f"{name}_format"] = ir.TypeAttr.get(mlir_type(to_dtype(fmt)))
    if packed is not None:
        found[f"{name}_packed"] = packed
    if layout != "linear":
        found[f"{name}_layout"] = member(triton_xla.ScaleLayout, "the layout of the scales", layout)
    return found


def dot_scaled(
    a: Tile,
    a_scale: Tile | None,
    b: Tile,
    b_scale: Tile | None,
    acc: Tile | None = None,
    *,
    block: Literal[16, 32] = 32,
    a_global: Scalar | float | None = None,
    b_global: Scalar | float | None = None,
    a_format: Any = None,
    b_format: Any = None,
    a_packed: int | None = None,
    b_packed: int | None = None,
    a_layout: ScaleLayout = "linear",
    b_layout: ScaleLayout = "linear",
) -> Tile:
    """The matmul of block-scaled operands (OCP MX, NVFP4), added to `acc` (float32, default: zeros).

    A scale belongs to `block` elements along K: `a_scale` has the shape (M, K / block), and `b_scale` (K / block, N).
    One of them may be None. `a_global` multiplies all of `a`. For packed elements of 4 and 6 bits, the operand is an int8
    tile, `a_format` is its element type, and `a_packed` the packed dimension. `a_layout` is the order of the scales.
    """
    _matrices(a, b, acc)
    shape = (*a.shape[:-1], b.shape[-1])
    if a_packed == 0 or b_packed == 1:
        fmt = to_dtype(a_format if a_packed == 0 else b_format)
        rows, columns = a.shape[0], b.shape[1]
        shape = (rows * 8 // fmt.bits if a_packed == 0 else rows, columns * 8 // fmt.bits if b_packed == 1 else columns)
    start = full(shape, 0, float32) if acc is None else acc
    result = triton_xla.dot_scaled(
        tile_type(shape, float32),
        a.value,
        b.value,
        start.value,
        block,
        **_scaled_operand("lhs", a_scale, a_global, a_layout, a_format, a_packed),
        **_scaled_operand("rhs", b_scale, b_global, b_layout, b_format, b_packed),
    )
    return Tile(result, float32)


def sparse_dot(
    a: Tile,
    metadata: Tile,
    b: Tile,
    acc: Tile | None = None,
    *,
    a_scale: Tile | None = None,
    b_scale: Tile | None = None,
    block: int | None = None,
    a_format: Any = None,
    b_format: Any = None,
    a_packed: int | None = None,
    b_packed: int | None = None,
) -> Tile:
    """A matmul whose operand `a` stores half of its elements along K (2:4); `metadata` has their positions.

    See `triton_xla.sparse_dot` for the groups of each element type. Both operands have scales, or none has.
    """
    _matrices(a, b, acc)
    wanted = float32 if a_scale is not None else _accumulator(a.dtype)
    shape = (a.shape[0], b.shape[1])
    start = full(shape, 0, wanted) if acc is None else acc
    result = triton_xla.sparse_dot(
        tile_type(shape, start.dtype),
        a.value,
        metadata.value,
        b.value,
        start.value,
        block_size=block,
        **_scaled_operand("lhs", a_scale, None, "linear", a_format, a_packed),
        **_scaled_operand("rhs", b_scale, None, "linear", b_format, b_packed),
    )
    return Tile(result, start.dtype)


Value.operators["matmul"] = dot
