"""Where the elements of a block-level vector live: which warp, which lane, which register.

    layout = TiledLayout([[64, 8], [16, 8], [8, 8], [2]], warp_dims=[-7], lane_dims=[-3, -2])
    layout.element_index([64, 128], warp=1, lane=5, register=0, element=1)

The text of a tiled layout is that of the attribute `#mosaic_gpu.TiledLayout<...>`. What is not well formed, or does not
fit, is a ValueError.
"""

from __future__ import annotations

from ._mlir_libs._smalti import Replicated, StridedLayout, TiledLayout, block_layout

__all__ = ["Replicated", "StridedLayout", "TiledLayout", "block_layout"]
