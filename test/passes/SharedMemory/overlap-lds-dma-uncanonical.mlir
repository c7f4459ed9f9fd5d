// Code that is not canonicalized: computed constants and copies of values are recognized, and canonicalizing first
// does not change the result.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-overlap-lds-dma{target=gfx950}))' \
// RUN:   --remarks-filter=smalti-overlap-lds-dma 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-overlap-lds-dma{target=gfx950},canonicalize,cse))' -o %t.after
// RUN: smalti-opt %s -o %t.before --pass-pipeline='builtin.module(func.func(canonicalize,cse,smalti-overlap-lds-dma{target=gfx950},canonicalize,cse))'
// RUN: diff %t.before %t.after

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!some = memref<3x1x64xf32, strided<[64, 64, 1], offset: ?>, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// Computed slot indices, a computed number of slots, and computed loop bounds. After the loop, the slots follow from
// its trip count.
// CHECK-LABEL: @arith(
// CHECK-COUNT-3: rocdl.s.barrier
// REMARK: Function=arith | Remark="3 of 3 barriers no longer wait for outstanding LDS DMA loads"
func.func @arith(%in: !global, %slots: !slots) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %s0 = arith.remui %c3, %c3 : index
  %p0 = memref.subview %slots[%s0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  %four = arith.addi %c3, %c1 : index
  %s1 = arith.remui %four, %c3 : index
  %p1 = memref.subview %slots[%s1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
  %lower = arith.subi %c6, %c6 : index
  %step = arith.divui %c6, %c6 : index
  %upper = arith.muli %c6, %c6 : index
  %sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
    %two = arith.addi %c1, %c1 : index
    %depth = arith.divui %c6, %two : index
    %one = arith.addi %lower, %c1 : index
    %next1 = arith.addi %i, %one : index
    %next2 = arith.addi %c1, %next1 : index
    %next = arith.remui %next2, %depth : index
    %same = arith.addi %i, %lower : index
    %this = arith.remui %same, %depth : index
    %from = memref.subview %slots[%this, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    %to = memref.subview %slots[%next, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
    amdgpu.memory_counter_wait load(1)
    amdgpu.lds_barrier
    amdgpu.gather_to_lds %in[%lane], %to[%c0, %c0] : f32, !global, !slot
    %v = memref.load %from[%c0, %lane] : !slot
    %new = arith.addf %acc, %v : f32
    scf.yield %new : f32
  }
  %a = arith.remui %upper, %c3 : index
  %pa = memref.subview %slots[%a, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.memory_counter_wait load(1)
  amdgpu.lds_barrier
  %va = memref.load %pa[%c0, %lane] : !slot
  %last = arith.addi %upper, %c1 : index
  %b = arith.remui %last, %c3 : index
  %pb = memref.subview %slots[%b, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.memory_counter_wait load(0)
  amdgpu.lds_barrier
  %vb = memref.load %pb[%c0, %lane] : !slot
  %ab = arith.addf %va, %vb : f32
  %all = arith.addf %sum, %ab : f32
  return %all : f32
}

// Chains of affine.apply, in a loop with another lower bound and step. `lower - lower` is not folded.
// CHECK-LABEL: @affine(
// CHECK: rocdl.s.barrier
// REMARK: Function=affine | Remark="1 of 1 barriers no longer wait for outstanding LDS DMA loads"
func.func @affine(%in: !global, %slots: !slots, %n: index, %lower: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %s0 = affine.apply affine_map<(d0)[s0] -> (((d0 - s0) floordiv 2) mod 3)>(%lower)[%lower]
  %p0 = memref.subview %slots[%s0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  %second = affine.apply affine_map<(d0) -> (d0 + 2)>(%lower)
  %s1 = affine.apply affine_map<(d0)[s0] -> (((d0 - s0) floordiv 2) mod 3)>(%second)[%lower]
  %p1 = memref.subview %slots[%s1, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
  %sum = scf.for %i = %lower to %n step %c2 iter_args(%acc = %zero) -> f32 {
    %j = affine.apply affine_map<(d0) -> (d0 + 4)>(%i)
    %k = affine.apply affine_map<(d0, d1) -> ((d0 - d1) floordiv 2)>(%j, %lower)
    %next = affine.apply affine_map<(d0) -> (d0 mod 3)>(%k)
    %copy = affine.apply affine_map<(d0) -> (d0)>(%next)
    %this = affine.apply affine_map<(d0, d1) -> (((d0 - d1) floordiv 2) mod 3)>(%i, %lower)
    %to = memref.subview %slots[%copy, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
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

// The lower bound and the step as two values each, and all slots as another view.
// CHECK-LABEL: @copies(
// CHECK: rocdl.s.barrier
// REMARK: Function=copies | Remark="1 of 1 barriers no longer wait for outstanding LDS DMA loads"
func.func @copies(%in: !global, %slots: !slots, %n: index, %first: index, %by: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %cast = memref.cast %slots : !slots to !some
  %whole = memref.subview %cast[%c0, 0, 0] [%c3, 1, 64] [1, 1, 1]
      : !some to memref<?x1x64xf32, strided<[64, 64, 1], offset: ?>, #gpu.address_space<workgroup>>
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  %p1 = memref.subview %whole[%c1, 0, 0] [1, 1, 64] [1, 1, 1]
      : memref<?x1x64xf32, strided<[64, 64, 1], offset: ?>, #gpu.address_space<workgroup>> to !slot
  amdgpu.gather_to_lds %in[%lane], %p1[%c0, %c0] : f32, !global, !slot
  %lower = arith.addi %first, %c0 : index
  %step = arith.muli %by, %c1 : index
  %sum = scf.for %i = %lower to %n step %step iter_args(%acc = %zero) -> f32 {
    %ahead = arith.addi %by, %step : index
    %j = arith.addi %i, %ahead : index
    %l = arith.subi %j, %first : index
    %m = arith.divui %l, %by : index
    %next = arith.remui %m, %c3 : index
    %e = arith.subi %i, %lower : index
    %f = arith.divui %e, %step : index
    %this = arith.remui %f, %c3 : index
    %to = memref.subview %cast[%next, 0, 0] [1, 1, 64] [1, 1, 1] : !some to !slot
    %from = memref.subview %whole[%this, 0, 0] [1, 1, 64] [1, 1, 1]
        : memref<?x1x64xf32, strided<[64, 64, 1], offset: ?>, #gpu.address_space<workgroup>> to !slot
    amdgpu.memory_counter_wait load(1)
    amdgpu.lds_barrier
    amdgpu.gather_to_lds %in[%lane], %to[%c0, %c0] : f32, !global, !slot
    %v = memref.load %from[%c0, %lane] : !slot
    %new = arith.addf %acc, %v : f32
    scf.yield %new : f32
  }
  return %sum : f32
}

// A mask whose constant is the first operand, and a branch that is never taken.
// CHECK-LABEL: @mask(
// CHECK: scf.if
// CHECK: amdgpu.memory_counter_wait load(1)
// CHECK: rocdl.s.barrier
// REMARK: Function=mask | Remark="2 of 2 barriers no longer wait for outstanding LDS DMA loads"
func.func @mask(%in: !global, %four: memref<4x1x64xf32, #gpu.address_space<workgroup>>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %p0 = memref.subview %four[0, 0, 0] [1, 1, 64] [1, 1, 1]
      : memref<4x1x64xf32, #gpu.address_space<workgroup>> to memref<1x64xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0]
      : f32, !global, memref<1x64xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
  %never = arith.cmpi ult, %c3, %c1 : index
  scf.if %never {
    amdgpu.lds_barrier
    %x = memref.load %p0[%c0, %lane] : memref<1x64xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
    memref.store %x, %p0[%c0, %lane] : memref<1x64xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
  }
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %j = arith.addi %c1, %i : index
    %next = arith.andi %c3, %j : index
    %this = arith.andi %c3, %i : index
    %to = memref.subview %four[%next, 0, 0] [1, 1, 64] [1, 1, 1] : memref<4x1x64xf32, #gpu.address_space<workgroup>> to !slot
    %from = memref.subview %four[%this, 0, 0] [1, 1, 64] [1, 1, 1] : memref<4x1x64xf32, #gpu.address_space<workgroup>> to !slot
    amdgpu.gather_to_lds %in[%lane], %to[%c0, %c0] : f32, !global, !slot
    amdgpu.memory_counter_wait load(1)
    amdgpu.lds_barrier
    %v = memref.load %from[%c0, %lane] : !slot
    %new = arith.addf %acc, %v : f32
    scf.yield %new : f32
  }
  return %sum : f32
}

// Two iterations later and one more: the load writes the slot that is read.
// CHECK-LABEL: @too_far(
// CHECK-NOT: rocdl.s.barrier
// CHECK: amdgpu.lds_barrier
// REMARK: Function=too_far | Remark="LDS DMA loads not overlapped: no wait followed by a barrier orders 'memref.load' of %arg1 after 'amdgpu.gather_to_lds'"
func.func @too_far(%in: !global, %slots: !slots, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %c3 = arith.addi %c1, %c2 : index
    %j = arith.addi %i, %c3 : index
    %next = arith.remui %j, %c3 : index
    %this = affine.apply affine_map<(d0) -> (d0 mod 3)>(%i)
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
