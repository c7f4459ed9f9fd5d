// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{target=sm_90a}))' \
// RUN:   --remarks-filter=smalti-multi-buffer 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// CHECK-LABEL: func.func @block_program
// CHECK:         %[[BUFFER:.*]] = memref.alloc() {alignment = 1024 : i64} : memref<2x64x32xf16, #gpu.address_space<workgroup>>
// CHECK:         scf.for %[[K:[^ ]*]] =
// CHECK:           %[[NUMBER:.*]] = arith.divui %[[K]], %c32
// CHECK:           %[[SLOT:.*]] = arith.remui %[[NUMBER]], %c2
// CHECK:           %[[VIEW:.*]] = memref.subview %[[BUFFER]][%[[SLOT]], 0, 0] [1, 64, 32] [1, 1, 1]
// CHECK:           mosaic_gpu.vector_store %{{.*}}, %[[VIEW]]
// CHECK:           %[[HALF:.*]] = memref.subview %[[VIEW]][0, 0] [64, 32] [1, 1]
// CHECK:           mosaic_gpu.vector_load %[[HALF]]
// CHECK:         memref.dealloc %[[BUFFER]]
// REMARK: remark: [Passed] smalti-multi-buffer | Category:smalti-multi-buffer | Function=block_program | Remark="buffer multi-buffered: 2 slots of 4096 B, 8192 B in total"
func.func @block_program(%a: memref<500x300xf16>, %n: index) -> vector<64x32xf16> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c300 = arith.constant 300 : index
  %zero = arith.constant 0.0 : f16
  %init = arith.constant dense<0.0> : vector<64x32xf16>
  %smem = memref.alloc() {alignment = 1024 : i64} : memref<64x32xf16, #gpu.address_space<workgroup>>
  %sum = scf.for %k = %c0 to %c300 step %c32 iter_args(%acc = %init) -> vector<64x32xf16> {
    %tile = vector.transfer_read %a[%n, %k], %zero : memref<500x300xf16>, vector<64x32xf16>
    mosaic_gpu.vector_store %tile, %smem : vector<64x32xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
    gpu.barrier
    %half = memref.subview %smem[0, 0] [64, 32] [1, 1]
      : memref<64x32xf16, #gpu.address_space<workgroup>> to memref<64x32xf16, strided<[32, 1]>, #gpu.address_space<workgroup>>
    %back = mosaic_gpu.vector_load %half
      : memref<64x32xf16, strided<[32, 1]>, #gpu.address_space<workgroup>> -> vector<64x32xf16>
    %next = arith.addf %acc, %back : vector<64x32xf16>
    gpu.barrier
    scf.yield %next : vector<64x32xf16>
  }
  memref.dealloc %smem : memref<64x32xf16, #gpu.address_space<workgroup>>
  return %sum : vector<64x32xf16>
}
