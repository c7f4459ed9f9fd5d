// Padded buffers, the padding, and the changed users.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-shared-memory{target=sm_90a}),gpu.module(gpu.func(smalti-pad-shared-memory{target=sm_90a})))' \
// RUN:   --remarks-filter=smalti-pad-shared-memory 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
#shared = #gpu.address_space<workgroup>

// A column of f32: one element is enough, and scalar accesses do not need more alignment.
// REMARK: [Passed] smalti-pad-shared-memory | Category:smalti-pad-shared-memory | Function=column | Remark="rows padded by 1 element (4 B): 0 bank conflicts instead of 31 in 2 accesses; 4224 B of shared memory instead of 4096 B"
// CHECK-LABEL: func.func @column(
// CHECK:         %[[ALLOC:.*]] = memref.alloc() {alignment = 64 : i64, tag} : memref<32x33xf32, #gpu.address_space<workgroup>>
// CHECK:         %[[VIEW:.*]] = memref.subview %[[ALLOC]][0, 0] [32, 32] [1, 1] : memref<32x33xf32, #gpu.address_space<workgroup>> to memref<32x32xf32, strided<[33, 1]>, #gpu.address_space<workgroup>>
// CHECK:         memref.store %{{.*}}, %[[VIEW]][%c3, %{{.*}}]
// CHECK:         memref.load %[[VIEW]][%{{.*}}, %c3]
// CHECK:         memref.dealloc %[[ALLOC]] : memref<32x33xf32
func.func @column(%out: memref<32xf32>, %in: memref<32xf32>) {
  %lane = gpu.thread_id x
  %c3 = arith.constant 3 : index
  %buffer = memref.alloc() {alignment = 64 : i64, tag} : memref<32x32xf32, #shared>
  %other = memref.load %in[%lane] : memref<32xf32>
  memref.store %other, %buffer[%c3, %lane] : memref<32x32xf32, #shared>
  gpu.barrier
  %value = memref.load %buffer[%lane, %c3] : memref<32x32xf32, #shared>
  memref.store %value, %out[%lane] : memref<32xf32>
  memref.dealloc %buffer : memref<32x32xf32, #shared>
  return
}

// cp.async and ldmatrix require 16 bytes: the padding is 8 elements, also for the slots of a multi-buffer, through
// views.
// REMARK: Function=slots | Remark="rows padded by 8 elements (16 B): 0 bank conflicts instead of 28 in 2 accesses; 27648 B of shared memory instead of 24576 B"
// CHECK-LABEL: func.func @slots(
// CHECK:         memref.alloc() : memref<3x64x72xf16, #gpu.address_space<workgroup>>
// CHECK:         %[[SLOT:.*]] = memref.subview %{{.*}}[0, 0, 0] [1, 64, 64] [1, 1, 1] : memref<3x64x64xf16, strided<[4608, 72, 1]>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[72, 1]>, #gpu.address_space<workgroup>>
// CHECK:         %[[CAST:.*]] = memref.cast %[[SLOT]] : {{.*}} to memref<?x64xf16, strided<[72, 1], offset: ?>, #gpu.address_space<workgroup>>
// CHECK:         nvgpu.device_async_copy %{{.*}}, %[[CAST]]
// CHECK:         %[[EXPANDED:.*]] = memref.expand_shape %[[SLOT]] {{.*}} into memref<64x8x8xf16, strided<[72, 8, 1]>, #gpu.address_space<workgroup>>
// CHECK:         nvgpu.ldmatrix %[[EXPANDED]]
func.func @slots(%a: memref<64x64xf16>) -> vector<4x2xf16> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %lane = gpu.thread_id x
  %row = arith.divui %lane, %c8 : index
  %chunk = arith.remui %lane, %c8 : index
  %column = arith.muli %chunk, %c8 : index
  %buffer = memref.alloc() : memref<3x64x64xf16, #shared>
  %slot = memref.subview %buffer[0, 0, 0] [1, 64, 64] [1, 1, 1]
    : memref<3x64x64xf16, #shared> to memref<64x64xf16, strided<[64, 1]>, #shared>
  %cast = memref.cast %slot : memref<64x64xf16, strided<[64, 1]>, #shared> to memref<?x64xf16, strided<[64, 1], offset: ?>, #shared>
  %copy = nvgpu.device_async_copy %a[%row, %column], %cast[%row, %column], 8
    : memref<64x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>, #shared>
  %group = nvgpu.device_async_create_group %copy
  nvgpu.device_async_wait %group
  %expanded = memref.expand_shape %slot [[0], [1, 2]] output_shape [64, 8, 8]
    : memref<64x64xf16, strided<[64, 1]>, #shared> into memref<64x8x8xf16, strided<[64, 8, 1]>, #shared>
  %matrices = nvgpu.ldmatrix %expanded[%lane, %c0, %c0] {numTiles = 4 : i32, transpose = false}
    : memref<64x8x8xf16, strided<[64, 8, 1]>, #shared> -> vector<4x2xf16>
  return %matrices : vector<4x2xf16>
}

// The leading dimension of a matrix load changes, and its tiles stay aligned to 32 bytes.
// REMARK: Function=matrix | Remark="rows padded by 16 elements (32 B): {{.*}} in 1 access
// CHECK-LABEL: func.func @matrix(
// CHECK:         gpu.subgroup_mma_load_matrix %{{.*}} {leadDimension = 80 : index} : memref<32x64xf16, strided<[80, 1]>
func.func @matrix(%v: vector<8xf16>) -> !gpu.mma_matrix<16x16xf16, "AOp"> {
  %c0 = arith.constant 0 : index
  %lane = gpu.lane_id
  %buffer = memref.alloc() : memref<32x64xf16, #shared>
  vector.store %v, %buffer[%lane, %c0] : memref<32x64xf16, #shared>, vector<8xf16>
  gpu.barrier
  %m = gpu.subgroup_mma_load_matrix %buffer[%c0, %c0] {leadDimension = 64 : index}
    : memref<32x64xf16, #shared> -> !gpu.mma_matrix<16x16xf16, "AOp">
  return %m : !gpu.mma_matrix<16x16xf16, "AOp">
}

