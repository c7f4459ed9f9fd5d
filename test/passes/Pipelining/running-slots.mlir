// Slots that rotate over all runs of a loop: the iteration's number and a number from outside, modulo the depth. The
// slot of the first iteration does not matter if the sum does not overflow: where an overflow could change the
// distances, a guard checks it.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

#shared = #gpu.address_space<workgroup>
!rows = memref<64x256xf32>
!slot = memref<256xf32, strided<[1], offset: ?>, #shared>
!three = memref<3x256xf32, #shared>
!four = memref<4x256xf32, #shared>

// The sum may be anything.
// REMARK: Function=counted | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 3072 B; 1 barrier per iteration; run-time guard on the trip count; run-time guard on overflow of the slot counter"
// CHECK-LABEL: func.func @counted(
// CHECK:         %[[SMALL:.*]] = arith.cmpi ult, %[[BASE:.*]], %c4611686018427387904
// CHECK-NEXT:    %[[BOTH:.*]] = arith.andi %{{.*}}, %[[SMALL]]
// CHECK-NEXT:    scf.if %[[BOTH]]
func.func @counted(%a: !rows, %thread: index, %init: f32, %n: index, %base: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %shared = memref.alloc() : !three
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> f32 {
    %row = arith.addi %i, %c1 : index
    %number = arith.addi %base, %i : index
    %slot = arith.remui %number, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : !three to !slot
    %copy = nvgpu.device_async_copy %a[%row, %thread], %view[%thread], 1 : !rows to !slot
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %x = memref.load %view[%c1] : !slot
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// The sum is an affine.apply, of a base that an affine map outside of the loop could not take: its first value is computed
// by arith ops.
// REMARK: Function=affine | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 3072 B; 1 barrier per iteration; run-time guard on the trip count; run-time guard on overflow of the slot counter"
// CHECK-LABEL: func.func @affine(
// CHECK:         scf.while
// CHECK:         %[[FIRST:.*]] = arith.addi %{{.*}}, %c7
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %[[FIRST]], %{{.*}}
// CHECK:         %[[SMALL:.*]] = arith.cmpi ult, %[[SUM]], %c4611686018427387904
// CHECK-NEXT:    %[[BOTH:.*]] = arith.andi %{{.*}}, %[[SMALL]]
// CHECK-NEXT:    scf.if %[[BOTH]]
func.func @affine(%a: !rows, %thread: index, %init: f32, %n: index, %first: index, %shared: !three) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.while (%base = %first, %sum = %init) : (index, f32) -> (index, f32) {
    %more = arith.cmpi ult, %base, %n : index
    scf.condition(%more) %base, %sum : index, f32
  } do {
  ^bb0(%base: index, %old: f32):
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %old) -> f32 {
      %row = arith.addi %i, %c1 : index
      %number = affine.apply affine_map<(d0) -> (d0 + 7)>(%i)
      %other = arith.addi %number, %base : index
      %slot = arith.remui %other, %c3 : index
      %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : !three to !slot
      %copy = nvgpu.device_async_copy %a[%row, %thread], %view[%thread], 1 : !rows to !slot
      %group = nvgpu.device_async_create_group %copy
      nvgpu.device_async_wait %group {numGroups = 0 : i32}
      gpu.barrier
      %x = memref.load %view[%c1] : !slot
      %next = arith.addf %acc, %x : f32
      gpu.barrier
      scf.yield %next : f32
    }
    %after = arith.addi %base, %n : index
    scf.yield %after, %sum : index, f32
  }
  return %r#1 : f32
}

