// Matmuls by wgmma.
// RUN: smalti-opt %s --split-input-file --convert-mosaic-gpu-to-nvvm=target=sm_90a --canonicalize --cse | FileCheck %s

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>

// Two blocks of rows, one of columns, four steps along K. B is transposed: its descriptor steps by two groups of 8 rows.
// The bits of A's: 1 (16 bytes, no meaning) << 16, 1024 bytes << 32, swizzle mode 1 << 62.
gpu.module @shared_module {
  // CHECK-LABEL: gpu.func @shared
  gpu.func @shared(%out: memref<128x128xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %zero = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<128x128xf32>
    %a = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<128x64xf16, #smem>
    %b = mosaic_gpu.slice_smem 16384 {out_transforms = [#tiled]} : memref<64x128xf16, #smem>
    // CHECK-DAG: arith.constant 4611686293305360384 : i64
    // CHECK: nvvm.wgmma.fence.aligned
    nvvm.wgmma.fence.aligned
    // CHECK-COUNT-8: nvvm.wgmma.mma_async %{{.*}}, <m = 64, n = 128, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <row>]
    // CHECK-NOT: nvvm.wgmma.mma_async
    %p = mosaic_gpu.wgmma accumulator(%zero : vector<128x128xf32>) a(%a : memref<128x64xf16, #smem>)
        b(%b : memref<64x128xf16, #smem>) {in_layouts = [#acc], in_transforms = [#tiled, #tiled], out_layouts = [#acc]}
        -> vector<128x128xf32>
    // CHECK: nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.commit.group.sync.aligned
    // CHECK: nvvm.wgmma.wait.group.sync.aligned 0
    nvvm.wgmma.wait.group.sync.aligned 0
    // The registers are others behind the wait.
    // CHECK: llvm.inline_asm has_side_effects "", "=f,
    // CHECK: vector.store
    mosaic_gpu.vector_store %p, %out {in_layouts = [#acc]} : vector<128x128xf32>, memref<128x128xf32>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]
#acc = #mosaic_gpu.TiledLayout<[[128, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>

// Two groups of four warps, each with 64 of 128 rows, and 320 columns in two instructions. The number of the group is the
// same in all lanes.
gpu.module @groups_module {
  // CHECK-LABEL: gpu.func @groups
  gpu.func @groups(%out: memref<128x320xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %zero = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<128x320xf32>
    %a = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<128x64xf16, #smem>
    %b = mosaic_gpu.slice_smem 16384 {out_transforms = [#tiled]} : memref<64x320xf16, #smem>
    // CHECK: nvvm.shfl.sync
    // CHECK-COUNT-4: nvvm.wgmma.mma_async %{{.*}}, <m = 64, n = 256, k = 16>
    // CHECK-COUNT-4: nvvm.wgmma.mma_async %{{.*}}, <m = 64, n = 64, k = 16>
    // CHECK-NOT: nvvm.wgmma.mma_async
    %p = mosaic_gpu.wgmma accumulator(%zero : vector<128x320xf32>) a(%a : memref<128x64xf16, #smem>)
        b(%b : memref<64x320xf16, #smem>) {in_layouts = [#acc], in_transforms = [#tiled, #tiled], out_layouts = [#acc]}
        -> vector<128x320xf32>
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    mosaic_gpu.vector_store %p, %out {in_layouts = [#acc]} : vector<128x320xf32>, memref<128x320xf32>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>

// A in registers: MLIR has no operation for it. It needs a fence behind what computes the registers.
gpu.module @registers_module {
  // CHECK-LABEL: gpu.func @registers
  gpu.func @registers(%in: memref<64x32xbf16>, %out: memref<64x64xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %zero = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %a = mosaic_gpu.vector_load %in {out_layouts = [#acc]} : memref<64x32xbf16> -> vector<64x32xbf16>
    %b = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<32x64xbf16, #smem>
    // CHECK: llvm.inline_asm has_side_effects "", "=r,
    // CHECK-NEXT: llvm.extractvalue
    // CHECK: nvvm.wgmma.fence.aligned
    // CHECK-COUNT-2: llvm.inline_asm has_side_effects "{\0A.reg .pred p;\0Asetp.ne.b32 p, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, {{.*}}$31}, {$64, $65, $66, $67}, $68, p, 1, 1, 1;\0A}"
    %p = mosaic_gpu.wgmma accumulator(%zero : vector<64x64xf32>) a(%a : vector<64x32xbf16>)
        b(%b : memref<32x64xbf16, #smem>) {in_layouts = [#acc, #acc], in_transforms = [#tiled], out_layouts = [#acc]}
        -> vector<64x64xf32>
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    // CHECK: nvvm.wgmma.wait.group.sync.aligned 0
    // CHECK: nvvm.wgmma.fence.aligned
    nvvm.wgmma.fence.aligned
    // CHECK: vector.load
    %a2 = mosaic_gpu.vector_load %in {out_layouts = [#acc]} : memref<64x32xbf16> -> vector<64x32xbf16>
    // CHECK: llvm.inline_asm has_side_effects "", "=r,
    // CHECK: nvvm.wgmma.fence.aligned
    // CHECK-COUNT-2: wgmma.mma_async
    %q = mosaic_gpu.wgmma accumulator(%p : vector<64x64xf32>) a(%a2 : vector<64x32xbf16>)
        b(%b : memref<32x64xbf16, #smem>) {in_layouts = [#acc, #acc], in_transforms = [#tiled], out_layouts = [#acc]}
        -> vector<64x64xf32>
    // The same registers again are behind that fence.
    // CHECK-NOT: nvvm.wgmma.fence.aligned
    // CHECK-COUNT-2: wgmma.mma_async
    %r = mosaic_gpu.wgmma accumulator(%q : vector<64x64xf32>) a(%a2 : vector<64x32xbf16>)
        b(%b : memref<32x64xbf16, #smem>) {in_layouts = [#acc, #acc], in_transforms = [#tiled], out_layouts = [#acc]}
        -> vector<64x64xf32>
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    mosaic_gpu.vector_store %r, %out {in_layouts = [#acc]} : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}
