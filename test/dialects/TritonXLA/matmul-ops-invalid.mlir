// RUN: smalti-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4xf16>, %b: tensor<4x8xf16>, %c: tensor<4x8xf32>) {
  // expected-error@+1 {{lhs, rhs and the accumulator must all have rank 2, or rank 3 for a batch, but are 'tensor<4xf16>', 'tensor<4x8xf16>' and 'tensor<4x8xf32>'}}
  triton_xla.dot %a, %b, %c : tensor<4xf16>, tensor<4x8xf16> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf16>, %b: tensor<4x8xbf16>, %c: tensor<2x8xf32>) {
  // expected-error@+1 {{lhs elements are 'f16', but rhs elements are 'bf16'}}
  triton_xla.dot %a, %b, %c : tensor<2x4xf16>, tensor<4x8xbf16> -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xi16>, %b: tensor<4x8xi16>, %c: tensor<2x8xi32>) {
  // expected-error@+1 {{elements of lhs and rhs must be f16, bf16, f32, f64, f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ or i8, but are 'i16'}}
  triton_xla.dot %a, %b, %c : tensor<2x4xi16>, tensor<4x8xi16> -> tensor<2x8xi32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf8E4M3B11FNUZ>, %b: tensor<4x8xf8E4M3B11FNUZ>, %c: tensor<2x8xf32>) {
  // expected-error@+1 {{elements of lhs and rhs must be f16, bf16, f32, f64, f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ or i8, but are 'f8E4M3B11FNUZ'}}
  triton_xla.dot %a, %b, %c : tensor<2x4xf8E4M3B11FNUZ>, tensor<4x8xf8E4M3B11FNUZ> -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf8E4M3FN>, %b: tensor<4x8xf8E5M2FNUZ>, %c: tensor<2x8xf32>) {
  // expected-error@+1 {{lhs elements are 'f8E4M3FN', but rhs elements are 'f8E5M2FNUZ'}}
  triton_xla.dot %a, %b, %c : tensor<2x4xf8E4M3FN>, tensor<4x8xf8E5M2FNUZ> -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xi8>, %b: tensor<4x8xi8>, %c: tensor<2x8xf32>) {
  // expected-error@+1 {{the accumulator of a matmul of 'i8' must have elements of i32, but has 'f32'}}
  triton_xla.dot %a, %b, %c : tensor<2x4xi8>, tensor<4x8xi8> -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf8E5M2>, %b: tensor<4x8xf8E5M2>, %c: tensor<2x8xi32>) {
  // expected-error@+1 {{the accumulator of a matmul of 'f8E5M2' must have elements of f32, but has 'i32'}}
  triton_xla.dot %a, %b, %c : tensor<2x4xf8E5M2>, tensor<4x8xf8E5M2> -> tensor<2x8xi32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf16>, %b: tensor<4x8xf16>, %c: tensor<2x8xbf16>) {
  // expected-error@+1 {{the accumulator of a matmul of 'f16' must have elements of f32 or f16, but has 'bf16'}}
  triton_xla.dot %a, %b, %c : tensor<2x4xf16>, tensor<4x8xf16> -> tensor<2x8xbf16>
  return
}

// -----

