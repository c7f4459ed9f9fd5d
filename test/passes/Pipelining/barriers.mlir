// Barriers around a pipelined loop.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops,canonicalize,cse))' | FileCheck %s
#shared = #gpu.address_space<workgroup>

// A loop without barriers belongs to single threads: none is added.
// CHECK-LABEL: func.func @no_barrier(
// CHECK:         scf.for
// CHECK-NOT:     gpu.barrier
// CHECK:         return
func.func @no_barrier(%a: memref<64x8xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<8xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    vector.store %row, %shared[%c0] : memref<8xf32, #shared>, vector<8xf32>
    %x = memref.load %shared[%c1] : memref<8xf32, #shared>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// The buffer is read before the loop and written after it: what the barriers of
// the loop ordered at its ends is ordered still.
// CHECK-LABEL: func.func @reused_buffer(
// CHECK:         memref.load {{.*}} : memref<8xf32, #gpu.address_space<workgroup>>
// CHECK:         gpu.barrier
// CHECK:         vector.store {{.*}} : memref<8xf32, #gpu.address_space<workgroup>>
// CHECK:         scf.for
// CHECK:           gpu.barrier
// CHECK:           memref.load
// CHECK:           gpu.barrier
// CHECK:           vector.store
// CHECK:         }
// CHECK:         gpu.barrier
// CHECK:         memref.load {{.*}} : memref<8xf32, #gpu.address_space<workgroup>>
// CHECK:         gpu.barrier
// CHECK:         vector.store {{.*}} : memref<8xf32, #gpu.address_space<workgroup>>
func.func @reused_buffer(%a: memref<64x8xf32>, %last: vector<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<8xf32, #shared>
  %init = memref.load %shared[%c0] : memref<8xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    gpu.barrier
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    vector.store %row, %shared[%c0] : memref<8xf32, #shared>, vector<8xf32>
    gpu.barrier
    %x = memref.load %shared[%c1] : memref<8xf32, #shared>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  gpu.barrier
  vector.store %last, %shared[%c0] : memref<8xf32, #shared>, vector<8xf32>
  return %sum : f32
}

// Every eligible loop: two in a row, and one in an scf.if; the loop around
// them stays.
// CHECK-LABEL: func.func @several(
// CHECK:         scf.for
// CHECK:           memref.load
// CHECK:           scf.for %{{.*}} to %c63
// CHECK:             memref.load
// CHECK:           arith.addf
// CHECK:           scf.if
// CHECK:             memref.load
// CHECK:             scf.for %{{.*}} to %c63
func.func @several(%a: memref<64xf32>, %init: f32, %n: index, %condition: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %result = scf.for %k = %c0 to %n step %c1 iter_args(%outer = %init) -> f32 {
    %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %outer) -> f32 {
      %x = memref.load %a[%i] : memref<64xf32>
      %next = arith.addf %acc, %x : f32
      scf.yield %next : f32
    }
    %either = scf.if %condition -> f32 {
      %product = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %sum) -> f32 {
        %x = memref.load %a[%i] : memref<64xf32>
        %next = arith.mulf %acc, %x : f32
        scf.yield %next : f32
      }
      scf.yield %product : f32
    } else {
      scf.yield %sum : f32
    }
    scf.yield %either : f32
  }
  return %result : f32
}

// Other blocks that see the count take it that all of the rows are written.
// CHECK-LABEL: func.func @counted_after(
// CHECK:         scf.for
// CHECK:         }
// CHECK:         memref.store {{.*}} : memref<64xf32>
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.atomic_rmw
func.func @counted_after(%a: memref<64x8xf32> {llvm.noalias}, %out: memref<64xf32> {llvm.noalias},
                          %count: memref<1xi32> {llvm.noalias}) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %shared = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    vector.store %row, %shared[%c0] : memref<8xf32, #shared>, vector<8xf32>
    gpu.barrier
    %x = memref.load %shared[%c1] : memref<8xf32, #shared>
    memref.store %x, %out[%i] : memref<64xf32>
    gpu.barrier
  }
  %old = memref.atomic_rmw addi %one, %count[%c0] : (i32, memref<1xi32>) -> i32
  return
}

// The caller may write the buffer directly after this function, or read it directly
// before.
// CHECK-LABEL: func.func @callers_buffer(
// CHECK:         vector.load
// CHECK:         vector.store
// CHECK:         scf.for
// CHECK:         }
// CHECK:         gpu.barrier
// CHECK:         memref.load
// CHECK:         gpu.barrier
// CHECK:         return
func.func @callers_buffer(%a: memref<64x8xf32>, %shared: memref<8xf32, #shared>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    vector.store %row, %shared[%c0] : memref<8xf32, #shared>, vector<8xf32>
    gpu.barrier
    %x = memref.load %shared[%c1] : memref<8xf32, #shared>
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// It may therefore read elements that other threads wrote to its array; a kernel does not have later
// code.
// CHECK-LABEL: func.func @callers_array(
// CHECK:         scf.for
// CHECK:         }
// CHECK:         memref.store {{.*}} : memref<64xf32>
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    return
// CHECK-LABEL: func.func @kernels_array(
// CHECK:         scf.for
// CHECK:         }
// CHECK:         memref.store {{.*}} : memref<64xf32>
// CHECK-NEXT:    return
func.func @callers_array(%a: memref<64x8xf32> {llvm.noalias}, %out: memref<64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    vector.store %row, %shared[%c0] : memref<8xf32, #shared>, vector<8xf32>
    gpu.barrier
    %x = memref.load %shared[%c1] : memref<8xf32, #shared>
    memref.store %x, %out[%i] : memref<64xf32>
    gpu.barrier
  }
  return
}

func.func @kernels_array(%a: memref<64x8xf32> {llvm.noalias}, %out: memref<64xf32> {llvm.noalias})
    attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    vector.store %row, %shared[%c0] : memref<8xf32, #shared>, vector<8xf32>
    gpu.barrier
    %x = memref.load %shared[%c1] : memref<8xf32, #shared>
    memref.store %x, %out[%i] : memref<64xf32>
    gpu.barrier
  }
  return
}
