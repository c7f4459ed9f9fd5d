// RUN: smalti-opt %s --convert-triton-xla-to-cpu --split-input-file --verify-diagnostics

// The conversion checks the table of legal ops. test/passes/Legality has its other sentences.
triton_xla.entry_func @legality(%a: memref<4xf32>, %tile: index) tiles 1 {
  %f = arith.constant 0.0 : f32
  %t = triton_xla.extract %a[0] [4] [1] : memref<4xf32> to tensor<4xf32>
  // expected-error@+1 {{'vector.transfer_read' is not supported in a tile-level kernel}}
  %v = vector.transfer_read %t[%tile], %f : tensor<4xf32>, vector<4xf32>
  triton_xla.return
}

// -----

triton_xla.entry_func @not_primitive(%tile: index) tiles 1 {
  %a = arith.constant dense<1.0> : tensor<16x32xf8E5M2>
  %b = arith.constant dense<1.0> : tensor<32x16xf8E5M2>
  %s = arith.constant dense<1.0> : tensor<16x1xf8E8M0FNU>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error@+1 {{must be expanded to simpler ops before this conversion; run smalti-expand-tile-ops first}}
  %r = triton_xla.dot_scaled %a scale %s, %b, %c block 32
      : (tensor<16x32xf8E5M2>, tensor<16x1xf8E8M0FNU>, tensor<32x16xf8E5M2>, tensor<16x16xf32>) -> tensor<16x16xf32>
  triton_xla.return
}

// -----

// expected-error@+1 {{the grid has 2 dimensions; a number of tiles that depends on arguments requires one dimension: run smalti-expand-tile-ops before this conversion}}
triton_xla.entry_func @grid(%x: memref<?xf32>, %i: index, %j: index) tiles [size(%x, 0), 2] {
  triton_xla.return
}

// -----

triton_xla.entry_func @switch(%tile: index) tiles 1 {
  // expected-error@+1 {{must be expanded to simpler ops before this conversion; run smalti-expand-tile-ops first}}
  scf.index_switch %tile
  default {
  }
  triton_xla.return
}
