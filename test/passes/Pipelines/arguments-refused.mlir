// Requirements of arguments, of which a launch passes only the addresses: all else must be static. Errors are at the
// argument, also for types that upstream's conversion of gpu.func rejects without naming the argument.
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null --pass-pipeline='builtin.module(smalti-compile{target=sm_90a})'
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null --pass-pipeline='builtin.module(smalti-compile{target=gfx942})'

gpu.module @m {
  gpu.func @kernel(
      %static: memref<64xf32>, %view: memref<4x8xf32, strided<[16, 1], offset: 8>>,
      // expected-error@+1 {{argument 2 of @kernel has type 'memref<?xf32>'; a static shape, static strides and a static offset are required}}
      %size: memref<?xf32>,
      // expected-error@+1 {{argument 3 of @kernel has type 'memref<8xf32, strided<[?]>>'; a static shape}}
      %stride: memref<8xf32, strided<[?]>>,
      // expected-error@+1 {{argument 4 of @kernel has type 'memref<8xf32, strided<[1], offset: ?>>'; a static shape}}
      %offset: memref<8xf32, strided<[1], offset: ?>>,
      // expected-error@+1 {{argument 5 of @kernel has type 'memref<*xf32>'; a static shape}}
      %rank: memref<*xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %x = memref.load %size[%t] : memref<?xf32>
    memref.store %x, %static[%t] : memref<64xf32>
    gpu.return
  }
}

// -----

// The same for functions that a kernel calls.
gpu.module @m {
  // expected-error@+1 {{argument 0 of @called has type 'memref<?xf32>'}}
  gpu.func @called(%m: memref<?xf32>) {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @types(
      // expected-error@+1 {{argument 0 of @types has type 'memref<16xtf32>'; LLVM does not support 'tf32'}}
      %elements: memref<16xtf32>,
      // expected-error@+1 {{argument 1 of @types has type 'memref<16xcomplex<tf32>>'; LLVM does not support 'tf32'}}
      %complex: memref<16xcomplex<tf32>>,
      // expected-error@+1 {{argument 2 of @types has type 'memref<4x!mosaic_gpu.barrier>'; LLVM does not support '!mosaic_gpu.barrier'}}
      %barrier: memref<4x!mosaic_gpu.barrier>,
      // expected-error@+1 {{argument 3 of @types has type 'tf32'; LLVM does not support 'tf32'}}
      %scalar: tf32,
      // expected-error@+1 {{argument 4 of @types has type 'vector<4xtf32>'; LLVM does not support 'tf32'}}
      %vector: vector<4xtf32>,
      // expected-error@+1 {{argument 5 of @types has type 'tensor<4xf32>'; LLVM does not support 'tensor<4xf32>'}}
      %tensor: tensor<4xf32>,
      // expected-error@+1 {{argument 6 of @types has type 'memref<4xf32, "a">'; a numbered or GPU memory space is required}}
      %space: memref<4xf32, "a">,
      // expected-error@+1 {{argument 7 of @types has type 'memref<4xmemref<2xf32, "a">>'; a numbered or GPU memory space is required}}
      %inner: memref<4xmemref<2xf32, "a">>,
      %inner_workgroup: memref<4xmemref<2xf32, #gpu.address_space<workgroup>>>,
      %f8: memref<4xf8E4M3FN>, %f4: memref<4xf4E2M1FN>, %i7: memref<4xi7>, %number: i1, %pointer: !llvm.ptr) kernel {
    gpu.return
  }
}
