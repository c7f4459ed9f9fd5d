// Options that request instructions which the chip does not have: the remark names the request, the chip and what is used.
// RUN: smalti-opt %s -convert-triton-xla-to-mosaic-gpu='target=gfx1100 copies=async matmul=wgmma' -o %t --remarks-filter=convert-triton-xla-to-mosaic-gpu 2>&1 | FileCheck %s --check-prefixes=CHECK,COPIES
// RUN: smalti-opt %s -convert-triton-xla-to-mosaic-gpu='target=sm_80 copies=async matmul=wgmma' -o %t --remarks-filter=convert-triton-xla-to-mosaic-gpu 2>&1 | FileCheck %s
// A kernel without requests does not have remarks.
// RUN: smalti-opt %s -convert-triton-xla-to-mosaic-gpu=target=gfx1100 -o %t --remarks-filter=convert-triton-xla-to-mosaic-gpu 2>&1 | FileCheck %s --check-prefix=NONE

// COPIES-COUNT-2: asynchronous copy not used: copies=async is requested, but gfx1100 does not have asynchronous copies; loads to registers are used
// CHECK: wgmma not used: matmul=wgmma is requested, but {{sm_80|gfx1100}} does not have wgmma; mma is used{{"? *$}}
// NONE-NOT: requested
triton_xla.entry_func @dot(%a: memref<32x32xf16>, %b: memref<32x32xf16>, %c: memref<32x32xf32>, %tile: index) tiles 1 {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = triton_xla.extract %a[0, 0] [32, 32] [1, 1] : memref<32x32xf16> to tensor<32x32xf16>
  %y = triton_xla.extract %b[0, 0] [32, 32] [1, 1] : memref<32x32xf16> to tensor<32x32xf16>
  %r = triton_xla.dot %x, %y, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  triton_xla.insert %r into %c[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<32x32xf32>
  triton_xla.return
}
