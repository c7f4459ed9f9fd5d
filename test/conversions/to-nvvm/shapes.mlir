// Slices, shapes and indices of vectors: registers are renamed and split.
// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a},canonicalize))' | FileCheck %s

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#row = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>

// A thread has four registers. The slice is the last two of them, and two copies of them are four again. Registers
// are not split.
gpu.module @m {
  // CHECK-LABEL: gpu.func @slice(
  gpu.func @slice(%a: memref<64x16xf32>, %b: memref<64x16xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[ROWS:.*]] = arith.muli
    // CHECK: %[[COLUMN:.*]] = arith.muli
    // CHECK: %[[EIGHT:.*]] = arith.addi %[[COLUMN]], %c8
    // CHECK: %[[V2:.*]] = vector.load %{{.*}}, %[[EIGHT]]]
    // CHECK: %[[V3:.*]] = vector.load %{{.*}}, %[[EIGHT]]]
    // CHECK-NOT: vector.extract
    // CHECK: vector.store %[[V2]]
    // CHECK: vector.store %[[V3]]
    // CHECK: vector.store %[[V2]]
    // CHECK: vector.store %[[V3]]
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<64x16xf32> -> vector<64x16xf32>
    %s = vector.extract_strided_slice %v {offsets = [0, 8], sizes = [64, 8], strides = [1, 1], in_layouts = [#wgmma], out_layouts = [#wgmma]} : vector<64x16xf32> to vector<64x8xf32>
    %c = mosaic_gpu.vector_concat(%s, %s : vector<64x8xf32>, vector<64x8xf32>) {dimension = 1 : i32, in_layouts = [#wgmma, #wgmma], out_layouts = [#wgmma]} -> vector<64x16xf32>
    mosaic_gpu.vector_store %c, %b {in_layouts = [#wgmma]} : vector<64x16xf32>, memref<64x16xf32>
    gpu.return
  }

  // A row index is in both elements of the registers of the row's threads.
  // CHECK-LABEL: gpu.func @rows(
  gpu.func @rows(%a: memref<64xf32>, %b: memref<64x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[R0:.*]] = vector.load %{{.*}} memref<64xf32>, vector<1xf32>
    // CHECK: %[[R1:.*]] = vector.load %{{.*}} memref<64xf32>, vector<1xf32>
    // CHECK: %[[S0:.*]] = vector.extract %[[R0]][0]
    // CHECK: %[[W0:.*]] = vector.{{from_elements|broadcast}} %[[S0]]
    // CHECK: %[[S1:.*]] = vector.extract %[[R1]][0]
    // CHECK: %[[W1:.*]] = vector.{{from_elements|broadcast}} %[[S1]]
    // CHECK: vector.store %[[W0]]
    // CHECK: vector.store %[[W1]]
    %v = mosaic_gpu.vector_load %a {out_layouts = [#row]} : memref<64xf32> -> vector<64xf32>
    %w = mosaic_gpu.broadcast_in_dim(%v : vector<64xf32>) {broadcast_dimensions = array<i64: 0>, in_layouts = [#row], out_layouts = [#wgmma]} -> vector<64x8xf32>
    mosaic_gpu.vector_store %w, %b {in_layouts = [#wgmma]} : vector<64x8xf32>, memref<64x8xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @indices(
  gpu.func @indices(%b: memref<64x8xi32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-DAG: %[[STEPS:.*]] = arith.constant dense<[0, 1]> : vector<2xi32>
    // CHECK: %[[COLUMN:.*]] = arith.index_cast
    // CHECK: %[[BOTH:.*]] = vector.broadcast %[[COLUMN]] : i32 to vector<2xi32>
    // CHECK: arith.addi %[[BOTH]], %[[STEPS]]
    %i = mosaic_gpu.broadcasted_iota 1 {out_layouts = [#wgmma]} : vector<64x8xi32>
    mosaic_gpu.vector_store %i, %b {in_layouts = [#wgmma]} : vector<64x8xi32>, memref<64x8xi32>
    gpu.return
  }

  // Every element of a splat is the same value.
  // CHECK-LABEL: gpu.func @splat(
  // CHECK-SAME: %[[X:.*]]: f32
  gpu.func @splat(%x: f32, %b: memref<1xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: memref.store %[[X]]
    %v = vector.broadcast %x {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[64, 8]>]} : f32 to vector<64x8xf32>
    %s = vector.extract_strided_slice %v {offsets = [0, 0], sizes = [64, 4], strides = [1, 1]} : vector<64x8xf32> to vector<64x4xf32>
    %e = vector.extract %s[3, 2] : f32 from vector<64x4xf32>
    %c0 = arith.constant 0 : index
    memref.store %e, %b[%c0] : memref<1xf32>
    gpu.return
  }
}
