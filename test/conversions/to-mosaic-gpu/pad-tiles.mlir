// A tile whose number of elements is divisible by few threads only is padded. RUN lines check the window, the mask of a
// reduction with a neutral value, and that an even tile stays.
// RUN: smalti-opt %s --split-input-file --convert-triton-xla-to-mosaic-gpu=target=sm_80 | FileCheck %s
// RUN: smalti-opt %s --split-input-file --convert-triton-xla-to-mosaic-gpu=target=sm_80 -o /dev/null \
// RUN:   --remarks-filter=convert-triton-xla-to-mosaic-gpu 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: sizes of tiles padded from 37 to 40, 45 to 48: unpadded tiles could be distributed across few threads only

// CHECK-LABEL: gpu.func @sum
// CHECK:         %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [40, 50], strides: [90, 1]
// CHECK-SAME:      memref<60x90xf32> to memref<40x50xf32, strided<[90, 1]>>
// CHECK:         vector.transfer_read %[[VIEW]]{{.*}} vector<40x48xf32>
// CHECK:         %[[VALID:.*]] = vector.create_mask
// CHECK:         %[[DEFINED:.*]] = arith.select %[[VALID]]
// CHECK:         mosaic_gpu.reduce %[[DEFINED]]
triton_xla.entry_func @sum(%x: memref<60x90xf32>, %y: memref<37xf32>, %tile: index) tiles 1 {
  %zero = arith.constant 0.0 : f32
  %t = triton_xla.extract %x[3, 5] [37, 45] [1, 1] : memref<60x90xf32> to tensor<37x45xf32>
  %s = triton_xla.reduce %t dims [1] init %zero : (tensor<37x45xf32>, f32) -> tensor<37xf32> {
  ^bb0(%l: f32, %r: f32):
    %c = arith.addf %l, %r : f32
    triton_xla.yield %c : f32
  }
  triton_xla.insert %s into %y[0] [37] [1] : tensor<37xf32> into memref<37xf32>
  triton_xla.return
}

// -----

// REMARK-NOT: sizes of tiles padded

// CHECK-LABEL: gpu.func @even
// CHECK-NOT:     memref.reinterpret_cast
// CHECK:         vector.transfer_read {{.*}} vector<96x40xf32>
triton_xla.entry_func @even(%x: memref<100x90xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[3, 5] [96, 40] [1, 1] : memref<100x90xf32> to tensor<96x40xf32>
  triton_xla.insert %t into %x[3, 5] [96, 40] [1, 1] : tensor<96x40xf32> into memref<100x90xf32>
  triton_xla.return
}

// -----

// A sum of padded sizes that few threads divide, such as 128 + 1, does not occur: each part is moved to its offset.

// REMARK: sizes of tiles padded from 119 to 128: unpadded tiles could be distributed across few threads only

// CHECK-LABEL: gpu.func @rotate
// CHECK-NOT:     vector<129xf32>
// CHECK:         %[[POSITION:.*]] = mosaic_gpu.broadcasted_iota 0 {{.*}} : vector<120xi32>
// CHECK:         %[[FIRST:.*]] = vector.gather %{{.*}} : memref<128xf32{{.*}} into vector<120xf32>
// CHECK:         %[[DEFINED:.*]] = arith.select %{{.*}}, %[[FIRST]],
// CHECK:         %[[OFFSET:.*]] = arith.constant {{.*}} dense<-119> : vector<120xi32>
// CHECK:         %[[INDEX:.*]] = arith.addi %[[POSITION]], %[[OFFSET]]
// CHECK:         %[[IS_VALID:.*]] = arith.cmpi ult, %[[INDEX]],
// CHECK:         %[[LOADED:.*]] = arith.select %[[IS_VALID]], %[[INDEX]],
// CHECK:         %[[TRUE:.*]] = arith.constant true
// CHECK:         %[[ALL:.*]] = vector.broadcast %[[TRUE]]
// CHECK:         %[[SECOND:.*]] = vector.gather %{{.*}} [%[[LOADED]]], %[[ALL]], {{.*}} : memref<1xf32{{.*}} into vector<120xf32>
// CHECK:         %[[MOVED:.*]] = arith.select %[[IS_VALID]], %[[SECOND]],
// CHECK:         %[[START:.*]] = arith.constant {{.*}} dense<119> : vector<120xi32>
// CHECK:         %[[IN_SECOND:.*]] = arith.cmpi sge, %[[POSITION]], %[[START]]
// CHECK:         arith.select %[[IN_SECOND]], %[[MOVED]], %[[DEFINED]]
// CHECK-NOT:     vector<129xf32>
triton_xla.entry_func @rotate(%x: memref<120xf32>, %y: memref<120xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [120] [1] : memref<120xf32> to tensor<120xf32>
  %a = triton_xla.slice %t [1] [119] [1] : tensor<120xf32> -> tensor<119xf32>
  %b = triton_xla.slice %t [0] [1] [1] : tensor<120xf32> -> tensor<1xf32>
  %r = triton_xla.concat %a, %b dim 0 : (tensor<119xf32>, tensor<1xf32>) -> tensor<120xf32>
  triton_xla.insert %r into %y[0] [120] [1] : tensor<120xf32> into memref<120xf32>
  triton_xla.return
}

// -----

// A first part whose padded size is that of the result stays in registers.

// CHECK-LABEL: gpu.func @extend
// CHECK:         %[[FIRST:.*]] = vector.transfer_read {{.*}} vector<128xf32>
// CHECK-NOT:     mosaic_gpu.vector_store %[[FIRST]]
// CHECK:         vector.gather %{{.*}} : memref<15xf32{{.*}} into vector<128xf32>
// CHECK-NOT:     vector.gather
// CHECK:         arith.select %{{.*}}, %{{.*}}, %[[FIRST]]
// CHECK:         vector.transfer_write
triton_xla.entry_func @extend(%x: memref<113xf32>, %z: memref<15xf32>, %y: memref<128xf32>, %tile: index) tiles 1 {
  %a = triton_xla.extract %x[0] [113] [1] : memref<113xf32> to tensor<113xf32>
  %b = triton_xla.extract %z[0] [15] [1] : memref<15xf32> to tensor<15xf32>
  %r = triton_xla.concat %a, %b dim 0 : (tensor<113xf32>, tensor<15xf32>) -> tensor<128xf32>
  triton_xla.insert %r into %y[0] [128] [1] : tensor<128xf32> into memref<128xf32>
  triton_xla.return
}

// -----

// Three parts with an even sum of padded sizes are concatenated, so that one gather suffices.

// CHECK-LABEL: gpu.func @repeat
// CHECK:         vector.gather %{{.*}} : memref<384xf32{{.*}} into vector<384xf32>
// CHECK-NOT:     vector.gather
triton_xla.entry_func @repeat(%x: memref<113xf32>, %y: memref<339xf32>, %tile: index) tiles 1 {
  %a = triton_xla.extract %x[0] [113] [1] : memref<113xf32> to tensor<113xf32>
  %r = triton_xla.concat %a, %a, %a dim 0 : (tensor<113xf32>, tensor<113xf32>, tensor<113xf32>) -> tensor<339xf32>
  triton_xla.insert %r into %y[0] [339] [1] : tensor<339xf32> into memref<339xf32>
  triton_xla.return
}
