// C = gelu(A B + bias) + residual, with tiles of 64 x 64 and steps of 32 along K. GELU is computed by erf.

triton_xla.entry_func @matmul(%a: memref<200x136xf16>,
                              %b: memref<136x104xf16>, %bias: memref<104xf32>,
                              %residual: memref<200x104xf32>, %c: memref<200x104xf32>, %i: index, %j: index)
    tiles [4, 2] {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %one = arith.constant dense<1.0> : tensor<64x64xf32>
  %root = arith.constant dense<0.70710678> : tensor<64x64xf32>
  %depth = arith.constant 136 : index
  %sum = scf.for %k = %c0 to %depth step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %at = triton_xla.extract %a[%row, %k] [64, 32] [1, 1] : memref<200x136xf16> to tensor<64x32xf16>
    %bt = triton_xla.extract %b[%k, %column] [32, 64] [1, 1] : memref<136x104xf16> to tensor<32x64xf16>
    %next = triton_xla.dot %at, %bt, %acc : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %bv = triton_xla.extract %bias[%column] [64] [1] : memref<104xf32> to tensor<64xf32>
  %bs = triton_xla.broadcast %bv dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %x = arith.addf %sum, %bs : tensor<64x64xf32>
  %scaled = arith.mulf %x, %root : tensor<64x64xf32>
  %erf = math.erf %scaled : tensor<64x64xf32>
  %shifted = arith.addf %erf, %one : tensor<64x64xf32>
  %halves = arith.mulf %x, %half : tensor<64x64xf32>
  %gelu = arith.mulf %halves, %shifted : tensor<64x64xf32>
  %r = triton_xla.extract %residual[%row, %column] [64, 64] [1, 1] : memref<200x104xf32> to tensor<64x64xf32>
  %result = arith.addf %gelu, %r : tensor<64x64xf32>
  triton_xla.insert %result into %c[%row, %column] [64, 64] [1, 1] : tensor<64x64xf32> into memref<200x104xf32>
  triton_xla.return
}
