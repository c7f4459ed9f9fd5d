# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Properties of `tcgen05` MMA operands: block scales, and sparsity metadata."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import instructions
from ...diagnostics import counted
from ..machine.memory import Array, MemRef
from ..translation.translator import Unsupported
from .memref import byte_layout

NARROW = "f4E2M1FN"
BLOCKS = {
    ("f8E4M3FN", "f8E8M0FNU"): 32,
    ("f8E5M2", "f8E8M0FNU"): 32,
    ("f4E2M1FN", "f8E8M0FNU"): 32,
    ("f4E2M1FN", "f8E4M3FN"): 16,
}
"""Elements along K per scale, by the types of operands and scales (PTX ISA, tcgen05.mma, "Block scaling"): kinds
`mxf8f6f4` and `mxf4`, and `mxf4nvf4` with four scales for the K of an instruction."""
SCALE_TYPES = {"f8E8M0FNU": "f8E8M0FNU", "f8E4M3FN": "ue4m3"}
"""The bits of scales by element type: scales do not have a sign."""


def scale_size(op: Any) -> int:
    """Elements per scale of an MMA; 0 without scales."""
    sums, a, b, _, *scales = (value.type for value in op.operands)
    scales = [ty for ty in scales if str(ty.element_type) != "i2"]
    factors = [str(ty.element_type) for ty in (a, b)]
    if NARROW in factors:
        if factors[0] != factors[1] or not scales:
            raise Unsupported(
                f"operand a has type {a}, operand b has type {b}, and the op has {counted(len(scales), 'scale operand')}; an operand of "
                f"{NARROW} requires that the other operand is {NARROW} too, and that the op has scales"
            )
        if [byte_layout(ty)[3].dimension for ty in (a, b)] != [1, 0]:  # type: ignore[union-attr]
            raise Unsupported(
                f"operand a has type {a} and operand b has type {b}; operands of {NARROW} must have stride 1 along K"
            )
    if not scales:
        return 0
    if len(scales) != 2:
        raise Unsupported("only one of operands a and b has scales; add scales to the other operand, or remove them")
    size = BLOCKS.get((factors[0], str(scales[0].element_type)))
    if size != BLOCKS.get((factors[1], str(scales[1].element_type))) or str(sums.element_type) != "f32":
        size = None
    for scale, rows in zip(scales, (a.shape[0], sums.shape[1]), strict=True):
        if size is None or a.shape[1] != scale.shape[1] * size or scale.shape[0] < rows:
            raise Unsupported(
                f"the scales have types {scales[0]} and {scales[1]}, which do not match operands a and b of types {a} and {b}; "
                "tcgen05.mma requires one scale for each row and each block of elements along K"
            )
    return size or 0


def scale_columns(scales: MemRef, count: int, halves: bool) -> Array:
    """The scales of the columns of an MMA. With two blocks of 64 rows each they start again in the second half."""
    found = scales.array()
    if not halves:
        return found[:count]
    return np.concatenate([found[: count // 2], found[128 : 128 + count // 2]])


ROWS, COLUMNS = 128, 64
"""Elements of metadata per copy to tensor memory."""
BITS = {"f16": 16, "bf16": 16, "f8E4M3FN": 8, "f8E5M2": 8, "i8": 8}
"""Types of sparse operands. A 32-bit element has four bits of metadata, and 4-bit elements have pairs;
`a_sparse_metadata` does not have the shape of either."""


class Metadata:
    """The indices of the nonzero elements among four."""

    def __init__(self, op: Any) -> None:
        ty = op.operands[1].type
        self.bits = BITS.get(str(ty.element_type), 0)
        if not self.bits or ty.shape[0] % ROWS or ty.shape[1] % COLUMNS:
            raise Unsupported(
                f"the sparse operand has type {ty}; its elements must be {', '.join(BITS)}, and its shape a multiple of {ROWS} "
                f"x {COLUMNS}"
            )

    def places(self, memory: MemRef) -> Array:
        """For each row and each group of four elements the two indices, from tensor memory."""
        return instructions.sparse_positions(memory.elements(), self.bits)

    def wrong(self, places: Array) -> str | None:
        """Checks the indices: they must be increasing (PTX ISA, "Sparse matrices": other values are undefined)."""
        bad = np.argwhere(places[..., 0] >= places[..., 1])
        if not len(bad):
            return None
        row, four = (int(i) for i in bad[0])
        pair = " and ".join(str(place) for place in places[row, four].tolist())
        return f"the sparsity metadata of row {row}, columns {4 * four} to {4 * four + 3}, are {pair}; the two indices must be increasing"
