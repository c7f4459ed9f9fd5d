// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --mlir-print-op-generic | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --emit-bytecode | smalti-opt | FileCheck %s

// CHECK-LABEL: triton_xla.entry_func @dot(
triton_xla.entry_func @dot(%tile: index) tiles 1 {
  %a16 = arith.constant dense<1.0> : tensor<3x5xf16>
  %b16 = arith.constant dense<1.0> : tensor<5x7xf16>
  %abf = arith.constant dense<1.0> : tensor<3x5xbf16>
  %bbf = arith.constant dense<1.0> : tensor<5x7xbf16>
  %a32 = arith.constant dense<1.0> : tensor<3x5xf32>
  %b32 = arith.constant dense<1.0> : tensor<5x7xf32>
  %c = arith.constant dense<0.0> : tensor<3x7xf32>
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x5xf16>, tensor<5x7xf16> -> tensor<3x7xf32>
  %0 = triton_xla.dot %a16, %b16, %c : tensor<3x5xf16>, tensor<5x7xf16> -> tensor<3x7xf32>
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x5xbf16>, tensor<5x7xbf16> -> tensor<3x7xf32>
  %1 = triton_xla.dot %abf, %bbf, %0 : tensor<3x5xbf16>, tensor<5x7xbf16> -> tensor<3x7xf32>
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
  %2 = triton_xla.dot %a32, %b32, %1 : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} tf32 {note} : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
  %3 = triton_xla.dot %a32, %b32, %2 tf32 {note} : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
  %a8 = arith.constant dense<1.0> : tensor<3x5xf8E4M3FN>
  %b8 = arith.constant dense<1.0> : tensor<5x7xf8E4M3FN>
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x5xf8E4M3FN>, tensor<5x7xf8E4M3FN> -> tensor<3x7xf32>
  %4 = triton_xla.dot %a8, %b8, %3 : tensor<3x5xf8E4M3FN>, tensor<5x7xf8E4M3FN> -> tensor<3x7xf32>
  %a52 = arith.constant dense<1.0> : tensor<3x5xf8E5M2>
  %b52 = arith.constant dense<1.0> : tensor<5x7xf8E5M2>
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x5xf8E5M2>, tensor<5x7xf8E5M2> -> tensor<3x7xf32>
  %5 = triton_xla.dot %a52, %b52, %4 : tensor<3x5xf8E5M2>, tensor<5x7xf8E5M2> -> tensor<3x7xf32>
  %ai = arith.constant dense<1> : tensor<3x5xi8>
  %bi = arith.constant dense<1> : tensor<5x7xi8>
  %ci = arith.constant dense<0> : tensor<3x7xi32>
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x5xi8>, tensor<5x7xi8> -> tensor<3x7xi32>
  %6 = triton_xla.dot %ai, %bi, %ci : tensor<3x5xi8>, tensor<5x7xi8> -> tensor<3x7xi32>
  triton_xla.return
}

// CHECK-LABEL: func.func @types(
func.func @types(%a16: tensor<3x5xf16>, %b16: tensor<5x7xf16>, %c16: tensor<3x7xf16>, %a64: tensor<3x5xf64>,
                 %b64: tensor<5x7xf64>, %c64: tensor<3x7xf64>, %a43: tensor<3x5xf8E4M3FN>, %b52: tensor<5x7xf8E5M2>,
                 %c: tensor<3x7xf32>, %ai: tensor<3x5xi8>, %bi: tensor<5x7xi8>, %ci: tensor<3x7xi32>) {
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x5xf16>, tensor<5x7xf16> -> tensor<3x7xf16>
  %0 = triton_xla.dot %a16, %b16, %c16 : tensor<3x5xf16>, tensor<5x7xf16> -> tensor<3x7xf16>
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} algorithm ieee : tensor<3x5xf64>, tensor<5x7xf64> -> tensor<3x7xf64>
  %1 = triton_xla.dot %a64, %b64, %c64 algorithm ieee : tensor<3x5xf64>, tensor<5x7xf64> -> tensor<3x7xf64>
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x5xf8E4M3FN>, tensor<5x7xf8E5M2> -> tensor<3x7xf32>
  %2 = triton_xla.dot %a43, %b52, %c : tensor<3x5xf8E4M3FN>, tensor<5x7xf8E5M2> -> tensor<3x7xf32>
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} unsigned_lhs unsigned_rhs {note} : tensor<3x5xi8>
  %3 = triton_xla.dot %ai, %bi, %ci unsigned_lhs unsigned_rhs {note} : tensor<3x5xi8>, tensor<5x7xi8> -> tensor<3x7xi32>
  return
}

