// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=3},smalti-pipeline-loops{stages=3},canonicalize,cse))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// Two iterations of copies are in flight. The wait leaves the younger one; the barrier after it also orders the reads
// before the next copy into that slot.
// REMARK: Function=block_copies | Remark="loop pipelined: 3 stages, async mode, 2 copies prefetched; 2 shared buffers, 24576 B; 1 barrier per iteration; trip count 10"
// CHECK-LABEL: func.func @block_copies(
// CHECK-COUNT-2: mosaic_gpu.async_copy
// CHECK-NEXT:    mosaic_gpu.async_commit_group
// CHECK-COUNT-2: mosaic_gpu.async_copy
// CHECK-NEXT:    mosaic_gpu.async_commit_group
// CHECK:         scf.for
// CHECK-NEXT:      mosaic_gpu.async_wait_group 1
// CHECK-NOT:       async_copy
// CHECK:           gpu.barrier
// CHECK-COUNT-2:   mosaic_gpu.async_copy
// CHECK-NEXT:      mosaic_gpu.async_commit_group
// CHECK-COUNT-2:   mosaic_gpu.vector_load
// CHECK-NOT:       gpu.barrier
// CHECK:         }
// CHECK-NEXT:    mosaic_gpu.async_wait_group 1
// CHECK:         gpu.barrier
// CHECK-COUNT-2: mosaic_gpu.vector_load
// CHECK:         mosaic_gpu.async_wait_group 0
// CHECK:         gpu.barrier
// CHECK-COUNT-2: mosaic_gpu.vector_load
// CHECK:         return
#shared = #gpu.address_space<workgroup>
func.func @block_copies(%a: memref<500x300xf16>, %b: memref<500x300xf16>, %row: index) -> vector<64x32xf16> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c300 = arith.constant 300 : index
  %init = arith.constant dense<0.0> : vector<64x32xf16>
  %a_shared = memref.alloc() : memref<64x32xf16, #shared>
  %b_shared = memref.alloc() : memref<64x32xf16, #shared>
  %sum = scf.for %k = %c0 to %c300 step %c32 iter_args(%acc = %init) -> vector<64x32xf16> {
    mosaic_gpu.async_copy %a[%row, %k] to %a_shared : memref<500x300xf16> to memref<64x32xf16, #shared>
    mosaic_gpu.async_copy %b[%row, %k] to %b_shared : memref<500x300xf16> to memref<64x32xf16, #shared>
    mosaic_gpu.async_commit_group
    mosaic_gpu.async_wait_group 0
    gpu.barrier
    %a_back = mosaic_gpu.vector_load %a_shared : memref<64x32xf16, #shared> -> vector<64x32xf16>
    %b_back = mosaic_gpu.vector_load %b_shared : memref<64x32xf16, #shared> -> vector<64x32xf16>
    %product = arith.mulf %a_back, %b_back : vector<64x32xf16>
    %next = arith.addf %acc, %product : vector<64x32xf16>
    gpu.barrier
    scf.yield %next : vector<64x32xf16>
  }
  return %sum : vector<64x32xf16>
}

// The same by single threads: a token goes from the group to its wait.
// REMARK: Function=thread_copies | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 12288 B; 1 barrier per iteration; run-time guard on the trip count"
// CHECK-LABEL: func.func @thread_copies(
// CHECK:         scf.if
// CHECK:           nvgpu.device_async_copy
// CHECK:           %[[FIRST:.*]] = nvgpu.device_async_create_group
// CHECK:           nvgpu.device_async_copy
// CHECK:           %[[SECOND:.*]] = nvgpu.device_async_create_group
// CHECK:           %[[KERNEL:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}}, %[[T0:.*]] = %[[FIRST]], %[[T1:.*]] = %[[SECOND]])
// CHECK:             nvgpu.device_async_wait %[[T0]] {numGroups = 1 : i32}
// CHECK:             gpu.barrier
// CHECK:             nvgpu.device_async_copy
// CHECK:             %[[NEXT:.*]] = nvgpu.device_async_create_group
// CHECK:             memref.load
// CHECK:             scf.yield %{{.*}}, %[[T1]], %[[NEXT]]
// CHECK:           nvgpu.device_async_wait %[[KERNEL]]#1 {numGroups = 1 : i32}
// CHECK:           nvgpu.device_async_wait %[[KERNEL]]#2 {numGroups = 0 : i32}
// CHECK-NOT:       arith.select
// CHECK:         } else {
// CHECK:           scf.for
// CHECK:             nvgpu.device_async_wait %{{.*}} {numGroups = 0 : i32}
func.func @thread_copies(%a: memref<?x1024xf32>, %n: index, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %shared = memref.alloc() : memref<3x1024xf32, #shared>
  %column = arith.muli %thread, %c4 : index
  %c3 = arith.constant 3 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 1024] [1, 1]
      : memref<3x1024xf32, #shared> to memref<1024xf32, strided<[1], offset: ?>, #shared>
    %copy = nvgpu.device_async_copy %a[%i, %column], %view[%column], 4
      : memref<?x1024xf32> to memref<1024xf32, strided<[1], offset: ?>, #shared>
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %value = memref.load %view[%thread] : memref<1024xf32, strided<[1], offset: ?>, #shared>
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}
