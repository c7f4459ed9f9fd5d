// Softmax of each row. A tile is a row of 1000 elements, padded to 1024 with -inf, which adds nothing to the sum.

triton_xla.entry_func @softmax(%x: memref<64x1000xf32>, %y: memref<64x1000xf32>, %row: index) tiles 64 {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %t = triton_xla.extract %x[%row, 0] [1, 1024] [1, 1] fill 0xFF800000 : f32 : memref<64x1000xf32> to tensor<1024xf32>
  %max = triton_xla.reduce %t dims [0] init %low : (tensor<1024xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    triton_xla.yield %m : f32
  }
  %maxes = triton_xla.broadcast %max dims [] : tensor<f32> -> tensor<1024xf32>
  %shifted = arith.subf %t, %maxes : tensor<1024xf32>
  %e = math.exp %shifted : tensor<1024xf32>
  %sum = triton_xla.reduce %e dims [0] init %zero : (tensor<1024xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    triton_xla.yield %s : f32
  }
  %sums = triton_xla.broadcast %sum dims [] : tensor<f32> -> tensor<1024xf32>
  %result = arith.divf %e, %sums : tensor<1024xf32>
  triton_xla.insert %result into %y[%row, 0] [1, 1024] [1, 1] : tensor<1024xf32> into memref<64x1000xf32>
  triton_xla.return
}