// Transfers and copies of the whole buffer keep their shape; ids are computed by the affine maps of other front ends.
// REMARK: Function=transfers | Remark="rows padded by 4 elements (16 B)
// CHECK-LABEL: func.func @transfers(
// CHECK:         memref.alloc() : memref<16x36xf32, #gpu.address_space<workgroup>>
// CHECK:         memref.copy %{{.*}}, %{{.*}} : memref<16x32xf32> to memref<16x32xf32, strided<[36, 1]>, #gpu.address_space<workgroup>>
// CHECK:         vector.transfer_read %{{.*}} : memref<16x32xf32, strided<[36, 1]>, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK:         linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : memref<16x32xf32, strided<[36, 1]>
func.func @transfers(%in: memref<16x32xf32>) -> vector<4xf32> {
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %row = affine.apply affine_map<()[s0] -> (s0 mod 16)>()[%lane]
  %column = affine.apply affine_map<()[s0] -> ((s0 floordiv 16) * 4)>()[%lane]
  %buffer = memref.alloc() : memref<16x32xf32, #shared>
  memref.copy %in, %buffer : memref<16x32xf32> to memref<16x32xf32, #shared>
  %v = vector.transfer_read %buffer[%row, %column], %zero {in_bounds = [true]} : memref<16x32xf32, #shared>, vector<4xf32>
  linalg.fill ins(%zero : f32) outs(%buffer : memref<16x32xf32, #shared>)
  return %v : vector<4xf32>
}

// Another buffer that cannot be padded does not matter; one without conflicts is not changed.
// REMARK-DAG: [Missed] {{.*}} Function=others | Remark="rows not padded: the buffer escapes through 'func.call', so not all of its uses are known; do not pass it or its address to this op"
// REMARK-DAG: [Analysis] {{.*}} Function=others | Remark="rows not padded: no bank conflicts in 1 access"
// REMARK-DAG: [Passed] {{.*}} Function=others | Remark="rows padded by 1 element
// CHECK-LABEL: func.func @others(
// CHECK:         memref.alloc() : memref<32x32xf32, #gpu.address_space<workgroup>>
// CHECK:         memref.alloc() : memref<32x32xf32, #gpu.address_space<workgroup>>
// CHECK:         memref.alloc() : memref<32x33xf32, #gpu.address_space<workgroup>>
func.func private @callee(memref<32x32xf32, #shared>)
func.func @others() -> f32 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %escaping = memref.alloc() : memref<32x32xf32, #shared>
  func.call @callee(%escaping) : (memref<32x32xf32, #shared>) -> ()
  %fine = memref.alloc() : memref<32x32xf32, #shared>
  memref.store %zero, %fine[%c0, %lane] : memref<32x32xf32, #shared>
  %buffer = memref.alloc() : memref<32x32xf32, #shared>
  %v = memref.load %buffer[%lane, %c0] : memref<32x32xf32, #shared>
  return %v : f32
}

// A workgroup attribution; the thread ids follow from the shape of the launch.
// REMARK: Function=declared | Remark="rows padded by 1 element (4 B): 0 bank conflicts instead of 124 in 1 access; 4224 B of shared memory instead of 4096 B"
// CHECK-LABEL: gpu.func @declared
// CHECK-SAME:    workgroup(%[[BUFFER:.*]] : memref<32x33xf32, #gpu.address_space<workgroup>>)
// CHECK:         memref.subview %[[BUFFER]][0, 0] [32, 32] [1, 1]
gpu.module @kernels {
  gpu.func @declared(%out: memref<32x4xf32>) workgroup(%buffer: memref<32x32xf32, #shared>) kernel
      attributes {known_block_size = array<i32: 32, 4, 1>} {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %v = memref.load %buffer[%x, %y] : memref<32x32xf32, #shared>
    memref.store %v, %out[%x, %y] : memref<32x4xf32>
    gpu.return
  }
}

// A transposed view: the lanes of the fragment read 8 rows of the buffer.
// REMARK: Function=fragment | Remark="rows padded by 8 elements (16 B): 0 bank conflicts instead of
// CHECK-LABEL: gpu.func @fragment(
// CHECK:         memref.alloc() : memref<8x72xf16, #gpu.address_space<workgroup>>
// CHECK:         memref.transpose {{.*}} : memref<8x64xf16, strided<[72, 1]>, {{.*}} to memref<64x8xf16, strided<[1, 72]>,
gpu.module @fragments {
  gpu.func @fragment(%out: memref<64x8xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %buffer = memref.alloc() : memref<8x64xf16, #shared>
    %view = memref.transpose %buffer (d0, d1) -> (d1, d0) : memref<8x64xf16, #shared> to memref<64x8xf16, strided<[1, 64]>, #shared>
    %b = mosaic_gpu.vector_load %view {out_layouts = [#mosaic_gpu.TiledLayout<[[16, 8], [8, 8], [2, 1]], warp_dims = [], lane_dims = [-3, -4], vector_dim = -2>]}
        : memref<64x8xf16, strided<[1, 64]>, #shared> -> vector<64x8xf16>
    vector.transfer_write %b, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x8xf16>, memref<64x8xf16>
    gpu.return
  }
}
