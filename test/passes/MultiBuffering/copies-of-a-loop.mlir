// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(smalti-multi-buffer))' \
// RUN:   --remarks-filter=smalti-multi-buffer -o %t.after 2>%t.remarks
// RUN: FileCheck %s < %t.after
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: smalti-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(func.func(smalti-multi-buffer,smalti-pipeline-loops{stages=2}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOOP

// The asynchronous copies of a loop all get slots, or none.

// REMARK: Function=both | Remark="buffer multi-buffered: 2 slots
// REMARK: Function=both | Remark="buffer multi-buffered: 2 slots
// LOOP: Function=both | Remark="loop pipelined: 2 stages, async mode
// CHECK-LABEL: @both
// CHECK-COUNT-2: memref.alloc() : memref<2x256xf32
func.func @both(%a: memref<64x256xf32> {llvm.noalias}, %b: memref<64x256xf32> {llvm.noalias}, %n: index, %zero: f32) -> f32
    attributes {gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = gpu.thread_id x
  %s0 = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
  %s1 = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %c = nvgpu.device_async_copy %a[%i, %t], %s0[%t], 1 : memref<64x256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
    %d = nvgpu.device_async_copy %b[%i, %t], %s1[%t], 1 : memref<64x256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
    %g = nvgpu.device_async_create_group %c, %d
    nvgpu.device_async_wait %g
    gpu.barrier
    %u = memref.load %s0[%i] : memref<256xf32, #gpu.address_space<workgroup>>
    %v = memref.load %s1[%i] : memref<256xf32, #gpu.address_space<workgroup>>
    %m = arith.mulf %u, %v : f32
    %new = arith.addf %acc, %m : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}

// -----

// Half of %s1 is read and never written.
// REMARK: Function=other_without | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten
// REMARK: Function=other_without | Remark="buffer not multi-buffered: the loop also copies to %alloc_0, which has one slot; smalti-pipeline-loops prefetches the copies of a loop only if all of them have slots"
// LOOP: Function=other_without | Remark="loop not pipelined: the schedule needs 2 slots
// CHECK-LABEL: @other_without
// CHECK: memref.alloc() : memref<256xf32
// CHECK: memref.alloc() : memref<512xf32
// CHECK: scf.for
// CHECK-NOT: memref.subview
func.func @other_without(%a: memref<64x256xf32> {llvm.noalias}, %b: memref<64x256xf32> {llvm.noalias}, %n: index, %zero: f32) -> f32
    attributes {gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = gpu.thread_id x
  %s0 = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
  %s1 = memref.alloc() : memref<512xf32, #gpu.address_space<workgroup>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %c = nvgpu.device_async_copy %a[%i, %t], %s0[%t], 1 : memref<64x256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
    %d = nvgpu.device_async_copy %b[%i, %t], %s1[%t], 1 : memref<64x256xf32> to memref<512xf32, #gpu.address_space<workgroup>>
    %g = nvgpu.device_async_create_group %c, %d
    nvgpu.device_async_wait %g
    gpu.barrier
    %u = memref.load %s0[%i] : memref<256xf32, #gpu.address_space<workgroup>>
    %v = memref.load %s1[%i] : memref<512xf32, #gpu.address_space<workgroup>>
    %m = arith.mulf %u, %v : f32
    %new = arith.addf %acc, %m : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}

// -----

// Threads store to %s1 after the reads of an iteration: it needs no slots, and does not keep %s0 from them.
// REMARK: Function=other_stored | Remark="buffer multi-buffered: 2 slots
// CHECK-LABEL: @other_stored
// CHECK: memref.alloc() : memref<2x256xf32
// CHECK: memref.alloc() : memref<512xf32
func.func @other_stored(%a: memref<64x256xf32> {llvm.noalias}, %b: memref<64x256xf32> {llvm.noalias}, %n: index, %zero: f32) -> f32
    attributes {gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = gpu.thread_id x
  %s0 = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
  %s1 = memref.alloc() : memref<512xf32, #gpu.address_space<workgroup>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %c = nvgpu.device_async_copy %a[%i, %t], %s0[%t], 1 : memref<64x256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
    memref.store %zero, %s1[%t] : memref<512xf32, #gpu.address_space<workgroup>>
    %g = nvgpu.device_async_create_group %c
    nvgpu.device_async_wait %g
    gpu.barrier
    %u = memref.load %s0[%i] : memref<256xf32, #gpu.address_space<workgroup>>
    %v = memref.load %s1[%i] : memref<512xf32, #gpu.address_space<workgroup>>
    %m = arith.mulf %u, %v : f32
    %new = arith.addf %acc, %m : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}

// -----

// %s1 has its slots already.
// REMARK: Function=other_by_hand | Remark="buffer multi-buffered: 2 slots
// CHECK-LABEL: @other_by_hand
// CHECK-COUNT-2: memref.alloc() : memref<2x256xf32
func.func @other_by_hand(%a: memref<64x256xf32> {llvm.noalias}, %b: memref<64x256xf32> {llvm.noalias}, %n: index, %zero: f32) -> f32
    attributes {gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = gpu.thread_id x
  %s0 = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
  %s1 = memref.alloc() : memref<2x256xf32, #gpu.address_space<workgroup>>
  %c2 = arith.constant 2 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %slot = arith.remui %i, %c2 : index
    %c = nvgpu.device_async_copy %a[%i, %t], %s0[%t], 1 : memref<64x256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
    %d = nvgpu.device_async_copy %b[%i, %t], %s1[%slot, %t], 1 : memref<64x256xf32> to memref<2x256xf32, #gpu.address_space<workgroup>>
    %g = nvgpu.device_async_create_group %c, %d
    nvgpu.device_async_wait %g
    gpu.barrier
    %u = memref.load %s0[%i] : memref<256xf32, #gpu.address_space<workgroup>>
    %v = memref.load %s1[%slot, %t] : memref<2x256xf32, #gpu.address_space<workgroup>>
    %m = arith.mulf %u, %v : f32
    %new = arith.addf %acc, %m : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}
