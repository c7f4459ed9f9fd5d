# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program of a user: kernels, builders of ops, patterns and pipelines.

`tools/dev lint` checks its types with pyright and mypy, both strict, and test_typed_programs.py runs it.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt
import smalti
import smalti.block as sb
import smalti.language as sl
from smalti import ir, rewrite
from smalti.dialects import arith, func, gpu, memref, mosaic_gpu, scf, triton_xla, vector
from smalti.dialects import math as math_ops

# --- Kernels in Python ---


@smalti.kernel(grid=lambda x, block: sl.cdiv(x.shape[0], block))
def scale(x: sl.Array, y: sl.Array, factor: float, block: smalti.constexpr = 128) -> None:
    i = sl.tile_id() * block
    t = x[i : i + block]
    y[i : i + block] = sl.where(t > 0, sl.exp(t) * factor, t.abs())


@smalti.kernel
def first(x: Annotated[sl.Array, sl.float32, (4,)], y: sl.Array[sl.float32], n: sl.int32) -> None:
    total = sl.zeros((4,))
    for i in sl.range(n):
        total = total + x[0:4] * i
    y[0:4] = total


@smalti.kernel(grid=lambda a, b, c, d, e, f, g, h, i: a * b * c * d * e * f * g * h * i)
def nine_numbers(a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int, i: int, y: sl.Array) -> None:
    y[0] = 1.0


@smalti.kernel(level="block", grid=lambda x: x.shape[0] // 128)
def copy(x: sl.Array, y: sl.Array) -> None:
    i = sb.block_id(0) * 128
    tile = sb.shared((128,), x.dtype)
    sb.async_copy(x.at[i : i + 128], tile)
    sb.async_commit_group()
    sb.async_wait_group(0)
    sb.sync()
    y[i : i + 128] = tile[0:128]


def run_kernels() -> npt.NDArray[np.float32]:
    x = np.ones(256, np.float32)
    y = np.zeros_like(x)
    scale.on("cpu")(x, y, 2.0, block=64)
    scale.on("cpu", line_info=False)(x, y, factor=2.0)
    first.on("cpu")(x[:4], y[:4], 3)
    copy.on("emu:sm_80")(x, y)
    kernel = scale.on("emu:sm_80").compile(x, y, 2.0)
    messages: list[str] = [remark.message for remark in kernel.remarks]
    print(kernel.target.chip, len(messages))
    if isinstance(kernel, smalti.Kernel):
        print(len(kernel.asm["llvm"].splitlines()), kernel.resources.shared_bytes)
        kernel(x, y, 2.0, 2)
    print(len(scale.ir("llvm", x, y, 2.0)), len(scale.ir("tile", x, y, 2.0, lines=True)))
    return y


def compile_file() -> smalti.Kernel:
    module = smalti.parse("test/kernels/vector_add.mlir")
    kernel = smalti.compile(module, target="cpu", passes={"after:tile": count, "before:tile": smalti.Pipeline().cse()})
    described = smalti.ShapeDtypeStruct((256,), np.float32)
    print(str(scale.on("cpu").module(described, described, 2.0)).count("triton_xla"), smalti.insertion_points("cpu")[0])
    smalti.hooks.launch_enter.append(lambda launch: print(launch.kernel.target))
    smalti.hooks.launch_enter.clear()
    assert isinstance(kernel, smalti.Kernel)
    try:
        smalti.compile(module, target="no_such_chip")
    except smalti.TargetError as error:
        print(error.message, error.hint)
    return kernel


# --- Builders of ops ---


def tile_kernel() -> ir.Module:
    module = ir.Module.create()
    f32, index = ir.F32Type.get(), ir.IndexType.get()
    array = ir.MemRefType.get([256], f32)
    tile = ir.RankedTensorType.get([128], f32)
    dynamic = [ir.ShapedType.get_dynamic_size()]
    with ir.InsertionPoint(module.body):
        entry = triton_xla.EntryFuncOp("twice", ir.FunctionType.get([array, array, index], []), 2)
    with ir.InsertionPoint(entry.body.blocks.append(array, array, index)) as point:
        x, y, number = point.block.arguments
        begin = arith.muli(number, arith.constant(index, 128))
        read = triton_xla.extract(tile, x, [begin], [], [], dynamic, [128], [1], cache=triton_xla.CacheModifier.CS)
        total = arith.addf(read, math_ops.exp(read), fastmath=arith.FastMathFlags.contract)
        triton_xla.insert(total, y, [begin], [], [], dynamic, [128], [1])
        triton_xla.return_()
    shape: list[int] = read.type.shape
    print(entry.sym_name.value, shape)
    return module


def block_function() -> ir.Module:
    module = ir.Module.create()
    f32, index = ir.F32Type.get(), ir.IndexType.get()
    array = ir.MemRefType.get([64, 64], f32)
    space = ir.Attribute.parse("#gpu.address_space<workgroup>")
    shared = ir.MemRefType.get([64, 64], f32, memory_space=space)
    with ir.InsertionPoint(module.body):
        function = func.FuncOp("body", ([array], []))
    with ir.InsertionPoint(function.add_entry_block()):
        buffer = memref.AllocOp(shared, [], [])
        zero = arith.constant(index, 0)
        for step in scf.for_(0, 4, 1):
            value = mosaic_gpu.vector_load(function.arguments[0])
            layout = mosaic_gpu.WGSplatFragLayoutAttr.get([64, 64])
            print(layout.shape, step.arg_number)
            vector.StoreOp(value, buffer, [zero, zero])
            gpu.BarrierOp()
            scf.yield_([])
        mosaic_gpu.debug_print("{}", mosaic_gpu.vector_load(buffer), with_block_id=True)
        func.return_([])
    return module


# --- Patterns and pipelines ---


def double_is_sum(patterns: rewrite.RewritePatternSet) -> None:
    def expand(op: arith.MulFOp, rewriter: rewrite.PatternRewriter) -> bool:
        if op.lhs != op.rhs:
            return True
        with rewriter.ip, op.location:
            rewriter.replace_op(op, [math_ops.powf(op.lhs, op.rhs)])
        return False

    def keep(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
        return len(op.operands) > 0

    patterns.add(arith.MulFOp, expand)
    patterns.add("arith.addf", keep)


def count(module: ir.Module) -> None:
    names: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        names.append(op.name)
        value = op.attributes.get("value")
        if isinstance(value, ir.IntegerAttr):
            names.append(str(value.value))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    print(len(names))


def run_pipeline(module: ir.Module) -> list[smalti.Remark]:
    pipeline = smalti.Pipeline().cse().patterns(double_is_sum).add(count).canonicalize(max_iterations=2)
    nested = smalti.Pipeline().on("func.func", smalti.Pipeline().pipeline_loops(stages=3))
    return [*pipeline.run(module), *nested.run(module)]


smalti.register_pass("count", count)


def main() -> None:
    np.testing.assert_allclose(run_kernels(), 2 * np.e, rtol=1e-6)
    print(compile_file().target)
    with ir.Context(), ir.Location.unknown():
        for module in (tile_kernel(), block_function()):
            module.operation.verify()
            print([remark.category for remark in run_pipeline(module)])


if __name__ == "__main__":
    main()