// The number of iterations needs no guard.
// REMARK: Function=constant_trips | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 3072 B; 1 barrier per iteration; trip count 16; run-time guard on overflow of the slot counter"
// CHECK-LABEL: func.func @constant_trips(
// CHECK:         %[[SMALL:.*]] = arith.cmpi ult, %[[BASE:.*]], %c4611686018427387904
// CHECK-NEXT:    scf.if %[[SMALL]]
func.func @constant_trips(%a: !rows, %thread: index, %init: f32, %base: index) -> f32 {
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
    %x = memref.load %view[%c1] : !slot
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// Constants are small.
// REMARK: Function=offset | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 3072 B; 1 barrier per iteration; trip count 16"
// CHECK-LABEL: func.func @offset(
// CHECK-NOT:     scf.if
func.func @offset(%a: !rows, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c17 = arith.constant 17 : index
  %shared = memref.alloc() : !three
  %sum = scf.for %i = %c1 to %c17 step %c1 iter_args(%acc = %init) -> f32 {
    %row = arith.addi %i, %c1 : index
    %number = arith.addi %i, %c3 : index
    %slot = arith.remsi %number, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : !three to !slot
    %copy = nvgpu.device_async_copy %a[%row, %thread], %view[%thread], 1 : !rows to !slot
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %x = memref.load %view[%c1] : !slot
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// Sums with two forms. Wrapping does not change a remainder by a power of two.
// REMARK: Function=masked | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 4096 B; 1 barrier per iteration; trip count 16"
// CHECK-LABEL: func.func @masked(
// CHECK-NOT:     scf.if
func.func @masked(%a: !rows, %thread: index, %init: f32, %base: index, %width: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %before = arith.muli %base, %width : index
  %mask = arith.constant 3 : index
  %shared = memref.alloc() : !four
  %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init) -> f32 {
    %row = arith.addi %i, %c1 : index
    %again = arith.muli %base, %width : index
    %part = arith.subi %i, %c1 : index
    %number = arith.addi %part, %before : index
    %slot = arith.andi %number, %mask : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : !four to !slot
    %copy = nvgpu.device_async_copy %a[%row, %thread], %view[%thread], 1 : !rows to !slot
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %whole = arith.addi %i, %again : index
    %less = arith.subi %whole, %c1 : index
    %same = arith.andi %less, %mask : index
    %other = memref.subview %shared[%same, 0] [1, 256] [1, 1] : !four to !slot
    %x = memref.load %other[%c1] : !slot
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// As JAX writes it.
// REMARK: Function=signed | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 4096 B; 1 barrier per iteration; run-time guard on the trip count"
// CHECK-LABEL: func.func @signed(
// CHECK:         %[[LONG:.*]] = arith.andi
// CHECK-NEXT:    scf.if %[[LONG]]
func.func @signed(%a: !rows, %thread: index, %init: f32, %n: i32, %base: i32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %shared = memref.alloc() : !four
  %sum = scf.for %i = %z to %n step %one iter_args(%acc = %init) -> (f32) : i32 {
    %row = arith.index_cast %i : i32 to index
    %number = arith.addi %base, %i : i32
    %rest = arith.remsi %number, %four : i32
    %slot = arith.index_cast %rest : i32 to index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : !four to !slot
    %copy = nvgpu.device_async_copy %a[%row, %thread], %view[%thread], 1 : !rows to !slot
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %x = memref.load %view[%c1] : !slot
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// Of few bits, iterations may use up the range.
// REMARK: Function=narrow | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 3072 B; 1 barrier per iteration; run-time guard on the trip count; run-time guard on overflow of the slot counter"
// CHECK-LABEL: func.func @narrow(
// CHECK-DAG:     %[[BASE_IS_SMALL:.*]] = arith.cmpi ult, %[[BASE:arg[0-9]+]], %c1073741824_i32
// CHECK:         %[[LAST_IS_SMALL:.*]] = arith.cmpi ult, %{{.*}}, %c1073741824_i32
// CHECK-NEXT:    %[[SMALL:.*]] = arith.andi %{{.*}}, %[[LAST_IS_SMALL]]
// CHECK-NEXT:    %[[ALL:.*]] = arith.andi %{{.*}}, %[[SMALL]]
// CHECK-NEXT:    scf.if %[[ALL]]
func.func @narrow(%a: !rows, %thread: index, %init: f32, %n: i32, %base: i32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %shared = memref.alloc() : !three
  %sum = scf.for %i = %z to %n step %one iter_args(%acc = %init) -> (f32) : i32 {
    %row = arith.index_cast %i : i32 to index
    %number = arith.addi %base, %i : i32
    %rest = arith.remsi %number, %three : i32
    %slot = arith.index_cast %rest : i32 to index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : !three to !slot
    %copy = nvgpu.device_async_copy %a[%row, %thread], %view[%thread], 1 : !rows to !slot
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %x = memref.load %view[%c1] : !slot
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// A number that goes from iteration to iteration.
// REMARK: Function=carried | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 3072 B; 1 barrier per iteration; trip count 16; run-time guard on overflow of the slot counter"
// CHECK-LABEL: func.func @carried(
// CHECK:         %[[SMALL:.*]] = arith.cmpi ult, %[[BASE:.*]], %c4611686018427387904
// CHECK-NEXT:    scf.if %[[SMALL]]
func.func @carried(%a: !rows, %thread: index, %init: f32, %base: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %shared = memref.alloc() : !three
  %sum:2 = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init, %number = %base) -> (f32, index) {
    %row = arith.addi %i, %c1 : index
    %slot = arith.remui %number, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : !three to !slot
    %copy = nvgpu.device_async_copy %a[%row, %thread], %view[%thread], 1 : !rows to !slot
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %x = memref.load %view[%c1] : !slot
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    %later = arith.addi %number, %c1 : index
    scf.yield %next, %later : f32, index
  }
  return %sum#0 : f32
}

// A slot that goes from iteration to iteration, and begins again.
// REMARK: Function=set_back | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 3072 B; 1 barrier per iteration; trip count 16"
// CHECK-LABEL: func.func @set_back(
// CHECK-NOT:     scf.if
func.func @set_back(%a: !rows, %thread: index, %init: f32, %base: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %shared = memref.alloc() : !three
  %sum:2 = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init, %slot = %base) -> (f32, index) {
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

// REMARK: Function=set_back_below | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 3072 B; 1 barrier per iteration; trip count 16"
// CHECK-LABEL: func.func @set_back_below(
// CHECK-NOT:     scf.if
func.func @set_back_below(%a: !rows, %thread: index, %init: f32, %base: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c2 = arith.constant 2 : index
  %shared = memref.alloc() : !three
  %sum:2 = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init, %slot = %base) -> (f32, index) {
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
    %goes_on = arith.cmpi ult, %slot, %c2 : index
    %set_back = arith.select %goes_on, %later, %c0 : index
    scf.yield %next, %set_back : f32, index
  }
  return %sum#0 : f32
}
