// An outer loop that executes the pipelined loop repeatedly: accesses of the epilogue are ordered with the next
// prologue, and with the original loop, which runs for small trip counts.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-pipeline-loops{stages=2})))' \
// RUN:   | FileCheck %s

#shared = #gpu.address_space<workgroup>
!slots = memref<3x64xf32, #shared>
!slot = memref<64xf32, strided<[1], offset: ?>, #shared>

// The last iteration stores to slot (n - 1) mod 3, the next prologue copies to slot 0.
// CHECK-LABEL: gpu.func @dynamic(
// CHECK:         scf.for %{{.*}} = %c0 to %c2
// CHECK:           scf.if
// CHECK:             gpu.barrier
// CHECK-NEXT:        nvgpu.device_async_copy
// CHECK:             scf.for
// CHECK:             nvgpu.device_async_wait
// CHECK:             gpu.barrier
// CHECK:             memref.load
// CHECK:             gpu.barrier
// CHECK:             memref.store
// CHECK:             gpu.barrier
// CHECK:           } else {

// The pipelined path is the only one: the barrier at its end is enough.
// CHECK-LABEL: gpu.func @static(
// CHECK:         scf.for %{{.*}} = %c0 to %c2
// CHECK-NOT:       gpu.barrier
// CHECK:           nvgpu.device_async_copy
// CHECK:           scf.for
// CHECK:           memref.store
// CHECK:           memref.store
// CHECK:           gpu.barrier
// CHECK:         }

// The barrier of the loop around is enough.
// CHECK-LABEL: gpu.func @ordered(
// CHECK:         scf.for %{{.*}} = %c0 to %c2
// CHECK:           scf.if
// CHECK-NOT:         gpu.barrier
// CHECK:             nvgpu.device_async_copy
// CHECK:             memref.store
// CHECK:             memref.store
// CHECK-NOT:         gpu.barrier
// CHECK:           } else {
gpu.module @m {
  gpu.func @dynamic(%a: memref<64x64xf32> {llvm.noalias}, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %m = arith.subi %c63, %t : index
    %s = memref.alloc() : !slots
    scf.for %again = %c0 to %c2 step %c1 {
      scf.for %i = %c0 to %n step %c1 {
        %k = arith.remui %i, %c3 : index
        %v = memref.subview %s[%k, 0] [1, 64] [1, 1] : !slots to !slot
        gpu.barrier
        %copy = nvgpu.device_async_copy %a[%i, %t], %v[%t], 1 : memref<64x64xf32> to !slot
        %group = nvgpu.device_async_create_group %copy
        nvgpu.device_async_wait %group {numGroups = 0 : i32}
        gpu.barrier
        %x = memref.load %v[%m] : !slot
        gpu.barrier
        memref.store %x, %v[%m] : !slot
      }
    }
    gpu.return
  }

  gpu.func @static(%a: memref<64x64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c10 = arith.constant 10 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %m = arith.subi %c63, %t : index
    %s = memref.alloc() : !slots
    scf.for %again = %c0 to %c2 step %c1 {
      scf.for %i = %c0 to %c10 step %c1 {
        %k = arith.remui %i, %c3 : index
        %v = memref.subview %s[%k, 0] [1, 64] [1, 1] : !slots to !slot
        gpu.barrier
        %copy = nvgpu.device_async_copy %a[%i, %t], %v[%t], 1 : memref<64x64xf32> to !slot
        %group = nvgpu.device_async_create_group %copy
        nvgpu.device_async_wait %group {numGroups = 0 : i32}
        gpu.barrier
        %x = memref.load %v[%m] : !slot
        gpu.barrier
        memref.store %x, %v[%m] : !slot
      }
    }
    gpu.return
  }

  gpu.func @ordered(%a: memref<64x64xf32> {llvm.noalias}, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %m = arith.subi %c63, %t : index
    %s = memref.alloc() : !slots
    scf.for %again = %c0 to %c2 step %c1 {
      scf.for %i = %c0 to %n step %c1 {
        %k = arith.remui %i, %c3 : index
        %v = memref.subview %s[%k, 0] [1, 64] [1, 1] : !slots to !slot
        gpu.barrier
        %copy = nvgpu.device_async_copy %a[%i, %t], %v[%t], 1 : memref<64x64xf32> to !slot
        %group = nvgpu.device_async_create_group %copy
        nvgpu.device_async_wait %group {numGroups = 0 : i32}
        gpu.barrier
        %x = memref.load %v[%m] : !slot
        gpu.barrier
        memref.store %x, %v[%m] : !slot
      }
      gpu.barrier
    }
    gpu.return
  }
}
