// Unchanged module with a convertible and a refused kernel.
// RUN: not smalti-opt %s -convert-triton-xla-to-mosaic-gpu=target=sm_90a --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not smalti-opt %s -convert-triton-xla-to-mosaic-gpu=target=gfx942 --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not smalti-opt %S/tile-ops.mlir -convert-triton-xla-to-mosaic-gpu="target=sm_90a num-warps=64" 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not smalti-opt %s -convert-triton-xla-to-mosaic-gpu=target=cpu 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not smalti-opt %s -convert-triton-xla-to-mosaic-gpu=target=sm_1 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: error: 'tensor.expand_shape' is not supported in a tile-level kernel
// CHECK-LABEL: module {
// CHECK-NEXT: triton_xla.entry_func @good
// CHECK: triton_xla.extract
// CHECK: triton_xla.entry_func @bad
// CHECK: triton_xla.extract
// CHECK: math.ctlz
// CHECK-NOT: gpu.

// WARPS: error: {{.*}}num-warps=64 needs 2048 threads per block; sm_90a has at most 1024
// CPU: error: the target cpu is not a GPU
// UNKNOWN: error: {{.*}}sm_1{{.*}}sm_90a
triton_xla.entry_func @good(%x: memref<64xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  triton_xla.insert %t into %x[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.return
}

triton_xla.entry_func @bad(%x: memref<64xi32>, %y: memref<4x4xi32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [64] [1] : memref<64xi32> to tensor<64xi32>
  %u = math.ctlz %t : tensor<64xi32>
  %v = tensor.expand_shape %u [[0, 1]] output_shape [8, 8] : tensor<64xi32> into tensor<8x8xi32>
  triton_xla.return
}
