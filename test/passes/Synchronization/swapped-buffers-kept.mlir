// Swapped buffers whose current buffer is not certain, or whose barriers are both needed: no change.
// RUN: smalti-opt %s > %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers)))' --remarks-filter=smalti-place-barriers 2>%t > %t.after
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t
!tile = memref<64xf32, #gpu.address_space<workgroup>>

gpu.module @m {
  // Swapped under a condition.
  // CHECK: Function=swapped_sometimes | Remark="barrier kept: it orders 'memref.load' before 'memref.store'"
  // CHECK: Function=swapped_sometimes | Remark="barrier kept: it orders 'memref.store' before 'memref.load'"
  // CHECK: Function=swapped_sometimes | Remark="0 barriers removed, 0 inserted, 2 kept"
  gpu.func @swapped_sometimes(%in: memref<?xf32>, %out: memref<?xf32>, %n: index, %p: i1) workgroup(%A: !tile, %B: !tile) kernel
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
      %m:2 = scf.if %p -> (!tile, !tile) {
        scf.yield %b, %a : !tile, !tile
      } else {
        scf.yield %a, %b : !tile, !tile
      }
      scf.yield %m#0, %m#1 : !tile, !tile
    }
    gpu.return
  }

  // One buffer under two names.
  // CHECK: Function=same_twice | Remark="barrier kept: it orders 'memref.load' before 'memref.store'"
  // CHECK: Function=same_twice | Remark="barrier kept: it orders 'memref.store' before 'memref.load'"
  // CHECK: Function=same_twice | Remark="0 barriers removed, 0 inserted, 2 kept"
  gpu.func @same_twice(%in: memref<?xf32>, %out: memref<?xf32>, %n: index) workgroup(%A: !tile) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %A, %b = %A) -> (!tile, !tile) {
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

  // Two arguments that are not marked as non-overlapping.
  // CHECK: Function=may_alias | Remark="barrier kept: it orders 'memref.load' before 'memref.store'"
  // CHECK: Function=may_alias | Remark="barrier kept: it orders 'memref.store' before 'memref.load'"
  // CHECK: Function=may_alias | Remark="0 barriers removed, 0 inserted, 2 kept"
  gpu.func @may_alias(%in: memref<?xf32>, %out: memref<?xf32>, %n: index, %A: !tile, %B: !tile) workgroup(%unused: !tile) kernel
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

  // The first buffer is used in the first iteration alone.
  // CHECK: Function=not_back | Remark="barrier kept: it orders 'memref.load' before 'memref.store'"
  // CHECK: Function=not_back | Remark="barrier kept: it orders 'memref.store' before 'memref.load'"
  // CHECK: Function=not_back | Remark="0 barriers removed, 0 inserted, 2 kept"
  gpu.func @not_back(%in: memref<?xf32>, %out: memref<?xf32>, %n: index) workgroup(%A: !tile, %B: !tile) kernel
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
      scf.yield %b, %b : !tile, !tile
    }
    gpu.return
  }

  // Every other pair of iterations.
  // CHECK: Function=wrong_parity | Remark="barrier kept: it orders 'memref.load' before 'memref.store'"
  // CHECK: Function=wrong_parity | Remark="barrier kept: it orders 'memref.store' before 'memref.load'"
  // CHECK: Function=wrong_parity | Remark="0 barriers removed, 0 inserted, 2 kept"
  gpu.func @wrong_parity(%in: memref<?xf32>, %out: memref<?xf32>, %n: index) workgroup(%A: !tile, %B: !tile) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    scf.for %i = %c0 to %n step %c1 {
      %bit = arith.divui %i, %c2 : index
      %one = arith.remui %bit, %c2 : index
      %even = arith.cmpi eq, %one, %c0 : index
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

  // Each iteration also reads what the one before wrote.
  // CHECK: Function=both | Remark="barrier kept: it orders 'memref.load' before 'memref.store'"
  // CHECK: Function=both | Remark="barrier kept: it orders 'memref.store' before 'memref.load'"
  // CHECK: Function=both | Remark="0 barriers removed, 0 inserted, 2 kept"
  gpu.func @both(%in: memref<?xf32>, %out: memref<?xf32>, %n: index) workgroup(%A: !tile, %B: !tile) kernel
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
      %z = memref.load %b[%back] : !tile
      memref.store %z, %out[%t] : memref<?xf32>
      memref.store %y, %out[%t] : memref<?xf32>
      scf.yield %b, %a : !tile, !tile
    }
    gpu.return
  }

  // The inner loop begins with what the outer one has left.
  // CHECK: Function=nested | Remark="barrier kept: it orders 'memref.load' before 'memref.store'"
  // CHECK: Function=nested | Remark="barrier kept: it orders 'memref.store' before 'memref.load'"
  // CHECK: Function=nested | Remark="0 barriers removed, 0 inserted, 2 kept"
  gpu.func @nested(%in: memref<?xf32>, %out: memref<?xf32>, %n: index) workgroup(%A: !tile, %B: !tile) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %back = arith.subi %c63, %t : index
    %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%c = %A, %d = %B) -> (!tile, !tile) {
      %q:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c, %b = %d) -> (!tile, !tile) {
        %x = memref.load %in[%i] : memref<?xf32>
        gpu.barrier
        memref.store %x, %a[%t] : !tile
        gpu.barrier
        %y = memref.load %a[%back] : !tile
        memref.store %y, %out[%t] : memref<?xf32>
        scf.yield %b, %a : !tile, !tile
      }
      scf.yield %q#0, %q#1 : !tile, !tile
    }
    gpu.return
  }
}
