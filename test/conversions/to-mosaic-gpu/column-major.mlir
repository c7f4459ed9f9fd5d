// RUN: smalti-opt %s -split-input-file -convert-triton-xla-to-mosaic-gpu=target=sm_80 | FileCheck %s
// RUN: smalti-opt %s -split-input-file -convert-triton-xla-to-mosaic-gpu=target=sm_80 --remarks-filter=.* 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: smalti-opt %s -split-input-file -convert-triton-xla-to-mosaic-gpu=target=sm_90a --remarks-filter=.* 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TMA

// The kernel receives B as declared, and reads its transpose, whose rows are contiguous.

// CHECK-LABEL: gpu.func @operand(
// CHECK-SAME:    %[[B:[^:]+]]: memref<64x64xf16, strided<[1, 64]>>
// CHECK-SAME:    smalti.arguments = [memref<64x64xf16>, memref<64x64xf16, strided<[1, 64]>>, memref<64x64xf32>]
// CHECK:         %[[ROWS:.*]] = memref.transpose %[[B]] (d0, d1) -> (d1, d0)
// CHECK:         mosaic_gpu.async_copy %[[ROWS]][%[[COLUMN:.*]], %[[ROW:.*]]] to %[[BUFFER:.*]] : {{.*}} to memref<32x64xf16
// CHECK:         memref.transpose %{{.*}} (d0, d1) -> (d1, d0) : {{.*}}workgroup
// CHECK-NOT:     layout_cast
triton_xla.entry_func @operand(%a: memref<64x64xf16>, %b: memref<64x64xf16, strided<[1, 64]>>, %c: memref<64x64xf32>,
                               %tile: index) tiles 2 {
  %c32 = arith.constant 32 : index
  %column = arith.muli %tile, %c32 : index
  %at = triton_xla.extract %a[0, 0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %bt = triton_xla.extract %b[0, %column] [64, 32] [1, 1] : memref<64x64xf16, strided<[1, 64]>> to tensor<64x32xf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = triton_xla.dot %at, %bt, %zero : tensor<64x64xf16>, tensor<64x32xf16> -> tensor<64x32xf32>
  triton_xla.insert %sum into %c[0, %column] [64, 32] [1, 1] : tensor<64x32xf32> into memref<64x64xf32>
  triton_xla.return
}

// -----

// The transpose of the kernel and that of the conversion cancel out.

// CHECK-LABEL: gpu.func @twice(
// CHECK:         %[[ROWS:.*]] = memref.transpose %{{.*}} (d0, d1) -> (d1, d0)
// CHECK:         %[[T:.*]] = vector.transfer_read %[[ROWS]][{{.*}} : {{.*}}, vector<32x64xf32>
// CHECK-NOT:     vector.transpose
// CHECK:         vector.transfer_write %[[T]]
triton_xla.entry_func @twice(%x: memref<64x32xf32, strided<[1, 64]>>, %y: memref<32x64xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0] [64, 32] [1, 1] : memref<64x32xf32, strided<[1, 64]>> to tensor<64x32xf32>
  %u = triton_xla.transpose %t [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  triton_xla.insert %u into %y[0, 0] [32, 64] [1, 1] : tensor<32x64xf32> into memref<32x64xf32>
  triton_xla.return
}

// -----

// Dimensions by decreasing strides, those of size 1 first. A tile of one dimension is not transposed.

// CHECK-LABEL: gpu.func @orders(
// CHECK:         memref.transpose %{{.*}} (d0, d1, d2) -> (d1, d2, d0)
// CHECK:         memref.transpose %{{.*}} (d0, d1, d2) -> (d2, d1, d0)
// CHECK-NOT:     vector.transpose
// CHECK:         vector.transfer_write %{{.*}}, %{{.*}} : vector<64xf32>, memref<64xf32>
triton_xla.entry_func @orders(%x: memref<64x1x8xf32, strided<[1, 7, 64]>>, %y: memref<64x8x4xf32, strided<[1, 64, 512]>>,
                              %z: memref<64xf32>, %tile: index) tiles 4 {
  %t = triton_xla.extract %x[0, 0, %tile] [64, 1, 1] [1, 1, 1] : memref<64x1x8xf32, strided<[1, 7, 64]>> to tensor<64xf32>
  %u = triton_xla.extract %y[0, 5, %tile] [64, 1, 1] [1, 1, 1] : memref<64x8x4xf32, strided<[1, 64, 512]>> to tensor<64xf32>
  %s = arith.addf %t, %u : tensor<64xf32>
  triton_xla.insert %s into %z[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.return
}

// -----

// The order remains if the last dimension of more than one element is contiguous, or if none is.

// CHECK-LABEL: gpu.func @unchanged(
// CHECK-NOT:     memref.transpose
triton_xla.entry_func @unchanged(%x: memref<64x1xf32, strided<[1, 0]>>, %y: memref<64x8xf32, strided<[2, 128]>>,
                                 %z: memref<8x64xf32, strided<[1, 1]>>, %w: memref<?x?xf32, strided<[?, ?]>>, %tile: index)
    tiles 1 {
  %t = triton_xla.extract %x[0, 0] [64, 1] [1, 1] : memref<64x1xf32, strided<[1, 0]>> to tensor<64xf32>
  %u = triton_xla.extract %y[0, 0] [64, 1] [1, 1] : memref<64x8xf32, strided<[2, 128]>> to tensor<64xf32>
  %v = triton_xla.extract %z[0, 0] [1, 64] [1, 1] : memref<8x64xf32, strided<[1, 1]>> to tensor<64xf32>
  %a = arith.addf %t, %u : tensor<64xf32>
  %b = arith.addf %a, %v : tensor<64xf32>
  triton_xla.insert %b into %w[0, 0] [1, 64] [1, 1] : tensor<64xf32> into memref<?x?xf32, strided<[?, ?]>>
  triton_xla.return
}

// -----

// Divisors and dimensions of a remark are those of the declared type, and so are the parameters.

// CHECK-LABEL: gpu.func @dynamic(
// CHECK-SAME:    %[[X:[^:]+]]: memref<f16> {{[^%]*}}, %[[M:[^:]+]]: index, %[[N:[^:]+]]: index, %[[STRIDE:[^:]+]]: index
// CHECK:         %[[ROWS:.*]] = mosaic_gpu.assume_multiple %[[M]], 8
// CHECK:         %[[VIEW:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[ROWS]], %[[N]]], strides: [1, %[[STRIDE]]]
// CHECK:         memref.transpose %[[VIEW]] (d0, d1) -> (d1, d0)
// REMARK: accesses of 16 B not used: the stride of dimension 1 of argument #0 is not proven to be a multiple of 8; if it is, add triton_xla.stride_divisors = array<i64: 1, 8> to the argument
triton_xla.entry_func @dynamic(%x: memref<?x?xf16, strided<[1, ?]>> {triton_xla.size_divisors = array<i64: 8, 1>},
                               %y: memref<64xf16>, %tile: index) tiles [size(%x, 1)] {
  %t = triton_xla.extract %x[0, %tile] [64, 1] [1, 1] : memref<?x?xf16, strided<[1, ?]>> to tensor<64xf16>
  triton_xla.insert %t into %y[0] [64] [1] : tensor<64xf16> into memref<64xf16>
  triton_xla.return
}

// -----

// TMA loads the operands, but does not store the accumulator, whose columns are contiguous in memory.

// TMA: dot lowered to wgmma: 64x64x64 on 1 warpgroup; operand A loaded by TMA, B loaded by TMA
// TMA: TMA store not used: the tile is the transpose of an accumulator; store it to a row-major array without triton_xla.transpose
// TMA-LABEL: gpu.func @result(
// TMA-DAG: %[[A:.*]] = memref.transpose %arg0
// TMA-DAG: %[[C:.*]] = memref.transpose %arg2
// TMA: mosaic_gpu.async_load %[[A]]
// TMA: %[[T:.*]] = vector.transpose
// TMA-NOT: layout_cast
// TMA: vector.transfer_write %[[T]], %[[C]]
triton_xla.entry_func @result(%a: memref<64x64xf16, strided<[1, 64]>>, %b: memref<64x64xf16>,
                              %c: memref<64x64xf32, strided<[1, 64]>>, %tile: index) tiles 1 {
  %at = triton_xla.extract %a[0, 0] [64, 64] [1, 1] : memref<64x64xf16, strided<[1, 64]>> to tensor<64x64xf16>
  %bt = triton_xla.extract %b[0, 0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = triton_xla.dot %at, %bt, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  triton_xla.insert %sum into %c[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32, strided<[1, 64]>>
  triton_xla.return
}
