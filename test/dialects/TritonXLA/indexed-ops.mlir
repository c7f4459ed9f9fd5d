// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --mlir-print-op-generic | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --emit-bytecode | smalti-opt | FileCheck %s

// CHECK-LABEL: func.func @gather_tile(
func.func @gather_tile(%t: tensor<8x16xf32>, %i: tensor<8x32xi32>, %j: tensor<3x16xindex>) {
  // CHECK: triton_xla.gather_tile %{{.*}}[%{{.*}}] dim 1 : tensor<8x16xf32>, tensor<8x32xi32> -> tensor<8x32xf32>
  %0 = triton_xla.gather_tile %t[%i] dim 1 : tensor<8x16xf32>, tensor<8x32xi32> -> tensor<8x32xf32>
  // CHECK: triton_xla.gather_tile %{{.*}}[%{{.*}}] dim 0 fill 1.000000e+00 : f32 {note} :
  // CHECK-SAME: tensor<8x16xf32>, tensor<3x16xindex> -> tensor<3x16xf32>
  %1 = triton_xla.gather_tile %t[%j] dim 0 fill 1.0 : f32 {note}
      : tensor<8x16xf32>, tensor<3x16xindex> -> tensor<3x16xf32>
  return
}

// CHECK-LABEL: func.func @gather(
func.func @gather(%a: memref<?x8xf32>, %b: memref<f32>, %i: tensor<4x2xi64>, %k: index, %m: tensor<4x2xi1>) {
  // CHECK: triton_xla.gather %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x8xf32>, tensor<4x2xi64>, index -> tensor<4x2xf32>
  %0 = triton_xla.gather %a[%i, %k] : memref<?x8xf32>, tensor<4x2xi64>, index -> tensor<4x2xf32>
  // CHECK: triton_xla.gather %{{.*}}[%{{.*}}, %{{.*}}] mask %{{.*}} fill -1.000000e+00 : f32 {note} :
  // CHECK-SAME: memref<?x8xf32>, index, tensor<4x2xi64> -> tensor<4x2xf32>
  %1 = triton_xla.gather %a[%k, %i] mask %m fill -1.0 : f32 {note} : memref<?x8xf32>, index, tensor<4x2xi64> -> tensor<4x2xf32>
  // CHECK: triton_xla.gather %{{.*}}[] : memref<f32> -> tensor<4x2xf32>
  %2 = triton_xla.gather %b[] : memref<f32> -> tensor<4x2xf32>
  return
}

// CHECK-LABEL: func.func @scatter(
func.func @scatter(%t: tensor<4x2xf32>, %a: memref<?x8xf32>, %b: memref<f32>, %i: tensor<4x2xi32>, %k: i32, %m: tensor<4x2xi1>) {
  // CHECK: triton_xla.scatter %{{.*}} into %{{.*}}[%{{.*}}, %{{.*}}] : tensor<4x2xf32> into memref<?x8xf32>, tensor<4x2xi32>, i32
  triton_xla.scatter %t into %a[%i, %k] : tensor<4x2xf32> into memref<?x8xf32>, tensor<4x2xi32>, i32
  // CHECK: triton_xla.scatter %{{.*}} into %{{.*}}[%{{.*}}, %{{.*}}] mask %{{.*}} unique sorted {note} : tensor<4x2xf32>
  triton_xla.scatter %t into %a[%i, %i] mask %m unique sorted {note}
      : tensor<4x2xf32> into memref<?x8xf32>, tensor<4x2xi32>, tensor<4x2xi32>
  // CHECK: triton_xla.scatter %{{.*}} into %{{.*}}[] : tensor<4x2xf32> into memref<f32>
  triton_xla.scatter %t into %b[] : tensor<4x2xf32> into memref<f32>
  return
}

// CHECK-LABEL: func.func @atomics(
func.func @atomics(%t: tensor<8xf32>, %n: tensor<8xi32>, %a: memref<?xf32>, %b: memref<?xi32>, %i: tensor<8xindex>,
                   %k: index, %m: tensor<8xi1>, %c: i1, %v: i32) {
  // CHECK: triton_xla.atomic_rmw addf %{{.*}} into %{{.*}}[%{{.*}}] : tensor<8xf32> into memref<?xf32>, tensor<8xindex>
  %0 = triton_xla.atomic_rmw addf %t into %a[%i] : tensor<8xf32> into memref<?xf32>, tensor<8xindex>
  // CHECK: triton_xla.atomic_rmw maxu %{{.*}} into %{{.*}}[%{{.*}}] mask %{{.*}} scope sys ordering acq_rel deterministic {note} :
  %1 = triton_xla.atomic_rmw maxu %n into %b[%k] mask %m scope sys ordering acq_rel deterministic {note}
      : tensor<8xi32> into memref<?xi32>, index
  // CHECK: triton_xla.atomic_rmw assign %{{.*}} into %{{.*}}[%{{.*}}] mask %{{.*}} scope cta : i32 into memref<?xi32>, index
  %2 = triton_xla.atomic_rmw assign %v into %b[%k] mask %c scope cta : i32 into memref<?xi32>, index
  // CHECK: triton_xla.atomic_cas %{{.*}}, %{{.*}} into %{{.*}}[%{{.*}}] ordering acquire : i32 into memref<?xi32>, index
  %3 = triton_xla.atomic_cas %v, %2 into %b[%k] ordering acquire : i32 into memref<?xi32>, index
  // CHECK: triton_xla.atomic_cas %{{.*}}, %{{.*}} into %{{.*}}[%{{.*}}] mask %{{.*}} : tensor<8xi32> into memref<?xi32>, tensor<8xindex>
  %4 = triton_xla.atomic_cas %n, %1 into %b[%i] mask %m : tensor<8xi32> into memref<?xi32>, tensor<8xindex>
  return
}
