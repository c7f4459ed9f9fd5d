// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-to-intrinsics{target=sm_90a max-waste=2.5}))' \
// RUN:   --remarks-filter=smalti-pad-to-intrinsics -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-to-intrinsics{target=sm_90a strict=true}))' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-to-intrinsics))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TARGET
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-to-intrinsics{m=65537 n=8 k=8}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SIZE
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-to-intrinsics{max-waste=0.5}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WASTE
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-to-intrinsics{target=cpu}))' \
// RUN:   --remarks-filter=smalti-pad-to-intrinsics -o /dev/null 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-to-intrinsics{target=sm_90a zero-points-in-range=true}))' \
// RUN:   | FileCheck %s --check-prefix=IN-RANGE
//
// STRICT: error: smalti-pad-to-intrinsics: op not padded: the operands of the op are memrefs; run the pass before bufferization
// TARGET: error: no target given: use the option 'target=NAME' or set the attribute smalti.target = "NAME" on the module; known targets: cpu, sm_80
// SIZE: error: smalti-pad-to-intrinsics: option 'm' must be at most 65536, but is 65537
// WASTE: error: smalti-pad-to-intrinsics: option 'max-waste' must be 1 or more, but is 0.50
// CPU: Function=few_rows | Remark="op not padded: cpu does not have an MMA for f16 x f16 + f32 (its MMAs: none); set all of 'm', 'n' and 'k' to pad the op anyway"

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK: [Missed] smalti-pad-to-intrinsics | Category:smalti-pad-to-intrinsics | Function=buffers | Remark="op not padded: the operands of the op are memrefs; run the pass before bufferization"
func.func @buffers(%a: memref<15x16xf16>, %b: memref<16x16xf16>, %c: memref<15x16xf32>) {
  linalg.matmul ins(%a, %b : memref<15x16xf16>, memref<16x16xf16>) outs(%c : memref<15x16xf32>)
  return
}

// CHECK: Function=few_rows | Remark="op not padded: padding m from 5 to 16 for the MMA mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 needs 3.20 times the iterations; the option 'max-waste' allows 2.50"
func.func @few_rows(%a: tensor<5x16xf16>, %b: tensor<16x16xf16>, %c: tensor<5x16xf32>) -> tensor<5x16xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<5x16xf16>, tensor<16x16xf16>) outs(%c : tensor<5x16xf32>) -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

// CHECK: Function=vector | Remark="op not padded: the contraction is not a matmul: it must have M, N and K dimensions"
func.func @vector(%a: tensor<15x16xf16>, %b: tensor<16xf16>, %c: tensor<15xf32>) -> tensor<15xf32> {
  %0 = linalg.matvec ins(%a, %b : tensor<15x16xf16>, tensor<16xf16>) outs(%c : tensor<15xf32>) -> tensor<15xf32>
  return %0 : tensor<15xf32>
}

// CHECK: Function=depthwise | Remark="op not padded: the convolution is depthwise, so it is not a matmul"
func.func @depthwise(%image: tensor<1x9x9x3xf16>, %filter: tensor<3x3x3xf16>, %init: tensor<1x7x7x3xf32>)
    -> tensor<1x7x7x3xf32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc ins(%image, %filter : tensor<1x9x9x3xf16>, tensor<3x3x3xf16>)
    outs(%init : tensor<1x7x7x3xf32>) -> tensor<1x7x7x3xf32>
  return %0 : tensor<1x7x7x3xf32>
}

// CHECK: Function=types | Remark="op not padded: sm_90a does not have an MMA for i64 x i64 + i64 (its MMAs: {{.*}}f16 x f16 + f32{{.*}}); set all of 'm', 'n' and 'k' to pad the op anyway"
func.func @types(%a: tensor<15x16xi64>, %b: tensor<16x16xi64>, %c: tensor<15x16xi64>) -> tensor<15x16xi64> {
  %0 = linalg.matmul ins(%a, %b : tensor<15x16xi64>, tensor<16x16xi64>) outs(%c : tensor<15x16xi64>) -> tensor<15x16xi64>
  return %0 : tensor<15x16xi64>
}

