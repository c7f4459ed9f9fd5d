// Layouts of transfers of windows of global memory, which are masked.
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts | FileCheck %s

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
module attributes {smalti.target = "sm_90a"} {
  gpu.module @kernels {
    // The attribute states that the kernel is at block level.
    // CHECK-LABEL: gpu.func @block_level
    gpu.func @block_level(%x: memref<100x64xf32>, %y: memref<100x64xf32>, %i: index) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
      %zero = arith.constant 0.0 : f32
      // CHECK: vector.transfer_read {{.*}} {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 2>]}
      %v = vector.transfer_read %x[%i, %i], %zero : memref<100x64xf32>, vector<64x64xf32>
      // CHECK: vector.transfer_write {{.*}} {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 2>]}
      vector.transfer_write %v, %y[%i, %i] : vector<64x64xf32>, memref<100x64xf32>
      gpu.return
    }

    // A read has the layout of its use.
    // CHECK-LABEL: gpu.func @stated
    gpu.func @stated(%x: memref<3x100x64xf32>, %y: memref<100x64xf32>, %i: index) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>} {
      %zero = arith.constant 0.0 : f32
      // CHECK: vector.transfer_read {{.*}} {out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]],
      %v = vector.transfer_read %x[%i, %i, %i], %zero : memref<3x100x64xf32>, vector<64x64xf32>
      %w = mosaic_gpu.layout_cast x(%v : vector<64x64xf32>) {new_layout = #wgmma}
      // CHECK: vector.transfer_write {{.*}} {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]],
      vector.transfer_write %w, %y[%i, %i] : vector<64x64xf32>, memref<100x64xf32>
      gpu.return
    }

    // CHECK-LABEL: gpu.func @thread_level
    gpu.func @thread_level(%x: memref<100x64xf32>, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %zero = arith.constant 0.0 : f32
      // CHECK-NOT: layouts
      // CHECK: gpu.return
      %v = vector.transfer_read %x[%i, %i], %zero : memref<100x64xf32>, vector<4xf32>
      gpu.return
    }
  }
}
