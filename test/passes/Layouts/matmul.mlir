// Matmul ops by vendor and generation.
// RUN: smalti-opt %s -split-input-file --mosaic-gpu-infer-layouts | FileCheck %s

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  // CHECK-LABEL: func.func @wgmma_registers
  func.func @wgmma_registers(%c: vector<64x64xf32>, %a: vector<64x32xf8E4M3FN>, %b: memref<32x64xf8E4M3FN, strided<[1, 32]>, #smem>) {
    // A of 8-bit elements in registers; B transposed in memory.
    // CHECK: wgmma {{.*}} {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]], {{.*}}, #mosaic_gpu.TiledLayout<{{\[\[}}64, 16], [16, 16], [8, 16], [4]], {{.*}}], in_transforms = {{\[\[}}#mosaic_gpu.tile<[32, 8]>, #mosaic_gpu.swizzle<32 : i32>]]
    %r = mosaic_gpu.wgmma accumulator(%c : vector<64x64xf32>) a(%a : vector<64x32xf8E4M3FN>)
        b(%b : memref<32x64xf8E4M3FN, strided<[1, 32]>, #smem>) -> vector<64x64xf32>
    return
  }
}

// -----

module attributes {mosaic_gpu.arch_major = 8 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  // CHECK-LABEL: func.func @mma
  func.func @mma(%c: vector<64x16xf32>, %a: vector<64x16xf16>, %b: vector<16x16xf16>) {
    // CHECK: mosaic_gpu.mma {{.*}} {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>, #mosaic_gpu.TiledLayout<{{\[\[}}64, 16], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>, #mosaic_gpu.TiledLayout<{{\[\[}}16, 8], [8, 8], [2, 1]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], lane_dims = [-3, -4], vector_dim = -2>]
    %r = mosaic_gpu.mma accumulator(%c : vector<64x16xf32>) a(%a : vector<64x16xf16>) b(%b : vector<16x16xf16>) -> vector<64x16xf32>
    return
  }
}

// -----

