// Rows that start before their memory, compiled for the CPU and run. smalti-compile must mask them before it
// canonicalizes.
//
// RUN: smalti-opt %s --pass-pipeline='builtin.module(smalti-compile{target=cpu})' > %t
// RUN: mlir-runner %t -e rows --entry-point-result=void --shared-libs=%mlir_runner_libs | FileCheck %s 

// The row is inside memory that must not be read.
memref.global "private" @memory : memref<4x6xf32> = dense<[
  [91.0, 92.0, 93.0, 94.0, 95.0, 96.0],
  [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
  [7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
  [97.0, 98.0, 99.0, 90.0, 89.0, 88.0]]>

func.func private @row() -> memref<6xf32, strided<[1], offset: 6>> {
  %memory = memref.get_global @memory : memref<4x6xf32>
  %row = memref.subview %memory[1, 0] [1, 6] [1, 1] : memref<4x6xf32> to memref<6xf32, strided<[1], offset: 6>>
  return %row : memref<6xf32, strided<[1], offset: 6>>
}

func.func private @print(%v: vector<4xf32>) {
  %0 = vector.extract %v[0] : f32 from vector<4xf32>
  %1 = vector.extract %v[1] : f32 from vector<4xf32>
  %2 = vector.extract %v[2] : f32 from vector<4xf32>
  %3 = vector.extract %v[3] : f32 from vector<4xf32>
  vector.print %0 : f32 punctuation <comma>
  vector.print %1 : f32 punctuation <comma>
  vector.print %2 : f32 punctuation <comma>
  vector.print %3 : f32
  return
}

func.func private @read(%i: index) attributes {no_inline} {
  %row = call @row() : () -> memref<6xf32, strided<[1], offset: 6>>
  %pad = arith.constant 0.5 : f32
  %v = vector.transfer_read %row[%i], %pad : memref<6xf32, strided<[1], offset: 6>>, vector<4xf32>
  call @print(%v) : (vector<4xf32>) -> ()
  return
}

func.func @rows() {
  %pad = arith.constant 0.5 : f32
  %at0 = arith.constant -5 : index
  %at1 = arith.constant -2 : index
  %at2 = arith.constant 1 : index
  %at3 = arith.constant 4 : index
  // CHECK: 0.5, 0.5, 0.5, 0.5
  // CHECK-NEXT: 0.5, 0.5, 1, 2
  // CHECK-NEXT: 2, 3, 4, 5
  // CHECK-NEXT: 5, 6, 0.5, 0.5
  call @read(%at0) : (index) -> ()
  call @read(%at1) : (index) -> ()
  call @read(%at2) : (index) -> ()
  call @read(%at3) : (index) -> ()

  // Constant indices, which upstream folds.
  // CHECK-NEXT: 0.5, 0.5, 0.5, 0.5
  // CHECK-NEXT: 0.5, 0.5, 1, 2
  // CHECK-NEXT: 5, 6, 0.5, 0.5
  %row = call @row() : () -> memref<6xf32, strided<[1], offset: 6>>
  %v0 = vector.transfer_read %row[%at0], %pad : memref<6xf32, strided<[1], offset: 6>>, vector<4xf32>
  call @print(%v0) : (vector<4xf32>) -> ()
  %v1 = vector.transfer_read %row[%at1], %pad : memref<6xf32, strided<[1], offset: 6>>, vector<4xf32>
  call @print(%v1) : (vector<4xf32>) -> ()
  %v3 = vector.transfer_read %row[%at3], %pad : memref<6xf32, strided<[1], offset: 6>>, vector<4xf32>
  call @print(%v3) : (vector<4xf32>) -> ()

  // CHECK-NEXT: 93, 94, 95, 96
  // CHECK-NEXT: -3, -4, 3, 4
  %four = arith.constant dense<[-1.0, -2.0, -3.0, -4.0]> : vector<4xf32>
  vector.transfer_write %four, %row[%at1] : vector<4xf32>, memref<6xf32, strided<[1], offset: 6>>
  %memory = memref.get_global @memory : memref<4x6xf32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %before = vector.load %memory[%c0, %c2] : memref<4x6xf32>, vector<4xf32>
  call @print(%before) : (vector<4xf32>) -> ()
  %after = vector.load %memory[%c1, %c0] : memref<4x6xf32>, vector<4xf32>
  call @print(%after) : (vector<4xf32>) -> ()
  return
}
