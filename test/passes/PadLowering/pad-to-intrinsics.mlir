// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-to-intrinsics{target=gfx942 max-waste=20}))' \
// RUN:   --remarks-filter=smalti-pad-to-intrinsics -o %t.once 2>%t.remarks
// RUN: FileCheck %s < %t.once
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
//
// A padded op is not padded again.
// RUN: smalti-opt %t.once --pass-pipeline='builtin.module(func.func(smalti-pad-to-intrinsics{target=gfx942 strict=true}))' -o %t.twice
// RUN: diff %t.once %t.twice
//
// The sizes of another chip, and sizes from options.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-to-intrinsics{target=sm_80 max-waste=20}))' \
// RUN:   | FileCheck %s --check-prefix=SM80
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-to-intrinsics{m=10 n=3 k=1}))' \
// RUN:   --remarks-filter=smalti-pad-to-intrinsics 2>&1 | FileCheck %s --check-prefix=SIZES

// REMARK: [Passed] smalti-pad-to-intrinsics | Category:smalti-pad-to-intrinsics | Function=matmul | Remark="op padded: m from 13 to 16, n from 30 to 32, k from 5 to 16 for the MMA shape v_mfma_f32_16x16x16_f16; 4.20 times the iterations"
// CHECK-LABEL: func.func @matmul(
// CHECK-SAME:    %[[A:.*]]: tensor<13x5xf16>, %[[B:.*]]: tensor<5x30xf16>, %[[C:.*]]: tensor<13x30xf32>
// CHECK:         %[[ZERO_A:.*]] = arith.constant 0.000000e+00 : f16
// CHECK:         %[[PAD_A:.*]] = tensor.pad %[[A]] low[0, 0] high[3, 11]
// CHECK:           tensor.yield %[[ZERO_A]]
// CHECK:         %[[PAD_B:.*]] = tensor.pad %[[B]] low[0, 0] high[11, 2]
// CHECK:         %[[PAD_C:.*]] = tensor.pad %[[C]] low[0, 0] high[3, 2]
// CHECK:         %[[RESULT:.*]] = linalg.matmul {tag} ins(%[[PAD_A]], %[[PAD_B]] : tensor<16x16xf16>, tensor<16x32xf16>) outs(%[[PAD_C]] : tensor<16x32xf32>) -> tensor<16x32xf32>
// CHECK:         %[[SLICE:.*]] = tensor.extract_slice %[[RESULT]][0, 0] [13, 30] [1, 1]
// CHECK:         return %[[SLICE]]
//
// SM80-LABEL: func.func @matmul(
// SM80:         linalg.matmul {tag} ins(%{{.*}} : tensor<16x8xf16>, tensor<8x32xf16>) outs(%{{.*}} : tensor<16x32xf32>)
//
// SIZES: Function=matmul | Remark="op padded: m from 13 to 20 for the MMA shape 10x3x1; 1.54 times the iterations"
func.func @matmul(%a: tensor<13x5xf16>, %b: tensor<5x30xf16>, %c: tensor<13x30xf32>) -> tensor<13x30xf32> {
  %0 = linalg.matmul {tag} ins(%a, %b : tensor<13x5xf16>, tensor<5x30xf16>) outs(%c : tensor<13x30xf32>) -> tensor<13x30xf32>
  return %0 : tensor<13x30xf32>
}

