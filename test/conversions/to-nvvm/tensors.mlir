// TMA copies of tensor slices: the tensor maps, and the boxes that are copied.
// RUN: smalti-opt %s --split-input-file --convert-mosaic-gpu-to-nvvm=target=sm_90a --canonicalize --cse | FileCheck %s

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

// Rows of one panel are contiguous, so tiles of 8 rows do not need a dimension. With several panels they do.
gpu.module @load_module {
  // CHECK-LABEL: gpu.func @load
  // CHECK-SAME: %[[MAP_A:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>}, %[[MAP_B:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>})
  // CHECK-SAME: mosaic_gpu.tensor_maps = [
  // CHECK-SAME: {argument = 0 : i64, box = array<i64: 128, 64>, element = f16, element_strides = array<i64: 1, 1>, extents = array<i64: 1024, 2048>, fill = "zeros", offset = 0 : i64, strides = array<i64: 4096, 2>, swizzle = 128 : i64},
  // CHECK-SAME: {argument = 1 : i64, box = array<i64: 8, 4, 8, 64>, element = f16, element_strides = array<i64: 1, 1, 1, 1>, extents = array<i64: 256, 16, 8, 64>, fill = "zeros", offset = 0 : i64, strides = array<i64: 16384, 128, 2048, 2>, swizzle = 128 : i64}]
  // CHECK-SAME: smalti.shared_memory_alignment = 1024
  gpu.func @load(%a: memref<1024x2048xf16>, %b: memref<2048x1024xf16>, %i: i32, %j: i32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %c64 = arith.constant 64 : i32
    // CHECK-DAG: %[[ROW:.*]] = arith.muli %{{.*}}, %c64_i32
    // CHECK-DAG: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c64_i32
    %row = arith.muli %i, %c64 : i32
    %column = arith.muli %j, %c64 : i32
    %bar = mosaic_gpu.slice_smem 65536 : memref<!mosaic_gpu.barrier, #smem>
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<128x64xf16, #smem>
    %t = mosaic_gpu.slice_smem 16384 {out_transforms = [#tiled]} : memref<64x256xf16, #smem>
    // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c384_i32
    mosaic_gpu.arrive_expect_tx barrier(%bar : memref<!mosaic_gpu.barrier, #smem>) 49152
    // CHECK: scf.if
    // CHECK-NEXT: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP_A]], %[[BAR:.*]], box[%[[COLUMN]], %[[ROW]]]
    mosaic_gpu.async_load %a[%row, %column] [128, 64] to %s barrier(%bar) {in_transforms = [#tiled]}
        : memref<1024x2048xf16>[i32, i32] to memref<128x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    // CHECK: scf.if
    // CHECK-NEXT: %[[TILE_ROW:.*]] = arith.shrsi %[[ROW]], %c3_i32
    // CHECK-NEXT: %[[PANEL:.*]] = arith.shrsi %[[COLUMN]], %c6_i32
    // CHECK-NEXT: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP_B]], %[[BAR]], box[%c0_i32, %c0_i32, %[[PANEL]], %[[TILE_ROW]]]
    mosaic_gpu.async_load %b[%row, %column] [64, 256] to %t barrier(%bar) {in_transforms = [#tiled]}
        : memref<2048x1024xf16>[i32, i32] to memref<64x256xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

// Panels do not divide 1000 columns: a box of several panels would read the next row out of bounds.
gpu.module @ragged_module {
  // CHECK-LABEL: gpu.func @ragged
  // CHECK-SAME: box = array<i64: 8, 64>
  // CHECK-SAME: extents = array<i64: 2048, 1000>
  gpu.func @ragged(%a: memref<2048x1000xf16>, %j: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %column = arith.muli %j, %c64 : i32
    %bar = mosaic_gpu.slice_smem 65536 : memref<!mosaic_gpu.barrier, #smem>
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<16x128xf16, #smem>
    // CHECK: scf.if
    // CHECK-COUNT-4: nvvm.cp.async.bulk.tensor.shared.cluster.global
    // CHECK-NOT: nvvm.cp.async.bulk.tensor
    mosaic_gpu.async_load %a[%c0, %column] [16, 128] to %s barrier(%bar) {in_transforms = [#tiled]}
        : memref<2048x1000xf16>[i32, i32] to memref<16x128xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>

// Stores, with and without a group and a reduction, and a prefetch. One map for all three.
gpu.module @store_module {
  // CHECK-LABEL: gpu.func @store
  // CHECK-SAME: mosaic_gpu.tensor_maps = [{argument = 0 : i64, box = array<i64: 64, 64>, element = f32,
  // CHECK-SAME: extents = array<i64: 512, 512>, fill = "zeros", offset = 0 : i64, strides = array<i64: 2048, 4>, swizzle = 16 : i64}]
  gpu.func @store(%a: memref<512x512xf32>, %i: i32, %p: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 : memref<64x64xf32, #smem>
    // CHECK: %[[LEADER:.*]] = arith.andi
    // CHECK: %[[BOTH:.*]] = arith.andi %[[LEADER]], %{{.*}} : i1
    // CHECK: scf.if %[[BOTH]] {
    // CHECK-NEXT: nvvm.cp.async.bulk.tensor.global.shared.cta
    // CHECK-NEXT: }
    // CHECK-NEXT: scf.if %[[LEADER]] {
    mosaic_gpu.async_store %s to %a[%i, %i] [64, 64] predicate(%p) {commit_group = false}
        : memref<64x64xf32, #smem> to memref<512x512xf32>[i32, i32]
    // CHECK-NEXT: nvvm.cp.async.bulk.tensor.reduce %{{.*}} {redKind = #nvvm.tma_redux_kind<add>}
    // CHECK-NEXT: }
    // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
    mosaic_gpu.async_store %s to %a[%i, %i] [64, 64] {reduction_op = 0 : i32}
        : memref<64x64xf32, #smem> to memref<512x512xf32>[i32, i32]
    // CHECK: nvvm.cp.async.bulk.tensor.prefetch
    mosaic_gpu.async_prefetch %a[%i, %i] [64, 64] : memref<512x512xf32>[i32, i32]
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

// Two blocks of a cluster of 2 x 2 share the copy: each loads half of the rows and multicasts it to both.
gpu.module @cluster_module {
  // CHECK-LABEL: gpu.func @cluster
  // CHECK-SAME: box = array<i64: 64, 64>
  gpu.func @cluster(%a: memref<1024x2048xf16>, %i: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 2, 1>} {
    %c0 = arith.constant 0 : i32
    %bar = mosaic_gpu.slice_smem 65536 : memref<!mosaic_gpu.barrier, #smem>
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<128x64xf16, #smem>
    // CHECK: scf.if
    // CHECK: %[[X:.*]] = gpu.cluster_block_id x
    // CHECK: %[[PART:.*]] = arith.index_cast %[[X]]
    // CHECK: %[[ROWS:.*]] = arith.muli %[[PART]], %c64_i32
    // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[ROWS]]
    // CHECK: arith.muli %[[PART]], %c8192_i32
    // CHECK: gpu.cluster_block_id y
    // CHECK: %[[BITS:.*]] = arith.shli %c3_i32
    // CHECK: %[[MASK:.*]] = arith.trunci %[[BITS]]
    // CHECK: llvm.addrspacecast
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%c0_i32, %[[ROW]]] multicast_mask = %[[MASK]]
    mosaic_gpu.async_load %a[%i, %c0] [128, 64] to %s barrier(%bar) collective [x] {in_transforms = [#tiled]}
        : memref<1024x2048xf16>[i32, i32] to memref<128x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}
