// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-to-intrinsics{m=16 n=16 k=16 max-waste=20}))' \
// RUN:   | FileCheck %s
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-to-intrinsics{target=gfx942 max-waste=20}))' \
// RUN:   --remarks-filter=smalti-pad-to-intrinsics -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s --check-prefix=REFUSED < %t.remarks

// Any body is padded to sizes from options, but only a multiply-add to those of an MMA.

// A maximum of sums: padded terms must be minus infinity.
// REFUSED: Function=maximum | Remark="op not padded: the body is not a multiply-add, so no MMA determines the padded sizes; state them with the options 'm', 'n' and 'k'"
// CHECK-LABEL: func.func @maximum(
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f16
// CHECK:         tensor.pad
// CHECK:           tensor.yield %[[ZERO]]
// CHECK:         %[[LEAST:.*]] = arith.constant 0xFC00 : f16
// CHECK:         tensor.pad
// CHECK:           tensor.yield %[[LEAST]]
func.func @maximum(%a: tensor<16x15xf16>, %b: tensor<15x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : tensor<16x15xf16>, tensor<15x16xf16>) outs(%c : tensor<16x16xf32>) {
  ^bb0(%x: f16, %y: f16, %most: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %sum = arith.addf %xw, %yw : f32
    %next = arith.maximumf %most, %sum : f32
    linalg.yield %next : f32
  } -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// Padding values of M and N are arbitrary.
// REFUSED: Function=unknown_sum | Remark="op not padded: the body is not a multiply-add
// CHECK-LABEL: func.func @unknown_sum(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<16x16xf16>, tensor<16x16xf16>)
func.func @unknown_sum(%a: tensor<15x16xf16>, %b: tensor<16x15xf16>, %c: tensor<15x15xf32>) -> tensor<15x15xf32> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : tensor<15x16xf16>, tensor<16x15xf16>) outs(%c : tensor<15x15xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %product = arith.mulf %x, %y : f16
    %wide = arith.extf %product : f16 to f32
    %half = arith.divf %acc, %wide : f32
    %next = math.powf %half, %wide : f32
    linalg.yield %next : f32
  } -> tensor<15x15xf32>
  return %0 : tensor<15x15xf32>
}

// REFUSED: Function=sum_of_sums | Remark="op not padded: the body is not a multiply-add
// CHECK-LABEL: func.func @sum_of_sums(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<16x16xf16>, tensor<16x16xf16>)
func.func @sum_of_sums(%a: tensor<15x16xf16>, %b: tensor<16x15xf16>, %c: tensor<15x15xf32>) -> tensor<15x15xf32> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : tensor<15x16xf16>, tensor<16x15xf16>) outs(%c : tensor<15x15xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %sum = arith.addf %xw, %yw : f32
    %next = arith.addf %acc, %sum : f32
    linalg.yield %next : f32
  } -> tensor<15x15xf32>
  return %0 : tensor<15x15xf32>
}

// REFUSED: Function=or_and | Remark="op not padded: the body is not a multiply-add
// CHECK-LABEL: func.func @or_and(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<16x32xi8>, tensor<32x16xi8>)
func.func @or_and(%a: tensor<16x30xi8>, %b: tensor<30x16xi8>, %c: tensor<16x16xi32>) -> tensor<16x16xi32> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : tensor<16x30xi8>, tensor<30x16xi8>) outs(%c : tensor<16x16xi32>) {
  ^bb0(%x: i8, %y: i8, %acc: i32):
    %xw = arith.extui %x : i8 to i32
    %yw = arith.extui %y : i8 to i32
    %both = arith.andi %xw, %yw : i32
    %next = arith.ori %acc, %both : i32
    linalg.yield %next : i32
  } -> tensor<16x16xi32>
  return %0 : tensor<16x16xi32>
}

// 0 - 1 has all bits set, too, but wraps, which the flag excludes.
// REFUSED: Function=no_wrap | Remark="op not padded: the body is not a multiply-add
// CHECK-LABEL: func.func @no_wrap(
// CHECK-SAME:    %[[A:.*]]: tensor<16x30xi8>, %[[B:.*]]: tensor<30x16xi8>
// CHECK:         %[[X:.*]] = arith.constant -1 : i8
// CHECK:         tensor.pad %[[A]]
// CHECK:           tensor.yield %[[X]] : i8
// CHECK:         %[[Y:.*]] = arith.constant 0 : i8
// CHECK:         tensor.pad %[[B]]
// CHECK:           tensor.yield %[[Y]] : i8
func.func @no_wrap(%a: tensor<16x30xi8>, %b: tensor<30x16xi8>, %c: tensor<16x16xi32>) -> tensor<16x16xi32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<16x30xi8>, tensor<30x16xi8>) outs(%c : tensor<16x16xi32>) {
  ^bb0(%x: i8, %y: i8, %acc: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extsi %y : i8 to i32
    %term = arith.subi %xw, %yw overflow<nuw> : i32
    %next = arith.minui %acc, %term : i32
    linalg.yield %next : i32
  } -> tensor<16x16xi32>
  return %0 : tensor<16x16xi32>
}
