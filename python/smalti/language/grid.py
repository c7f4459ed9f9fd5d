# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The grid of a kernel: tile ids and numbers of tiles."""

from __future__ import annotations

import contextvars

from ..bindings import triton_xla
from .tile_ops import require_tile_level
from .types import Misuse, index
from .values import Scalar

GRID: contextvars.ContextVar[tuple[Scalar, ...] | None] = contextvars.ContextVar("grid", default=None)
"""The tile ids of the kernel that this thread translates."""


BATCH: contextvars.ContextVar[int] = contextvars.ContextVar("batch", default=0)
"""The number of dimensions before those of the grid that the kernel sees."""


def tile_id(axis: int = 0) -> Scalar:
    """The number of the tile that this instance of the kernel computes, in dimension `axis` of the grid: an `index` scalar."""
    ids = GRID.get()
    if ids is None:
        raise RuntimeError("tile_id is only available in a function with @smalti.kernel")
    if not isinstance(axis, int) or not 0 <= axis < len(ids):
        raise Misuse(
            f"the argument of tile_id is {axis!r}, but must be a dimension of the grid, from 0 to {len(ids) - 1}"
        )
    return ids[axis]


def num_tiles(axis: int = 0) -> Scalar:
    """The number of tiles in dimension `axis` of the grid: an `index` scalar."""
    tile_id(axis)  # Checks the dimension.
    require_tile_level("sl.num_tiles", "use sb.num_blocks")
    return Scalar(triton_xla.num_tiles(BATCH.get() + axis), index)
