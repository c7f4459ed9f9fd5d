// Removed, inserted and kept barriers of smalti-place-barriers.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers)),func.func(smalti-place-barriers))' --remarks-filter=smalti-place-barriers 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers,smalti-place-barriers)),func.func(smalti-place-barriers,smalti-place-barriers))' > %t.twice
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers)),func.func(smalti-place-barriers))' | diff - %t.twice
#shared = #gpu.address_space<workgroup>

// REMARK-DAG: Function=removed | Remark="barrier removed: other barriers order every hazard that it orders"
// REMARK-DAG: Function=removed | Remark="barrier kept: it orders 'memref.store' before 'memref.load'"
// REMARK-DAG: Function=removed | Remark="2 barriers removed, 0 inserted, 1 kept"
// REMARK-DAG: Function=tile | Remark="barrier inserted: it orders 'memref.store' before 'memref.load'"
// REMARK-DAG: Function=tile | Remark="0 barriers removed, 3 inserted, 0 kept"
// REMARK-DAG: Function=hoisted | Remark="1 barrier removed, 1 inserted, 1 kept"
// REMARK-DAG: Function=copies | Remark="barrier inserted: it orders 'nvgpu.device_async_wait' before 'memref.load'"
// REMARK-DAG: Function=unknown | Remark="barrier kept: 'func.call' has unknown side effects"
// REMARK-DAG: Function=unknown | Remark="barrier kept: it orders 'memref.load' before later accesses of a caller"
gpu.module @m {
  // Two barriers in a row, and one that orders only reads.
  // CHECK-LABEL: gpu.func @removed(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    gpu.return
  gpu.func @removed(%x: f32, %i: index, %j: index, %out: memref<2xf32, 5>) workgroup(%s: memref<64xf32, #shared>) kernel {
    memref.store %x, %s[%i] : memref<64xf32, #shared>
    gpu.barrier
    gpu.barrier
    %a = memref.load %s[%j] : memref<64xf32, #shared>
    gpu.barrier
    %b = memref.load %s[%i] : memref<64xf32, #shared>
    gpu.return
  }

  // A tile that a loop fills and reads: two barriers inside, and the accesses before and after it need none of their
  // own.
  // CHECK-LABEL: gpu.func @tile(
  // CHECK:         memref.store
  // CHECK-NEXT:    scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load %{{.*}}[%{{.*}}] : memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK-NEXT:      arith.addf
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load %{{.*}}[%{{.*}}] : memref<?xf32>
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      scf.yield
  // CHECK-NEXT:    }
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  gpu.func @tile(%in: memref<?xf32>, %out: memref<?xf32>, %n: index, %x: f32) workgroup(%s: memref<64xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    memref.store %x, %s[%t] : memref<64xf32, #shared>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
      %v = memref.load %s[%c0] : memref<64xf32, #shared>
      %next = arith.addf %acc, %v : f32
      %g = memref.load %in[%i] : memref<?xf32>
      memref.store %g, %s[%t] : memref<64xf32, #shared>
      scf.yield %next : f32
    }
    %last = memref.load %s[%c1] : memref<64xf32, #shared>
    %all = arith.addf %sum, %last : f32
    memref.store %all, %out[%t] : memref<?xf32>
    gpu.return
  }

  // The inner loop only reads shared memory, and each thread writes its own
  // element of global memory: the barrier goes in front of it.
  // CHECK-LABEL: gpu.func @hoisted(
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      scf.for
  // CHECK-NOT:         gpu.barrier
  // CHECK:           }
  // CHECK-NEXT:    }
  gpu.func @hoisted(%out: memref<?xf32>, %n: index, %x: f32) workgroup(%s: memref<64xf32, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to %n step %c1 {
      gpu.barrier
      memref.store %x, %s[%t] : memref<64xf32, #shared>
      scf.for %j = %c0 to %n step %c1 {
        gpu.barrier
        %v = memref.load %s[%j] : memref<64xf32, #shared>
        memref.store %v, %out[%t] : memref<?xf32>
      }
    }
    gpu.return
  }

  // Only some threads read: the barrier stands before the branch.
  // CHECK-LABEL: gpu.func @branch(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    scf.if
  // CHECK-NEXT:      memref.load
  gpu.func @branch(%out: memref<?xf32>, %x: f32) workgroup(%s: memref<64xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    memref.store %x, %s[%t] : memref<64xf32, #shared>
    scf.if %first {
      %v = memref.load %s[%c0] : memref<64xf32, #shared>
      memref.store %v, %out[%c0] : memref<?xf32>
    }
    gpu.return
  }

  // A barrier that orders global memory stays; none is inserted for it.
  // CHECK-LABEL: gpu.func @global(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.return
  gpu.func @global(%a: memref<?xf32> {llvm.noalias}, %b: memref<?xf32> {llvm.noalias}, %x: f32, %i: index) kernel {
    %t = gpu.thread_id x
    memref.store %x, %a[%t] : memref<?xf32>
    gpu.barrier
    %v = memref.load %a[%i] : memref<?xf32>
    gpu.barrier
    memref.store %v, %b[%t] : memref<?xf32>
    gpu.return
  }

  // Every thread reads what it wrote, and no other one does.
  // CHECK-LABEL: gpu.func @own_elements(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @own_elements(%out: memref<?xf32>, %x: f32) workgroup(%s: memref<128xf32, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %u = arith.addi %t, %c64 : index
    memref.store %x, %s[%t] : memref<128xf32, #shared>
    gpu.barrier
    memref.store %x, %s[%u] : memref<128xf32, #shared>
    %v = memref.load %s[%t] : memref<128xf32, #shared>
    memref.store %v, %out[%t] : memref<?xf32>
    gpu.return
  }

  // The same with unknown threads.
  // CHECK-LABEL: gpu.func @any_block(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  gpu.func @any_block(%out: memref<?xf32>, %x: f32) workgroup(%s: memref<128xf32, #shared>) kernel {
    %t = gpu.thread_id x
    memref.store %x, %s[%t] : memref<128xf32, #shared>
    gpu.barrier
    %v = memref.load %s[%t] : memref<128xf32, #shared>
    memref.store %v, %out[%t] : memref<?xf32>
    gpu.return
  }

  // Atomic accesses need no order among themselves.
  // CHECK-LABEL: gpu.func @histogram(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    scf.for
  // CHECK-NOT:       gpu.barrier
  // CHECK:         }
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  gpu.func @histogram(%in: memref<?xindex>, %out: memref<?xi32>, %n: index) workgroup(%s: memref<64xi32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %t = gpu.thread_id x
    memref.store %zero, %s[%t] : memref<64xi32, #shared>
    scf.for %i = %c0 to %n step %c1 {
      %bin = memref.load %in[%i] : memref<?xindex>
      %old = memref.atomic_rmw addi %one, %s[%bin] : (i32, memref<64xi32, #shared>) -> i32
    }
    %v = memref.load %s[%t] : memref<64xi32, #shared>
    memref.store %v, %out[%t] : memref<?xi32>
    gpu.return
  }

  // Slots in turn: one barrier an iteration is enough.
  // CHECK-LABEL: gpu.func @slots(
  // CHECK:         scf.for
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:       gpu.barrier
  // CHECK:         gpu.return
  gpu.func @slots(%out: memref<?xf32>, %n: index, %x: f32) workgroup(%s: memref<2x64xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to %n step %c1 {
      %slot = arith.remui %i, %c2 : index
      %view = memref.subview %s[%slot, 0] [1, 64] [1, 1]
        : memref<2x64xf32, #shared> to memref<64xf32, strided<[1], offset: ?>, #shared>
      memref.store %x, %view[%t] : memref<64xf32, strided<[1], offset: ?>, #shared>
      gpu.barrier
      %v = memref.load %view[%i] : memref<64xf32, strided<[1], offset: ?>, #shared>
      memref.store %v, %out[%t] : memref<?xf32>
      gpu.barrier
    }
    gpu.return
  }

  // A loop whose condition is computed in front: every thread sees the same.
  // CHECK-LABEL: gpu.func @while(
  // CHECK:         scf.while
  // CHECK:           scf.condition
  // CHECK:           gpu.barrier
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  gpu.func @while(%out: memref<?xf32>, %n: index, %x: f32) workgroup(%s: memref<64xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %end = scf.while (%i = %c0) : (index) -> index {
      %go = arith.cmpi ult, %i, %n : index
      scf.condition(%go) %i : index
    } do {
    ^bb0(%i: index):
      memref.store %x, %s[%t] : memref<64xf32, #shared>
      %v = memref.load %s[%i] : memref<64xf32, #shared>
      memref.store %v, %out[%t] : memref<?xf32>
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }

  // The copy is pending from the wait on, independent of the ops between.
  // CHECK-LABEL: gpu.func @copies(
  // CHECK:         nvgpu.device_async_copy
  // CHECK-NEXT:    nvgpu.device_async_create_group
  // CHECK-NEXT:    nvgpu.device_async_wait
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  gpu.func @copies(%in: memref<64xf32>, %out: memref<?xf32>, %i: index) workgroup(%s: memref<64xf32, #shared>) kernel {
    %t = gpu.thread_id x
    %copy = nvgpu.device_async_copy %in[%t], %s[%t], 1 : memref<64xf32> to memref<64xf32, #shared>
    gpu.barrier
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    %v = memref.load %s[%i] : memref<64xf32, #shared>
    memref.store %v, %out[%t] : memref<?xf32>
    gpu.return
  }

  // A call may have any effect, and so may the code around a function that is not a kernel; of two barriers without ops
  // between them one is removed.
  // CHECK-LABEL: gpu.func @unknown(
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    func.call @anything
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    gpu.return
  gpu.func @unknown(%i: index) workgroup(%s: memref<64xf32, #shared>) {
    gpu.barrier
    func.call @anything() : () -> ()
    gpu.barrier
    gpu.barrier
    %v = memref.load %s[%i] : memref<64xf32, #shared>
    gpu.barrier
    gpu.return
  }
  func.func private @anything()
}

// Not a kernel: code after the function may access the elements that the inner loop reads. A barrier at its end
// replaces the one in the loops.
// CHECK-LABEL: func.func @has_callers(
// CHECK:         memref.load
// CHECK:         gpu.barrier
// CHECK:         return
func.func @has_callers(%s: memref<64xf32, #shared>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      gpu.barrier
      %v = memref.load %s[%j] : memref<64xf32, #shared>
      gpu.barrier
    }
    gpu.barrier
  }
  return
}
