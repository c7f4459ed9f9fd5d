// RUN: smalti-opt %s --canonicalize --split-input-file | FileCheck %s

// Constant offsets become static, in bounds or not; a negative one stays a value.

// CHECK-LABEL: triton_xla.entry_func @offsets(
// CHECK-SAME:    %[[A:.*]]: memref<8x8xf32>, %[[TILE:.*]]: index)
triton_xla.entry_func @offsets(%a: memref<8x8xf32>, %tile: index) tiles 1 {
  // CHECK-DAG: %[[MINUS:.*]] = arith.constant -2 : index
  %c3 = arith.constant 3 : index
  %c99 = arith.constant 99 : index
  %cm2 = arith.constant -2 : index
  // CHECK: %[[T:.*]] = triton_xla.extract %[[A]][3, %[[TILE]]] [4, 4] [1, 1]
  %t = triton_xla.extract %a[%c3, %tile] [4, 4] [1, 1] : memref<8x8xf32> to tensor<4x4xf32>
  // CHECK: triton_xla.insert %[[T]] into %[[A]][99, %[[MINUS]]] [4, 4] [1, 1]
  triton_xla.insert %t into %a[%c99, %cm2] [4, 4] [1, 1] : tensor<4x4xf32> into memref<8x8xf32>
  triton_xla.return
}

// -----

// A fill of +0.0 is the default; -0.0 is not.

// CHECK-LABEL: triton_xla.entry_func @fill(
// CHECK-SAME:    %[[A:.*]]: memref<8xf32>, %[[I:.*]]: memref<8xi32>
triton_xla.entry_func @fill(%a: memref<8xf32>, %i: memref<8xi32>, %tile: index) tiles 1 {
  // CHECK: triton_xla.extract %[[A]][4] [8] [1] : memref
  %0 = triton_xla.extract %a[4] [8] [1] fill 0.0 : f32 : memref<8xf32> to tensor<8xf32>
  // CHECK: triton_xla.extract %[[A]][4] [8] [1] fill -0.000000e+00 : f32
  %1 = triton_xla.extract %a[4] [8] [1] fill -0.0 : f32 : memref<8xf32> to tensor<8xf32>
  // CHECK: triton_xla.extract %[[I]][4] [8] [1] : memref
  %2 = triton_xla.extract %i[4] [8] [1] fill 0 : i32 : memref<8xi32> to tensor<8xi32>
  triton_xla.insert %0 into %a[0] [8] [1] : tensor<8xf32> into memref<8xf32>
  triton_xla.insert %1 into %a[0] [8] [1] : tensor<8xf32> into memref<8xf32>
  triton_xla.insert %2 into %i[0] [8] [1] : tensor<8xi32> into memref<8xi32>
  triton_xla.return
}

// -----

// An unused read is removed; a write is not.

// CHECK-LABEL: triton_xla.entry_func @dead(
// CHECK-NOT:     triton_xla.extract
// CHECK:         triton_xla.insert
triton_xla.entry_func @dead(%a: memref<8xf32>, %tile: index) tiles 1 {
  %0 = triton_xla.extract %a[0] [8] [1] : memref<8xf32> to tensor<8xf32>
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  triton_xla.insert %ones into %a[0] [8] [1] : tensor<8xf32> into memref<8xf32>
  triton_xla.return
}

// -----

// CHECK-LABEL: func.func @mask_bounds(
// CHECK-SAME:    %[[T:.*]]: tensor<4x8xf32>, %[[V:.*]]: f32, %[[N:.*]]: index)
func.func @mask_bounds(%t: tensor<4x8xf32>, %v: f32, %n: index)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %cm1 = arith.constant -1 : index
  // CHECK-DAG: %[[M0:.*]] = triton_xla.mask %[[T]] [3, %[[N]]], %[[V]]
  %0 = triton_xla.mask %t [%c3, %n], %v : tensor<4x8xf32>
  // CHECK-DAG: %[[M1:.*]] = triton_xla.mask %[[T]] [0, 8], %[[V]]
  %1 = triton_xla.mask %t [%cm1, %c9], %v : tensor<4x8xf32>
  %2 = triton_xla.mask %t [%c9, %c9], %v : tensor<4x8xf32>
  %3 = triton_xla.mask %t [4, 8], %v : tensor<4x8xf32>
  // CHECK: return %[[M0]], %[[M1]], %[[T]], %[[T]]
  return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @mask_rank_0(
// CHECK-SAME:    %[[T:.*]]: tensor<f32>
func.func @mask_rank_0(%t: tensor<f32>, %v: f32) -> tensor<f32> {
  %0 = triton_xla.mask %t [], %v : tensor<f32>
  // CHECK: return %[[T]]
  return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @mask_constant(
// CHECK-SAME:    %[[T:.*]]: tensor<4x8xf32>, %[[N:.*]]: index)
func.func @mask_constant(%t: tensor<4x8xf32>, %n: index) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-DAG: %[[MINUS_ZEROS:.*]] = arith.constant dense<-0.000000e+00>
  // CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00>
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %minus_zeros = arith.constant dense<-0.0> : tensor<4x8xf32>
  // All elements are the value.
  %0 = triton_xla.mask %t [0, %n], %zero : tensor<4x8xf32>
  // Every lane already is the value.
  %1 = triton_xla.mask %zeros [2, %n], %zero : tensor<4x8xf32>
  // Equal, but not the same value.
  // CHECK: %[[M:.*]] = triton_xla.mask %[[MINUS_ZEROS]] [2, %[[N]]], %[[ZERO]]
  %2 = triton_xla.mask %minus_zeros [2, %n], %zero : tensor<4x8xf32>
  // CHECK: return %[[ZEROS]], %[[ZEROS]], %[[M]]
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
