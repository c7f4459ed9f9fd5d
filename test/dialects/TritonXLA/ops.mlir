// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --mlir-print-op-generic | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --emit-bytecode | smalti-opt | FileCheck %s

// CHECK-LABEL: triton_xla.entry_func @arguments(
// CHECK-SAME:    %{{.*}}: memref<?x8xf32, strided<[?, 1], offset: ?>> {smalti.name = "a"},
// CHECK-SAME:    %{{.*}}: i32, %{{.*}}: bf16, %{{.*}}: index, %{{.*}}: index) tiles 7 attributes {note = "kept"} {
// CHECK-NEXT:    triton_xla.return
triton_xla.entry_func @arguments(%a: memref<?x8xf32, strided<[?, 1], offset: ?>> {smalti.name = "a"}, %b: i32,
                                 %c: bf16, %d: index, %tile: index) tiles 7 attributes {note = "kept"} {
  triton_xla.return
}

// CHECK-LABEL: triton_xla.entry_func private @only_the_tile_id(%{{.*}}: index) tiles 1 {
triton_xla.entry_func private @only_the_tile_id(%tile: index) tiles 1 {
  triton_xla.return
}

// CHECK-LABEL: triton_xla.entry_func @grid(
// CHECK-SAME:    %{{.*}}: memref<4xf32>, %{{.*}}: index, %{{.*}}: index) tiles [4, 8] attributes {note} {
triton_xla.entry_func @grid(%a: memref<4xf32>, %row: index, %column: index) tiles [4, 8] attributes {note} {
  // CHECK: triton_xla.num_tiles dim 1
  %n = triton_xla.num_tiles dim 1
  triton_xla.return
}

// CHECK-LABEL: triton_xla.entry_func @one_dimension(%{{.*}}: index) tiles 4 {
triton_xla.entry_func @one_dimension(%tile: index) tiles [4] {
  triton_xla.return
}

// CHECK-LABEL: triton_xla.entry_func @extract(
// CHECK-SAME:    %[[A:.*]]: memref<100x60x5xf16>, %[[B:.*]]: memref<f64>, %[[C:.*]]: memref<?xi4>, %[[TILE:.*]]: index)
triton_xla.entry_func @extract(%a: memref<100x60x5xf16>, %b: memref<f64>, %c: memref<?xi4>, %tile: index) tiles 2 {
  // CHECK: triton_xla.extract %[[A]][%[[TILE]], 3, 0] [1, 16, 2] [1, 2, 4] : memref<100x60x5xf16> to tensor<1x16x2xf16>
  %0 = triton_xla.extract %a[%tile, 3, 0] [1, 16, 2] [1, 2, 4] : memref<100x60x5xf16> to tensor<1x16x2xf16>
  // CHECK: triton_xla.extract %[[A]][%[[TILE]], 3, 0] [1, 16, 1] [1, 1, 1] fill 1.000000e+00 : f16
  // CHECK-SAME: : memref<100x60x5xf16> to tensor<16xf16>
  %1 = triton_xla.extract %a[%tile, 3, 0] [1, 16, 1] [1, 1, 1] fill 1.0 : f16 : memref<100x60x5xf16> to tensor<16xf16>
  // CHECK: triton_xla.extract %[[A]][0, 0, 0] [1, 16, 1] [1, 1, 1] : memref<100x60x5xf16> to tensor<16x1xf16>
  %2 = triton_xla.extract %a[0, 0, 0] [1, 16, 1] [1, 1, 1] : memref<100x60x5xf16> to tensor<16x1xf16>
  // CHECK: triton_xla.extract %[[A]][0, 0, 99] [1, 1, 1] [1, 1, 1] : memref<100x60x5xf16> to tensor<f16>
  %3 = triton_xla.extract %a[0, 0, 99] [1, 1, 1] [1, 1, 1] : memref<100x60x5xf16> to tensor<f16>
  // CHECK: triton_xla.extract %[[B]][] [] [] : memref<f64> to tensor<f64>
  %4 = triton_xla.extract %b[] [] [] : memref<f64> to tensor<f64>
  // CHECK: triton_xla.extract %[[C]][%[[TILE]]] [8] [1] fill -1 : i4 {note = "kept"} : memref<?xi4> to tensor<8xi4>
  %5 = triton_xla.extract %c[%tile] [8] [1] fill -1 : i4 {note = "kept"} : memref<?xi4> to tensor<8xi4>
  triton_xla.return
}

// CHECK-LABEL: triton_xla.entry_func @insert(
// CHECK-SAME:    %[[A:.*]]: memref<100x60xi1, strided<[1, 100]>>, %[[B:.*]]: memref<index>, %[[TILE:.*]]: index)
triton_xla.entry_func @insert(%a: memref<100x60xi1, strided<[1, 100]>>, %b: memref<index>, %tile: index) tiles 2 {
  %ones = arith.constant dense<true> : tensor<1x64xi1>
  %row = arith.constant dense<true> : tensor<64xi1>
  %i = arith.constant dense<5> : tensor<index>
  // CHECK: triton_xla.insert %{{.*}} into %[[A]][7, %[[TILE]]] [1, 64] [1, 3]
  // CHECK-SAME: : tensor<1x64xi1> into memref<100x60xi1, strided<[1, 100]>>
  triton_xla.insert %ones into %a[7, %tile] [1, 64] [1, 3] : tensor<1x64xi1> into memref<100x60xi1, strided<[1, 100]>>
  // CHECK: triton_xla.insert %{{.*}} into %[[A]][7, 0] [1, 64] [1, 1]
  // CHECK-SAME: : tensor<64xi1> into memref<100x60xi1, strided<[1, 100]>>
  triton_xla.insert %row into %a[7, 0] [1, 64] [1, 1] : tensor<64xi1> into memref<100x60xi1, strided<[1, 100]>>
  // CHECK: triton_xla.insert %{{.*}} into %[[B]][] [] [] : tensor<index> into memref<index>
  triton_xla.insert %i into %b[] [] [] : tensor<index> into memref<index>
  triton_xla.return
}

// CHECK-LABEL: triton_xla.entry_func @mask(
// CHECK-SAME:    %[[SRC:.*]]: memref<32x16xf32>, %[[N:.*]]: index, %[[TILE:.*]]: index)
triton_xla.entry_func @mask(%src: memref<32x16xf32>, %n: index, %tile: index) tiles 1 {
  // CHECK: %[[V:.*]] = arith.constant
  %v = arith.constant 1.0 : f32
  // CHECK: %[[T:.*]] = triton_xla.extract
  %t = triton_xla.extract %src[0, 0] [32, 16] [1, 1] : memref<32x16xf32> to tensor<32x16xf32>
  // CHECK: %[[M:.*]] = triton_xla.mask %[[T]] [%[[N]], 8], %[[V]] : tensor<32x16xf32>
  %m = triton_xla.mask %t [%n, 8], %v : tensor<32x16xf32>
  // CHECK: triton_xla.mask %[[M]] [0, 16], %[[V]] : tensor<32x16xf32>
  %m2 = triton_xla.mask %m [0, 16], %v : tensor<32x16xf32>
  %s = triton_xla.extract %src[0, 0] [1, 1] [1, 1] : memref<32x16xf32> to tensor<f32>
  // CHECK: triton_xla.mask %{{.*}} [], %[[V]] : tensor<f32>
  %m3 = triton_xla.mask %s [], %v : tensor<f32>
  triton_xla.return
}