// Dynamic sizes: affine arithmetic. A size that is proven to be a multiple is not padded.
// REMARK: Function=dynamic | Remark="op padded: m to a multiple of 16, k to a multiple of 16 for the MMA shape v_mfma_f32_16x16x16_f16; at least 1.00 times the iterations"
// CHECK-LABEL: func.func @dynamic(
// CHECK:         %[[ROWS:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<?x?xf16>
// CHECK:         %[[HIGH:.*]] = affine.apply #{{.*}}()[%[[ROWS]]]
// CHECK:         tensor.pad %{{.*}} low[0, 0] high[%[[HIGH]], %{{.*}}]
// CHECK:         tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK:         tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK:         linalg.matmul
// CHECK:         tensor.extract_slice %{{.*}}[0, 0] [%{{.*}}, %{{.*}}] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
func.func @dynamic(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %rows: index, %n: index) -> tensor<?x?xf32> {
  %c16 = arith.constant 16 : index
  %columns = arith.muli %n, %c16 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// The filled init operand is enlarged.
// REMARK: Function=batched | Remark="op padded: k from 24 to 32 for
// CHECK-LABEL: func.func @batched(
// CHECK:         tensor.pad %{{.*}} low[0, 0, 0] high[0, 0, 8]
// CHECK:         tensor.pad %{{.*}} low[0, 0, 0] high[0, 8, 0]
// CHECK:         %[[RESULT:.*]] = linalg.batch_matmul ins(%{{.*}} : tensor<3x16x32xbf16>, tensor<3x32x64xbf16>)
// CHECK:         return %[[RESULT]]
func.func @batched(%a: tensor<3x16x24xbf16>, %b: tensor<3x24x64xbf16>, %c: tensor<3x16x64xf32>) -> tensor<3x16x64xf32> {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<3x16x24xbf16>, tensor<3x24x64xbf16>) outs(%c : tensor<3x16x64xf32>)
    -> tensor<3x16x64xf32>
  return %0 : tensor<3x16x64xf32>
}

// Zero points: a constant, and one extended from the operand type.
// REMARK: Function=quantized | Remark="op padded: m from 14 to 16, n from 15 to 16, k from 30 to 32 for the MMA shape v_mfma_i32_16x16x32_i8; 1.30 times the iterations"
// CHECK-LABEL: func.func @quantized(
// CHECK-SAME:    %[[POINT:[^ ]*]]: i8
// CHECK:         %[[WIDE:.*]] = arith.extsi %[[POINT]]
// CHECK:         %[[CUT:.*]] = arith.trunci %[[WIDE]] : i32 to i8
// CHECK:         tensor.pad
// CHECK:           tensor.yield %[[CUT]] : i8
// CHECK:         %[[SEVEN:.*]] = arith.constant -7 : i8
// CHECK:         tensor.pad
// CHECK:           tensor.yield %[[SEVEN]] : i8
// CHECK:         linalg.quantized_matmul ins(%{{.*}}, %{{.*}}, %[[WIDE]], %{{.*}} : tensor<16x32xi8>, tensor<32x16xi8>, i32, i32)
func.func @quantized(%point: i8, %a: tensor<14x30xi8>, %b: tensor<30x15xi8>, %c: tensor<14x15xi32>) -> tensor<14x15xi32> {
  %za = arith.extsi %point : i8 to i32
  %zb = arith.constant -7 : i32
  %0 = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<14x30xi8>, tensor<30x15xi8>, i32, i32)
    outs(%c : tensor<14x15xi32>) -> tensor<14x15xi32>
  return %0 : tensor<14x15xi32>
}

// The width of the image grows with that of the result, by its stride; elements that are not read are kept. The 3
// channels of image and filter become 16.
// REMARK: Function=convolution | Remark="op padded: m from 7 to 16, n from 24 to 32, k from 3 to 16 for the MMA shape v_mfma_f32_16x16x16_f16; 16.25 times the iterations"
// CHECK-LABEL: func.func @convolution(
// CHECK:         tensor.pad %{{.*}} low[0, 0, 0, 0] high[0, 0, 18, 13]
// CHECK:         tensor.pad %{{.*}} low[0, 0, 0, 0] high[0, 0, 13, 8]
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<2x7x16x32xf32>
// CHECK:         linalg.fill ins(%{{.*}} : f32) outs(%[[EMPTY]] : tensor<2x7x16x32xf32>)
// CHECK:         linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
// CHECK-SAME:      ins(%{{.*}} : tensor<2x16x34x16xf16>, tensor<3x3x16x32xf16>) outs(%{{.*}} : tensor<2x7x16x32xf32>)
// CHECK:         tensor.extract_slice %{{.*}}[0, 0, 0, 0] [2, 7, 7, 24] [1, 1, 1, 1]
func.func @convolution(%image: tensor<2x16x16x3xf16>, %filter: tensor<3x3x3x24xf16>) -> tensor<2x7x7x24xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x7x7x24xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x7x7x24xf32>) -> tensor<2x7x7x24xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%image, %filter : tensor<2x16x16x3xf16>, tensor<3x3x3x24xf16>) outs(%init : tensor<2x7x7x24xf32>)
    -> tensor<2x7x7x24xf32>
  return %0 : tensor<2x7x7x24xf32>
}

