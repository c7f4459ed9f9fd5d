// RUN: smalti-opt %s --pass-pipeline='builtin.module(smalti-mask-transfers)' --remarks-filter=smalti-mask-transfers 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: grep -c Passed %t | FileCheck %s --check-prefix=COUNT
// A masked transfer is in bounds, so upstream's folder does not change it.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(smalti-mask-transfers,canonicalize)' | FileCheck %s --check-prefix=FOLDED

// COUNT: 4

// CHECK-LABEL: func.func @before_memref(
// CHECK:         %[[END:.*]] = vector.create_mask
// CHECK:         %[[AHEAD:.*]] = vector.create_mask
// CHECK:         %[[BEHIND:.*]] = arith.xori %[[AHEAD]]
// CHECK:         %[[MASK:.*]] = arith.andi %[[END]], %[[BEHIND]]
// CHECK:         vector.transfer_read %{{.*}}, %{{.*}}, %[[MASK]] {in_bounds = [true]} : memref<30xf32>, vector<4xf32>

// FOLDED-LABEL: func.func @before_memref(
// FOLDED-DAG:     %[[ALL:.*]] = arith.constant dense<true> : vector<4xi1>
// FOLDED-DAG:     %[[AHEAD:.*]] = vector.constant_mask [2] : vector<4xi1>
// FOLDED:         %[[MASK:.*]] = arith.xori %[[AHEAD]], %[[ALL]]
// FOLDED:         vector.transfer_read %{{.*}}, %{{.*}}, %[[MASK]] {in_bounds = [true]} : memref<30xf32>, vector<4xf32>

// REMARK:     Function=before_memref | Remark="padded read lowered to a masked read, which also masks elements at negative indices"
// REMARK:     Function=columns | Remark="padded write lowered to a masked write, which also masks elements at negative indices"
// REMARK:     Function=around | Remark="padded read lowered to a masked read, which also masks elements at negative indices"
// REMARK:     Function=around | Remark="padded write lowered to a masked write, which also masks elements at negative indices"

func.func @before_memref(%row: memref<30xf32>) -> vector<4xf32> {
  %ahead = arith.constant -2 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %row[%ahead], %zero : memref<30xf32>, vector<4xf32>
  return %v : vector<4xf32>
}

// Two dimensions, one of which is in bounds.
// CHECK-LABEL: func.func @columns(
// CHECK:         %[[MASK:.*]] = arith.andi
// CHECK:         vector.transfer_write %{{.*}}, %{{.*}}[%{{.*}}], %[[MASK]] {in_bounds = [true, true]}
func.func @columns(%v: vector<2x4xf32>, %to: memref<?x30xf32>, %i: index) {
  vector.transfer_write %v, %to[%i, %i] {in_bounds = [true, false]} : vector<2x4xf32>, memref<?x30xf32>
  return
}

// Not negative, by a bound, a loop or the range of an op: upstream masks the end.
// CHECK-LABEL: func.func @not_before_memref(
// CHECK-NOT:     create_mask
// CHECK:         vector.transfer_read %{{.*}} : memref<30xf32>, vector<4xf32>
// CHECK-NOT:     create_mask
// CHECK:         vector.transfer_read %{{.*}} : memref<30xf32>, vector<4xf32>
// CHECK-NOT:     create_mask
// CHECK:         vector.transfer_write %{{.*}} : vector<4xf32>, memref<30xf32>
// CHECK-NOT:     create_mask
// CHECK:         return
func.func @not_before_memref(%row: memref<30xf32>, %n: index, %i: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %positive = arith.maxsi %i, %c0 : index
  %v = vector.transfer_read %row[%positive], %zero : memref<30xf32>, vector<4xf32>
  %lane = gpu.thread_id x
  %w = vector.transfer_read %row[%lane], %zero : memref<30xf32>, vector<4xf32>
  %sum = arith.addf %v, %w : vector<4xf32>
  scf.for %j = %c0 to %n step %c4 {
    vector.transfer_write %sum, %row[%j] : vector<4xf32>, memref<30xf32>
  }
  return
}

// An enclosing vector.mask with a passthru value.
// CHECK-LABEL: func.func @around(
// CHECK-SAME:      %[[M:[a-z0-9]+]]: vector<4xi1>, %[[OTHERS:[a-z0-9]+]]: vector<4xf32>
// CHECK-NOT:     vector.mask
// CHECK:         %[[MASK:.*]] = arith.andi %{{.*}}, %[[M]]
// CHECK:         %[[READ:.*]] = vector.transfer_read %{{.*}}, %{{.*}}, %[[MASK]] {in_bounds = [true]}
// CHECK:         %[[ALL:.*]] = arith.select %[[M]], %[[READ]], %[[OTHERS]]
// CHECK-NOT:     vector.mask
// CHECK:         vector.transfer_write %[[ALL]], %{{.*}}[%{{.*}}], %{{.*}} {in_bounds = [true]}
// CHECK:         return
func.func @around(%row: memref<30xf32>, %i: index, %m: vector<4xi1>, %others: vector<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %v = vector.mask %m, %others {
    vector.transfer_read %row[%i], %zero : memref<30xf32>, vector<4xf32>
  } : vector<4xi1> -> vector<4xf32>
  vector.mask %m {
    vector.transfer_write %v, %row[%i] : vector<4xf32>, memref<30xf32>
  } : vector<4xi1>
  return
}

// Transfers of tensors, and those in bounds, are not changed.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     create_mask
// CHECK:         return
func.func @others(%t: tensor<30xf32>, %row: memref<30xf32>, %i: index) -> (vector<4xf32>, vector<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %t[%i], %zero : tensor<30xf32>, vector<4xf32>
  %w = vector.transfer_read %row[%i], %zero {in_bounds = [true]} : memref<30xf32>, vector<4xf32>
  return %v, %w : vector<4xf32>, vector<4xf32>
}
