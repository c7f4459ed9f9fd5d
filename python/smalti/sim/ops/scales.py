"""Scales of factors of the tensor core: how they lie in memory, and products with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..memory import Array, MemRef
from ..translator import Unsupported
from .memref import byte_layout

LANES = 32
NARROW = "f4E2M1FN"
BLOCKS = {
    ("f8E4M3FN", "f8E8M0FNU"): 32,
    ("f8E5M2", "f8E8M0FNU"): 32,
    ("f4E2M1FN", "f8E8M0FNU"): 32,
    ("f4E2M1FN", "f8E4M3FN"): 16,
}
"""Elements along K that have one scale, by the types of factors and scales (PTX ISA, tcgen05.mma, "Block scaling"):
kinds `mxf8f6f4` and `mxf4`, and `mxf4nvf4` with four scales for the K of an instruction."""


def unpacked(packed: Array) -> Array:
    """Scales as rows and columns, from the form in which they are copied (PTX ISA, "Layout of the scale factor matrix"):
    [M / 128, N / 4, 32, 16], or [1, N / 4, 64, 16] for the columns of two blocks of 64 rows each."""
    first, columns, rows, _ = packed.shape
    parts = packed.reshape(first, columns, rows // LANES, LANES, 4, 4)
    return parts.transpose(0, 2, 4, 3, 1, 5).reshape(first * rows * 4, columns * 4)


def scale_size(op: Any) -> int:
    """Elements that have one scale in a product; 0 where it has none."""
    sums, a, b, _, *scales = (value.type for value in op.operands)
    scales = [ty for ty in scales if str(ty.element_type) != "i2"]
    factors = [str(ty.element_type) for ty in (a, b)]
    if NARROW in factors:
        if factors[0] != factors[1] or not scales:
            raise Unsupported(f"a product of {a} and {b} with {len(scales)} scales")
        if [byte_layout(ty)[3].dimension for ty in (a, b)] != [1, 0]:  # type: ignore[union-attr]
            raise Unsupported(f"a product of {a} and {b}, whose bytes do not lie along K")
    if not scales:
        return 0
    if len(scales) != 2:
        raise Unsupported("scales of one factor")
    size = BLOCKS.get((factors[0], str(scales[0].element_type)))
    if size != BLOCKS.get((factors[1], str(scales[1].element_type))) or str(sums.element_type) != "f32":
        size = None
    for scale, rows in zip(scales, (a.shape[0], sums.shape[1]), strict=True):
        if size is None or a.shape[1] != scale.shape[1] * size or scale.shape[0] < rows:
            raise Unsupported(f"scales of {scales[0]} and {scales[1]} for {a} and {b}, added up in {sums.element_type}")
    return size or 0


def columns(scales: MemRef, count: int, halves: bool) -> Array:
    """The scales of the columns of a product. Those of two blocks with 64 rows each begin anew in the second half."""
    found = scales.array()
    if not halves:
        return found[:count]
    return np.concatenate([found[: count // 2], found[128 : 128 + count // 2]])


def multiply_scaled(before: Array, a: Array, b: Array, scales: tuple[Array, Array], size: int) -> Array:
    """`before + (a * scales) @ (b * scales)`: each product of scales is exact, and all is rounded once.

    Scales have no sign (PTX ISA, `ue4m3`, `ue8m0`): nothing says what one with the sign's bit is, which is no number.
    """
    with np.errstate(all="ignore"):
        found = [scale.astype(np.float64) for scale in scales]
        of_rows, of_columns = (np.where(np.signbit(scale), np.nan, scale) for scale in found)
        left = a.astype(np.float64) * np.repeat(of_rows, size, 1)
        right = b.astype(np.float64) * np.repeat(of_columns, size, 1).T
        return (before + left @ right).astype(before.dtype)
