// Slots through views, also of views outside the loop, in any function.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=3}),gpu.module(gpu.func(smalti-multi-buffer)))' \
// RUN:   | FileCheck %s
#shared = #gpu.address_space<workgroup>

// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %[[LOWER:[^:]*]]: i32, %{{[^:]*}}: i32, %[[STEP:[^:]*]]: i32
// CHECK:         %[[BUFFER:.*]] = memref.alloc() {alignment = 32 : i64, tag} : memref<3x8xf32, #gpu.address_space<workgroup>>
// CHECK-NOT:     memref.cast
// CHECK:         scf.for %[[IV:[^ ]*]] =
// CHECK:           %[[DISTANCE:.*]] = arith.subi %[[IV]], %[[LOWER]]
// CHECK:           %[[NUMBER:.*]] = arith.divui %[[DISTANCE]], %[[STEP]]
// CHECK:           %[[REST:.*]] = arith.remui %[[NUMBER]], %c3_i32
// CHECK:           %[[SLOT:.*]] = arith.index_castui %[[REST]] : i32 to index
// CHECK:           %[[VIEW:.*]] = memref.subview %[[BUFFER]][%[[SLOT]], 0] [1, 8] [1, 1]
// CHECK:           memref.cast %[[VIEW]] : memref<8xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>> to memref<?xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
// CHECK:           %[[EXPANDED:.*]] = memref.expand_shape %[[VIEW]] {{.*}} into memref<2x4xf32, strided<[4, 1], offset: ?>, #gpu.address_space<workgroup>>
// CHECK:           memref.copy %{{.*}}, %[[EXPANDED]]
// CHECK:           memref.collapse_shape %[[EXPANDED]] {{.*}} into memref<8xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
// CHECK:           %[[ELEMENTS:.*]] = arith.constant 8 : index
// CHECK:           %[[START:.*]] = arith.muli %[[SLOT]], %[[ELEMENTS]]
// CHECK:           %[[OFFSET:.*]] = arith.addi %[[START]], %c2
// CHECK:           memref.reinterpret_cast %[[VIEW]] to offset: [%[[OFFSET]]], sizes: [2], strides: [1]
// CHECK:         memref.dealloc %[[BUFFER]]
func.func @views(%lower: i32, %upper: i32, %step: i32, %source: memref<2x4xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %buffer = memref.alloc() {alignment = 32 : i64, tag} : memref<8xf32, #shared>
  %cast = memref.cast %buffer : memref<8xf32, #shared> to memref<?xf32, #shared>
  scf.for %i = %lower to %upper step %step : i32 {
    %expanded = memref.expand_shape %buffer [[0, 1]] output_shape [2, 4] : memref<8xf32, #shared> into memref<2x4xf32, #shared>
    memref.copy %source, %expanded : memref<2x4xf32> to memref<2x4xf32, #shared>
    %collapsed = memref.collapse_shape %expanded [[0, 1]] : memref<2x4xf32, #shared> into memref<8xf32, #shared>
    memref.copy %collapsed, %out : memref<8xf32, #shared> to memref<8xf32>
    %part = memref.reinterpret_cast %buffer to offset: [2], sizes: [2], strides: [1]
      : memref<8xf32, #shared> to memref<2xf32, strided<[1], offset: 2>, #shared>
    %value = memref.load %part[%c0] : memref<2xf32, strided<[1], offset: 2>, #shared>
    %other = memref.load %cast[%c0] : memref<?xf32, #shared>
    %sum = arith.addf %value, %other : f32
    memref.store %sum, %out[%c0] : memref<8xf32>
  }
  memref.dealloc %buffer : memref<8xf32, #shared>
  return
}

// CHECK-LABEL: gpu.func @kernel(
// CHECK:         memref.alloc() : memref<2x8xf32, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @kernel(%source: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %buffer = memref.alloc() : memref<8xf32, #shared>
    scf.for %i = %c0 to %c64 step %c1 {
      linalg.fill ins(%zero : f32) outs(%buffer : memref<8xf32, #shared>)
      memref.copy %buffer, %source : memref<8xf32, #shared> to memref<8xf32>
    }
    gpu.return
  }
}
