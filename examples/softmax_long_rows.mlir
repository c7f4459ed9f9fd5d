// Softmax of rows of 64 KB, which are read once and stay in registers. A tile is a row of 16,000 elements, padded to 16,384
// with -inf. By default, the block gets as many warps as are needed for 32 elements per thread.

triton_xla.entry_func @softmax(%x: memref<8x16000xf32>, %y: memref<8x16000xf32>, %row: index) tiles 8 {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %t = triton_xla.extract %x[%row, 0] [1, 16384] [1, 1] fill 0xFF800000 : f32 : memref<8x16000xf32> to tensor<16384xf32>
  %max = triton_xla.reduce %t dims [0] init %low : (tensor<16384xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maxnumf %a, %b : f32
    triton_xla.yield %m : f32
  }
  %maxes = triton_xla.broadcast %max dims [] : tensor<f32> -> tensor<16384xf32>
  %shifted = arith.subf %t, %maxes : tensor<16384xf32>
  %e = math.exp %shifted : tensor<16384xf32>
  %sum = triton_xla.reduce %e dims [0] init %zero : (tensor<16384xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    triton_xla.yield %s : f32
  }
  %sums = triton_xla.broadcast %sum dims [] : tensor<f32> -> tensor<16384xf32>
  %result = arith.divf %e, %sums : tensor<16384xf32>
  triton_xla.insert %result into %y[%row, 0] [1, 16384] [1, 1] : tensor<16384xf32> into memref<8x16000xf32>
  triton_xla.return
}
