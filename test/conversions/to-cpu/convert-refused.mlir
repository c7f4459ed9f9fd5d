// RUN: smalti-opt %s --convert-triton-xla-to-cpu --split-input-file --verify-diagnostics

// expected-error@+1 {{argument #1 is in memory space 1 : i64; only the default memory space is supported}}
triton_xla.entry_func @memory_space(%a: memref<4xf32>, %b: memref<4xf32, 1>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

triton_xla.entry_func @element(%a: memref<4xf8E4M3FNUZ>, %tile: index) tiles 1 {
  // expected-error@+1 {{has elements of 'f8E4M3FNUZ'; supported are f16, bf16, f32, f64, integers and index, and f8E4M3FN and f8E5M2 in extract, insert, mask, dot and arith.extf}}
  %t = triton_xla.extract %a[0] [4] [1] : memref<4xf8E4M3FNUZ> to tensor<4xf8E4M3FNUZ>
  triton_xla.insert %t into %a[0] [4] [1] : tensor<4xf8E4M3FNUZ> into memref<4xf8E4M3FNUZ>
  triton_xla.return
}

// -----

triton_xla.entry_func @small_floats(%a: memref<4xf8E4M3FN>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [4] [1] : memref<4xf8E4M3FN> to tensor<4xf8E4M3FN>
  // expected-error@+1 {{has elements of 'f8E4M3FN'; supported are f16, bf16, f32, f64, integers and index, and f8E4M3FN and f8E5M2 in extract, insert, mask, dot and arith.extf}}
  %s = arith.addf %t, %t : tensor<4xf8E4M3FN>
  triton_xla.insert %s into %a[0] [4] [1] : tensor<4xf8E4M3FN> into memref<4xf8E4M3FN>
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

// An array packs two of these elements into a byte; LLVM uses a byte for each.
// expected-error @below {{argument #0 has elements of 'i4', which are packed into bytes}}
triton_xla.entry_func @packed(%a: memref<8xi4>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error @below {{argument #0 has elements of 'i0', which are packed into bytes}}
triton_xla.entry_func @no_bits(%a: memref<8xi0>, %tile: index) tiles 1 {
  triton_xla.return
}
