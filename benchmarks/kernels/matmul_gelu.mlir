// C = gelu(A * B + bias) + residual of 4096x4096 matrices, f16 in and out, f32 in between; gelu is that of erf. Tiles of C
// are 128x128, and the sum runs over 64 columns of A at a time. Contraction is allowed, as
// in Triton.

triton_xla.entry_func @matmul_gelu(
    %a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %bias: memref<4096xf16>, %residual: memref<4096x4096xf16>,
    %c: memref<4096x4096xf16>, %tile: index) tiles 1024 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c4096 = arith.constant 4096 : index
  %zeros = arith.constant dense<0.0> : tensor<128x128xf32>
  %half = arith.constant dense<0.5> : tensor<128x128xf32>
  %one = arith.constant dense<1.0> : tensor<128x128xf32>
  %root_half = arith.constant dense<0.7071067811865476> : tensor<128x128xf32>
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
  %bias_half = triton_xla.extract %bias[%column] [128] [1] : memref<4096xf16> to tensor<128xf16>
  %bias_row = arith.extf %bias_half : tensor<128xf16> to tensor<128xf32>
  %bias_tile = triton_xla.broadcast %bias_row dims [1] : tensor<128xf32> -> tensor<128x128xf32>
  %x = arith.addf %total, %bias_tile fastmath<contract> : tensor<128x128xf32>
  %scaled = arith.mulf %x, %root_half fastmath<contract> : tensor<128x128xf32>
  %erf = math.erf %scaled : tensor<128x128xf32>
  %above = arith.addf %erf, %one fastmath<contract> : tensor<128x128xf32>
  %halved = arith.mulf %x, %half fastmath<contract> : tensor<128x128xf32>
  %gelu = arith.mulf %halved, %above fastmath<contract> : tensor<128x128xf32>
  %r_half = triton_xla.extract %residual[%row, %column] [128, 128] [1, 1]
      : memref<4096x4096xf16> to tensor<128x128xf16>
  %r = arith.extf %r_half : tensor<128x128xf16> to tensor<128x128xf32>
  %result = arith.addf %gelu, %r fastmath<contract> : tensor<128x128xf32>
  %out = arith.truncf %result : tensor<128x128xf32> to tensor<128x128xf16>
  triton_xla.insert %out into %c[%row, %column] [128, 128] [1, 1] : tensor<128x128xf16> into memref<4096x4096xf16>
  triton_xla.return
}
