// Buffers that the iterations of a loop swap, which are distinguished as slots are: one of two barriers is removed.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers)))' --remarks-filter=smalti-place-barriers 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers,smalti-place-barriers)))' > %t.twice
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers)))' | diff - %t.twice
!tile = memref<64xf32, #gpu.address_space<workgroup>>

// REMARK-DAG: Function=swapped | Remark="1 barrier removed, 0 inserted, 1 kept"
// REMARK-DAG: Function=selected | Remark="1 barrier removed, 0 inserted, 1 kept"
gpu.module @m {
  // Two buffers that each iteration swaps.
  // CHECK-LABEL: gpu.func @swapped(
  // CHECK:         scf.for
  // CHECK-NOT:       gpu.barrier
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:       gpu.barrier
  // CHECK:         gpu.return
  gpu.func @swapped(%in: memref<?xf32>, %out: memref<?xf32>, %n: index) workgroup(%A: !tile, %B: !tile) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %A, %b = %B) -> (!tile, !tile) {
      %x = memref.load %in[%i] : memref<?xf32>
      gpu.barrier
      memref.store %x, %a[%t] : !tile
      gpu.barrier
      %y = memref.load %a[%back] : !tile
      memref.store %y, %out[%t] : memref<?xf32>
      scf.yield %b, %a : !tile, !tile
    }
    gpu.return
  }

  // Three buffers in turn.
  // CHECK-LABEL: gpu.func @rotated(
  // CHECK:         scf.for
  // CHECK-NOT:       gpu.barrier
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:       gpu.barrier
  // CHECK:         gpu.return
  gpu.func @rotated(%in: memref<?xf32>, %out: memref<?xf32>, %n: index) workgroup(%A: !tile, %B: !tile, %C: !tile) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %A, %b = %B, %c = %C) -> (!tile, !tile, !tile) {
      %x = memref.load %in[%i] : memref<?xf32>
      gpu.barrier
      memref.store %x, %a[%t] : !tile
      gpu.barrier
      %y = memref.load %a[%back] : !tile
      memref.store %y, %out[%t] : memref<?xf32>
      scf.yield %b, %c, %a : !tile, !tile, !tile
    }
    gpu.return
  }

  // The step makes no difference: iterations are counted.
  // CHECK-LABEL: gpu.func @stepped(
  // CHECK:         scf.for
  // CHECK-NOT:       gpu.barrier
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:       gpu.barrier
  // CHECK:         gpu.return
  gpu.func @stepped(%in: memref<?xf32>, %out: memref<?xf32>, %n: index) workgroup(%A: !tile, %B: !tile) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    %r:2 = scf.for %i = %c0 to %n step %c3 iter_args(%a = %A, %b = %B) -> (!tile, !tile) {
      %x = memref.load %in[%i] : memref<?xf32>
      gpu.barrier
      memref.store %x, %a[%t] : !tile
      gpu.barrier
      %y = memref.load %a[%back] : !tile
      memref.store %y, %out[%t] : memref<?xf32>
      scf.yield %b, %a : !tile, !tile
    }
    gpu.return
  }

  // The parity of the iteration selects a buffer.
  // CHECK-LABEL: gpu.func @selected(
  // CHECK:         scf.for
  // CHECK-NOT:       gpu.barrier
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:       gpu.barrier
  // CHECK:         gpu.return
  gpu.func @selected(%in: memref<?xf32>, %out: memref<?xf32>, %n: index) workgroup(%A: !tile, %B: !tile) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    scf.for %i = %c0 to %n step %c1 {
      %bit = arith.remui %i, %c2 : index
      %even = arith.cmpi eq, %bit, %c0 : index
      %a = arith.select %even, %A, %B : !tile
      %x = memref.load %in[%i] : memref<?xf32>
      gpu.barrier
      memref.store %x, %a[%t] : !tile
      gpu.barrier
      %y = memref.load %a[%back] : !tile
      memref.store %y, %out[%t] : memref<?xf32>
    }
    gpu.return
  }

  // Two slots of one buffer.
  // CHECK-LABEL: gpu.func @slots(
  // CHECK:         scf.for
  // CHECK-NOT:       gpu.barrier
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:       gpu.barrier
  // CHECK:         gpu.return
  gpu.func @slots(%in: memref<?xf32>, %out: memref<?xf32>, %n: index) workgroup(%s: memref<2x64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    %p0 = memref.subview %s[%c0, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
    %p1 = memref.subview %s[%c1, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p0, %b = %p1) -> (memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>) {
      %x = memref.load %in[%i] : memref<?xf32>
      gpu.barrier
      memref.store %x, %a[%t] : memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
      gpu.barrier
      %y = memref.load %a[%back] : memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<?xf32>
      scf.yield %b, %a : memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
    }
    gpu.return
  }

  // The parity selects the number of a slot.
  // CHECK-LABEL: gpu.func @selected_slot(
  // CHECK:         scf.for
  // CHECK-NOT:       gpu.barrier
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:       gpu.barrier
  // CHECK:         gpu.return
  gpu.func @selected_slot(%in: memref<?xf32>, %out: memref<?xf32>, %n: index) workgroup(%s: memref<2x64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    scf.for %i = %c0 to %n step %c1 {
      %bit = arith.remui %i, %c2 : index
      %even = arith.cmpi eq, %bit, %c0 : index
      %slot = arith.select %even, %c0, %c1 : index
      %a = memref.subview %s[%slot, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
      %x = memref.load %in[%i] : memref<?xf32>
      gpu.barrier
      memref.store %x, %a[%t] : memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
      gpu.barrier
      %y = memref.load %a[%back] : memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<?xf32>
    }
    gpu.return
  }

  // The first result is what the next iteration would use: the last one used the other buffer.
  // CHECK-LABEL: gpu.func @other_after(
  // CHECK:         scf.for
  // CHECK:         }
  // CHECK-NEXT:    memref.store %{{.*}}, %{{.*}}#0[
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @other_after(%in: memref<?xf32>, %out: memref<?xf32>, %n: index, %v: f32) workgroup(%A: !tile, %B: !tile) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %A, %b = %B) -> (!tile, !tile) {
      %x = memref.load %in[%i] : memref<?xf32>
      gpu.barrier
      memref.store %x, %a[%t] : !tile
      gpu.barrier
      %y = memref.load %a[%back] : !tile
      memref.store %y, %out[%t] : memref<?xf32>
      scf.yield %b, %a : !tile, !tile
    }
    memref.store %v, %r#0[%t] : !tile
    gpu.return
  }

  // The second one is what the last iteration used, which other threads still read.
  // CHECK-LABEL: gpu.func @same_after(
  // CHECK:         scf.for
  // CHECK:         }
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store %{{.*}}, %{{.*}}#1[
  // CHECK:         gpu.return
  gpu.func @same_after(%in: memref<?xf32>, %out: memref<?xf32>, %n: index, %v: f32) workgroup(%A: !tile, %B: !tile) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %A, %b = %B) -> (!tile, !tile) {
      %x = memref.load %in[%i] : memref<?xf32>
      gpu.barrier
      memref.store %x, %a[%t] : !tile
      gpu.barrier
      %y = memref.load %a[%back] : !tile
      memref.store %y, %out[%t] : memref<?xf32>
      scf.yield %b, %a : !tile, !tile
    }
    memref.store %v, %r#1[%t] : !tile
    gpu.return
  }

  // A carried buffer that no iteration swaps is the same one in all of them, and does not overlap the other one.
  // CHECK-LABEL: gpu.func @carried(
  // CHECK:         gpu.barrier
  // CHECK:         scf.for
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @carried(%in: memref<?xf32>, %out: memref<?xf32>, %n: index, %v: f32) workgroup(%A: !tile, %B: !tile) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    memref.store %v, %B[%t] : !tile
    gpu.barrier
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %B) -> !tile {
      %y = memref.load %b[%back] : !tile
      gpu.barrier
      memref.store %y, %A[%t] : !tile
      scf.yield %b : !tile
    }
    gpu.return
  }

  // After as many iterations for all threads, the two results are different buffers.
  // CHECK-LABEL: gpu.func @uniform_results(
  // CHECK:         memref.store %{{.*}}, %{{.*}}#0[
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @uniform_results(%in: memref<?xf32>, %out: memref<?xf32>, %n: index, %v: f32) workgroup(%A: !tile, %B: !tile) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %A, %b = %B) -> (!tile, !tile) {
      scf.yield %b, %a : !tile, !tile
    }
    memref.store %v, %r#0[%t] : !tile
    %y = memref.load %r#1[%back] : !tile
    memref.store %y, %out[%t] : memref<?xf32>
    gpu.return
  }

  // One thread's first result may be another one's second result.
  // CHECK-LABEL: gpu.func @divergent_results(
  // CHECK:         memref.store %{{.*}}, %{{.*}}#0[
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK:         gpu.return
  gpu.func @divergent_results(%in: memref<?xf32>, %out: memref<?xf32>, %n: index, %v: f32) workgroup(%A: !tile, %B: !tile) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    %r:2 = scf.for %i = %c0 to %t step %c1 iter_args(%a = %A, %b = %B) -> (!tile, !tile) {
      scf.yield %b, %a : !tile, !tile
    }
    memref.store %v, %r#0[%t] : !tile
    %y = memref.load %r#1[%back] : !tile
    memref.store %y, %out[%t] : memref<?xf32>
    gpu.return
  }
}
