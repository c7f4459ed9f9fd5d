// RUN: smalti-opt --split-input-file --verify-diagnostics %s

func.func @mma_rank(%c: vector<64x8xf32>, %a: vector<1x64x16xf16>, %b: vector<16x8xf16>) {
  // expected-error @+1 {{operand a must be a matrix (rank 2), but found 'vector<1x64x16xf16>'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<1x64x16xf16>) b(%b : vector<16x8xf16>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_rows(%c: vector<64x8xf32>, %a: vector<32x16xf16>, %b: vector<16x8xf16>) {
  // expected-error @+1 {{operand a has 32 rows, but the accumulator has 64; both must have the same number of rows}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<32x16xf16>) b(%b : vector<16x8xf16>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_columns(%c: vector<64x8xf32>, %a: vector<64x16xf16>, %b: vector<16x16xf16>) {
  // expected-error @+1 {{operand b has 16 columns, but the accumulator has 8; both must have the same number of columns}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xf16>) b(%b : vector<16x16xf16>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_depth(%c: vector<64x8xf32>, %a: vector<64x16xf16>, %b: vector<32x8xf16>) {
  // expected-error @+1 {{operand a has 16 columns, but operand b has 32 rows; a must have as many columns as b has rows}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xf16>) b(%b : vector<32x8xf16>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_mixed(%c: vector<64x8xf32>, %a: vector<64x16xf16>, %b: vector<16x8xbf16>) {
  // expected-error @+1 {{cannot multiply elements of 'f16' and 'bf16'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xf16>) b(%b : vector<16x8xbf16>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_fp8_families(%c: vector<64x8xf32>, %a: vector<64x16xf8E4M3FN>, %b: vector<16x8xf8E4M3FNUZ>) {
  // expected-error @+1 {{cannot multiply elements of 'f8E4M3FN' and 'f8E4M3FNUZ'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xf8E4M3FN>)
      b(%b : vector<16x8xf8E4M3FNUZ>) -> vector<64x8xf32>
  return
}

// -----

func.func @mma_unsupported(%c: vector<64x8xf32>, %a: vector<64x16xi16>, %b: vector<16x8xi16>) {
  // expected-error @+1 {{cannot multiply elements of 'i16' and 'i16'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xi16>) b(%b : vector<16x8xi16>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_accumulator(%c: vector<64x8xf16>, %a: vector<64x16xbf16>, %b: vector<16x8xbf16>) {
  // expected-error @+1 {{a matmul of 'bf16' must accumulate in f32, but found 'f16'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf16>) a(%a : vector<64x16xbf16>) b(%b : vector<16x8xbf16>)
      -> vector<64x8xf16>
  return
}

// -----

func.func @mma_f16_accumulator(%c: vector<64x8xf64>, %a: vector<64x16xf16>, %b: vector<16x8xf16>) {
  // expected-error @+1 {{a matmul of 'f16' must accumulate in f32 or f16, but found 'f64'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf64>) a(%a : vector<64x16xf16>) b(%b : vector<16x8xf16>)
      -> vector<64x8xf64>
  return
}

// -----

func.func @mma_unsigned(%c: vector<64x8xf32>, %a: vector<64x16xf16>, %b: vector<16x8xf16>) {
  // expected-error @+1 {{unsigned_a and unsigned_b require i8 operands, but found 'f16'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xf16>) b(%b : vector<16x8xf16>)
      {unsigned_b} -> vector<64x8xf32>
  return
}

// -----

func.func @mma_unsigned_i4(%c: vector<64x8xi32>, %a: vector<64x64xi4>, %b: vector<64x8xi4>) {
  // expected-error @+1 {{unsigned_a and unsigned_b require i8 operands, but found 'i4'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xi32>) a(%a : vector<64x64xi4>) b(%b : vector<64x8xi4>)
      {unsigned_a} -> vector<64x8xi32>
  return
}

// -----

func.func @wgmma_unsigned(%c: vector<64x128xf32>, %a: memref<64x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{unsigned_a and unsigned_b require i8 operands, but found 'f16'}}
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf32>) a(%a : memref<64x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>)
      {unsigned_a} -> vector<64x128xf32>
  return
}

// -----

func.func @mma_integer_accumulator(%c: vector<64x8xf32>, %a: vector<64x16xi8>, %b: vector<16x8xi8>) {
  // expected-error @+1 {{a matmul of 'i8' must accumulate in i32, but found 'f32'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xi8>) b(%b : vector<16x8xi8>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_tf32(%c: vector<64x8xf32>, %a: vector<64x16xf16>, %b: vector<16x8xf16>) {
  // expected-error @+1 {{allow_tf32 requires f32 operands, but found 'f16'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xf16>) b(%b : vector<16x8xf16>)
      {allow_tf32} -> vector<64x8xf32>
  return
}

// -----

