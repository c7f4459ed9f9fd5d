// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops))' --split-input-file \
// RUN:   --remarks-filter=smalti-expand-tile-ops 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// Ops that GPUs do not support remain. The remarks have the sentences of the table of legal ops.

// CHECK-LABEL: triton_xla.entry_func @size(
// CHECK:         triton_xla.sort
// REMARK: sort not expanded: 'triton_xla.sort' of 2^31 or more elements after rounding is not supported on GPUs: a sort rounds the sorted dimension up to a power of two and another dimension by up to a quarter, and a tile has less than 2^31 elements; use a smaller tile
triton_xla.entry_func @size(%x: memref<8xi8>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [1610612736] [1] : memref<8xi8> to tensor<1610612736xi8>
  %s = triton_xla.sort %t dim 0 : (tensor<1610612736xi8>) -> tensor<1610612736xi8> {
  ^bb0(%a: i8, %b: i8):
    %c = arith.cmpi slt, %a, %b : i8
    triton_xla.yield %c : i1
  }
  triton_xla.insert %s into %x[0] [1610612736] [1] : tensor<1610612736xi8> into memref<8xi8>
  triton_xla.return
}

// -----

// CHECK-LABEL: triton_xla.entry_func @width(
// CHECK:         triton_xla.sort
// REMARK: sort not expanded: 'triton_xla.sort' on i65 is not supported
triton_xla.entry_func @width(%x: i65, %tile: index) tiles 1 {
  %t = tensor.splat %x : tensor<4xi65>
  %s = triton_xla.sort %t dim 0 : (tensor<4xi65>) -> tensor<4xi65> {
  ^bb0(%a: i65, %b: i65):
    %c = arith.cmpi slt, %a, %b : i65
    triton_xla.yield %c : i1
  }
  triton_xla.return
}
