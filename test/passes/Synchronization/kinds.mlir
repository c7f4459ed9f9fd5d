// Barriers for shared memory only, which do not wait for outstanding loads on chips that have
// them.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers{target=gfx1201})))' --remarks-filter=smalti-place-barriers 2>%t | FileCheck %s --check-prefixes=CHECK,SPLIT
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers{target=gfx942})))' | FileCheck %s --check-prefixes=CHECK,WHOLE
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers{target=sm_90a})))' | FileCheck %s --check-prefixes=CHECK,WHOLE
#shared = #gpu.address_space<workgroup>

gpu.module @m {
  // The read of global memory is complete where its value is stored.
  // CHECK-LABEL: gpu.func @stream(
  // CHECK:         scf.for
  // CHECK-NEXT:      memref.load
  // SPLIT-NEXT:      amdgpu.lds_barrier
  // WHOLE-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store
  // SPLIT-NEXT:      amdgpu.lds_barrier
  // WHOLE-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  // REMARK-DAG: Function=stream | Remark="barrier weakened to shared memory only: it orders 'memref.load' before 'memref.store'"
  // REMARK-DAG: Function=stream | Remark="barrier weakened to shared memory only: it orders 'memref.store' before 'memref.load'"
  // REMARK-DAG: Function=stream | Remark="0 barriers removed, 0 inserted, 2 kept, 2 of them weakened to shared memory only"
  gpu.func @stream(%in: memref<?xf32> {llvm.noalias}, %out: memref<?xf32> {llvm.noalias}, %n: index, %j: index)
      workgroup(%s: memref<64xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
      %g = memref.load %in[%i] : memref<?xf32>
      gpu.barrier
      memref.store %g, %s[%t] : memref<64xf32, #shared>
      gpu.barrier
      %v = memref.load %s[%j] : memref<64xf32, #shared>
      %next = arith.addf %acc, %v : f32
      scf.yield %next : f32
    }
    memref.store %sum, %out[%t] : memref<?xf32>
    gpu.return
  }

  // Global memory is ordered, too.
  // CHECK-LABEL: gpu.func @both(
  // CHECK:         gpu.barrier
  // CHECK-NOT:     amdgpu.lds_barrier
  // CHECK:         gpu.return
  // REMARK-DAG: Function=both | Remark="barrier kept: it orders 'memref.store' before 'memref.load'"
  gpu.func @both(%a: memref<?xf32>, %x: f32, %i: index) workgroup(%s: memref<64xf32, #shared>) kernel {
    %t = gpu.thread_id x
    memref.store %x, %a[%t] : memref<?xf32>
    memref.store %x, %s[%t] : memref<64xf32, #shared>
    gpu.barrier
    %v = memref.load %a[%i] : memref<?xf32>
    %w = memref.load %s[%i] : memref<64xf32, #shared>
    gpu.return
  }

  // New ones are of the kind that is enough.
  // CHECK-LABEL: gpu.func @new(
  // CHECK:         memref.store
  // SPLIT-NEXT:    amdgpu.lds_barrier
  // WHOLE-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // REMARK-DAG: Function=new | Remark="barrier inserted: it orders 'memref.store' before 'memref.load'"
  // REMARK-DAG: Function=new | Remark="0 barriers removed, 1 inserted, 0 kept"
  gpu.func @new(%x: f32, %i: index) workgroup(%s: memref<64xf32, #shared>) kernel {
    %t = gpu.thread_id x
    memref.store %x, %s[%t] : memref<64xf32, #shared>
    %v = memref.load %s[%i] : memref<64xf32, #shared>
    gpu.return
  }
}
