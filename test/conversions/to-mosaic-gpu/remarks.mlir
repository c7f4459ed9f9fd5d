// RUN: smalti-opt %s -convert-triton-xla-to-mosaic-gpu=target=sm_90a -split-input-file -o %t --remarks-filter=convert-triton-xla-to-mosaic-gpu 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR < %t

// f32 without tf32: scalar fused multiply-adds, a few elements of K at a time, in a loop.

// CHECK: [Passed] {{.*}} Remark="dot lowered to scalar multiply-adds: 64x64x64 on
// CHECK: [Passed] {{.*}} Remark="block size: 8 warps of 32 threads"
// IR-LABEL: gpu.func @f32
// IR: mosaic_gpu.async_copy {{.*}}
// IR: scf.for %[[K:.*]] = %{{.*}} to %c64{{.*}} step %c4{{.*}} iter_args
// IR: memref.subview %{{.*}}[0, %[[K]]] [64, 4] [1, 1]
// IR: memref.subview %{{.*}}[%[[K]], 0] [4, 64] [1, 1]
// IR: mosaic_gpu.mma
// IR-NOT: allow_tf32
triton_xla.entry_func @f32(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  %l = triton_xla.extract %a[0, 0] [64, 64] [1, 1] : memref<64x64xf32> to tensor<64x64xf32>
  %r = triton_xla.extract %b[0, 0] [64, 64] [1, 1] : memref<64x64xf32> to tensor<64x64xf32>
  %d = triton_xla.dot %l, %r, %acc : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  triton_xla.insert %d into %c[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}

// -----

// CHECK: [Passed] {{.*}} Remark="dot lowered to mma.sync{{.*}}tf32{{.*}}: 64x64x32
// IR-LABEL: gpu.func @tf32
// IR: mosaic_gpu.mma {{.*}}allow_tf32
triton_xla.entry_func @tf32(%a: memref<64x32xf32>, %b: memref<32x64xf32>, %c: memref<64x64xf32>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  %l = triton_xla.extract %a[0, 0] [64, 32] [1, 1] : memref<64x32xf32> to tensor<64x32xf32>
  %r = triton_xla.extract %b[0, 0] [32, 64] [1, 1] : memref<32x64xf32> to tensor<32x64xf32>
  %d = triton_xla.dot %l, %r, %acc tf32 : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
  triton_xla.insert %d into %c[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}

// -----

// Reasons why an operand is not copied asynchronously.

// CHECK: [Missed] {{.*}} Remark="asynchronous copy not used: the loaded tile has a use other than as operand A or B of a dot; load the tile again for the other use"
// CHECK: [Missed] {{.*}} Remark="asynchronous copy not used: the rows of the tile are only proven to be aligned to 2 B in global memory; the narrowest asynchronous copy has 4 B"
// CHECK: [Missed] {{.*}} Remark="asynchronous copy not used: the fill value of triton_xla.extract is not 0; asynchronous copies fill only with 0, so omit 'fill'"
// CHECK: [Missed] {{.*}} Remark="asynchronous copy not used: triton_xla.extract has a stride other than 1; use stride 1"
// CHECK: [Missed] {{.*}} Remark="asynchronous copy not used: a triton_xla.insert between the load and the dot may write memory that the copy still reads; move the insert after the dot"
// CHECK: [Missed] {{.*}} Remark="asynchronous copy not used: the dot that uses the tile is not in the MLIR block of the load; move the load to the dot"
// CHECK: [Missed] {{.*}} Remark="asynchronous copy not used: triton_xla.extract drops dimensions of size 1 of the array, which asynchronous copies do not support; use an array without these dimensions"
// IR-LABEL: gpu.func @missed
// IR-NOT: async
triton_xla.entry_func @missed(%a: memref<32x33xf16>, %b: memref<32x64xf16>, %c: memref<32x32xf32>, %d: memref<2x32x32xf16>, %o: index, %i1: i1, %tile: index) tiles 1 {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %p = triton_xla.extract %b[0, 0] [32, 32] [1, 1] : memref<32x64xf16> to tensor<32x32xf16>
  %q = arith.negf %p : tensor<32x32xf16>
  %d0 = triton_xla.dot %p, %q, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %odd = triton_xla.extract %a[0, 0] [32, 32] [1, 1] : memref<32x33xf16> to tensor<32x32xf16>
  %d1 = triton_xla.dot %odd, %q, %d0 : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %fill = triton_xla.extract %b[0, 0] [32, 32] [1, 1] fill 1.0 : f16 : memref<32x64xf16> to tensor<32x32xf16>
  %d2 = triton_xla.dot %fill, %q, %d1 : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %strided = triton_xla.extract %b[0, 0] [32, 32] [1, 2] : memref<32x64xf16> to tensor<32x32xf16>
  %d3 = triton_xla.dot %strided, %q, %d2 : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %early = triton_xla.extract %b[0, 0] [32, 32] [1, 1] : memref<32x64xf16> to tensor<32x32xf16>
  triton_xla.insert %zero into %c[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<32x32xf32>
  %d4 = triton_xla.dot %early, %q, %d3 : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %outer = triton_xla.extract %b[0, 0] [32, 32] [1, 1] : memref<32x64xf16> to tensor<32x32xf16>
  %d5 = scf.if %i1 -> (tensor<32x32xf32>) {
    %inner = triton_xla.dot %outer, %q, %d4 : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %inner : tensor<32x32xf32>
  } else {
    scf.yield %d4 : tensor<32x32xf32>
  }
  %rank = triton_xla.extract %d[1, 0, 0] [1, 32, 32] [1, 1, 1] : memref<2x32x32xf16> to tensor<32x32xf16>
  %d6 = triton_xla.dot %rank, %q, %d5 : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  triton_xla.insert %d6 into %c[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<32x32xf32>
  triton_xla.return
}

// -----

// A tile that does not match an MMA is padded: the operands where they are stored to shared memory.

// CHECK: [Missed] {{.*}} Remark="tiles of the dot padded from M x N x K = 24x12x20 to 32x16x24, so that 1 warp can compute the dot with mma.sync.aligned.m16n8k8{{.*}}"
// CHECK: [Passed] {{.*}} Remark="dot lowered to mma.sync{{.*}}: 32x16x24 on 2x2 warps"
// IR-LABEL: gpu.func @odd
// IR: %[[A:.*]] = memref.alloc() : memref<32x24xf16, #gpu.address_space<workgroup>>
// IR: %[[ROWS:.*]] = memref.subview %[[A]][0, 0] [24, 24]
// IR: %[[PART:.*]] = memref.subview %[[ROWS]][0, 0] [24, 20]
// IR: mosaic_gpu.vector_store %{{.*}}, %[[PART]]
// IR: mosaic_gpu.mma
triton_xla.entry_func @odd(%a: memref<24x20xf16>, %b: memref<20x12xf16>, %c: memref<24x12xf32>, %tile: index) tiles 1 {
  %acc = triton_xla.extract %c[0, 0] [24, 12] [1, 1] : memref<24x12xf32> to tensor<24x12xf32>
  %l = triton_xla.extract %a[0, 0] [24, 20] [1, 1] : memref<24x20xf16> to tensor<24x20xf16>
  %r = triton_xla.extract %b[0, 0] [20, 12] [1, 1] : memref<20x12xf16> to tensor<20x12xf16>
  %d = triton_xla.dot %l, %r, %acc : tensor<24x20xf16>, tensor<20x12xf16> -> tensor<24x12xf32>
  triton_xla.insert %d into %c[0, 0] [24, 12] [1, 1] : tensor<24x12xf32> into memref<24x12xf32>
  triton_xla.return
}

// -----

// MMAs on fewer warps are preferred over scalar multiply-adds.

// CHECK: [Passed] {{.*}} Remark="dot lowered to mma.sync{{.*}}: 16x16x16 on 1x2 warps"
// CHECK: [Passed] {{.*}} Remark="block size: 2 warps of 32 threads"
// IR-LABEL: gpu.func @few_warps
triton_xla.entry_func @few_warps(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf32>, %tile: index) tiles 1 {
  %acc = triton_xla.extract %c[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %l = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf16> to tensor<16x16xf16>
  %r = triton_xla.extract %b[0, 0] [16, 16] [1, 1] : memref<16x16xf16> to tensor<16x16xf16>
  %d = triton_xla.dot %l, %r, %acc : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}

// -----

// The alignment of an argument is used.

// CHECK: [Missed] {{.*}} Remark="asynchronous copy not used: the rows of the tile are only proven to be aligned to 2 B in global memory; the narrowest asynchronous copy has 4 B"
// IR-LABEL: gpu.func @stated
// IR-SAME: %[[A:.*]]: memref<32x32xf16> {llvm.align = 2 : i64, llvm.noalias}, %[[B:.*]]: memref<32x32xf16> {llvm.align = 8 : i64, llvm.noalias}
// IR-NOT: async_copy %[[A]]
// IR: mosaic_gpu.async_copy %[[B]]{{.*}}
triton_xla.entry_func @stated(%a: memref<32x32xf16> {llvm.align = 2 : i64}, %b: memref<32x32xf16> {llvm.align = 8 : i64}, %c: memref<32x32xf32>, %tile: index) tiles 1 {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %l = triton_xla.extract %a[0, 0] [32, 32] [1, 1] : memref<32x32xf16> to tensor<32x32xf16>
  %r = triton_xla.extract %b[0, 0] [32, 32] [1, 1] : memref<32x32xf16> to tensor<32x32xf16>
  %d = triton_xla.dot %l, %r, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  triton_xla.insert %d into %c[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<32x32xf32>
  triton_xla.return
}

// -----

// An MMA would mostly multiply padding.

// CHECK: [Missed] {{.*}} Remark="tiles of the dot padded from M x N x K = 1x1x1 to 8x4x1, so that 1 warp can compute the dot with scalar multiply-adds"
// CHECK: [Missed] {{.*}} Remark="MMA not used: with num-warps=1, scalar multiply-adds are estimated to be faster than padding M, N and K per warp to multiples of 16, 8 and 16, as mma.sync{{.*}} requires"
// CHECK: [Passed] {{.*}} Remark="dot lowered to scalar multiply-adds: 8x4x1 on 1x1 warps"
triton_xla.entry_func @one(%a: memref<1x1xf16>, %c: memref<1x1xf32>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<1x1xf32>
  %l = triton_xla.extract %a[0, 0] [1, 1] [1, 1] : memref<1x1xf16> to tensor<1x1xf16>
  %d = triton_xla.dot %l, %l, %acc : tensor<1x1xf16>, tensor<1x1xf16> -> tensor<1x1xf32>
  triton_xla.insert %d into %c[0, 0] [1, 1] [1, 1] : tensor<1x1xf32> into memref<1x1xf32>
  triton_xla.return
}

// -----

// CHECK: [Passed] {{.*}} Remark="dot lowered to mma.sync{{.*}}e4m3.e5m2{{.*}}: 16x16x32 on
triton_xla.entry_func @mixed(%a: memref<16x32xf8E4M3FN>, %b: memref<32x16xf8E5M2>, %c: memref<16x16xf32>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<16x16xf32>
  %l = triton_xla.extract %a[0, 0] [16, 32] [1, 1] : memref<16x32xf8E4M3FN> to tensor<16x32xf8E4M3FN>
  %r = triton_xla.extract %b[0, 0] [32, 16] [1, 1] : memref<32x16xf8E5M2> to tensor<32x16xf8E5M2>
  %d = triton_xla.dot %l, %r, %acc : tensor<16x32xf8E4M3FN>, tensor<32x16xf8E5M2> -> tensor<16x16xf32>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}

// -----

// CHECK: [Missed] {{.*}} Remark="operands converted to bf16: sm_90a does not have an MMA of f8E4M3FNUZ and f8E5M2FNUZ"
// CHECK: [Passed] {{.*}} Remark="dot lowered to mma.sync{{.*}}bf16.bf16{{.*}}: 16x16x16 on
triton_xla.entry_func @converted(%a: memref<16x16xf8E4M3FNUZ>, %b: memref<16x16xf8E5M2FNUZ>, %c: memref<16x16xf32>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<16x16xf32>
  %l = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf8E4M3FNUZ> to tensor<16x16xf8E4M3FNUZ>
  %r = triton_xla.extract %b[0, 0] [16, 16] [1, 1] : memref<16x16xf8E5M2FNUZ> to tensor<16x16xf8E5M2FNUZ>
  %d = triton_xla.dot %l, %r, %acc : tensor<16x16xf8E4M3FNUZ>, tensor<16x16xf8E5M2FNUZ> -> tensor<16x16xf32>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}

// -----

// Operands may be unsigned without further MMAs.

// CHECK: [Passed] {{.*}} Remark="dot lowered to mma.sync{{.*}}s8.s8{{.*}}: 16x16x32 on
// CHECK-NOT: dot lowered
// IR-LABEL: gpu.func @unsigned
// IR: mosaic_gpu.mma {{.*}}unsigned_a
triton_xla.entry_func @unsigned(%a: memref<16x32xi8>, %b: memref<32x16xi8>, %c: memref<16x16xi32>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0> : tensor<16x16xi32>
  %l = triton_xla.extract %a[0, 0] [16, 32] [1, 1] : memref<16x32xi8> to tensor<16x32xi8>
  %r = triton_xla.extract %b[0, 0] [32, 16] [1, 1] : memref<32x16xi8> to tensor<32x16xi8>
  %d = triton_xla.dot %l, %r, %acc unsigned_lhs : tensor<16x32xi8>, tensor<32x16xi8> -> tensor<16x16xi32>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xi32> into memref<16x16xi32>
  triton_xla.return
}

// -----

// CHECK: [Missed] {{.*}} Remark="order of atomic updates not determined: tiles run in any order, so the result may differ between runs if two tiles update the same element; let each tile update other elements"
// CHECK-NOT: order of atomic updates
triton_xla.entry_func @tiles(%x: memref<64xf32>, %dst: memref<8xf32>, %tile: index) tiles 2 {
  %i = triton_xla.iota dim 0 : tensor<64xi32>
  %t = triton_xla.extract %x[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  %old = triton_xla.atomic_rmw addf %t into %dst[%i] deterministic : tensor<64xf32> into memref<8xf32>, tensor<64xi32>
  triton_xla.return
}

triton_xla.entry_func @one_tile(%x: memref<64xf32>, %dst: memref<8xf32>, %tile: index) tiles 1 {
  %i = triton_xla.iota dim 0 : tensor<64xi32>
  %t = triton_xla.extract %x[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  %old = triton_xla.atomic_rmw addf %t into %dst[%i] deterministic : tensor<64xf32> into memref<8xf32>, tensor<64xi32>
  triton_xla.return
}
