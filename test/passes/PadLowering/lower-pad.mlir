// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-lower-pad))' --remarks-filter=smalti-lower-pad 2>%t \
// RUN:   | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// REMARK: [Passed] smalti-lower-pad | Category:smalti-lower-pad | Function=high_only | Remark="tensor.pad lowered to a read with padding"
// CHECK-LABEL: func.func @high_only(
// CHECK-SAME:    %[[SOURCE:.*]]: tensor<?x8xf32>, %{{.*}}: index, %[[VALUE:.*]]: f32
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : index
// CHECK:         %[[READ:.*]] = vector.transfer_read %[[SOURCE]][%[[ZERO]], %[[ZERO]]], %[[VALUE]] {in_bounds = [false, true]}
// CHECK:         vector.transfer_write %[[READ]], %[[EMPTY]][%[[ZERO]], %[[ZERO]]] {in_bounds = [true, true]}
func.func @high_only(%source: tensor<?x8xf32>, %high: index, %value: f32) -> tensor<4x8xf32> {
  %padded = tensor.pad %source low[0, 0] high[%high, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  } : tensor<?x8xf32> to tensor<4x8xf32>
  return %padded : tensor<4x8xf32>
}

// REMARK: Function=low | Remark="tensor.pad lowered to a fill, and a masked write at the offset of the low padding"
// CHECK-LABEL: func.func @low(
// CHECK:         %[[SPLAT:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK:         %[[FILLED:.*]] = vector.transfer_write %[[SPLAT]]
// CHECK:         %[[READ:.*]] = vector.transfer_read
// CHECK:         %[[MASK:.*]] = vector.create_mask
// CHECK:         vector.transfer_write %[[READ]], %[[FILLED]][%{{.*}}], %[[MASK]]
func.func @low(%source: tensor<5xf32>, %value: f32) -> tensor<8xf32> {
  %padded = tensor.pad %source low[2] high[1] {
  ^bb0(%i: index):
    tensor.yield %value : f32
  } : tensor<5xf32> to tensor<8xf32>
  return %padded : tensor<8xf32>
}

// An induction variable is not below its lower bound: one mask is enough.
// REMARK: Function=read | Remark="padded read lowered to a masked read"
// CHECK-LABEL: func.func @read(
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           %[[LEFT:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK:           %[[ABOVE:.*]] = arith.maxsi %[[LEFT]]
// CHECK:           %[[END:.*]] = arith.minsi %[[ABOVE]]
// CHECK:           %[[MASK:.*]] = vector.create_mask %[[END]] : vector<4xi1>
// CHECK-NOT:       vector.create_mask
// CHECK:           vector.transfer_read %{{.*}}[%[[I]]], %{{.*}}, %[[MASK]] {in_bounds = [true], tag} : memref<10xf32>, vector<4xf32>
func.func @read(%source: memref<10xf32>, %out: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  %value = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c10 step %c4 {
    %read = vector.transfer_read %source[%i], %value {tag} : memref<10xf32>, vector<4xf32>
    vector.store %read, %out[%c0] : memref<4xf32>, vector<4xf32>
  }
  return
}

// REMARK: Function=any_index | Remark="padded read lowered to a masked read, which also masks elements at negative indices"
// CHECK-LABEL: func.func @any_index(
// CHECK-SAME:    %{{.*}}: memref<10x8xf32>, %{{.*}}: index, %[[OLD:.*]]: vector<4x4xi1>
// CHECK:         %[[BEHIND_END:.*]] = vector.create_mask
// CHECK:         %[[AHEAD:.*]] = vector.create_mask
// CHECK:         %[[NOT_AHEAD:.*]] = arith.xori %[[AHEAD]]
// CHECK:         %[[BOTH:.*]] = arith.andi %[[BEHIND_END]], %[[NOT_AHEAD]]
// CHECK:         %[[ALL:.*]] = arith.andi %[[BOTH]], %[[OLD]]
// CHECK:         vector.transfer_read %{{.*}}, %[[ALL]] {in_bounds = [true, true]}
func.func @any_index(%source: memref<10x8xf32>, %i: index, %mask: vector<4x4xi1>) -> vector<4x4xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%i, %c0], %value, %mask {in_bounds = [false, true]}
    : memref<10x8xf32>, vector<4x4xf32>
  return %read : vector<4x4xf32>
}

