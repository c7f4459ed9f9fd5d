// RUN: smalti-opt %s | smalti-opt | FileCheck %s

// CHECK: func.func private @strided() attributes {test.a = #mosaic_gpu.WGStridedFragLayout<[128, 128], 2>, test.b = #mosaic_gpu.WGStridedFragLayout<[], 1>}
func.func private @strided() attributes {
  test.a = #mosaic_gpu.WGStridedFragLayout<[128, 128], 2>, test.b = #mosaic_gpu.WGStridedFragLayout<[], 1>}

// CHECK: func.func private @splat() attributes {test.a = #mosaic_gpu.WGSplatFragLayout<[64]>, test.b = #mosaic_gpu.WGSplatFragLayout<[]>}
func.func private @splat() attributes {
  test.a = #mosaic_gpu.WGSplatFragLayout<[64]>, test.b = #mosaic_gpu.WGSplatFragLayout<[]>}

// CHECK-LABEL: func.func private @tiled()
func.func private @tiled() attributes {
  // CHECK-SAME: test.a = #mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
  test.a = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>,
  // CHECK-SAME: test.b = #mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2, 2], [2, 1]], warp_dims = [-10], lane_dims = [-6, -3, -5], vector_dim = -2>
  test.b = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2, 2], [2, 1]], warp_dims = [-10], lane_dims = [-6, -3, -5], vector_dim = -2>,
  // CHECK-SAME: test.c = #mosaic_gpu.TiledLayout<{{\[\[}}64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>
  test.c = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>,
  // CHECK-SAME: test.d = #mosaic_gpu.TiledLayout<{{\[\[}}8], [2]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], lane_dims = [#mosaic_gpu.Replicated<times = 8>, -2], vector_dim = -1>
  test.d = #mosaic_gpu.TiledLayout<[[8], [2]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], lane_dims = [#mosaic_gpu.Replicated<times = 8>, -2], vector_dim = -1>,
  // CHECK-SAME: test.e = #mosaic_gpu.TiledLayout<{{\[\[}}4]], warp_dims = [], lane_dims = [], vector_dim = -1>
  test.e = #mosaic_gpu.TiledLayout<[[4]], warp_dims = [], lane_dims = [], vector_dim = -1>,
  // CHECK-SAME: test.f = #mosaic_gpu.Replicated<times = 4>
  test.f = #mosaic_gpu.Replicated<times = 4>}

// CHECK-LABEL: func.func private @transforms()
func.func private @transforms() attributes {
  // CHECK-SAME: test.a = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]
  test.a = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>],
  // CHECK-SAME: test.b = [#mosaic_gpu.swizzle<16 : i32>, #mosaic_gpu.swizzle<32 : i32>, #mosaic_gpu.swizzle<64 : i32>]
  test.b = [#mosaic_gpu.swizzle<16 : i32>, #mosaic_gpu.swizzle<32 : i32>, #mosaic_gpu.swizzle<64 : i32>]}

// CHECK: func.func private @types(memref<4x!mosaic_gpu.barrier>, memref<!mosaic_gpu.barrier<orders_tensor_core = true>>, !mosaic_gpu.barrier)
func.func private @types(memref<4x!mosaic_gpu.barrier>, memref<!mosaic_gpu.barrier<orders_tensor_core = true>>,
                         !mosaic_gpu.barrier<orders_tensor_core = false>)

#acc = #mosaic_gpu.TiledLayout<[[64, 16], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#splat = #mosaic_gpu.WGSplatFragLayout<[64, 16]>
!smem = memref<64x16xf16, #gpu.address_space<workgroup>>

// Layouts on ops: one entry per vector, independent of other operands; tiled and splat may be mixed.
// CHECK-LABEL: func.func @on_ops
func.func @on_ops(%c: vector<64x16xf32>, %a: vector<64x16xf16>, %b: vector<16x16xf16>, %s: !smem) {
  // CHECK: mosaic_gpu.mma {{.*}} {in_layouts = [#mosaic_gpu.WGSplatFragLayout<[64, 16]>, #mosaic_gpu.TiledLayout{{.*}}, #mosaic_gpu.TiledLayout{{.*}}], out_layouts = [#mosaic_gpu.TiledLayout{{.*}}]}
  %r = mosaic_gpu.mma accumulator(%c : vector<64x16xf32>) a(%a : vector<64x16xf16>) b(%b : vector<16x16xf16>)
      {in_layouts = [#splat, #acc,
        #mosaic_gpu.TiledLayout<[[16, 8], [8, 8], [2, 1]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], lane_dims = [-3, -4], vector_dim = -2>],
       out_layouts = [#acc]} -> vector<64x16xf32>
  // CHECK: mosaic_gpu.vector_store {{.*}} {in_layouts = [#mosaic_gpu.TiledLayout{{.*}}], in_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 16]>]]}
  mosaic_gpu.vector_store %a, %s {in_layouts = [#acc], in_transforms = [[#mosaic_gpu.tile<[8, 16]>]]}
      : vector<64x16xf16>, !smem
  // CHECK: mosaic_gpu.vector_load {{.*}} {in_transforms = {{\[\[\]\]}}}
  %l = mosaic_gpu.vector_load %s {in_transforms = [[]]} : !smem -> vector<64x16xf16>
  return
}
