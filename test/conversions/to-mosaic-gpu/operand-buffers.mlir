// RUN: smalti-opt %s '-convert-triton-xla-to-mosaic-gpu=target=sm_80 num-warps=4' -split-input-file | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: smalti-opt %s '-convert-triton-xla-to-mosaic-gpu=target=gfx942 num-warps=4' -split-input-file | FileCheck %s --check-prefixes=CHECK,GFX942

// Operands of dots in two loops share buffers. Those of one loop do not.

// CHECK-LABEL: gpu.func @two_loops
// CHECK: %[[A:.*]] = memref.alloc() : memref<64x64xf16, #gpu.address_space<workgroup>>
// CHECK: %[[B:.*]] = memref.alloc() : memref<64x64xf16, #gpu.address_space<workgroup>>
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// SM80: mosaic_gpu.async_copy {{.*}} to %[[A]]
// SM80: mosaic_gpu.async_copy {{.*}} to %[[B]]
// GFX942: mosaic_gpu.vector_store %{{.*}}, %[[A]]
// GFX942: mosaic_gpu.vector_store %{{.*}}, %[[B]]
// CHECK: scf.for
// SM80: mosaic_gpu.async_copy {{.*}} to %[[A]]
// SM80: mosaic_gpu.async_copy {{.*}} to %[[B]]
// GFX942: mosaic_gpu.vector_store %{{.*}}, %[[A]]
// GFX942: mosaic_gpu.vector_store %{{.*}}, %[[B]]
triton_xla.entry_func @two_loops(
    %a: memref<64x256xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %first = scf.for %k = %c0 to %c64 step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %ta = triton_xla.extract %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to tensor<64x64xf16>
    %tb = triton_xla.extract %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to tensor<64x64xf16>
    %sum = triton_xla.dot %ta, %tb, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %sum : tensor<64x64xf32>
  }
  %second = scf.for %k = %c64 to %c256 step %c64 iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %ta = triton_xla.extract %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to tensor<64x64xf16>
    %tb = triton_xla.extract %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to tensor<64x64xf16>
    %sum = triton_xla.dot %ta, %tb, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %sum : tensor<64x64xf32>
  }
  triton_xla.insert %second into %c[%c0, %c0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}

// -----

// The inner loop runs between the copy of the outer tile and its dot: no shared buffer.

// CHECK-LABEL: gpu.func @nested
// CHECK-COUNT-3: memref.alloc() : memref<64x64xf16
triton_xla.entry_func @nested(
    %a: memref<64x256xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %all = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %ta = triton_xla.extract %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to tensor<64x64xf16>
    %inner = scf.for %l = %c0 to %c256 step %c64 iter_args(%part = %acc) -> (tensor<64x64xf32>) {
      %tb = triton_xla.extract %b[%l, %c0] [64, 64] [1, 1] : memref<256x64xf16> to tensor<64x64xf16>
      %sum = triton_xla.dot %tb, %tb, %part : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %sum : tensor<64x64xf32>
    }
    %tb = triton_xla.extract %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to tensor<64x64xf16>
    %sum = triton_xla.dot %ta, %tb, %inner : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %sum : tensor<64x64xf32>
  }
  triton_xla.insert %all into %c[%c0, %c0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}

// -----

// Two dots read a tile: it is stored once. A store in a branch does not count for the dot after the branch.