func.func @f(%a: tensor<2x4xf16>, %b: tensor<5x8xf16>, %c: tensor<2x8xf32>) {
  // expected-error@+1 {{lhs has 4 columns, but rhs has 5 rows}}
  triton_xla.dot %a, %b, %c : tensor<2x4xf16>, tensor<5x8xf16> -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf16>, %b: tensor<4x8xf16>, %c: tensor<8x2xf32>) {
  // expected-error@+1 {{the matmul result is 2x8, but the accumulator is 8x2; both must be equal}}
  triton_xla.dot %a, %b, %c : tensor<2x4xf16>, tensor<4x8xf16> -> tensor<8x2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf16>, %b: tensor<4x8xf16>, %c: tensor<2x8xf32>) {
  // expected-error@+1 {{tf32 requires f32 operands, but found 'f16'}}
  triton_xla.dot %a, %b, %c tf32 : tensor<2x4xf16>, tensor<4x8xf16> -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3x4xf16>, %b: tensor<3x4x8xf16>, %c: tensor<2x3x8xf32>) {
  // expected-error@+1 {{the batch sizes (dimension 0) of lhs, rhs and the accumulator must be equal, but are 2, 3 and 2}}
  triton_xla.dot %a, %b, %c : tensor<2x3x4xf16>, tensor<3x4x8xf16> -> tensor<2x3x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf64>, %b: tensor<4x8xf64>, %c: tensor<2x8xf32>) {
  // expected-error@+1 {{the accumulator of a matmul of 'f64' must have elements of f64, but has 'f32'}}
  triton_xla.dot %a, %b, %c : tensor<2x4xf64>, tensor<4x8xf64> -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf16>, %b: tensor<4x8xf16>, %c: tensor<2x8xf32>) {
  // expected-error@+1 {{unsigned_lhs and unsigned_rhs require i8 operands, but found 'f16'}}
  triton_xla.dot %a, %b, %c unsigned_rhs : tensor<2x4xf16>, tensor<4x8xf16> -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf16>, %b: tensor<4x8xf16>, %c: tensor<2x8xf32>) {
  // expected-error@+1 {{ieee requires f32 or f64 operands, but found 'f16'}}
  triton_xla.dot %a, %b, %c algorithm ieee : tensor<2x4xf16>, tensor<4x8xf16> -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf64>, %b: tensor<4x8xf64>, %c: tensor<2x8xf64>) {
  // expected-error@+1 {{bf16x3 requires f32 operands, but found 'f64'}}
  triton_xla.dot %a, %b, %c algorithm bf16x3 : tensor<2x4xf64>, tensor<4x8xf64> -> tensor<2x8xf64>
  return
}

// -----

