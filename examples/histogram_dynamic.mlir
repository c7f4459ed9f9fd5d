// Histogram of values in 64 bins; values outside are not counted. Each instance counts 256 values and adds its counts.
// Arguments: 0=3000

triton_xla.entry_func @histogram(%x: memref<?xi32>, %bins: memref<64xi32>, %tile: index) tiles size(%x, 0) ceildiv 256 {
  %c256 = arith.constant 256 : index
  %first = arith.muli %tile, %c256 : index
  %t = triton_xla.extract %x[%first] [256] [1] fill -1 : i32 : memref<?xi32> to tensor<256xi32>
  %counts = triton_xla.histogram %t bins 64 : tensor<256xi32> -> tensor<64xi32>
  %at = triton_xla.iota dim 0 : tensor<64xi32>
  %old = triton_xla.atomic_rmw addi %counts into %bins[%at] : tensor<64xi32> into memref<64xi32>, tensor<64xi32>
  triton_xla.return
}
