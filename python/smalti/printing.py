# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lines of `triton_xla.print`, as its page defines them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def tile_lines(tile: int, label: str, elements: Any, element_type: Any) -> Iterator[str]:
    """The lines of a tile or a scalar with elements of this MLIR type."""
    spelling = str(element_type)
    digits = None if spelling.startswith("i") else 17 if spelling == "f64" else 9
    elements = np.asarray(elements)
    for position in np.ndindex(elements.shape):
        where, value = f" {list(position)}" if position else "", elements[position]
        shown = f"{int(value)}" if digits is None else f"{float(value):.{digits}g}"
        yield f"tile {tile}: {label}{where} = {shown}"
