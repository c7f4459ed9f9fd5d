# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Queries of the layouts of JAX, as JSON from the standard input to the standard output.

Runs on a machine without a GPU; needs jax, jaxlib and absl-py. A layout is [tiles, warp dims, lane dims, vector dim],
in which a dimension is a number, or [times] if it is replicated.
"""

from __future__ import annotations

import functools
import itertools
import json
import sys
from typing import Any

from jax.experimental.mosaic.gpu import constraints as cs
from jax.experimental.mosaic.gpu import fragmented_array as fa
from jax.experimental.mosaic.gpu import launch_context as lc
from jax.experimental.mosaic.gpu import tcgen05

NAMES = {
    "WGMMA": fa.WGMMA_LAYOUT,
    "WGMMA_ACC_32BIT": fa.WGMMA_LAYOUT_ACC_32BIT,
    "WGMMA_8BIT": fa.WGMMA_LAYOUT_8BIT,
    "WGMMA_UPCAST_2X": fa.WGMMA_LAYOUT_UPCAST_2X,
    "WGMMA_UPCAST_4X": fa.WGMMA_LAYOUT_UPCAST_4X,
    "WGMMA_TRANSPOSED": fa.WGMMA_TRANSPOSED_LAYOUT,
    "WGMMA_ROW": fa.WGMMA_ROW_LAYOUT,
    "WGMMA_COL": fa.WGMMA_COL_LAYOUT,
    "TCGEN05": fa.TCGEN05_LAYOUT,
    "TCGEN05_TRANSPOSED": fa.TCGEN05_TRANSPOSED_LAYOUT,
    "TCGEN05_ROW": fa.TCGEN05_ROW_LAYOUT,
    "TCGEN05_COL": fa.TCGEN05_COL_LAYOUT,
    "TMEM_NATIVE": fa.TMEM_NATIVE_LAYOUT,
    "TMA_INDICES": fa.TMA_INDICES_LAYOUT,
    "TMA_INDICES_4": fa.TMA_INDICES_4_LAYOUT,
}


# The same transfer is planned for several kinds of optimization; a plan takes JAX 30 ms.
_plan = fa.plan_tiled_transfer


@functools.cache
def _refusal(*transfer: Any) -> fa.TransferPlanDerivationError | None:
    try:
        _plan(*transfer)
    except fa.TransferPlanDerivationError as error:
        return error
    return None


def plan_once(*transfer: Any) -> None:
    if error := _refusal(*transfer):
        raise error


fa.plan_tiled_transfer = plan_once


def spell(layout: Any) -> list[Any]:
    def parts(dims: Any) -> list[Any]:
        return [[dim.times] if isinstance(dim, fa.Replicated) else dim for dim in dims]

    tiles = [list(tile) for tile in layout.tiling.tiles]
    return [tiles, parts(layout.warp_dims), parts(layout.lane_dims), layout.vector_dim]


def read(spelled: list[Any], kind: Any = fa.TiledLayout) -> Any:
    def parts(dims: list[Any]) -> tuple[Any, ...]:
        return tuple(fa.Replicated(dim[0]) if isinstance(dim, list) else dim for dim in dims)

    tiling, warp_dims, lane_dims, vector_dim = spelled
    return kind(fa.Tiling(tuple(map(tuple, tiling))), parts(warp_dims), parts(lane_dims), vector_dim)


def transfer(layout: Any, shape: Any, strides: Any, tile: Any, bits: int, need: str) -> bool:
    transforms = cs.SMEMTransforms(lc.TileTransform(tuple(tile)) if tile else None)
    kind = getattr(cs.OptimizedTransferKind, need.upper())
    return bool(
        cs.IsTransferableSmemRegisters(
            cs.RegisterLayout(layout), transforms, tuple(shape), tuple(strides), bits, kind
        ).holds()
    )


def tmem_transfer(tmem: Any, registers: Any, shape: Any, bits: int) -> bool | None:
    try:
        constraint = cs.IsTransferableTmemRegisters(
            cs.TMEMLayout(tmem), cs.RegisterLayout(registers), tuple(shape), bits
        )
        return bool(constraint.holds())
    except ValueError:
        # It builds a layout to compare with, and that is not canonical.
        return None


def copies() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for rows, columns, swizzle, bits in itertools.product((1, 2, 3, 4, 6, 8), (1, 2, 4, 8), (32, 64, 128), (8, 16, 32)):
        try:
            layout = spell(fa.tiled_copy_smem_gmem_layout(rows, columns, swizzle, bits))
        except NotImplementedError:
            layout = None
        found[f"{rows} {columns} {swizzle} {bits}"] = layout
    return found


def tensor_memory() -> dict[str, Any]:
    found: dict[str, Any] = {
        "scales": spell(tcgen05.scales_layout()),
        "b_scales_m64_collective": spell(tcgen05.b_scales_m64_collective_layout()),
        "sparse_metadata": spell(tcgen05.sparse_meta_layout()),
    }
    for packing in (1, 2, 4, 8):
        found[f"default {packing}"] = spell(tcgen05.tmem_default_layout(packing))
        for columns in (32, 64, 256):
            found[f"half_lane {columns} {packing}"] = spell(tcgen05.tmem_half_lane_layout(columns, packing))
            found[f"m64_collective {columns} {packing}"] = spell(tcgen05.tmem_m64_collective_layout(columns, packing))
    for columns in (16, 32, 64, 256):
        found[f"registers {columns}"] = spell(tcgen05.fa_m64_collective_layout(columns))
    return found


def main() -> None:
    asked = json.load(sys.stdin)
    layouts = {name: read(layout) for name, layout in asked["layouts"].items()}
    tmem = {name: read(layout, tcgen05.TMEMLayout) for name, layout in asked["tmem"].items()}
    json.dump(
        {
            "names": {name: spell(layout) for name, layout in NAMES.items()},
            "copies": copies(),
            "tensor_memory": tensor_memory(),
            "reductions": [spell(layouts[name].reduce(axes)) for name, axes in asked["reductions"]],
            "casts": [
                layouts[a] == layouts[b] or cs._is_supported_tiled_relayout(layouts[a], layouts[b], bits)
                for a, b, bits in asked["casts"]
            ],
            "transfers": [transfer(layouts[name], *rest) for name, *rest in asked["transfers"]],
            "tmem_transfers": [tmem_transfer(tmem[a], layouts[b], *rest) for a, b, *rest in asked["tmem_transfers"]],
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
