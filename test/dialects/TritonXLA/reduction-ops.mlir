// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --mlir-print-op-generic | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --emit-bytecode | smalti-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce(
func.func @reduce(%t: tensor<8x64xf32>, %i: tensor<8x64xi32>, %z: f32, %n: i32, %scale: f32) {
  // CHECK: triton_xla.reduce %{{.*}} dims [1] init %{{.*}} {note} : (tensor<8x64xf32>, f32) -> tensor<8xf32> {
  // CHECK-NEXT: ^bb0(%[[L:.*]]: f32, %[[R:.*]]: f32):
  // CHECK: triton_xla.yield %{{.*}} : f32
  %0 = triton_xla.reduce %t dims [1] init %z {note} : (tensor<8x64xf32>, f32) -> tensor<8xf32> {
  ^bb0(%l: f32, %r: f32):
    %p = arith.mulf %l, %scale : f32
    %s = arith.addf %p, %r : f32
    triton_xla.yield %s : f32
  }
  // CHECK: triton_xla.reduce %{{.*}}, %{{.*}} dims [0, 1] init %{{.*}}, %{{.*}} :
  // CHECK-SAME: (tensor<8x64xf32>, tensor<8x64xi32>, f32, i32) -> (tensor<f32>, tensor<i32>) {
  // CHECK: triton_xla.yield %{{.*}}, %{{.*}} : f32, i32
  %1:2 = triton_xla.reduce %t, %i dims [0, 1] init %z, %n
      : (tensor<8x64xf32>, tensor<8x64xi32>, f32, i32) -> (tensor<f32>, tensor<i32>) {
  ^bb0(%lv: f32, %li: i32, %rv: f32, %ri: i32):
    %c = arith.cmpf ogt, %lv, %rv : f32
    %v, %w = scf.if %c -> (f32, i32) {
      scf.yield %lv, %li : f32, i32
    } else {
      scf.yield %rv, %ri : f32, i32
    }
    triton_xla.yield %v, %w : f32, i32
  }
  // CHECK: triton_xla.reduce %{{.*}} dims [] init %{{.*}} : (tensor<8x64xf32>, f32) -> tensor<8x64xf32> {
  %2 = triton_xla.reduce %t dims [] init %z : (tensor<8x64xf32>, f32) -> tensor<8x64xf32> {
  ^bb0(%l: f32, %r: f32):
    triton_xla.yield %r : f32
  }
  return
}

// CHECK-LABEL: func.func @scan(
func.func @scan(%t: tensor<8x64xf32>, %z: f32) {
  // CHECK: triton_xla.scan %{{.*}} dim 1 init %{{.*}} : (tensor<8x64xf32>, f32) -> tensor<8x64xf32> {
  %0 = triton_xla.scan %t dim 1 init %z : (tensor<8x64xf32>, f32) -> tensor<8x64xf32> {
  ^bb0(%l: f32, %r: f32):
    triton_xla.yield %l : f32
  }
  // CHECK: triton_xla.scan %{{.*}} dim 0 init %{{.*}} exclusive reverse {note} : (tensor<8x64xf32>, f32) -> tensor<8x64xf32> {
  %1 = triton_xla.scan %t dim 0 init %z exclusive reverse {note} : (tensor<8x64xf32>, f32) -> tensor<8x64xf32> {
  ^bb0(%l: f32, %r: f32):
    triton_xla.yield %l : f32
  }
  return
}

// CHECK-LABEL: func.func @sort(
func.func @sort(%k: tensor<8x64xf32>, %v: tensor<8x64xi8>) {
  // CHECK: triton_xla.sort %{{.*}}, %{{.*}} dim 1 : (tensor<8x64xf32>, tensor<8x64xi8>) -> (tensor<8x64xf32>, tensor<8x64xi8>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: i8, %{{.*}}: i8):
  %0:2 = triton_xla.sort %k, %v dim 1 : (tensor<8x64xf32>, tensor<8x64xi8>) -> (tensor<8x64xf32>, tensor<8x64xi8>) {
  ^bb0(%k0: f32, %k1: f32, %v0: i8, %v1: i8):
    %c = arith.cmpf olt, %k0, %k1 : f32
    triton_xla.yield %c : i1
  }
  return
}

// CHECK-LABEL: func.func @histogram(
func.func @histogram(%t: tensor<8x64xi8>, %m: tensor<8x64xi1>, %x: tensor<index>) {
  // CHECK: triton_xla.histogram %{{.*}} bins 16 mask %{{.*}} {note} : tensor<8x64xi8> -> tensor<16xi64>
  %0 = triton_xla.histogram %t bins 16 mask %m {note} : tensor<8x64xi8> -> tensor<16xi64>
  // CHECK: triton_xla.histogram %{{.*}} bins 1 : tensor<index> -> tensor<1xi32>
  %1 = triton_xla.histogram %x bins 1 : tensor<index> -> tensor<1xi32>
  return
}
