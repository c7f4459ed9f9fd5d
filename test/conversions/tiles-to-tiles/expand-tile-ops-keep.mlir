// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{keep=split,dot}))' | FileCheck %s

// CHECK-LABEL: triton_xla.entry_func @kept(
// CHECK:         triton_xla.reshape
// CHECK:         triton_xla.split
// CHECK:         triton_xla.dot %{{.*}} tf32 : tensor<2x16x16xf32>
// CHECK-COUNT-6: triton_xla.dot %{{.*}} : tensor<16x16xbf16>
// CHECK-NOT:     triton_xla.dot
triton_xla.entry_func @kept(%x: memref<2x16x32xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0, 0] [2, 16, 32] [1, 1, 1] : memref<2x16x32xf32> to tensor<2x16x32xf32>
  %u = triton_xla.reshape %t : tensor<2x16x32xf32> -> tensor<1x2x16x32xf32>
  %s = triton_xla.squeeze_dims %u [0] : tensor<1x2x16x32xf32> -> tensor<2x16x32xf32>
  %a, %b = triton_xla.split %s dim 2 : tensor<2x16x32xf32> -> (tensor<2x16x16xf32>, tensor<2x16x16xf32>)
  %d = triton_xla.dot %a, %b, %b tf32 : tensor<2x16x16xf32>, tensor<2x16x16xf32> -> tensor<2x16x16xf32>
  %e = triton_xla.dot %d, %b, %a algorithm bf16x3 : tensor<2x16x16xf32>, tensor<2x16x16xf32> -> tensor<2x16x16xf32>
  triton_xla.insert %e into %x[0, 0, 0] [2, 16, 16] [1, 1, 1] : tensor<2x16x16xf32> into memref<2x16x32xf32>
  triton_xla.return
}
