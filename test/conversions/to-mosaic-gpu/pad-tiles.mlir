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
