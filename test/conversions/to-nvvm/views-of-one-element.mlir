// RUN: smalti-opt %s --convert-mosaic-gpu-to-nvvm=target=sm_90a | FileCheck %s

// Both dimensions have one element: the strides of the type determine which one is kept.
// CHECK-LABEL: gpu.func @k
// CHECK: memref.subview %{{.*}}[0, 0] [1, 1] [1, 2]
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = mosaic_gpu.slice_smem 0 : memref<4x16xf32, #gpu.address_space<workgroup>>
    %1 = memref.subview %0[0, 0] [1, 1] [1, 2] : memref<4x16xf32, #gpu.address_space<workgroup>> to memref<1xf32, strided<[2]>, #gpu.address_space<workgroup>>
    gpu.return
  }
}