// CHECK: Function=no_numbers | Remark="op not padded: elements of type complex<f32> are neither signless integers nor floats"
func.func @no_numbers(%a: tensor<15x16xcomplex<f32>>, %b: tensor<16x16xcomplex<f32>>, %c: tensor<15x16xcomplex<f32>>)
    -> tensor<15x16xcomplex<f32>> {
  %0 = linalg.matmul ins(%a, %b : tensor<15x16xcomplex<f32>>, tensor<16x16xcomplex<f32>>)
    outs(%c : tensor<15x16xcomplex<f32>>) -> tensor<15x16xcomplex<f32>>
  return %0 : tensor<15x16xcomplex<f32>>
}

// CHECK: Function=encoded | Remark="op not padded: the operand type tensor<15x16xf16, "sparse"> has an encoding; use a tensor without an encoding"
func.func @encoded(%a: tensor<15x16xf16, "sparse">, %b: tensor<16x16xf16>, %c: tensor<15x16xf32>) -> tensor<15x16xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<15x16xf16, "sparse">, tensor<16x16xf16>) outs(%c : tensor<15x16xf32>)
    -> tensor<15x16xf32>
  return %0 : tensor<15x16xf32>
}

// CHECK: Function=huge | Remark="op not padded: the padded sizes exceed the 63-bit range; set smaller options 'm', 'n' and 'k'"
func.func @huge(%a: tensor<9223372036854775807x16xf16>, %b: tensor<16x16xf16>, %c: tensor<9223372036854775807x16xf32>)
    -> tensor<9223372036854775807x16xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<9223372036854775807x16xf16>, tensor<16x16xf16>)
    outs(%c : tensor<9223372036854775807x16xf32>) -> tensor<9223372036854775807x16xf32>
  return %0 : tensor<9223372036854775807x16xf32>
}

// CHECK: Function=division | Remark="op not padded: the body contains 'arith.divsi', which may trap on padding values; move it out of the op"
func.func @division(%a: tensor<15x32xi8>, %b: tensor<32x16xi8>, %c: tensor<15x16xi32>) -> tensor<15x16xi32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<15x32xi8>, tensor<32x16xi8>) outs(%c : tensor<15x16xi32>) {
  ^bb0(%x: i8, %y: i8, %acc: i32):
    %ratio = arith.divsi %x, %y : i8
    %wide = arith.extsi %ratio : i8 to i32
    %next = arith.addi %acc, %wide : i32
    linalg.yield %next : i32
  } -> tensor<15x16xi32>
  return %0 : tensor<15x16xi32>
}

// CHECK: Function=no_identity | Remark="op not padded: 'arith.divf', which combines the accumulator with a term, does not have a known identity element to pad with; use a sum, product, minimum, maximum or bitwise op of arith"
func.func @no_identity(%a: tensor<16x15xf16>, %b: tensor<15x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<16x15xf16>, tensor<15x16xf16>) outs(%c : tensor<16x16xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %product = arith.mulf %x, %y : f16
    %wide = arith.extf %product : f16 to f32
    %next = arith.divf %wide, %acc : f32
    linalg.yield %next : f32
  } -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// CHECK: Function=no_combiner | Remark="op not padded: the body of the op does not combine the accumulator with a term in a single op, such as 'arith.addf'; write it in this form"
func.func @no_combiner(%a: tensor<16x15xf16>, %b: tensor<15x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<16x15xf16>, tensor<15x16xf16>) outs(%c : tensor<16x16xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %product = arith.mulf %x, %y : f16
    %wide = arith.extf %product : f16 to f32
    %twice = arith.addf %acc, %acc : f32
    %next = arith.addf %twice, %wide : f32
    linalg.yield %next : f32
  } -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// No i8 value is small enough.
// CHECK: Function=no_value | Remark="op not padded: padding would change the result: no padding values were found that yield the identity element of 'arith.maxsi'"
func.func @no_value(%a: tensor<16x31xi8>, %b: tensor<31x16xi8>, %c: tensor<16x16xi32>) -> tensor<16x16xi32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<16x31xi8>, tensor<31x16xi8>) outs(%c : tensor<16x16xi32>) {
  ^bb0(%x: i8, %y: i8, %acc: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extsi %y : i8 to i32
    %product = arith.muli %xw, %yw : i32
    %next = arith.maxsi %acc, %product : i32
    linalg.yield %next : i32
  } -> tensor<16x16xi32>
  return %0 : tensor<16x16xi32>
}

