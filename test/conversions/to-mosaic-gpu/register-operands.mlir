// RUN: smalti-opt %s '-convert-triton-xla-to-mosaic-gpu=target=sm_80 num-warps=4' -split-input-file | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: smalti-opt %s '-convert-triton-xla-to-mosaic-gpu=target=gfx942 num-warps=4' -split-input-file | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: smalti-opt %s '-convert-triton-xla-to-mosaic-gpu=target=gfx1100 num-warps=4' -split-input-file | FileCheck %s --check-prefixes=CHECK,GFX1100
// RUN: smalti-opt %s '-convert-triton-xla-to-mosaic-gpu=target=gfx942 num-warps=4' -split-input-file --remarks-filter=convert-triton-xla-to-mosaic-gpu 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// The result of a dot is operand A of another one: it stays in registers. On AMD, the transposed matmul gives the
// accumulator the layout of operand A.

// REMARK: dot lowered to {{.*}}: 64x32x32 on 4x1 warps"
// REMARK: dot lowered to {{.*}}: 64x32x32 on 4x1 warps; A in registers"
// CHECK-LABEL: gpu.func @chain
// CHECK: %[[SA:.*]] = memref.alloc() : memref<64x32xf16
// CHECK: memref.alloc() : memref<32x32xf16
// CHECK: %[[SC:.*]] = memref.alloc() : memref<32x32xf16
// CHECK-NOT: memref.alloc
// CHECK: %[[P:.*]] = arith.truncf
// SM80: %[[A:.*]] = mosaic_gpu.layout_cast x(%[[P]] : {{.*}}new_layout = #mosaic_gpu.TiledLayout<{{\[}}[64, 16], [16, 16], [8, 8], [2]], warp_dims
// GFX942-SAME: out_layouts = {{\[}}#mosaic_gpu.TiledLayout<{{\[}}[64, 16], [16, 16], [4]], warp_dims = [-5], lane_dims = [-2, -3], vector_dim = -1>]
// GFX942-NOT: mosaic_gpu.layout_cast
// GFX1100: %[[A:.*]] = mosaic_gpu.layout_cast x(%[[P]]
// CHECK-NOT: mosaic_gpu.vector_store %[[P]],
// SM80: vector.extract_strided_slice %[[A]] {{.*}}offsets = [0, 0], {{.*}}sizes = [64, 16]
// GFX942: vector.extract_strided_slice %[[P]] {{.*}}offsets = [0, 0], {{.*}}sizes = [64, 16]
// GFX1100: vector.extract_strided_slice %[[A]] {{.*}}offsets = [0, 0], {{.*}}sizes = [64, 16]
// CHECK: memref.subview %[[SC]][0, 0] [16, 32]
// CHECK: mosaic_gpu.mma
// CHECK: vector.extract_strided_slice {{.*}}offsets = [0, 16]
triton_xla.entry_func @chain(
    %a: memref<64x32xf16>, %b: memref<32x32xf16>, %c: memref<32x32xf16>, %d: memref<64x32xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %ta = triton_xla.extract %a[%c0, %c0] [64, 32] [1, 1] : memref<64x32xf16> to tensor<64x32xf16>
  %tb = triton_xla.extract %b[%c0, %c0] [32, 32] [1, 1] : memref<32x32xf16> to tensor<32x32xf16>
  %tc = triton_xla.extract %c[%c0, %c0] [32, 32] [1, 1] : memref<32x32xf16> to tensor<32x32xf16>
  %first = triton_xla.dot %ta, %tb, %zero : tensor<64x32xf16>, tensor<32x32xf16> -> tensor<64x32xf32>
  %half = arith.truncf %first : tensor<64x32xf32> to tensor<64x32xf16>
  %second = triton_xla.dot %half, %tc, %zero : tensor<64x32xf16>, tensor<32x32xf16> -> tensor<64x32xf32>
  triton_xla.insert %second into %d[%c0, %c0] [64, 32] [1, 1] : tensor<64x32xf32> into memref<64x32xf32>
  triton_xla.return
}

// -----

// As operand A, the transpose of a result needs rows that other warps hold.

// REMARK: dot lowered to {{.*}}: 64x64x32 on
// REMARK: dot lowered to {{.*}}: 64x32x64 on 4x1 warps"
// CHECK-LABEL: gpu.func @transposed
// CHECK: %[[P:.*]] = arith.truncf
// CHECK: mosaic_gpu.vector_store %[[P]], %[[BUFFER:.*]] {
// CHECK: memref.transpose %[[BUFFER]]
triton_xla.entry_func @transposed(
    %a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x32xf16>, %d: memref<64x32xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %start = arith.constant dense<0.0> : tensor<64x32xf32>
  %ta = triton_xla.extract %a[%c0, %c0] [64, 32] [1, 1] : memref<64x32xf16> to tensor<64x32xf16>
  %tb = triton_xla.extract %b[%c0, %c0] [32, 64] [1, 1] : memref<32x64xf16> to tensor<32x64xf16>
  %tc = triton_xla.extract %c[%c0, %c0] [64, 32] [1, 1] : memref<64x32xf16> to tensor<64x32xf16>
  %first = triton_xla.dot %ta, %tb, %zero : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
  %half = arith.truncf %first : tensor<64x64xf32> to tensor<64x64xf16>
  %turned = triton_xla.transpose %half [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  %second = triton_xla.dot %turned, %tc, %start : tensor<64x64xf16>, tensor<64x32xf16> -> tensor<64x32xf32>
  triton_xla.insert %second into %d[%c0, %c0] [64, 32] [1, 1] : tensor<64x32xf32> into memref<64x32xf32>
  triton_xla.return
}
