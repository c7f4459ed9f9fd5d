// RUN: smalti-opt %s --convert-triton-xla-to-cpu --split-input-file --verify-diagnostics

// expected-error@+1 {{argument #1 is in memory space 1 : i64; only the default memory space is supported}}
triton_xla.entry_func @memory_space(%a: memref<4xf32>, %b: memref<4xf32, 1>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

triton_xla.entry_func @element(%a: memref<4xf80>, %tile: index) tiles 1 {
  // expected-error@+1 {{has elements of 'f80'; supported are f16, bf16, f32, f64, floats of at most 8 bits, integers and index}}
  %t = triton_xla.extract %a[0] [4] [1] : memref<4xf80> to tensor<4xf80>
  triton_xla.insert %t into %a[0] [4] [1] : tensor<4xf80> into memref<4xf80>
  triton_xla.return
}

// -----

triton_xla.entry_func @small_floats(%a: memref<4xf8E4M3FN>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [4] [1] : memref<4xf8E4M3FN> to tensor<4xf8E4M3FN>
  // expected-error@+1 {{has elements of 'f8E4M3FN'; floats of at most 8 bits can only be moved, multiplied by dot, extended, and truncated from a wider type to nearest even}}
  %s = arith.addf %t, %t : tensor<4xf8E4M3FN>
  triton_xla.insert %s into %a[0] [4] [1] : tensor<4xf8E4M3FN> into memref<4xf8E4M3FN>
  triton_xla.return
}

// -----

triton_xla.entry_func @scalar(%a: memref<4xf8E5M2>, %tile: index) tiles 1 {
  %x = memref.load %a[%tile] : memref<4xf8E5M2>
  // expected-error@+1 {{floats of at most 8 bits can only be moved}}
  %s = arith.negf %x : f8E5M2
  memref.store %s, %a[%tile] : memref<4xf8E5M2>
  triton_xla.return
}

// -----

triton_xla.entry_func @rounding(%a: memref<4xf32>, %b: memref<4xf8E5M2>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [4] [1] : memref<4xf32> to tensor<4xf32>
  // expected-error@+1 {{floats of at most 8 bits can only be moved}}
  %n = arith.truncf %t toward_zero : tensor<4xf32> to tensor<4xf8E5M2>
  triton_xla.insert %n into %b[0] [4] [1] : tensor<4xf8E5M2> into memref<4xf8E5M2>
  triton_xla.return
}

// -----

triton_xla.entry_func @from_small(%a: memref<4xf8E5M2>, %b: memref<4xf4E2M1FN>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [4] [1] : memref<4xf8E5M2> to tensor<4xf8E5M2>
  // expected-error@+1 {{floats of at most 8 bits can only be moved}}
  %n = arith.truncf %t : tensor<4xf8E5M2> to tensor<4xf4E2M1FN>
  triton_xla.insert %n into %b[0] [4] [1] : tensor<4xf4E2M1FN> into memref<4xf4E2M1FN>
  triton_xla.return
}

// -----

triton_xla.entry_func @dynamic(%a: memref<4xf32>, %n: index, %tile: index) tiles 1 {
  // expected-error@+1 {{has a tile of type 'tensor<?xf32>'; a static shape is required}}
  %t = tensor.empty(%n) : tensor<?xf32>
  triton_xla.return
}

// -----

triton_xla.entry_func @unsupported(%a: memref<4xf32>, %tile: index) tiles 1 {
  %f = arith.constant 0.0 : f32
  %t = triton_xla.extract %a[0] [4] [1] : memref<4xf32> to tensor<4xf32>
  // expected-error@+1 {{is not supported on the target cpu}}
  %v = vector.transfer_read %t[%tile], %f : tensor<4xf32>, vector<4xf32>
  triton_xla.return
}

// -----

// A vector of these elements is not a vector of bytes.
triton_xla.entry_func @packed(%a: memref<8xi4>, %tile: index) tiles 1 {
  // expected-error@+1 {{accesses memory with elements of less than a byte; supported are triton_xla ops, memref.load, memref.store and views}}
  %v = vector.load %a[%tile] : memref<8xi4>, vector<4xi4>
  triton_xla.return
}

// -----

// expected-error @below {{argument #0 has elements of i0; elements of at least one bit are required}}
triton_xla.entry_func @no_bits(%a: memref<8xi0>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

triton_xla.entry_func @atomic_bit(%a: memref<4xi1>, %x: i1, %tile: index) tiles 1 {
  // expected-error@+1 {{has elements of 'i1'; an atomic operation requires 8, 16, 32 or 64 bits, and arithmetic requires floats of at least 16 bits}}
  %old = triton_xla.atomic_rmw ori %x into %a[%tile] : i1 into memref<4xi1>, index
  triton_xla.return
}

// -----

triton_xla.entry_func @atomic_float8(%a: memref<4xf8E5M2>, %x: f8E5M2, %tile: index) tiles 1 {
  // expected-error@+1 {{has elements of 'f8E5M2'; an atomic operation requires 8, 16, 32 or 64 bits}}
  %old = triton_xla.atomic_rmw addf %x into %a[%tile] : f8E5M2 into memref<4xf8E5M2>, index
  triton_xla.return
}

// -----

triton_xla.entry_func @atomic_packed(%a: memref<4xi4>, %x: i4, %tile: index) tiles 1 {
  // expected-error@+1 {{has elements of 'i4'; an atomic operation requires 8, 16, 32 or 64 bits}}
  %old = triton_xla.atomic_cas %x, %x into %a[%tile] : i4 into memref<4xi4>, index
  triton_xla.return
}
