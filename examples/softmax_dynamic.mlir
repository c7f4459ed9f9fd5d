// Softmax of each row of any length, in two passes over the row: maximum and sum with one read (the sum is rescaled when
// the maximum grows), then the result.
// Arguments: 0=5x1500 1=5x1500

triton_xla.entry_func @softmax(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %row: index) tiles size(%x, 0) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %low = arith.constant 0xFF800000 : f32
  // A finite start, so that the difference of two maxima is a number.
  %start = arith.constant -3.0e38 : f32
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %max, %sum = scf.for %j = %c0 to %n step %c1024 iter_args(%m = %start, %s = %zero) -> (f32, f32) {
    %t = triton_xla.extract %x[%row, %j] [1, 1024] [1, 1] fill 0xFF800000 : f32 : memref<?x?xf32> to tensor<1024xf32>
    %top = triton_xla.reduce %t dims [0] init %low : (tensor<1024xf32>, f32) -> tensor<f32> {
    ^bb0(%a: f32, %b: f32):
      %larger = arith.maximumf %a, %b : f32
      triton_xla.yield %larger : f32
    }
    %here = tensor.extract %top[] : tensor<f32>
    %new = arith.maximumf %m, %here : f32
    %news = tensor.splat %new : tensor<1024xf32>
    %shifted = arith.subf %t, %news : tensor<1024xf32>
    %e = math.exp %shifted : tensor<1024xf32>
    %part = triton_xla.reduce %e dims [0] init %zero : (tensor<1024xf32>, f32) -> tensor<f32> {
    ^bb0(%a: f32, %b: f32):
      %both = arith.addf %a, %b : f32
      triton_xla.yield %both : f32
    }
    %added = tensor.extract %part[] : tensor<f32>
    %d = arith.subf %m, %new : f32
    %scale = math.exp %d : f32
    %scaled = arith.mulf %s, %scale : f32
    %total = arith.addf %scaled, %added : f32
    scf.yield %new, %total : f32, f32
  }
  %maxes = tensor.splat %max : tensor<1024xf32>
  %sums = tensor.splat %sum : tensor<1024xf32>
  scf.for %j = %c0 to %n step %c1024 {
    %t = triton_xla.extract %x[%row, %j] [1, 1024] [1, 1] : memref<?x?xf32> to tensor<1024xf32>
    %shifted = arith.subf %t, %maxes : tensor<1024xf32>
    %e = math.exp %shifted : tensor<1024xf32>
    %result = arith.divf %e, %sums : tensor<1024xf32>
    triton_xla.insert %result into %y[%row, %j] [1, 1024] [1, 1] : tensor<1024xf32> into memref<?x?xf32>
  }
  triton_xla.return
}
