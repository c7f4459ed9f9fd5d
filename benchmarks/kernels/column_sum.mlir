// The sum of each column of a 1000x512 matrix, f32. A block sums 64 columns, 64 rows at a time; the last rows overhang.

triton_xla.entry_func @column_sum(%x: memref<1000x512xf32>, %y: memref<512xf32>, %tile: index) tiles 8 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %column = arith.muli %tile, %c64 : index
  %partial = scf.for %row = %c0 to %c1000 step %c64 iter_args(%sum = %zeros) -> (tensor<64x64xf32>) {
    %t = triton_xla.extract %x[%row, %column] [64, 64] [1, 1] : memref<1000x512xf32> to tensor<64x64xf32>
    %next = arith.addf %sum, %t : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %sums = triton_xla.reduce %partial dims [0] init %zero : (tensor<64x64xf32>, f32) -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    triton_xla.yield %s : f32
  }
  triton_xla.insert %sums into %y[%column] [64] [1] : tensor<64xf32> into memref<512xf32>
  triton_xla.return
}
