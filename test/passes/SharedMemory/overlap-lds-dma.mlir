// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(smalti-overlap-lds-dma{target=gfx950}))' \
// RUN:     --remarks-filter=smalti-overlap-lds-dma 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(smalti-overlap-lds-dma{target=gfx1201}))' \
// RUN:     | FileCheck %s --check-prefix=OTHER

// Other chips do not have such loads.
// OTHER-NOT: rocdl.s.barrier
!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// Three slots, one barrier: the load for the iteration after the next is in flight while the slot of this iteration is
// read.
// CHECK-LABEL: @three_slots
// CHECK: scf.for
// CHECK: amdgpu.memory_counter_wait load(1)
// CHECK-NEXT: llvm.inline_asm has_side_effects "", "~{memory}" : () -> ()
// CHECK-NEXT: llvm.inline_asm has_side_effects "", "~{memory}" : () -> ()
// CHECK-NEXT: amdgpu.memory_counter_wait ds(0)
// CHECK-NEXT: rocdl.s.barrier
// CHECK-NEXT: llvm.inline_asm has_side_effects {smalti.lds_ordered} "", "~{memory}" : () -> ()
// CHECK-NEXT: amdgpu.gather_to_lds
// CHECK-NEXT: memref.load
// REMARK: Function=three_slots | Remark="1 of 1 barriers no longer wait for outstanding LDS DMA loads"
func.func @three_slots(%in: !global, %slots: !slots, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  %p1 = memref.subview %slots[%c1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %j = arith.addi %i, %c2 : index
    %next = arith.remui %j, %c3 : index
    %this = arith.remui %i, %c3 : index
    %to = memref.subview %slots[%next, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    %from = memref.subview %slots[%this, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.memory_counter_wait load(1)
    amdgpu.lds_barrier
    amdgpu.gather_to_lds %in[%lane], %to[%c0, %c0] : f32, !global, !slot
    %v = memref.load %from[%c0, %lane] : !slot
    %new = arith.addf %acc, %v : f32
    scf.yield %new : f32
  }
  return %sum : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// The wait leaves the load in flight that fills the slot of this iteration.
// CHECK-LABEL: @waits_for_too_little
// CHECK-NOT: rocdl.s.barrier
// CHECK-NOT: llvm.inline_asm
// CHECK: amdgpu.lds_barrier
// REMARK: Function=waits_for_too_little | Remark="LDS DMA loads not overlapped: no wait followed by a barrier orders 'memref.load' of %arg1 after 'amdgpu.gather_to_lds'"
func.func @waits_for_too_little(%in: !global, %slots: !slots, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  %p1 = memref.subview %slots[%c1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %j = arith.addi %i, %c2 : index
    %next = arith.remui %j, %c3 : index
    %this = arith.remui %i, %c3 : index
    %to = memref.subview %slots[%next, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    %from = memref.subview %slots[%this, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.memory_counter_wait load(2)
    amdgpu.lds_barrier
    amdgpu.gather_to_lds %in[%lane], %to[%c0, %c0] : f32, !global, !slot
    %v = memref.load %from[%c0, %lane] : !slot
    %new = arith.addf %acc, %v : f32
    scf.yield %new : f32
  }
  return %sum : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// One slot for all iterations: the load in flight writes the slot that is read.
// CHECK-LABEL: @single_slot
// CHECK-NOT: rocdl.s.barrier
// CHECK: amdgpu.lds_barrier
// REMARK: Function=single_slot | Remark="LDS DMA loads not overlapped: no wait followed by a barrier orders 'memref.load' of %arg1 after 'amdgpu.gather_to_lds'"
func.func @single_slot(%in: !global, %slots: !slots, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %to = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.memory_counter_wait load(0)
    amdgpu.lds_barrier
    amdgpu.gather_to_lds %in[%lane], %to[%c0, %c0] : f32, !global, !slot
    %v = memref.load %to[%c0, %lane] : !slot
    %new = arith.addf %acc, %v : f32
    scf.yield %new : f32
  }
  return %sum : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// Without a counted wait, the kernel relies on the wait of the barrier.
// CHECK-LABEL: @no_wait
// CHECK-NOT: rocdl.s.barrier
// CHECK: amdgpu.lds_barrier
// REMARK: Function=no_wait | Remark="LDS DMA loads not overlapped: no wait followed by a barrier orders 'memref.load' of %arg1 after 'amdgpu.gather_to_lds'"
func.func @no_wait(%in: !global, %slots: !slots, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  %p1 = memref.subview %slots[%c1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
  amdgpu.lds_barrier
  %v = memref.load %p0[%c0, %lane] : !slot
  return %v : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// A wait after the barrier covers only the loads of the wave itself.
// CHECK-LABEL: @wait_after_barrier
// CHECK-NOT: rocdl.s.barrier
// REMARK: Function=wait_after_barrier | Remark="LDS DMA loads not overlapped: no wait followed by a barrier orders 'memref.load' of %arg1 after 'amdgpu.gather_to_lds'"
func.func @wait_after_barrier(%in: !global, %slots: !slots, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  %p1 = memref.subview %slots[%c1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
  amdgpu.lds_barrier
  amdgpu.memory_counter_wait load(0)
  %v = memref.load %p0[%c0, %lane] : !slot
  return %v : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// A load under a condition is not counted: the wait may not cover the load before it.
// CHECK-LABEL: @conditional
// CHECK-NOT: rocdl.s.barrier
// REMARK: Function=conditional | Remark="LDS DMA loads not overlapped: no wait followed by a barrier orders 'memref.load' of %arg1 after 'amdgpu.gather_to_lds'"
func.func @conditional(%in: !global, %slots: !slots, %n: index, %c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  %p1 = memref.subview %slots[%c1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  scf.if %c {
    amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
  }
  amdgpu.memory_counter_wait load(1)
  amdgpu.lds_barrier
  %v = memref.load %p0[%c0, %lane] : !slot
  return %v : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// The same with a wait for both: the loads that one barrier leaves in flight are covered before the other.
// CHECK-LABEL: @two_waits
// CHECK: amdgpu.memory_counter_wait load(1)
// CHECK: rocdl.s.barrier
// CHECK: memref.load
// CHECK: amdgpu.memory_counter_wait load(0)
// CHECK: rocdl.s.barrier
// CHECK: memref.load
// REMARK: Function=two_waits | Remark="2 of 2 barriers no longer wait for outstanding LDS DMA loads"
func.func @two_waits(%in: !global, %slots: !slots, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  %p1 = memref.subview %slots[%c1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
  amdgpu.memory_counter_wait load(1)
  amdgpu.lds_barrier
  %v = memref.load %p0[%c0, %lane] : !slot
  amdgpu.memory_counter_wait load(0)
  amdgpu.lds_barrier
  %w = memref.load %p1[%c0, %lane] : !slot
  %r = arith.addf %v, %w : f32
  return %r : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// gpu.barrier also orders global memory, which another thread may read here: it stays, and completes all loads.
// CHECK-LABEL: @global_hazard
// CHECK: amdgpu.memory_counter_wait load(1)
// CHECK: rocdl.s.barrier
// CHECK: gpu.barrier
// CHECK-NEXT: llvm.inline_asm has_side_effects {smalti.lds_ordered} "", "~{memory}"
// REMARK: Function=global_hazard | Remark="1 of 2 barriers no longer wait for outstanding LDS DMA loads; the others do: 'gpu.barrier' may order accesses to global memory, so it must wait for all loads; if it orders LDS only, use amdgpu.lds_barrier"
func.func @global_hazard(%in: !global, %slots: !slots, %n: index, %out: !global) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  %p1 = memref.subview %slots[%c1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
  amdgpu.memory_counter_wait load(1)
  amdgpu.lds_barrier
  %v = memref.load %p0[%c0, %lane] : !slot
  memref.store %v, %out[%lane] : !global
  gpu.barrier
  %w = memref.load %p1[%c0, %lane] : !slot
  %o = memref.load %out[%c1] : !global
  %r = arith.addf %o, %w : f32
  return %r : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
func.func private @other()

// A call may have any effect.
// CHECK-LABEL: @unknown
// CHECK-NOT: rocdl.s.barrier
// REMARK: Function=unknown | Remark="LDS DMA loads not overlapped: {{.*}}'func.call'{{.*}}"
func.func @unknown(%in: !global, %slots: !slots, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  %p1 = memref.subview %slots[%c1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
  amdgpu.memory_counter_wait load(0)
  amdgpu.lds_barrier
  func.call @other() : () -> ()
  %v = memref.load %p0[%c0, %lane] : !slot
  return %v : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// After the loop, the load of the last iteration is in flight, and another slot is read. The condition around the loop
// guarantees that it has the iterations that its bounds state.
// CHECK-LABEL: @after_the_loop
// CHECK: scf.for
// CHECK: amdgpu.memory_counter_wait load(1)
// CHECK: rocdl.s.barrier
// CHECK: scf.yield
// CHECK: amdgpu.memory_counter_wait load(1)
// CHECK: rocdl.s.barrier
// REMARK: Function=after_the_loop | Remark="2 of 2 barriers no longer wait for outstanding LDS DMA loads"
func.func @after_the_loop(%in: !global, %slots: !slots, %lower: index, %n: index, %step: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %first = arith.cmpi slt, %c0, %n : index
  %less = arith.subi %n, %c1 : index
  %enough = arith.cmpi uge, %less, %c2 : index
  %both = arith.andi %first, %enough : i1
  %result = scf.if %both -> f32 {
    %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
    %p1 = memref.subview %slots[%c1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
    %last = arith.subi %n, %c2 : index
    %sum = scf.for %i = %c0 to %last step %c1 iter_args(%acc = %zero) -> f32 {
      %j = arith.addi %i, %c2 : index
      %next = arith.remui %j, %c3 : index
      %this = arith.remui %i, %c3 : index
      %to = memref.subview %slots[%next, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
      %from = memref.subview %slots[%this, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
      amdgpu.memory_counter_wait load(1)
      amdgpu.lds_barrier
      amdgpu.gather_to_lds %in[%lane], %to[%c0, %c0] : f32, !global, !slot
      %v = memref.load %from[%c0, %lane] : !slot
      %new = arith.addf %acc, %v : f32
      scf.yield %new : f32
    }
    %late = arith.subi %n, %c2 : index
    %late_slot = arith.remui %late, %c3 : index
    %behind = memref.subview %slots[%late_slot, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.memory_counter_wait load(1)
    amdgpu.lds_barrier
    %v = memref.load %behind[%c0, %lane] : !slot
    %new = arith.addf %sum, %v : f32
    scf.yield %new : f32
  } else {
    scf.yield %zero : f32
  }
  return %result : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// The same for a loop with dynamic bounds and step.
// CHECK-LABEL: @after_a_loop_with_steps
// CHECK: scf.for
// CHECK: amdgpu.memory_counter_wait load(1)
// CHECK: rocdl.s.barrier
// CHECK: scf.yield
// CHECK: amdgpu.memory_counter_wait load(1)
// CHECK: rocdl.s.barrier
// REMARK: Function=after_a_loop_with_steps | Remark="2 of 2 barriers no longer wait for outstanding LDS DMA loads"
func.func @after_a_loop_with_steps(%in: !global, %slots: !slots, %lower: index, %n: index, %step: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %first = arith.cmpi slt, %lower, %n : index
  %width = arith.subi %n, %lower : index
  %less = arith.subi %width, %c1 : index
  %quotient = arith.divui %less, %step : index
  %enough = arith.cmpi uge, %quotient, %c2 : index
  %both = arith.andi %first, %enough : i1
  %result = scf.if %both -> f32 {
    %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
    %p1 = memref.subview %slots[%c1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
    %ahead = arith.muli %step, %c2 : index
    %last = arith.subi %n, %ahead : index
    %sum = scf.for %i = %lower to %last step %step iter_args(%acc = %zero) -> f32 {
      %counter = arith.addi %i, %ahead : index
      %distance = arith.subi %counter, %lower : index
      %number = arith.divui %distance, %step : index
      %next = arith.remui %number, %c3 : index
      %own = arith.subi %i, %lower : index
      %own_number = arith.divui %own, %step : index
      %this = arith.remui %own_number, %c3 : index
      %to = memref.subview %slots[%next, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
      %from = memref.subview %slots[%this, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
      amdgpu.memory_counter_wait load(1)
      amdgpu.lds_barrier
      amdgpu.gather_to_lds %in[%lane], %to[%c0, %c0] : f32, !global, !slot
      %v = memref.load %from[%c0, %lane] : !slot
      %new = arith.addf %acc, %v : f32
      scf.yield %new : f32
    }
    %to_last = arith.muli %quotient, %step : index
    %last_counter = arith.addi %lower, %to_last : index
    %late = arith.subi %last_counter, %step : index
    %late_distance = arith.subi %late, %lower : index
    %late_number = arith.divui %late_distance, %step : index
    %late_slot = arith.remui %late_number, %c3 : index
    %behind = memref.subview %slots[%late_slot, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.memory_counter_wait load(1)
    amdgpu.lds_barrier
    %v = memref.load %behind[%c0, %lane] : !slot
    %new = arith.addf %sum, %v : f32
    scf.yield %new : f32
  } else {
    scf.yield %zero : f32
  }
  return %result : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// The slot that is read after the loop is the one that its last iteration fills: the barrier there completes all loads.
// CHECK-LABEL: @slot_in_flight
// CHECK: scf.for
// CHECK: rocdl.s.barrier
// CHECK: scf.yield
// CHECK: amdgpu.lds_barrier
// REMARK: Function=slot_in_flight | Remark="1 of 2 barriers no longer wait for outstanding LDS DMA loads; the others do: no wait followed by a barrier orders 'memref.load' of %arg1 after 'amdgpu.gather_to_lds'"
func.func @slot_in_flight(%in: !global, %slots: !slots, %lower: index, %n: index, %step: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %first = arith.cmpi slt, %c0, %n : index
  %less = arith.subi %n, %c1 : index
  %enough = arith.cmpi uge, %less, %c2 : index
  %both = arith.andi %first, %enough : i1
  %result = scf.if %both -> f32 {
    %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
    %p1 = memref.subview %slots[%c1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
    %last = arith.subi %n, %c2 : index
    %sum = scf.for %i = %c0 to %last step %c1 iter_args(%acc = %zero) -> f32 {
      %j = arith.addi %i, %c2 : index
      %next = arith.remui %j, %c3 : index
      %this = arith.remui %i, %c3 : index
      %to = memref.subview %slots[%next, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
      %from = memref.subview %slots[%this, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
      amdgpu.memory_counter_wait load(1)
      amdgpu.lds_barrier
      amdgpu.gather_to_lds %in[%lane], %to[%c0, %c0] : f32, !global, !slot
      %v = memref.load %from[%c0, %lane] : !slot
      %new = arith.addf %acc, %v : f32
      scf.yield %new : f32
    }
    %late = arith.subi %n, %c1 : index
    %late_slot = arith.remui %late, %c3 : index
    %behind = memref.subview %slots[%late_slot, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.memory_counter_wait load(1)
    amdgpu.lds_barrier
    %v = memref.load %behind[%c0, %lane] : !slot
    %new = arith.addf %sum, %v : f32
    scf.yield %new : f32
  } else {
    scf.yield %zero : f32
  }
  return %result : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// If the trip count may be too small, the slots cannot be distinguished.
// CHECK-LABEL: @too_few_iterations
// CHECK: scf.for
// CHECK: rocdl.s.barrier
// CHECK: scf.yield
// CHECK: amdgpu.lds_barrier
// REMARK: Function=too_few_iterations | Remark="1 of 2 barriers no longer wait for outstanding LDS DMA loads; the others do: no wait followed by a barrier orders 'memref.load' of %arg1 after 'amdgpu.gather_to_lds'"
func.func @too_few_iterations(%in: !global, %slots: !slots, %lower: index, %n: index, %step: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %first = arith.cmpi slt, %c0, %n : index
  %less = arith.subi %n, %c1 : index
  %enough = arith.cmpi ule, %less, %c2 : index
  %both = arith.andi %first, %enough : i1
  %result = scf.if %both -> f32 {
    %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
    %p1 = memref.subview %slots[%c1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
    %last = arith.subi %n, %c2 : index
    %sum = scf.for %i = %c0 to %last step %c1 iter_args(%acc = %zero) -> f32 {
      %j = arith.addi %i, %c2 : index
      %next = arith.remui %j, %c3 : index
      %this = arith.remui %i, %c3 : index
      %to = memref.subview %slots[%next, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
      %from = memref.subview %slots[%this, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
      amdgpu.memory_counter_wait load(1)
      amdgpu.lds_barrier
      amdgpu.gather_to_lds %in[%lane], %to[%c0, %c0] : f32, !global, !slot
      %v = memref.load %from[%c0, %lane] : !slot
      %new = arith.addf %acc, %v : f32
      scf.yield %new : f32
    }
    %late = arith.subi %n, %c2 : index
    %late_slot = arith.remui %late, %c3 : index
    %behind = memref.subview %slots[%late_slot, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.memory_counter_wait load(1)
    amdgpu.lds_barrier
    %v = memref.load %behind[%c0, %lane] : !slot
    %new = arith.addf %sum, %v : f32
    scf.yield %new : f32
  } else {
    scf.yield %zero : f32
  }
  return %result : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x64xf32, #gpu.address_space<workgroup>>
!slot = memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>

// Buffers with offsets in one allocation are different buffers, and the same view twice is one.
// CHECK-LABEL: @offsets
// CHECK: rocdl.s.barrier
// CHECK: return
// REMARK: Function=offsets | Remark="1 of 1 barriers no longer wait for outstanding LDS DMA loads"
func.func @offsets(%in: !global, %all: memref<2048xi8, #gpu.address_space<workgroup>>) -> f32 {
  %c0 = arith.constant 0 : index
  %c768 = arith.constant 768 : index
  %lane = gpu.thread_id x
  %a = memref.view %all[%c0][] : memref<2048xi8, #gpu.address_space<workgroup>> to !slots
  %b = memref.view %all[%c768][] : memref<2048xi8, #gpu.address_space<workgroup>> to !slots
  %again = memref.view %all[%c0][] : memref<2048xi8, #gpu.address_space<workgroup>> to !slots
  %a0 = memref.subview %a[0, 0] [1, 64] [1, 1] : !slots to memref<64xf32, strided<[1]>, #gpu.address_space<workgroup>>
  %a1 = memref.subview %again[1, 0] [1, 64] [1, 1] : !slots to memref<64xf32, strided<[1], offset: 64>, #gpu.address_space<workgroup>>
  amdgpu.gather_to_lds %in[%lane], %a0[%c0] : f32, !global, memref<64xf32, strided<[1]>, #gpu.address_space<workgroup>>
  amdgpu.gather_to_lds %in[%lane], %a1[%c0] : f32, !global, memref<64xf32, strided<[1], offset: 64>, #gpu.address_space<workgroup>>
  amdgpu.memory_counter_wait load(1)
  amdgpu.lds_barrier
  %v = memref.load %a[%c0, %lane] : !slots
  %w = memref.load %b[%c0, %lane] : !slots
  %r = arith.addf %v, %w : f32
  return %r : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x64xf32, #gpu.address_space<workgroup>>
!slot = memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>

// Views that share bytes are not different buffers.
// CHECK-LABEL: @shared_bytes
// CHECK-NOT: rocdl.s.barrier
// REMARK: Function=shared_bytes | Remark="LDS DMA loads not overlapped: no wait followed by a barrier orders 'memref.load' of %arg1 after 'amdgpu.gather_to_lds'"
func.func @shared_bytes(%in: !global, %all: memref<2048xi8, #gpu.address_space<workgroup>>) -> f32 {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %lane = gpu.thread_id x
  %a = memref.view %all[%c0][] : memref<2048xi8, #gpu.address_space<workgroup>> to !slots
  %b = memref.view %all[%c512][] : memref<2048xi8, #gpu.address_space<workgroup>> to !slots
  %a2 = memref.subview %a[2, 0] [1, 64] [1, 1] : !slots to memref<64xf32, strided<[1], offset: 128>, #gpu.address_space<workgroup>>
  amdgpu.gather_to_lds %in[%lane], %a2[%c0] : f32, !global, memref<64xf32, strided<[1], offset: 128>, #gpu.address_space<workgroup>>
  amdgpu.lds_barrier
  %w = memref.load %b[%c0, %lane] : !slots
  return %w : f32
}
// REMARK-NOT: Remark

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// The number of the iteration after the next overflows the counter: after 253 follows slot 255 mod 3, after 254 slot 0
// mod 3, which is the same.
// CHECK-LABEL: @narrow_counter
// CHECK-NOT: rocdl.s.barrier
// CHECK: amdgpu.lds_barrier
// REMARK: Function=narrow_counter | Remark="LDS DMA loads not overlapped: no wait followed by a barrier orders 'memref.load' of %arg1 after 'amdgpu.gather_to_lds'"
func.func @narrow_counter(%in: !global, %slots: !slots, %n: i8) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %b0 = arith.constant 0 : i8
  %b1 = arith.constant 1 : i8
  %b2 = arith.constant 2 : i8
  %b3 = arith.constant 3 : i8
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  %p1 = memref.subview %slots[%c1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
  %sum = scf.for unsigned %i = %b0 to %n step %b1 iter_args(%acc = %zero) -> (f32) : i8 {
    %j = arith.addi %i, %b2 : i8
    %next_i8 = arith.remui %j, %b3 : i8
    %this_i8 = arith.remui %i, %b3 : i8
    %next = arith.index_castui %next_i8 : i8 to index
    %this = arith.index_castui %this_i8 : i8 to index
    %to = memref.subview %slots[%next, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    %from = memref.subview %slots[%this, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.memory_counter_wait load(1)
    amdgpu.lds_barrier
    amdgpu.gather_to_lds %in[%lane], %to[%c0, %c0] : f32, !global, !slot
    %v = memref.load %from[%c0, %lane] : !slot
    %new = arith.addf %acc, %v : f32
    scf.yield %new : f32
  }
  return %sum : f32
}

// -----

!global = memref<4096xf32, #gpu.address_space<global>>
!buffer = memref<64xf32, #gpu.address_space<workgroup>>

// The read may access the buffer that a load in flight writes.
// CHECK-LABEL: @one_of_two
// CHECK-NOT: rocdl.s.barrier
// CHECK: amdgpu.lds_barrier
// REMARK: Function=one_of_two | Remark="LDS DMA loads not overlapped: no wait followed by a barrier orders 'memref.load' of %3 after 'amdgpu.gather_to_lds'"
func.func @one_of_two(%in: !global, %n: index, %a: !buffer {llvm.noalias}, %b: !buffer {llvm.noalias}) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %bit = arith.andi %i, %c1 : index
    %is_even = arith.cmpi eq, %bit, %c0 : index
    %now = arith.select %is_even, %a, %b : !buffer
    amdgpu.memory_counter_wait load(1)
    amdgpu.lds_barrier
    amdgpu.gather_to_lds %in[%lane], %a[%c0] : f32, !global, !buffer
    %v = memref.load %now[%lane] : !buffer
    %new = arith.addf %acc, %v : f32
    scf.yield %new : f32
  }
  return %sum : f32
}
