// RUN: smalti-opt %s --pass-pipeline='builtin.module(smalti-guard-folds,canonicalize)' | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(smalti-guard-folds)' --remarks-filter='.*' 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: smalti-opt %s --pass-pipeline='builtin.module(smalti-guard-folds,inline,canonicalize)' | FileCheck %s --check-prefix=INLINE
// The pass does not recurse along chains of ops.
// RUN: %python %S/Inputs/chain.py 100000 | smalti-opt --pass-pipeline='builtin.module(smalti-guard-folds)' | FileCheck %s --check-prefix=CHAIN
// CHAIN: %[[X:.*]] = math.absf
// CHAIN-NEXT: math.atan2 %[[X]], %[[X]]
// A second run changes nothing.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(smalti-guard-folds)' -o %t.once
// RUN: smalti-opt %t.once --pass-pipeline='builtin.module(smalti-guard-folds)' | diff %t.once -

// REMARK: smalti-guard-folds | Function=zeros | Remark="math.atan2 protected from constant folding, in which MLIR evaluates atan2 of two zeros to NaN"
// CHECK-LABEL: func.func @zeros
func.func @zeros() -> (f32, f32) {
  // CHECK-DAG: %[[A:.*]] = arith.constant -0.000000e+00 : f32
  // CHECK-DAG: %[[B:.*]] = arith.constant 3.14159274 : f32
  // CHECK: return %[[A]], %[[B]]
  %zero = arith.constant 0.0 : f32
  %negative = arith.constant -0.0 : f32
  %a = math.atan2 %negative, %zero : f32
  %b = math.atan2 %zero, %negative : f32
  return %a, %b : f32, f32
}