// Groups are not padded; a batch of 16 is M.
// REMARK: Function=grouped | Remark="op padded: n from 12 to 16, k from 8 to 16 for
// CHECK-LABEL: func.func @grouped(
// CHECK:         linalg.conv_2d_ngchw_gfchw ins(%{{.*}} : tensor<16x3x16x9x9xf16>, tensor<3x16x16x3x3xf16>) outs(%{{.*}} : tensor<16x3x16x7x7xf32>)
func.func @grouped(%image: tensor<16x3x8x9x9xf16>, %filter: tensor<3x12x8x3x3xf16>, %init: tensor<16x3x12x7x7xf32>)
    -> tensor<16x3x12x7x7xf32> {
  %0 = linalg.conv_2d_ngchw_gfchw ins(%image, %filter : tensor<16x3x8x9x9xf16>, tensor<3x12x8x3x3xf16>)
    outs(%init : tensor<16x3x12x7x7xf32>) -> tensor<16x3x12x7x7xf32>
  return %0 : tensor<16x3x12x7x7xf32>
}

// REMARK: [Analysis] {{.*}} Function=fits | Remark="op not padded: all sizes are already multiples of v_mfma_f32_16x16x16_f16"
// CHECK-LABEL: func.func @fits(
// CHECK-NOT:     tensor.pad
// CHECK:         return
func.func @fits(%a: tensor<32x48xf16>, %b: tensor<48x16xf16>, %c: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<32x48xf16>, tensor<48x16xf16>) outs(%c : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}

// The MMA with the fewest iterations is chosen.
// REMARK: [Analysis] {{.*}} Function=shallow | Remark="op not padded: all sizes are already multiples of v_mfma_f32_32x32x8_f16"
func.func @shallow(%a: tensor<32x8xf16>, %b: tensor<8x32xf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<32x8xf16>, tensor<8x32xf16>) outs(%c : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// REMARK: [Analysis] {{.*}} Function=empty | Remark="op not padded: the op has 0 iterations"
func.func @empty(%a: tensor<13x5xf16>, %b: tensor<5x0xf16>, %c: tensor<13x0xf32>) -> tensor<13x0xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<13x5xf16>, tensor<5x0xf16>) outs(%c : tensor<13x0xf32>) -> tensor<13x0xf32>
  return %0 : tensor<13x0xf32>
}

// Ops that are not matmuls have no remarks.
// REMARK-NOT: Function=others
func.func @others(%a: tensor<5x5xf16>, %b: tensor<5x5xf16>, %image: tensor<1x8x8x3xf16>, %window: tensor<2x2xf16>,
                  %init: tensor<1x7x7x3xf16>) -> (tensor<5x5xf16>, tensor<1x7x7x3xf16>) {
  %0 = linalg.add ins(%a, %b : tensor<5x5xf16>, tensor<5x5xf16>) outs(%a : tensor<5x5xf16>) -> tensor<5x5xf16>
  %1 = linalg.pooling_nhwc_max ins(%image, %window : tensor<1x8x8x3xf16>, tensor<2x2xf16>)
    outs(%init : tensor<1x7x7x3xf16>) -> tensor<1x7x7x3xf16>
  return %0, %1 : tensor<5x5xf16>, tensor<1x7x7x3xf16>
}
