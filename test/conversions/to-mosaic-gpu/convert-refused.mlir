// RUN: smalti-opt %s -convert-triton-xla-to-mosaic-gpu=target=sm_90a -split-input-file -verify-diagnostics

// The conversion checks the table of legal ops. test/passes/Legality has its other sentences.
triton_xla.entry_func @legality(%x: memref<8xf32>, %tile: index) tiles 1 {
  // expected-error@+1 {{'memref.subview' is not supported in a tile-level kernel}}
  %v = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
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

triton_xla.entry_func @dim(%x: memref<?x8xf32>, %y: memref<1xindex>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'memref.dim' op must be expanded to simpler ops before this conversion; run smalti-expand-tile-ops first}}
  %d = memref.dim %x, %tile : memref<?x8xf32>
  memref.store %d, %y[%c0] : memref<1xindex>
  triton_xla.return
}

// -----

// The type of the argument changes before.
triton_xla.entry_func @atomic(%x: memref<8xi1>, %v: i1, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'memref.atomic_rmw' op must be expanded to simpler ops before this conversion; run smalti-expand-tile-ops first}}
  %old = memref.atomic_rmw assign %v, %x[%c0] : (i1, memref<8xi1>) -> i1
  triton_xla.return
}

// -----

triton_xla.entry_func @element(%x: memref<8xf32>, %tile: index) tiles 1 {
  %c2 = arith.constant 2 : index
  %t = triton_xla.extract %x[0] [8] [1] : memref<8xf32> to tensor<8xf32>
  // expected-error@+1 {{'tensor.extract' op must be expanded to simpler ops before this conversion; run smalti-expand-tile-ops first}}
  %e = tensor.extract %t[%c2] : tensor<8xf32>
  memref.store %e, %x[%c2] : memref<8xf32>
  triton_xla.return
}

// -----

// expected-error@+1 {{the grid has 2 dimensions, but this conversion supports only one; first run smalti-expand-tile-ops, which reduces the grid to one dimension}}
triton_xla.entry_func @grid(%i: index, %j: index) tiles [2, 3] {
  triton_xla.return
}

// -----

triton_xla.entry_func @dot(%tile: index) tiles 1 {
  %a = arith.constant dense<0.0> : tensor<2x16x16xf16>
  %b = arith.constant dense<0.0> : tensor<2x16x16xf16>
  %c = arith.constant dense<0.0> : tensor<2x16x16xf32>
  // expected-error@+1 {{'triton_xla.dot' op must be expanded to simpler ops before this conversion; run smalti-expand-tile-ops first}}
  %r = triton_xla.dot %a, %b, %c : tensor<2x16x16xf16>, tensor<2x16x16xf16> -> tensor<2x16x16xf32>
  triton_xla.return
}

// -----

triton_xla.entry_func @dot(%tile: index) tiles 1 {
  %a = arith.constant dense<0.0> : tensor<16x16xf32>
  %b = arith.constant dense<0.0> : tensor<16x16xf32>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error@+1 {{must be expanded to simpler ops before this conversion; run smalti-expand-tile-ops first}}
  %r = triton_xla.dot %a, %b, %c algorithm bf16x3 : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  triton_xla.return
}
