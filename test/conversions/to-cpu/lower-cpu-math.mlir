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
