// Loops around loops, and conditionals in loops.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// The outer loop prefetches one row; the inner one, which also reads, is pipelined in both of its
// copies.
// REMARK: Function=both | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 0 shared buffers, 0 B; 0 barriers per iteration; trip count 64"
// REMARK: Function=both | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 0 shared buffers, 0 B; 0 barriers per iteration; trip count 8"
// REMARK: Function=both | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 0 shared buffers, 0 B; 0 barriers per iteration; trip count 8"
// CHECK-LABEL: func.func @both(
// CHECK:         vector.load
// CHECK:         scf.for
// CHECK:           vector.load
// CHECK:           memref.load
// CHECK:           scf.for
// CHECK:             memref.load
// CHECK:         memref.load
// CHECK:         scf.for
// CHECK:           memref.load
// CHECK:         return
func.func @both(%a: memref<64x8xf32>, %b: memref<8xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    %next = scf.for %j = %c0 to %c8 step %c1 iter_args(%inner = %acc) -> f32 {
      %x = vector.extract %row[%j] : f32 from vector<8xf32>
      %y = memref.load %b[%j] : memref<8xf32>
      %z = arith.mulf %x, %y : f32
      %s = arith.addf %inner, %z : f32
      scf.yield %s : f32
    }
    scf.yield %next : f32
  }
  return %sum : f32
}

// A loop with a barrier cannot be part of a stage; it is pipelined itself.
// REMARK: Function=inner_barrier | Remark="loop not pipelined: 'gpu.barrier' is inside 'scf.for', which can only be scheduled as a whole; move the inner op to the top level of the loop body"
// REMARK: Function=inner_barrier | Remark="loop pipelined: 2 stages
func.func @inner_barrier(%a: memref<64x8xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<8xf32, 3>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %next = scf.for %j = %c0 to %c8 step %c1 iter_args(%inner = %acc) -> f32 {
      %x = memref.load %a[%i, %j] : memref<64x8xf32>
      memref.store %x, %shared[%j] : memref<8xf32, 3>
      gpu.barrier
      %y = memref.load %shared[%c0] : memref<8xf32, 3>
      %s = arith.addf %inner, %y : f32
      gpu.barrier
      scf.yield %s : f32
    }
    scf.yield %next : f32
  }
  return %sum : f32
}

// A guarded copy is split, so that its read can be prefetched.
// REMARK: Function=guarded_copy | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 1 shared buffer, 32 B; 2 barriers per iteration; trip count 64"
// CHECK-LABEL: func.func @guarded_copy(
// CHECK:         %[[FIRST:.*]] = scf.if %{{.*}} -> (f32)
// CHECK:         scf.if
// CHECK:           memref.store %[[FIRST]]
// CHECK:         scf.for
// CHECK:           gpu.barrier
// CHECK:           %[[NEXT:.*]] = scf.if %{{.*}} -> (f32)
// CHECK:             memref.load
// CHECK:           } else {
// CHECK-NEXT:        arith.constant 0.0
// CHECK:           memref.load {{.*}} : memref<8xf32, 3>
// CHECK:           gpu.barrier
// CHECK:           scf.if
// CHECK-NEXT:        memref.store %[[NEXT]]
// CHECK-NEXT:      }
func.func @guarded_copy(%a: memref<64x8xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<8xf32, 3>
  %inside = arith.cmpi ult, %thread, %c8 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    scf.if %inside {
      %next_row = arith.addi %i, %c0 : index
      %x = memref.load %a[%next_row, %thread] : memref<64x8xf32>
      memref.store %x, %shared[%thread] : memref<8xf32, 3>
    }
    gpu.barrier
    %y = memref.load %shared[%c1] : memref<8xf32, 3>
    %next = arith.addf %acc, %y : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// In a conditional, and next to one another.
// REMARK: Function=in_branches | Remark="loop pipelined
// REMARK: Function=in_branches | Remark="loop pipelined
// REMARK: Function=in_branches | Remark="loop pipelined
func.func @in_branches(%a: memref<64xf32>, %init: f32, %condition: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %result = scf.if %condition -> f32 {
    %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
      %x = memref.load %a[%i] : memref<64xf32>
      %next = arith.addf %acc, %x : f32
      scf.yield %next : f32
    }
    %product = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %sum) -> f32 {
      %x = memref.load %a[%i] : memref<64xf32>
      %next = arith.mulf %acc, %x : f32
      scf.yield %next : f32
    }
    scf.yield %product : f32
  } else {
    %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
      %x = memref.load %a[%i] : memref<64xf32>
      %next = arith.subf %acc, %x : f32
      scf.yield %next : f32
    }
    scf.yield %sum : f32
  }
  return %result : f32
}

// A loop that stores its result in every iteration: the store stays with what
// computes it.
// REMARK: Function=stores_result | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 1 shared buffer, 32 B; 2 barriers per iteration; trip count 64"
// CHECK-LABEL: func.func @stores_result(
// CHECK:         vector.load
// CHECK:         vector.store
// CHECK-NOT:     memref.store
// CHECK:         scf.for
// CHECK:           vector.load
// CHECK:           memref.load
// CHECK:           memref.store
// CHECK:           vector.store
// CHECK:         }
func.func @stores_result(%a: memref<64x8xf32> {llvm.noalias}, %out: memref<64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<8xf32, 3>
  scf.for %i = %c0 to %c64 step %c1 {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    vector.store %row, %shared[%c0] : memref<8xf32, 3>, vector<8xf32>
    gpu.barrier
    %y = memref.load %shared[%c1] : memref<8xf32, 3>
    %z = arith.mulf %y, %y : f32
    memref.store %z, %out[%i] : memref<64xf32>
    gpu.barrier
  }
  return
}

// A conditional that keeps something on the thread's stack for itself, and a
// buffer resource.
// REMARK: Function=private_buffer | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched
// CHECK-LABEL: func.func @private_buffer(
// CHECK:         scf.for
// CHECK:           vector.load
// CHECK:           memref.alloca
// CHECK:         }
// CHECK:         memref.alloca
// CHECK:         return
func.func @private_buffer(%a: memref<64x8xf32, #amdgpu.address_space<fat_raw_buffer>>, %condition: i1, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32, #amdgpu.address_space<fat_raw_buffer>>, vector<8xf32>
    %x = scf.if %condition -> f32 {
      %buffer = memref.alloca() : memref<8xf32, 5>
      vector.store %row, %buffer[%c0] : memref<8xf32, 5>, vector<8xf32>
      %y = memref.load %buffer[%c1] : memref<8xf32, 5>
      scf.yield %y : f32
    } else {
      scf.yield %zero : f32
    }
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}
