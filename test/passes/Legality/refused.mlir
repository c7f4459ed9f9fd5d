// Ops that no target supports. Each target reports the same sentence.
// RUN: smalti-opt %s --smalti-check-legality --split-input-file --verify-diagnostics
// RUN: smalti-opt %s --smalti-check-legality=target=cpu --split-input-file --verify-diagnostics
// RUN: smalti-opt %s --smalti-compile=target=sm_90a --split-input-file --verify-diagnostics
// RUN: smalti-opt %s --smalti-compile=target=gfx942 --split-input-file --verify-diagnostics
// RUN: smalti-opt %s --smalti-compile=target=cpu --split-input-file --verify-diagnostics

triton_xla.entry_func @not_listed(%a: memref<4x4xf32>, %x: f32, %tile: index) tiles 1 {
  // expected-error@+1 {{'tensor.empty' is not supported in a tile-level kernel}}
  %e = tensor.empty() : tensor<4x4xf32>
  // expected-error@+1 {{'memref.subview' is not supported in a tile-level kernel}}
  %s = memref.subview %a[0, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1]>>
  // expected-error@+1 {{'vector.broadcast' is not supported in a tile-level kernel}}
  %v = vector.broadcast %x : f32 to vector<4xf32>
  // expected-error@+1 {{'scf.execute_region' is not supported in a tile-level kernel}}
  scf.execute_region {
    %ignored = tensor.empty() : tensor<4x4xf32>
    scf.yield
  }
  triton_xla.return
}

// -----

triton_xla.entry_func @constants(%tile: index) tiles 1 {
  // expected-error@+1 {{'arith.constant' with sparse elements or a resource is not supported: constants are stored as dense arrays; use dense<...>}}
  %a = arith.constant sparse<[[0], [2]], [1.0, 2.0]> : tensor<4xf32>
  // expected-error@+1 {{'arith.constant' with sparse elements or a resource is not supported: constants are stored as dense arrays}}
  %b = arith.constant dense_resource<blob> : tensor<2xf32>
  triton_xla.return
}

// -----

triton_xla.entry_func @types(%n: index, %tile: index) tiles 1 {
  // expected-error@+1 {{'arith.constant' on complex numbers is not supported: the elements of tiles and memory are integers, index and floats; use one tile for the real parts and one for the imaginary parts}}
  %c = arith.constant dense<(1.0, 2.0)> : tensor<4xcomplex<f32>>
  // expected-error@+1 {{'arith.constant' on f80 is not supported: floats have at most 64 bits, and integers are signless and have 1 to 64 bits}}
  %f = arith.constant dense<1.0> : tensor<4xf80>
  // expected-error@+1 {{'arith.constant' on i65 is not supported: floats have at most 64 bits}}
  %i = arith.constant 1 : i65
  // expected-error@+1 {{'arith.constant' on vectors is not supported: values of a tile-level kernel are scalars and tiles; use a tensor}}
  %v = arith.constant dense<1.0> : vector<4xf32>
  // expected-error@+1 {{'tensor.splat' on a tensor that is not a tile is not supported: a tile has a static shape without dimensions of size 0, less than 2^31 elements and no encoding; use a static shape, such as tensor<16x64xf32>}}
  %s = tensor.splat %n[%n] : tensor<?xindex>
  triton_xla.return
}

// -----

triton_xla.entry_func @memrefs(%a: memref<4xf32>, %b: memref<4xf32>, %p: i1, %tile: index) tiles 1 {
  // expected-error@+1 {{'arith.select' on memrefs is not supported: memrefs are arguments of the kernel, and only memory ops use them; use triton_xla.extract and triton_xla.insert}}
  %m = arith.select %p, %a, %b : memref<4xf32>
  triton_xla.return
}

// -----

// expected-error@+1 {{'triton_xla.entry_func' with an argument in a memory space is not supported: memory of a tile-level kernel is global memory}}
triton_xla.entry_func @space(%a: memref<4xf32>, %b: memref<4xf32, 1>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{'triton_xla.entry_func' with an argument that has no strides is not supported: the address of an element is computed from strides}}
triton_xla.entry_func @layout(%a: memref<4x4xf32, affine_map<(i, j) -> (i floordiv 2, j)>>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{'triton_xla.entry_func' with an array of 2^63 bytes or more is not supported: addresses have 64 bits}}
triton_xla.entry_func @bytes(%x: memref<4294967296x4294967296xf32>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{'triton_xla.entry_func' with an argument of i12 is not supported: arrays have integers of 1, 2, 4, 8, 16, 32 or 64 bits, and LLVM does not define the unused bits of others in memory; use a wider type}}
triton_xla.entry_func @width(%x: memref<8xi12>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{'triton_xla.entry_func' on i0 is not supported}}
triton_xla.entry_func @no_bits(%x: memref<8xi0>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

triton_xla.entry_func @small_floats(%a: memref<4xf8E4M3FN>, %b: memref<4xf4E2M1FN>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [4] [1] : memref<4xf8E4M3FN> to tensor<4xf8E4M3FN>
  // expected-error@+1 {{'arith.addf' of f8E4M3FN is not supported: no target computes with floats of at most 8 bits; extend the operands with arith.extf, and round the result with arith.truncf}}
  %s = arith.addf %t, %t : tensor<4xf8E4M3FN>
  %x = memref.load %a[%tile] : memref<4xf8E4M3FN>
  // expected-error@+1 {{'math.exp' of f8E4M3FN is not supported: no target computes with floats of at most 8 bits}}
  %e = math.exp %x : f8E4M3FN
  %m = arith.truncf %t : tensor<4xf8E4M3FN> to tensor<4xf4E2M1FN>
  triton_xla.return
}

// -----

triton_xla.entry_func @atomics(%a: memref<4xf8E5M2>, %x: f8E5M2, %tile: index) tiles 1 {
  // expected-error@+1 {{'triton_xla.atomic_rmw' of f8E5M2 is not supported: no target computes with floats of at most 8 bits; use elements of at least 16 bits}}
  %f = triton_xla.atomic_rmw addf %x into %a[%tile] : f8E5M2 into memref<4xf8E5M2>, index
  triton_xla.return
}

// -----

triton_xla.entry_func @index(%x: index, %tile: index) tiles 1 {
  %0 = math.absi %x : index
  // expected-error@+1 {{'math.ipowi' of index is not supported: its elements must be integers}}
  %1 = math.ipowi %x, %0 : index
  %b = arith.index_cast %x : index to i1
  %w = arith.select %b, %x, %tile : index
  triton_xla.return
}
