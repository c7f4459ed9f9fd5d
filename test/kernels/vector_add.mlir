// z[i] = x[2 i] + y[i] for the 1000 elements of y and z, f32.
//
// Tiles are 256 elements, so the last one overhangs. x holds 1999 elements, of which every second is read: its windows
// have stride 2.

triton_xla.entry_func @vector_add(
    %x: memref<1999xf32>, %y: memref<1000xf32>, %z: memref<1000xf32>, %tile: index) tiles 4 {
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  %begin = arith.muli %tile, %c256 : index
  %begin_x = arith.muli %tile, %c512 : index
  %x_tile = triton_xla.extract %x[%begin_x] [256] [2] : memref<1999xf32> to tensor<256xf32>
  %y_tile = triton_xla.extract %y[%begin] [256] [1] : memref<1000xf32> to tensor<256xf32>
  %sum = arith.addf %x_tile, %y_tile : tensor<256xf32>
  triton_xla.insert %sum into %z[%begin] [256] [1] : tensor<256xf32> into memref<1000xf32>
  triton_xla.return
}
