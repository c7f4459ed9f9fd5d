// C = A B, with B in 4-bit integers that are scaled per column. Rows and depth are those of the arrays.
// An array of B has two elements per byte.
// Arguments: 0=100x136 1=136x64 3=100x64

triton_xla.entry_func @int4_matmul(%a: memref<?x?xf16> {triton_xla.size_divisors = array<i64: 1, 8>}, %b: memref<?x64xi4>,
                                   %scale: memref<64xf32>, %c: memref<?x64xf32>, %tile: index) tiles size(%a, 0) ceildiv 64 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %tile, %c64 : index
  %depth = memref.dim %a, %c1 : memref<?x?xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %depth step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %at = triton_xla.extract %a[%row, %k] [64, 32] [1, 1] : memref<?x?xf16> to tensor<64x32xf16>
    %bt = triton_xla.extract %b[%k, 0] [32, 64] [1, 1] : memref<?x64xi4> to tensor<32x64xi4>
    %bh = arith.sitofp %bt : tensor<32x64xi4> to tensor<32x64xf16>
    %next = triton_xla.dot %at, %bh, %acc : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %s = triton_xla.extract %scale[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  %ss = triton_xla.broadcast %s dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %r = arith.mulf %sum, %ss : tensor<64x64xf32>
  triton_xla.insert %r into %c[%row, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<?x64xf32>
  triton_xla.return
}