// The fastmath flags exclude infinity.
// CHECK: Function=flags | Remark="op not padded: padding would change the result: no padding values were found that yield the identity element of 'arith.maximumf'"
func.func @flags(%a: tensor<16x15xf16>, %b: tensor<15x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<16x15xf16>, tensor<15x16xf16>) outs(%c : tensor<16x16xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %product = arith.mulf %x, %y fastmath<ninf> : f16
    %wide = arith.extf %product : f16 to f32
    %next = arith.maximumf %acc, %wide : f32
    linalg.yield %next : f32
  } -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// An i32 zero point may be outside the range of i8.
// CHECK: Function=zero_points | Remark="op not padded: padding would change the result: no padding values were found that yield the identity element of 'arith.addi'; a zero point may be outside the operand type (set zero-points-in-range=true if this cannot happen)"
// IN-RANGE-LABEL: func.func @zero_points(
// IN-RANGE:         arith.trunci %{{.*}} : i32 to i8
// IN-RANGE:         tensor.pad
// IN-RANGE:         arith.trunci %{{.*}} : i32 to i8
// IN-RANGE:         tensor.pad
// IN-RANGE:         linalg.quantized_matmul
func.func @zero_points(%a: tensor<16x31xi8>, %b: tensor<31x16xi8>, %za: i32, %zb: i32, %c: tensor<16x16xi32>)
    -> tensor<16x16xi32> {
  %0 = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<16x31xi8>, tensor<31x16xi8>, i32, i32)
    outs(%c : tensor<16x16xi32>) -> tensor<16x16xi32>
  return %0 : tensor<16x16xi32>
}

// A zero-extended i8 is not a sign-extended one: 200 is outside the range of signed i8.
// CHECK: Function=unsigned_zero_point | Remark="op not padded: padding would change the result: no padding values were found that yield the identity element of 'arith.addi'; a zero point may be outside the operand type
func.func @unsigned_zero_point(%a: tensor<16x31xi8>, %b: tensor<31x16xi8>, %z: i8, %c: tensor<16x16xi32>)
    -> tensor<16x16xi32> {
  %zw = arith.extui %z : i8 to i32
  %0 = linalg.quantized_matmul ins(%a, %b, %zw, %zw : tensor<16x31xi8>, tensor<31x16xi8>, i32, i32)
    outs(%c : tensor<16x16xi32>) -> tensor<16x16xi32>
  return %0 : tensor<16x16xi32>
}

// CHECK: Function=mirrored | Remark="op not padded: the operand index -d2 + d4 + 15 must increase by a positive constant with loop d2"
func.func @mirrored(%image: tensor<1x15x18x16xf16>, %filter: tensor<3x16x16xf16>, %init: tensor<1x15x15x16xf32>)
    -> tensor<1x15x15x16xf32> {
  %0 = linalg.generic {
    indexing_maps = [
      affine_map<(n, h, w, f, s, c) -> (n, h, -w + s + 15, c)>,
      affine_map<(n, h, w, f, s, c) -> (s, c, f)>,
      affine_map<(n, h, w, f, s, c) -> (n, h, w, f)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%image, %filter : tensor<1x15x18x16xf16>, tensor<3x16x16xf16>) outs(%init : tensor<1x15x15x16xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %product = arith.mulf %x, %y : f16
    %wide = arith.extf %product : f16 to f32
    %next = arith.addf %acc, %wide : f32
    linalg.yield %next : f32
  } -> tensor<1x15x15x16xf32>
  return %0 : tensor<1x15x15x16xf32>
}

// Padding constants are signless.
// CHECK: Function=signed_elements | Remark="op not padded: elements of type si8 are neither signless integers nor floats"
func.func @signed_elements(%a: tensor<15x16xsi8>, %b: tensor<16x16xsi8>, %c: tensor<15x16xi32>) -> tensor<15x16xi32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<15x16xsi8>, tensor<16x16xsi8>) outs(%c : tensor<15x16xi32>) {
  ^bb0(%x: si8, %y: si8, %acc: i32):
    %xs = builtin.unrealized_conversion_cast %x : si8 to i8
    %ys = builtin.unrealized_conversion_cast %y : si8 to i8
    %xw = arith.extsi %xs : i8 to i32
    %yw = arith.extsi %ys : i8 to i32
    %product = arith.muli %xw, %yw : i32
    %next = arith.addi %acc, %product : i32
    linalg.yield %next : i32
  } -> tensor<15x16xi32>
  return %0 : tensor<15x16xi32>
}

