// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o %t.after 2>%t.remarks
// RUN: FileCheck %s < %t.after
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

#shared = #gpu.address_space<workgroup>

// A slot may be chosen by the first index of an access as well as by a subview.

// REMARK: Function=idx | Remark="loop pipelined: 3 stages, stream mode, 1 read prefetched; 1 shared buffer, 3072 B; 1 barrier per iteration
// CHECK-LABEL: @idx
func.func @idx(%a: memref<64x256xf32> {llvm.noalias}, %n: index, %zero: f32) -> f32 attributes {gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %t = gpu.thread_id x
  %s0 = memref.alloc() : memref<3x256xf32, #gpu.address_space<workgroup>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %slot = arith.remui %i, %c3 : index
    %x = memref.load %a[%i, %t] : memref<64x256xf32>
    memref.store %x, %s0[%slot, %t] : memref<3x256xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %u = memref.load %s0[%slot, %c0] : memref<3x256xf32, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %u : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}

// REMARK: Function=idx_async | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 3072 B; 1 barrier per iteration
// CHECK-LABEL: @idx_async
// CHECK: nvgpu.device_async_wait %{{.*}} {numGroups = 1 : i32}
func.func @idx_async(%a: memref<64x256xf32> {llvm.noalias}, %n: index, %zero: f32) -> f32 attributes {gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %t = gpu.thread_id x
  %s0 = memref.alloc() : memref<3x256xf32, #gpu.address_space<workgroup>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %slot = arith.remui %i, %c3 : index
    %c = nvgpu.device_async_copy %a[%i, %t], %s0[%slot, %t], 1 : memref<64x256xf32> to memref<3x256xf32, #gpu.address_space<workgroup>>
    %g = nvgpu.device_async_create_group %c
    nvgpu.device_async_wait %g
    gpu.barrier
    %u = memref.load %s0[%slot, %c0] : memref<3x256xf32, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %u : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}

// Aligned runs of 4 elements do not cross rows of 256.
// REMARK: Function=runs | Remark="loop pipelined: 3 stages, async mode
// CHECK-LABEL: @runs
func.func @runs(%a: memref<64x256xf32> {llvm.noalias}, %n: index, %zero: f32) -> f32 attributes {gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %t = gpu.thread_id x
  %s0 = memref.alloc() : memref<3x256xf32, #gpu.address_space<workgroup>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %slot = arith.remui %i, %c3 : index
    %c = nvgpu.device_async_copy %a[%i, %t], %s0[%slot, %t], 4 : memref<64x256xf32> to memref<3x256xf32, #gpu.address_space<workgroup>>
    %g = nvgpu.device_async_create_group %c
    nvgpu.device_async_wait %g
    gpu.barrier
    %u = memref.load %s0[%slot, %c0] : memref<3x256xf32, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %u : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}

// They may cross rows of 250.
// REMARK: Function=crossing | Remark="loop not pipelined: the schedule needs 3 slots of %alloc, but the accesses of an iteration are not proven to use the same slot; use one slot per iteration"
// CHECK-LABEL: @crossing
// CHECK-NOT: scf.if
func.func @crossing(%a: memref<64x256xf32> {llvm.noalias}, %n: index, %zero: f32) -> f32 attributes {gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %t = gpu.thread_id x
  %s0 = memref.alloc() : memref<3x250xf32, #gpu.address_space<workgroup>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %slot = arith.remui %i, %c3 : index
    %c = nvgpu.device_async_copy %a[%i, %t], %s0[%slot, %t], 4 : memref<64x256xf32> to memref<3x250xf32, #gpu.address_space<workgroup>>
    %g = nvgpu.device_async_create_group %c
    nvgpu.device_async_wait %g
    gpu.barrier
    %u = memref.load %s0[%slot, %c0] : memref<3x250xf32, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %u : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}

// The slot of the previous iteration is also read.
// REMARK: Function=previous | Remark="loop not pipelined: the schedule needs 3 slots of %alloc, but the accesses of an iteration are not proven to use the same slot; use one slot per iteration"
// CHECK-LABEL: @previous
// CHECK-NOT: scf.if
func.func @previous(%a: memref<64x256xf32> {llvm.noalias}, %n: index, %zero: f32) -> f32 attributes {gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %t = gpu.thread_id x
  %s0 = memref.alloc() : memref<4x256xf32, #gpu.address_space<workgroup>>
  %sum = scf.for %i = %c1 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %p = arith.subi %i, %c1 : index
    %prev = arith.remui %p, %c4 : index
    %c = nvgpu.device_async_copy %a[%i, %t], %s0[%slot, %t], 1 : memref<64x256xf32> to memref<4x256xf32, #gpu.address_space<workgroup>>
    %g = nvgpu.device_async_create_group %c
    nvgpu.device_async_wait %g
    gpu.barrier
    %u = memref.load %s0[%slot, %c0] : memref<4x256xf32, #gpu.address_space<workgroup>>
    %v = memref.load %s0[%prev, %c0] : memref<4x256xf32, #gpu.address_space<workgroup>>
    %m = arith.addf %u, %v : f32
    %new = arith.addf %acc, %m : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}

// A copy writes the slot through a pointer, and a read chooses it by an index.
// REMARK: Function=pointers | Remark="loop pipelined: 3 stages, async mode
// CHECK-LABEL: @pointers
func.func @pointers(%a: !llvm.ptr<1>, %shared: memref<3x64xf32, #shared>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %base = memref.extract_aligned_pointer_as_index %shared : memref<3x64xf32, #shared> -> index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c3 : index
    %offset = arith.muli %slot, %c256 : index
    %address = arith.addi %offset, %base : index
    %number = arith.index_cast %address : index to i32
    %pointer = llvm.inttoptr %number : i32 to !llvm.ptr<3>
    rocdl.global.load.async.to.lds.b32 %a, %pointer, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>
    rocdl.s.wait.asynccnt 0
    gpu.barrier
    %value = memref.load %shared[%slot, %c1] : memref<3x64xf32, #shared>
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}