// CHECK-LABEL: gpu.func @read_twice
// GFX942: %[[TA:.*]] = vector.transfer_read %arg0
// GFX942-COUNT-1: mosaic_gpu.vector_store %[[TA]]
// GFX942: scf.if
// GFX942: mosaic_gpu.vector_store %[[TB:.*]], %{{.*}} {
// GFX942-NOT: mosaic_gpu.vector_store %[[TA]]
// GFX942: mosaic_gpu.vector_store %[[TB]], %{{.*}} {
triton_xla.entry_func @read_twice(
    %a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>, %flag: i1, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %ta = triton_xla.extract %a[%c0, %c0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %tb = triton_xla.extract %b[%c0, %c0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %square = triton_xla.dot %ta, %ta, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %maybe = scf.if %flag -> (tensor<64x64xf32>) {
    %sum = triton_xla.dot %ta, %tb, %square : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %sum : tensor<64x64xf32>
  } else {
    scf.yield %square : tensor<64x64xf32>
  }
  %last = triton_xla.dot %tb, %ta, %maybe : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  triton_xla.insert %last into %c[%c0, %c0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}

// -----

// MFMA reads parts of columns of operand B, whose rows are contiguous in global memory: threads transpose blocks of 4 x 8
// elements, and the buffer has contiguous columns. Operand A has contiguous rows already.

// CHECK-LABEL: gpu.func @columns
// SM80-NOT: mosaic_gpu.layout_cast
// GFX942: %[[SA:.*]] = memref.alloc() : memref<64x64xf16
// GFX942: %[[SB:.*]] = memref.alloc() : memref<128x64xf16
// GFX942: vector.transfer_read %arg1{{.*}} {in_bounds = [true, true], out_layouts = [#mosaic_gpu.TiledLayout<{{\[}}[64, 128], [16, 128], [4, 8]], warp_dims = [-6], lane_dims = [-4, -3], vector_dim = -1>]}
// GFX942: vector_store %{{.*}}, %[[SA]]
// GFX942: %[[COLUMNS:.*]] = mosaic_gpu.layout_cast {{.*}}new_layout = #mosaic_gpu.TiledLayout<{{\[}}[64, 128], [16, 128], [4, 8], [4, 1]], warp_dims = [-8], lane_dims = [-6, -5], vector_dim = -2>
// GFX942: %[[ROWS:.*]] = vector.transpose %[[COLUMNS]], [1, 0]
// GFX942: vector_store %[[ROWS]], %[[SB]]
// GFX942: %[[PART:.*]] = memref.subview %[[SB]][0, 0] [128, 16]
// GFX942-NEXT: memref.transpose %[[PART]]
triton_xla.entry_func @columns(
    %a: memref<64x64xf16>, %b: memref<64x128xf16>, %c: memref<64x128xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %ta = triton_xla.extract %a[%c0, %c0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %tb = triton_xla.extract %b[%c0, %c0] [64, 128] [1, 1] : memref<64x128xf16> to tensor<64x128xf16>
  %sum = triton_xla.dot %ta, %tb, %zero : tensor<64x64xf16>, tensor<64x128xf16> -> tensor<64x128xf32>
  triton_xla.insert %sum into %c[%c0, %c0] [64, 128] [1, 1] : tensor<64x128xf32> into memref<64x128xf32>
  triton_xla.return
}

// -----

// Rows of 127 elements are read one element at a time. A thread still holds 4 elements of a column, which it stores together.

// CHECK-LABEL: gpu.func @single_elements
// SM80-NOT: mosaic_gpu.layout_cast
// GFX942: %[[SB:.*]] = memref.alloc() : memref<128x64xf16
// GFX942: vector.transfer_read %arg1{{.*}} out_layouts = [#mosaic_gpu.TiledLayout<
// GFX942: %[[COLUMNS:.*]] = mosaic_gpu.layout_cast {{.*}}new_layout = #mosaic_gpu.TiledLayout<{{.*}}[4, 1]
// GFX942: %[[ROWS:.*]] = vector.transpose %[[COLUMNS]], [1, 0]
// GFX942: vector_store %[[ROWS]], %[[SB]]
triton_xla.entry_func @single_elements(
    %a: memref<64x64xf16>, %b: memref<64x127xf16>, %c: memref<64x127xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %ta = triton_xla.extract %a[%c0, %c0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %tb = triton_xla.extract %b[%c0, %c0] [64, 128] [1, 1] : memref<64x127xf16> to tensor<64x128xf16>
  %sum = triton_xla.dot %ta, %tb, %zero : tensor<64x64xf16>, tensor<64x128xf16> -> tensor<64x128xf32>
  triton_xla.insert %sum into %c[%c0, %c0] [64, 128] [1, 1] : tensor<64x128xf32> into memref<64x127xf32>
  triton_xla.return
}

// -----

// Another dot reads the rows of the tile: it is not transposed.

// CHECK-LABEL: gpu.func @rows_and_columns
// CHECK-NOT: mosaic_gpu.layout_cast
triton_xla.entry_func @rows_and_columns(
    %b: memref<64x64xf16>, %c: memref<64x64xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %tb = triton_xla.extract %b[%c0, %c0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %sum = triton_xla.dot %tb, %tb, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  triton_xla.insert %sum into %c[%c0, %c0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}
