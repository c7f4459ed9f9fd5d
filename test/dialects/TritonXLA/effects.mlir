// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: smalti-opt %s --cse --loop-invariant-code-motion | FileCheck %s

// Facts stay in the loop, which may run zero times.
// CHECK-LABEL: @zero_trips(
// CHECK: scf.for
// CHECK-NEXT: triton_xla.assume_multiple
triton_xla.entry_func @zero_trips(%src: memref<?x64xf32>, %dst: memref<64xf32>, %row: index, %n: index, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %r = triton_xla.assume_multiple %row, 16 : index
    %t = triton_xla.extract %src[%r, 0] [1, 64] [1, 1] : memref<?x64xf32> to tensor<64xf32>
    triton_xla.insert %t into %dst[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  }
  triton_xla.return
}

// Two facts that are equal become one.
// CHECK-LABEL: @equal_facts(
// CHECK: triton_xla.assume_multiple
// CHECK-NOT: triton_xla.assume_multiple
// CHECK: triton_xla.return
triton_xla.entry_func @equal_facts(%dst: memref<64xindex>, %row: index, %tile: index) tiles 1 {
  %a = triton_xla.assume_multiple %row, 16 : index
  %b = triton_xla.assume_multiple %row, 16 : index
  %s = arith.addi %a, %b : index
  %t = tensor.splat %s : tensor<64xindex>
  triton_xla.insert %t into %dst[0] [64] [1] : tensor<64xindex> into memref<64xindex>
  triton_xla.return
}

// CHECK-LABEL: func.func @zero_trips_of_blocks(
// CHECK: scf.for
// CHECK-NEXT: mosaic_gpu.assume_multiple
func.func @zero_trips_of_blocks(%row: i32, %n: index, %dst: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %r = mosaic_gpu.assume_multiple %row, 16 : i32
    memref.store %r, %dst[%i] : memref<?xi32>
  }
  return
}
