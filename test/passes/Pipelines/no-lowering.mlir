// RUN: not smalti-opt %s -smalti-compile=target=sm_90a 2>&1 | FileCheck %s
// RUN: not smalti-opt %s -smalti-compile=target=gfx942 2>&1 | FileCheck %s

// An op that no conversion supports is an error at its location, before code generation.

// CHECK: no-lowering.mlir:[[#@LINE + 4]]:{{[0-9]+}}: error: 'linalg.copy' op on 'memref<64xf32>', 'memref<64xf32>' cannot be lowered to
// CHECK-NOT: linalg.yield
gpu.module @m {
  gpu.func @copy(%x: memref<64xf32>, %y: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    linalg.copy ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
    gpu.return
  }
}
