// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(smalti-lower-vectors))' --verify-diagnostics

gpu.module @kernels {
  gpu.func @of_vectors(%from: memref<30xvector<4xf32>>, %i: index, %value: vector<4xf32>) -> vector<1x4xf32> {
    // expected-error @below {{smalti-lower-vectors: the transfer may begin before the memref (at a negative index) and cannot be masked: the elements of the memref are vectors; use a memref of scalars}}
    %v = vector.transfer_read %from[%i], %value : memref<30xvector<4xf32>>, vector<1x4xf32>
    gpu.return %v : vector<1x4xf32>
  }
}
