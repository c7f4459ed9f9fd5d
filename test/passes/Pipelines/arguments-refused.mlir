// A launch hands over the addresses of memrefs alone: what else they need to be static is said of the argument.
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null --pass-pipeline='builtin.module(smalti-compile{target=sm_90a})'
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null --pass-pipeline='builtin.module(smalti-compile{target=gfx942})'

gpu.module @m {
  gpu.func @kernel(
      %static: memref<64xf32>, %view: memref<4x8xf32, strided<[16, 1], offset: 8>>,
      // expected-error@+1 {{argument 2 of 'kernel' has type 'memref<?xf32>'; a static shape, static strides and a static offset are required}}
      %size: memref<?xf32>,
      // expected-error@+1 {{argument 3 of 'kernel' has type 'memref<8xf32, strided<[?]>>'; a static shape}}
      %stride: memref<8xf32, strided<[?]>>,
      // expected-error@+1 {{argument 4 of 'kernel' has type 'memref<8xf32, strided<[1], offset: ?>>'; a static shape}}
      %offset: memref<8xf32, strided<[1], offset: ?>>,
      // expected-error@+1 {{argument 5 of 'kernel' has type 'memref<*xf32>'; a static shape}}
      %rank: memref<*xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %x = memref.load %size[%t] : memref<?xf32>
    memref.store %x, %static[%t] : memref<64xf32>
    gpu.return
  }
}

// -----

// What a kernel calls has its arguments in the same way.
gpu.module @m {
  // expected-error@+1 {{argument 0 of 'called' has type 'memref<?xf32>'}}
  gpu.func @called(%m: memref<?xf32>) {
    gpu.return
  }
}
