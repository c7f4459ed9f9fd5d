// Requirements of a kernel's arguments, of which a launch passes only the addresses: errors on the argument. This
// includes a type that upstream's conversion of gpu.func refuses without naming the argument.
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

// -----

gpu.module @m {
  gpu.func @types(
      // expected-error@+1 {{argument 0 of 'types' has type 'memref<16xtf32>', which holds 'tf32', which LLVM does not have}}
      %elements: memref<16xtf32>,
      // expected-error@+1 {{argument 1 of 'types' has type 'memref<16xcomplex<tf32>>', which holds 'tf32'}}
      %complex: memref<16xcomplex<tf32>>,
      // expected-error@+1 {{argument 2 of 'types' has type 'memref<4x!mosaic_gpu.barrier>', which holds '!mosaic_gpu.barrier'}}
      %barrier: memref<4x!mosaic_gpu.barrier>,
      // expected-error@+1 {{argument 3 of 'types' has type 'tf32', which LLVM does not have}}
      %scalar: tf32,
      // expected-error@+1 {{argument 4 of 'types' has type 'vector<4xtf32>', which holds 'tf32'}}
      %vector: vector<4xtf32>,
      // expected-error@+1 {{argument 5 of 'types' has type 'tensor<4xf32>', which LLVM does not have}}
      %tensor: tensor<4xf32>,
      // expected-error@+1 {{argument 6 of 'types' has type 'memref<4xf32, "a">'; a numbered or GPU memory space is required}}
      %space: memref<4xf32, "a">,
      %f8: memref<4xf8E4M3FN>, %f4: memref<4xf4E2M1FN>, %i7: memref<4xi7>, %number: i1, %pointer: !llvm.ptr) kernel {
    gpu.return
  }
}
