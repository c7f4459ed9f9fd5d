// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-conv-filter-layout))' \
// RUN:   --remarks-filter=smalti-conv-filter-layout -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-conv-filter-layout{strict=true}))' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-conv-filter-layout{filter-layout=chwf}))' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=LAYOUT
//
// STRICT: error: smalti-conv-filter-layout: filter layout not changed: the operands of the convolution are memrefs; run the pass before bufferization
// LAYOUT: --filter-layout option: Cannot find option named 'chwf'

// CHECK: [Missed] smalti-conv-filter-layout | Category:smalti-conv-filter-layout | Function=buffers | Remark="filter layout not changed: the operands of the convolution are memrefs; run the pass before bufferization"
func.func @buffers(%image: memref<1x18x18x8xf16>, %filter: memref<3x3x8x32xf16>, %init: memref<1x16x16x32xf32>) {
  linalg.conv_2d_nhwc_hwcf ins(%image, %filter : memref<1x18x18x8xf16>, memref<3x3x8x32xf16>)
    outs(%init : memref<1x16x16x32xf32>)
  return
}

// CHECK: Function=depthwise | Remark="filter layout not changed: the convolution is depthwise: its filter does not have input channels"
func.func @depthwise(%image: tensor<1x18x18x8xf16>, %filter: tensor<3x3x8xf16>, %init: tensor<1x16x16x8xf32>)
    -> tensor<1x16x16x8xf32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc ins(%image, %filter : tensor<1x18x18x8xf16>, tensor<3x3x8xf16>)
    outs(%init : tensor<1x16x16x8xf32>) -> tensor<1x16x16x8xf32>
  return %0 : tensor<1x16x16x8xf32>
}

// CHECK: Function=no_output_channels | Remark="filter layout not changed: the convolution is depthwise: its filter does not have output channels"
func.func @no_output_channels(%image: tensor<18x8xf16>, %filter: tensor<3x8xf16>, %init: tensor<16xf16>)
    -> tensor<16xf16> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(h, r, c) -> (h + r, c)>, affine_map<(h, r, c) -> (r, c)>, affine_map<(h, r, c) -> (h)>],
    iterator_types = ["parallel", "reduction", "reduction"]
  } ins(%image, %filter : tensor<18x8xf16>, tensor<3x8xf16>) outs(%init : tensor<16xf16>) {
  ^bb0(%x: f16, %y: f16, %acc: f16):
    %product = arith.mulf %x, %y : f16
    %next = arith.addf %acc, %product : f16
    linalg.yield %next : f16
  } -> tensor<16xf16>
  return %0 : tensor<16xf16>
}

// CHECK: Function=encoded | Remark="filter layout not changed: the filter type tensor<3x3x8x32xf16, "sparse"> has an encoding; use a tensor without an encoding"
func.func @encoded(%image: tensor<1x18x18x8xf16>, %filter: tensor<3x3x8x32xf16, "sparse">,
                   %init: tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<1x18x18x8xf16>, tensor<3x3x8x32xf16, "sparse">)
    outs(%init : tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  return %0 : tensor<1x16x16x32xf32>
}

// As in the gradient of a filter, whose result is small.
// CHECK: Function=few_uses | Remark="filter layout not changed: the filter is not a constant, so it would be transposed at run time; the convolution uses each element 18 times, and the option 'min-uses' requires 32"
func.func @few_uses(%image: tensor<2x18x18x8xf16>, %filter: tensor<16x16x8x32xf16>, %init: tensor<2x3x3x32xf32>)
    -> tensor<2x3x3x32xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<2x18x18x8xf16>, tensor<16x16x8x32xf16>)
    outs(%init : tensor<2x3x3x32xf32>) -> tensor<2x3x3x32xf32>
  return %0 : tensor<2x3x3x32xf32>
}

// CHECK: Function=constant_position | Remark="filter layout not changed: the convolution reads its filter at a constant index, which is not supported; index the filter only by loops"
func.func @constant_position(%image: tensor<18x8xf16>, %filter: tensor<3x2x8x32xf16>, %init: tensor<16x32xf32>)
    -> tensor<16x32xf32> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(x, f, w, c) -> (x + w, c)>, affine_map<(x, f, w, c) -> (w, 1, c, f)>,
                     affine_map<(x, f, w, c) -> (x, f)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%image, %filter : tensor<18x8xf16>, tensor<3x2x8x32xf16>) outs(%init : tensor<16x32xf32>) {
  ^bb0(%x: f16, %y: f16, %sum: f32):
    %product = arith.mulf %x, %y : f16
    %wide = arith.extf %product : f16 to f32
    %next = arith.addf %sum, %wide : f32
    linalg.yield %next : f32
  } -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
