// Cumulative sum of each row of any length: a scan of 512 elements at a time, which starts with the sum so far.
// Arguments: 0=3x1200 1=3x1200

triton_xla.entry_func @cumulative_sum(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %row: index) tiles size(%x, 0) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %end = scf.for %j = %c0 to %n step %c512 iter_args(%before = %zero) -> (f32) {
    %t = triton_xla.extract %x[%row, %j] [1, 512] [1, 1] : memref<?x?xf32> to tensor<512xf32>
    %s = triton_xla.scan %t dim 0 init %before : (tensor<512xf32>, f32) -> tensor<512xf32> {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      triton_xla.yield %sum : f32
    }
    triton_xla.insert %s into %y[%row, %j] [1, 512] [1, 1] : tensor<512xf32> into memref<?x?xf32>
    %l = triton_xla.slice %s [511] [1] [1] : tensor<512xf32> -> tensor<1xf32>
    %r = triton_xla.reshape %l : tensor<1xf32> -> tensor<f32>
    %last = tensor.extract %r[] : tensor<f32>
    scf.yield %last : f32
  }
  triton_xla.return
}
