// RUN: smalti-opt %s -convert-triton-xla-to-mosaic-gpu=target=sm_90a -split-input-file -verify-diagnostics

// expected-error@+1 {{argument #0 has type 'memref<4xf32, strided<[-1], offset: 3>>'; the offset 0 is required}}
triton_xla.entry_func @reversed(%x: memref<4xf32, strided<[-1], offset: 3>>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 has type 'memref<4xf32, strided<[-1]>>'; negative strides are not supported}}
triton_xla.entry_func @negative(%x: memref<4xf32, strided<[-1]>>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{the offset 0 is required, since a kernel receives a pointer to the first element}}
triton_xla.entry_func @offset(%x: memref<4xf32, strided<[1], offset: 2>>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 has type 'memref<16x0xf16>'; an empty memref is supported only if its strides can be determined: only its outermost size may be 0}}
triton_xla.entry_func @no_elements(%x: memref<16x0xf16>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{the default memory space is required}}
triton_xla.entry_func @space(%x: memref<4xf32, 3>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 has type 'memref<4xi1>'; supported elements are floats of 8 bits, f4E2M1FN, f16, bf16, f32, f64 and integers of 2, 4, 8, 16, 32 or 64 bits}}
triton_xla.entry_func @bits(%x: memref<4xi1>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{has 4294967296 tiles; a grid has at most 2147483647 blocks}}
triton_xla.entry_func @grid(%tile: index) tiles 4294967296 {
  triton_xla.return
}

// -----

triton_xla.entry_func @view(%x: memref<8xf32>, %tile: index) tiles 1 {
  // expected-error@+1 {{'memref.subview' op is not supported on a GPU}}
  %v = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %t = triton_xla.extract %v[0] [4] [1] : memref<4xf32, strided<[1], offset: 4>> to tensor<4xf32>
  triton_xla.return
}

// -----

triton_xla.entry_func @not_elementwise(%x: memref<4xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [4] [1] : memref<4xf32> to tensor<4xf32>
  // expected-error@+1 {{'tensor.expand_shape' op on tiles is not supported on a GPU}}
  %u = tensor.expand_shape %t [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  triton_xla.return
}

// -----

triton_xla.entry_func @registers(%x: memref<1024x1024xf32>, %tile: index) tiles 1 {
  // expected-error@+1 {{a tile of type 'tensor<1024x1024xf32>' needs 1024 registers per thread with 1024 threads; the limit per tile on sm_90a is 128}}
  %t = triton_xla.extract %x[0, 0] [1024, 1024] [1, 1] : memref<1024x1024xf32> to tensor<1024x1024xf32>
  triton_xla.insert %t into %x[0, 0] [1024, 1024] [1, 1] : tensor<1024x1024xf32> into memref<1024x1024xf32>
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 has type 'memref<4xf6E2M3FN>'; supported elements are floats of 8 bits, f4E2M1FN, f16, bf16, f32, f64 and integers of 2, 4, 8, 16, 32 or 64 bits}}
triton_xla.entry_func @small_floats(%a: memref<4xf6E2M3FN>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{the name of the kernel is not a valid assembler symbol; use letters, digits, '_' and '$', and do not start with a digit}}
triton_xla.entry_func @"a name"(%a: memref<4xf32>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 has type 'memref<4294967296x4294967296xf32>'; the size exceeds the 64-bit address space}}
triton_xla.entry_func @bytes(%x: memref<4294967296x4294967296xf32>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

triton_xla.entry_func @part(%a: memref<4x4xf32>, %tile: index) tiles 1 {
  // expected-error@+1 {{'memref.subview' op is not supported on a GPU; supported are scalar ops without side effects, memref.load, memref.store, triton_xla ops, scf.for, scf.while and scf.if}}
  %s = memref.subview %a[0, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1]>>
  triton_xla.return
}

// -----

triton_xla.entry_func @empty(%a: memref<4x4xf32>, %tile: index) tiles 1 {
  // expected-error@+1 {{'tensor.empty' op on tiles is not supported on a GPU; supported are element-wise ops, triton_xla ops, scf.for, scf.while and scf.if}}
  %e = tensor.empty() : tensor<4x4xf32>
  triton_xla.return
}

// -----

triton_xla.entry_func @dynamic_tile(%a: memref<4x4xf32>, %tile: index) tiles 1 {
  // expected-error@+1 {{'tensor.empty' op has a tile of type 'tensor<?x4xf32>'; static dimensions of at least 1 are required}}
  %e = tensor.empty(%tile) : tensor<?x4xf32>
  triton_xla.return
}

// -----

triton_xla.entry_func @complex_tile(%a: memref<4x4xf32>, %tile: index) tiles 1 {
  // expected-error@+1 {{'tensor.empty' op has a tile of 'complex<f32>'; integers, index or floats are required}}
  %e = tensor.empty() : tensor<4x4xcomplex<f32>>
  triton_xla.return
}

// -----

triton_xla.entry_func @vector_value(%a: memref<4x4xf32>, %x: f32, %tile: index) tiles 1 {
  // expected-error@+1 {{'vector.broadcast' op has a value of type 'vector<4xf32>'; a ranked static tensor is required}}
  %v = vector.broadcast %x : f32 to vector<4xf32>
  triton_xla.return
}

// -----

// expected-error@+1 {{a grid of 2 dimensions is not supported on a GPU; smalti-expand-tile-ops reduces it to one}}
triton_xla.entry_func @grid(%i: index, %j: index) tiles [2, 3] {
  triton_xla.return
}

// -----

triton_xla.entry_func @dot(%tile: index) tiles 1 {
  %a = arith.constant dense<0.0> : tensor<2x16x16xf16>
  %b = arith.constant dense<0.0> : tensor<2x16x16xf16>
  %c = arith.constant dense<0.0> : tensor<2x16x16xf32>
  // expected-error@+1 {{a batch of dots is not supported on a GPU}}
  %r = triton_xla.dot %a, %b, %c : tensor<2x16x16xf16>, tensor<2x16x16xf16> -> tensor<2x16x16xf32>
  triton_xla.return
}

// -----

triton_xla.entry_func @dot(%tile: index) tiles 1 {
  %a = arith.constant dense<0.0> : tensor<16x16xf32>
  %b = arith.constant dense<0.0> : tensor<16x16xf32>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error@+1 {{a dot with this algorithm is not supported on a GPU}}
  %r = triton_xla.dot %a, %b, %c algorithm bf16x3 : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  triton_xla.return
}
