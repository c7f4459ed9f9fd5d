// order=auto: the order that is estimated to read the fewest bytes of global memory.
// RUN: smalti-opt %s -split-input-file --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-order-tiles{order=auto target=sm_90a}))' \
// RUN:   -o %t.out --remarks-filter=smalti-order-tiles 2>&1 | FileCheck %s
// RUN: smalti-opt %s -split-input-file --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-order-tiles{order=auto target=sm_90a blocks=66}))' \
// RUN:   -o /dev/null --remarks-filter=smalti-order-tiles 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not smalti-opt %s -split-input-file -o /dev/null 2>&1 \
// RUN:   --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-order-tiles{order=auto target=gfx942 strict=true}))' \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN

// A has 64 MB and B 32 MB; a row of tiles reads 1 MB and a column 512 KB. The 132 tiles cover 7 rows and 19 columns instead
// of 3 rows and all columns.
// UNKNOWN: error: smalti-order-tiles: rasterization order not changed: the L2 size of gfx942, on which order=auto depends, is unknown; set order=grouped or order=snake
// CHECK: [Passed] smalti-order-tiles | {{.*}}Function=matmul | Remark="rasterization order changed to snake: 64 x 64 tiles, 7 rows per group; concurrent tiles read 17301504 B instead of 36700160 B"
// BLOCKS: [Passed] smalti-order-tiles | {{.*}}Function=matmul | Remark="rasterization order changed to snake: 64 x 64 tiles, 6 rows per group; concurrent tiles read 12058624 B instead of 35651584 B"
triton_xla.entry_func @matmul(%a: memref<8192x4096xf16>, %b: memref<4096x4096xf16>, %c: memref<8192x4096xf32>,
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

// Arrays whose offsets depend on row and column are not counted.
// CHECK: [Missed] smalti-order-tiles | {{.*}}Function=small | Remark="rasterization order not changed: all tiles together read 2097152 B, which fits in the 52428800 B of L2"
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

// The given order already reads the fewest bytes.
// CHECK: [Missed] smalti-order-tiles | {{.*}}Function=rows_alone | Remark="rasterization order not changed: no order reads less than the 65536 B that 132 concurrent tiles read in the given order"
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
