// Functions that smalti-place-barriers does not change, with the full text of the reason; the program is
// unchanged.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers)))' --remarks-filter=smalti-place-barriers 2>%t > %t.after
// RUN: FileCheck %s < %t
// RUN: smalti-opt %s | diff - %t.after
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers{strict=true})))' 2>&1 | FileCheck %s --check-prefix=STRICT
#shared = #gpu.address_space<workgroup>

// STRICT: error: smalti-place-barriers: possible data race: 'memref.store' and 'memref.load' of different threads may access the same memory

gpu.module @m {
  // CHECK: Function=divergent_hazard | Remark="possible data race: 'memref.store' and 'memref.load' of different threads may access the same memory; the condition of 'scf.if' may be divergent, so no barrier can be placed inside; make it uniform, or move one access outside"
  gpu.func @divergent_hazard(%out: memref<?xf32>, %x: f32) workgroup(%s: memref<64xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %some = arith.cmpi ne, %t, %c0 : index
    scf.if %some {
      memref.store %x, %s[%t] : memref<64xf32, #shared>
      %v = memref.load %s[%c0] : memref<64xf32, #shared>
      memref.store %v, %out[%t] : memref<?xf32>
    }
    gpu.return
  }

  // CHECK: Function=divergent_barrier | Remark="barrier neither removed nor weakened: the condition of 'scf.if' may be divergent; make it uniform, or move the barrier out of the op"
  gpu.func @divergent_barrier() kernel {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %some = arith.cmpi ne, %t, %c0 : index
    scf.if %some {
      gpu.barrier
    }
    gpu.return
  }

  // CHECK: Function=divergent_loop | Remark="barrier neither removed nor weakened: the trip count of 'scf.for' may be divergent; make it uniform, or move the barrier out of the op"
  gpu.func @divergent_loop() kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to %t step %c1 {
      gpu.barrier
    }
    gpu.return
  }

  // A window has another size in each thread.
  // CHECK: Function=divergent_size | Remark="possible data race: 'memref.store' and 'memref.load' of different threads may access the same memory; the trip count of 'scf.for' may be divergent, so no barrier can be placed inside; make it uniform, or move one access outside"
  gpu.func @divergent_size(%in: memref<64xf32>, %out: memref<64xf32>, %first: i1) workgroup(%s: memref<64xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %a = memref.subview %in[0] [%t] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
    %b = memref.subview %out[0] [%t] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
    %window = arith.select %first, %a, %b : memref<?xf32, strided<[1]>>
    %n = memref.dim %window, %c0 : memref<?xf32, strided<[1]>>
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %in[%i] : memref<64xf32>
      memref.store %x, %s[%t] : memref<64xf32, #shared>
      %v = memref.load %s[%c0] : memref<64xf32, #shared>
      memref.store %v, %out[%i] : memref<64xf32>
    }
    gpu.return
  }

  // CHECK: Function=unknown_regions | Remark="barrier neither removed nor weakened: the control flow of 'scf.parallel' is unknown; use scf.for, scf.while or scf.if"
  gpu.func @unknown_regions(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      gpu.barrier
    }
    gpu.return
  }

  // CHECK: Function=unstructured | Remark="barriers not changed: the function has branches between MLIR blocks; use scf.for, scf.while or scf.if"
  gpu.func @unstructured() kernel {
    gpu.barrier
    cf.br ^bb1
  ^bb1:
    gpu.barrier
    gpu.return
  }

  // Threads may wait for one another there: what looks like a hazard may be
  // none.
  // CHECK: Function=barrier_object | Remark="possible data race: 'memref.store' and 'memref.load' of different threads may access the same memory; 'nvgpu.mbarrier.arrive' may synchronize threads, so no barrier is inserted; if it does not order the accesses, insert a gpu.barrier between them"
  // CHECK: Function=barrier_object | Remark="no barrier inserted in this function: 'nvgpu.mbarrier.arrive' may synchronize threads
  gpu.func @barrier_object(%out: memref<?xf32>, %x: f32, %i: index) workgroup(%s: memref<64xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %bar = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
    memref.store %x, %s[%t] : memref<64xf32, #shared>
    %token = nvgpu.mbarrier.arrive %bar[%c0] : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>> -> !nvgpu.mbarrier.token
    %v = memref.load %s[%i] : memref<64xf32, #shared>
    memref.store %v, %out[%t] : memref<?xf32>
    gpu.return
  }

  // CHECK: Function=call | Remark="no barrier inserted in this function: 'func.call' may synchronize threads, and the pass cannot determine which accesses it orders; insert a gpu.barrier where a barrier is missing"
  // CHECK: Function=call | Remark="barrier kept: 'func.call' has unknown side effects"
  gpu.func @call() kernel {
    func.call @anything() : () -> ()
    gpu.barrier
    func.call @anything() : () -> ()
    gpu.return
  }
  func.func private @anything()
}
