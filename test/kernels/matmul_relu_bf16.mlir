// D[200x136] = relu(0.125 * A[200x100] * B[100x136]), bf16 in and out, f32 in between.
//
// Tiles of D are 64x64, and the sum runs over 32 columns of A at a time. No dimension is a multiple of its tile. relu
// keeps a NaN: arith.maximumf, not maxnumf.

triton_xla.entry_func @matmul_relu_bf16(
    %a: memref<200x100xbf16>, %b: memref<100x136xbf16>, %d: memref<200x136xbf16>, %tile: index) tiles 12 {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %scale = arith.constant dense<0.125> : tensor<64x64xf32>

  // D has 4 rows of 3 tiles.
  %tile_row = arith.divui %tile, %c3 : index
  %tile_column = arith.remui %tile, %c3 : index
  %row = arith.muli %tile_row, %c64 : index
  %column = arith.muli %tile_column, %c64 : index

  %product = scf.for %k = %c0 to %c100 step %c32 iter_args(%sum = %zero) -> (tensor<64x64xf32>) {
    %a_tile = triton_xla.extract %a[%row, %k] [64, 32] [1, 1] : memref<200x100xbf16> to tensor<64x32xbf16>
    %b_tile = triton_xla.extract %b[%k, %column] [32, 64] [1, 1] : memref<100x136xbf16> to tensor<32x64xbf16>
    %next = triton_xla.dot %a_tile, %b_tile, %sum : tensor<64x32xbf16>, tensor<32x64xbf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %scaled = arith.mulf %product, %scale : tensor<64x64xf32>
  %relu = arith.maximumf %scaled, %zero : tensor<64x64xf32>
  %out = arith.truncf %relu : tensor<64x64xf32> to tensor<64x64xbf16>
  triton_xla.insert %out into %d[%row, %column] [64, 64] [1, 1] : tensor<64x64xbf16> into memref<200x136xbf16>
  triton_xla.return
}
