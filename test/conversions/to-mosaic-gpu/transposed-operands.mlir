// RUN: smalti-opt %s --convert-triton-xla-to-mosaic-gpu='target=sm_90a' --split-input-file | FileCheck %s
// RUN: smalti-opt %s --convert-triton-xla-to-mosaic-gpu='target=sm_90a' --split-input-file --remarks-filter='.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: smalti-opt %s --convert-triton-xla-to-mosaic-gpu='target=sm_80' --split-input-file | FileCheck %s --check-prefix=MMA

// 8-bit operands that are not contiguous along K.

// wgmma requires operands that are contiguous along K. After the TMA load, threads transpose both operands. mma.sync has
// layouts with paired rows and columns, and the store has vectors of 4 columns.

// REMARK: dot lowered to wgmma: 64x64x64 on 1 warpgroup; operand A loaded by TMA and transposed in shared memory, B loaded by TMA and transposed in shared memory (8192 B by TMA)
// CHECK-LABEL: gpu.func @both
// CHECK-DAG: %[[RAW_A:.*]] = memref.alloc() {{.*}} : memref<64x64xf8E4M3FN
// CHECK: mosaic_gpu.wait
// CHECK: %[[A:.*]] = mosaic_gpu.vector_load %{{.*}} {in_transforms = {{.*}}out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}16, 64], [16, 16], [4, 2]], warp_dims = [-5], lane_dims = [-3, -4], vector_dim = -2>]}
// CHECK: %[[AT:.*]] = vector.transpose %[[A]], [1, 0]
// CHECK: mosaic_gpu.vector_store %[[AT]], %[[BUFFER_A:[a-z0-9_]+]]
// CHECK: %[[B:.*]] = mosaic_gpu.vector_load
// CHECK: %[[BT:.*]] = vector.transpose %[[B]], [1, 0]
// CHECK: mosaic_gpu.vector_store %[[BT]], %[[BUFFER_B:[a-z0-9_]+]]
// CHECK: nvvm.fence.proxy
// CHECK-NEXT: gpu.barrier
// CHECK: mosaic_gpu.wgmma accumulator(%{{.*}}) a(%[[BUFFER_A]] : {{.*}}) b(%{{.*}} : memref<64x64xf8E4M3FN, strided<[1, 64]>
// MMA-LABEL: gpu.func @both
// MMA-NOT: wgmma
triton_xla.entry_func @both(%a: memref<64x64xf8E4M3FN>, %b: memref<64x64xf8E4M3FN>, %c: memref<64x64xf32>, %tile: index) tiles 1 {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %raw = triton_xla.extract %a[0, 0] [64, 64] [1, 1] : memref<64x64xf8E4M3FN> to tensor<64x64xf8E4M3FN>
  %at = triton_xla.transpose %raw [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
  %bt = triton_xla.extract %b[0, 0] [64, 64] [1, 1] : memref<64x64xf8E4M3FN> to tensor<64x64xf8E4M3FN>
  %dot = triton_xla.dot %at, %bt, %zero : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
  triton_xla.insert %dot into %c[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}

// -----

// MMA-LABEL: gpu.func @columns
// MMA: mosaic_gpu.mma {{.*}} out_layouts = [#mosaic_gpu.TiledLayout<{{.*}}[8, 16], [4], [2]], warp_dims = {{.*}}, lane_dims = [-4, -3], vector_dim = -2>]
// MMA: mosaic_gpu.layout_cast {{.*}}[8, 16], [4]], warp_dims = {{.*}}, lane_dims = [-3, -2], vector_dim = -1>
// MMA: vector.transfer_write
triton_xla.entry_func @columns(%a: memref<64x32xi8>, %b: memref<32x64xi8>, %c: memref<64x64xi32>, %tile: index) tiles 1 {
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %at = triton_xla.extract %a[0, 0] [64, 32] [1, 1] : memref<64x32xi8> to tensor<64x32xi8>
  %bt = triton_xla.extract %b[0, 0] [32, 64] [1, 1] : memref<32x64xi8> to tensor<32x64xi8>
  %dot = triton_xla.dot %at, %bt, %zero : tensor<64x32xi8>, tensor<32x64xi8> -> tensor<64x64xi32>
  triton_xla.insert %dot into %c[0, 0] [64, 64] [1, 1] : tensor<64x64xi32> into memref<64x64xi32>
  triton_xla.return
}
