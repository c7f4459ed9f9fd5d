// Unchanged module with a refused kernel.

// RUN: not smalti-opt %s --convert-triton-xla-to-cpu --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not smalti-opt %s --convert-triton-xla-to-cpu=vector-width=100 2>&1 | FileCheck %s --check-prefix=WIDTH

// CHECK: error: 'triton_xla.entry_func' on f80 is not supported
// CHECK: triton_xla.entry_func @fine(
// CHECK:   triton_xla.extract
// CHECK:   triton_xla.insert
// CHECK: triton_xla.entry_func @refused(
// CHECK-NOT: func.func

// WIDTH: --vector-width option: Cannot find option named '100'
triton_xla.entry_func @fine(%a: memref<4xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [4] [1] : memref<4xf32> to tensor<4xf32>
  triton_xla.insert %t into %a[0] [4] [1] : tensor<4xf32> into memref<4xf32>
  triton_xla.return
}
triton_xla.entry_func @refused(%a: memref<4xf80>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [4] [1] : memref<4xf80> to tensor<4xf80>
  triton_xla.insert %t into %a[0] [4] [1] : tensor<4xf80> into memref<4xf80>
  triton_xla.return
}
