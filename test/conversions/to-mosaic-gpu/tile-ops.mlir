// RUN: smalti-opt %s -convert-triton-xla-to-mosaic-gpu=target=sm_80 -split-input-file | FileCheck %s

// Every thread keeps its elements: the reduced tile has the layout that the
// reduction gives, and the broadcast reverses it. No layout changes.

// CHECK-LABEL: gpu.func @row_maximum
// CHECK: %[[X:.*]] = vector.transfer_read {{.*}}out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}4, 128], [4]], warp_dims = [-3], lane_dims = [-2], vector_dim = -1>]
// CHECK: %[[M:.*]] = mosaic_gpu.reduce %[[X]] dims [1] init %{{.*}}out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}4], [1]], warp_dims = [-2], lane_dims = [#mosaic_gpu.Replicated<times = 32>]
// CHECK: arith.maximumf
// CHECK: mosaic_gpu.return
// CHECK-NOT: layout_cast
// CHECK: mosaic_gpu.broadcast_in_dim(%[[M]] : vector<4xf32>) {broadcast_dimensions = array<i64: 0>
// CHECK-NOT: layout_cast
triton_xla.entry_func @row_maximum(%src: memref<4x1024xf32>, %tile: index) tiles 1 {
  %ninf = arith.constant 0xFF800000 : f32
  %x = triton_xla.extract %src[0, 0] [4, 1024] [1, 1] : memref<4x1024xf32> to tensor<4x1024xf32>
  %m = triton_xla.reduce %x dims [1] init %ninf : (tensor<4x1024xf32>, f32) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %b : f32
    triton_xla.yield %r : f32
  }
  %mb = triton_xla.broadcast %m dims [0] : tensor<4xf32> -> tensor<4x1024xf32>
  %d = arith.subf %x, %mb : tensor<4x1024xf32>
  triton_xla.insert %d into %src[0, 0] [4, 1024] [1, 1] : tensor<4x1024xf32> into memref<4x1024xf32>
  triton_xla.return
}

// -----

// A reduction along all dimensions is a scalar; one thread stores it.

// CHECK-LABEL: gpu.func @sum
// CHECK: %[[S:.*]] = mosaic_gpu.reduce {{.*}} dims [0, 1] {{.*}} -> f32
// CHECK: %[[V:.*]] = vector.broadcast %[[S]] {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[1]>]}
// CHECK: vector.transfer_write %[[V]], {{.*}}Replicated<times = 32>
triton_xla.entry_func @sum(%src: memref<16x64xf32>, %dst: memref<f32>, %tile: index) tiles 1 {
  %zero = arith.constant 0.0 : f32
  %x = triton_xla.extract %src[0, 0] [16, 64] [1, 1] : memref<16x64xf32> to tensor<16x64xf32>
  %s = triton_xla.reduce %x dims [0, 1] init %zero : (tensor<16x64xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    triton_xla.yield %r : f32
  }
  triton_xla.insert %s into %dst[] [] [] : tensor<f32> into memref<f32>
  triton_xla.return
}

// -----

// Both sides of the transpose access memory by rows, so a layout_cast moves the
// elements.

