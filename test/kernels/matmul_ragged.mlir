// C[500x260] += A[500x300] * B[300x260], f16 in, f32 out.
//
// Tiles of C are 128x128, and the sum runs over 64 columns of A at a time. No dimension is a multiple of its tile: the
// windows at the lower and right edges overhang. Lanes outside A and B read 0 and so add nothing to the sum; lanes
// outside C are never written.

triton_xla.entry_func @matmul_ragged(
    %a: memref<500x300xf16>, %b: memref<300x260xf16>, %c: memref<500x260xf32>, %tile: index) tiles 12 {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c300 = arith.constant 300 : index

  // C has 4 rows of 3 tiles.
  %tile_row = arith.divui %tile, %c3 : index
  %tile_column = arith.remui %tile, %c3 : index
  %row = arith.muli %tile_row, %c128 : index
  %column = arith.muli %tile_column, %c128 : index

  %before = triton_xla.extract %c[%row, %column] [128, 128] [1, 1] : memref<500x260xf32> to tensor<128x128xf32>
  %after = scf.for %k = %c0 to %c300 step %c64 iter_args(%sum = %before) -> (tensor<128x128xf32>) {
    %a_tile = triton_xla.extract %a[%row, %k] [128, 64] [1, 1] : memref<500x300xf16> to tensor<128x64xf16>
    %b_tile = triton_xla.extract %b[%k, %column] [64, 128] [1, 1] : memref<300x260xf16> to tensor<64x128xf16>
    %next = triton_xla.dot %a_tile, %b_tile, %sum
        : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  triton_xla.insert %after into %c[%row, %column] [128, 128] [1, 1] : tensor<128x128xf32> into memref<500x260xf32>
  triton_xla.return
}
