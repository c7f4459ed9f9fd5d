// C = A B in the microscaling format MXFP8: the kernel quantizes f32 to f8E4M3FN, with one f8E8M0FNU scale for each block
// of 32 elements along K. The scale of a block is 2^(e - 8), where e is the exponent of its largest magnitude and 8 that
// of the largest f8E4M3FN. Elements that are still too large saturate.
// Arguments: 0=50x256 1=256x72 2=50x72

triton_xla.entry_func @mxfp8_matmul(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %m: index, %n: index)
    tiles [size(%a, 0) ceildiv 32, size(%b, 1) ceildiv 32] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %depth = memref.dim %a, %c1 : memref<?x?xf32>
  %low = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %emax = arith.constant dense<8> : tensor<32xi32>
  %smallest = arith.constant dense<0> : tensor<32xi32>
  %mantissa = arith.constant dense<23> : tensor<32xi32>
  %twice = arith.constant dense<254> : tensor<32xi32>
  %row = arith.muli %m, %c32 : index
  %column = arith.muli %n, %c32 : index
  %sum = scf.for %k = %c0 to %depth step %c32 iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
    %at = triton_xla.extract %a[%row, %k] [32, 32] [1, 1] : memref<?x?xf32> to tensor<32x32xf32>
    %aabs = math.absf %at : tensor<32x32xf32>
    %amax = triton_xla.reduce %aabs dims [1] init %low : (tensor<32x32xf32>, f32) -> tensor<32xf32> {
    ^bb0(%x: f32, %y: f32):
      %larger = arith.maximumf %x, %y : f32
      triton_xla.yield %larger : f32
    }
    // The code of a scale is its exponent with the bias 127, as in f32.
    %abits = arith.bitcast %amax : tensor<32xf32> to tensor<32xi32>
    %aexponent = arith.shrui %abits, %mantissa : tensor<32xi32>
    %alower = arith.subi %aexponent, %emax : tensor<32xi32>
    %acode = arith.maxsi %alower, %smallest : tensor<32xi32>
    // Multiplication by the reciprocal, a power of two, is exact.
    %anegated = arith.subi %twice, %acode : tensor<32xi32>
    %ashifted = arith.shli %anegated, %mantissa : tensor<32xi32>
    %areciprocal = arith.bitcast %ashifted : tensor<32xi32> to tensor<32xf32>
    %afactors = triton_xla.broadcast %areciprocal dims [0] : tensor<32xf32> -> tensor<32x32xf32>
    %ascaled = arith.mulf %at, %afactors : tensor<32x32xf32>
    %aq = arith.truncf %ascaled : tensor<32x32xf32> to tensor<32x32xf8E4M3FN>
    %abytes = arith.trunci %acode : tensor<32xi32> to tensor<32xi8>
    %acodes = arith.bitcast %abytes : tensor<32xi8> to tensor<32xf8E8M0FNU>
    %ascale = triton_xla.broadcast %acodes dims [0] : tensor<32xf8E8M0FNU> -> tensor<32x1xf8E8M0FNU>

    // The same for B, with one scale for each column.
    %bt = triton_xla.extract %b[%k, %column] [32, 32] [1, 1] : memref<?x?xf32> to tensor<32x32xf32>
    %babs = math.absf %bt : tensor<32x32xf32>
    %bmax = triton_xla.reduce %babs dims [0] init %low : (tensor<32x32xf32>, f32) -> tensor<32xf32> {
    ^bb0(%x: f32, %y: f32):
      %larger = arith.maximumf %x, %y : f32
      triton_xla.yield %larger : f32
    }
    %bbits = arith.bitcast %bmax : tensor<32xf32> to tensor<32xi32>
    %bexponent = arith.shrui %bbits, %mantissa : tensor<32xi32>
    %blower = arith.subi %bexponent, %emax : tensor<32xi32>
    %bcode = arith.maxsi %blower, %smallest : tensor<32xi32>
    %bnegated = arith.subi %twice, %bcode : tensor<32xi32>
    %bshifted = arith.shli %bnegated, %mantissa : tensor<32xi32>
    %breciprocal = arith.bitcast %bshifted : tensor<32xi32> to tensor<32xf32>
    %bfactors = triton_xla.broadcast %breciprocal dims [1] : tensor<32xf32> -> tensor<32x32xf32>
    %bscaled = arith.mulf %bt, %bfactors : tensor<32x32xf32>
    %bq = arith.truncf %bscaled : tensor<32x32xf32> to tensor<32x32xf8E4M3FN>
    %bbytes = arith.trunci %bcode : tensor<32xi32> to tensor<32xi8>
    %bcodes = arith.bitcast %bbytes : tensor<32xi8> to tensor<32xf8E8M0FNU>
    %bscale = triton_xla.broadcast %bcodes dims [1] : tensor<32xf8E8M0FNU> -> tensor<1x32xf8E8M0FNU>

    %next = triton_xla.dot_scaled %aq scale %ascale, %bq scale %bscale, %acc block 32
        : (tensor<32x32xf8E4M3FN>, tensor<32x1xf8E8M0FNU>, tensor<32x32xf8E4M3FN>, tensor<1x32xf8E8M0FNU>,
           tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  triton_xla.insert %sum into %c[%row, %column] [32, 32] [1, 1] : tensor<32x32xf32> into memref<?x?xf32>
  triton_xla.return
}
