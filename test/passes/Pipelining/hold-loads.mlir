// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(smalti-hold-loads{target=gfx1201}))' \
// RUN:     --remarks-filter=smalti-hold-loads 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(smalti-hold-loads{target=sm_90a}))' \
// RUN:     | FileCheck %s --check-prefix=OTHER

// Only the ops below are changed, and none for a target that does not need it.
// OTHER-NOT: amdgpu.sched_barrier allow = <none>

// Two reads, the second one with a conversion: the loop computes after them, and stores them last.
// CHECK-LABEL: @prefetched
// CHECK: memref.load %{{.*}} : memref<4096xf32>
// CHECK: memref.load %{{.*}} : memref<4096xf16>
// CHECK-NEXT: amdgpu.sched_barrier allow = <none>
// CHECK: memref.load %{{.*}} #gpu.address_space<workgroup>>
// CHECK-NOT: sched_barrier
// CHECK: gpu.barrier
// CHECK-NEXT: amdgpu.sched_barrier allow = <none>
// CHECK-NEXT: memref.store
// CHECK-NOT: sched_barrier
// REMARK: Function=prefetched | Remark="scheduling barriers inserted: 2 reads of global memory are issued before the loop's arithmetic; the wait follows the arithmetic"
func.func @prefetched(%a: memref<4096xf32>, %b: memref<4096xf16>, %s: memref<64xf32, #gpu.address_space<workgroup>>,
                 %t: memref<64xf32, #gpu.address_space<workgroup>>, %n: index, %start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %lane = gpu.thread_id x
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %start) -> f32 {
    %j = arith.addi %i, %lane : index
    %x = memref.load %a[%j] : memref<4096xf32>
    %y = memref.load %b[%j] : memref<4096xf16>
    %z = arith.extf %y : f16 to f32
    gpu.barrier
    %v = memref.load %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %v : f32
    gpu.barrier
    memref.store %x, %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %z, %t[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    scf.yield %new : f32
  }
  return %sum : f32
}

// -----

// Values that are carried to the next iteration are prefetched, too.
// CHECK-LABEL: @carried(
// CHECK: memref.load %{{.*}} : memref<4096xf32>
// CHECK-NEXT: amdgpu.sched_barrier
// CHECK-NOT: sched_barrier
// CHECK: gpu.barrier
// CHECK-NEXT: amdgpu.sched_barrier
// CHECK-NEXT: memref.store
// CHECK-NOT: sched_barrier
// REMARK: Function=carried | Remark="scheduling barriers inserted: 1 read of global memory is issued before the loop's arithmetic; the wait follows the arithmetic"
func.func @carried(%a: memref<4096xf32>, %s: memref<64xf32, #gpu.address_space<workgroup>>, %n: index, %start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %lane = gpu.thread_id x
  %sum:2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %start, %held = %start) -> (f32, f32) {
    %j = arith.addi %i, %lane : index
    %x = memref.load %a[%j] : memref<4096xf32>
    %v = memref.load %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %v : f32
    gpu.barrier
    memref.store %held, %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    scf.yield %new, %x : f32, f32
  }
  return %sum#0 : f32
}

// -----

// A loop with 3 stages: the value from the previous iteration is stored before the next read.
// CHECK-LABEL: @carried_to_store
// CHECK: memref.load %{{.*}} #gpu.address_space<workgroup>>
// CHECK-NOT: sched_barrier
// CHECK: gpu.barrier
// CHECK-NEXT: amdgpu.sched_barrier allow = <none>
// CHECK-NEXT: memref.store
// CHECK-NOT: sched_barrier
// REMARK: Function=carried_to_store | Remark="scheduling barrier inserted: the wait for 1 read of global memory by the previous iteration follows the loop's arithmetic"
func.func @carried_to_store(%a: memref<4096xf32>, %s: memref<64xf32, #gpu.address_space<workgroup>>, %n: index,
                            %start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %lane = gpu.thread_id x
  %sum:2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %start, %held = %start) -> (f32, f32) {
    %v = memref.load %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %v : f32
    gpu.barrier
    memref.store %held, %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    %j = arith.addi %i, %lane : index
    %x = memref.load %a[%j] : memref<4096xf32>
    gpu.barrier
    scf.yield %new, %x : f32, f32
  }
  return %sum#0 : f32
}

// -----

// The carried value is also an operand of the arithmetic, so the loop must wait earlier.
// CHECK-LABEL: @carried_and_used
// CHECK-NOT: sched_barrier
func.func @carried_and_used(%a: memref<4096xf32>, %s: memref<64xf32, #gpu.address_space<workgroup>>, %n: index,
                            %start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %lane = gpu.thread_id x
  %sum:2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %start, %held = %start) -> (f32, f32) {
    %v = memref.load %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    %weighted = arith.mulf %held, %v : f32
    %new = arith.addf %acc, %weighted : f32
    gpu.barrier
    memref.store %held, %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    %j = arith.addi %i, %lane : index
    %x = memref.load %a[%j] : memref<4096xf32>
    gpu.barrier
    scf.yield %new, %x : f32, f32
  }
  return %sum#0 : f32
}

// -----

// Used immediately, computed with, stored to global memory, or after the computation: no load is held.
// CHECK-LABEL: @used
// CHECK-NOT: sched_barrier
func.func @used(%a: memref<4096xf32>, %s: memref<64xf32, #gpu.address_space<workgroup>>, %n: index, %start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %lane = gpu.thread_id x
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %start) -> f32 {
    %j = arith.addi %i, %lane : index
    %x = memref.load %a[%j] : memref<4096xf32>
    memref.store %x, %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    %y = memref.load %a[%i] : memref<4096xf32>
    gpu.barrier
    %v = memref.load %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    %z = arith.mulf %y, %v : f32
    %new = arith.addf %acc, %z : f32
    %last = memref.load %a[%lane] : memref<4096xf32>
    gpu.barrier
    memref.store %last, %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    scf.yield %new : f32
  }
  return %sum : f32
}

// -----

// Somebody has scheduled it by hand.
// CHECK-LABEL: @scheduled
// CHECK-COUNT-1: amdgpu.sched_barrier allow = <valu>
// CHECK-NOT: sched_barrier
func.func @scheduled(%a: memref<4096xf32>, %s: memref<64xf32, #gpu.address_space<workgroup>>, %n: index, %start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %lane = gpu.thread_id x
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %start) -> f32 {
    %j = arith.addi %i, %lane : index
    %x = memref.load %a[%j] : memref<4096xf32>
    amdgpu.sched_barrier allow = <valu>
    %v = memref.load %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %v : f32
    gpu.barrier
    memref.store %x, %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    scf.yield %new : f32
  }
  return %sum : f32
}

// -----

// CHECK-LABEL: @hinted
// CHECK: rocdl.sched.group.barrier
// CHECK-NOT: sched_barrier
func.func @hinted(%a: memref<4096xf32>, %s: memref<64xf32, #gpu.address_space<workgroup>>, %n: index, %start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %lane = gpu.thread_id x
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %start) -> f32 {
    %j = arith.addi %i, %lane : index
    %x = memref.load %a[%j] : memref<4096xf32>
    rocdl.sched.group.barrier 8, 1, 0
    %v = memref.load %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %v : f32
    gpu.barrier
    memref.store %x, %s[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
    scf.yield %new : f32
  }
  return %sum : f32
}
// REMARK-NOT: Remark
