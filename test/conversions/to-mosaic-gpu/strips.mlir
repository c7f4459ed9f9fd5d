// Windows of different iterations that do not overlap do not need a barrier.
// RUN: smalti-opt %s -convert-triton-xla-to-mosaic-gpu=target=sm_80 | FileCheck %s

// CHECK-LABEL: gpu.func @strips
// CHECK-NOT: gpu.barrier
triton_xla.entry_func @strips(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %row: index) tiles 8 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  scf.for %j = %c0 to %n step %c1024 {
    %t = triton_xla.extract %x[%row, %j] [1, 1024] [1, 1] : memref<?x?xf32> to tensor<1024xf32>
    triton_xla.insert %t into %y[%row, %j] [1, 1024] [1, 1] : tensor<1024xf32> into memref<?x?xf32>
  }
  triton_xla.return
}

// The step is less than the size.
// CHECK-LABEL: gpu.func @overlap
// CHECK: gpu.barrier
triton_xla.entry_func @overlap(%y: memref<8x?xf32>, %row: index) tiles 8 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1023 = arith.constant 1023 : index
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %n = memref.dim %y, %c1 : memref<8x?xf32>
  scf.for %j = %c0 to %n step %c1023 {
    triton_xla.insert %one into %y[%row, %j] [1, 1024] [1, 1] : tensor<1024xf32> into memref<8x?xf32>
  }
  triton_xla.return
}

// The inner loop begins again with each iteration of the outer one.
// CHECK-LABEL: gpu.func @again
// CHECK: gpu.barrier
triton_xla.entry_func @again(%y: memref<8x?xf32>, %row: index) tiles 8 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %n = memref.dim %y, %c1 : memref<8x?xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1024 {
      triton_xla.insert %one into %y[%row, %j] [1, 1024] [1, 1] : tensor<1024xf32> into memref<8x?xf32>
    }
  }
  triton_xla.return
}

// Another window is read.
// CHECK-LABEL: gpu.func @neighbor
// CHECK: gpu.barrier
triton_xla.entry_func @neighbor(%y: memref<8x?xf32>, %row: index) tiles 8 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %n = memref.dim %y, %c1 : memref<8x?xf32>
  scf.for %j = %c0 to %n step %c1024 {
    %k = arith.addi %j, %c1 : index
    %t = triton_xla.extract %y[%row, %k] [1, 1024] [1, 1] : memref<8x?xf32> to tensor<1024xf32>
    triton_xla.insert %t into %y[%row, %j] [1, 1024] [1, 1] : tensor<1024xf32> into memref<8x?xf32>
  }
  triton_xla.return
}

// Rows share elements: row i and column j + 1 are row i + 1 and column j.
// CHECK-LABEL: gpu.func @shared_elements
// CHECK: gpu.barrier
triton_xla.entry_func @shared_elements(%y: memref<8x?xf32, strided<[1, 1]>>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    triton_xla.insert %one into %y[%i, 0] [1, 1024] [1, 1] : tensor<1024xf32> into memref<8x?xf32, strided<[1, 1]>>
  }
  triton_xla.return
}

// CHECK-LABEL: gpu.func @padded_rows
// CHECK-NOT: gpu.barrier
triton_xla.entry_func @padded_rows(%y: memref<8x1000xf32, strided<[1024, 1]>>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    triton_xla.insert %one into %y[%i, 0] [1, 1024] [1, 1] : tensor<1024xf32> into memref<8x1000xf32, strided<[1024, 1]>>
  }
  triton_xla.return
}
