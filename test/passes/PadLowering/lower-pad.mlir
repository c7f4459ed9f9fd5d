// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-lower-pad))' --remarks-filter=smalti-lower-pad 2>%t \
// RUN:   | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-lower-pad{target=gfx942}))' \
// RUN:   --remarks-filter=smalti-lower-pad 2>%t | FileCheck %s --check-prefix=BUFFER
// RUN: FileCheck %s --check-prefix=BUFFER-REMARK < %t

// REMARK: [Passed] smalti-lower-pad | Category:smalti-lower-pad | Function=high_only | Remark="the pad became a read that fills in the padding value"
// CHECK-LABEL: func.func @high_only(
// CHECK-SAME:    %[[SOURCE:.*]]: tensor<?x8xf32>, %{{.*}}: index, %[[VALUE:.*]]: f32
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : index
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK:         %[[READ:.*]] = vector.transfer_read %[[SOURCE]][%[[ZERO]], %[[ZERO]]], %[[VALUE]] {in_bounds = [false, true]}
// CHECK:         vector.transfer_write %[[READ]], %[[EMPTY]][%[[ZERO]], %[[ZERO]]] {in_bounds = [true, true]}
func.func @high_only(%source: tensor<?x8xf32>, %high: index, %value: f32) -> tensor<4x8xf32> {
  %padded = tensor.pad %source low[0, 0] high[%high, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  } : tensor<?x8xf32> to tensor<4x8xf32>
  return %padded : tensor<4x8xf32>
}

// REMARK: Function=low | Remark="the pad became a filled tensor and a masked write at the low pads"
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

// The index of a loop is never below its lower bound: one mask is enough.
// REMARK: Function=read | Remark="the padded read became a masked one"
// CHECK-LABEL: func.func @read(
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           %[[LEFT:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK:           %[[ABOVE:.*]] = arith.maxsi %[[LEFT]]
// CHECK:           %[[END:.*]] = arith.minsi %[[ABOVE]]
// CHECK:           %[[MASK:.*]] = vector.create_mask %[[END]] : vector<4xi1>
// CHECK-NOT:       vector.create_mask
// CHECK:           vector.transfer_read %{{.*}}[%[[I]]], %{{.*}}, %[[MASK]] {in_bounds = [true], tag} : memref<10xf32>, vector<4xf32>
// BUFFER-REMARK: Function=read | Remark="the padded read became a masked one of a raw buffer"
// BUFFER-LABEL: func.func @read(
// BUFFER:         %[[BUFFER:.*]] = amdgpu.fat_raw_buffer_cast %{{.*}} : memref<10xf32> to memref<10xf32, #amdgpu.address_space<fat_raw_buffer>>
// BUFFER:         scf.for
// BUFFER:           vector.transfer_read %[[BUFFER]][%{{.*}}], %{{.*}}, %{{.*}} {in_bounds = [true], tag}
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

// REMARK: Function=any_index | Remark="the padded read became a masked one, which also leaves out what is ahead of the memref"
// CHECK-LABEL: func.func @any_index(
// CHECK-SAME:    %{{.*}}: memref<10x8xf32>, %{{.*}}: index, %[[OLD:.*]]: vector<4x4xi1>
// CHECK:         %[[BEHIND_END:.*]] = vector.create_mask
// CHECK:         %[[AHEAD:.*]] = vector.create_mask
// CHECK:         %[[NOT_AHEAD:.*]] = arith.xori %[[AHEAD]]
// CHECK:         %[[BOTH:.*]] = arith.andi %[[BEHIND_END]], %[[NOT_AHEAD]]
// CHECK:         %[[ALL:.*]] = arith.andi %[[BOTH]], %[[OLD]]
// CHECK:         vector.transfer_read %{{.*}}, %[[ALL]] {in_bounds = [true, true]}
// A negative offset does not go through a buffer.
// BUFFER-REMARK: Function=any_index | Remark="the padded read became a masked one, which also leaves out what is ahead of the memref; its source is no raw buffer: an index may be negative"
// BUFFER-LABEL: func.func @any_index(
// BUFFER-NOT:     fat_raw_buffer
// BUFFER:         return
func.func @any_index(%source: memref<10x8xf32>, %i: index, %mask: vector<4x4xi1>) -> vector<4x4xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%i, %c0], %value, %mask {in_bounds = [false, true]}
    : memref<10x8xf32>, vector<4x4xf32>
  return %read : vector<4x4xf32>
}