// REMARK: Function=write | Remark="padded write lowered to a masked write"
// CHECK-LABEL: func.func @write(
// CHECK-SAME:    %[[DEST:.*]]: memref<10xf32>, %[[VECTOR:.*]]: vector<4xf32>
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           %[[LEFT:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK:           %[[ABOVE:.*]] = arith.maxsi %[[LEFT]]
// CHECK:           %[[END:.*]] = arith.minsi %[[ABOVE]]
// CHECK:           %[[MASK:.*]] = vector.create_mask %[[END]] : vector<4xi1>
// CHECK-NEXT:      vector.transfer_write %[[VECTOR]], %[[DEST]][%[[I]]], %[[MASK]] {in_bounds = [true], tag} : vector<4xf32>, memref<10xf32>
func.func @write(%dest: memref<10xf32>, %vector: vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  scf.for %i = %c0 to %c10 step %c4 {
    vector.transfer_write %vector, %dest[%i] {tag} : vector<4xf32>, memref<10xf32>
  }
  return
}

// The mask has the dimension order of the memref, without broadcast dimensions.
// REMARK: Function=transposed | Remark="padded read lowered to a masked read, which
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME:    %{{.*}}: memref<10x7xf32>, %[[I:.*]]: index, %[[OLD:.*]]: vector<4x2xi1>
// CHECK:         vector.create_mask %{{.*}}, %{{.*}} : vector<4x2xi1>
// CHECK:         %[[MASK:.*]] = arith.andi %{{.*}}, %[[OLD]] : vector<4x2xi1>
// CHECK:         vector.transfer_read %{{.*}}[%[[I]], %[[I]]], %{{.*}}, %[[MASK]] {in_bounds = [true, true, true], permutation_map = #{{.*}}} : memref<10x7xf32>, vector<2x3x4xf32>
func.func @transposed(%source: memref<10x7xf32>, %i: index, %mask: vector<4x2xi1>) -> vector<2x3x4xf32> {
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%i, %i], %value, %mask
    {in_bounds = [false, true, false], permutation_map = affine_map<(d0, d1) -> (d1, 0, d0)>}
    : memref<10x7xf32>, vector<2x3x4xf32>
  return %read : vector<2x3x4xf32>
}

// A result with an upper bound: the vector may be larger.
// REMARK: Function=bounded | Remark="tensor.pad lowered to a read with padding"
// CHECK-LABEL: func.func @bounded(
// CHECK:         %[[SOURCE:.*]] = tensor.extract_slice
// CHECK:         %[[SIZE:.*]] = arith.addi
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[SIZE]]) : tensor<?xf32>
// CHECK:         %[[READ:.*]] = vector.transfer_read %[[SOURCE]]{{.*}} : tensor<?xf32>, vector<24xf32>
// CHECK:         vector.transfer_write %[[READ]], %[[EMPTY]]{{.*}} : vector<24xf32>, tensor<?xf32>
func.func @bounded(%source: tensor<16xf32>, %n: index, %value: f32) -> tensor<?xf32> {
  %size = affine.min affine_map<(d0) -> (d0, 16)>(%n)
  %part = tensor.extract_slice %source[0] [%size] [1] : tensor<16xf32> to tensor<?xf32>
  %padded = tensor.pad %part low[0] high[8] {
  ^bb0(%i: index):
    tensor.yield %value : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %padded : tensor<?xf32>
}

// REMARK: Function=nofold | Remark="tensor.pad lowered to a read with padding"
// CHECK-LABEL: func.func @nofold(
// CHECK:         vector.transfer_read
// CHECK:         vector.transfer_write
func.func @nofold(%source: tensor<4x1xf32>, %value: f32) -> tensor<4x1xf32> {
  %padded = tensor.pad %source nofold low[0, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  } : tensor<4x1xf32> to tensor<4x1xf32>
  return %padded : tensor<4x1xf32>
}

// REMARK: Function=nothing | Remark="tensor.pad removed: its result is empty or has rank 0"
// REMARK: Function=nothing | Remark="tensor.pad removed: its result is empty or has rank 0"
// CHECK-LABEL: func.func @nothing(
// CHECK-SAME:    %[[SCALAR:.*]]: tensor<f32>
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<0x4xf32>
// CHECK-NEXT:    return %[[SCALAR]], %[[EMPTY]]
func.func @nothing(%scalar: tensor<f32>, %source: tensor<0x2xf32>, %value: f32) -> (tensor<f32>, tensor<0x4xf32>) {
  %same = tensor.pad %scalar low[] high[] {
    tensor.yield %value : f32
  } : tensor<f32> to tensor<f32>
  %padded = tensor.pad %source low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  } : tensor<0x2xf32> to tensor<0x4xf32>
  return %same, %padded : tensor<f32>, tensor<0x4xf32>
}

// An enclosing vector.mask is combined with the new mask; a select inserts its passthru value.
// REMARK: Function=under_mask | Remark="padded read lowered to a masked read, which also masks elements at negative indices"
// REMARK: Function=under_mask | Remark="padded write lowered to a masked write, which also masks elements at negative indices"
// CHECK-LABEL: func.func @under_mask(
// CHECK-SAME:    %[[M:[a-z0-9]+]]: vector<4xi1>, %[[OTHERS:[a-z0-9]+]]: vector<4xf32>
// CHECK-NOT:     vector.mask
// CHECK:         %[[MASK:.*]] = arith.andi %{{.*}}, %[[M]]
// CHECK:         %[[READ:.*]] = vector.transfer_read %{{.*}}, %{{.*}}, %[[MASK]] {in_bounds = [true]}
// CHECK:         %[[ALL:.*]] = arith.select %[[M]], %[[READ]], %[[OTHERS]]
// CHECK-NOT:     vector.mask
// CHECK:         %[[LAST:.*]] = arith.andi %{{.*}}, %[[M]]
// CHECK:         vector.transfer_write %[[ALL]], %{{.*}}[%{{.*}}], %[[LAST]] {in_bounds = [true]}
// CHECK:         return
func.func @under_mask(%row: memref<30xf32>, %i: index, %m: vector<4xi1>, %others: vector<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %v = vector.mask %m, %others { vector.transfer_read %row[%i], %zero : memref<30xf32>, vector<4xf32> }
    : vector<4xi1> -> vector<4xf32>
  vector.mask %m { vector.transfer_write %v, %row[%i] : vector<4xf32>, memref<30xf32> } : vector<4xi1>
  return
}
