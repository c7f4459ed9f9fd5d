// C = A B, with B in 4-bit integers that are scaled per column.

triton_xla.entry_func @int4_matmul(%a: memref<64x128xf16>, %b: memref<128x64xi4>, %scale: memref<64xf32>, %c: memref<64x64xf32>,
                                   %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %c128 step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %at = triton_xla.extract %a[0, %k] [64, 32] [1, 1] : memref<64x128xf16> to tensor<64x32xf16>
    %bt = triton_xla.extract %b[%k, 0] [32, 64] [1, 1] : memref<128x64xi4> to tensor<32x64xi4>
    %bh = arith.sitofp %bt : tensor<32x64xi4> to tensor<32x64xf16>
    %next = triton_xla.dot %at, %bh, %acc : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %s = triton_xla.extract %scale[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  %ss = triton_xla.broadcast %s dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %r = arith.mulf %sum, %ss : tensor<64x64xf32>
  triton_xla.insert %r into %c[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}
