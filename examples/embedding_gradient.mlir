// Gradient of an embedding: row i of the gradient is added to row token[i] of the table. Tokens may repeat, and tokens outside
// of the table are skipped.

triton_xla.entry_func @embedding_gradient(%token: memref<50xi32>, %gradient: memref<50x64xf32>, %table: memref<100x64xf32>,
                                          %tile: index) tiles 4 {
  %c16 = arith.constant 16 : index
  %first = arith.muli %tile, %c16 : index
  %t = triton_xla.extract %token[%first] [16] [1] fill -1 : i32 : memref<50xi32> to tensor<16xi32>
  %g = triton_xla.extract %gradient[%first, 0] [16, 64] [1, 1] : memref<50x64xf32> to tensor<16x64xf32>
  %rows = triton_xla.broadcast %t dims [0] : tensor<16xi32> -> tensor<16x64xi32>
  %columns = triton_xla.iota dim 1 : tensor<16x64xi32>
  %old = triton_xla.atomic_rmw addf %g into %table[%rows, %columns]
      : tensor<16x64xf32> into memref<100x64xf32>, tensor<16x64xi32>, tensor<16x64xi32>
  triton_xla.return
}
