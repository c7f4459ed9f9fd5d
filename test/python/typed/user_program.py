# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program of a user: kernels, IR, patterns and pipelines. `tools/dev lint` checks its types as a user does."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import smalti
import smalti.block as sb
import smalti.language as sl
from smalti import ir, rewrite
from smalti.dialects import arith, func, gpu, memref, mosaic_gpu, scf, triton_xla, vector
from smalti.dialects import math as math_ops


@smalti.kernel(grid=lambda x, block: sl.cdiv(x.shape[0], block))
def scale(x: sl.Array, y: sl.Array, factor: float, block: smalti.constexpr = 128) -> None:
    i = sl.tile_id() * block
    t = x[i : i + block]
    y[i : i + block] = sl.exp(t) * factor


@smalti.kernel
def first(x: sl.Array[sl.float32, (4,)], y: sl.Array) -> None:
    y[0:4] = x[0:4] + 1.0


@smalti.kernel(level="block", grid=lambda x: x.shape[0] // 128)
def copy(x: sl.Array, y: sl.Array) -> None:
    i = sb.block_id(0) * 128
    tile = sb.shared((128,), x.dtype)
    tile[:] = x[i : i + 128]
    sb.sync()
    y[i : i + 128] = tile[:]


def run_kernels() -> npt.NDArray[np.float32]:
    x = np.ones(256, np.float32)
    y = np.zeros_like(x)
    scale(x, y, 2.0, block=64)
    scale.on("cpu")(x, y, factor=2.0)
    kernel = scale.compile(x, y, 2.0)
    print(kernel.target, [remark.message for remark in kernel.remarks])
    if isinstance(kernel, smalti.Kernel):
        text: str = kernel.asm["llvm"]
        print(len(text), kernel.resources.registers)
        kernel(x, y, 2.0, 2)
    copy.on("emu:sm_80")(x, y)
    return y


def build_module() -> ir.Module:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        f32 = ir.F32Type.get()
        index = ir.IndexType.get()
        array = ir.MemRefType.get([256], f32)
        tile = ir.RankedTensorType.get([128], f32)
        with ir.InsertionPoint(module.body):
            entry = triton_xla.EntryFuncOp("twice", ir.TypeAttr.get(ir.FunctionType.get([array, array, index], [])), [2])
            block = entry.body.blocks.append(array, array, index)
        with ir.InsertionPoint(block):
            x, y, number = block.arguments
            begin = arith.muli(number, arith.constant(index, 128))
            read = triton_xla.extract(tile, x, [begin], [], [], [ir.ShapedType.get_dynamic_size()], [128], [1])
            total = arith.addf(read, math_ops.exp(read))
            triton_xla.insert(total, y, [begin], [], [], [ir.ShapedType.get_dynamic_size()], [128], [1])
            triton_xla.return_()
        module.operation.verify()
        return module
