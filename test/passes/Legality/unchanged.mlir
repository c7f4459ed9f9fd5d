// A module of legal ops passes unchanged, with and without a target. Kernels of other levels are not checked.
// RUN: smalti-opt %s --smalti-check-legality | FileCheck %s
// RUN: smalti-opt %s --smalti-check-legality=target=gfx942 | FileCheck %s
// RUN: not smalti-opt %s --smalti-check-legality=target=gfx9 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: unknown target 'gfx9'

// CHECK-LABEL: triton_xla.entry_func @legal(
// CHECK:         triton_xla.extract
// CHECK:         scf.for
// CHECK:           arith.addf
// CHECK:         triton_xla.insert
triton_xla.entry_func @legal(%x: memref<?x64xf32>, %n: index, %tile: index) tiles size(%x, 0) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = triton_xla.extract %x[%tile, 0] [1, 64] [1, 1] : memref<?x64xf32> to tensor<64xf32>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t) -> (tensor<64xf32>) {
    %b = arith.addf %a, %t : tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  }
  triton_xla.insert %s into %x[%tile, 0] [1, 64] [1, 1] : tensor<64xf32> into memref<?x64xf32>
  triton_xla.return
}

// CHECK-LABEL: func.func @other(
// CHECK:         tensor.empty
func.func @other() -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  return %e : tensor<4xf32>
}