// CHECK-LABEL: gpu.func @transpose
// CHECK: vector.transpose
// CHECK: mosaic_gpu.layout_cast
// CHECK: vector.transfer_write
triton_xla.entry_func @transpose(%src: memref<64x32xf32>, %dst: memref<32x64xf32>, %tile: index) tiles 1 {
  %x = triton_xla.extract %src[0, 0] [64, 32] [1, 1] : memref<64x32xf32> to tensor<64x32xf32>
  %t = triton_xla.transpose %x [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  triton_xla.insert %t into %dst[0, 0] [32, 64] [1, 1] : tensor<32x64xf32> into memref<32x64xf32>
  triton_xla.return
}

// -----

// Concatenations and slices go through shared memory.

// CHECK-LABEL: gpu.func @concat
// CHECK: %[[B:.*]] = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
// CHECK: %[[V0:.*]] = memref.subview %[[B]][0] [32] [1]
// CHECK: mosaic_gpu.vector_store %{{.*}}, %[[V0]]
// CHECK: %[[V1:.*]] = memref.subview %[[B]][32] [32] [1]
// CHECK: mosaic_gpu.vector_store %{{.*}}, %[[V1]]
// CHECK: gpu.barrier
// CHECK: mosaic_gpu.vector_load %[[B]]
triton_xla.entry_func @concat(%src: memref<32xf32>, %dst: memref<64xf32>, %tile: index) tiles 1 {
  %x = triton_xla.extract %src[0] [32] [1] : memref<32xf32> to tensor<32xf32>
  %n = arith.negf %x : tensor<32xf32>
  %c = triton_xla.concat %x, %n dim 0 : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
  triton_xla.insert %c into %dst[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.return
}

// -----

// An index out of bounds is masked: one unsigned comparison covers both ends.

// CHECK-LABEL: gpu.func @gather
// CHECK: %[[I:.*]] = vector.transfer_read
// CHECK: %[[M:.*]] = arith.cmpi ult, %[[I]]
// CHECK: vector.gather %{{.*}}[%{{.*}}] [%[[I]]], %[[M]]
triton_xla.entry_func @gather(%src: memref<100xf32>, %at: memref<64xi32>, %dst: memref<64xf32>, %tile: index) tiles 1 {
  %i = triton_xla.extract %at[0] [64] [1] : memref<64xi32> to tensor<64xi32>
  %x = triton_xla.gather %src[%i] fill 1.0 : f32 : memref<100xf32>, tensor<64xi32> -> tensor<64xf32>
  triton_xla.insert %x into %dst[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.return
}

// -----

// Without `unique`, the last of several elements with one index is stored.

// CHECK-LABEL: gpu.func @scatter
// CHECK: mosaic_gpu.vector_store
// CHECK: gpu.barrier
// CHECK: %[[LATER:.*]] = scf.for
// CHECK: %[[COUNT:.*]] = arith.select %{{.*}}, %[[LATER]]
// CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %[[COUNT]]
// CHECK: %[[M:.*]] = arith.andi %{{.*}}, %[[IS_LAST]]
// CHECK: vector.scatter %{{.*}}[%{{.*}}] [%{{.*}}], %[[M]]
// CHECK-LABEL: gpu.func @scatter_unique
// CHECK-NOT: scf.for
// CHECK: vector.scatter
triton_xla.entry_func @scatter(%at: memref<64xi32>, %dst: memref<100xi32>, %tile: index) tiles 1 {
  %i = triton_xla.extract %at[0] [64] [1] : memref<64xi32> to tensor<64xi32>
  triton_xla.scatter %i into %dst[%i] : tensor<64xi32> into memref<100xi32>, tensor<64xi32>
  triton_xla.return
}

triton_xla.entry_func @scatter_unique(%at: memref<64xi32>, %dst: memref<100xi32>, %tile: index) tiles 1 {
  %i = triton_xla.extract %at[0] [64] [1] : memref<64xi32> to tensor<64xi32>
  triton_xla.scatter %i into %dst[%i] unique : tensor<64xi32> into memref<100xi32>, tensor<64xi32>
  triton_xla.return
}

// -----

// Ordered updates of one element are in different rounds. Their number is known at run time.

// CHECK-LABEL: gpu.func @ordered
// CHECK: mosaic_gpu.vector_store
// CHECK: gpu.barrier
// CHECK: %[[EARLIER:.*]] = scf.for
// CHECK: %[[ROUND:.*]] = arith.select %{{.*}}, %[[EARLIER]]
// CHECK: mosaic_gpu.reduce %[[ROUND]]
// CHECK: arith.maxsi
// CHECK: %[[OLD:.*]] = scf.for
// CHECK: arith.cmpi eq, %[[ROUND]]
// CHECK: mosaic_gpu.atomic_rmw addf
// CHECK-NEXT: gpu.barrier
// CHECK: vector.transfer_write %[[OLD]]
// CHECK-LABEL: gpu.func @any_order
// CHECK-NOT: scf.for
// CHECK: mosaic_gpu.atomic_rmw addi
triton_xla.entry_func @ordered(%at: memref<64xi32>, %x: memref<64xf32>, %dst: memref<100xf32>, %tile: index) tiles 1 {
  %i = triton_xla.extract %at[0] [64] [1] : memref<64xi32> to tensor<64xi32>
  %t = triton_xla.extract %x[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  %old = triton_xla.atomic_rmw addf %t into %dst[%i] deterministic : tensor<64xf32> into memref<100xf32>, tensor<64xi32>
  triton_xla.insert %old into %x[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.return
}

triton_xla.entry_func @any_order(%at: memref<64xi32>, %dst: memref<100xi32>, %tile: index) tiles 1 {
  %i = triton_xla.extract %at[0] [64] [1] : memref<64xi32> to tensor<64xi32>
  %old = triton_xla.atomic_rmw addi %i into %dst[%i] deterministic : tensor<64xi32> into memref<100xi32>, tensor<64xi32>
  triton_xla.return
}

// -----

// CHECK-LABEL: gpu.func @loop
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: scf.yield
triton_xla.entry_func @loop(%x: memref<64xf32>, %n: i32, %tile: index) tiles 1 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = triton_xla.extract %x[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  %r:2 = scf.while (%a = %t, %i = %zero) : (tensor<64xf32>, i32) -> (tensor<64xf32>, i32) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %a, %i : tensor<64xf32>, i32
  } do {
  ^bb0(%a: tensor<64xf32>, %i: i32):
    %b = arith.addf %a, %a : tensor<64xf32>
    %j = arith.addi %i, %one : i32
    scf.yield %b, %j : tensor<64xf32>, i32
  }
  triton_xla.insert %r#0 into %x[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.return
}

// -----

// CHECK-LABEL: memref.global "private" constant @constant_constant_0 : memref<4xf32>
// CHECK: memref.get_global @constant_constant_0
triton_xla.entry_func @constant(%x: memref<4xf32>, %tile: index) tiles 1 {
  %t = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  triton_xla.insert %t into %x[0] [4] [1] : tensor<4xf32> into memref<4xf32>
  triton_xla.return
}
