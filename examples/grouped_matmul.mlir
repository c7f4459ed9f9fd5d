// Grouped matmul: each block of 32 rows has its own weights, whose number is loaded (a mixture of experts).

triton_xla.entry_func @grouped(%x: memref<96x64xf16>, %expert: memref<3xi32>, %weights: memref<4x64x64xf16>, %y: memref<96x64xf32>,
                               %tile: index) tiles 3 {
  %c32 = arith.constant 32 : index
  %row = arith.muli %tile, %c32 : index
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %e = memref.load %expert[%tile] : memref<3xi32>
  %number = arith.index_cast %e : i32 to index
  %xt = triton_xla.extract %x[%row, 0] [32, 64] [1, 1] : memref<96x64xf16> to tensor<32x64xf16>
  %wt = triton_xla.extract %weights[%number, 0, 0] [1, 64, 64] [1, 1, 1] : memref<4x64x64xf16> to tensor<64x64xf16>
  %r = triton_xla.dot %xt, %wt, %zero : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
  triton_xla.insert %r into %y[%row, 0] [32, 64] [1, 1] : tensor<32x64xf32> into memref<96x64xf32>
  triton_xla.return
}
