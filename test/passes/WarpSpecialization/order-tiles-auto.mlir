// The tile order with the smallest estimated reads.
// RUN: smalti-opt %s -split-input-file --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-order-tiles{order=auto target=sm_90a}))' \
// RUN:   -o %t.out --remarks-filter=smalti-order-tiles 2>&1 | FileCheck %s
// RUN: smalti-opt %s -split-input-file --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-order-tiles{order=auto target=sm_90a blocks=66}))' \
// RUN:   -o /dev/null --remarks-filter=smalti-order-tiles 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not smalti-opt %s -split-input-file -o /dev/null 2>&1 \
// RUN:   --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-order-tiles{order=auto target=gfx942 strict=true}))' \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN

// 64 MB of A and 32 MB of B, a row of tiles 1 MB of it and a column 512 KB: 132 tiles are 7 rows and 19 columns instead of
// 3 rows and all columns.
// UNKNOWN: error: smalti-order-tiles: the cache of gfx942 is not known
// CHECK: [Passed] smalti-order-tiles | {{.*}}Function=product | Remark="tiles of 64 rows and 64 columns in snake order, 7 rows a group: tiles that run at once read 17301504 bytes instead of 36700160"
// BLOCKS: [Passed] smalti-order-tiles | {{.*}}Function=product | Remark="tiles of 64 rows and 64 columns in snake order, 6 rows a group: tiles that run at once read 12058624 bytes instead of 35651584"
triton_xla.entry_func @product(%a: memref<8192x4096xf16>, %b: memref<4096x4096xf16>, %c: memref<8192x4096xf32>,
                               %tile: index) tiles 4096 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %depth = arith.constant 4096 : index
  %i = arith.divui %tile, %c64 : index
  %j = arith.remui %tile, %c64 : index
  %row = arith.muli %i, %c128 : index
  %column = arith.muli %j, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %k = %c0 to %depth step %c64 iter_args(%s = %zero) -> tensor<128x64xf32> {
    %x = triton_xla.extract %a[%row, %k] [128, 64] [1, 1] : memref<8192x4096xf16> to tensor<128x64xf16>
    %y = triton_xla.extract %b[%k, %column] [64, 64] [1, 1] : memref<4096x4096xf16> to tensor<64x64xf16>
    %n = triton_xla.dot %x, %y, %s : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %n : tensor<128x64xf32>
  }
  triton_xla.insert %sum into %c[%row, %column] [128, 64] [1, 1] : tensor<128x64xf32> into memref<8192x4096xf32>
  triton_xla.return
}

// -----

// What every tile has of its own counts for neither.
// CHECK: [Missed] smalti-order-tiles | {{.*}}Function=small | Remark="what its tiles read, 2097152 bytes, stays in the cache of 52428800"
triton_xla.entry_func @small(%a: memref<32768x32xf16>, %x: memref<32768x32768xf16>, %c: memref<32768x32768xf16>, %tile: index)
    tiles 262144 {
  %c512 = arith.constant 512 : index
  %c64 = arith.constant 64 : index
  %i = arith.divui %tile, %c512 : index
  %j = arith.remui %tile, %c512 : index
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %t = triton_xla.extract %a[%row, 0] [64, 32] [1, 1] : memref<32768x32xf16> to tensor<64x32xf16>
  %y = triton_xla.extract %x[%row, %column] [64, 32] [1, 1] : memref<32768x32768xf16> to tensor<64x32xf16>
  %s = arith.addf %t, %y : tensor<64x32xf16>
  triton_xla.insert %s into %c[%row, %column] [64, 32] [1, 1] : tensor<64x32xf16> into memref<32768x32768xf16>
  triton_xla.return
}

// -----

// All columns read one row at a time already.
// CHECK: [Missed] smalti-order-tiles | {{.*}}Function=rows_alone | Remark="132 tiles at once read no less than 65536 bytes in any order"
triton_xla.entry_func @rows_alone(%a: memref<65536x512xf16>, %c: memref<65536x32768xf16>, %tile: index) tiles 524288 {
  %c512 = arith.constant 512 : index
  %c64 = arith.constant 64 : index
  %i = arith.divui %tile, %c512 : index
  %j = arith.remui %tile, %c512 : index
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %t = triton_xla.extract %a[%row, 0] [64, 64] [1, 1] : memref<65536x512xf16> to tensor<64x64xf16>
  triton_xla.insert %t into %c[%row, %column] [64, 64] [1, 1] : tensor<64x64xf16> into memref<65536x32768xf16>
  triton_xla.return
}
