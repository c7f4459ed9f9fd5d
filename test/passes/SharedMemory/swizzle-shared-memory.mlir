// The rewritten indices. address-map.test proves that the map is a bijection.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-swizzle-shared-memory{target=sm_90a},cse),gpu.module(gpu.func(smalti-swizzle-shared-memory{target=sm_90a},cse)))' \
// RUN:   --remarks-filter=smalti-swizzle-shared-memory 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
#shared = #gpu.address_space<workgroup>

// Rows of 128 bytes: 8 chunks, XORed with the row.
// REMARK: [Passed] smalti-swizzle-shared-memory | Category:smalti-swizzle-shared-memory | Function=rows | Remark="buffer swizzled: chunks of 16 B XORed with row mod 8: 0 bank conflicts instead of 28 in 2 accesses"
// CHECK-LABEL: func.func @rows(
// CHECK:         %[[LANE:.*]] = gpu.thread_id{{ +}}x
// CHECK:         %[[ROW:.*]] = arith.divui %[[LANE]], %c8
// CHECK:         %[[COLUMN:.*]] = arith.muli %{{.*}}, %c8
// CHECK:         %[[BUFFER:.*]] = memref.alloc() : memref<64x64xf16, #gpu.address_space<workgroup>>
// CHECK:         %[[REST:.*]] = arith.remui %[[ROW]], %c8
// CHECK:         %[[SHIFT:.*]] = arith.muli %[[REST]], %c8
// CHECK:         %[[MOVED:.*]] = arith.xori %[[COLUMN]], %[[SHIFT]]
// CHECK:         nvgpu.device_async_copy %{{.*}}, %[[BUFFER]][%[[ROW]], %[[MOVED]]], 8 {bypassL1} : memref<64x64xf16> to memref<64x64xf16, #gpu.address_space<workgroup>>
// CHECK:         %[[MOVED:.*]] = arith.xori %c0, %[[COLUMN]]
// CHECK:         nvgpu.ldmatrix %[[BUFFER]][%[[LANE]], %[[MOVED]]] {numTiles = 4 : i32, transpose = false}
func.func @rows(%a: memref<64x64xf16>) -> vector<4x2xf16> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %lane = gpu.thread_id x
  %row = arith.divui %lane, %c8 : index
  %chunk = arith.remui %lane, %c8 : index
  %column = arith.muli %chunk, %c8 : index
  %buffer = memref.alloc() : memref<64x64xf16, #shared>
  %copy = nvgpu.device_async_copy %a[%row, %column], %buffer[%row, %column], 8 {bypassL1}
    : memref<64x64xf16> to memref<64x64xf16, #shared>
  %group = nvgpu.device_async_create_group %copy
  nvgpu.device_async_wait %group
  %matrices = nvgpu.ldmatrix %buffer[%lane, %c0] {numTiles = 4 : i32, transpose = false}
    : memref<64x64xf16, #shared> -> vector<4x2xf16>
  return %matrices : vector<4x2xf16>
}

// Rows of 64 bytes: two of them cover the banks once, and share a shift. Views are erased; indices are computed for the
// buffer.
// REMARK: Function=views | Remark="buffer swizzled: chunks of 16 B XORed with row / 2 mod 4: 0 bank conflicts instead of 24 in 3 accesses"
// CHECK-LABEL: gpu.func @views(
// CHECK-SAME:    %[[SLOT:[^:]*]]: index
// CHECK:         %[[BUFFER:.*]] = memref.alloc() : memref<3x64x32xf16, #gpu.address_space<workgroup>>
// CHECK-NOT:     memref.subview
// CHECK-NOT:     memref.cast
// CHECK:         %[[ROW:.*]] = affine.apply {{.*}}()[%[[LANE:.*]]]
// CHECK:         %[[HALF:.*]] = arith.divui %[[ROW]], %c2
// CHECK:         %[[REST:.*]] = arith.remui %[[HALF]], %c4
// CHECK:         %[[SHIFT:.*]] = arith.muli %[[REST]], %c8
// CHECK:         %[[MOVED:.*]] = arith.xori %{{.*}}, %[[SHIFT]]
// CHECK:         vector.transfer_read %[[BUFFER]][%[[SLOT]], %[[ROW]], %[[MOVED]]], %{{.*}} {in_bounds = [true]} : memref<3x64x32xf16, #gpu.address_space<workgroup>>, vector<8xf16>
// CHECK:         memref.load %[[BUFFER]][%[[SLOT]], %{{.*}}, %{{.*}}]
gpu.module @views {
  gpu.func @views(%slot: index, %row: index, %out: memref<2x8xf16>, %scalar: memref<f16>) kernel {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<3x64x32xf16, #shared>
  %view = memref.subview %buffer[%slot, 32, 8] [1, 32, 16] [1, 1, 1]
    : memref<3x64x32xf16, #shared> to memref<32x16xf16, strided<[32, 1], offset: ?>, #shared>
  %cast = memref.cast %view : memref<32x16xf16, strided<[32, 1], offset: ?>, #shared> to memref<?x16xf16, strided<[32, 1], offset: ?>, #shared>
  %v = vector.transfer_read %cast[%lane, %c0], %zero {in_bounds = [true]} : memref<?x16xf16, strided<[32, 1], offset: ?>, #shared>, vector<8xf16>
  %fixed = memref.subview %buffer[0, 0, 0] [1, 64, 32] [1, 1, 1] : memref<3x64x32xf16, #shared> to memref<64x32xf16, strided<[32, 1]>, #shared>
  %expanded = memref.expand_shape %fixed [[0], [1, 2]] output_shape [64, 4, 8]
    : memref<64x32xf16, strided<[32, 1]>, #shared> into memref<64x4x8xf16, strided<[32, 8, 1]>, #shared>
  %w = vector.load %expanded[%lane, %c0, %c0] : memref<64x4x8xf16, strided<[32, 8, 1]>, #shared>, vector<8xf16>
  %s = memref.load %view[%slot, %slot] : memref<32x16xf16, strided<[32, 1], offset: ?>, #shared>
  vector.store %v, %out[%c0, %c0] : memref<2x8xf16>, vector<8xf16>
  vector.store %w, %out[%c0, %c0] : memref<2x8xf16>, vector<8xf16>
  memref.store %s, %scalar[] : memref<f16>
  gpu.return
}
}

