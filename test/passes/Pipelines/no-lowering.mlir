// RUN: not smalti-opt %s --split-input-file -smalti-compile=target=sm_90a 2>&1 | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: not smalti-opt %s --split-input-file -smalti-compile=target=gfx942 2>&1 | FileCheck %s --check-prefixes=CHECK,AMD

// An op that no conversion supports is an error at its location, before code generation.

// CHECK: no-lowering.mlir:[[#@LINE + 5]]:{{[0-9]+}}: error: 'math.ipowi' op on
// NVIDIA-SAME: cannot be lowered to sm_90a
// AMD-SAME: cannot be lowered to gfx942
triton_xla.entry_func @powers(%a: memref<64x64xi32>, %tile: index) tiles 1 {
  %x = triton_xla.extract %a[0, 0] [64, 64] [1, 1] : memref<64x64xi32> to tensor<64x64xi32>
  %y = math.ipowi %x, %x : tensor<64x64xi32>
  triton_xla.insert %y into %a[0, 0] [64, 64] [1, 1] : tensor<64x64xi32> into memref<64x64xi32>
  triton_xla.return
}

// -----

// CHECK: no-lowering.mlir:[[#@LINE + 4]]:{{[0-9]+}}: error: 'linalg.copy' op on 'memref<64xf32>', 'memref<64xf32>' cannot be lowered to
// CHECK-NOT: linalg.yield
gpu.module @m {
  gpu.func @copy(%x: memref<64xf32>, %y: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    linalg.copy ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
    gpu.return
  }
}