// At index m + k, an added iteration reads an element instead of padding.
// CHECK: Function=beside | Remark="op not padded: the operand is indexed by d0 + d2; the iterations that padding adds to loop d2 would read elements of the operand instead of padding; k=1 leaves the loop unpadded"
func.func @beside(%a: tensor<16x15xi8>, %b: tensor<15x16xi8>, %bias: tensor<30xi32>, %c: tensor<16x16xi32>)
    -> tensor<16x16xi32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, affine_map<(m, n, k) -> (m + k)>, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b, %bias : tensor<16x15xi8>, tensor<15x16xi8>, tensor<30xi32>) outs(%c : tensor<16x16xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32, %acc: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extsi %y : i8 to i32
    %product = arith.muli %xw, %yw : i32
    %sum = arith.addi %product, %z : i32
    %next = arith.addi %acc, %sum : i32
    linalg.yield %next : i32
  } -> tensor<16x16xi32>
  return %0 : tensor<16x16xi32>
}

// Only 0 - 1 has all bits set, but nuw excludes that it wraps.
// CHECK: Function=wraps | Remark="op not padded: padding would change the result: no padding values were found that yield the identity element of 'arith.minui'"
func.func @wraps(%a: tensor<16x15xi8>, %b: tensor<15x16xi8>, %c: tensor<16x16xi32>) -> tensor<16x16xi32> {
  %zero = arith.constant 0 : i32
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<16x15xi8>, tensor<15x16xi8>) outs(%c : tensor<16x16xi32>) {
  ^bb0(%x: i8, %y: i8, %acc: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extsi %y : i8 to i32
    %minus = arith.subi %zero, %xw overflow<nuw> : i32
    %term = arith.andi %minus, %yw : i32
    %next = arith.minui %acc, %term : i32
    linalg.yield %next : i32
  } -> tensor<16x16xi32>
  return %0 : tensor<16x16xi32>
}

// 0 - point may wrap even if no element of b does, and 0 times poison is not 0.
// CHECK: Function=poison_times_0 | Remark="op not padded: padding would change the result: no padding values were found that yield the identity element of 'arith.addi'; a zero point may be outside the operand type
func.func @poison_times_0(%a: tensor<16x15xi8>, %b: tensor<15x16xi8>, %point: i32, %c: tensor<16x16xi32>)
    -> tensor<16x16xi32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<16x15xi8>, tensor<15x16xi8>) outs(%c : tensor<16x16xi32>) {
  ^bb0(%x: i8, %y: i8, %acc: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extsi %y : i8 to i32
    %centered = arith.subi %yw, %point overflow<nsw> : i32
    %term = arith.muli %xw, %centered : i32
    %next = arith.addi %acc, %term : i32
    linalg.yield %next : i32
  } -> tensor<16x16xi32>
  return %0 : tensor<16x16xi32>
}

// CHECK: Function=two_results | Remark="op not padded: the matmul has 2 results; only one result is supported"
func.func @two_results(%a: tensor<16x15xf16>, %b: tensor<15x16xf16>, %c: tensor<16x16xf32>, %d: tensor<16x16xf32>)
    -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#a, #b, #c, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<16x15xf16>, tensor<15x16xf16>) outs(%c, %d : tensor<16x16xf32>, tensor<16x16xf32>) {
  ^bb0(%x: f16, %y: f16, %sum: f32, %most: f32):
    %product = arith.mulf %x, %y : f16
    %wide = arith.extf %product : f16 to f32
    %next = arith.addf %sum, %wide : f32
    %larger = arith.maximumf %most, %wide : f32
    linalg.yield %next, %larger : f32, f32
  } -> (tensor<16x16xf32>, tensor<16x16xf32>)
  return %0#0, %0#1 : tensor<16x16xf32>, tensor<16x16xf32>
}

// CHECK: Function=constant_position | Remark="op not padded: the convolution reads its filter at a constant index, which is not supported; index the filter only by loops"
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
