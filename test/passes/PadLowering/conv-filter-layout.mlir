// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-conv-filter-layout))' \
// RUN:   --remarks-filter=smalti-conv-filter-layout -o %t.once 2>%t.remarks
// RUN: FileCheck %s < %t.once
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
//
// A transposed filter is not changed again.
// RUN: smalti-opt %t.once --pass-pipeline='builtin.module(func.func(smalti-conv-filter-layout{strict=true}))' -o %t.twice
// RUN: diff %t.once %t.twice
//
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-conv-filter-layout{filter-layout=hwfc}))' \
// RUN:   | FileCheck %s --check-prefix=HWFC

// CHECK-DAG: #[[$NEW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d2, d4, d0)>
//
// REMARK: [Passed] smalti-conv-filter-layout | Category:smalti-conv-filter-layout | Function=named | Remark="filter layout changed to fhwc: permutation [3, 0, 1, 2]"
// CHECK-LABEL: func.func @named(
// CHECK-SAME:    %{{.*}}: tensor<1x18x18x8xf16>, %[[FILTER:.*]]: tensor<3x3x8x32xf16>
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<32x3x3x8xf16>
// CHECK:         %[[NEW:.*]] = linalg.transpose ins(%[[FILTER]] : tensor<3x3x8x32xf16>) outs(%[[EMPTY]] : tensor<32x3x3x8xf16>) permutation = [3, 0, 1, 2]
// CHECK:         linalg.conv_2d_nhwc_fhwc {dilations = dense<2> : vector<2xi64>, strides = dense<1> : vector<2xi64>, tag}
// CHECK-SAME:      ins(%{{.*}}, %[[NEW]] :
//
// HWFC-LABEL: func.func @named(
// HWFC:         linalg.transpose {{.*}} outs(%{{.*}} : tensor<3x3x32x8xf16>) permutation = [0, 1, 3, 2]
// HWFC:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
// HWFC-SAME:      attrs = {tag}
func.func @named(%image: tensor<1x18x18x8xf16>, %filter: tensor<3x3x8x32xf16>, %init: tensor<1x14x14x32xf32>)
    -> tensor<1x14x14x32xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf {tag, dilations = dense<2> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%image, %filter : tensor<1x18x18x8xf16>, tensor<3x3x8x32xf16>) outs(%init : tensor<1x14x14x32xf32>)
    -> tensor<1x14x14x32xf32>
  return %0 : tensor<1x14x14x32xf32>
}

// REMARK: Function=quantized | Remark="filter layout changed to fhwc
// CHECK-LABEL: func.func @quantized(
// CHECK-SAME:    %[[ZA:[^ ]*]]: i32, %[[ZB:[^ ]*]]: i32
// CHECK:         linalg.conv_2d_nhwc_fhwc_q {{.*}} ins(%{{.*}}, %{{.*}}, %[[ZA]], %[[ZB]] : tensor<1x18x18x8xi8>, tensor<32x3x3x8xi8>, i32, i32)
// HWFC-LABEL: func.func @quantized(
// HWFC-SAME:    %[[ZA:[^ ]*]]: i32, %[[ZB:[^ ]*]]: i32
// HWFC:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %[[ZA]], %[[ZB]] : tensor<1x18x18x8xi8>, tensor<3x3x32x8xi8>, i32, i32)
func.func @quantized(%za: i32, %zb: i32, %image: tensor<1x18x18x8xi8>, %filter: tensor<3x3x8x32xi8>,
                     %init: tensor<1x16x16x32xi32>) -> tensor<1x16x16x32xi32> {
  %0 = linalg.conv_2d_nhwc_hwcf_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%image, %filter, %za, %zb : tensor<1x18x18x8xi8>, tensor<3x3x8x32xi8>, i32, i32)
    outs(%init : tensor<1x16x16x32xi32>) -> tensor<1x16x16x32xi32>
  return %0 : tensor<1x16x16x32xi32>
}

