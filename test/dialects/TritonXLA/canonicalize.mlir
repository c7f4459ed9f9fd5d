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

// -----

// CHECK-LABEL: func.func @shapes(
// CHECK-SAME:    %[[T:.*]]: tensor<8x1x4xf32>)
func.func @shapes(%t: tensor<8x1x4xf32>) -> (tensor<8x1x4xf32>, tensor<8x4xf32>, tensor<32xf32>, tensor<4x8x1xf32>) {
  // Identities.
  %b = triton_xla.broadcast %t dims [0, 1, 2] : tensor<8x1x4xf32> -> tensor<8x1x4xf32>
  %p = triton_xla.transpose %b [0, 1, 2] : tensor<8x1x4xf32> -> tensor<8x1x4xf32>
  %r = triton_xla.reshape %p : tensor<8x1x4xf32> -> tensor<8x1x4xf32>
  %c = triton_xla.concat %r dim 1 : (tensor<8x1x4xf32>) -> tensor<8x1x4xf32>
  %s = triton_xla.slice %c [0, 0, 0] [8, 1, 4] [1, 7, 1] : tensor<8x1x4xf32> -> tensor<8x1x4xf32>
  // CHECK-DAG: %[[SQUEEZED:.*]] = triton_xla.reshape %[[T]] : tensor<8x1x4xf32> -> tensor<8x4xf32>
  %q = triton_xla.squeeze_dims %s [1] : tensor<8x1x4xf32> -> tensor<8x4xf32>
  // CHECK-DAG: %[[FLAT:.*]] = triton_xla.reshape %[[T]] : tensor<8x1x4xf32> -> tensor<32xf32>
  %f = triton_xla.reshape %q : tensor<8x4xf32> -> tensor<32xf32>
  // CHECK-DAG: %[[TURNED:.*]] = triton_xla.transpose %[[T]] [2, 0, 1] : tensor<8x1x4xf32> -> tensor<4x8x1xf32>
  %u = triton_xla.transpose %s [1, 2, 0] : tensor<8x1x4xf32> -> tensor<1x4x8xf32>
  %v = triton_xla.transpose %u [1, 2, 0] : tensor<1x4x8xf32> -> tensor<4x8x1xf32>
  // CHECK: return %[[T]], %[[SQUEEZED]], %[[FLAT]], %[[TURNED]]
  return %s, %q, %f, %v : tensor<8x1x4xf32>, tensor<8x4xf32>, tensor<32xf32>, tensor<4x8x1xf32>
}

// -----

// CHECK-LABEL: func.func @composed(
// CHECK-SAME:    %[[T:.*]]: tensor<4xf32>, %[[U:.*]]: tensor<16x8xf32>)
func.func @composed(%t: tensor<4xf32>, %u: tensor<16x8xf32>)
    -> (tensor<2x8x4xf32>, tensor<3x1xf32>, tensor<16x4xf32>, tensor<16x4xf32>) {
  // CHECK-DAG: %[[B:.*]] = triton_xla.broadcast %[[T]] dims [2] : tensor<4xf32> -> tensor<2x8x4xf32>
  %0 = triton_xla.broadcast %t dims [1] : tensor<4xf32> -> tensor<8x4xf32>
  %1 = triton_xla.broadcast %0 dims [1, 2] : tensor<8x4xf32> -> tensor<2x8x4xf32>
  // CHECK-DAG: %[[S:.*]] = triton_xla.slice %[[U]] [3, 6] [3, 1] [4, 1] : tensor<16x8xf32> -> tensor<3x1xf32>
  %2 = triton_xla.slice %u [1, 4] [7, 4] [2, 1] : tensor<16x8xf32> -> tensor<7x4xf32>
  %3 = triton_xla.slice %2 [1, 2] [3, 1] [2, 1] : tensor<7x4xf32> -> tensor<3x1xf32>
  // CHECK-DAG: %[[P0:.*]] = triton_xla.slice %[[U]] [0, 0] [16, 4] [1, 1] : tensor<16x8xf32> -> tensor<16x4xf32>
  // CHECK-DAG: %[[P1:.*]] = triton_xla.slice %[[U]] [0, 4] [16, 4] [1, 1] : tensor<16x8xf32> -> tensor<16x4xf32>
  %4, %5 = triton_xla.split %u dim 1 : tensor<16x8xf32> -> (tensor<16x4xf32>, tensor<16x4xf32>)
  // CHECK: return %[[B]], %[[S]], %[[P0]], %[[P1]]
  return %1, %3, %4, %5 : tensor<2x8x4xf32>, tensor<3x1xf32>, tensor<16x4xf32>, tensor<16x4xf32>
}

// -----

// CHECK-LABEL: func.func @splats(
func.func @splats() -> (tensor<4x8xf32>, tensor<8x1xi32>, tensor<1x2xi32>) {
  // CHECK-DAG: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<4x8xf32>
  // CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0> : tensor<8x1xi32>
  // CHECK-DAG: %[[VALUES:.*]] = arith.constant dense<{{\[\[}}3, 4]]> : tensor<1x2xi32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = triton_xla.broadcast %one dims [] : tensor<f32> -> tensor<4x4xf32>
  %1 = triton_xla.concat %0, %0 dim 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %2 = triton_xla.iota dim 1 : tensor<8x1xi32>
  %values = arith.constant dense<[3, 4]> : tensor<2xi32>
  %3 = triton_xla.reshape %values : tensor<2xi32> -> tensor<1x2xi32>
  // CHECK: return %[[ONES]], %[[ZEROS]], %[[VALUES]]
  return %1, %2, %3 : tensor<4x8xf32>, tensor<8x1xi32>, tensor<1x2xi32>
}

