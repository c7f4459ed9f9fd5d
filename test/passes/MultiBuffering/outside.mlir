// Uses outside the loop: slot 0 before it, the slot of the last iteration after it. Consecutive loops use the slots
// from the first on.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=3}))' | FileCheck %s
#shared = #gpu.address_space<workgroup>

// CHECK-LABEL: func.func @before_and_after(
// CHECK-SAME:    %[[LOWER:[^:]*]]: index, %[[UPPER:[^:]*]]: index
// CHECK:         %[[BUFFER:.*]] = memref.alloc() : memref<3x8xf32, #gpu.address_space<workgroup>>
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : index
// CHECK:         %[[FIRST:.*]] = memref.subview %[[BUFFER]][%[[ZERO]], 0] [1, 8] [1, 1]
// CHECK:         vector.store %{{.*}}, %[[FIRST]]
// CHECK:         scf.for
// CHECK:           %[[SLOT:.*]] = arith.remui
// CHECK:           memref.subview %[[BUFFER]][%[[SLOT]], 0] [1, 8] [1, 1]
// CHECK:         }
// CHECK:         %[[BEFORE:.*]] = arith.constant 0 : index
// CHECK:         %[[RAN:.*]] = arith.cmpi slt, %[[LOWER]], %[[UPPER]]
// CHECK:         %[[DISTANCE:.*]] = arith.subi %[[UPPER]], %[[LOWER]]
// CHECK:         %[[LAST:.*]] = arith.subi %[[DISTANCE]], %c1
// CHECK:         %[[NUMBER:.*]] = arith.divui %[[LAST]], %c2
// CHECK:         %[[REST:.*]] = arith.remui %[[NUMBER]], %c3
// CHECK:         %[[AFTER:.*]] = arith.select %[[RAN]], %[[REST]], %[[BEFORE]]
// CHECK:         %[[VIEW:.*]] = memref.subview %[[BUFFER]][%[[AFTER]], 0] [1, 8] [1, 1]
// CHECK:         memref.load %[[VIEW]]
func.func @before_and_after(%lower: index, %upper: index, %row: vector<8xf32>, %out: memref<8xf32>) -> f32 attributes {gpu.known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
  scf.for %i = %lower to %upper step %c2 {
    vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
  }
  %last = memref.load %buffer[%c0] : memref<8xf32, #shared>
  return %last : f32
}

// The second loop overwrites all values of the first one; a view from before the loops is created again in each
// part.
// CHECK-LABEL: func.func @siblings(
// CHECK:         %[[BUFFER:.*]] = memref.alloc() : memref<3x8xf32, #gpu.address_space<workgroup>>
// CHECK:         scf.for
// CHECK:           %[[A:.*]] = memref.subview %[[BUFFER]]
// CHECK:           memref.expand_shape %[[A]]
// CHECK:         scf.for
// CHECK:           %[[B:.*]] = memref.subview %[[BUFFER]]
// CHECK:           memref.expand_shape %[[B]]
// CHECK:         %[[LAST:.*]] = arith.constant 1 : index
// CHECK:         %[[C:.*]] = memref.subview %[[BUFFER]][%[[LAST]], 0]
// CHECK:         %[[VIEW:.*]] = memref.expand_shape %[[C]]
// CHECK:         memref.load %[[VIEW]]
func.func @siblings(%n: index, %source: memref<2x4xf32>) -> f32 attributes {gpu.known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  %view = memref.expand_shape %buffer [[0, 1]] output_shape [2, 4] : memref<8xf32, #shared> into memref<2x4xf32, #shared>
  scf.for %i = %c0 to %n step %c1 {
    memref.copy %source, %view : memref<2x4xf32> to memref<2x4xf32, #shared>
    memref.copy %view, %source : memref<2x4xf32, #shared> to memref<2x4xf32>
  }
  scf.for %i = %c0 to %c5 step %c1 {
    memref.copy %source, %view : memref<2x4xf32> to memref<2x4xf32, #shared>
    memref.copy %view, %source : memref<2x4xf32, #shared> to memref<2x4xf32>
  }
  %last = memref.load %view[%c0, %c0] : memref<2x4xf32, #shared>
  return %last : f32
}

// In a loop around: the store before overwrites what an earlier execution left.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK:         memref.alloc() : memref<3x8xf32, #gpu.address_space<workgroup>>
// CHECK:         scf.for
// CHECK:           arith.constant 0 : index
// CHECK:           scf.for
// CHECK:           scf.for
// CHECK:             arith.remui
// CHECK:           arith.select
func.func @in_a_loop(%n: index, %row: vector<8xf32>, %out: memref<8xf32>) attributes {gpu.known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %j = %c0 to %n step %c1 {
    vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    // Its iterations hand values on.
    scf.for %i = %c0 to %n step %c1 {
      %back = memref.load %buffer[%c0] : memref<8xf32, #shared>
      memref.store %back, %buffer[%c1] : memref<8xf32, #shared>
    }
    scf.for %i = %c0 to %n step %c1 {
      vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
      %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
      vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
    }
    %last = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    vector.store %last, %out[%c0] : memref<8xf32>, vector<8xf32>
  } {smalti.slots = 1 : i64}
  return
}

// The difference of the bounds overflows the counter's type: 255 iterations,
// of which the last one uses slot 254 mod 3.
// CHECK-LABEL: func.func @overflowing_difference(
// CHECK:         scf.for
// CHECK:         }
// CHECK:         %[[LAST:.*]] = arith.constant 2 : index
// CHECK:         memref.subview %{{.*}}[%[[LAST]], 0]
func.func @overflowing_difference(%row: vector<8xf32>, %out: memref<8xf32>) -> f32 attributes {gpu.known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %lower = arith.constant -128 : i8
  %upper = arith.constant 127 : i8
  %step = arith.constant 1 : i8
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %lower to %upper step %step : i8 {
    vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
  }
  %last = memref.load %buffer[%c0] : memref<8xf32, #shared>
  return %last : f32
}
