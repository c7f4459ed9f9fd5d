// RUN: smalti-opt %s --convert-triton-xla-to-cpu --canonicalize --cse --split-input-file | FileCheck %s

// A sum of a row has independent accumulators of whole vectors. The first elements start the accumulators, and the
// initial value is added once, to their sum.

// CHECK-LABEL: func.func @smalti.row_sum(
// CHECK-DAG:     %[[INIT:.*]] = arith.constant 5.000000e+00 : f32
// CHECK-COUNT-4: vector.load %{{.*}} : memref<100xf32>, vector<8xf32>
// CHECK:         scf.for %{{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-4:   arith.addf %{{.*}} : vector<8xf32>
// CHECK:         vector.shuffle {{.*}} : vector<8xf32>
// CHECK:         arith.addf %{{.*}} : vector<4xf32>
// CHECK:         arith.addf %{{.*}} : vector<2xf32>
// CHECK:         %[[SUM:.*]] = arith.addf %{{.*}} : f32
// CHECK:         arith.addf %[[SUM]], %[[INIT]] : f32
// CHECK:         scf.for
// CHECK:           arith.addf %{{.*}} : f32
triton_xla.entry_func @row_sum(%a: memref<100xf32>, %b: memref<f32>, %tile: index) tiles 1 {
  %init = arith.constant 5.0 : f32
  %t = triton_xla.extract %a[0] [100] [1] : memref<100xf32> to tensor<100xf32>
  %s = triton_xla.reduce %t dims [0] init %init : (tensor<100xf32>, f32) -> tensor<f32> {
  ^bb0(%l: f32, %r: f32):
    %c = arith.addf %l, %r : f32
    triton_xla.yield %c : f32
  }
  triton_xla.insert %s into %b[] [] [] : tensor<f32> into memref<f32>
  triton_xla.return
}

// -----

// Sums of columns: each lane has a column and starts with the initial value.

