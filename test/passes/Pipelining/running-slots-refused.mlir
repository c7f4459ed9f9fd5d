// Slot numbers that are not proven to rotate over all runs of a loop.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks

#shared = #gpu.address_space<workgroup>
!rows = memref<64x256xf32>
!slot = memref<256xf32, strided<[1], offset: ?>, #shared>
!three = memref<3x256xf32, #shared>

// Two numbers from outside.
// CHECK: Function=different | Remark="loop not pipelined: the schedule needs 3 slots of %alloc, but the accesses of an iteration are not proven to use the same slot; use one slot per iteration"
func.func @different(%a: !rows, %thread: index, %init: f32, %base: index, %other_base: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %shared = memref.alloc() : !three
  %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init) -> f32 {
    %row = arith.addi %i, %c1 : index
    %number = arith.addi %base, %i : index
    %slot = arith.remui %number, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : !three to !slot
    %copy = nvgpu.device_async_copy %a[%row, %thread], %view[%thread], 1 : !rows to !slot
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %other_number = arith.addi %other_base, %i : index
    %other_slot = arith.remui %other_number, %c3 : index
    %other = memref.subview %shared[%other_slot, 0] [1, 256] [1, 1] : !three to !slot
    %x = memref.load %other[%c1] : !slot
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// The slot of the next iteration.
// CHECK: Function=next_slot | Remark="loop not pipelined: the schedule needs 3 slots of %alloc, but the accesses of an iteration are not proven to use the same slot; use one slot per iteration"
func.func @next_slot(%a: !rows, %thread: index, %init: f32, %base: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %shared = memref.alloc() : !three
  %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init) -> f32 {
    %row = arith.addi %i, %c1 : index
    %number = arith.addi %base, %i : index
    %slot = arith.remui %number, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : !three to !slot
    %copy = nvgpu.device_async_copy %a[%row, %thread], %view[%thread], 1 : !rows to !slot
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %other_number = arith.addi %number, %c1 : index
    %other_slot = arith.remui %other_number, %c3 : index
    %other = memref.subview %shared[%other_slot, 0] [1, 256] [1, 1] : !three to !slot
    %x = memref.load %other[%c1] : !slot
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// The added number differs in each iteration.
// CHECK: Function=changes | Remark="loop not pipelined: the schedule needs 3 slots of %alloc; accesses are proven to rotate over 1, so add slots with smalti-multi-buffer or use fewer stages"
func.func @changes(%a: !rows, %thread: index, %init: f32, %base: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %shared = memref.alloc() : !three
  %sum:2 = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init, %before = %base) -> (f32, index) {
    %row = arith.addi %i, %c1 : index
    %number = arith.addi %before, %i : index
    %slot = arith.remui %number, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : !three to !slot
    %copy = nvgpu.device_async_copy %a[%row, %thread], %view[%thread], 1 : !rows to !slot
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %x = memref.load %view[%c1] : !slot
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    %later = arith.addi %before, %i : index
    scf.yield %next, %later : f32, index
  }
  return %sum#0 : f32
}

// It begins after the last slot, and is never reset.
// CHECK: Function=begins_outside | Remark="loop not pipelined: the schedule needs 3 slots of %alloc; accesses are proven to rotate over 1, so add slots with smalti-multi-buffer or use fewer stages"
func.func @begins_outside(%a: !rows, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c5 = arith.constant 5 : index
  %shared = memref.alloc() : !three
  %sum:2 = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init, %slot = %c5) -> (f32, index) {
    %row = arith.addi %i, %c1 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : !three to !slot
    %copy = nvgpu.device_async_copy %a[%row, %thread], %view[%thread], 1 : !rows to !slot
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %x = memref.load %view[%c1] : !slot
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    %later = arith.addi %slot, %c1 : index
    %is_over = arith.cmpi eq, %later, %c3 : index
    %set_back = arith.select %is_over, %c0, %later : index
    scf.yield %next, %set_back : f32, index
  }
  return %sum#0 : f32
}
