// Automatic slots, reduced to the capacity of shared memory, and requested slots, which are an error.
// RUN: smalti-opt %s -smalti-compile="target=gfx942 stop-after=pipelined" --remarks-filter=smalti-choose-overlap -o %t 2>%t.remarks
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: not smalti-opt %s -smalti-compile="target=gfx942 depth=2 stop-after=pipelined" 2>&1 | FileCheck %s --check-prefix=ASKED

// CHECK: smalti.shared_memory_bytes = 65536
// CHECK: mosaic_gpu.slice_smem 0 : memref<128x128xf16
// REMARK: remark: [Missed] {{.*}} Remark="slots per buffer reduced from 2 to 1: 2 need 131072 B of shared memory, 1 slot needs 65536 B; gfx942 has 65536 B per block"
// ASKED: error: depth=2 needs 131072 B of shared memory; gfx942 has 65536 B per block; depth=1 needs 65536 B
triton_xla.entry_func @matmul(
    %a: memref<500x300xf16>, %b: memref<300x260xf16>, %c: memref<500x260xf32>, %tile: index) tiles 12 {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c128 = arith.constant 128 : index
  %c300 = arith.constant 300 : index
  %tile_row = arith.divui %tile, %c3 : index
  %tile_column = arith.remui %tile, %c3 : index
  %row = arith.muli %tile_row, %c128 : index
  %column = arith.muli %tile_column, %c128 : index
  %before = triton_xla.extract %c[%row, %column] [128, 128] [1, 1] : memref<500x260xf32> to tensor<128x128xf32>
  %after = scf.for %k = %c0 to %c300 step %c128 iter_args(%sum = %before) -> (tensor<128x128xf32>) {
    %a_tile = triton_xla.extract %a[%row, %k] [128, 128] [1, 1] : memref<500x300xf16> to tensor<128x128xf16>
    %b_tile = triton_xla.extract %b[%k, %column] [128, 128] [1, 1] : memref<300x260xf16> to tensor<128x128xf16>
    %next = triton_xla.dot %a_tile, %b_tile, %sum : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  triton_xla.insert %after into %c[%row, %column] [128, 128] [1, 1] : tensor<128x128xf32> into memref<500x260xf32>
  triton_xla.return
}
