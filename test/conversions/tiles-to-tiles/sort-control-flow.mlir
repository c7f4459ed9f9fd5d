// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops))' | FileCheck %s

// The comparison is applied to whole tiles: both branches are computed, and a loop runs until it ends for all elements.

// CHECK-LABEL: triton_xla.entry_func @branches(
// CHECK-NOT:     scf.if
// CHECK:         %[[ODD:.*]] = arith.cmpi ne, %{{.*}}, %{{.*}} : tensor<1x1x1x1x1xi32>
// A division is not executed for elements of the other branch.
// CHECK:         %[[DIVISOR:.*]] = arith.select %[[ODD]], %{{.*}}, %{{.*}} : tensor<1x1x1x1x1xi1>, tensor<1x1x1x1x1xi32>
// CHECK:         %[[QUOTIENT:.*]] = arith.divsi %{{.*}}, %[[DIVISOR]] : tensor<1x1x1x1x1xi32>
// CHECK:         scf.while
// CHECK:           %[[ANY:.*]] = triton_xla.reduce
// CHECK:             arith.ori
// CHECK:           %[[GO:.*]] = tensor.extract %[[ANY]][] : tensor<i1>
// CHECK:           scf.condition(%[[GO]])
// CHECK:         arith.select %[[ODD]], %[[QUOTIENT]], %{{.*}} : tensor<1x1x1x1x1xi1>, tensor<1x1x1x1x1xi32>
// CHECK-NOT:     triton_xla.sort
triton_xla.entry_func @branches(%x: memref<2xi32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %t = triton_xla.extract %x[0] [2] [1] : memref<2xi32> to tensor<2xi32>
  %s = triton_xla.sort %t dim 0 : (tensor<2xi32>) -> tensor<2xi32> {
  ^bb0(%a: i32, %b: i32):
    %bit = arith.andi %a, %c1 : i32
    %odd = arith.cmpi ne, %bit, %c0 : i32
    %v = scf.if %odd -> i32 {
      %q = arith.divsi %b, %a : i32
      scf.yield %q : i32
    } else {
      %sum = scf.for %i = %c0 to %a step %c1 iter_args(%n = %c0) -> (i32) : i32 {
        %m = arith.addi %n, %b : i32
        scf.yield %m : i32
      }
      scf.yield %sum : i32
    }
    %less = arith.cmpi slt, %v, %c0 : i32
    triton_xla.yield %less : i1
  }
  triton_xla.insert %s into %x[0] [2] [1] : tensor<2xi32> into memref<2xi32>
  triton_xla.return
}
