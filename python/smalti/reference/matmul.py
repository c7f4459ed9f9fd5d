# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls of tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import ml_dtypes
import numpy as np

from .. import dtypes, ir
from .interpreter import Interpreter, handles
from .values import (
    Value,
    certain,
    element_type,
    error_of,
    integer,
    is_uncertain,
    operand_groups,
    unknown_where,
    unsigned_of,
    width_of,
    wrap,
)

_DOT_ROUNDING = 2.0**-23
_FLOAT8_DOT_ROUNDING = 2.0**-13
_TF32_ROUNDING = 2.0**-10
_BF16_ROUNDING = 2.0**-8
_SCALE_ROUNDINGS = 8
"""Roundings of the multiplications by scales."""
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
    if any(is_uncertain(value) is not None for value in (a, b, c)):
        uncertain = (error_of(c) != 0) | _reaches(error_of(a) != 0, error_of(b) != 0)
    return Value(data, unknown_where(uncertain, data.shape))


def _reaches(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The results that use an element of one of the two masks."""
    return np.any(a, axis=-1)[..., :, None] | np.any(b, axis=-2)[..., None, :]


def float_matmul(
    a: Value, b: Value, c: Value, ty: dtypes.ElementType, rounding: float, *, terms: int = 1, operands: float = 0.0
) -> Value:
    """`a b + c`, in any order.

    `rounding` is the error of an addition relative to the sum of the magnitudes. `terms` is the number of additions for
    each pair of elements. `operands` is the relative error of the multiplication of two elements.
    """
    data = c.data + matmul(a.data, b.data)
    # An operand that is not finite decides its results alone.
    x, y, z = (np.where(np.isfinite(v.data), np.abs(v.data), 0.0) for v in (a, b, c))
    ex, ey, ez = (np.where(np.isfinite(error_of(v)), error_of(v), 0.0) for v in (a, b, c))
    magnitude = matmul(x, y)
    error = (terms * a.data.shape[-1] + 1) * rounding * (magnitude + z) + operands * magnitude + ez
    if any(is_uncertain(value) is not None for value in (a, b)):
        error = error + matmul(ex, y + ey) + matmul(x, ey)
    unknown = np.isinf(error_of(c)) | _reaches(np.isinf(error_of(a)), np.isinf(error_of(b)))
    stored = data.astype(ty.numpy).astype(np.float64)
    error = np.where(unknown, np.inf, np.where(np.isfinite(stored), error, 0.0))
    return Value(np.where(np.isfinite(stored), data, stored), error)


ALGORITHMS: tuple[tuple[int, float], ...] = (
    (1, 0.0),
    (1, 2 * _TF32_ROUNDING),
    (3, 3 * _TF32_ROUNDING**2),
    (1, 2 * _BF16_ROUNDING),
    (3, 3 * _BF16_ROUNDING**2),
    (6, 4 * _BF16_ROUNDING**3),
    (9, 0.0),
    (1, 0.0),
)
"""For each algorithm of `triton_xla.dot` by its number (default, tf32, tf32x3, bf16, bf16x3, bf16x6, bf16x9, ieee): the
multiplications for each pair of elements, and the error of their sum. The magnitude of a part is at most that of its
element times the rounding of the parts before it. The error has two terms: the multiplications that the algorithm omits,
and the rest of each operand."""


def addition_rounding(elements: int, accumulator: dtypes.ElementType) -> float:
    """The error of an addition for operands of `elements` bits. Matrix units may truncate."""
    if accumulator.bits == 32:
        return _FLOAT8_DOT_ROUNDING if elements <= 8 else _DOT_ROUNDING
    # numpy also rounds f64.
    return 2 * accumulator.rounding * (2 if accumulator.bits == 64 else 1)


_BF16_OVERFLOW = 2.0**128 - 2.0**119
"""The least magnitude that bf16 rounds to infinity."""
_TF32_OVERFLOW = 2.0**128 - 2.0**117
"""The largest magnitude of tf32. Larger ones become infinite, unless a target truncates them."""


def _with_overflow(operand: Value, algorithm: int) -> Value:
    """The f32 operand of an algorithm that rounds it: infinite or unknown where its first part may not be finite."""
    is_bf16 = algorithm >= 3
    size, error = np.abs(operand.data), error_of(operand)
    may_overflow = np.isfinite(operand.data) & (size + error >= (_BF16_OVERFLOW if is_bf16 else _TF32_OVERFLOW))
    if not may_overflow.any():
        return operand
    # With several parts, the others are not finite either.
    is_infinite = may_overflow & (size - error >= _BF16_OVERFLOW) & (algorithm == 3)
    data = np.where(is_infinite, np.copysign(np.inf, operand.data), operand.data)
    return Value(data, np.where(may_overflow & ~is_infinite, np.inf, error))


@handles("triton_xla.dot")
def _dot(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    a, b, c = operands
    types = [element_type(operand.type) for operand in op.operands]
    if types[0].kind != "f":
        sides = ((a, types[0], "unsigned_lhs"), (b, types[1], "unsigned_rhs"))
        a, b = (
            Value(unsigned_of(v.data, width_of(ty)).astype(np.int64), v.error) if flag in op.attributes else v
            for v, ty, flag in sides
        )
        return integer_matmul(a, b, c, types[2])
    number = integer(op, "algorithm") if "algorithm" in op.attributes else int("tf32" in op.attributes)
    if 1 <= number <= 6:
        a, b = _with_overflow(a, number), _with_overflow(b, number)
    terms, error = ALGORITHMS[number]
    rounding = addition_rounding(min(types[0].bits, types[1].bits), types[2])
    return float_matmul(a, b, c, types[2], rounding, terms=terms, operands=error)


_PACKED = {
    "f4E2M1FN": (4, ml_dtypes.float4_e2m1fn),
    "f6E2M3FN": (6, ml_dtypes.float6_e2m3fn),
    "f6E3M2FN": (6, ml_dtypes.float6_e3m2fn),
}


def unpack(data: np.ndarray, form: str, dim: int) -> np.ndarray:
    """The elements that bytes hold along `dim`, from the lowest bit of the first byte."""
    width, ty = _PACKED[form]
    lines = np.moveaxis(data, dim, -1).astype(np.int64).astype(np.uint8)
    bits = np.unpackbits(lines, axis=-1, bitorder="little")
    codes = bits.reshape(*bits.shape[:-1], -1, width) @ (1 << np.arange(width))
    return np.moveaxis(codes.astype(np.uint8).view(ty).astype(np.float64), -1, dim)


def scale_matrix(scales: np.ndarray, rows: int, columns: int, layout: int, is_rhs: bool) -> np.ndarray:
    """The scales as a matrix of rows and blocks along K. Layouts: 0 is linear, 1 padded, 2 swizzled_128x4."""
    if layout != 2:
        return (scales.T if is_rhs else scales)[:rows, :columns]
    r, c = np.indices((rows, columns))
    block = (r // 128) * -(-columns // 4) + c // 4
    return scales[block * 512 + r % 32 * 16 + r % 128 // 32 * 4 + c % 4]


_F4_PAIRS = 2
"""Positions of 4-bit elements count pairs."""


def dense(stored: np.ndarray, metadata: np.ndarray, bits: int, form: str) -> tuple[np.ndarray, np.ndarray]:
    """A structured sparse operand with its zeros, and a mask of the stored elements. `bits` is the width of `metadata`."""
    rows, count = stored.shape
    run = _F4_PAIRS if form == "f4E2M1FN" else 1
    group, kept = (2, 1) if form == "f32" else (4 * run, 2 * run)
    groups = count // kept
    nibbles = (metadata[..., None] >> np.arange(0, bits, 4)) & 15
    nibbles = nibbles.reshape(rows, -1)[:, :groups]
    if form == "f32":
        positions = np.where(nibbles == 4, 0, 1)[..., None]
    else:
        pairs = np.stack([nibbles & 3, nibbles >> 2], axis=-1)
        positions = (pairs[..., None] * run + np.arange(run)).reshape(rows, groups, kept)
    columns = cast(Any, np.arange(groups)[:, None] * group + positions).reshape(rows, -1)
    values, mask = np.zeros((rows, groups * group)), np.zeros((rows, groups * group), bool)
    np.put_along_axis(values, columns, stored, 1)
    np.put_along_axis(mask, columns, True, 1)
    return values, mask


def _operand(op: Any, side: str, tile: Value, ty: dtypes.ElementType) -> tuple[Value, str]:
    """The elements of an operand, which may be packed, and the name of their type."""
    if f"{side}_format" not in op.attributes:
        return tile, ty.mlir
    form = str(ir.TypeAttr(op.attributes[f"{side}_format"]).value)
    return Value(unpack(certain(tile, "a packed operand"), form, integer(op, f"{side}_packed"))), form


def _scaled(op: Any, side: str, tile: Value, scales: list[Value], whole: list[Value], block: int) -> Value:
    """The elements of an operand times their scales. The blocks are along K, the last dimension of lhs."""
    rows, depth = tile.data.shape[::-1] if side == "rhs" else tile.data.shape
    factors = np.ones((rows, depth))
    if scales:
        layout = 0
        if f"{side}_layout" in op.attributes:
            layout = _LAYOUTS.index(str(op.attributes[f"{side}_layout"]).partition("<")[2].rstrip(">"))
        size = min(block, depth)
        matrix = scale_matrix(certain(scales[0], "a scale"), rows, depth // size, layout, side == "rhs")
        factors = np.repeat(matrix, size, axis=1)
    if whole:
        factors = factors * float(certain(whole[0], "a scale"))
    factors = factors.T if side == "rhs" else factors
    error = error_of(tile)
    return Value(tile.data * factors, np.where(np.isinf(error), np.inf, error * np.abs(factors)))


_LAYOUTS = ("linear", "padded", "swizzled_128x4")


def _block_dot(op: Any, groups: list[list[Value]], types: dict[str, dtypes.ElementType]) -> Value:
    """A scaled or a sparse dot. The operands are lhs, metadata, scales and global scales of both sides, accumulator."""
    (lhs,), metadata, left_scales, left_whole, (rhs,), right_scales, right_whole, (c,) = groups
    a, left_form = _operand(op, "lhs", lhs, types["lhs"])
    b, right_form = _operand(op, "rhs", rhs, types["rhs"])
    stored = None
    if metadata:
        data, stored = dense(
            certain(a, "a sparse operand"), certain(metadata[0], "the metadata"), types["metadata"].bits, left_form
        )
        a = Value(data)
    if types["result"].kind != "f":
        for name in ("lhs", "rhs"):
            if f"unsigned_{name}" in op.attributes:
                raise ValueError(
                    f"operand {name} of the sparse dot is unsigned; only signed integers are supported: remove 'unsigned_{name}'"
                )
        return integer_matmul(Value(a.data.astype(np.int64)), b, c, types["result"])
    block = integer(op, "block_size") if "block_size" in op.attributes else a.data.shape[1]
    left = _scaled(op, "lhs", a, left_scales, left_whole, block)
    right = _scaled(op, "rhs", b, right_scales, right_whole, block)
    bits = min(_PACKED.get(form, (types[side].bits,))[0] for form, side in ((left_form, "lhs"), (right_form, "rhs")))
    rounding = addition_rounding(bits, types["result"])
    error = _SCALE_ROUNDINGS * types["result"].rounding if left_scales or right_scales else 0.0
    if metadata and left_form == "f32":
        error = 2 * _TF32_ROUNDING
    value = float_matmul(left, right, c, types["result"], rounding, operands=error)
    if stored is not None:
        # A target may skip the rows of rhs for which lhs is not stored.
        skipped = matmul((~stored).astype(np.float64), (~np.isfinite(b.data)).astype(np.float64)) > 0
        value.error = np.where(skipped, np.inf, error_of(value))
    return value


@handles("triton_xla.dot_scaled")
def _dot_scaled(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    lhs, left, left_whole, *rest = operand_groups(op, operands)
    types = _types(op, ("lhs", "lhs_scale", "lhs_global", "rhs", "rhs_scale", "rhs_global", "accumulator"))
    return _block_dot(op, [lhs, [], left, left_whole, *rest], types)


@handles("triton_xla.sparse_dot")
def _sparse_dot(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    names = ("lhs", "metadata", "lhs_scale", "lhs_global", "rhs", "rhs_scale", "rhs_global", "accumulator")
    return _block_dot(op, operand_groups(op, operands), _types(op, names))


def _types(op: Any, names: Sequence[str]) -> dict[str, dtypes.ElementType]:
    """The element types of the operands that an operation has, by name, and of the result."""
    types = {"result": element_type(op.results[0].type)}
    segments = [int(count) for count in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])]
    number = 0
    for name, count in zip(names, segments, strict=True):
        if count and name in ("lhs", "rhs", "metadata"):
            types[name] = element_type(op.operands[number].type)
        number += count
    return types
