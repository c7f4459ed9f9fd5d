// RUN: smalti-opt %s -split-input-file -convert-triton-xla-to-mosaic-gpu=target=sm_80 | FileCheck %s

// Memory has a byte for each i1 and each float of 6 bits. The attribute smalti.arguments has the types of the kernel.

// CHECK-LABEL: gpu.func @bools(
// CHECK-SAME:    %[[X:[^:]+]]: memref<8x64xi8>
// CHECK-SAME:    %[[Y:[^:]+]]: memref<8x64xi8>
// CHECK-SAME:    smalti.arguments = [memref<8x64xi1>, memref<8x64xi1>]
// CHECK:         %[[ONE:.*]] = arith.constant 1 : i8
// CHECK:         %[[BYTES:.*]] = vector.transfer_read %[[X]][%{{.*}}], %[[ONE]]
// CHECK:         %[[T:.*]] = arith.trunci %[[BYTES]] {{.*}} : vector<8x64xi8> to vector<8x64xi1>
// CHECK:         %[[S:.*]] = arith.extui %[[T]] {{.*}} : vector<8x64xi1> to vector<8x64xi8>
// CHECK:         vector.transfer_write %[[S]], %[[Y]]
triton_xla.entry_func @bools(%x: memref<8x64xi1>, %y: memref<8x64xi1>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[%tile, 0] [8, 64] [1, 1] fill true : memref<8x64xi1> to tensor<8x64xi1>
  triton_xla.insert %t into %y[%tile, 0] [8, 64] [1, 1] : tensor<8x64xi1> into memref<8x64xi1>
  triton_xla.return
}

// -----

// A mask is not in memory.

// CHECK-LABEL: gpu.func @gather(
// CHECK:         %[[FILL:.*]] = arith.constant 18 : i8
// CHECK:         %[[BYTES:.*]] = vector.gather {{.*}} : memref<64xi8>, vector<64xi32>, vector<64xi1>, vector<64xi8> into vector<64xi8>
// CHECK:         %[[BITS:.*]] = arith.trunci %[[BYTES]] {{.*}} : vector<64xi8> to vector<64xi6>
// CHECK:         arith.bitcast %[[BITS]] {{.*}} : vector<64xi6> to vector<64xf6E2M3FN>
triton_xla.entry_func @gather(%x: memref<64xf6E2M3FN>, %m: memref<64xi1>, %i: memref<64xi32>, %y: memref<64xf6E2M3FN>, %tile: index) tiles 1 {
  %n = triton_xla.extract %i[0] [64] [1] : memref<64xi32> to tensor<64xi32>
  %p = triton_xla.extract %m[0] [64] [1] : memref<64xi1> to tensor<64xi1>
  %t = triton_xla.gather %x[%n] mask %p fill 2.5 : f6E2M3FN : memref<64xf6E2M3FN>, tensor<64xi32> -> tensor<64xf6E2M3FN>
  triton_xla.insert %t into %y[0] [64] [1] : tensor<64xf6E2M3FN> into memref<64xf6E2M3FN>
  triton_xla.return
}

// -----

// CHECK-LABEL: gpu.func @index(
// CHECK-SAME:    memref<64xi64>
// CHECK:         mosaic_gpu.atomic_rmw addi {{.*}} vector<64xi64>, memref<64xi64>
// CHECK:         arith.index_cast %{{.*}} : vector<64xi64> to vector<64xindex>
triton_xla.entry_func @index(%x: memref<64xindex>, %y: memref<64xindex>, %i: memref<64xi32>, %tile: index) tiles 1 {
  %n = triton_xla.extract %i[0] [64] [1] : memref<64xi32> to tensor<64xi32>
  %v = triton_xla.extract %y[0] [64] [1] : memref<64xindex> to tensor<64xindex>
  %t = triton_xla.atomic_rmw addi %v into %x[%n] : tensor<64xindex> into memref<64xindex>, tensor<64xi32>
  %u = arith.addi %t, %v : tensor<64xindex>
  triton_xla.insert %u into %y[0] [64] [1] : tensor<64xindex> into memref<64xindex>
  triton_xla.return
}

// -----

// The pointer is that of the first element, and strides of an array without elements are not zero.

// CHECK-LABEL: gpu.func @layouts(
// CHECK-SAME:    memref<4x8xf32, strided<[9, 1]>>
// CHECK-SAME:    memref<4x0xf32, strided<[1, 1]>>
// CHECK-SAME:    smalti.arguments = [memref<4x8xf32, strided<[9, 1], offset: ?>>, memref<4x0xf32>]
triton_xla.entry_func @layouts(%x: memref<4x8xf32, strided<[9, 1], offset: ?>>, %y: memref<4x0xf32>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// An i1 is 0 or -1 as a signed integer, so the maximum is a conjunction.

// CHECK-LABEL: gpu.func @updates(
// CHECK:         mosaic_gpu.atomic_rmw andi {{.*}} memref<8xi8>
// CHECK:         mosaic_gpu.atomic_rmw xori {{.*}} memref<8xi8>
triton_xla.entry_func @updates(%x: memref<8xi1>, %v: i1, %i: i32, %tile: index) tiles 1 {
  %a = triton_xla.atomic_rmw maxs %v into %x[%i] : i1 into memref<8xi1>, i32
  %b = triton_xla.atomic_rmw addi %v into %x[%i] : i1 into memref<8xi1>, i32
  triton_xla.return
}
