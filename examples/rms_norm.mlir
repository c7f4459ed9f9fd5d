// RMS normalization of 8 rows of 500 elements per tile. Elements past the row are zero in the sum.

triton_xla.entry_func @rms_norm(%x: memref<13x500xf16>, %scale: memref<500xf32>, %y: memref<13x500xf16>, %tile: index) tiles 2 {
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %epsilon = arith.constant dense<1.0e-5> : tensor<8xf32>
  %row = arith.muli %tile, %c8 : index
  %half = triton_xla.extract %x[%row, 0] [8, 512] [1, 1] : memref<13x500xf16> to tensor<8x512xf16>
  %t = arith.extf %half : tensor<8x512xf16> to tensor<8x512xf32>
  %square = arith.mulf %t, %t : tensor<8x512xf32>
  %sum = triton_xla.reduce %square dims [1] init %zero : (tensor<8x512xf32>, f32) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    triton_xla.yield %s : f32
  }
  %ns = arith.constant dense<500.0> : tensor<8xf32>
  %mean = arith.divf %sum, %ns : tensor<8xf32>
  %shifted = arith.addf %mean, %epsilon : tensor<8xf32>
  %inverse = math.rsqrt %shifted : tensor<8xf32>
  %inverses = triton_xla.broadcast %inverse dims [0] : tensor<8xf32> -> tensor<8x512xf32>
  %w = triton_xla.extract %scale[0] [512] [1] : memref<500xf32> to tensor<512xf32>
  %ws = triton_xla.broadcast %w dims [1] : tensor<512xf32> -> tensor<8x512xf32>
  %normal = arith.mulf %t, %inverses : tensor<8x512xf32>
  %scaled = arith.mulf %normal, %ws : tensor<8x512xf32>
  %result = arith.truncf %scaled : tensor<8x512xf32> to tensor<8x512xf16>
  triton_xla.insert %result into %y[%row, 0] [8, 512] [1, 1] : tensor<8x512xf16> into memref<13x500xf16>
  triton_xla.return
}
