// Layer normalization of each row of 512 rows with weight and bias, f16 in and out, f32 in between. A tile is a row of
// 1000 elements, padded to 1024 with zeros, which the sum of squares excludes.
// Approximate functions and contraction are allowed, as in Triton.

triton_xla.entry_func @layer_norm(
    %x: memref<512x1000xf16>, %weight: memref<1000xf16>, %bias: memref<1000xf16>, %y: memref<512x1000xf16>, %tile: index)
    tiles 512 {
  %zero = arith.constant 0.0 : f32
  %columns = arith.constant dense<1000.0> : tensor<f32>
  %epsilon = arith.constant dense<1.0e-5> : tensor<f32>
  %half = triton_xla.extract %x[%tile, 0] [1, 1024] [1, 1] : memref<512x1000xf16> to tensor<1024xf16>
  %row = arith.extf %half : tensor<1024xf16> to tensor<1024xf32>
  %sum = triton_xla.reduce %row dims [0] init %zero : (tensor<1024xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b fastmath<contract> : f32
    triton_xla.yield %s : f32
  }
  %mean = arith.divf %sum, %columns fastmath<arcp,afn> : tensor<f32>
  %means = triton_xla.broadcast %mean dims [] : tensor<f32> -> tensor<1024xf32>
  %shifted = arith.subf %row, %means fastmath<contract> : tensor<1024xf32>
  %centered = triton_xla.mask %shifted [1000], %zero : tensor<1024xf32>
  %square = arith.mulf %centered, %centered fastmath<contract> : tensor<1024xf32>
  %squares = triton_xla.reduce %square dims [0] init %zero : (tensor<1024xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b fastmath<contract> : f32
    triton_xla.yield %s : f32
  }
  %variance = arith.divf %squares, %columns fastmath<arcp,afn> : tensor<f32>
  %positive = arith.addf %variance, %epsilon fastmath<contract> : tensor<f32>
  %scale = math.rsqrt %positive fastmath<afn> : tensor<f32>
  %scales = triton_xla.broadcast %scale dims [] : tensor<f32> -> tensor<1024xf32>
  %w_half = triton_xla.extract %weight[0] [1024] [1] : memref<1000xf16> to tensor<1024xf16>
  %b_half = triton_xla.extract %bias[0] [1024] [1] : memref<1000xf16> to tensor<1024xf16>
  %w = arith.extf %w_half : tensor<1024xf16> to tensor<1024xf32>
  %b = arith.extf %b_half : tensor<1024xf16> to tensor<1024xf32>
  %scaled = arith.mulf %centered, %scales fastmath<contract> : tensor<1024xf32>
  %weighted = arith.mulf %scaled, %w fastmath<contract> : tensor<1024xf32>
  %result = arith.addf %weighted, %b fastmath<contract> : tensor<1024xf32>
  %out = arith.truncf %result : tensor<1024xf32> to tensor<1024xf16>
  triton_xla.insert %out into %y[%tile, 0] [1, 1024] [1, 1] : tensor<1024xf16> into memref<512x1000xf16>
  triton_xla.return
}
