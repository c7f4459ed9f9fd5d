// C += A B, with the sum over K split across four instances, which add their parts atomically. C must start as zero, or as
// the value to which the result is added. Each instance adds a multiple of 32 along K.
// Arguments: 0=100x500 1=500x64 2=100x64

triton_xla.entry_func @split_k(%a: memref<?x?xf16>, %b: memref<?x64xf16>, %c: memref<?x64xf32>, %i: index, %part: index)
    tiles [size(%a, 0) ceildiv 64, 4] {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %row = arith.muli %i, %c64 : index
  %depth = memref.dim %a, %c1 : memref<?x?xf16>
  %steps = arith.ceildivui %depth, %c128 : index
  %length = arith.muli %steps, %c32 : index
  %first = arith.muli %part, %length : index
  %end = arith.addi %first, %length : index
  %last = arith.minui %end, %depth : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %first to %last step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %at = triton_xla.extract %a[%row, %k] [64, 32] [1, 1] : memref<?x?xf16> to tensor<64x32xf16>
    %bt = triton_xla.extract %b[%k, 0] [32, 64] [1, 1] : memref<?x64xf16> to tensor<32x64xf16>
    %next = triton_xla.dot %at, %bt, %acc : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %y = triton_xla.iota dim 0 : tensor<64x64xindex>
  %x = triton_xla.iota dim 1 : tensor<64x64xindex>
  %rows = tensor.splat %row : tensor<64x64xindex>
  %at = arith.addi %y, %rows : tensor<64x64xindex>
  %old = triton_xla.atomic_rmw addf %sum into %c[%at, %x]
      : tensor<64x64xf32> into memref<?x64xf32>, tensor<64x64xindex>, tensor<64x64xindex>
  triton_xla.return
}
