// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt --mlir-print-op-generic %s | smalti-opt | FileCheck %s

// CHECK-LABEL: func.func @reductions
// CHECK-SAME: (%[[V:.*]]: vector<8x4x2xf32>, %[[I:.*]]: vector<8x4x2xi32>, %[[F:.*]]: f32, %[[Z:.*]]: i32)
func.func @reductions(%v: vector<8x4x2xf32>, %i: vector<8x4x2xi32>, %f: f32, %z: i32) {
  // CHECK: %{{.*}}:2 = mosaic_gpu.reduce %[[V]], %[[I]] dims [0, 2] init %[[F]], %[[Z]] : vector<8x4x2xf32>, vector<8x4x2xi32> -> vector<4xf32>, vector<4xi32> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[J:.*]]: i32, %[[B:.*]]: f32, %[[K:.*]]: i32):
  %0:2 = mosaic_gpu.reduce %v, %i dims [0, 2] init %f, %z : vector<8x4x2xf32>, vector<8x4x2xi32> -> vector<4xf32>, vector<4xi32> {
  ^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
    %c = arith.cmpf oge, %a, %b : f32
    %x = arith.select %c, %a, %b : f32
    %y = arith.select %c, %j, %k : i32
    // CHECK: mosaic_gpu.return %{{.*}}, %{{.*}} : f32, i32
    mosaic_gpu.return %x, %y : f32, i32
  }
  // All dimensions. The region uses a scalar of the function.
  // CHECK: mosaic_gpu.reduce %[[I]] dims [0, 1, 2] init %[[Z]] {scratch_size = 64 : i32} : vector<8x4x2xi32> -> i32 {
  %1 = mosaic_gpu.reduce %i dims [0, 1, 2] init %z {scratch_size = 64 : i32} : vector<8x4x2xi32> -> i32 {
  ^bb0(%a: i32, %b: i32):
    %m = arith.maxsi %a, %b : i32
    %n = arith.maxsi %m, %z : i32
    mosaic_gpu.return %n : i32
  }
  // No dimension.
  // CHECK: mosaic_gpu.reduce %[[V]] dims [] init %[[F]] : vector<8x4x2xf32> -> vector<8x4x2xf32> {
  %2 = mosaic_gpu.reduce %v dims [] init %f : vector<8x4x2xf32> -> vector<8x4x2xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    mosaic_gpu.return %s : f32
  }
  return
}

// CHECK-LABEL: func.func @scans
// CHECK-SAME: (%[[V:.*]]: vector<8x4xf32>, %[[I:.*]]: vector<8x4xindex>, %[[F:.*]]: f32, %[[Z:.*]]: index)
func.func @scans(%v: vector<8x4xf32>, %i: vector<8x4xindex>, %f: f32, %z: index) {
  // CHECK: %{{.*}} = mosaic_gpu.scan %[[V]] dim 0 init %[[F]] : vector<8x4xf32> {
  %0 = mosaic_gpu.scan %v dim 0 init %f : vector<8x4xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    mosaic_gpu.return %s : f32
  }
  // CHECK: %{{.*}}:2 = mosaic_gpu.scan %[[V]], %[[I]] dim 1 init %[[F]], %[[Z]] exclusive reverse : vector<8x4xf32>, vector<8x4xindex> {
  %1:2 = mosaic_gpu.scan %v, %i dim 1 init %f, %z exclusive reverse : vector<8x4xf32>, vector<8x4xindex> {
  ^bb0(%a: f32, %j: index, %b: f32, %k: index):
    mosaic_gpu.return %b, %j : f32, index
  }
  // CHECK: mosaic_gpu.scan %[[V]] dim 1 init %[[F]] reverse {name = "x"} : vector<8x4xf32> {
  %2 = mosaic_gpu.scan %v dim 1 init %f reverse {name = "x"} : vector<8x4xf32> {
  ^bb0(%a: f32, %b: f32):
    mosaic_gpu.return %a : f32
  }
  return
}

// Ops without uses are removed, because their regions do not have side effects.
// RUN: smalti-opt --canonicalize %s | FileCheck %s --check-prefix=UNUSED
// UNUSED-LABEL: func.func @reductions
// UNUSED-NEXT: return
// UNUSED-LABEL: func.func @scans
// UNUSED-NEXT: return