// Waves of 64 lanes, and the fragments of the MMA instruction of the chip.
module attributes {smalti.target = "gfx942"} {
  // CHECK-LABEL: func.func @mfma
  func.func @mfma(%x: memref<64x64xf16>, %y: memref<64x64xf16>, %out: memref<64x64xf32>) {
    %c = arith.constant dense<0.0> : vector<64x64xf32>
    // CHECK: vector_load {{.*}} {out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}[[A:.*]]]}
    %a = mosaic_gpu.vector_load %x : memref<64x64xf16> -> vector<64x64xf16>
    %b = mosaic_gpu.vector_load %y : memref<64x64xf16> -> vector<64x64xf16>
    // CHECK: mosaic_gpu.mma {{.*}}#mosaic_gpu.TiledLayout<{{\[\[}}[[A]]
    %r = mosaic_gpu.mma accumulator(%c : vector<64x64xf32>) a(%a : vector<64x64xf16>) b(%b : vector<64x64xf16>) -> vector<64x64xf32>
    mosaic_gpu.vector_store %r, %out : vector<64x64xf32>, memref<64x64xf32>
    // 256 threads take 16 elements each, in vectors of 4.
    // CHECK: vector_load {{.*}} {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 4>]}
    %v = mosaic_gpu.vector_load %x : memref<64x64xf16> -> vector<64x64xf16>
    mosaic_gpu.debug_print "{}", %v : vector<64x64xf16>
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tmem = #mosaic_gpu.tmem
module attributes {mosaic_gpu.arch_major = 10 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  // The layout of the accumulator, from the matmul to the load.
  // CHECK-LABEL: func.func @tcgen05
  func.func @tcgen05(%p: memref<i32, #smem>, %a: memref<128x64xf16, #smem>, %b: memref<64x256xf16, #smem>, %i1: i1) {
    // CHECK: tmem_alloc {{.*}} {in_transforms = {{\[\[}}]], out_tmem_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 1], [32, 1]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>]}
    %m = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32, #smem>) -> memref<128x256xf32, #tmem>
    // CHECK: tcgen05_mma {{.*}} {in_tmem_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 1], {{.*}}], in_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>], [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]
    mosaic_gpu.tcgen05_mma accumulator(%m : memref<128x256xf32, #tmem>) a(%a : memref<128x64xf16, #smem>)
        b(%b : memref<64x256xf16, #smem>) accumulate(%i1)
    // CHECK: async_load_tmem {{.*}} {in_tmem_layouts = [{{.*}}], out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 8], [32, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>]}
    %v = mosaic_gpu.async_load_tmem %m : memref<128x256xf32, #tmem> -> vector<128x256xf32>
    // CHECK: tmem_dealloc {{.*}} {in_tmem_layouts =
    mosaic_gpu.tmem_dealloc tmem_ref(%m : memref<128x256xf32, #tmem>)
    return
  }

  // 64 rows in half of the lanes: the halves of B hold whole tiles.
  // CHECK-LABEL: func.func @rows64
  func.func @rows64(%c: memref<64x64xf32, #tmem>, %a: memref<64x64xf16, #smem>, %b: memref<64x64xf16, #smem>, %i1: i1) {
    // CHECK: tcgen05_mma {{.*}} {in_tmem_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 64], [16, 32], [1]], warp_dims = [-5], lane_dims = [-4, -3], vector_dim = -1>], in_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>], [#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<64 : i32>]]
    mosaic_gpu.tcgen05_mma accumulator(%c : memref<64x64xf32, #tmem>) a(%a : memref<64x64xf16, #smem>)
        b(%b : memref<64x64xf16, #smem>) accumulate(%i1)
    return
  }

  // A in tensor memory is packed; a cast of tensor memory is of all its uses.
  // CHECK-LABEL: func.func @from_tensor_memory
  func.func @from_tensor_memory(%c: memref<128x128xf32, #tmem>, %a: memref<128x64xf16, #tmem>, %b: memref<64x128xf16, #smem>, %v: vector<128x64xf16>, %i1: i1) {
    // CHECK: async_store_tmem {{.*}} {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 8], {{.*}}], in_tmem_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 2], [32, 2]],
    mosaic_gpu.async_store_tmem %v, %a : vector<128x64xf16>, memref<128x64xf16, #tmem>
    mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #tmem>) a(%a : memref<128x64xf16, #tmem>)
        b(%b : memref<64x128xf16, #smem>) accumulate(%i1)
    return
  }

  // A slice has its own layout; the load reduces rows, which one thread has.
  // CHECK-LABEL: func.func @reducing_load
  func.func @reducing_load(%m: memref<128x256xi32, #tmem>) {
    // CHECK: tmem_layout_cast
    %w = mosaic_gpu.tmem_layout_cast %m : memref<128x256xi32, #tmem> to #mosaic_gpu.TiledLayout<[[128, 1], [32, 1]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>
    // CHECK: slice_tmem {{.*}} out_tmem_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 1], [32, 1]],
    %s = mosaic_gpu.slice_tmem %w 0 : memref<128x256xi32, #tmem> to memref<128x64xf32, #tmem>
    // CHECK: async_load_tmem {{.*}}out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 2], [32, 2]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>, #mosaic_gpu.TiledLayout<{{\[\[}}128], [32], [1]],
    %v, %r = mosaic_gpu.async_load_tmem %s reduce max : memref<128x64xf32, #tmem> -> vector<128x64xf32>, vector<128xf32>
    return
  }

  // CHECK-LABEL: func.func @scales
  func.func @scales(%s: memref<1x1x32x16xf8E8M0FNU, #smem>, %m: memref<128x4xf8E8M0FNU, #tmem>, %d: memref<128x64xf16, #smem>, %t: memref<128x64xf16, #tmem>) {
    // CHECK: async_store_scales_smem_to_tmem {{.*}} {in_tmem_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 4], [32, 1]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], lane_dims = [-2], vector_dim = -3>], in_transforms = {{\[\[}}]]}
    mosaic_gpu.async_store_scales_smem_to_tmem %s to %m : memref<1x1x32x16xf8E8M0FNU, #smem> to memref<128x4xf8E8M0FNU, #tmem>
    // CHECK: async_store_smem_to_tmem {{.*}} {in_tmem_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 2], [32, 2]], {{.*}}], in_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]}
    mosaic_gpu.async_store_smem_to_tmem %d to %t : memref<128x64xf16, #smem> to memref<128x64xf16, #tmem>
    return
  }
}