// Loops may be simplified, and integers times zero are zero.
// CHECK-LABEL: func.func @later
func.func @later(%i: i32) -> (f32, f32) {
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT: return %[[ZERO]], %[[ZERO]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %x = scf.for %j = %c0 to %c1 step %c1 iter_args(%v = %zero) -> f32 {
    %r = math.atan2 %v, %zero : f32
    scf.yield %r : f32
  }
  %k = arith.constant 0 : i32
  %product = arith.muli %i, %k : i32
  %f = arith.sitofp %product : i32 to f32
  %y = math.atan2 %f, %zero : f32
  return %x, %y : f32, f32
}

// REMARK: smalti-guard-folds | Function=small | Remark="conversion expanded to integer ops: the constant folding of MLIR converts floats of at most 8 bits to other values than the GPU"
// CHECK-LABEL: func.func @small
func.func @small() -> (f8E5M2, f8E4M3FN, f4E2M1FN, f32) {
  // CHECK-DAG: %[[X:.*]] = arith.constant 5.734400e+04 : f8E5M2
  // CHECK-DAG: %[[Y:.*]] = arith.constant -4.480000e+02 : f8E4M3FN
  // CHECK-DAG: %[[Z:.*]] = arith.constant 6.000000e+00 : f4E2M1FN
  // CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
  // CHECK: return %[[X]], %[[Y]], %[[Z]], %[[NAN]]
  %inf = arith.constant 0x7F800000 : f32
  %x = arith.truncf %inf : f32 to f8E5M2
  %n = arith.constant -1000 : i16
  %y = arith.sitofp %n : i16 to f8E4M3FN
  %z = arith.truncf %inf : f32 to f4E2M1FN
  %nan = arith.constant 0xFF : f8E8M0FNU
  %w = arith.extf %nan : f8E8M0FNU to f32
  return %x, %y, %z, %w : f8E5M2, f8E4M3FN, f4E2M1FN, f32
}

// Inlining makes an argument of a function with callers, or a result, constant.
// CHECK-LABEL: func.func private @narrow
func.func private @narrow(%x: f32) -> f8E5M2 {
  // CHECK-NOT: arith.truncf
  // CHECK: arith.bitcast
  %r = arith.truncf %x : f32 to f8E5M2
  return %r : f8E5M2
}
func.func @zero() -> f32 {
  %zero = arith.constant 0.0 : f32
  return %zero : f32
}
// CHECK-LABEL: func.func @calls
// INLINE-LABEL: func.func @calls
func.func @calls(%y: f32) -> (f8E5M2, f32, f32) {
  // INLINE-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // INLINE-DAG: %[[MAX:.*]] = arith.constant 5.734400e+04 : f8E5M2
  // INLINE: %[[R:.*]] = math.atan2 %{{.*}}, %{{.*}} : f32
  // INLINE-NEXT: return %[[MAX]], %[[ZERO]], %[[R]]
  %inf = arith.constant 0x7F800000 : f32
  %x = func.call @narrow(%inf) : (f32) -> f8E5M2
  %zero = func.call @zero() : () -> f32
  %a = math.atan2 %zero, %zero : f32
  %b = math.atan2 %y, %zero : f32
  return %x, %a, %b : f8E5M2, f32, f32
}

// An element of a vector may be a constant.
// CHECK-LABEL: func.func @element
func.func @element(%x: f32) -> f32 {
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT: return %[[ZERO]]
  %zero = arith.constant 0.0 : f32
  %v = vector.from_elements %x, %zero : vector<2xf32>
  %y = vector.extract %v[1] : f32 from vector<2xf32>
  %r = math.atan2 %y, %zero : f32
  return %r : f32
}

// A select between another number and 1 with its sign is not the guard.
// CHECK-LABEL: func.func @select
func.func @select() -> f32 {
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT: return %[[ZERO]]
  %zero = arith.constant 0.0 : f32
  %false = arith.constant false
  %one = arith.constant 1.0 : f32
  %sign = math.copysign %one, %zero : f32
  %x = arith.select %false, %sign, %zero : f32
  %r = math.atan2 %zero, %x : f32
  return %r : f32
}

// Elements outside of an array are the fill value, and so are those that a mask
// excludes.
// CHECK-LABEL: triton_xla.entry_func @fill
triton_xla.entry_func @fill(%a: memref<4x8xf32>, %b: memref<8xf32>, %tile: index) tiles 1 {
  // CHECK-COUNT-2: math.copysign
  // CHECK-NOT: math.copysign
  %false = arith.constant dense<false> : tensor<8xi1>
  %x = triton_xla.extract %a[4, 0] [1, 8] [1, 1] : memref<4x8xf32> to tensor<8xf32>
  %r = math.atan2 %x, %x : tensor<8xf32>
  triton_xla.insert %r into %b[0] [8] [1] : tensor<8xf32> into memref<8xf32>
  %i = arith.constant dense<0> : tensor<8xi32>
  %y = triton_xla.gather %a[%i, %tile] mask %false : memref<4x8xf32>, tensor<8xi32>, index -> tensor<8xf32>
  %s = math.atan2 %y, %y : tensor<8xf32>
  triton_xla.insert %s into %b[0] [8] [1] : tensor<8xf32> into memref<8xf32>
  triton_xla.return
}

// The id is 0 if its dimension has one tile.
// CHECK-LABEL: triton_xla.entry_func @id
triton_xla.entry_func @id(%b: memref<4xf32>, %i: index, %j: index) tiles [4, 1] {
  // CHECK: math.copysign
  %k = arith.index_cast %j : index to i32
  %x = arith.sitofp %k : i32 to f32
  %r = math.atan2 %x, %x : f32
  memref.store %r, %b[%i] : memref<4xf32>
  triton_xla.return
}

// These values of memory and of arguments are never constants.
// CHECK-LABEL: triton_xla.entry_func @data
triton_xla.entry_func @data(%a: memref<4xf32>, %b: memref<4xf8E5M2>, %s: f32, %tile: index) tiles 1 {
  // CHECK: %[[X:.*]] = triton_xla.extract
  // CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]],
  // CHECK-NEXT: %[[R:.*]] = math.atan2 %[[Y]],
  // CHECK-NEXT: arith.truncf %[[R]]
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %x = triton_xla.extract %a[0] [4] [1] : memref<4xf32> to tensor<4xf32>
  %y = arith.addf %x, %zero : tensor<4xf32>
  %r = math.atan2 %y, %zero : tensor<4xf32>
  %t = arith.truncf %r : tensor<4xf32> to tensor<4xf8E5M2>
  triton_xla.insert %t into %b[0] [4] [1] : tensor<4xf8E5M2> into memref<4xf8E5M2>
  triton_xla.return
}

// REMARK: smalti-guard-folds | Function=truncated | Remark="arith.trunci inserted in a cast from index to i32: without it, MLIR removes the cast and the cast back, and the index is not truncated"
// CHECK-LABEL: triton_xla.entry_func @truncated
triton_xla.entry_func @truncated(%n: index, %o: memref<3xindex>, %p: memref<2xindex>, %tile: index) tiles 100 {
  // CHECK: %[[WIDE:.*]] = arith.index_cast %{{.*}} : index to i64
  // CHECK: %[[I:.*]] = arith.trunci %[[WIDE]] : i64 to i32
  // CHECK: arith.index_cast %[[I]] : i32 to index
  // CHECK: %[[J:.*]] = arith.trunci %{{.*}} : i64 to i8
  // CHECK: %[[BYTE:.*]] = arith.index_castui %[[J]] : i8 to index
  %i = arith.index_cast %n : index to i32
  %a = arith.index_cast %i : i32 to index
  %j = arith.index_castui %n : index to i8
  %b = arith.index_castui %j : i8 to index
  memref.store %a, %o[%tile] : memref<3xindex>
  memref.store %b, %o[%tile] : memref<3xindex>
  // CHECK: %[[T:.*]] = triton_xla.extract
  // CHECK: %[[U:.*]] = arith.trunci %{{.*}} : tensor<2xi64> to tensor<2xi1>
  // CHECK: %[[BITS:.*]] = arith.index_castui %[[U]] : tensor<2xi1> to tensor<2xindex>
  %t = triton_xla.extract %p[0] [2] [1] : memref<2xindex> to tensor<2xindex>
  %u = arith.index_castui %t : tensor<2xindex> to tensor<2xi1>
  %v = arith.index_castui %u : tensor<2xi1> to tensor<2xindex>
  triton_xla.insert %v into %p[0] [2] [1] : tensor<2xindex> into memref<2xindex>
  triton_xla.return
}

// These casts do not change the value: the id is less than 100, and the mask has 7 bits.
// CHECK-LABEL: triton_xla.entry_func @exact
triton_xla.entry_func @exact(%n: index, %o: memref<4xindex>, %tile: index) tiles 100 {
  // CHECK-NOT: trunci
  // CHECK-NOT: index_cast
  // CHECK: triton_xla.return
  %i = arith.index_cast %tile : index to i8
  %a = arith.index_cast %i : i8 to index
  %mask = arith.constant 127 : index
  %m = arith.andi %n, %mask : index
  %j = arith.index_castui %m : index to i8
  %b = arith.index_castui %j : i8 to index
  %k = arith.index_cast %n : index to i64
  %c = arith.index_cast %k : i64 to index
  memref.store %a, %o[%b] : memref<4xindex>
  memref.store %c, %o[%tile] : memref<4xindex>
  triton_xla.return
}

// CHECK-LABEL: gpu.func @kernel
gpu.module @kernels {
  gpu.func @kernel() -> f32 {
    // CHECK: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
    // CHECK: gpu.return %[[NAN]]
    %zero = arith.constant 0.0 : f32
    %r = math.atan2 %zero, %zero : f32
    gpu.return %r : f32
  }
}
