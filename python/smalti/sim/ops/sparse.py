"""Sparse `tcgen05` MMA operands: two of each four elements of a row, and the metadata with their indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import instructions
from ..machine.memory import Array, MemRef
from ..translation.translator import Unsupported

ROWS, COLUMNS = 128, 64
"""Of metadata that are copied to tensor memory together."""
BITS = {"f16": 16, "bf16": 16, "f8E4M3FN": 8, "f8E5M2": 8, "i8": 8}
"""Types of sparse factors. Of 32 bits an element has four bits of metadata, and of 4 bits there are pairs, for both of
which `a_sparse_metadata` has not the shape."""


class Metadata:
    """Which elements of four a factor has."""

    def __init__(self, op: Any) -> None:
        ty = op.operands[1].type
        self.bits = BITS.get(str(ty.element_type), 0)
        if not self.bits or ty.shape[0] % ROWS or ty.shape[1] % COLUMNS:
            raise Unsupported(f"a sparse operand of {ty}")

    def places(self, memory: MemRef) -> Array:
        """For each row and each four elements the places of two, from what tensor memory has."""
        return instructions.sparse_positions(memory.elements(), self.bits)

    def wrong(self, places: Array) -> str | None:
        """What is wrong with places: they have to rise (PTX ISA, "Sparse matrices": other values mean nothing)."""
        bad = np.argwhere(places[..., 0] >= places[..., 1])
        if not len(bad):
            return None
        row, four = (int(i) for i in bad[0])
        pair = " and ".join(str(place) for place in places[row, four].tolist())
        return f"the sparsity metadata of row {row}, columns {4 * four} to {4 * four + 3}, are {pair}; they must be increasing"
