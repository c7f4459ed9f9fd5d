// RUN: smalti-opt %s --smalti-lower-cpu-math | FileCheck %s

// CHECK-DAG: func.func private @expm1f(f32) -> f32
// CHECK-DAG: func.func private @log1p(f64) -> f64

// CHECK-LABEL: func.func @functions
func.func @functions(%a: vector<2xf32>, %d: f64) -> (vector<2xf32>, f64, vector<2xf32>) {
  // CHECK-COUNT-2: call @expm1f
  // CHECK: call @log1p
  // CHECK: math.exp
  %0 = math.expm1 %a : vector<2xf32>
  %1 = math.log1p %d : f64
  %2 = math.exp %a : vector<2xf32>
  return %0, %1, %2 : vector<2xf32>, f64, vector<2xf32>
}

// CHECK-LABEL: func.func @power
// CHECK-SAME: (%[[A:.*]]: f64, %[[N:.*]]: i64)
func.func @power(%a: f64, %n: i64) -> f64 {
  // CHECK: %[[ABS:.*]] = math.absf %[[A]]
  // CHECK: %[[X:.*]] = arith.sitofp %[[N]] : i64 to f64
  // CHECK: %[[POWER:.*]] = math.powf %[[ABS]], %[[X]] : f64
  // CHECK: %[[SIGNED:.*]] = math.copysign %[[POWER]], %[[A]]
  // CHECK: arith.select %{{.*}}, %[[SIGNED]], %[[POWER]]
  %0 = math.fpowi %a, %n : f64, i64
  return %0 : f64
}

// The C library has errors of more than 1 ulp. Python tests check the results.

// CHECK-LABEL: func.func @doubles
// CHECK-SAME: (%[[V:.*]]: vector<2x4xf64>, %[[D:.*]]: f64, %{{.*}}: f32)
func.func @doubles(%v: vector<2x4xf64>, %d: f64, %s: f32) -> (vector<2x4xf64>, f64, f64, f64, f32) {
  // CHECK: math.fma {{.*}} : vector<2x4xf64>
  // CHECK: math.copysign %{{.*}}, %[[V]] : vector<2x4xf64>
  // CHECK: math.copysign %{{.*}}, %[[D]] : f64
  // CHECK: arith.select %{{.*}}, %{{.*}}, %[[D]] : f64
  // CHECK-COUNT-1: math.cbrt
  // CHECK-NOT: math.cbrt
  // CHECK: math.tanh %{{.*}} : f32
  %0 = math.sinh %v : vector<2x4xf64>
  %1 = math.tanh %d : f64
  %2 = math.log10 %d : f64
  %3 = math.cbrt %d : f64
  %4 = math.tanh %s : f32
  return %0, %1, %2, %3, %4 : vector<2x4xf64>, f64, f64, f64, f32
}
