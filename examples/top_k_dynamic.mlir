// The 8 largest elements of each row of up to 256, in descending order, and their columns. Of equal elements, the first comes
// first. Elements past the end are -inf.
// Arguments: 0=9x200 1=9x8 2=9x8

triton_xla.entry_func @top_k(%x: memref<?x?xf32>, %values: memref<?x8xf32>, %columns: memref<?x8xi32>, %row: index)
    tiles size(%x, 0) {
  %t = triton_xla.extract %x[%row, 0] [1, 256] [1, 1] fill 0xFF800000 : f32 : memref<?x?xf32> to tensor<256xf32>
  %i = triton_xla.iota dim 0 : tensor<256xi32>
  %v, %c = triton_xla.sort %t, %i dim 0 : (tensor<256xf32>, tensor<256xi32>) -> (tensor<256xf32>, tensor<256xi32>) {
  ^bb0(%a: f32, %b: f32, %m: i32, %n: i32):
    %before = arith.cmpf ogt, %a, %b : f32
    triton_xla.yield %before : i1
  }
  %tv = triton_xla.slice %v [0] [8] [1] : tensor<256xf32> -> tensor<8xf32>
  %tc = triton_xla.slice %c [0] [8] [1] : tensor<256xi32> -> tensor<8xi32>
  triton_xla.insert %tv into %values[%row, 0] [1, 8] [1, 1] : tensor<8xf32> into memref<?x8xf32>
  triton_xla.insert %tc into %columns[%row, 0] [1, 8] [1, 1] : tensor<8xi32> into memref<?x8xi32>
  triton_xla.return
}