func.func @f(%a: tensor<48x64xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{block (the number of elements that share a scale) is 64; it must be 16 or 32}}
  triton_xla.dot_scaled %a scale %s, %b scale %t, %c block 64
      : (tensor<48x64xf8E4M3FN>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x64xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>) {
  // expected-error@+1 {{scales of at least one operand are required; use triton_xla.dot for operands without scales}}
  triton_xla.dot_scaled %a, %b, %c block 32
      : (tensor<48x64xf8E4M3FN>, tensor<64x32xf8E5M2>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x40xf8E4M3FN>, %b: tensor<40x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{K is 40; it must be a multiple or a divisor of 32, the number of elements of K that share a scale}}
  triton_xla.dot_scaled %a scale %s, %b scale %t, %c block 32
      : (tensor<48x40xf8E4M3FN>, tensor<48x2xf8E8M0FNU>, tensor<40x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x64xf16>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{lhs with scales must have elements of f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN or f4E2M1FN, but has 'f16'}}
  triton_xla.dot_scaled %a scale %s, %b scale %t, %c block 32
      : (tensor<48x64xf16>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x64xf8E4M3FN>, %b: tensor<64x32xf32>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>) {
  // expected-error@+1 {{rhs without scales must have elements of f16, bf16, f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN or f4E2M1FN, but has 'f32'}}
  triton_xla.dot_scaled %a scale %s, %b, %c block 32
      : (tensor<48x64xf8E4M3FN>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf32>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x64xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>) {
  // expected-error@+1 {{rhs has a scale layout or a global scale, but no scales; pass scales, or remove the layout and the global scale}}
  triton_xla.dot_scaled %a scale %s, %b layout<padded>, %c block 32
      : (tensor<48x64xf8E4M3FN>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x64xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E5M2>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{lhs scales must have elements of f8E8M0FNU or f8E4M3FN, but have 'f8E5M2'}}
  triton_xla.dot_scaled %a scale %s, %b scale %t, %c block 32
      : (tensor<48x64xf8E4M3FN>, tensor<48x2xf8E5M2>, tensor<64x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x64xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x4xf8E8M0FNU>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{lhs scales with layout linear must be 'tensor<48x2xf8E8M0FNU>', but are 'tensor<48x4xf8E8M0FNU>'}}
  triton_xla.dot_scaled %a scale %s, %b scale %t, %c block 32
      : (tensor<48x64xf8E4M3FN>, tensor<48x4xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x64xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<32x2xf8E8M0FNU>) {
  // expected-error@+1 {{rhs scales with layout linear must be 'tensor<2x32xf8E8M0FNU>', but are 'tensor<32x2xf8E8M0FNU>'}}
  triton_xla.dot_scaled %a scale %s, %b scale %t, %c block 32
      : (tensor<48x64xf8E4M3FN>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<32x2xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x64xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<2x31xf8E8M0FNU>) {
  // expected-error@+1 {{rhs scales with layout padded must be at least 'tensor<2x32xf8E8M0FNU>', but are 'tensor<2x31xf8E8M0FNU>'}}
  triton_xla.dot_scaled %a scale %s, %b scale %t layout<padded>, %c block 32
      : (tensor<48x64xf8E4M3FN>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<2x31xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x64xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{lhs scales with layout swizzled_128x4 must be 'tensor<512xf8E8M0FNU>', but are 'tensor<48x2xf8E8M0FNU>'}}
  triton_xla.dot_scaled %a scale %s layout<swizzled_128x4>, %b scale %t, %c block 32
      : (tensor<48x64xf8E4M3FN>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x64xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf16>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{elements of the accumulator must be f32, but are 'f16'}}
  triton_xla.dot_scaled %a scale %s, %b scale %t, %c block 32
      : (tensor<48x64xf8E4M3FN>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x32xf16>) -> tensor<48x32xf16>
  return
}

// -----

func.func @f(%a: tensor<48x64xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x31xf32>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{the matmul result is 48x32, but the accumulator is 48x31; both must be equal}}
  triton_xla.dot_scaled %a scale %s, %b scale %t, %c block 32
      : (tensor<48x64xf8E4M3FN>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x31xf32>) -> tensor<48x31xf32>
  return
}

// -----

func.func @f(%a: tensor<48x32xi8>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{lhs has a format but no packed dimension; both or neither are required}}
  triton_xla.dot_scaled %a as f4E2M1FN scale %s, %b scale %t, %c block 32
      : (tensor<48x32xi8>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x32xi8>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{lhs has the packed format 'f8E5M2'; it must be f4E2M1FN, f6E2M3FN or f6E3M2FN}}
  triton_xla.dot_scaled %a as f8E5M2 packed 1 scale %s, %b scale %t, %c block 32
      : (tensor<48x32xi8>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x32xi16>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{lhs has the packed format 'f4E2M1FN' and must be a tile of i8 with rank 2, but is 'tensor<48x32xi16>'}}
  triton_xla.dot_scaled %a as f4E2M1FN packed 1 scale %s, %b scale %t, %c block 32
      : (tensor<48x32xi16>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x32xi8>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{lhs has the packed dimension #2; it must be 0 or 1}}
  triton_xla.dot_scaled %a as f4E2M1FN packed 2 scale %s, %b scale %t, %c block 32
      : (tensor<48x32xi8>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<48x32xi8>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{lhs has 32 bytes in its packed dimension; the number must be a multiple of 3, because 3 bytes hold 4 elements of 'f6E2M3FN'}}
  triton_xla.dot_scaled %a as f6E2M3FN packed 1 scale %s, %b scale %t, %c block 32
      : (tensor<48x32xi8>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<2x48x64xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<48x32xf32>, %s: tensor<48x2xf8E8M0FNU>, %t: tensor<2x32xf8E8M0FNU>) {
  // expected-error@+1 {{lhs and rhs must have rank 2, but are 'tensor<2x48x64xf8E4M3FN>' and 'tensor<64x32xf8E5M2>'}}
  triton_xla.dot_scaled %a scale %s, %b scale %t, %c block 32
      : (tensor<2x48x64xf8E4M3FN>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<2x32xf8E8M0FNU>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %m: tensor<16x2xi16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{lhs has 32 columns, but rhs has 16 rows}}
  triton_xla.sparse_dot %a metadata %m, %b, %c
      : (tensor<16x16xf16>, tensor<16x2xi16>, tensor<16x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %m: tensor<16x2xi64>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{elements of the metadata must be i8, i16 or i32, but are 'i64'}}
  triton_xla.sparse_dot %a metadata %m, %b, %c
      : (tensor<16x16xf16>, tensor<16x2xi64>, tensor<32x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %m: tensor<16x4xi16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{metadata is 'tensor<16x4xi16>'; it must have 16 rows of 2 elements, one for every 16 elements of K = 32}}
  triton_xla.sparse_dot %a metadata %m, %b, %c
      : (tensor<16x16xf16>, tensor<16x4xi16>, tensor<32x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf32>, %m: tensor<16x2xi16>, %b: tensor<32x8xf32>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{metadata is 'tensor<16x2xi16>'; it must have 16 rows of 4 elements, one for every 8 elements of K = 32}}
  triton_xla.sparse_dot %a metadata %m, %b, %c
      : (tensor<16x16xf32>, tensor<16x2xi16>, tensor<32x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %m: tensor<16x2xi16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{requires lhs scales, rhs scales and a block, or none of the three}}
  triton_xla.sparse_dot %a metadata %m, %b, %c block 32
      : (tensor<16x16xf16>, tensor<16x2xi16>, tensor<32x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf64>, %m: tensor<16x2xi16>, %b: tensor<32x8xf64>, %c: tensor<16x8xf64>) {
  // expected-error@+1 {{does not support operands of f64; use elements of at most 32 bits}}
  triton_xla.sparse_dot %a metadata %m, %b, %c
      : (tensor<16x16xf64>, tensor<16x2xi16>, tensor<32x8xf64>, tensor<16x8xf64>) -> tensor<16x8xf64>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %m: tensor<16x2xi16>, %b: tensor<32x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{lhs elements are 'f16', but rhs elements are 'bf16'}}
  triton_xla.sparse_dot %a metadata %m, %b, %c
      : (tensor<16x16xf16>, tensor<16x2xi16>, tensor<32x8xbf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf8E5M2>, %m: tensor<16x2xi16>, %s: tensor<16x1xf8E8M0FNU>, %b: tensor<32x8xf8E5M2>, %t: tensor<1x8xf8E8M0FNU>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{block (the number of elements that share a scale) is 8; it must be 16, 32 or 64}}
  triton_xla.sparse_dot %a metadata %m scale %s, %b scale %t, %c block 8
      : (tensor<16x16xf8E5M2>, tensor<16x2xi16>, tensor<16x1xf8E8M0FNU>, tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %m: tensor<16x2xi16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>, %g: f32) {
  // expected-error@+1 {{has a scale layout or a global scale, but no scales; pass scales, or remove the layout and the global scale}}
  triton_xla.sparse_dot %a metadata %m global %g, %b, %c
      : (tensor<16x16xf16>, tensor<16x2xi16>, f32, tensor<32x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<48x64xf8E4M3FN>, %s: tensor<48x2xf8E8M0FNU>, %b: tensor<64x32xf16>, %c: tensor<48x32xf32>) {
  // expected-error@+1 {{the accumulator is 'tensor<48x32xf32>', but the result is 'tensor<48x32xf64>'}}
  triton_xla.dot_scaled %a scale %s, %b, %c block 32
      : (tensor<48x64xf8E4M3FN>, tensor<48x2xf8E8M0FNU>, tensor<64x32xf16>, tensor<48x32xf32>) -> tensor<48x32xf64>
  return
}

// -----

func.func @f(%a: tensor<2x4xf32>, %b: tensor<4x8xf32>, %c: tensor<2x8xf32>) {
  // expected-error@+1 {{expected one of [default, tf32, tf32x3, bf16, bf16x3, bf16x6, bf16x9, ieee] for algorithm of a matmul, got: foo}}
  triton_xla.dot %a, %b, %c algorithm foo : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
  return
}