// -----

// A reduction along no dimensions still combines the initial value. An unused one is removed.

// CHECK-LABEL: func.func @reduce(
// CHECK:         %[[R:.*]] = triton_xla.reduce %{{.*}} dims [] init
// CHECK-NOT:     triton_xla.reduce
// CHECK:         return %[[R]]
func.func @reduce(%t: tensor<8xf32>, %z: f32) -> tensor<8xf32> {
  %0 = triton_xla.reduce %t dims [] init %z : (tensor<8xf32>, f32) -> tensor<8xf32> {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    triton_xla.yield %s : f32
  }
  %1 = triton_xla.reduce %t dims [0] init %z : (tensor<8xf32>, f32) -> tensor<f32> {
  ^bb0(%l: f32, %r: f32):
    triton_xla.yield %r : f32
  }
  return %0 : tensor<8xf32>
}

// -----

// Reads and tiles are removed if they are not used; writes, atomic operations and debug ops are not.

// CHECK-LABEL: func.func @indexed(
// CHECK-NOT:     triton_xla.gather
// CHECK:         triton_xla.scatter
// CHECK-NEXT:    triton_xla.atomic_rmw
// CHECK-NEXT:    triton_xla.atomic_cas
// CHECK-NEXT:    triton_xla.print
// CHECK-NEXT:    triton_xla.assert
// CHECK-NEXT:    triton_xla.assume
// CHECK-NEXT:    return
func.func @indexed(%t: tensor<8xi32>, %a: memref<8xi32>, %i: tensor<8xi32>, %c: i1) {
  %true = arith.constant true
  %trues = arith.constant dense<true> : tensor<8xi1>
  %0 = triton_xla.gather %a[%i] : memref<8xi32>, tensor<8xi32> -> tensor<8xi32>
  %1 = triton_xla.gather_tile %t[%i] dim 0 : tensor<8xi32>, tensor<8xi32> -> tensor<8xi32>
  triton_xla.scatter %t into %a[%i] : tensor<8xi32> into memref<8xi32>, tensor<8xi32>
  %2 = triton_xla.atomic_rmw addi %t into %a[%i] : tensor<8xi32> into memref<8xi32>, tensor<8xi32>
  %3 = triton_xla.atomic_cas %t, %t into %a[%i] : tensor<8xi32> into memref<8xi32>, tensor<8xi32>
  triton_xla.print "text"
  triton_xla.assert %c, "text" : i1
  triton_xla.assert %trues, "text" : tensor<8xi1>
  triton_xla.assume %c
  triton_xla.assume %true
  return
}

// -----

// CHECK-LABEL: func.func @multiple(
// CHECK-SAME:    %[[N:.*]]: index)
func.func @multiple(%n: index) -> (index, index, index) {
  %c32 = arith.constant 32 : index
  // CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
  %0 = triton_xla.assume_multiple %c32, 16 : index
  %1 = triton_xla.assume_multiple %n, 1 : index
  // CHECK-DAG: %[[M:.*]] = triton_xla.assume_multiple %[[N]], 16 : index
  %2 = triton_xla.assume_multiple %n, 16 : index
  // CHECK: return %[[C32]], %[[N]], %[[M]]
  return %0, %1, %2 : index, index, index
}

// -----

// The default of f8E8M0FNU, which cannot represent zero, is code 0.

// CHECK-LABEL: triton_xla.entry_func @code_0(
// CHECK:         triton_xla.extract %{{.*}}[4] [8] [1] : memref
// CHECK:         triton_xla.extract %{{.*}}[4] [8] [1] fill 1.000000e+00 : f8E8M0FNU
triton_xla.entry_func @code_0(%a: memref<8xf8E8M0FNU>, %tile: index) tiles 1 {
  %0 = triton_xla.extract %a[4] [8] [1] fill 0x00 : f8E8M0FNU : memref<8xf8E8M0FNU> to tensor<8xf8E8M0FNU>
  %1 = triton_xla.extract %a[4] [8] [1] fill 1.0 : f8E8M0FNU : memref<8xf8E8M0FNU> to tensor<8xf8E8M0FNU>
  triton_xla.insert %0 into %a[0] [8] [1] : tensor<8xf8E8M0FNU> into memref<8xf8E8M0FNU>
  triton_xla.insert %1 into %a[0] [8] [1] : tensor<8xf8E8M0FNU> into memref<8xf8E8M0FNU>
  triton_xla.return
}

// -----

// CHECK-LABEL: triton_xla.entry_func @num_tiles(
// CHECK:         arith.constant dense<8> : tensor<1xindex>
triton_xla.entry_func @num_tiles(%a: memref<1xindex>, %i: index, %j: index) tiles [4, 8] {
  %n = triton_xla.num_tiles dim 1
  %t = tensor.splat %n : tensor<1xindex>
  triton_xla.insert %t into %a[0] [1] [1] : tensor<1xindex> into memref<1xindex>
  triton_xla.return
}
