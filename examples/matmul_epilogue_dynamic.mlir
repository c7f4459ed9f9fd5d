// C = gelu(A B + bias) + residual, with tiles of 64 x 64 and steps of 32 along K. GELU is computed by erf.
// The attributes of the arguments allow TMA on sm_90a, accesses of 16 bytes, and buffer accesses on AMD GPUs.
// Arguments: 0=100x72 1=72x88 2=88 3=100x88 4=100x88

triton_xla.entry_func @matmul(
    %a: memref<?x?xf16> {triton_xla.size_divisors = array<i64: 1, 8>, triton_xla.max_bytes = 2147483647 : i64},
    %b: memref<?x?xf16> {triton_xla.size_divisors = array<i64: 1, 8>, triton_xla.max_bytes = 2147483647 : i64},
    %bias: memref<?xf32> {triton_xla.size_divisors = array<i64: 4>, triton_xla.max_bytes = 2147483647 : i64},
    %residual: memref<?x?xf32> {triton_xla.size_divisors = array<i64: 1, 4>, triton_xla.max_bytes = 2147483647 : i64},
    %c: memref<?x?xf32> {triton_xla.size_divisors = array<i64: 1, 4>, triton_xla.max_bytes = 2147483647 : i64}, %i: index, %j: index)
    tiles [size(%a, 0) ceildiv 64, size(%b, 1) ceildiv 64] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %one = arith.constant dense<1.0> : tensor<64x64xf32>
  %root = arith.constant dense<0.70710678> : tensor<64x64xf32>
  %depth = memref.dim %a, %c1 : memref<?x?xf16>
  %sum = scf.for %k = %c0 to %depth step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %at = triton_xla.extract %a[%row, %k] [64, 32] [1, 1] : memref<?x?xf16> to tensor<64x32xf16>
    %bt = triton_xla.extract %b[%k, %column] [32, 64] [1, 1] : memref<?x?xf16> to tensor<32x64xf16>
    %next = triton_xla.dot %at, %bt, %acc : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %bv = triton_xla.extract %bias[%column] [64] [1] : memref<?xf32> to tensor<64xf32>
  %bs = triton_xla.broadcast %bv dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %x = arith.addf %sum, %bs : tensor<64x64xf32>
  %scaled = arith.mulf %x, %root : tensor<64x64xf32>
  %erf = math.erf %scaled : tensor<64x64xf32>
  %shifted = arith.addf %erf, %one : tensor<64x64xf32>
  %halves = arith.mulf %x, %half : tensor<64x64xf32>
  %gelu = arith.mulf %halves, %shifted : tensor<64x64xf32>
  %r = triton_xla.extract %residual[%row, %column] [64, 64] [1, 1] : memref<?x?xf32> to tensor<64x64xf32>
  %result = arith.addf %gelu, %r : tensor<64x64xf32>
  triton_xla.insert %result into %c[%row, %column] [64, 64] [1, 1] : tensor<64x64xf32> into memref<?x?xf32>
  triton_xla.return
}
