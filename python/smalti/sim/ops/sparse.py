# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sparse `tcgen05` MMA operands: two of each four elements of a row, and the metadata with their indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import instructions
from ..machine.memory import Array, MemRef
from ..translation.translator import Unsupported

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
            raise Unsupported(f"a sparse operand of {ty}")

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
        return f"the sparsity metadata of row {row}, columns {4 * four} to {4 * four + 3}, are {pair}; they must be increasing"
