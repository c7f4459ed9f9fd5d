// Schedules by hand that are wrong: the reason word for word, and the program as it was.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{use-schedule=true}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks

// CHECK: Function=no_schedule | Remark="the loop is not pipelined: 'memref.load' has no smalti.stage attribute"
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

// CHECK: Function=backwards | Remark="the loop is not pipelined: 'arith.addf' would execute before 'memref.load', whose result it uses"
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

// CHECK: Function=lists | Remark="the loop is not pipelined: 'memref.load' has effects and cannot be made again for several stages"
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

// CHECK: Function=twice | Remark="the loop is not pipelined: 'arith.addi' is twice in stage 1"
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

// CHECK: Function=far | Remark="the loop is not pipelined: 'memref.load' has a stage above 15"
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

// CHECK: Function=mismatch | Remark="the loop is not pipelined: 'memref.load' has a smalti.stage and a smalti.cluster that do not fit together"
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

// A store that would run ahead of a load of the same element in an earlier
// iteration: a[i] is read in stage 1, a[i + 1] is written in stage 0.
// CHECK: Function=write_ahead | Remark="the loop is not pipelined: 'memref.store' of %arg0 would overtake 'memref.load' of %arg0 of an earlier iteration, which it may depend on"
func.func @write_ahead(%a: memref<65xf32>, %init: f32) -> f32 {
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

// CHECK: Function=short_loop | Remark="the loop is not pipelined: it runs 2 times, fewer than its 3 stages"
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
