// C = A * B of 4096x4096 matrices, f16 in and out, f32 accumulator. Tiles of C are 128x128, and the sum runs over 64
// columns of A at a time.

triton_xla.entry_func @matmul(
    %a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %c: memref<4096x4096xf16>, %tile: index) tiles 1024 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c4096 = arith.constant 4096 : index
  %zeros = arith.constant dense<0.0> : tensor<128x128xf32>
  %tile_row = arith.divui %tile, %c32 : index
  %tile_column = arith.remui %tile, %c32 : index
  %row = arith.muli %tile_row, %c128 : index
  %column = arith.muli %tile_column, %c128 : index
  %total = scf.for %k = %c0 to %c4096 step %c64 iter_args(%sum = %zeros) -> (tensor<128x128xf32>) {
    %a_tile = triton_xla.extract %a[%row, %k] [128, 64] [1, 1] : memref<4096x4096xf16> to tensor<128x64xf16>
    %b_tile = triton_xla.extract %b[%k, %column] [64, 128] [1, 1] : memref<4096x4096xf16> to tensor<64x128xf16>
    %next = triton_xla.dot %a_tile, %b_tile, %sum : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  %out = arith.truncf %total : tensor<128x128xf32> to tensor<128x128xf16>
  triton_xla.insert %out into %c[%row, %column] [128, 128] [1, 1] : tensor<128x128xf16> into memref<4096x4096xf16>
  triton_xla.return
}