// 13 chunks: rotated, because no power of two except 1 divides 13.
// REMARK: Function=rotated | Remark="buffer swizzled: chunks of 16 B rotated by row / 8 mod 13: 0 bank conflicts instead of 4 in 1 access"
// CHECK-LABEL: func.func @rotated(
// CHECK:         %[[ROW:.*]] = arith.muli %{{.*}}, %c2
// CHECK:         %[[EIGHTH:.*]] = arith.divui %[[ROW]], %c8
// CHECK:         %[[REST:.*]] = arith.remui %[[EIGHTH]], %c13
// CHECK:         %[[SHIFT:.*]] = arith.muli %[[REST]], %c8
// CHECK:         %[[SUM:.*]] = arith.addi %c0, %[[SHIFT]]
// CHECK:         %[[MOVED:.*]] = arith.remui %[[SUM]], %c104
// CHECK:         vector.load %{{.*}}[%[[ROW]], %[[MOVED]]]
func.func @rotated() -> vector<8xf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %lane = gpu.thread_id x
  %row = arith.muli %lane, %c2 : index
  %buffer = memref.alloc() : memref<128x104xf16, #shared>
  %v = vector.load %buffer[%row, %c0] : memref<128x104xf16, #shared>, vector<8xf16>
  return %v : vector<8xf16>
}

// A buffer that cannot be swizzled does not affect another, also in another function.
// REMARK-DAG: [Missed] {{.*}} Function=others | Remark="buffer not swizzled: 'memref.copy' does not access the buffer with an index per dimension, as the swizzle requires; use loads and stores of memref or vector"
// REMARK-DAG: [Analysis] {{.*}} Function=others | Remark="buffer not swizzled: no bank conflicts in 1 access"
// REMARK-DAG: [Passed] {{.*}} Function=others | Remark="buffer swizzled: chunks of 4 B XORed with row mod 32: 0 bank conflicts instead of 31 in 1 access"
// CHECK-LABEL: func.func @others(
// CHECK:         memref.copy
// CHECK:         arith.xori
// CHECK-NOT:     arith.xori
// CHECK:         return
func.func @others(%in: memref<32x32xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %copied = memref.alloc() : memref<32x32xf32, #shared>
  memref.copy %in, %copied : memref<32x32xf32> to memref<32x32xf32, #shared>
  %fine = memref.alloc() : memref<32x32xf32, #shared>
  memref.store %zero, %fine[%c0, %lane] : memref<32x32xf32, #shared>
  %buffer = memref.alloc() : memref<32x32xf32, #shared>
  %v = memref.load %buffer[%lane, %c0] : memref<32x32xf32, #shared>
  return %v : f32
}

// Views of untyped memory that do not share bytes are separate buffers.
// REMARK-DAG: [Passed] {{.*}} Function=untyped | Remark="buffer swizzled: chunks of 16 B XORed with row mod 8: 0 bank conflicts instead of 28 in 1 access"
// CHECK-LABEL: gpu.func @untyped
// CHECK:         %[[VIEW:.*]] = memref.view
// CHECK:         arith.xori
// CHECK:         vector.load %[[VIEW]][
gpu.module @kernels {
  gpu.func @untyped(%out: memref<32x8xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4096 = arith.constant 4096 : index
    %lane = gpu.thread_id x
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #shared>
    %buffer = memref.view %bytes[%c0][] : memref<?xi8, #shared> to memref<32x64xf16, #shared>
    %other = memref.view %bytes[%c4096][] : memref<?xi8, #shared> to memref<64xf16, #shared>
    %v = vector.load %buffer[%lane, %c0] : memref<32x64xf16, #shared>, vector<8xf16>
    vector.store %v, %out[%lane, %c0] : memref<32x8xf16>, vector<8xf16>
    %s = memref.load %other[%lane] : memref<64xf16, #shared>
    memref.store %s, %out[%lane, %c0] : memref<32x8xf16>
    gpu.return
  }
}

// Accesses with unknown addresses are reported and not counted.
// REMARK: Function=some_unknown | Remark="buffer swizzled: chunks of 4 B XORed with row mod 32: 0 bank conflicts instead of 31 in 1 access (the addresses of 1 more are unknown)"
// CHECK-LABEL: func.func @some_unknown(
func.func @some_unknown(%which: memref<32xindex>, %out: memref<32xf32>) attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %thread = gpu.thread_id x
  %v = arith.constant 0.0 : f32
  %buffer = memref.alloc() : memref<32x32xf32, #shared>
  memref.store %v, %buffer[%thread, %c0] : memref<32x32xf32, #shared>
  %place = memref.load %which[%thread] : memref<32xindex>
  %w = memref.load %buffer[%place, %c0] : memref<32x32xf32, #shared>
  memref.store %w, %out[%thread] : memref<32xf32>
  return
}