// More than 32-bit offsets reach: no buffer.
// BUFFER-REMARK: Function=large | Remark="the padded read became a masked one; its source is no raw buffer: it takes 4294967296 bytes, more than 32-bit offsets reach"
// BUFFER-LABEL: func.func @large(
// BUFFER-NOT:     fat_raw_buffer
// BUFFER:         return
func.func @large(%source: memref<1073741824xf32>) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c0], %value {in_bounds = [false]} : memref<1073741824xf32>, vector<4xf32>
  return %read : vector<4xf32>
}

// The buffer would end as far behind the base pointer as the memref is long, and cut off what the offset moves there.
// BUFFER-REMARK: Function=offset | Remark="the padded read became a masked one; its source is no raw buffer: it does not begin and end where its longest dimension does"
// BUFFER-LABEL: func.func @offset(
// BUFFER-NOT:     fat_raw_buffer
// BUFFER:         return
func.func @offset(%source: memref<4x8xf32, strided<[8, 1], offset: 24>>) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c0, %c0], %value {in_bounds = [false]}
    : memref<4x8xf32, strided<[8, 1], offset: 24>>, vector<16xf32>
  return %read : vector<16xf32>
}

// The last row ends behind the longest dimension, where the buffer would end.
// BUFFER-REMARK: Function=overlapping_rows | Remark="the padded read became a masked one; its source is no raw buffer: it does not begin and end where its longest dimension does"
// BUFFER-LABEL: func.func @overlapping_rows(
// BUFFER-NOT:     fat_raw_buffer
// BUFFER:         return
func.func @overlapping_rows(%source: memref<4x3xf32, strided<[2, 1]>>) -> vector<4xf32> {
  %c3 = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c3, %c0], %value {in_bounds = [false]}
    : memref<4x3xf32, strided<[2, 1]>>, vector<4xf32>
  return %read : vector<4xf32>
}

// The hardware checks dwords: the last of these three elements would be read as 0.
// BUFFER-REMARK: Function=half_dword | Remark="the padded read became a masked one; its source is no raw buffer: its 6 bytes end within a dword, and the bounds check is for whole ones"
// BUFFER-LABEL: func.func @half_dword(
// BUFFER-NOT:     fat_raw_buffer
// BUFFER:         return
func.func @half_dword(%source: memref<3xf16>) -> vector<4xf16> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f16
  %read = vector.transfer_read %source[%c0], %value : memref<3xf16>, vector<4xf16>
  return %read : vector<4xf16>
}

// BUFFER-REMARK: Function=wraps | Remark="the padded read became a masked one; its source is no raw buffer: the lanes past its end would wrap around"
func.func @wraps(%source: memref<536870911xi32>) -> vector<4xi32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1 : i32
  %read = vector.transfer_read %source[%c0], %value : memref<536870911xi32>, vector<4xi32>
  return %read : vector<4xi32>
}

// BUFFER-REMARK: Function=dynamic_source | Remark="the padded read became a masked one; its source is no raw buffer: its size is not known"
func.func @dynamic_source(%source: memref<?xf32>) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c0], %value : memref<?xf32>, vector<4xf32>
  return %read : vector<4xf32>
}

// BUFFER-REMARK: Function=shared | Remark="the padded read became a masked one; its source is no raw buffer: it is not in global memory"
func.func @shared(%source: memref<8xf32, #gpu.address_space<workgroup>>) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c0], %value : memref<8xf32, #gpu.address_space<workgroup>>, vector<16xf32>
  return %read : vector<16xf32>
}

// REMARK: Function=write | Remark="the padded write became a masked one"
// CHECK-LABEL: func.func @write(
// CHECK-SAME:    %[[DEST:.*]]: memref<10xf32>, %[[VECTOR:.*]]: vector<4xf32>
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           %[[LEFT:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK:           %[[ABOVE:.*]] = arith.maxsi %[[LEFT]]
// CHECK:           %[[END:.*]] = arith.minsi %[[ABOVE]]
// CHECK:           %[[MASK:.*]] = vector.create_mask %[[END]] : vector<4xi1>
// CHECK-NEXT:      vector.transfer_write %[[VECTOR]], %[[DEST]][%[[I]]], %[[MASK]] {in_bounds = [true], tag} : vector<4xf32>, memref<10xf32>
// Writes have no bounds check of their own.
// BUFFER-REMARK: Function=write | Remark="the padded write became a masked one"
func.func @write(%dest: memref<10xf32>, %vector: vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  scf.for %i = %c0 to %c10 step %c4 {
    vector.transfer_write %vector, %dest[%i] {tag} : vector<4xf32>, memref<10xf32>
  }
  return
}

// The mask has the memref's order, and no dimension that is broadcast.
// REMARK: Function=transposed | Remark="the padded read became a masked one, which
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
