// Function argument of one element in shared memory, without transforms.
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts --mosaic-gpu-evaluate-layouts \
// RUN:   --remarks-filter=mosaic-gpu-evaluate-layouts -o /dev/null 2>&1 | FileCheck %s

// CHECK-NOT: error
// CHECK: remark
#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @rank0(%m: memref<f32, #smem>, %n: memref<1xf32, #smem>, %o: memref<f32>) {
    %c0 = arith.constant 0 : index
    %x = memref.load %m[] : memref<f32, #smem>
    memref.store %x, %n[%c0] : memref<1xf32, #smem>
    memref.store %x, %o[] : memref<f32>
    return
  }
}
