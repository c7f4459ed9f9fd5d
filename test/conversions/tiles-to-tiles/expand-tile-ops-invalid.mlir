// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops))' --split-input-file \
// RUN:   --verify-diagnostics

triton_xla.entry_func @region(%x: memref<8xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [8] [1] : memref<8xf32> to tensor<8xf32>
  %s = triton_xla.sort %t dim 0 : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf olt, %a, %b : f32
    // expected-error@+1 {{'scf.if' in the region of 'triton_xla.sort' is not supported; element-wise scalar ops are required}}
    %d = scf.if %c -> i1 {
      scf.yield %c : i1
    } else {
      scf.yield %c : i1
    }
    triton_xla.yield %d : i1
  }
  triton_xla.insert %s into %x[0] [8] [1] : tensor<8xf32> into memref<8xf32>
  triton_xla.return
}

// -----

triton_xla.entry_func @size(%x: memref<8xi8>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [1610612736] [1] : memref<8xi8> to tensor<1610612736xi8>
  // expected-error@+1 {{is not supported: 2147483648 elements, the next power of two, exceed the size of a tile}}
  %s = triton_xla.sort %t dim 0 : (tensor<1610612736xi8>) -> tensor<1610612736xi8> {
  ^bb0(%a: i8, %b: i8):
    %c = arith.cmpi slt, %a, %b : i8
    triton_xla.yield %c : i1
  }
  triton_xla.insert %s into %x[0] [1610612736] [1] : tensor<1610612736xi8> into memref<8xi8>
  triton_xla.return
}
