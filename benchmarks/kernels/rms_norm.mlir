// RMS normalization of each row of 512 rows with a weight, f16 in and out, f32 in between. A tile is a row of 1000
// elements, padded to 1024 with zeros, which add nothing to the sum of squares.
// Approximate functions and contraction are allowed, as in Triton.

triton_xla.entry_func @rms_norm(
    %x: memref<512x1000xf16>, %weight: memref<1000xf16>, %y: memref<512x1000xf16>, %tile: index) tiles 512 {
  %zero = arith.constant 0.0 : f32
  %columns = arith.constant dense<1000.0> : tensor<f32>
  %epsilon = arith.constant dense<1.0e-6> : tensor<f32>
  %half = triton_xla.extract %x[%tile, 0] [1, 1024] [1, 1] : memref<512x1000xf16> to tensor<1024xf16>
  %row = arith.extf %half : tensor<1024xf16> to tensor<1024xf32>
  %square = arith.mulf %row, %row fastmath<contract> : tensor<1024xf32>
  %squares = triton_xla.reduce %square dims [0] init %zero : (tensor<1024xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b fastmath<contract> : f32
    triton_xla.yield %s : f32
  }
  %mean = arith.divf %squares, %columns fastmath<arcp,afn> : tensor<f32>
  %positive = arith.addf %mean, %epsilon fastmath<contract> : tensor<f32>
  %scale = math.rsqrt %positive fastmath<afn> : tensor<f32>
  %scales = triton_xla.broadcast %scale dims [] : tensor<f32> -> tensor<1024xf32>
  %w_half = triton_xla.extract %weight[0] [1024] [1] : memref<1000xf16> to tensor<1024xf16>
  %w = arith.extf %w_half : tensor<1024xf16> to tensor<1024xf32>
  %scaled = arith.mulf %row, %scales fastmath<contract> : tensor<1024xf32>
  %weighted = arith.mulf %scaled, %w fastmath<contract> : tensor<1024xf32>
  %out = arith.truncf %weighted : tensor<1024xf32> to tensor<1024xf16>
  triton_xla.insert %out into %y[%tile, 0] [1, 1024] [1, 1] : tensor<1024xf16> into memref<512x1000xf16>
  triton_xla.return
}
