// z[i] = x[i] + y[i] for 100,000 elements, f16. Tiles are 1024 elements, so the last one overhangs.

triton_xla.entry_func @vector_add(
    %x: memref<100000xf16>, %y: memref<100000xf16>, %z: memref<100000xf16>, %tile: index) tiles 98 {
  %c1024 = arith.constant 1024 : index
  %begin = arith.muli %tile, %c1024 : index
  %x_tile = triton_xla.extract %x[%begin] [1024] [1] : memref<100000xf16> to tensor<1024xf16>
  %y_tile = triton_xla.extract %y[%begin] [1024] [1] : memref<100000xf16> to tensor<1024xf16>
  %sum = arith.addf %x_tile, %y_tile : tensor<1024xf16>
  triton_xla.insert %sum into %z[%begin] [1024] [1] : tensor<1024xf16> into memref<100000xf16>
  triton_xla.return
}
