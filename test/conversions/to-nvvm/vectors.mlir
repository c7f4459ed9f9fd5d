// RUN: smalti-opt %s --split-input-file --convert-mosaic-gpu-to-nvvm=target=sm_90a --canonicalize --cse | FileCheck %s

// Instruction counts of layout changes, reductions, conversions and accesses of shared memory. The results are tested
// in test/python/conversions/test_block_vectors.py.

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#transposed = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2, 2], [2, 1]], warp_dims = [-10], lane_dims = [-6, -3, -5], vector_dim = -2>

// Lanes of neighboring rows exchange one word each, and take two bytes of either.
gpu.module @shuffles_module {
  // CHECK-LABEL: gpu.func @shuffles
  // CHECK-COUNT-32: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c4_i32, %c31_i32 : i32 -> i32
  // CHECK-NOT: shfl
  // CHECK-NOT: barrier
  // CHECK: gpu.return
  gpu.func @shuffles(%x: memref<128x64xf16>, %y: memref<128x64xf16>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {optimized = false, out_layouts = [#wgmma]} : memref<128x64xf16> -> vector<128x64xf16>
    %w = mosaic_gpu.layout_cast x(%v : vector<128x64xf16>) {in_layouts = [#wgmma], new_layout = #transposed, out_layouts = [#transposed]}
    mosaic_gpu.vector_store %w, %y {in_layouts = [#transposed]} : vector<128x64xf16>, memref<128x64xf16>
    gpu.return
  }
}

// -----

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#tcgen05 = #mosaic_gpu.TiledLayout<[[128, 8], [32, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>

// From warp to warp, through scratch shared memory.
gpu.module @scratch_module {
  // CHECK-LABEL: gpu.func @scratch
  // CHECK-SAME: smalti.shared_memory_bytes = 16384 : i64
  // CHECK-COUNT-8: nvvm.stmatrix
  // CHECK-NOT: nvvm.stmatrix
  // CHECK: gpu.barrier
  // CHECK-COUNT-8: nvvm.ldmatrix
  // CHECK-NOT: nvvm.ldmatrix
  // CHECK: gpu.barrier
  gpu.func @scratch(%x: memref<128x64xf16>, %y: memref<128x64xf16>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {optimized = false, out_layouts = [#wgmma]} : memref<128x64xf16> -> vector<128x64xf16>
    %w = mosaic_gpu.layout_cast x(%v : vector<128x64xf16>) {in_layouts = [#wgmma], new_layout = #tcgen05, out_layouts = [#tcgen05]}
    mosaic_gpu.vector_store %w, %y {in_layouts = [#tcgen05]} : vector<128x64xf16>, memref<128x64xf16>
    gpu.return
  }
}

// -----

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#row = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>

// Four lanes share a row, and a thread holds parts of two.
gpu.module @rows_module {
  // CHECK-LABEL: gpu.func @rows
  // CHECK-COUNT-4: nvvm.shfl.sync bfly
  // CHECK-NOT: shfl
  // CHECK-NOT: barrier
  // CHECK: gpu.return
  gpu.func @rows(%x: memref<64x128xf32>, %y: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %zero = arith.constant {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[64]>]} dense<0.0> : vector<64xf32>
    %v = mosaic_gpu.vector_load %x {optimized = false, out_layouts = [#wgmma]} : memref<64x128xf32> -> vector<64x128xf32>
    %r = vector.multi_reduction <add>, %v, %zero {in_layouts = [#wgmma, #row], out_layouts = [#row]} [1] : vector<64x128xf32> to vector<64xf32>
    mosaic_gpu.vector_store %r, %y {in_layouts = [#row]} : vector<64xf32>, memref<64xf32>
    gpu.return
  }
}

// -----

#strided = #mosaic_gpu.WGStridedFragLayout<[1024], 4>

// One instruction for the lanes of a warp, and four words of scratch for the warps.
gpu.module @all_module {
  // CHECK-LABEL: gpu.func @all
  // CHECK-COUNT-1: nvvm.redux.sync add
  // CHECK: scf.if
  // CHECK-COUNT-1: llvm.store
  // CHECK: gpu.barrier
  // CHECK-COUNT-4: llvm.load
  // CHECK: gpu.barrier
  gpu.func @all(%x: memref<1024xi32>, %y: memref<1024xi32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, smalti.shared_memory_bytes = 2048 : i64} {
    %v = mosaic_gpu.vector_load %x {optimized = false, out_layouts = [#strided]} : memref<1024xi32> -> vector<1024xi32>
    %s = vector.reduction <add>, %v {in_layouts = [#strided], offset = 0 : i32, scratch_size = 2048 : i32} : vector<1024xi32> into i32
    %b = vector.broadcast %s {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[1024]>]} : i32 to vector<1024xi32>
    mosaic_gpu.vector_store %b, %y {in_layouts = [#strided]} : vector<1024xi32>, memref<1024xi32>
    gpu.return
  }
}

// -----

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#eight = #mosaic_gpu.TiledLayout<[[64, 16], [16, 16], [8, 16], [4]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>

// Pairs of elements for every result type.
gpu.module @conversions_module {
  // CHECK-LABEL: gpu.func @conversions
  // CHECK-COUNT-32: nvvm.convert.f8x2.to.f16x2 %{{.*}} : vector<2xi8>(f8E4M3FN) -> vector<2xf16>
  // CHECK-NOT: nvvm.convert.f8x2
  // CHECK-COUNT-32: nvvm.convert.f32x2.to.f8x2 {{.*}} {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : vector<2xi8>(f8E5M2)
  // CHECK-NOT: nvvm.convert.f32x2
  // CHECK: gpu.return
  gpu.func @conversions(%x: memref<128x64xf8E4M3FN>, %y: memref<128x64xf8E5M2>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {optimized = false, out_layouts = [#eight]} : memref<128x64xf8E4M3FN> -> vector<128x64xf8E4M3FN>
    %w = arith.extf %v {in_layouts = [#eight], out_layouts = [#eight]} : vector<128x64xf8E4M3FN> to vector<128x64xf32>
    %s = arith.truncf %w {in_layouts = [#eight], out_layouts = [#eight]} : vector<128x64xf32> to vector<128x64xf8E5M2>
    mosaic_gpu.vector_store %s, %y {in_layouts = [#eight]} : vector<128x64xf8E5M2>, memref<128x64xf8E5M2>
    gpu.return
  }
}

// -----

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>

// Constant offsets relative to a few address registers, no more than the swizzle requires.
gpu.module @matrices_module {
  // CHECK-LABEL: gpu.func @matrices
  // CHECK-COUNT-8: nvvm.stmatrix
  // CHECK-NOT: nvvm.stmatrix
  // CHECK: gpu.barrier
  // CHECK-COUNT-8: nvvm.ldmatrix %{{.*}}num = 4
  // CHECK-NOT: nvvm.ldmatrix
  // CHECK: gpu.return
  gpu.func @matrices(%x: memref<128x64xf16>, %y: memref<128x64xf16>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %v = mosaic_gpu.vector_load %x {optimized = false, out_layouts = [#wgmma]} : memref<128x64xf16> -> vector<128x64xf16>
    %m = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]} : memref<128x64xf16, #gpu.address_space<workgroup>>
    mosaic_gpu.vector_store %v, %m {in_layouts = [#wgmma], in_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]} : vector<128x64xf16>, memref<128x64xf16, #gpu.address_space<workgroup>>
    gpu.barrier
    %w = mosaic_gpu.vector_load %m {in_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]], out_layouts = [#wgmma]} : memref<128x64xf16, #gpu.address_space<workgroup>> -> vector<128x64xf16>
    mosaic_gpu.vector_store %w, %y {in_layouts = [#wgmma]} : vector<128x64xf16>, memref<128x64xf16>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 2>

// An i1 occupies a byte of memory: each is accessed separately, because vectors of i1 would be packed.
gpu.module @bits_module {
  // CHECK-LABEL: gpu.func @bits
  // CHECK-COUNT-2: vector.load %{{.*}} : memref<256xi1>, vector<1xi1>
  // CHECK-NOT: vector.load
  // CHECK-COUNT-2: vector.store %{{.*}} : memref<256xi1>, vector<1xi1>
  // CHECK-NOT: vector.store
  gpu.func @bits(%x: memref<256xi1>, %y: memref<256xi1>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#one]} : memref<256xi1> -> vector<256xi1>
    mosaic_gpu.vector_store %v, %y {in_layouts = [#one]} : vector<256xi1>, memref<256xi1>
    gpu.return
  }
}
