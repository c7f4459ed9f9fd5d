// Layer normalization of each row of up to 1024 elements, with scale and offset. Elements past the row are zero in the sums.
// Arguments: 0=5x1000 1=1000 2=1000 3=5x1000

triton_xla.entry_func @layer_norm(%x: memref<?x?xf32>, %scale: memref<?xf32>, %offset: memref<?xf32>,
                                  %y: memref<?x?xf32>, %row: index) tiles size(%x, 0) {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %n32 = arith.index_cast %n : index to i32
  %nf = arith.sitofp %n32 : i32 to f32
  %epsilon = arith.constant 1.0e-5 : f32
  %t = triton_xla.extract %x[%row, 0] [1, 1024] [1, 1] : memref<?x?xf32> to tensor<1024xf32>
  %sum = triton_xla.reduce %t dims [0] init %zero : (tensor<1024xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    triton_xla.yield %s : f32
  }
  %ns = tensor.splat %nf : tensor<f32>
  %mean = arith.divf %sum, %ns : tensor<f32>
  %means = triton_xla.broadcast %mean dims [] : tensor<f32> -> tensor<1024xf32>
  %difference = arith.subf %t, %means : tensor<1024xf32>
  %centered = triton_xla.mask %difference [%n], %zero : tensor<1024xf32>
  %square = arith.mulf %centered, %centered : tensor<1024xf32>
  %squares = triton_xla.reduce %square dims [0] init %zero : (tensor<1024xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    triton_xla.yield %s : f32
  }
  %variance = arith.divf %squares, %ns : tensor<f32>
  %e = tensor.splat %epsilon : tensor<f32>
  %shifted = arith.addf %variance, %e : tensor<f32>
  %inverse = math.rsqrt %shifted : tensor<f32>
  %inverses = triton_xla.broadcast %inverse dims [] : tensor<f32> -> tensor<1024xf32>
  %normal = arith.mulf %centered, %inverses : tensor<1024xf32>
  %w = triton_xla.extract %scale[0] [1024] [1] : memref<?xf32> to tensor<1024xf32>
  %b = triton_xla.extract %offset[0] [1024] [1] : memref<?xf32> to tensor<1024xf32>
  %scaled = arith.mulf %normal, %w : tensor<1024xf32>
  %result = arith.addf %scaled, %b : tensor<1024xf32>
  triton_xla.insert %result into %y[%row, 0] [1, 1024] [1, 1] : tensor<1024xf32> into memref<?x?xf32>
  triton_xla.return
}
