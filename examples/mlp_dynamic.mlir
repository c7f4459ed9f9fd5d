// An MLP layer: Y = relu(X W1 + b1) W2 + b2. The hidden values of 32 rows stay in the instance. The
// numbers of rows and of hidden values are those of the arrays.
// Arguments: 0=100x64 1=64x256 2=256 3=256x64 5=100x64

triton_xla.entry_func @mlp(%x: memref<?x64xf16>, %w1: memref<64x?xf16> {triton_xla.size_divisors = array<i64: 1, 8>}, %b1: memref<?xf32>,
                           %w2: memref<?x64xf16>, %b2: memref<64xf32>, %y: memref<?x64xf32>, %tile: index)
    tiles size(%x, 0) ceildiv 32 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %hidden_size = memref.dim %b1, %c0 : memref<?xf32>
  %row = arith.muli %tile, %c32 : index
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %xt = triton_xla.extract %x[%row, 0] [32, 64] [1, 1] : memref<?x64xf16> to tensor<32x64xf16>
  %sum = scf.for %h = %c0 to %hidden_size step %c64 iter_args(%acc = %zero) -> (tensor<32x64xf32>) {
    %w1t = triton_xla.extract %w1[0, %h] [64, 64] [1, 1] : memref<64x?xf16> to tensor<64x64xf16>
    %p = triton_xla.dot %xt, %w1t, %zero : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
    %b1t = triton_xla.extract %b1[%h] [64] [1] : memref<?xf32> to tensor<64xf32>
    %b1s = triton_xla.broadcast %b1t dims [1] : tensor<64xf32> -> tensor<32x64xf32>
    %q = arith.addf %p, %b1s : tensor<32x64xf32>
    %r = arith.maximumf %q, %zero : tensor<32x64xf32>
    %hidden = arith.truncf %r : tensor<32x64xf32> to tensor<32x64xf16>
    %w2t = triton_xla.extract %w2[%h, 0] [64, 64] [1, 1] : memref<?x64xf16> to tensor<64x64xf16>
    %next = triton_xla.dot %hidden, %w2t, %acc : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
    scf.yield %next : tensor<32x64xf32>
  }
  %b2t = triton_xla.extract %b2[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  %b2s = triton_xla.broadcast %b2t dims [1] : tensor<64xf32> -> tensor<32x64xf32>
  %result = arith.addf %sum, %b2s : tensor<32x64xf32>
  triton_xla.insert %result into %y[%row, 0] [32, 64] [1, 1] : tensor<32x64xf32> into memref<?x64xf32>
  triton_xla.return
}
