# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts of block-level vectors: the warp, lane and register of each element.

    layout = TiledLayout([[64, 8], [16, 8], [8, 8], [2]], warp_dims=[-7], lane_dims=[-3, -2])
    layout.element_index([64, 128], warp=1, lane=5, register=0, element=1)

The text of a tiled layout is that of the attribute `#mosaic_gpu.TiledLayout<...>`. A layout that is not well formed or
does not match a shape raises a ValueError.
"""

from __future__ import annotations

from ._mlir_libs._smalti import (
    Replicated,
    SplatLayout,
    StridedLayout,
    TiledLayout,
    block_fragments,
    block_layout,
    describe,
    is_tmem_transfer,
    layout_names,
    m64_collective,
    mma_accumulator,
    mma_lhs,
    mma_rhs,
    name_of,
    named_layout,
    reduce,
    reshape,
    smem_gmem_copy,
    strided,
    tmem_b_scales_m64_collective,
    tmem_default,
    tmem_half_lane,
    tmem_m64_collective,
    tmem_native,
    tmem_scales,
    tmem_sparse_metadata,
    transpose,
    wgmma,
)

__all__ = [
    "Replicated",
    "SplatLayout",
    "StridedLayout",
    "TiledLayout",
    "block_fragments",
    "block_layout",
    "describe",
    "is_tmem_transfer",
    "layout_names",
    "m64_collective",
    "mma_accumulator",
    "mma_lhs",
    "mma_rhs",
    "name_of",
    "named_layout",
    "reduce",
    "reshape",
    "smem_gmem_copy",
    "strided",
    "tmem_b_scales_m64_collective",
    "tmem_default",
    "tmem_half_lane",
    "tmem_m64_collective",
    "tmem_native",
    "tmem_scales",
    "tmem_sparse_metadata",
    "transpose",
    "wgmma",
]
