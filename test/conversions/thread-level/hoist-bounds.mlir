// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(smalti-hoist-bounds))' | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(smalti-hoist-bounds))' -o /dev/null \
// RUN:   --remarks-filter=smalti-hoist-bounds 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: Function=shared | Remark="2 bounds checks of loops compared in 32 bits with 1 limit per thread, computed before the loop"
// REMARK: Function=conditions | Remark="2 bounds checks of loops compared in 32 bits with 1 limit per thread, computed before the loop"
// REMARK: Function=single | Remark="1 bounds check of loops compared in 32 bits with 1 limit per thread, computed before the loop"
// REMARK-NOT: Remark=
gpu.module @kernels {
  // Two checks at a distance of 32, the second one first.
  // CHECK-LABEL: gpu.func @shared
  // CHECK-SAME: %[[ROW:[a-z0-9]*]]: i1
  // CHECK: %[[THREAD:.*]] = gpu.thread_id
  // CHECK: %[[C8:.*]] = arith.constant 8 : index
  // CHECK: %[[L0:.*]] = arith.subi %{{.*}}, %[[C8]] : index
  // CHECK: %[[ONE:.*]] = arith.constant 1 : index
  // CHECK: %[[SCALED:.*]] = arith.muli %[[THREAD]], %[[ONE]] : index
  // CHECK: %[[L1:.*]] = arith.subi %[[L0]], %[[SCALED]] : index
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK: %[[MANY:.*]] = arith.constant 1073741824 : index
  // CHECK: %[[LESS:.*]] = arith.select %[[ROW]], %[[ZERO]], %[[MANY]] : index
  // CHECK: %[[L2:.*]] = arith.subi %[[L1]], %[[LESS]] : index
  // CHECK: %[[LIMIT:.*]] = arith.index_cast %[[L2]] : index to i32
  // CHECK: scf.for %[[I:.*]] =
  // CHECK: %[[NUMBER:.*]] = arith.index_cast %[[I]] : index to i32
  // CHECK: %[[LEFT:.*]] = arith.subi %[[LIMIT]], %[[NUMBER]] : i32
  // CHECK: %[[C32:.*]] = arith.constant 32 : i32
  // CHECK: %[[SECOND:.*]] = arith.cmpi sgt, %[[LEFT]], %[[C32]] : i32
  // CHECK: %[[C0:.*]] = arith.constant 0 : i32
  // CHECK: %[[FIRST:.*]] = arith.cmpi sgt, %[[LEFT]], %[[C0]] : i32
  // CHECK: scf.if %[[SECOND]]
  // CHECK: scf.if %[[FIRST]]
  gpu.func @shared(%row: i1, %a: memref<100xf32>, %x: f32) attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c100 = arith.constant 100 : index
    %thread = gpu.thread_id x
    scf.for %i = %c0 to %c100 step %c64 {
      %later = arith.addi %i, %c8 : index
      %first = arith.addi %later, %thread : index
      %second = arith.addi %first, %c32 : index
      %inside2 = arith.cmpi slt, %second, %c100 : index
      %both2 = arith.andi %inside2, %row : i1
      scf.if %both2 {
        memref.store %x, %a[%second] : memref<100xf32>
      }
      %inside = arith.cmpi slt, %first, %c100 : index
      %both = arith.andi %row, %inside : i1
      scf.if %both {
        memref.store %x, %a[%first] : memref<100xf32>
      }
    }
    gpu.return
  }

  // Conditions are combined in the order of the first check. The order of another check does not matter.
  // CHECK-LABEL: gpu.func @conditions
  // CHECK-SAME: %[[P:[a-z0-9]*]]: i1, %[[Q:[a-z0-9]*]]: i1, %[[R:[a-z0-9]*]]: i1
  // CHECK: %[[PQ:.*]] = arith.andi %[[R]], %[[P]] : i1
  // CHECK: arith.andi %[[PQ]], %[[Q]] : i1
  // CHECK-NOT: arith.andi
  // CHECK: scf.for
  gpu.func @conditions(%p: i1, %q: i1, %r: i1, %a: memref<100xf32>, %x: f32) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c100 = arith.constant 100 : index
    scf.for %i = %c0 to %c100 step %c32 {
      %inside = arith.cmpi slt, %i, %c100 : index
      %r_inside = arith.andi %r, %inside : i1
      %p_inside = arith.andi %r_inside, %p : i1
      %all = arith.andi %p_inside, %q : i1
      scf.if %all {
        memref.store %x, %a[%i] : memref<100xf32>
      }
      %q_inside = arith.andi %q, %inside : i1
      %q_p = arith.andi %q_inside, %p : i1
      %same = arith.andi %q_p, %r : i1
      scf.if %same {
        memref.store %x, %a[%i] : memref<100xf32>
      }
    }
    gpu.return
  }

  // An unsigned comparison is also false below zero, where the index is proven not to be.
  // CHECK-LABEL: gpu.func @single
  // CHECK: arith.select
  // CHECK: scf.for
  // CHECK: %[[LESS:.*]] = arith.cmpi sgt
  // CHECK: scf.if %[[LESS]]
  gpu.func @single(%row: i1, %a: memref<100xf32>, %x: f32) attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c100 = arith.constant 100 : index
    %thread = gpu.thread_id x
    scf.for %i = %c0 to %c100 step %c32 {
      %index = arith.addi %i, %thread : index
      %inside = arith.cmpi ult, %index, %c100 : index
      %both = arith.andi %row, %inside : i1
      scf.if %both {
        memref.store %x, %a[%index] : memref<100xf32>
      }
    }
    gpu.return
  }

  // Not changed: a dynamic number, an index that is twice the induction variable, a lower bound. An extent that
  // the loop changes, a value of another type and an index below zero are not changed either.
  // CHECK-LABEL: gpu.func @others
  // CHECK-NOT: to i32
  // CHECK: gpu.return
  gpu.func @others(%n: index, %a: memref<100xf32>, %x: f32) attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c100 = arith.constant 100 : index
    scf.for %i = %c0 to %c100 step %c32 {
      %sum = arith.addi %i, %n : index
      %unknown = arith.cmpi ult, %sum, %c100 : index
      scf.if %unknown {
        memref.store %x, %a[%sum] : memref<100xf32>
      }
      %double = arith.addi %i, %i : index
      %even = arith.cmpi ult, %double, %c100 : index
      scf.if %even {
        memref.store %x, %a[%double] : memref<100xf32>
      }
      %greater = arith.cmpi sge, %i, %c32 : index
      scf.if %greater {
        memref.store %x, %a[%i] : memref<100xf32>
      }
      %half = arith.divui %i, %c32 : index
      %own = arith.cmpi ult, %i, %half : index
      scf.if %own {
        memref.store %x, %a[%i] : memref<100xf32>
      }
      %word = arith.index_cast %i : index to i64
      %end = arith.constant 99 : i64
      %narrow = arith.cmpi slt, %word, %end : i64
      scf.if %narrow {
        memref.store %x, %a[%i] : memref<100xf32>
      }
      %before = arith.subi %i, %c1 : index
      %negative = arith.cmpi ult, %before, %c100 : index
      scf.if %negative {
        memref.store %x, %a[%i] : memref<100xf32>
      }
    }
    gpu.return
  }
}