// Groups are outermost; sizes may be dynamic.
// REMARK: Function=grouped | Remark="filter layout changed to fhwc: permutation [1, 0, 3, 4, 2]"
// CHECK-LABEL: func.func @grouped(
// CHECK:         %[[D1:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<32x?x8x3x3xf32>
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[D1]]) : tensor<?x32x3x3x8xf32>
// CHECK:         linalg.transpose {{.*}} permutation = [1, 0, 3, 4, 2]
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%{{.*}} : tensor<1x?x8x18x18xf32>, tensor<?x32x3x3x8xf32>) outs(%{{.*}} : tensor<1x?x32x16x16xf32>)
// HWFC-LABEL: func.func @grouped(
// HWFC:         linalg.transpose {{.*}} permutation = [1, 3, 4, 0, 2]
func.func @grouped(%image: tensor<1x?x8x18x18xf32>, %filter: tensor<32x?x8x3x3xf32>, %init: tensor<1x?x32x16x16xf32>)
    -> tensor<1x?x32x16x16xf32> {
  %0 = linalg.conv_2d_ngchw_fgchw ins(%image, %filter : tensor<1x?x8x18x18xf32>, tensor<32x?x8x3x3xf32>)
    outs(%init : tensor<1x?x32x16x16xf32>) -> tensor<1x?x32x16x16xf32>
  return %0 : tensor<1x?x32x16x16xf32>
}

// Loops in any order, which is kept; an additional operand.
// REMARK: Function=interleaved | Remark="filter layout changed to fhwc: permutation [3, 0, 1, 2]"
// CHECK-LABEL: func.func @interleaved(
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[$NEW]], #{{.*}}, #{{.*}}], iterator_types = ["reduction", "parallel", "reduction", "parallel", "reduction", "parallel", "parallel"]}
// CHECK-SAME:      ins(%{{.*}} : tensor<2x18x18x8xf32>, tensor<32x3x3x8xf32>, tensor<32xf32>)
func.func @interleaved(%image: tensor<2x18x18x8xf32>, %filter: tensor<3x3x8x32xf32>, %scale: tensor<32xf32>,
                       %init: tensor<2x16x16x32xf32>) -> tensor<2x16x16x32xf32> {
  %0 = linalg.generic {
    indexing_maps = [
      affine_map<(c, f, r, n, s, h, w) -> (n, h + r, w + s, c)>,
      affine_map<(c, f, r, n, s, h, w) -> (r, s, c, f)>,
      affine_map<(c, f, r, n, s, h, w) -> (f)>,
      affine_map<(c, f, r, n, s, h, w) -> (n, h, w, f)>],
    iterator_types = ["reduction", "parallel", "reduction", "parallel", "reduction", "parallel", "parallel"]
  } ins(%image, %filter, %scale : tensor<2x18x18x8xf32>, tensor<3x3x8x32xf32>, tensor<32xf32>)
    outs(%init : tensor<2x16x16x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32
    %xyz = arith.mulf %xy, %z : f32
    %next = arith.addf %acc, %xyz : f32
    linalg.yield %next : f32
  } -> tensor<2x16x16x32xf32>
  return %0 : tensor<2x16x16x32xf32>
}

// One image dimension. The constant is permuted for any number of uses.
// REMARK: Function=constant | Remark="filter layout changed to fhwc: permutation [2, 0, 1], applied to the constant"
// CHECK-LABEL: func.func @constant(
// CHECK:         %[[NEW:.*]] = arith.constant dense<{{\[\[\[}}0, 2, 4], [6, 8, 10]], {{\[\[}}1, 3, 5], [7, 9, 11]]]> : tensor<2x2x3xi32>
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[NEW]] :
// HWFC-LABEL: func.func @constant(
// HWFC:         arith.constant dense<{{\[\[\[}}0, 2, 4], [1, 3, 5]], {{\[\[}}6, 8, 10], [7, 9, 11]]]> : tensor<2x2x3xi32>
func.func @constant(%image: tensor<1x4x3xi32>, %init: tensor<1x3x2xi32>) -> tensor<1x3x2xi32> {
  %filter = arith.constant dense<[[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]]> : tensor<2x3x2xi32>
  %0 = linalg.conv_1d_nwc_wcf ins(%image, %filter : tensor<1x4x3xi32>, tensor<2x3x2xi32>)
    outs(%init : tensor<1x3x2xi32>) -> tensor<1x3x2xi32>
  return %0 : tensor<1x3x2xi32>
}

// CHECK-LABEL: func.func @splat(
// CHECK:         arith.constant dense<true> : tensor<2x2x3xi1>
func.func @splat(%image: tensor<1x4x3xi1>, %init: tensor<1x3x2xi1>) -> tensor<1x3x2xi1> {
  %filter = arith.constant dense<true> : tensor<2x3x2xi1>
  %0 = linalg.conv_1d_nwc_wcf ins(%image, %filter : tensor<1x4x3xi1>, tensor<2x3x2xi1>)
    outs(%init : tensor<1x3x2xi1>) -> tensor<1x3x2xi1>
  return %0 : tensor<1x3x2xi1>
}

