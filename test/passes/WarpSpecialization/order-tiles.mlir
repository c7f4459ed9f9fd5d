// RUN: smalti-opt %s -split-input-file --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-order-tiles{width=4},canonicalize,cse))' \
// RUN:   --remarks-filter=smalti-order-tiles 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: smalti-opt %s -split-input-file --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-order-tiles{width=4 order=snake},canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefix=SNAKE

// 6 x 8 tiles: a group of four rows and one of two.
// REMARK: [Passed] smalti-order-tiles | {{.*}}Function=groups | Remark="rasterization order changed to grouped: 6 x 8 tiles, 4 rows per group"
// CHECK-LABEL: triton_xla.entry_func @groups
// CHECK-SAME:    %[[ID:[^ :]*]]: index)
// CHECK-DAG:     %[[GROUP:.*]] = arith.divui %[[ID]], %c32
// CHECK-DAG:     %[[INSIDE:.*]] = arith.remui %[[ID]], %c32
// CHECK-DAG:     %[[FIRST:.*]] = arith.muli %[[GROUP]], %c4
// CHECK-DAG:     %[[LEFT:.*]] = arith.subi %c6, %[[FIRST]]
// CHECK-DAG:     %[[HEIGHT:.*]] = arith.minui %[[LEFT]], %c4
// CHECK-DAG:     %[[COLUMN:.*]] = arith.divui %[[INSIDE]], %[[HEIGHT]]
// CHECK-DAG:     %[[DOWN:.*]] = arith.remui %[[INSIDE]], %[[HEIGHT]]
// CHECK:         %[[ROW:.*]] = arith.addi %[[FIRST]], %[[DOWN]]
// CHECK:         %[[BEGIN:.*]] = arith.muli %[[ROW]], %c8
// CHECK:         %[[TILE:.*]] = arith.addi %[[BEGIN]], %[[COLUMN]]
// CHECK:         arith.divui %[[TILE]], %c8
// CHECK:         arith.remui %[[TILE]], %c8
// SNAKE-LABEL: triton_xla.entry_func @groups
// SNAKE:         %[[BACK:.*]] = arith.subi %c7, %[[COLUMN:.*]] : index
// SNAKE:         %[[ODD:.*]] = arith.cmpi eq, %{{.*}}, %c1
// SNAKE:         arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
triton_xla.entry_func @groups(%src: memref<384x512xf32>, %dst: memref<384x512xf32>, %tile: index) tiles 48 {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %i = arith.divui %tile, %c8 : index
  %j = arith.remui %tile, %c8 : index
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %t = triton_xla.extract %src[%row, %column] [64, 64] [1, 1] : memref<384x512xf32> to tensor<64x64xf32>
  triton_xla.insert %t into %dst[%row, %column] [64, 64] [1, 1] : tensor<64x64xf32> into memref<384x512xf32>
  triton_xla.return
}

// -----

// REMARK: [Analysis] smalti-order-tiles | {{.*}}Function=row | Remark="rasterization order not changed: the kernel does not divide the tile id into rows and columns, so the grid has one dimension"
// CHECK-LABEL: triton_xla.entry_func @row
// CHECK-SAME:    %[[ID:[^ :]*]]: index)
// CHECK:         arith.muli %[[ID]], %c64
triton_xla.entry_func @row(%src: memref<512xf32>, %dst: memref<512xf32>, %tile: index) tiles 8 {
  %c64 = arith.constant 64 : index
  %column = arith.muli %tile, %c64 : index
  %t = triton_xla.extract %src[%column] [64] [1] : memref<512xf32> to tensor<64xf32>
  triton_xla.insert %t into %dst[%column] [64] [1] : tensor<64xf32> into memref<512xf32>
  triton_xla.return
}

// -----

// REMARK: [Missed] smalti-order-tiles | {{.*}}Function=one_row | Remark="rasterization order not changed: the grid of 1 x 8 tiles has a single row or column, so the order cannot change"
triton_xla.entry_func @one_row(%src: memref<512xf32>, %dst: memref<512xf32>, %tile: index) tiles 8 {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %j = arith.remui %tile, %c8 : index
  %column = arith.muli %j, %c64 : index
  %t = triton_xla.extract %src[%column] [64] [1] : memref<512xf32> to tensor<64xf32>
  triton_xla.insert %t into %dst[%column] [64] [1] : tensor<64xf32> into memref<512xf32>
  triton_xla.return
}

// -----

// REMARK: [Missed] smalti-order-tiles | {{.*}}Function=odd | Remark="rasterization order not changed: the kernel has 9 tiles; a multiple of the 4 tiles in a row is required"
triton_xla.entry_func @odd(%dst: memref<576xf32>, %tile: index) tiles 9 {
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %j = arith.remui %tile, %c4 : index
  %column = arith.muli %j, %c64 : index
  triton_xla.insert %zero into %dst[%column] [64] [1] : tensor<64xf32> into memref<576xf32>
  triton_xla.return
}

// -----

// REMARK: [Missed] smalti-order-tiles | {{.*}}Function=two | Remark="rasterization order not changed: the tile id is divided by 4 and by 2; a single number of columns is required"
triton_xla.entry_func @two(%dst: memref<512xf32>, %tile: index) tiles 8 {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %i = arith.divui %tile, %c2 : index
  %j = arith.remui %tile, %c4 : index
  %column = arith.addi %i, %j : index
  triton_xla.insert %zero into %dst[%column] [64] [1] : tensor<64xf32> into memref<512xf32>
  triton_xla.return
}

// -----

// REMARK: [Missed] smalti-order-tiles | {{.*}}Function=unused | Remark="rasterization order not changed: the kernel does not use the tile id, so all tiles do the same work"
triton_xla.entry_func @unused(%dst: memref<64xf32>, %tile: index) tiles 1 {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  triton_xla.insert %zero into %dst[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.return
}

// -----

// REMARK: [Missed] smalti-order-tiles | {{.*}}Function=grid | Remark="rasterization order not changed: the grid has 2 dimensions; one dimension is required"
triton_xla.entry_func @grid(%i: index, %tile: index) tiles [2, 2] {
  triton_xla.return
}
