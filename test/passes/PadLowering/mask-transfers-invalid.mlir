// RUN: smalti-opt %s --pass-pipeline='builtin.module(smalti-mask-transfers)' --split-input-file --verify-diagnostics

func.func @scalable(%row: memref<30xf32>, %i: index) -> vector<[4]xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{smalti-mask-transfers: the transfer may begin before the memref (at a negative index) and cannot be masked: scalable vectors are not supported}}
  %v = vector.transfer_read %row[%i], %zero : memref<30xf32>, vector<[4]xf32>
  return %v : vector<[4]xf32>
}

// -----

func.func @of_vectors(%v: vector<1x4xf32>, %to: memref<30xvector<4xf32>>, %i: index) {
  // expected-error @below {{smalti-mask-transfers: the transfer may begin before the memref (at a negative index) and cannot be masked: the elements of the memref are vectors; use a memref of scalars}}
  vector.transfer_write %v, %to[%i] : vector<1x4xf32>, memref<30xvector<4xf32>>
  return
}

// -----

func.func @converting(%row: memref<30xf32>, %i: index) -> vector<4xf8E5M2> {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{smalti-mask-transfers: the transfer may begin before the memref (at a negative index) and cannot be masked: vector and memref must have the same element type, but have}}
  %v = vector.transfer_read %row[%i], %zero : memref<30xf32>, vector<4xf8E5M2>
  return %v : vector<4xf8E5M2>
}

// -----

func.func @permuted(%from: memref<30x30xf32>, %i: index, %m: vector<4x2xi1>, %others: vector<2x4xf32>) -> vector<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %v = vector.mask %m, %others {
    // expected-error @below {{smalti-mask-transfers: the transfer may begin before the memref (at a negative index) and cannot be masked: the transfer has a permutation map, and 'vector.mask' around it has a passthru value; only one of them is supported}}
    vector.transfer_read %from[%i, %i], %zero {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<30x30xf32>, vector<2x4xf32>
  } : vector<4x2xi1> -> vector<2x4xf32>
  return %v : vector<2x4xf32>
}
