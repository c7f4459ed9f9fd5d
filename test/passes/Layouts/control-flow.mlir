// Layouts of values that regions forward: loops, branches, switches.
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts | FileCheck %s

#tcgen = #mosaic_gpu.TiledLayout<[[128, 8], [32, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  // The result of a branch: a splat on one side, WGMMA on the other.
  // CHECK-LABEL: func.func @branch
  func.func @branch(%p: i1, %c: vector<64x64xf32>, %a: memref<64x64xf16, #smem>, %b: memref<64x64xf16, #smem>) {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    // CHECK: scf.if
    %r = scf.if %p -> vector<64x64xf32> {
      %w = mosaic_gpu.wgmma accumulator(%c : vector<64x64xf32>) a(%a : memref<64x64xf16, #smem>)
          b(%b : memref<64x64xf16, #smem>) -> vector<64x64xf32>
      // CHECK: scf.yield {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]],
      scf.yield %w : vector<64x64xf32>
    } else {
      // CHECK: scf.yield {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]],
      scf.yield %zero : vector<64x64xf32>
    }
    // CHECK: } {out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]],
    return
  }

  // Two groups of values: before and after the condition.
  // CHECK-LABEL: func.func @while
  func.func @while(%v: vector<128xf32>, %x: f32) {
    // CHECK: scf.while
    %r = scf.while (%before = %v) : (vector<128xf32>) -> vector<128xf32> {
      %p = arith.cmpf olt, %x, %x : f32
      %s = vector.broadcast %x : f32 to vector<128xf32>
      // CHECK: scf.condition({{.*}}) {in_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]}
      scf.condition(%p) %s : vector<128xf32>
    } do {
    ^bb0(%after: vector<128xf32>):
      %i = mosaic_gpu.broadcasted_iota 0 : vector<128xf32>
      // CHECK: scf.yield {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>]}
      scf.yield %i : vector<128xf32>
    }
    // CHECK: } attributes {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>], out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]}
    // Used where only a splat will do.
    %e = vector.extract %r[0] : f32 from vector<128xf32>
    return
  }

  // CHECK-LABEL: func.func @switch
  func.func @switch(%i: index, %v: vector<128x64xf32>) {
    %zero = arith.constant dense<0.0> : vector<128x64xf32>
    // CHECK: scf.index_switch {{.*}} {out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 8], [32, 8], [8, 8], [2]],
    %r = scf.index_switch %i -> vector<128x64xf32>
    case 0 {
      %t = mosaic_gpu.layout_cast x(%v : vector<128x64xf32>) {new_layout = #tcgen}
      // CHECK: scf.yield {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 8], [32, 8], [8, 8], [2]],
      scf.yield %t : vector<128x64xf32>
    }
    default {
      // CHECK: scf.yield {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 8], [32, 8], [8, 8], [2]],
      scf.yield %zero : vector<128x64xf32>
    }
    return
  }

  // Shared memory that a loop carries is stored as what it begins with, and so
  // is what the loop yields.
  // CHECK-LABEL: func.func @memory
  func.func @memory(%n: index, %p: i1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: slice_smem 0 {out_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]}
    %a = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>
    // CHECK: slice_smem 8192 {out_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]}
    %b = mosaic_gpu.slice_smem 8192 : memref<64x64xf16, #smem>
    %w = mosaic_gpu.with_transforms %a [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<64x64xf16, #smem>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%m = %w) -> memref<64x64xf16, #smem> {
      // CHECK: scf.yield {in_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]}
      scf.yield %b : memref<64x64xf16, #smem>
    }
    return
  }
}
