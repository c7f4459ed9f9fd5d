// The request to unroll a loop whose prefetched values would move between registers.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{target=sm_90a}))' | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{target=sm_90a stages=3}))' \
// RUN:   | FileCheck %s --check-prefix=THREE
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops))' | FileCheck %s --check-prefix=ANY
// LLVM unrolls the loop of the request.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{target=sm_90a},convert-scf-to-cf))' \
// RUN:   | smalti-opt --convert-vector-to-llvm --convert-to-llvm | FileCheck %s --check-prefix=LLVM

// CHECK-DAG: #[[$TWO:[^ ]+]] = #llvm.loop_unroll<count = 2 : i32>
// CHECK-DAG: #[[$EIGHT:[^ ]+]] = #llvm.loop_unroll<count = 8 : i32>
// CHECK-DAG: #[[$REQUEST:[^ ]+]] = #llvm.loop_annotation<unroll = #[[$TWO]]>
// CHECK-DAG: #[[$OWN:[^ ]+]] = #llvm.loop_annotation<unroll = #[[$EIGHT]]>
// THREE-DAG: #llvm.loop_unroll<count = 3 : i32>
#eight = #llvm.loop_unroll<count = 8 : i32>
#own = #llvm.loop_annotation<unroll = #eight>

// CHECK-LABEL: func.func @sum
// CHECK: scf.for
// CHECK: } {loop_annotation = #[[$REQUEST]]}
// ANY-LABEL: func.func @sum
// ANY-NOT: loop_annotation
// ANY: return
// LLVM-LABEL: llvm.func @sum
// LLVM: llvm.br ^{{.*}} {loop_annotation = #
func.func @sum(%a: memref<64x8xf32>, %init: vector<8xf32>) -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> vector<8xf32> {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    %next = arith.addf %acc, %row : vector<8xf32>
    scf.yield %next : vector<8xf32>
  }
  return %sum : vector<8xf32>
}

// The fallback of the guard is not unrolled.
// CHECK-LABEL: func.func @dynamic
// CHECK: scf.if
// CHECK: } {loop_annotation = #[[$REQUEST]]}
// CHECK: } else {
// CHECK-NOT: loop_annotation
// CHECK: return
func.func @dynamic(%a: memref<64x8xf32>, %init: vector<8xf32>, %end: index) -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %end step %c1 iter_args(%acc = %init) -> vector<8xf32> {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    %next = arith.addf %acc, %row : vector<8xf32>
    scf.yield %next : vector<8xf32>
  }
  return %sum : vector<8xf32>
}

// CHECK-LABEL: func.func @own_request
// CHECK: } {loop_annotation = #[[$OWN]]}
func.func @own_request(%a: memref<64x8xf32>, %init: vector<8xf32>) -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> vector<8xf32> {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    %next = arith.addf %acc, %row : vector<8xf32>
    scf.yield %next : vector<8xf32>
  } {loop_annotation = #own}
  return %sum : vector<8xf32>
}

// Not unrolled: exchanges between lanes, nested regions, values in shared memory, too many registers.
// CHECK-LABEL: func.func @exchange
// CHECK-NOT: loop_annotation
// CHECK: return
func.func @exchange(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %lane = arith.constant 1 : i32
  %width = arith.constant 32 : i32
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %other, %valid = gpu.shuffle xor %x, %lane, %width : f32
    %next = arith.addf %acc, %other : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK-LABEL: func.func @nested
// CHECK-NOT: loop_annotation
// CHECK: return
func.func @nested(%a: memref<64xf32>, %init: f32, %is: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %y = scf.if %is -> f32 {
      %z = arith.negf %x : f32
      scf.yield %z : f32
    } else {
      scf.yield %x : f32
    }
    %next = arith.addf %acc, %y : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK-LABEL: func.func @shared
// CHECK-NOT: loop_annotation
// CHECK: return
func.func @shared(%a: memref<64xf32>, %b: memref<64xf32, 3>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %y = memref.load %b[%i] : memref<64xf32, 3>
    %z = arith.mulf %x, %y : f32
    %next = arith.addf %acc, %z : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK-LABEL: func.func @large
// CHECK-NOT: loop_annotation
// CHECK: return
func.func @large(%a: memref<64x32xf32>, %init: vector<32xf32>) -> vector<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> vector<32xf32> {
    %row = vector.load %a[%i, %c0] : memref<64x32xf32>, vector<32xf32>
    %a1 = arith.mulf %row, %row : vector<32xf32>
    %a2 = arith.mulf %a1, %row : vector<32xf32>
    %a3 = arith.mulf %a2, %row : vector<32xf32>
    %a4 = arith.mulf %a3, %row : vector<32xf32>
    %a5 = arith.mulf %a4, %row : vector<32xf32>
    %a6 = arith.mulf %a5, %row : vector<32xf32>
    %a7 = arith.mulf %a6, %row : vector<32xf32>
    %next = arith.addf %acc, %a7 : vector<32xf32>
    scf.yield %next : vector<32xf32>
  }
  return %sum : vector<32xf32>
}
