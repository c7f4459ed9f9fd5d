// Conversions of floats of at most 8 bits become integer ops.
// RUN: smalti-opt %s --smalti-lower-math=target=sm_80 | FileCheck %s
// RUN: smalti-opt %s --smalti-lower-math=target=gfx942 | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @extend
  gpu.func @extend(%a: vector<8xf8E4M3FN>, %b: f4E2M1FN, %c: f8E8M0FNU) -> (vector<8xf16>, f32, f64) {
    // CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : vector<8xf8E4M3FN> to vector<8xi8>
    // CHECK: arith.extui %[[BITS]] : vector<8xi8> to vector<8xi32>
    // CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
    %0 = arith.extf %a : vector<8xf8E4M3FN> to vector<8xf16>
    // CHECK: arith.bitcast %{{.*}} : f4E2M1FN to i4
    // CHECK: arith.bitcast %{{.*}} : i32 to f32
    %1 = arith.extf %b : f4E2M1FN to f32
    // CHECK: arith.bitcast %{{.*}} : f8E8M0FNU to i8
    // CHECK: arith.extf %{{.*}} : f32 to f64
    %2 = arith.extf %c : f8E8M0FNU to f64
    gpu.return %0, %1, %2 : vector<8xf16>, f32, f64
  }

  // CHECK-LABEL: gpu.func @truncate
  gpu.func @truncate(%a: vector<8xbf16>, %b: f64) -> (vector<8xf6E3M2FN>, f8E5M2) {
    // CHECK: arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
    // CHECK: arith.trunci %{{.*}} : vector<8xi32> to vector<8xi6>
    // CHECK: arith.bitcast %{{.*}} : vector<8xi6> to vector<8xf6E3M2FN>
    %0 = arith.truncf %a : vector<8xbf16> to vector<8xf6E3M2FN>
    // The first rounding is to odd.
    // CHECK: arith.truncf %{{.*}} : f64 to f32
    // CHECK: arith.cmpf one
    // CHECK: arith.bitcast %{{.*}} : i8 to f8E5M2
    %1 = arith.truncf %b : f64 to f8E5M2
    // CHECK-NOT: truncf
    gpu.return %0, %1 : vector<8xf6E3M2FN>, f8E5M2
  }

  // f32 represents integers of 24 bits.
  // CHECK-LABEL: gpu.func @integers
  gpu.func @integers(%a: vector<2xi16>, %b: i32) -> (vector<2xf8E5M2>, f4E2M1FN) {
    // CHECK: arith.uitofp %{{.*}} : vector<2xi16> to vector<2xf32>
    // CHECK: arith.bitcast %{{.*}} : vector<2xi8> to vector<2xf8E5M2>
    %0 = arith.uitofp %a : vector<2xi16> to vector<2xf8E5M2>
    // CHECK: arith.sitofp %{{.*}} : i32 to f64
    // CHECK: arith.bitcast %{{.*}} : i4 to f4E2M1FN
    %1 = arith.sitofp %b : i32 to f4E2M1FN
    gpu.return %0, %1 : vector<2xf8E5M2>, f4E2M1FN
  }
}
