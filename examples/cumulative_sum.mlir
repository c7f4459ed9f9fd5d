// Cumulative sum of each row: a scan of 512 elements at a time, which starts with the sum so far.

triton_xla.entry_func @cumulative_sum(%x: memref<3x1200xf32>, %y: memref<3x1200xf32>, %row: index) tiles 3 {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 1200 : index
  %end = scf.for %j = %c0 to %n step %c512 iter_args(%before = %zero) -> (f32) {
    %t = triton_xla.extract %x[%row, %j] [1, 512] [1, 1] : memref<3x1200xf32> to tensor<512xf32>
    %s = triton_xla.scan %t dim 0 init %before : (tensor<512xf32>, f32) -> tensor<512xf32> {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      triton_xla.yield %sum : f32
    }
    triton_xla.insert %s into %y[%row, %j] [1, 512] [1, 1] : tensor<512xf32> into memref<3x1200xf32>
    %l = triton_xla.slice %s [511] [1] [1] : tensor<512xf32> -> tensor<1xf32>
    %r = triton_xla.reshape %l : tensor<1xf32> -> tensor<f32>
    %last = tensor.extract %r[] : tensor<f32>
    scf.yield %last : f32
  }
  triton_xla.return
}
