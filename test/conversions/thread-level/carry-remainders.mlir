// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(smalti-carry-remainders))' | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(smalti-carry-remainders))' -o /dev/null \
// RUN:   --remarks-filter=smalti-carry-remainders 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: Function=slots | Remark="3 remainders of an iteration number, such as i mod 3, computed from the previous iteration with an addition and a comparison instead of a division"
// REMARK: Function=nested | Remark="1 remainder of an iteration number, such as i mod 3, computed from the previous iteration with an addition and a comparison instead of a division"
// REMARK-NOT: Remark=
gpu.module @kernels {
  // The slots of this iteration and of the next but one, after a lower bound that is not a multiple of the step:
  // (70 + 128) / 64 = 3. Two equal remainders share a value.
  // CHECK-LABEL: gpu.func @slots
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: scf.for {{.*}} iter_args(%[[F:.*]] = %{{.*}}, %[[A:.*]] = %[[ONE]], %[[B:.*]] = %[[ZERO]]) -> (f32, i32, i32)
  // CHECK: %[[SLOT:.*]] = arith.index_castui %[[A]] : i32 to index
  // CHECK: %[[NEXT:.*]] = arith.index_castui %[[B]] : i32 to index
  // CHECK: arith.index_castui %[[A]] : i32 to index
  // CHECK-NOT: arith.remui
  // CHECK: %[[SUM:.*]] = arith.addi %[[A]], %{{.*}} : i32
  // CHECK: %[[C3:.*]] = arith.constant 3 : i32
  // CHECK: %[[END:.*]] = arith.cmpi eq, %[[SUM]], %[[C3]] : i32
  // CHECK: arith.select %[[END]], %{{.*}}, %[[SUM]] : i32
  // CHECK: arith.addi %[[B]]
  // CHECK: gpu.return
  gpu.func @slots(%a: memref<3xf32>, %x: f32, %end: index) -> f32 {
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    %c70 = arith.constant 70 : index
    %c128 = arith.constant 128 : index
    %r = scf.for %i = %c70 to %end step %c64 iter_args(%f = %x) -> f32 {
      %number = arith.divui %i, %c64 : index
      %slot = arith.remui %number, %c3 : index
      memref.store %f, %a[%slot] : memref<3xf32>
      %later = arith.addi %i, %c128 : index
      %later_number = arith.divui %later, %c64 : index
      %next = arith.remui %later_number, %c3 : index
      %g = memref.load %a[%next] : memref<3xf32>
      %again = arith.remui %number, %c3 : index
      memref.store %g, %a[%again] : memref<3xf32>
      scf.yield %g : f32
    }
    gpu.return %r : f32
  }

  // CHECK-LABEL: gpu.func @nested
  // CHECK: scf.for
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (i32)
  // CHECK: arith.index_castui %[[A]]
  // CHECK: gpu.return
  gpu.func @nested(%a: memref<5xf32>, %x: f32, %end: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    scf.for %i = %c0 to %end step %c1 {
      scf.for %j = %c0 to %end step %c1 {
        %slot = arith.remui %j, %c5 : index
        memref.store %x, %a[%slot] : memref<5xf32>
      }
    }
    gpu.return
  }

  // The divisor is a power of two, or the number is also divided, or is divided by another number than the step. The lower
  // bound is not constant, or is negative. The first number is negative, or the number decreases.
  // CHECK-LABEL: gpu.func @unchanged
  // CHECK-NOT: iter_args
  // CHECK-COUNT-7: arith.remui
  // CHECK: gpu.return
  gpu.func @unchanged(%a: memref<4xf32>, %x: f32, %end: index) {
    %m1 = arith.constant -1 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %end step %c2 {
      %number = arith.divui %i, %c2 : index
      %0 = arith.remui %number, %c4 : index
      memref.store %x, %a[%0] : memref<4xf32>
      %half = arith.divui %i, %c4 : index
      %1 = arith.remui %half, %c3 : index
      memref.store %x, %a[%1] : memref<4xf32>
    }
    scf.for %i = %c0 to %end step %c1 {
      %quotient = arith.divui %i, %c3 : index
      %2 = arith.remui %i, %c3 : index
      memref.store %x, %a[%2] : memref<4xf32>
      memref.store %x, %a[%quotient] : memref<4xf32>
      %before = arith.subi %i, %c1 : index
      %3 = arith.remui %before, %c3 : index
      memref.store %x, %a[%3] : memref<4xf32>
      %left = arith.subi %end, %i : index
      %4 = arith.remui %left, %c3 : index
      memref.store %x, %a[%4] : memref<4xf32>
    }
    scf.for %i = %end to %c4 step %c1 {
      %5 = arith.remui %i, %c3 : index
      memref.store %x, %a[%5] : memref<4xf32>
    }
    scf.for %i = %m1 to %end step %c1 {
      %6 = arith.remui %i, %c3 : index
      memref.store %x, %a[%6] : memref<4xf32>
    }
    gpu.return
  }
}
