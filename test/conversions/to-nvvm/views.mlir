// Views of shared memory: the layout is known while planning, the offset is an i32 at run time.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a},canonicalize,cse))' | FileCheck %s

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]
#turned = [#mosaic_gpu.tile<[64, 8]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  // A swizzle requires memory that starts at a multiple of its period.
  // CHECK-LABEL: gpu.func @stored(
  // CHECK-SAME: smalti.shared_memory_alignment = 1024 : i64, smalti.shared_memory_bytes = 65536 : i64
  gpu.func @stored(%i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<4x128x64xf16, #smem>
    %w = mosaic_gpu.with_transforms %s [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] {in_transforms = [#tiled], out_transforms = [#tiled]} : memref<4x128x64xf16, #smem>
    %v = memref.subview %w[%i, 64, 0] [1, 64, 64] [1, 1, 1] {in_transforms = [#tiled], out_transforms = [#tiled]} : memref<4x128x64xf16, #smem> to memref<64x64xf16, strided<[64, 1], offset: ?>, #smem>
    %t = memref.transpose %v (d0, d1) -> (d1, d0) {in_transforms = [#tiled], out_transforms = [#turned]} : memref<64x64xf16, strided<[64, 1], offset: ?>, #smem> to memref<64x64xf16, strided<[1, 64], offset: ?>, #smem>
    %e = memref.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 2, 128, 64] {in_transforms = [#tiled], out_transforms = [#tiled]} : memref<4x128x64xf16, #smem> into memref<2x2x128x64xf16, #smem>
    %c = memref.collapse_shape %s [[0, 1], [2]] {in_transforms = [#tiled], out_transforms = [#tiled]} : memref<4x128x64xf16, #smem> into memref<512x64xf16, #smem>
    gpu.return
  }

  // Mbarriers are addressed by pointers.
  // CHECK-LABEL: gpu.func @barriers(
  // CHECK-SAME: %[[I:.*]]: i32
  gpu.func @barriers(%i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    // CHECK: llvm.getelementptr %[[BASE:.*]][%[[I]]]
    // CHECK: nvvm.mbarrier.arrive
    %eight = llvm.mlir.constant(8 : i64) : i64
    %b = mosaic_gpu.slice_smem 1024 : memref<4x!mosaic_gpu.barrier, #smem>
    %d = builtin.unrealized_conversion_cast %b : memref<4x!mosaic_gpu.barrier, #smem> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.extractvalue %d[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
    %q = llvm.getelementptr %p[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %m = builtin.unrealized_conversion_cast %q : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #smem>
    mosaic_gpu.arrive %m : memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }

  // A loop carries the offset instead of a memref.
  // CHECK-LABEL: gpu.func @carried(
  gpu.func @carried(%out: memref<16xf32>, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    // CHECK-DAG: %[[FIRST:.*]] = arith.constant 2048 : i32
    // CHECK-DAG: %[[BYTES:.*]] = arith.constant 64 : i32
    // CHECK-DAG: %[[MEMORY:.*]] = gpu.dynamic_shared_memory
    // CHECK: scf.for %[[J:.*]] = %{{.*}} iter_args(%[[AT:.*]] = %[[FIRST]]) -> (i32)
    // CHECK: %[[INDEX:.*]] = arith.index_cast %[[AT]] : i32 to index
    // CHECK: %[[VIEW:.*]] = memref.view %[[MEMORY]][%[[INDEX]]][] {{.*}} to memref<16xf32
    // CHECK: memref.load
    // CHECK: %[[ROW:.*]] = arith.index_cast %[[J]] : index to i32
    // CHECK: %[[STEP:.*]] = arith.muli %[[ROW]], %[[BYTES]]
    // CHECK: %[[NEXT:.*]] = arith.addi %[[STEP]], %[[FIRST]]
    // CHECK: scf.yield %[[NEXT]] : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = mosaic_gpu.slice_smem 2048 : memref<4x16xf32, #smem>
    %a = memref.subview %s[0, 0] [1, 16] [1, 1] : memref<4x16xf32, #smem> to memref<16xf32, strided<[1]>, #smem>
    %r = memref.cast %a : memref<16xf32, strided<[1]>, #smem> to memref<16xf32, strided<[1], offset: ?>, #smem>
    %last = scf.for %j = %c0 to %n step %c1 iter_args(%now = %r) -> (memref<16xf32, strided<[1], offset: ?>, #smem>) {
      %x = memref.load %now[%c1] : memref<16xf32, strided<[1], offset: ?>, #smem>
      memref.store %x, %out[%c0] : memref<16xf32>
      %next = memref.subview %s[%j, 0] [1, 16] [1, 1] : memref<4x16xf32, #smem> to memref<16xf32, strided<[1], offset: ?>, #smem>
      scf.yield %next : memref<16xf32, strided<[1], offset: ?>, #smem>
    }
    gpu.return
  }
}
