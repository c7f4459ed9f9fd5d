// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a},canonicalize,cse))' | FileCheck %s
// RUN: smalti-opt %s --convert-mosaic-gpu-to-nvvm=target=sm_90a --remarks-filter=convert-mosaic-gpu-to-nvvm -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#smem = #gpu.address_space<workgroup>
#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#row = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>

gpu.module @m {
  // Each of the four elements of a thread, with its index.
  // CHECK-LABEL: gpu.func @elements(
  // CHECK-COUNT-4: gpu.printf "100%% of [%lld, %lld]: %f, x\0A", %{{.*}}, %{{.*}}, %{{.*}} : i64, i64, f64
  // CHECK-NOT: gpu.printf
  gpu.func @elements(%a: memref<64x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<64x8xf32> -> vector<64x8xf32>
    // REMARK: prints.mlir:[[@LINE+1]]:{{.*}}v: #mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>, as #mosaic_gpu.TiledLayout
    mosaic_gpu.print_layout "v: {}, as {}", %v {in_layouts = [#wgmma]} : vector<64x8xf32>
    mosaic_gpu.debug_print "100% of {}, x", %v {in_layouts = [#wgmma]} : vector<64x8xf32>
    gpu.return
  }

  // The first of the four threads that hold an element, and of all that hold a splat.
  // CHECK-LABEL: gpu.func @once(
  // CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c4
  // CHECK: scf.if
  // CHECK: gpu.printf "[%lld]: %lld [%lld]: %lld\0A"
  // CHECK: gpu.printf "[%lld]: %lld [%lld]: %lld\0A"
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %thread_id_x, %c0
  // CHECK: scf.if %[[FIRST]] {
  // CHECK: gpu.printf "%lld\0A", %{{.*}} : i64
  gpu.func @once(%a: memref<64xi8>, %i: i16) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#row]} : memref<64xi8> -> vector<64xi8>
    mosaic_gpu.debug_print "{} {}", %v {in_layouts = [#row]} : vector<64xi8>
    %s = vector.broadcast %i : i16 to vector<64xi16>
    mosaic_gpu.debug_print "{}", %s : vector<64xi16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @memory(
  // CHECK-NOT: print_layout
  gpu.func @memory() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %m = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]} : memref<64x64xf16, #smem>
    // REMARK: m is tile 8x64, swizzle 128
    mosaic_gpu.print_layout "m is {}", %m {in_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]} : memref<64x64xf16, #smem>
    gpu.return
  }
}
