// Alignment of arguments by llvm.align, and its effect on accesses of threads; a strided argument has the same promise.
// RUN: smalti-opt %s -convert-mosaic-gpu-to-nvvm=target=sm_90a | FileCheck %s
// RUN: smalti-opt %s -convert-mosaic-gpu-to-rocdl=target=gfx1100 | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @copy(
  // CHECK-SAME: memref<256xf32> {llvm.align = 4 : i64}
  // CHECK-SAME: memref<256xf32> {llvm.align = 16 : i64}
  // CHECK-SAME: memref<2x128xf32, strided<[132, 1]>> {llvm.align = 16 : i64}
  // CHECK-COUNT-4: vector.load %arg0{{.*}} : memref<256xf32>, vector<1xf32>
  // CHECK-NOT: vector.load %arg0
  // CHECK: vector.load %arg2{{.*}} : memref<2x128xf32, strided<[132, 1]>>, vector<4xf32>
  // CHECK-NOT: vector.load
  // CHECK: vector.store %{{.*}}, %arg1{{.*}} : memref<256xf32>, vector<4xf32>
  gpu.func @copy(%src: memref<256xf32> {llvm.align = 4 : i64}, %dst: memref<256xf32>,
                 %rows: memref<2x128xf32, strided<[132, 1]>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %src[%c0], %zero
        {in_bounds = [true], out_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], 4>]} : memref<256xf32>, vector<256xf32>
    %w = vector.transfer_read %rows[%c0, %c0], %zero
        {in_bounds = [true, true], out_layouts = [#mosaic_gpu.WGStridedFragLayout<[2, 128], 4>]}
        : memref<2x128xf32, strided<[132, 1]>>, vector<2x128xf32>
    vector.transfer_write %v, %dst[%c0]
        {in_bounds = [true], in_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], 4>]} : vector<256xf32>, memref<256xf32>
    vector.transfer_write %w, %rows[%c0, %c0]
        {in_bounds = [true, true], in_layouts = [#mosaic_gpu.WGStridedFragLayout<[2, 128], 4>]}
        : vector<2x128xf32>, memref<2x128xf32, strided<[132, 1]>>
    gpu.return
  }
}