func.func @mma_result(%c: vector<64x8xf32>, %a: vector<64x16xf16>, %b: vector<16x8xf16>) {
  // expected-error @+1 {{failed to verify that all of {accumulator, result} have same type}}
  %0 = "mosaic_gpu.mma"(%c, %a, %b) : (vector<64x8xf32>, vector<64x16xf16>, vector<16x8xf16>) -> vector<64x8xf16>
  return
}

// -----

func.func @wgmma_static(%c: vector<64x128xf32>, %a: memref<?x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{a and b must have static shapes, but found 'memref<?x64xf16, #gpu.address_space<workgroup>>' and 'memref<64x128xf16, #gpu.address_space<workgroup>>'}}
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf32>) a(%a : memref<?x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
  return
}

// -----

func.func @wgmma_a_space(%c: vector<64x128xf32>, %a: memref<64x64xf16>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{a must be in the address space workgroup, but found 'memref<64x64xf16>'}}
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf32>) a(%a : memref<64x64xf16>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
  return
}

// -----

func.func @wgmma_b_space(%c: vector<64x128xf32>, %a: memref<64x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16>) {
  // expected-error @+1 {{b must be in the address space workgroup, but found 'memref<64x128xf16>'}}
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf32>) a(%a : memref<64x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16>) -> vector<64x128xf32>
  return
}

// -----

func.func @wgmma_mix(%c: vector<64x128xf32>, %a: memref<64x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xbf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{cannot multiply elements of 'f16' and 'bf16'}}
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf32>) a(%a : memref<64x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xbf16, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
  return
}

// -----

func.func @wgmma_rows(%c: vector<64x128xf32>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{operand a has 128 rows, but the accumulator has 64; both must have the same number of rows}}
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf32>) a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
  return
}

// -----

func.func @wgmma_columns(%c: vector<64x64xf32>, %a: memref<64x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{operand b has 128 columns, but the accumulator has 64; both must have the same number of columns}}
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x64xf32>) a(%a : memref<64x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
  return
}

// -----

func.func @wgmma_depth(%c: vector<64x128xf32>, %a: memref<64x32xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{operand a has 32 columns, but operand b has 64 rows; a must have as many columns as b has rows}}
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf32>) a(%a : memref<64x32xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
  return
}

// -----

func.func @wgmma_m(%c: vector<32x128xf32>, %a: vector<32x64xf16>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{the number of rows of the accumulator must be a multiple of 64, but is 32}}
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<32x128xf32>) a(%a : vector<32x64xf16>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<32x128xf32>
  return
}

// -----

func.func @wgmma_sum(%c: vector<64x128xf16>, %a: memref<64x64xbf16, #gpu.address_space<workgroup>>, %b: memref<64x128xbf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{a matmul of 'bf16' must accumulate in f32, but found 'f16'}}
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf16>) a(%a : memref<64x64xbf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xbf16, #gpu.address_space<workgroup>>) -> vector<64x128xf16>
  return
}

// -----

func.func @wgmma_integer_sum(%c: vector<64x128xf32>, %a: memref<64x64xi8, #gpu.address_space<workgroup>>, %b: memref<64x128xi8, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{a matmul of 'i8' must accumulate in i32, but found 'f32'}}
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf32>) a(%a : memref<64x64xi8, #gpu.address_space<workgroup>>) b(%b : memref<64x128xi8, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
  return
}

// -----

func.func @wgmma_float_sum(%c: vector<64x128xi32>, %a: memref<64x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{a matmul of 'f16' must accumulate in f32 or f16, but found 'i32'}}
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x128xi32>) a(%a : memref<64x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xi32>
  return
}

// -----

func.func @wgmma_element(%c: vector<64x128xf32>, %a: memref<64x64xf64, #gpu.address_space<workgroup>>, %b: memref<64x128xf64, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{operand #1 must be}}
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf32>) a(%a : memref<64x64xf64, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf64, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
  return
}

// -----

func.func @tcgen05_static(%c: memref<?x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>, %p: i1) {
  // expected-error @+1 {{the accumulator, a and b must have static shapes, but found 'memref<?x128xf32, #mosaic_gpu.tmem>', 'memref<128x64xf16, #gpu.address_space<workgroup>>' and 'memref<64x128xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<?x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%p)
  return
}

// -----

func.func @tcgen05_accumulator(%c: memref<128x128xf32>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>, %p: i1) {
  // expected-error @+1 {{the accumulator must be in tensor memory (#mosaic_gpu.tmem), but found 'memref<128x128xf32>'}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32>)
      a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%p)
  return
}

// -----

func.func @tcgen05_a(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xf16>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>, %p: i1) {
  // expected-error @+1 {{a must be in tensor memory (#mosaic_gpu.tmem) or in the address space workgroup, but found 'memref<128x64xf16>'}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xf16>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%p)
  return
}

// -----

func.func @tcgen05_b(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #mosaic_gpu.tmem>, %p: i1) {
  // expected-error @+1 {{b must be in the address space workgroup, but found 'memref<64x128xf16, #mosaic_gpu.tmem>'}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #mosaic_gpu.tmem>) accumulate(%p)
  return
}

// -----

