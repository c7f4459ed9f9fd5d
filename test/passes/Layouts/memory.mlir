// Shared memory: its users determine the tile, through all views.
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts | FileCheck %s

#smem = #gpu.address_space<workgroup>
#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  // The widest swizzle that divides the rows of the memory, and half of it
  // where a view ends there.
  // CHECK-LABEL: func.func @views
  func.func @views(%i: index) {
    // CHECK: slice_smem 0 {out_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]}
    %a = mosaic_gpu.slice_smem 0 : memref<2x64x128xf16, #smem>
    // CHECK: memref.subview {{.*}} {in_transforms = {{.*}}<[8, 64]>, {{.*}}out_transforms = {{.*}}<[8, 64]>
    %s = memref.subview %a[%i, 0, 0] [1, 64, 128] [1, 1, 1] : memref<2x64x128xf16, #smem> to memref<64x128xf16, strided<[128, 1], offset: ?>, #smem>
    %v = mosaic_gpu.vector_load %s : memref<64x128xf16, strided<[128, 1], offset: ?>, #smem> -> vector<64x128xf16>
    %c = mosaic_gpu.layout_cast x(%v : vector<64x128xf16>) {new_layout = #wgmma}
    // CHECK: slice_smem 65536 {out_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<64 : i32>]]}
    %b = mosaic_gpu.slice_smem 65536 : memref<64x128xf16, #smem>
    %t = memref.subview %b[0, 32] [64, 64] [1, 1] : memref<64x128xf16, #smem> to memref<64x64xf16, strided<[128, 1], offset: 32>, #smem>
    %w = mosaic_gpu.vector_load %t : memref<64x64xf16, strided<[128, 1], offset: 32>, #smem> -> vector<64x64xf16>
    %d = mosaic_gpu.layout_cast x(%w : vector<64x64xf16>) {new_layout = #wgmma}
    return
  }

  // An offset that the program promises to be a multiple.
  // CHECK-LABEL: func.func @promise
  func.func @promise(%i: index) {
    // CHECK: slice_smem 0 {out_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<64 : i32>]]}
    %a = mosaic_gpu.slice_smem 0 : memref<64x128xf16, #smem>
    %m = mosaic_gpu.assume_multiple %i, 32 : index
    %s = memref.subview %a[0, %m] [64, 64] [1, 1] : memref<64x128xf16, #smem> to memref<64x64xf16, strided<[128, 1], offset: ?>, #smem>
    %v = mosaic_gpu.vector_load %s : memref<64x64xf16, strided<[128, 1], offset: ?>, #smem> -> vector<64x64xf16>
    %c = mosaic_gpu.layout_cast x(%v : vector<64x64xf16>) {new_layout = #wgmma}
    return
  }

  // A transposed view has the transposed tile.
  // CHECK-LABEL: func.func @transpose
  func.func @transpose(%c: vector<64x64xf32>, %b: memref<64x64xf16, #smem>) {
    // CHECK: slice_smem 0 {out_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]}
    %a = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>
    // CHECK: memref.transpose {{.*}}out_transforms = {{\[\[}}#mosaic_gpu.tile<[64, 8]>, #mosaic_gpu.swizzle<128 : i32>]]
    %t = memref.transpose %a (i, j) -> (j, i) : memref<64x64xf16, #smem> to memref<64x64xf16, strided<[1, 64]>, #smem>
    // CHECK: wgmma {{.*}}in_transforms = {{\[\[}}#mosaic_gpu.tile<[64, 8]>, #mosaic_gpu.swizzle<128 : i32>], [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]
    %r = mosaic_gpu.wgmma accumulator(%c : vector<64x64xf32>) a(%t : memref<64x64xf16, strided<[1, 64]>, #smem>)
        b(%b : memref<64x64xf16, #smem>) -> vector<64x64xf32>
    return
  }

  // Ones, then any part, then whole dimensions collapse with their tile.
  // CHECK-LABEL: func.func @collapse
  func.func @collapse() {
    %a = mosaic_gpu.slice_smem 0 : memref<4x16x64xf16, #smem>
    %w = mosaic_gpu.with_transforms %a [#mosaic_gpu.tile<[1, 8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<4x16x64xf16, #smem>
    // CHECK: memref.collapse_shape {{.*}}out_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]
    %c = memref.collapse_shape %w [[0, 1], [2]] : memref<4x16x64xf16, #smem> into memref<64x64xf16, #smem>
    return
  }

  // CHECK-LABEL: func.func @expand
  func.func @expand() {
    %a = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>
    %w = mosaic_gpu.with_transforms %a [#mosaic_gpu.tile<[64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<64x64xf16, #smem>
    // CHECK: memref.expand_shape {{.*}}out_transforms = {{\[\[}}#mosaic_gpu.tile<[64]>, #mosaic_gpu.swizzle<128 : i32>]]
    %e = memref.expand_shape %w [[0, 1], [2]] output_shape [2, 32, 64] : memref<64x64xf16, #smem> into memref<2x32x64xf16, #smem>
    return
  }

  // Slices with the same alias are stored alike; another one is its own.
  // CHECK-LABEL: func.func @aliases
  func.func @aliases() {
    // CHECK: slice_smem 0 alias 1 {out_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>,
    %a = mosaic_gpu.slice_smem 0 alias 1 : memref<64x64xf16, #smem>
    %w = mosaic_gpu.with_transforms %a [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<64x64xf16, #smem>
    // CHECK: slice_smem 0 alias 1 {out_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>,
    %b = mosaic_gpu.slice_smem 0 alias 1 : memref<64x64xf16, #smem>
    // CHECK: slice_smem 0 {out_transforms = {{\[\[}}]]}
    %c = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>
    return
  }

  // Copies begin and end at whole tiles.
  // CHECK-LABEL: func.func @copies
  func.func @copies(%m: memref<512x512xf16>, %n: memref<512x512xf16>, %b: memref<!mosaic_gpu.barrier, #smem>, %i: i32) {
    %c64 = arith.constant 64 : i32
    %c32 = arith.constant 32 : i32
    // CHECK: slice_smem 0 {out_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<64 : i32>]]}
    %s = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>
    // CHECK: async_load {{.*}} {in_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 32]>
    mosaic_gpu.async_load %m[%c64, %c32] [64, 64] to %s barrier(%b)
        : memref<512x512xf16>[i32, i32] to memref<64x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    // CHECK: vector_load {{.*}} {in_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 32]>
    %v = mosaic_gpu.vector_load %s : memref<64x64xf16, #smem> -> vector<64x64xf16>
    %c = mosaic_gpu.layout_cast x(%v : vector<64x64xf16>) {new_layout = #wgmma}
    // CHECK: async_store {{.*}} {in_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 32]>
    mosaic_gpu.async_store %s to %n[%c64, %c32] [64, 64] : memref<64x64xf16, #smem> to memref<512x512xf16>[i32, i32]
    return
  }

  // The rows of a gather: distributed across the warps, or all of them in each warp.
  // CHECK-LABEL: func.func @gather
  func.func @gather(%m: memref<512x64xf16>, %b: memref<!mosaic_gpu.barrier, #smem>) {
    %c0 = arith.constant 0 : i32
    // CHECK: constant {out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}16], [4]], warp_dims = [-2], lane_dims = [#mosaic_gpu.Replicated<times = 32>], vector_dim = -1>]}
    %r = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
    // CHECK: constant {out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}4]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], lane_dims = [#mosaic_gpu.Replicated<times = 32>], vector_dim = -1>]}
    %f = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
    %s = mosaic_gpu.slice_smem 0 : memref<16x64xf16, #smem>
    %t = mosaic_gpu.slice_smem 2048 : memref<4x64xf16, #smem>
    // CHECK: async_load {{.*}} {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}16], [4]], {{.*}}], in_transforms = {{\[\[}}]]
    mosaic_gpu.async_load %m[%r, %c0] [16, 64] to %s barrier(%b)
        : memref<512x64xf16>[vector<16xi32>, i32] to memref<16x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    mosaic_gpu.async_load %m[%f, %c0] [4, 64] to %t barrier(%b)
        : memref<512x64xf16>[vector<4xi32>, i32] to memref<4x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    return
  }

  // Into regions that each warp runs, and to other blocks.
  // CHECK-LABEL: func.func @warps
  func.func @warps(%i: i32) {
    %s = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>
    // CHECK: with_transforms
    %w = mosaic_gpu.with_transforms %s [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<64x64xf16, #smem>
    // CHECK: get_cluster_ref {{.*}}out_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>
    %p = mosaic_gpu.get_cluster_ref %w x(%i) : memref<64x64xf16, #smem> -> memref<64x64xf16, #mosaic_gpu.smem_cluster>
    mosaic_gpu.warp_map (%a = %w : memref<64x64xf16, #smem>) {
      // CHECK: print_layout {{.*}} {in_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>
      mosaic_gpu.print_layout "{}", %a : memref<64x64xf16, #smem>
    }
    // CHECK: } {in_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>
    return
  }

  // Elements by their index, and memory in another shape: no tiles.
  // CHECK-LABEL: func.func @untiled
  func.func @untiled(%i: index, %v: vector<64x64xf32>) {
    // CHECK: slice_smem 0 {out_transforms = {{\[\[}}]]}
    %s = mosaic_gpu.slice_smem 0 : memref<64x64xf32, #smem>
    // CHECK: memref.load {{.*}} {in_transforms = {{\[\[}}]]}
    %e = memref.load %s[%i, %i] : memref<64x64xf32, #smem>
    // CHECK: reinterpret_cast {{.*}} {in_transforms = {{\[\[}}]], out_transforms = {{\[\[}}]]}
    %r = mosaic_gpu.reinterpret_cast %s : memref<64x64xf32, #smem> to memref<4096xf32, #smem>
    // CHECK: vector_store {{.*}} {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 2>], in_transforms = {{\[\[}}]]}
    mosaic_gpu.vector_store %v, %s : vector<64x64xf32>, memref<64x64xf32, #smem>
    return
  }

  // The layouts that the op states; its body is not changed.
  // CHECK-LABEL: func.func @primitive
  func.func @primitive(%a: memref<64x64xf32>, %tile: index) {
    // CHECK: vector_load {{.*}} {out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8],
    %v = mosaic_gpu.vector_load %a : memref<64x64xf32> -> vector<64x64xf32>
    // CHECK: slice_smem 0 {out_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<128 : i32>]]}
    %s = mosaic_gpu.slice_smem 0 : memref<64x64xf32, #smem>
    %r = mosaic_gpu.custom_primitive (%x = %v : vector<64x64xf32>, %m = %s : memref<64x64xf32, #smem>) {
      %sum = arith.addf %x, %x : vector<64x64xf32>
      mosaic_gpu.return %sum : vector<64x64xf32>
    } {in_layouts = [#wgmma], in_transforms = [[#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<128 : i32>]], out_layouts = [#wgmma]} -> vector<64x64xf32>
    // CHECK: debug_print {{.*}} {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8],
    mosaic_gpu.debug_print "{}", %r : vector<64x64xf32>
    // CHECK: print_tile {{.*}} {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8],
    mosaic_gpu.print_tile %tile, "r", %r : vector<64x64xf32>
    // CHECK: print_tile %{{.*}}, "tile", %{{.*}} : index
    mosaic_gpu.print_tile %tile, "tile", %tile : index
    return
  }
}