// CHECK-LABEL: func.func @smalti.column_sums(
// CHECK:         %[[INIT:.*]] = arith.constant dense<5.000000e+00> : vector<8xf32>
// CHECK:         scf.for
// CHECK:           scf.for %{{.*}} iter_args(%{{.*}} = %[[INIT]], %{{.*}} = %[[INIT]]
// CHECK:             arith.addf %{{.*}} : vector<8xf32>
// CHECK-NOT:     vector.shuffle
// CHECK:         return
triton_xla.entry_func @column_sums(%a: memref<20x64xf32>, %b: memref<64xf32>, %tile: index) tiles 1 {
  %init = arith.constant 5.0 : f32
  %t = triton_xla.extract %a[0, 0] [20, 64] [1, 1] : memref<20x64xf32> to tensor<20x64xf32>
  %s = triton_xla.reduce %t dims [0] init %init : (tensor<20x64xf32>, f32) -> tensor<64xf32> {
  ^bb0(%l: f32, %r: f32):
    %c = arith.addf %l, %r : f32
    triton_xla.yield %c : f32
  }
  triton_xla.insert %s into %b[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.return
}

// -----

// The broadcast of a computed row is fused into its consumer, but the computation of the row is not, since it would be
// repeated for each element.

// CHECK-LABEL: func.func @smalti.broadcast(
// CHECK:         math.sqrt %{{.*}} : vector<8xf32>
// CHECK-NOT:     math.sqrt
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             arith.subf %{{.*}} : vector<8xf32>
// CHECK:         return
triton_xla.entry_func @broadcast(%a: memref<16x32xf32>, %b: memref<16xf32>, %tile: index) tiles 1 {
  %x = triton_xla.extract %a[0, 0] [16, 32] [1, 1] : memref<16x32xf32> to tensor<16x32xf32>
  %y = triton_xla.extract %b[0] [16] [1] : memref<16xf32> to tensor<16xf32>
  %e = math.sqrt %y : tensor<16xf32>
  %r = triton_xla.broadcast %e dims [0] : tensor<16xf32> -> tensor<16x32xf32>
  %d = arith.subf %x, %r : tensor<16x32xf32>
  triton_xla.insert %d into %a[0, 0] [16, 32] [1, 1] : tensor<16x32xf32> into memref<16x32xf32>
  triton_xla.return
}

// -----

// A reshape does not copy.

// CHECK-LABEL: func.func @smalti.reshape(
// CHECK:         %[[BUFFER:.*]] = memref.alloc
// CHECK-NOT:     memref.alloc
// CHECK:         return
triton_xla.entry_func @reshape(%a: memref<8x16xf32>, %b: memref<4x32xf32>, %tile: index) tiles 1 {
  %x = triton_xla.extract %a[0, 0] [8, 16] [1, 1] : memref<8x16xf32> to tensor<8x16xf32>
  %y = triton_xla.reshape %x : tensor<8x16xf32> -> tensor<4x32xf32>
  triton_xla.insert %y into %b[0, 0] [4, 32] [1, 1] : tensor<4x32xf32> into memref<4x32xf32>
  triton_xla.return
}

// -----

// Memory is only accessed at indices inside of the memref.

// CHECK-LABEL: func.func @smalti.gather(
// CHECK-SAME:    %[[A:.*]]: memref<?xf32>
// CHECK:         %[[EXTENT:.*]] = memref.dim %[[A]]
// CHECK:         %[[INSIDE:.*]] = arith.cmpi ult, %[[INDEX:.*]], %[[EXTENT]] : index
// CHECK:         scf.if %[[INSIDE]] -> (f32)
// CHECK-NEXT:      memref.load %[[A]][%[[INDEX]]]
triton_xla.entry_func @gather(%a: memref<?xf32>, %n: memref<16xi32>, %b: memref<16xf32>, %tile: index) tiles 1 {
  %i = triton_xla.extract %n[0] [16] [1] : memref<16xi32> to tensor<16xi32>
  %t = triton_xla.gather %a[%i] : memref<?xf32>, tensor<16xi32> -> tensor<16xf32>
  triton_xla.insert %t into %b[0] [16] [1] : tensor<16xf32> into memref<16xf32>
  triton_xla.return
}

// -----

// CHECK-LABEL: func.func @smalti.atomics(
// CHECK:         llvm.atomicrmw add %{{.*}} acq_rel : !llvm.ptr, i32
// CHECK:         llvm.load %{{.*}} atomic monotonic
// CHECK:         scf.while
// CHECK:           arith.addf %{{.*}} : f32
// CHECK:           llvm.cmpxchg %{{.*}} acquire acquire : !llvm.ptr, i32
// CHECK:         llvm.cmpxchg %{{.*}} release monotonic : !llvm.ptr, i32
triton_xla.entry_func @atomics(%a: memref<4xi32>, %b: memref<4xf32>, %i: i32, %x: f32, %tile: index) tiles 1 {
  %0 = triton_xla.atomic_rmw addi %i into %a[%tile] scope sys ordering acq_rel : i32 into memref<4xi32>, index
  %1 = triton_xla.atomic_rmw addf %x into %b[%tile] ordering acquire : f32 into memref<4xf32>, index
  %2 = triton_xla.atomic_cas %i, %0 into %a[%tile] ordering release : i32 into memref<4xi32>, index
  triton_xla.return
}

// -----

// Kernels share the declaration of a function.

// CHECK-COUNT-1: llvm.func @printf(!llvm.ptr, ...) -> i32
// CHECK-NOT:     llvm.func @printf
// CHECK:         func.func @smalti.print(
// CHECK:           llvm.call @printf(
// CHECK:         func.func @smalti.print_again(
// CHECK:           llvm.call @printf(
// CHECK:           cf.assert %{{.*}}, "message"
// CHECK:           llvm.intr.assume
triton_xla.entry_func @print(%tile: index) tiles 1 {
  triton_xla.print "text" %tile : index
  triton_xla.return
}
triton_xla.entry_func @print_again(%c: i1, %tile: index) tiles 1 {
  triton_xla.print "text" %tile : index
  triton_xla.assert %c, "message" : i1
  triton_xla.assume %c
  triton_xla.return
}

// -----

// Tiles of a grid are numbered in row-major order.

// CHECK-LABEL: func.func @smalti.grid(
// CHECK-SAME:    %[[A:.*]]: memref<2x4xindex>, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index) attributes {{{.*}}smalti.num_tiles = 8
// CHECK:         scf.for %[[TILE:.*]] = %[[BEGIN]] to %[[END]]
// CHECK:           %[[COLUMN:.*]] = arith.remui %[[TILE]], %c4 : index
// CHECK:           %[[ROW:.*]] = arith.divui %[[TILE]], %c4 : index
// CHECK:           memref.store %c2, %[[A]][%[[ROW]], %[[COLUMN]]]
triton_xla.entry_func @grid(%a: memref<2x4xindex>, %i: index, %j: index) tiles [2, 4] {
  %n = triton_xla.num_tiles dim 0
  memref.store %n, %a[%i, %j] : memref<2x4xindex>
  triton_xla.return
}

// -----

// Each matmul of a batch has the accumulators of one matmul in registers.

// CHECK-LABEL: func.func @smalti.batch(
// CHECK:         scf.for
// CHECK:           scf.for %{{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK:         return
triton_xla.entry_func @batch(%a: memref<3x32x32xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0, 0, 0] [3, 32, 32] [1, 1, 1] : memref<3x32x32xf32> to tensor<3x32x32xf32>
  %r = triton_xla.dot %t, %t, %t : tensor<3x32x32xf32>, tensor<3x32x32xf32> -> tensor<3x32x32xf32>
  triton_xla.insert %r into %a[0, 0, 0] [3, 32, 32] [1, 1, 1] : tensor<3x32x32xf32> into memref<3x32x32xf32>
  triton_xla.return
}
