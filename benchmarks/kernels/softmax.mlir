// Softmax of each row of 512 rows, f16 in and out, f32 in between. A tile is a row of 1000 elements, padded to 1024 with
// -inf, which adds nothing to the sum.
// Approximate functions and contraction are allowed, as in Triton.

triton_xla.entry_func @softmax(%x: memref<512x1000xf16>, %y: memref<512x1000xf16>, %tile: index) tiles 512 {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %half = triton_xla.extract %x[%tile, 0] [1, 1024] [1, 1] fill 0xFC00 : f16 : memref<512x1000xf16> to tensor<1024xf16>
  %row = arith.extf %half : tensor<1024xf16> to tensor<1024xf32>
  %top = triton_xla.reduce %row dims [0] init %low : (tensor<1024xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maxnumf %a, %b : f32
    triton_xla.yield %m : f32
  }
  %tops = triton_xla.broadcast %top dims [] : tensor<f32> -> tensor<1024xf32>
  %shifted = arith.subf %row, %tops fastmath<contract> : tensor<1024xf32>
  %e = math.exp %shifted fastmath<afn> : tensor<1024xf32>
  %sum = triton_xla.reduce %e dims [0] init %zero : (tensor<1024xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b fastmath<contract> : f32
    triton_xla.yield %s : f32
  }
  %sums = triton_xla.broadcast %sum dims [] : tensor<f32> -> tensor<1024xf32>
  %quotient = arith.divf %e, %sums fastmath<arcp,afn> : tensor<1024xf32>
  %out = arith.truncf %quotient : tensor<1024xf32> to tensor<1024xf16>
  triton_xla.insert %out into %y[%tile, 0] [1, 1024] [1, 1] : tensor<1024xf16> into memref<512x1000xf16>
  triton_xla.return
}
