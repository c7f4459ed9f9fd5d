// Ops that GPUs do not support, and CPUs do.
// RUN: smalti-opt %s --smalti-check-legality=target=sm_80 --split-input-file --verify-diagnostics
// RUN: smalti-opt %s --smalti-compile=target=gfx1201 --split-input-file --verify-diagnostics
// RUN: smalti-opt %s --smalti-check-legality=target=cpu --split-input-file
// RUN: smalti-opt %s --smalti-check-legality --split-input-file

// expected-error@+1 {{'triton_xla.entry_func' with this name is not supported on GPUs: the name of a kernel is an assembler symbol; use letters, digits, '_' and '$', and do not start with a digit}}
triton_xla.entry_func @"a name"(%a: memref<4xf32>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

triton_xla.entry_func @sort(%x: memref<8xi8>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [1610612736] [1] : memref<8xi8> to tensor<1610612736xi8>
  // expected-error@+1 {{'triton_xla.sort' of 2^31 or more elements after rounding is not supported on GPUs: a sort rounds the sorted dimension up to a power of two and another dimension by up to a quarter, and a tile has less than 2^31 elements}}
  %s = triton_xla.sort %t dim 0 : (tensor<1610612736xi8>) -> tensor<1610612736xi8> {
  ^bb0(%a: i8, %b: i8):
    %c = arith.cmpi slt, %a, %b : i8
    triton_xla.yield %c : i1
  }
  triton_xla.return
}

// -----

triton_xla.entry_func @shared_sort(%x: memref<8xi64>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [20000] [1] : memref<8xi64> to tensor<20000xi64>
  // expected-error-re@+1 {{'triton_xla.sort' of more elements than shared memory holds is not supported on {{sm_80|gfx1201}}: a sort rounds the sorted dimension up to a power of two, and copies the widest operand, with at least 32 bits per element, through shared memory, here 262144 B, and a block has {{166912|65536}} B; use a smaller tile}}
  %s = triton_xla.sort %t dim 0 : (tensor<20000xi64>) -> tensor<20000xi64> {
  ^bb0(%a: i64, %b: i64):
    %c = arith.cmpi slt, %a, %b : i64
    triton_xla.yield %c : i1
  }
  triton_xla.return
}

// -----

triton_xla.entry_func @shared_histogram(%x: memref<8xi32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [8] [1] : memref<8xi32> to tensor<8xi32>
  // expected-error-re@+1 {{'triton_xla.histogram' with more bins than shared memory holds is not supported on {{sm_80|gfx1201}}: a block counts in shared memory with 4 B per bin, here 262144 B, and a block has {{166912|65536}} B; use fewer bins, or one histogram for each part of the range}}
  %h = triton_xla.histogram %t bins 65536 : tensor<8xi32> -> tensor<65536xi64>
  triton_xla.return
}
