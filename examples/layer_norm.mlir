// Layer normalization of each row of 768 elements, with scale and offset. Elements past the row are zero in the sums.

triton_xla.entry_func @layer_norm(%x: memref<64x768xf32>, %scale: memref<768xf32>, %offset: memref<768xf32>,
                                  %y: memref<64x768xf32>, %row: index) tiles 64 {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 768.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %t = triton_xla.extract %x[%row, 0] [1, 768] [1, 1] : memref<64x768xf32> to tensor<768xf32>
  %sum = triton_xla.reduce %t dims [0] init %zero : (tensor<768xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    triton_xla.yield %s : f32
  }
  %ns = tensor.splat %n : tensor<f32>
  %mean = arith.divf %sum, %ns : tensor<f32>
  %means = triton_xla.broadcast %mean dims [] : tensor<f32> -> tensor<768xf32>
  %centered = arith.subf %t, %means : tensor<768xf32>
  %square = arith.mulf %centered, %centered : tensor<768xf32>
  %squares = triton_xla.reduce %square dims [0] init %zero : (tensor<768xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    triton_xla.yield %s : f32
  }
  %variance = arith.divf %squares, %ns : tensor<f32>
  %e = tensor.splat %epsilon : tensor<f32>
  %shifted = arith.addf %variance, %e : tensor<f32>
  %inverse = math.rsqrt %shifted : tensor<f32>
  %inverses = triton_xla.broadcast %inverse dims [] : tensor<f32> -> tensor<768xf32>
  %normal = arith.mulf %centered, %inverses : tensor<768xf32>
  %w = triton_xla.extract %scale[0] [768] [1] : memref<768xf32> to tensor<768xf32>
  %b = triton_xla.extract %offset[0] [768] [1] : memref<768xf32> to tensor<768xf32>
  %scaled = arith.mulf %normal, %w : tensor<768xf32>
  %result = arith.addf %scaled, %b : tensor<768xf32>
  triton_xla.insert %result into %y[%row, 0] [1, 768] [1, 1] : tensor<768xf32> into memref<64x768xf32>
  triton_xla.return
}
