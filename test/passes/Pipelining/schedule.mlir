// Round trip of a schedule through attributes: the same loop as without it.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{emit-schedule=true}))' -o %t.schedule
// RUN: FileCheck %s < %t.schedule
// RUN: smalti-opt %t.schedule --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{use-schedule=true}))' -o %t.read
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops))' -o %t.direct
// RUN: diff %t.read %t.direct
// RUN: sed 's/smalti.stage = 0 : i64} : memref<8xf32, 3>/smalti.stage = 2 : i64} : memref<8xf32, 3>/' %t.schedule \
// RUN:   | smalti-opt --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{use-schedule=true}))' \
// RUN:     --remarks-filter=smalti-pipeline-loops 2>&1 | FileCheck %s --check-prefix=WRONG

// Errors in a schedule are found before anything changes.
// WRONG: loop not pipelined: the schedule would move 'memref.load' of %alloc before 'vector.store' of %alloc, and the two accesses may alias
// WRONG: smalti.stage

// CHECK-LABEL: func.func @through_shared(
// CHECK:         vector.load {{.*}} {smalti.cluster = 0 : i64, smalti.stage = 0 : i64} : memref<64x8xf32>
// CHECK:         vector.store {{.*}} {smalti.cluster = 2 : i64, smalti.stage = 0 : i64} : memref<8xf32, 3>
// CHECK:         gpu.barrier
// CHECK-NEXT:    memref.load {{.*}} {smalti.cluster = 1 : i64, smalti.stage = 1 : i64} : memref<8xf32, 3>
// CHECK-NEXT:    arith.addf {{.*}} {smalti.cluster = 1 : i64, smalti.stage = 1 : i64}
func.func @through_shared(%a: memref<64x8xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<8xf32, 3>
  %sum = scf.for %i = %c0 to %c64 step %c2 iter_args(%acc = %init) -> f32 {
    %odd = arith.addi %i, %c1 : index
    %row = vector.load %a[%odd, %c0] : memref<64x8xf32>, vector<8xf32>
    vector.store %row, %shared[%c0] : memref<8xf32, 3>, vector<8xf32>
    gpu.barrier
    %x = memref.load %shared[%c1] : memref<8xf32, 3>
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// The address of a row is needed in both stages, and computed in each.
// CHECK-LABEL: func.func @made_again(
// CHECK:         arith.muli {{.*}} {smalti.cluster = array<i64: 0, 1>, smalti.stage = array<i64: 0, 1>}
func.func @made_again(%a: memref<128xf32> {llvm.noalias}, %out: memref<128xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %at = arith.muli %i, %c2 : index
    %x = memref.load %a[%at] : memref<128xf32>
    %y = arith.mulf %x, %x : f32
    memref.store %y, %out[%at] : memref<128xf32>
  }
  return
}
