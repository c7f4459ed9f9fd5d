# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels for NVIDIA chips as IREE's pipelines produce them before the lowering to LLVM, written by hand.

A matmul with asynchronous copies, fragment loads and warp-level MMAs, and a softmax with shuffle reductions."""

from __future__ import annotations

SHARED = "#gpu.address_space<workgroup>"
_A, _B = f"memref<32x32xf16, {SHARED}>", f"memref<32x16xf16, {SHARED}>"


def matmul(depth: int) -> str:
    """C = A B of f16, 32 x 16 by `depth`, in steps of 32: each of two warps has 16 rows and two instructions wide.

    A tile's chunks of 16 bytes are permuted by row, so that ldmatrix has no bank conflicts.
    """
    multiplied = "\n".join(
        f"""
        %b{step}{half} = nvgpu.ldmatrix %b_tile[%row{step}, %chunk_b{half}] {{numTiles = 2 : i32, transpose = true}}
            : {_B} -> vector<2x2xf16>
        %sum{step}{half} = nvgpu.mma.sync(%a{step}, %b{step}{half}, {f"%acc{half}" if step == 0 else f"%sum0{half}"})
            {{mmaShape = [16, 8, 16]}} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>"""
        for step in (0, 1)
        for half in (0, 1)
    )
    loads = "\n".join(
        f"""
        %k{step} = arith.constant {2 * step} : index
        %wide{step} = arith.addi %k{step}, %half : index
        %mixed{step} = arith.xori %wide{step}, %swizzle : index
        %chunk{step} = arith.muli %mixed{step}, %c8 : index
        %a{step} = nvgpu.ldmatrix %a_tile[%matrix_row, %chunk{step}] {{numTiles = 4 : i32, transpose = false}}
            : {_A} -> vector<4x2xf16>
        %from{step} = arith.constant {16 * step} : index
        %row{step} = arith.addi %lane_row, %from{step} : index"""
        for step in (0, 1)
    )
    stores = "\n".join(
        f"""
    %part{half}{low} = vector.extract %sums#{half}[{low}] : vector<2xf32> from vector<2x2xf32>
    %to{half}{low} = affine.apply affine_map<()[s0, s1] -> (s0 * 16 + s1 floordiv 4 + {8 * low})>()[%y, %x]
    %at{half}{low} = affine.apply affine_map<()[s0] -> ((s0 mod 4) * 2 + {8 * half})>()[%x]
    vector.transfer_write %part{half}{low}, %c[%to{half}{low}, %at{half}{low}] {{in_bounds = [true]}}
        : vector<2xf32>, memref<32x16xf32>"""
        for half in (0, 1)
        for low in (0, 1)
    )
    return f"""gpu.module @m {{
  gpu.func @matmul(%a: memref<32x{depth}xf16> {{llvm.noalias}}, %b: memref<{depth}x16xf16> {{llvm.noalias}},
                    %c: memref<32x16xf32> {{llvm.noalias}}) kernel attributes {{
      known_block_size = array<i32: 32, 2, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %depth = arith.constant {depth} : index
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %t = affine.apply affine_map<()[s0, s1] -> (s0 + s1 * 32)>()[%x, %y]
    %a_tile = memref.alloc() : {_A}
    %b_tile = memref.alloc() : {_B}
    %row, %chunk = affine.delinearize_index %t into (16, 4) : index, index
    %row_below = arith.addi %row, %c16 : index
    %bits = affine.apply affine_map<()[s0] -> (s0 floordiv 2 mod 4)>()[%row]
    %mixed = arith.xori %chunk, %bits : index
    %column = arith.muli %mixed, %c8 : index
    %source = arith.muli %chunk, %c8 : index
    %b_row, %b_chunk = affine.delinearize_index %t into (32, 2) : index, index
    %b_column = arith.muli %b_chunk, %c8 : index
    %lane_row = arith.remui %x, %c16 : index
    %half = arith.divui %x, %c16 : index
    %begin = arith.muli %y, %c16 : index
    %matrix_row = arith.addi %begin, %lane_row : index
    %swizzle = affine.apply affine_map<()[s0] -> (s0 floordiv 2 mod 4)>()[%lane_row]
    %chunk_b0 = arith.constant 0 : index
    %chunk_b1 = arith.constant 8 : index
    %sums:2 = scf.for %k = %c0 to %depth step %c32 iter_args(%acc0 = %zero, %acc1 = %zero)
        -> (vector<2x2xf32>, vector<2x2xf32>) {{
        %k_a = arith.addi %k, %source : index
        %k_b = arith.addi %k, %b_row : index
        %0 = nvgpu.device_async_copy %a[%row, %k_a], %a_tile[%row, %column], 8 {{bypassL1}}
            : memref<32x{depth}xf16> to {_A}
        %1 = nvgpu.device_async_copy %a[%row_below, %k_a], %a_tile[%row_below, %column], 8 {{bypassL1}}
            : memref<32x{depth}xf16> to {_A}
        %2 = nvgpu.device_async_copy %b[%k_b, %b_column], %b_tile[%b_row, %b_column], 8 {{bypassL1}}
            : memref<{depth}x16xf16> to {_B}
        %3 = nvgpu.device_async_create_group %0, %1, %2
        nvgpu.device_async_wait %3 {{numGroups = 0 : i32}}
        gpu.barrier
        {loads}
        {multiplied}
        gpu.barrier
        scf.yield %sum10, %sum11 : vector<2x2xf32>, vector<2x2xf32>
    }}
    {stores}
    gpu.return
  }}
}}"""


def _butterfly(value: str, operation: str, name: str) -> str:
    """The reduction of a value over the lanes of a warp."""
    lines = []
    for step in range(5):
        lines += [
            f"%{name}_by{step} = arith.constant {16 >> step} : i32",
            f"%{name}_from{step}, %{name}_ok{step} = gpu.shuffle xor {value}, %{name}_by{step}, %width : f32",
            f"%{name}{step} = {operation} {value}, %{name}_from{step} : f32",
        ]
        value = f"%{name}{step}"
    return "\n".join(lines)


def softmax(warps: int = 4, columns: int = 512, blocks: int = 4) -> str:
    """The softmax of two rows by each block: each warp reduces by shuffles, and the warps by shared memory. Each buffer
    is written once per row."""
    per_thread = columns // (32 * warps)
    row, partial = f"vector<{per_thread}xf32>", f"memref<{warps}xf32, {SHARED}>"

    def over_warps(value: str, operation: str, kind: str, start: str, name: str) -> str:
        return f"""
    scf.if %is_first {{
      memref.store {value}, %{name}_parts[%warp] : {partial}
    }}
    gpu.barrier
    %{name}_all = vector.load %{name}_parts[%c0] : {partial}, vector<{warps}xf32>
    %{name} = vector.reduction <{kind}>, %{name}_all, {start} : vector<{warps}xf32> into f32"""

    return f"""gpu.module @m {{
  gpu.func @softmax(%x: memref<{2 * blocks}x{columns}xf32>, %y: memref<{2 * blocks}x{columns}xf32>) kernel attributes {{
      known_block_size = array<i32: {32 * warps}, 1, 1>, known_grid_size = array<i32: {blocks}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %width = arith.constant 32 : i32
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %warp = arith.divui %t, %c32 : index
    %lane = arith.remui %t, %c32 : index
    %is_first = arith.cmpi eq, %lane, %c0 : index
    %step = arith.constant {per_thread} : index
    %column = arith.muli %t, %step : index
    %max_parts = memref.alloc() : {partial}
    %sum_parts = memref.alloc() : {partial}
    scf.for %i = %c0 to %c2 step %c1 {{
    %r = affine.apply affine_map<(d0)[s0] -> (s0 * 2 + d0)>(%i)[%block]
    %v = vector.transfer_read %x[%r, %column], %zero {{in_bounds = [true]}} : memref<{2 * blocks}x{columns}xf32>, {row}
    %lane_max = vector.multi_reduction <maxnumf>, %v, %low [0] : {row} to f32
    {_butterfly("%lane_max", "arith.maxnumf", "m")}
    {over_warps("%m4", "arith.maxnumf", "maxnumf", "%low", "max")}
    %wide = vector.broadcast %max : f32 to {row}
    %d = arith.subf %v, %wide : {row}
    %e = math.exp %d : {row}
    %lane_sum = vector.multi_reduction <add>, %e, %zero [0] : {row} to f32
    {_butterfly("%lane_sum", "arith.addf", "s")}
    {over_warps("%s4", "arith.addf", "add", "%zero", "sum")}
    %all = vector.broadcast %sum : f32 to {row}
    %q = arith.divf %e, %all : {row}
    vector.transfer_write %q, %y[%r, %column] {{in_bounds = [true]}} : {row}, memref<{2 * blocks}x{columns}xf32>
    }}
    gpu.return
  }}
}}"""