// CHECK-LABEL: func.func @algorithms(
func.func @algorithms(%a: tensor<2x3x5xf32>, %b: tensor<2x5x7xf32>, %c: tensor<2x3x7xf32>) {
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x3x5xf32>, tensor<2x5x7xf32> -> tensor<2x3x7xf32>
  %0 = triton_xla.dot %a, %b, %c algorithm default : tensor<2x3x5xf32>, tensor<2x5x7xf32> -> tensor<2x3x7xf32>
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} tf32 : tensor<2x3x5xf32>
  %1 = triton_xla.dot %a, %b, %c algorithm tf32 : tensor<2x3x5xf32>, tensor<2x5x7xf32> -> tensor<2x3x7xf32>
  // CHECK: triton_xla.dot %{{.*}}, %{{.*}}, %{{.*}} algorithm bf16x9 : tensor<2x3x5xf32>
  %2 = triton_xla.dot %a, %b, %c algorithm bf16x9 : tensor<2x3x5xf32>, tensor<2x5x7xf32> -> tensor<2x3x7xf32>
  return
}

// CHECK-LABEL: func.func @dot_scaled(
func.func @dot_scaled(%a: tensor<48x64xf8E5M2>, %b: tensor<64x32xbf16>, %pa: tensor<48x32xi8>, %pb: tensor<48x32xi8>,
                      %sa: tensor<48x2xf8E8M0FNU>, %wa: tensor<512xf8E8M0FNU>, %sb: tensor<8x40xf8E4M3FN>,
                      %small: tensor<48x8xf6E3M2FN>, %bsmall: tensor<8x32xf4E2M1FN>, %one: tensor<48x1xf8E4M3FN>,
                      %g: f32, %c: tensor<48x32xf32>) {
  // CHECK: triton_xla.dot_scaled %{{[a-z0-9]+}} scale %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} block 32 :
  // CHECK-SAME: (tensor<48x64xf8E5M2>, tensor<48x2xf8E8M0FNU>, tensor<64x32xbf16>, tensor<48x32xf32>) -> tensor<48x32xf32>
  %0 = triton_xla.dot_scaled %a scale %sa, %b, %c block 32
      : (tensor<48x64xf8E5M2>, tensor<48x2xf8E8M0FNU>, tensor<64x32xbf16>, tensor<48x32xf32>) -> tensor<48x32xf32>
  // CHECK: triton_xla.dot_scaled %{{[a-z0-9]+}} as f4E2M1FN packed 1 scale %{{[a-z0-9]+}} layout<swizzled_128x4> global %{{[a-z0-9]+}},
  // CHECK-SAME: %{{[a-z0-9]+}} as f6E2M3FN packed 0 scale %{{[a-z0-9]+}} layout<padded> global %{{[a-z0-9]+}}, %{{[a-z0-9]+}} block 16 {note} :
  %1 = triton_xla.dot_scaled %pa as f4E2M1FN packed 1 scale %wa layout<swizzled_128x4> global %g,
                             %pb as f6E2M3FN packed 0 scale %sb layout<padded> global %g, %c block 16 {note}
      : (tensor<48x32xi8>, tensor<512xf8E8M0FNU>, f32, tensor<48x32xi8>, tensor<8x40xf8E4M3FN>, f32, tensor<48x32xf32>)
      -> tensor<48x32xf32>
  // CHECK: triton_xla.dot_scaled %{{[a-z0-9]+}} scale %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} block 16 : (tensor<48x8xf6E3M2FN>,
  %2 = triton_xla.dot_scaled %small scale %one, %bsmall, %c block 16
      : (tensor<48x8xf6E3M2FN>, tensor<48x1xf8E4M3FN>, tensor<8x32xf4E2M1FN>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// CHECK-LABEL: func.func @sparse_dot(
func.func @sparse_dot(%a: tensor<16x16xf16>, %m: tensor<16x2xi16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>,
                      %a32: tensor<16x16xf32>, %m32: tensor<16x2xi32>, %b32: tensor<32x8xf32>, %a4: tensor<16x16xi8>,
                      %m4: tensor<16x4xi8>, %b4: tensor<64x8xf4E2M1FN>, %s: tensor<16x2xf8E4M3FN>, %t: tensor<2x8xf8E4M3FN>) {
  // CHECK: triton_xla.sparse_dot %{{[a-z0-9]+}} metadata %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {note} :
  // CHECK-SAME: (tensor<16x16xf16>, tensor<16x2xi16>, tensor<32x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %0 = triton_xla.sparse_dot %a metadata %m, %b, %c {note}
      : (tensor<16x16xf16>, tensor<16x2xi16>, tensor<32x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  // CHECK: triton_xla.sparse_dot %{{[a-z0-9]+}} metadata %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : (tensor<16x16xf32>, tensor<16x2xi32>,
  %1 = triton_xla.sparse_dot %a32 metadata %m32, %b32, %c
      : (tensor<16x16xf32>, tensor<16x2xi32>, tensor<32x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  // CHECK: triton_xla.sparse_dot %{{[a-z0-9]+}} as f4E2M1FN packed 1 metadata %{{[a-z0-9]+}} scale %{{[a-z0-9]+}}, %{{[a-z0-9]+}} scale %{{[a-z0-9]+}}, %{{[a-z0-9]+}} block 32 :
  %2 = triton_xla.sparse_dot %a4 as f4E2M1FN packed 1 metadata %m4 scale %s, %b4 scale %t, %c block 32
      : (tensor<16x16xi8>, tensor<16x4xi8>, tensor<16x2xf8E4M3FN>, tensor<64x8xf4E2M1FN>, tensor<2x8xf8E4M3FN>,
         tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}
