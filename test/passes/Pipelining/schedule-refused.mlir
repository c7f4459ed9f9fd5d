// Wrong schedules in attributes: the full text of the reason, and the unchanged program.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{use-schedule=true}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks

// CHECK: Function=no_schedule | Remark="loop not pipelined: 'memref.load' does not have the attribute 'smalti.stage', which use-schedule=true requires; emit-schedule=true writes it"
func.func @no_schedule(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=backwards | Remark="loop not pipelined: the schedule would execute 'arith.addf' before 'memref.load', whose result 'arith.addf' uses; give 'memref.load' an earlier stage or cluster"
func.func @backwards(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] {smalti.stage = 1, smalti.cluster = 0} : memref<64xf32>
    %next = arith.addf %acc, %x {smalti.stage = 0, smalti.cluster = 1} : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=lists | Remark="loop not pipelined: 'memref.load' has side effects and cannot be duplicated in several stages; give it one stage"
func.func @lists(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] {smalti.stage = array<i64: 0, 1>, smalti.cluster = array<i64: 0, 1>} : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=twice | Remark="loop not pipelined: 'arith.addi' is scheduled twice in stage 1; list each stage once"
func.func @twice(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %sum = scf.for %i = %c0 to %c63 step %c1 iter_args(%acc = %init) -> f32 {
    %at = arith.addi %i, %c1 {smalti.stage = array<i64: 1, 1>, smalti.cluster = array<i64: 0, 1>} : index
    %x = memref.load %a[%at] {smalti.stage = 1, smalti.cluster = 0} : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=far | Remark="loop not pipelined: the stage of 'memref.load' is {{.*}}; it must be at most 15"
func.func @far(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] {smalti.stage = 9223372036854775807, smalti.cluster = 0} : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=mismatch | Remark="loop not pipelined: smalti.stage and smalti.cluster of 'memref.load' must be integers, or integer arrays of the same length"
func.func @mismatch(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] {smalti.stage = "first", smalti.cluster = 0} : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=truth | Remark="loop not pipelined: smalti.stage and smalti.cluster of 'memref.load' must be integers, or integer arrays of the same length"
func.func @truth(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] {smalti.stage = false, smalti.cluster = 0} : memref<64xf32>
    %next = arith.addf %acc, %x {smalti.stage = 1, smalti.cluster = 1} : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// A store that would move before a load of the same element in an earlier iteration: a[i] is read in stage 1, a[i + 1]
// is written in stage 0.
// CHECK: Function=early_write | Remark="loop not pipelined: the schedule would move 'memref.store' of %arg0 before 'memref.load' of %arg0 of an earlier iteration, and the two accesses may alias"
func.func @early_write(%a: memref<65xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    memref.store %init, %a[%c1] {smalti.stage = 0, smalti.cluster = 0} : memref<65xf32>
    %x = memref.load %a[%i] {smalti.stage = 1, smalti.cluster = 1} : memref<65xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=short_loop | Remark="loop not pipelined: the trip count of 2 is less than the 3 stages; a loop needs at least two iterations and one per stage"
func.func @short_loop(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] {smalti.stage = 0, smalti.cluster = 0} : memref<64xf32>
    %next = arith.addf %acc, %x {smalti.stage = 2, smalti.cluster = 1} : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=negative | Remark="loop not pipelined: the stage of 'memref.load' is -1; it must not be negative"
func.func @negative(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] {smalti.stage = -1, smalti.cluster = 0} : memref<64xf32>
    %next = arith.addf %acc, %x {smalti.stage = 1, smalti.cluster = 0} : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=none | Remark="loop not pipelined: the ops of the loop do not have the attribute 'smalti.stage', which use-schedule=true requires; emit-schedule=true writes it"
func.func @none(%a: memref<64xf32>, %init: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> f32 {
    %next = arith.addf %acc, %init : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=one_stage | Remark="loop not pipelined: the schedule in the attributes has only one stage; at least two are required"
func.func @one_stage(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] {smalti.stage = 0, smalti.cluster = 0} : memref<64xf32>
    %next = arith.addf %acc, %x {smalti.stage = 0, smalti.cluster = 1} : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=too_late | Remark="loop not pipelined: 'arith.addf' computes a loop-carried value in a later stage than 'arith.mulf' uses the value; give both the same stage"
func.func @too_late(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = arith.mulf %acc, %acc {smalti.stage = 0, smalti.cluster = 0} : f32
    %y = memref.load %a[%i] {smalti.stage = 0, smalti.cluster = 0} : memref<64xf32>
    %next = arith.addf %x, %y {smalti.stage = 1, smalti.cluster = 1} : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=view | Remark="loop not pipelined: the view that 'memref.subview' creates is used in another stage; views and their users must have the same stage"
func.func @view(%a: memref<64x64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %v = memref.subview %a[%i, 0] [1, 64] [1, 1] {smalti.stage = 0, smalti.cluster = 0} : memref<64x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    %y = memref.load %v[%i] {smalti.stage = 1, smalti.cluster = 0} : memref<64xf32, strided<[1], offset: ?>>
    %next = arith.addf %acc, %y {smalti.stage = 1, smalti.cluster = 1} : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=layout | Remark="loop not pipelined: the result of 'vector.transfer_read' is used in another stage, but does not have the attribute 'out_layouts'; run mosaic-gpu-infer-layouts first"
func.func @layout(%a: memref<64x256xf32>, %init: vector<256xf32>) -> vector<256xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> vector<256xf32> {
    %y = vector.transfer_read %a[%i, %c0], %zero {in_bounds = [true], smalti.stage = 0, smalti.cluster = 0} : memref<64x256xf32>, vector<256xf32>
    %next = arith.addf %acc, %y {smalti.stage = 1, smalti.cluster = 1} : vector<256xf32>
    scf.yield %next : vector<256xf32>
  } {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], 1>]}
  return %sum : vector<256xf32>
}

// CHECK: Function=several_stages | Remark="loop not pipelined: the schedule starts asynchronous copies in several stages; all must start in the same stage"
func.func @several_stages(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %thread: index, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %s = memref.alloc() : memref<3x64xf32, #gpu.address_space<workgroup>>
  %q = memref.alloc() : memref<3x64xf32, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %c64 step %c1 {
    %slot = arith.remui %i, %c3 : index
    %one = nvgpu.device_async_copy %a[%i, %thread], %s[%slot, %thread], 1 {smalti.stage = 0, smalti.cluster = 3} : memref<64x64xf32> to memref<3x64xf32, #gpu.address_space<workgroup>>
    %two = nvgpu.device_async_copy %b[%i, %thread], %q[%slot, %thread], 1 {smalti.stage = 1, smalti.cluster = 3} : memref<64x64xf32> to memref<3x64xf32, #gpu.address_space<workgroup>>
    %group = nvgpu.device_async_create_group %one, %two {smalti.stage = 1, smalti.cluster = 4}
    nvgpu.device_async_wait %group {numGroups = 0 : i32, smalti.stage = 2, smalti.cluster = 5}
    gpu.barrier
    %x = memref.load %s[%slot, %thread] {smalti.stage = 2, smalti.cluster = 6} : memref<3x64xf32, #gpu.address_space<workgroup>>
    %y = memref.load %q[%slot, %thread] {smalti.stage = 2, smalti.cluster = 6} : memref<3x64xf32, #gpu.address_space<workgroup>>
    %z = arith.addf %x, %y {smalti.stage = 2, smalti.cluster = 7} : f32
    memref.store %z, %out[%i] {smalti.stage = 2, smalti.cluster = 8} : memref<64xf32>
    gpu.barrier
  }
  return
}

// CHECK: Function=before_wait | Remark="loop not pipelined: the schedule would start 'nvgpu.device_async_copy' before 'nvgpu.device_async_copy'; asynchronous copies must keep their order"
func.func @before_wait(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %thread: index, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %s = memref.alloc() : memref<3x64xf32, #gpu.address_space<workgroup>>
  %q = memref.alloc() : memref<3x64xf32, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %c64 step %c1 {
    %slot = arith.remui %i, %c3 : index
    %one = nvgpu.device_async_copy %a[%i, %thread], %s[%slot, %thread], 1 {smalti.stage = 0, smalti.cluster = 4} : memref<64x64xf32> to memref<3x64xf32, #gpu.address_space<workgroup>>
    %two = nvgpu.device_async_copy %b[%i, %thread], %q[%slot, %thread], 1 {smalti.stage = 0, smalti.cluster = 3} : memref<64x64xf32> to memref<3x64xf32, #gpu.address_space<workgroup>>
    %group = nvgpu.device_async_create_group %one, %two {smalti.stage = 0, smalti.cluster = 5}
    nvgpu.device_async_wait %group {numGroups = 0 : i32, smalti.stage = 2, smalti.cluster = 0}
    gpu.barrier
    %x = memref.load %s[%slot, %thread] {smalti.stage = 2, smalti.cluster = 6} : memref<3x64xf32, #gpu.address_space<workgroup>>
    %y = memref.load %q[%slot, %thread] {smalti.stage = 2, smalti.cluster = 6} : memref<3x64xf32, #gpu.address_space<workgroup>>
    %z = arith.addf %x, %y {smalti.stage = 2, smalti.cluster = 7} : f32
    memref.store %z, %out[%i] {smalti.stage = 2, smalti.cluster = 8} : memref<64xf32>
    gpu.barrier
  }
  return
}

// CHECK: Function=before_copies | Remark="loop not pipelined: the schedule would execute 'nvgpu.device_async_wait' before the copies that it waits for; give the wait a later stage or cluster"
func.func @before_copies(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %thread: index, %out: memref<64xf32>, %token: !nvgpu.device.async.token) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %s = memref.alloc() : memref<3x64xf32, #gpu.address_space<workgroup>>
  %q = memref.alloc() : memref<3x64xf32, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %c64 step %c1 {
    %slot = arith.remui %i, %c3 : index
    %one = nvgpu.device_async_copy %a[%i, %thread], %s[%slot, %thread], 1 {smalti.stage = 1, smalti.cluster = 5} : memref<64x64xf32> to memref<3x64xf32, #gpu.address_space<workgroup>>
    %two = nvgpu.device_async_copy %b[%i, %thread], %q[%slot, %thread], 1 {smalti.stage = 1, smalti.cluster = 5} : memref<64x64xf32> to memref<3x64xf32, #gpu.address_space<workgroup>>
    %group = nvgpu.device_async_create_group %one, %two {smalti.stage = 1, smalti.cluster = 6}
    nvgpu.device_async_wait %token {numGroups = 0 : i32, smalti.stage = 1, smalti.cluster = 0}
    gpu.barrier
    %x = memref.load %s[%slot, %thread] {smalti.stage = 2, smalti.cluster = 6} : memref<3x64xf32, #gpu.address_space<workgroup>>
    %y = memref.load %q[%slot, %thread] {smalti.stage = 2, smalti.cluster = 6} : memref<3x64xf32, #gpu.address_space<workgroup>>
    %z = arith.addf %x, %y {smalti.stage = 2, smalti.cluster = 7} : f32
    memref.store %z, %out[%i] {smalti.stage = 2, smalti.cluster = 8} : memref<64xf32>
    gpu.barrier
  }
  return
}