// Two transposes are combined, or cancel.
// REMARK: Function=transposed_before | Remark="filter layout changed to fhwc: permutation [3, 0, 1, 2], which cancels an existing transpose"
// CHECK-LABEL: func.func @transposed_before(
// CHECK-SAME:    %{{.*}}: tensor<1x18x18x8xf16>, %[[FILTER:.*]]: tensor<32x3x3x8xf16>
// CHECK:         linalg.conv_2d_nhwc_fhwc {{.*}} ins(%{{.*}}, %[[FILTER]] :
// HWFC-LABEL: func.func @transposed_before(
// HWFC-SAME:    %{{.*}}: tensor<1x18x18x8xf16>, %[[FILTER:.*]]: tensor<32x3x3x8xf16>
// HWFC:         %[[NEW:.*]] = linalg.transpose ins(%[[FILTER]] : {{.*}}) outs(%{{.*}} : tensor<3x3x32x8xf16>) permutation = [1, 2, 0, 3]
// HWFC:         linalg.generic {{.*}} ins(%{{.*}}, %[[NEW]] :
func.func @transposed_before(%image: tensor<1x18x18x8xf16>, %filter: tensor<32x3x3x8xf16>,
                             %init: tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32> {
  %empty = tensor.empty() : tensor<3x3x8x32xf16>
  %hwcf = linalg.transpose ins(%filter : tensor<32x3x3x8xf16>) outs(%empty : tensor<3x3x8x32xf16>)
    permutation = [1, 2, 3, 0]
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%image, %hwcf : tensor<1x18x18x8xf16>, tensor<3x3x8x32xf16>) outs(%init : tensor<1x16x16x32xf32>)
    -> tensor<1x16x16x32xf32>
  return %0 : tensor<1x16x16x32xf32>
}

// REMARK: [Analysis] {{.*}} Function=already | Remark="filter layout not changed: it is already fhwc"
func.func @already(%image: tensor<1x18x18x8xf16>, %filter: tensor<32x3x3x8xf16>, %init: tensor<1x16x16x32xf32>)
    -> tensor<1x16x16x32xf32> {
  %0 = linalg.conv_2d_nhwc_fhwc ins(%image, %filter : tensor<1x18x18x8xf16>, tensor<32x3x3x8xf16>)
    outs(%init : tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  return %0 : tensor<1x16x16x32xf32>
}

// Ops without a filter have no remark.
// REMARK-NOT: Function=pooling
func.func @pooling(%image: tensor<1x8x8x3xf16>, %window: tensor<2x2xf16>, %init: tensor<1x7x7x3xf16>)
    -> tensor<1x7x7x3xf16> {
  %0 = linalg.pooling_nhwc_max ins(%image, %window : tensor<1x8x8x3xf16>, tensor<2x2xf16>)
    outs(%init : tensor<1x7x7x3xf16>) -> tensor<1x7x7x3xf16>
  return %0 : tensor<1x7x7x3xf16>
}

// The filter is the result of another convolution, which is replaced first.
// CHECK-LABEL: func.func @filter_of_convolution(
// CHECK:         %[[FIRST:.*]] = linalg.conv_2d_nhwc_fhwc
// CHECK:         linalg.transpose ins(%[[FIRST]] : tensor<3x34x3x8xf32>) outs(%{{.*}} : tensor<8x3x34x3xf32>) permutation = [3, 0, 1, 2]
// CHECK:         linalg.conv_2d_nhwc_fhwc
func.func @filter_of_convolution(%small: tensor<3x36x5x2xf32>, %filter: tensor<3x3x2x8xf32>, %init: tensor<3x34x3x8xf32>,
                                 %image: tensor<1x20x51x3xf32>, %to: tensor<1x18x18x8xf32>) -> tensor<1x18x18x8xf32> {
  %made = linalg.conv_2d_nhwc_hwcf ins(%small, %filter : tensor<3x36x5x2xf32>, tensor<3x3x2x8xf32>)
    outs(%init : tensor<3x34x3x8xf32>) -> tensor<3x34x3x8xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%image, %made : tensor<1x20x51x3xf32>, tensor<3x34x3x8xf32>)
    outs(%to : tensor<1x18x18x8xf32>) -> tensor<1x18x18x8xf32>
  return %0 : tensor<1x18x18x8xf32>
}
