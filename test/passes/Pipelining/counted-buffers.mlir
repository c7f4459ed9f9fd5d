// Numbers of buffers in the remark, for a loop's memref that may be one of several.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=2}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o /dev/null 2>&1 | FileCheck %s

#shared = #gpu.address_space<workgroup>
!buffer = memref<256xf32, #shared>

// CHECK: Function=selected | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 2 shared buffers, 2048 B; 2 barriers per iteration; trip count 16"
func.func @selected(%a: memref<16x256xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %one = memref.alloc() : !buffer
  %other = memref.alloc() : !buffer
  %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init) -> f32 {
    %bit = arith.andi %i, %c1 : index
    %is_even = arith.cmpi eq, %bit, %c0 : index
    %now = arith.select %is_even, %one, %other : !buffer
    %x = memref.load %a[%i, %thread] : memref<16x256xf32>
    memref.store %x, %now[%thread] : !buffer
    gpu.barrier
    %y = memref.load %now[%c1] : !buffer
    %next = arith.addf %acc, %y : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=permuted | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 2 shared buffers, 2048 B; 2 barriers per iteration; trip count 16"
func.func @permuted(%a: memref<16x256xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %one = memref.alloc() : !buffer
  %other = memref.alloc() : !buffer
  %sum:3 = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init, %now = %one, %then = %other)
      -> (f32, !buffer, !buffer) {
    %x = memref.load %a[%i, %thread] : memref<16x256xf32>
    memref.store %x, %now[%thread] : !buffer
    gpu.barrier
    %y = memref.load %now[%c1] : !buffer
    %next = arith.addf %acc, %y : f32
    scf.yield %next, %then, %now : f32, !buffer, !buffer
  }
  return %sum#0 : f32
}

// Both are names of one global.
memref.global "private" @rows : !buffer
// CHECK: Function=one_global | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 1 shared buffer, 1024 B; 2 barriers per iteration; trip count 16"
func.func @one_global(%a: memref<16x256xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %one = memref.get_global @rows : !buffer
  %other = memref.get_global @rows : !buffer
  %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i, %thread] : memref<16x256xf32>
    memref.store %x, %one[%thread] : !buffer
    gpu.barrier
    %y = memref.load %other[%c1] : !buffer
    %next = arith.addf %acc, %y : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}
