// Ops that are expanded only for GPUs, except for the atomic operation.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{target=gfx942}))' | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{target=cpu}))' | FileCheck %s --check-prefix=CPU

// CHECK-LABEL: triton_xla.entry_func @scalars(
// CHECK-SAME:    %[[X:[^:]+]]: memref<?x4xf32>, %[[N:[^:]+]]: index
// CHECK:         %[[BITS:.*]] = arith.bitcast %{{.*}} : tensor<8xf32> to tensor<8xi32>
// CHECK:         %[[IS:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : tensor<8xi32>
// CHECK:         %[[ONE:.*]] = arith.select %[[IS]], %[[BITS]]
// CHECK:         %[[CODE:.*]] = triton_xla.reduce %[[ONE]] dims [0]
// CHECK:           arith.ori
// CHECK:         %[[SCALAR:.*]] = tensor.extract %[[CODE]][] : tensor<i32>
// CHECK:         %[[E:.*]] = arith.bitcast %[[SCALAR]] : i32 to f32
// CHECK:         %[[COLUMNS:.*]] = memref.dim %[[X]], %c1
// CHECK:         %[[ROWS:.*]] = memref.dim %[[X]], %c0
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[N]]
// CHECK:         arith.select %[[FIRST]], %[[ROWS]], %[[COLUMNS]]
// CHECK:         triton_xla.atomic_rmw addf %[[E]] into %[[X]]{{.*}} ordering acq_rel
// CPU-LABEL:   triton_xla.entry_func @scalars(
// CPU:           tensor.extract %{{.*}}[%{{.*}}] : tensor<8xf32>
// CPU:           memref.dim %{{.*}}, %arg1
// CPU:           triton_xla.atomic_rmw addf
triton_xla.entry_func @scalars(%x: memref<?x4xf32>, %n: index, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0] [8, 1] [1, 1] : memref<?x4xf32> to tensor<8xf32>
  %e = tensor.extract %t[%n] : tensor<8xf32>
  %d = memref.dim %x, %n : memref<?x4xf32>
  %o = memref.atomic_rmw addf %e, %x[%d, %n] : (f32, memref<?x4xf32>) -> f32
  triton_xla.print "old" %o : f32
  triton_xla.return
}
