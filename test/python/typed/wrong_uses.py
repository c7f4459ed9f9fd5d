# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Uses that type checkers must report. An `ignore` comment without an error is itself an error, so a function that accepts or
returns `Any` fails the check. The program is not executed."""

from __future__ import annotations

from typing import assert_type

import smalti
from smalti import ir
from smalti.dialects import arith, mosaic_gpu, triton_xla
from user_program import copy, scale


def calls(x: object) -> None:
    scale(x, x)  # type: ignore[call-overload]
    scale(x, x, "2.0")  # type: ignore[call-overload]
    scale.on("cpu")(x, x, 2.0, blok=64)  # type: ignore[call-overload]
    scale.compile(x)  # type: ignore[call-arg]
    copy.module(x, x, x)  # type: ignore[call-arg]
    assert_type(copy(x, x), None)
    scale.launch(x)  # type: ignore[attr-defined]


def compilation(kernel: smalti.Kernel) -> None:
    assert_type(kernel.asm["llvm"], str)
    assert_type(list(kernel.remarks), list[smalti.Remark])
    smalti.compile("a.mlir", stage=3)  # type: ignore[call-arg]
    smalti.Pipeline().pipeline_loops(stage=3)  # type: ignore[call-arg]
    smalti.Pipeline().no_such_pass()  # type: ignore[attr-defined]


def builders(tile: ir.Value, memory: ir.Value, barrier: ir.Value) -> None:
    ty = tile.type
    assert_type(triton_xla.iota(ty, 0), ir.OpResult[ir.RankedTensorType])
    assert_type(triton_xla.ReshapeOp(ty, tile).result, ir.OpResult[ir.RankedTensorType])
    assert_type(mosaic_gpu.VectorLoadOp(memory).source.type, ir.MemRefType)
    assert_type(mosaic_gpu.TileTransformAttr.get([8]).tiling, list[int])
    assert_type(triton_xla.ScaleLayoutAttr.get(triton_xla.ScaleLayout.Linear).value, triton_xla.ScaleLayout)
    triton_xla.iota(ty, "0")  # type: ignore[arg-type]
    triton_xla.iota(tile, 0)  # type: ignore[arg-type]
    triton_xla.broadcast(ty, tile, dims=0)  # type: ignore[arg-type]
    triton_xla.extract(ty, memory)  # type: ignore[call-arg]
    triton_xla.dot(tile, tile, tile, algorithm="tf32")  # type: ignore[arg-type]
    triton_xla.ScaleLayoutAttr.get("linear")  # type: ignore[arg-type]
    mosaic_gpu.arrive_expect_tx(barrier, expect_tx="8192")  # type: ignore[arg-type]
    mosaic_gpu.async_load(memory, memory, barrier, [], [8], collective=["x"])  # type: ignore[list-item]
    mosaic_gpu.TileTransformAttr.get("8")  # type: ignore[arg-type]
    mosaic_gpu.BarrierType.get("yes")  # type: ignore[arg-type]
    arith.addf(1.0, tile)  # type: ignore[arg-type]
    arith.cmpi("eq", tile, tile)  # type: ignore[arg-type]