func.func @tcgen05_mix(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xf8E4M3FN, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>, %p: i1) {
  // expected-error @+1 {{cannot multiply elements of 'f8E4M3FN' and 'f16'}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xf8E4M3FN, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%p)
  return
}

// -----

func.func @tcgen05_rows(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<64x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>, %p: i1) {
  // expected-error @+1 {{operand a has 64 rows, but the accumulator has 128; both must have the same number of rows}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<64x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%p)
  return
}

// -----

func.func @tcgen05_depth(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<32x128xf16, #gpu.address_space<workgroup>>, %p: i1) {
  // expected-error @+1 {{operand a has 64 columns, but operand b has 32 rows; a must have as many columns as b has rows}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<32x128xf16, #gpu.address_space<workgroup>>) accumulate(%p)
  return
}

// -----

func.func @tcgen05_columns(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x64xf16, #gpu.address_space<workgroup>>, %p: i1) {
  // expected-error @+1 {{operand b has 64 columns, but the accumulator has 128; both must have the same number of columns}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x64xf16, #gpu.address_space<workgroup>>) accumulate(%p)
  return
}

// -----

func.func @tcgen05_collective(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>, %p: i1) {
  // expected-error @+1 {{operand b has 128 columns, but the accumulator has 128; in a collective matmul, b must have half as many columns as the accumulator}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%p) {collective = true}
  return
}

// -----

func.func @tcgen05_m(%c: memref<48x128xf32, #mosaic_gpu.tmem>, %a: memref<48x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>, %p: i1) {
  // expected-error @+1 {{the number of rows of the accumulator must be a multiple of 32, but is 48}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<48x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<48x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%p)
  return
}

// -----

func.func @tcgen05_sum(%c: memref<128x128xi32, #mosaic_gpu.tmem>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>, %p: i1) {
  // expected-error @+1 {{a matmul of 'f16' must accumulate in f32 or f16, but found 'i32'}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xi32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%p)
  return
}

// -----

func.func @tcgen05_integer_sum(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xi8, #gpu.address_space<workgroup>>, %b: memref<64x128xi8, #gpu.address_space<workgroup>>, %p: i1) {
  // expected-error @+1 {{a matmul of 'i8' must accumulate in i32, but found 'f32'}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xi8, #gpu.address_space<workgroup>>) b(%b : memref<64x128xi8, #gpu.address_space<workgroup>>) accumulate(%p)
  return
}

// -----

func.func @tcgen05_one_scale(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>, %p: i1, %s: memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{has a scale for only one operand; pass both a_scale and b_scale, or neither}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%p) a_scale(%s : memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>)
  return
}

// -----

func.func @tcgen05_scale_space(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>, %p: i1, %s: memref<128x4xf8E8M0FNU, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{a_scale must be in tensor memory (#mosaic_gpu.tmem), but found 'memref<128x4xf8E8M0FNU, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%p) a_scale(%s : memref<128x4xf8E8M0FNU, #gpu.address_space<workgroup>>) b_scale(%s : memref<128x4xf8E8M0FNU, #gpu.address_space<workgroup>>)
  return
}

// -----

func.func @tcgen05_sparse_depth(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>, %p: i1, %m: memref<128x64xi2, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{operand a has 64 columns, but operand b has 64 rows; with sparse metadata, a must have half as many columns as b has rows}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%p) a_sparse_metadata(%m : memref<128x64xi2, #mosaic_gpu.tmem>)
  return
}

// -----

func.func @tcgen05_sparse_space(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<128x128xf16, #gpu.address_space<workgroup>>, %p: i1, %m: memref<128x64xi2, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{a_sparse_metadata must be in tensor memory (#mosaic_gpu.tmem), but found 'memref<128x64xi2, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<128x128xf16, #gpu.address_space<workgroup>>) accumulate(%p) a_sparse_metadata(%m : memref<128x64xi2, #gpu.address_space<workgroup>>)
  return
}

// -----

func.func @tcgen05_sparse_shape(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<128x128xf16, #gpu.address_space<workgroup>>, %p: i1, %m: memref<128x32xi2, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{a_sparse_metadata and operand a must have the same shape, but found 'memref<128x32xi2, #mosaic_gpu.tmem>' and 'memref<128x64xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<128x128xf16, #gpu.address_space<workgroup>>) accumulate(%p) a_sparse_metadata(%m : memref<128x32xi2, #mosaic_gpu.tmem>)
  return
}

// -----

module attributes {mosaic_gpu.arch_major = 8 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @mma_for_target(%c: vector<64x128xf32>, %a: vector<64x32xf8E4M3FN>, %b: vector<32x128xf8E4M3FN>) {
    // expected-error @+1 {{sm_80 does not have a matrix instruction that multiplies 'f8E4M3FN' and 'f8E4M3FN' and accumulates in 'f32'}}
    %0 = mosaic_gpu.mma accumulator(%c : vector<64x128xf32>) a(%a : vector<64x32xf8E4M3FN>)
        b(%b : vector<32x128xf8E4M3FN>) -> vector<64x128xf32>
    return
  }
}
