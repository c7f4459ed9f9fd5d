# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts that a block-level kernel states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import ir, layouts
from ..dialects import mosaic_gpu
from ..language.types import Misuse
from ..language.values import Tile

Layout = Any
"""A name of `smalti.layouts.layout_names()`, a `TiledLayout`, a number of consecutive elements per thread, or an MLIR
attribute."""


def layout_attribute(layout: Layout, shape: Sequence[int]) -> ir.Attribute:
    """A layout as an attribute. Raises Misuse for an unknown name."""
    if isinstance(layout, ir.Attribute):
        return layout
    if isinstance(layout, int):
        return ir.Attribute.parse(f"#mosaic_gpu.WGStridedFragLayout<{list(shape)}, {layout}>")
    if isinstance(layout, str):
        names = layouts.layout_names()
        if layout not in names:
            raise Misuse(f"{layout!r} is not the name of a layout", f"the names are {', '.join(names)}")
        layout = layouts.named_layout(layout)
    return mosaic_gpu.TiledLayoutAttr.get(layout)


def layout_cast(tile: Tile, layout: Layout) -> Tile:
    """The tile in a layout: a name such as "WGMMA", a `smalti.layouts.TiledLayout`, or a number of elements that each thread
    holds consecutively. Elements move between threads if the tile has another layout.

    Example: `t = sb.layout_cast(t, "WGMMA")`.
    """
    attribute = layout_attribute(layout, tile.shape)
    return Tile(mosaic_gpu.layout_cast(tile.value, attribute, results=[tile.value.type]), tile.dtype)
