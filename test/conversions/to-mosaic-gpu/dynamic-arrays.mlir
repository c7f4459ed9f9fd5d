// TMA copies of dynamic arrays: the divisors of the arguments prove what TMA requires.
// RUN: smalti-opt %s -smalti-expand-tile-ops -convert-triton-xla-to-mosaic-gpu=target=sm_90a -split-input-file -o %t.mlir --remarks-filter=convert-triton-xla-to-mosaic-gpu 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir
// RUN: smalti-opt %s -split-input-file -smalti-compile="target=sm_90a stop-after=thread" | FileCheck %s --check-prefix=MAPS

// The coordinate along a dimension of size 0 is out of bounds.
// REMARK-DAG: dot lowered to wgmma: 64x64x64 on 1 warpgroup; operand A loaded by TMA, B loaded by TMA (16384 B by TMA)
// REMARK-DAG: insert lowered to TMA stores of 64x32 elements
// CHECK-LABEL: gpu.func @row_major
// CHECK-SAME: %{{.*}}: memref<f16> {{.*}}, %[[M:.*]]: index, %[[K_RAW:.*]]: index, %{{.*}}: memref<f16>
// CHECK-DAG: %[[K:.*]] = mosaic_gpu.assume_multiple %[[K_RAW]], 8
// CHECK-DAG: %[[A:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%[[M]], %[[K]]], strides: [%[[K]], 1]
// CHECK: scf.for
// CHECK: %[[EMPTY:.*]] = arith.cmpi eq, %[[M]], %{{.*}} : index
// CHECK: %[[OUTSIDE:.*]] = arith.constant 1073741824 : i32
// CHECK: %[[ROW:.*]] = arith.select %[[EMPTY]], %[[OUTSIDE]], %{{.*}} : i32
// CHECK: mosaic_gpu.async_load %[[A]][%[[ROW]], %{{.*}}] [64, 64]
// CHECK: mosaic_gpu.async_store

// An extent or stride of -9223372036854775808 is that of the argument.
// MAPS-LABEL: gpu.func @row_major
// MAPS-SAME: mosaic_gpu.tensor_maps = [
// MAPS-SAME: {argument = 0 : i64, box = array<i64: 64, 64>, dims = array<i64: 0, 1>, element = f16, element_strides = array<i64: 1, 1>, extents = array<i64: -9223372036854775808, -9223372036854775808>, fill = "zeros", offset = 0 : i64, strides = array<i64: -9223372036854775808, 2>, swizzle = 128 : i64}
// MAPS-SAME: {argument = 3 : i64,
// MAPS-SAME: {argument = 6 : i64, box = array<i64: 64, 32>,
triton_xla.entry_func @row_major(%a: memref<?x?xf16> {triton_xla.size_divisors = array<i64: 1, 8>},
                                 %b: memref<?x?xf16> {triton_xla.size_divisors = array<i64: 1, 8>},
                                 %c: memref<?x?xf32> {triton_xla.size_divisors = array<i64: 1, 4>}, %i: index, %j: index)
    tiles [size(%a, 0) ceildiv 64, size(%b, 1) ceildiv 64] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %depth = memref.dim %a, %c1 : memref<?x?xf16>
  %sum = scf.for %k = %c0 to %depth step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %at = triton_xla.extract %a[%row, %k] [64, 64] [1, 1] : memref<?x?xf16> to tensor<64x64xf16>
    %bt = triton_xla.extract %b[%k, %column] [64, 64] [1, 1] : memref<?x?xf16> to tensor<64x64xf16>
    %next = triton_xla.dot %at, %bt, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  triton_xla.insert %sum into %c[%row, %column] [64, 64] [1, 1] : tensor<64x64xf32> into memref<?x?xf32>
  triton_xla.return
}

// -----

// The dimensions of the map are those of the argument in another order.
// CHECK-LABEL: gpu.func @strided
// CHECK: memref.transpose
// MAPS-LABEL: gpu.func @strided
// MAPS-SAME: {argument = 0 : i64, box = array<i64: 64, 64>, dims = array<i64: 0, 1>, {{[^{}]*}} extents = array<i64: -9223372036854775808, 64>, {{[^{}]*}} strides = array<i64: -9223372036854775808, 2>
// MAPS-SAME: {argument = 3 : i64, box = array<i64: 64, 64>, dims = array<i64: 1, 0>, {{[^{}]*}} extents = array<i64: 64, 64>, {{[^{}]*}} strides = array<i64: -9223372036854775808, 2>
triton_xla.entry_func @strided(%a: memref<?x64xf16, strided<[?, 1]>> {triton_xla.stride_divisors = array<i64: 8, 1>},
                               %b: memref<64x64xf16, strided<[1, ?]>> {triton_xla.stride_divisors = array<i64: 1, 16>},
                               %c: memref<64x64xf32>, %i: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %at = triton_xla.extract %a[%c0, %c0] [64, 64] [1, 1] : memref<?x64xf16, strided<[?, 1]>> to tensor<64x64xf16>
  %bt = triton_xla.extract %b[%c0, %c0] [64, 64] [1, 1] : memref<64x64xf16, strided<[1, ?]>> to tensor<64x64xf16>
  %sum = triton_xla.dot %at, %bt, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  triton_xla.insert %sum into %c[%c0, %c0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}

// -----

// REMARK: accesses of 16 B not used: the stride of dimension 0 of argument #1 is not proven to be a multiple of 8
// REMARK: [Missed] {{.*}} Remark="wgmma not used: TMA cannot load operand B: the stride of dimension 0 of argument #1 is not proven to be a multiple of 8; if it is, add triton_xla.size_divisors = array<i64: 2, 8> to the argument"
// CHECK-LABEL: gpu.func @no_fact
// CHECK-NOT: async_load
triton_xla.entry_func @no_fact(%a: memref<?x?xf16> {triton_xla.size_divisors = array<i64: 1, 8>},
                               %b: memref<?x?xf16> {triton_xla.size_divisors = array<i64: 2, 4>},
                               %c: memref<64x64xf32>, %i: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %at = triton_xla.extract %a[%c0, %c0] [64, 64] [1, 1] : memref<?x?xf16> to tensor<64x64xf16>
  %bt = triton_xla.extract %b[%c0, %c0] [64, 64] [1, 1] : memref<?x?xf16> to tensor<64x64xf16>
  %sum = triton_xla.dot %at, %bt, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  triton_xla.insert %sum into %c[%c0, %c0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}

// -----

// REMARK: asynchronous copy not used: the rows of the tile are only proven to be aligned to 2 B in global memory; the narrowest asynchronous copy has 4 B; the stride of dimension 0 of argument #0 is not proven to be a multiple of 8; if it is, add triton_xla.stride_divisors = array<i64: 8, 1> to the argument
// REMARK: wgmma not used: TMA cannot load operand A: the stride of dimension 0 of argument #0 is not proven to be a multiple of 8; if it is, add triton_xla.stride_divisors = array<i64: 8, 1> to the argument
triton_xla.entry_func @no_stride_fact(%a: memref<64x64xf16, strided<[?, 1]>>, %b: memref<64x64xf16>, %c: memref<64x64xf32>,
                                      %i: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %at = triton_xla.extract %a[%c0, %c0] [64, 64] [1, 1] : memref<64x64xf16, strided<[?, 1]>> to tensor<64x64xf16>
  %bt = triton_xla.extract %b[%c0, %c0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %sum = triton_xla.dot %at, %bt, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  triton_xla.insert %sum into %c[%c0, %c0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}
