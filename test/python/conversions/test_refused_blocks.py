# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that the conversion from block level to thread level refuses, each in a kernel of its own. The module is unchanged.

Other reasons are in the lit tests of `conversions/`, which also check the full texts.
"""

from __future__ import annotations

import pytest
import smalti

KERNEL = """
#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]
#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#row = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>
#two = #mosaic_gpu.WGStridedFragLayout<[256], 2>
#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
#plain = #mosaic_gpu.TiledLayout<[[64], [32], [1]], warp_dims = [#mosaic_gpu.Replicated<times = 2>, -3], lane_dims = [-2], vector_dim = -1>
!barrier = memref<!mosaic_gpu.barrier, #smem>
gpu.module @m {
  gpu.func @k(%i: index, %n: i32, %flag: i1, %p: !llvm.ptr<3>, %a: memref<256xf32>, %b: memref<64x8xf32>, %h: memref<64x64xf16>,
              %dynamic: memref<64x64xf16, strided<[?, 1], offset: ?>>, %shared: memref<256xf32, #smem>, %a64: memref<64xf32>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64,
                         smalti.shared_memory_bytes = 98304 : i64} {
    %zero = arith.constant 0 : i32
BODY
    gpu.return
  }
}
"""
TILES = "%s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<4x128x64xf16, #smem>\n"
VECTOR = "%v = mosaic_gpu.vector_load %a {out_layouts = [#two]} : memref<256xf32> -> vector<256xf32>\n"
MATRIX = "%w = mosaic_gpu.vector_load %b {out_layouts = [#wgmma]} : memref<64x8xf32> -> vector<64x8xf32>\n"
BARRIER = "%full = mosaic_gpu.slice_smem 98296 : !barrier\n"
BOX = "%box = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>\n"


def load(source: str, options: str = "") -> str:
    """A TMA load of a source of this name and type."""
    name, _, kind = source.partition(" : ")
    return f"mosaic_gpu.async_load {name}[%zero, %zero] [64, 64] to %box barrier(%full) {options} : {kind}[i32, i32] to memref<64x64xf16, #smem>, !barrier"


REASONS: dict[str, tuple[str, str]] = {
    # Barriers.
    "has 'arrival_count' = 8192, which counts arrivals of all 128 threads": (
        "sm_90a",
        "mosaic_gpu.initialize_barrier %p {arrival_count = 8192 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>",
    ),
    "is inside 'mosaic_gpu.warp_map', where every warp would initialize the barrier": (
        "sm_90a",
        "mosaic_gpu.warp_map (%q = %p : !llvm.ptr<3>) {\n"
        "mosaic_gpu.initialize_barrier %q {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>\n}",
    ),
    # Copies.
    "the layout of the global memref is not strided; use a strided layout": (
        "sm_90a",
        BARRIER
        + BOX
        + "%o = builtin.unrealized_conversion_cast %h : memref<64x64xf16> to memref<64x64xf16, affine_map<(i, j) -> (i floordiv 2, j)>>\n"
        + load("%o : memref<64x64xf16, affine_map<(i, j) -> (i floordiv 2, j)>>"),
    ),
    "which kernel argument the global memref belongs to is selected at run time": (
        "sm_90a",
        BARRIER + BOX + "%c1 = arith.constant 1 : index\n"
        "%last = scf.for %k = %c1 to %i step %c1 iter_args(%o = %h) -> (memref<64x64xf16>) {\n"
        + load("%o : memref<64x64xf16>")
        + "\nscf.yield %o : memref<64x64xf16>\n}",
    ),
    "the strides of the global memref, or its offset in the kernel argument, are dynamic": (
        "sm_90a",
        BARRIER + BOX + load("%dynamic : memref<64x64xf16, strided<[?, 1], offset: ?>>"),
    ),
    # Views of shared memory.
    "the source or the result has gaps between its elements": (
        "sm_90a",
        "%s = mosaic_gpu.slice_smem 0 : memref<16x16xf16, #smem>\n"
        "%v = memref.subview %s[0, 0] [16, 8] [1, 1] : memref<16x16xf16, #smem> to memref<16x8xf16, strided<[16, 1]>, #smem>\n"
        "%r = mosaic_gpu.reinterpret_cast %v : memref<16x8xf16, strided<[16, 1]>, #smem> to memref<128xf16, #smem>",
    ),
    "the source cannot be proven to be the start of a buffer": (
        "sm_90a",
        "%s = mosaic_gpu.slice_smem 0 : memref<16x16xf16, #smem>\n"
        "%v = memref.subview %s[8, 0] [8, 16] [1, 1] : memref<16x16xf16, #smem> to memref<8x16xf16, strided<[16, 1], offset: 128>, #smem>\n"
        "%r = memref.reinterpret_cast %v to offset: [0], sizes: [128], strides: [1] : memref<8x16xf16, strided<[16, 1], offset: 128>, #smem> to memref<128xf16, #smem>",
    ),
    "the source may be several shared-memory buffers": (
        "sm_90a",
        "%v = memref.subview %shared[0] [128] [1] : memref<256xf32, #smem> to memref<128xf32, strided<[1]>, #smem>",
    ),
    "converts a pointer to shared memory with elements narrower than a byte": (
        "sm_90a",
        BOX + "%s = builtin.unrealized_conversion_cast %p : !llvm.ptr<3> to memref<256xi4, #smem>",
    ),
    "forwards memory that is not proven to be shared memory": (
        "sm_90a",
        "%s = mosaic_gpu.slice_smem 0 : memref<256xf32, #smem>\n"
        "%o = scf.if %flag -> (memref<256xf32, #smem>) {\nscf.yield %s : memref<256xf32, #smem>\n} else {\n"
        "scf.yield %shared : memref<256xf32, #smem>\n}",
    ),
    # Registers.
    "has an initial value in layout": (
        "sm_90a",
        MATRIX + "%c = mosaic_gpu.vector_load %a64 {out_layouts = [#plain]} : memref<64xf32> -> vector<64xf32>\n"
        "%r = vector.multi_reduction <add>, %w, %c {in_layouts = [#wgmma, #plain], out_layouts = [#row]} [1] : vector<64x8xf32> to vector<64xf32>",
    ),
    "has scratch memory (attributes": (
        "sm_90a",
        VECTOR + "%c = arith.constant 0.0 : f32\n"
        "%r = vector.multi_reduction <add>, %v, %c {offset = 98304 : i32, scratch_size = 512 : i32, in_layouts = [#two]} [0] : vector<256xf32> to f32",
    ),
    "is supported on NVIDIA GPUs only, but the target is gfx942; remove the op": (
        "gfx942",
        "%o = mosaic_gpu.optimization_barrier %i : index",
    ),
    "has a result in layout #mosaic_gpu.WGStridedFragLayout<[256], 1>, but an operand in layout": (
        "sm_90a",
        VECTOR
        + "%o = mosaic_gpu.optimization_barrier %v {in_layouts = [#two], out_layouts = [#one]} : vector<256xf32>",
    ),
    "does not have a layout": (
        "sm_90a",
        'mosaic_gpu.print_layout "x: {}", %shared : memref<256xf32, #smem>',
    ),
    "has 'atomic_type', which is supported on NVIDIA GPUs only; remove 'atomic_type', or compile for an NVIDIA GPU instead of gfx942": (
        "gfx942",
        VECTOR
        + "mosaic_gpu.vector_store %v, %a {atomic_type = 0 : i32, in_layouts = [#two]} : vector<256xf32>, memref<256xf32>",
    ),
    "the destination may be several shared-memory buffers; use views of one buffer": (
        "sm_90a",
        VECTOR + "mosaic_gpu.vector_store %v, %shared {atomic_type = 0 : i32, in_layouts = [#two]} "
        ": vector<256xf32>, memref<256xf32, #smem>",
    ),
    "declares layout #mosaic_gpu.WGStridedFragLayout<[256], 1> for a vector in layout": (
        "sm_90a",
        VECTOR + "%r = builtin.unrealized_conversion_cast %v : vector<256xf32> to vector<2xf32> {layout = #one}",
    ),
    # Regions.
    "but 'out_layouts' of the op around it declares layout": (
        "sm_90a",
        VECTOR
        + "%r = mosaic_gpu.custom_primitive (%x = %v : vector<256xf32>) {\nmosaic_gpu.return %x : vector<256xf32>\n"
        "} {in_layouts = [#two], in_transforms = [], out_layouts = [#one]} -> vector<256xf32>",
    ),
}


@pytest.mark.parametrize("reason", REASONS)
def test_reasons(reason: str) -> None:
    target, body = REASONS[reason]
    module = smalti.parse(KERNEL.replace("BODY", body))
    before = str(module)
    conversion = "convert-mosaic-gpu-to-" + ("nvvm" if target.startswith("sm") else "rocdl")
    with pytest.raises(smalti.CompileError) as caught:
        smalti.Pipeline(f"gpu.module({conversion}{{target={target}}})").run(module)
    assert reason in str(caught.value)
    assert str(module) == before
