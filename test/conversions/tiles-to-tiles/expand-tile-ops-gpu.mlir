// Ops that are expanded only for GPUs, except for the atomic operation.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{target=gfx942}))' | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{target=cpu}))' | FileCheck %s --check-prefix=CPU
// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{target=gfx942 check-indices}))' | FileCheck %s --check-prefix=CHECKED

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
// Only accesses that the expansion removes are checked, unless their index is proven to be in bounds.
// CHECKED-LABEL: triton_xla.entry_func @scalars(
// CHECKED-SAME:    %[[X:[^:]+]]: memref<?x4xf32>, %[[N:[^:]+]]: index
// CHECKED:         %[[C8:.*]] = arith.constant 8 : index
// CHECKED-NEXT:    %[[INSIDE:.*]] = arith.cmpi ult, %[[N]], %[[C8]] : index
// CHECKED-NEXT:    cf.assert %[[INSIDE]], "the index of dimension 0 is out of bounds" {smalti.index_check = 0 : i64}
// CHECKED:         %[[C2:.*]] = arith.constant 2 : index
// CHECKED-NEXT:    arith.cmpi ult, %[[N]], %[[C2]]
// CHECKED-NEXT:    cf.assert
// CHECKED:         %[[D:.*]] = arith.select %{{.*}} : index
// CHECKED:         %[[ROWS:.*]] = memref.dim %[[X]], %c0{{.*}} : memref<?x4xf32>
// CHECKED-NEXT:    arith.cmpi ult, %[[D]], %[[ROWS]]
// CHECKED-NEXT:    cf.assert {{.*}} {smalti.index_check = 0 : i64}
// CHECKED:         cf.assert {{.*}} {smalti.index_check = 1 : i64}
// CHECKED-NEXT:    triton_xla.atomic_rmw
// CHECKED-NOT:     cf.assert
triton_xla.entry_func @scalars(%x: memref<?x4xf32>, %n: index, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0] [8, 1] [1, 1] : memref<?x4xf32> to tensor<8xf32>
  %e = tensor.extract %t[%n] : tensor<8xf32>
  %d = memref.dim %x, %n : memref<?x4xf32>
  %o = memref.atomic_rmw addf %e, %x[%d, %n] : (f32, memref<?x4xf32>) -> f32
  %c3 = arith.constant 3 : index
  %p = tensor.extract %t[%c3] : tensor<8xf32>
  %q = memref.load %x[%n, %n] : memref<?x4xf32>
  triton_xla.print "old" %o, %p, %q : f32, f32, f32
  triton_xla.return
}
