// RUN: smalti-opt %s --pass-pipeline='builtin.module(smalti-guard-folds,canonicalize)' | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(smalti-guard-folds)' --remarks-filter='.*' 2>&1 | FileCheck %s --check-prefix=REMARK
// A second run changes nothing.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(smalti-guard-folds)' -o %t.once
// RUN: smalti-opt %t.once --pass-pipeline='builtin.module(smalti-guard-folds)' | diff %t.once -

// REMARK: smalti-guard-folds | Function=zeros | Remark="atan2 guarded: upstream folds atan2 of two zeros to NaN"
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

// REMARK: smalti-guard-folds | Function=small | Remark="conversion expanded to integer ops: upstream folds conversions of floats of at most 8 bits to other values than the targets"
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

// Values of memory and of arguments are never constants.
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
