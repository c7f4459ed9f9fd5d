// RUN: smalti-opt %s '-convert-triton-xla-to-mosaic-gpu=target=sm_80 num-warps=1' --remarks-filter=convert-triton-xla-to-mosaic-gpu -split-input-file 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: smalti-opt %s '-convert-triton-xla-to-mosaic-gpu=target=sm_90a num-warps=1' --remarks-filter=convert-triton-xla-to-mosaic-gpu -split-input-file 2>&1 | FileCheck %s --check-prefix=SM90
// RUN: smalti-opt %s '-convert-triton-xla-to-mosaic-gpu=target=gfx942 num-warps=1' --remarks-filter=convert-triton-xla-to-mosaic-gpu -split-input-file 2>&1 | FileCheck %s --check-prefix=GFX942
// RUN: smalti-opt %s '-convert-triton-xla-to-mosaic-gpu=target=gfx1100 num-warps=1' --remarks-filter=convert-triton-xla-to-mosaic-gpu -split-input-file 2>&1 | FileCheck %s --check-prefix=GFX1100

// The instructions of the element types of dots.

// SM80: Remark="dot lowered to mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64: 16x16x16 on 1x1 warps"
// SM90: Remark="dot lowered to mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64: 16x16x16 on 1x1 warps"
// GFX942: Remark="dot lowered to v_mfma_f64_16x16x4_f64: 16x16x16 on 1x1 warps"
// GFX1100: Remark="dot lowered to scalar multiply-adds: 16x16x16 on 1x1 warps"
triton_xla.entry_func @f64(%a: memref<16x16xf64>, %b: memref<16x16xf64>, %c: memref<16x16xf64>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<16x16xf64>
  %l = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf64> to tensor<16x16xf64>
  %r = triton_xla.extract %b[0, 0] [16, 16] [1, 1] : memref<16x16xf64> to tensor<16x16xf64>
  %d = triton_xla.dot %l, %r, %acc : tensor<16x16xf64>, tensor<16x16xf64> -> tensor<16x16xf64>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf64> into memref<16x16xf64>
  triton_xla.return
}

// -----

// SM80: Remark="dot lowered to mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16: 16x16x16 on 1x1 warps"
// SM90: Remark="dot lowered to mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16: 16x16x16 on 1x1 warps"
// GFX942: Remark="dot lowered to v_mfma_f32_16x16x16_f16: 16x16x16 on 1x1 warps"
// GFX1100: Remark="dot lowered to v_wmma_f16_16x16x16_f16: 16x16x16 on 1x1 warps"
triton_xla.entry_func @f16_accumulator(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf16>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<16x16xf16>
  %l = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf16> to tensor<16x16xf16>
  %r = triton_xla.extract %b[0, 0] [16, 16] [1, 1] : memref<16x16xf16> to tensor<16x16xf16>
  %d = triton_xla.dot %l, %r, %acc : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf16>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf16> into memref<16x16xf16>
  triton_xla.return
}

// -----

// MFMAs multiply only signed i8.

// SM80-NOT: unsigned operands
// SM80: Remark="dot lowered to mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32: 16x16x32 on 1x1 warps"
// SM90-NOT: unsigned operands
// SM90: Remark="dot lowered to mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32: 16x16x32 on 1x1 warps"
// GFX942: Remark="128 subtracted from unsigned operands, and the result corrected with sums along K: MMAs of gfx942 multiply only signed i8"
// GFX942: Remark="dot lowered to v_mfma_i32_16x16x32_i8: 16x16x32 on 1x1 warps; A in registers; B in registers"
// GFX942-NOT: dot lowered
// GFX1100: Remark="dot lowered to v_wmma_i32_16x16x16_iu8: 16x16x32 on 1x1 warps"
triton_xla.entry_func @unsigned(%a: memref<16x32xi8>, %b: memref<32x16xi8>, %c: memref<16x16xi32>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0> : tensor<16x16xi32>
  %l = triton_xla.extract %a[0, 0] [16, 32] [1, 1] : memref<16x32xi8> to tensor<16x32xi8>
  %r = triton_xla.extract %b[0, 0] [32, 16] [1, 1] : memref<32x16xi8> to tensor<32x16xi8>
  %d = triton_xla.dot %l, %r, %acc unsigned_lhs unsigned_rhs : tensor<16x32xi8>, tensor<32x16xi8> -> tensor<16x16xi32>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xi32> into memref<16x16xi32>
  triton_xla.return
}

// -----

// GFX942: Remark="dot lowered to v_mfma_f32_16x16x32_fp8_bf8: 16x16x32 on 1x1 warps"
triton_xla.entry_func @mixed(%a: memref<16x32xf8E4M3FNUZ>, %b: memref<32x16xf8E5M2FNUZ>, %c: memref<16x16xf32>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<16x16xf32>
  %l = triton_xla.extract %a[0, 0] [16, 32] [1, 1] : memref<16x32xf8E4M3FNUZ> to tensor<16x32xf8E4M3FNUZ>
  %r = triton_xla.extract %b[0, 0] [32, 16] [1, 1] : memref<32x16xf8E5M2FNUZ> to tensor<32x16xf8E5M2FNUZ>
  %d = triton_xla.dot %l, %r, %acc : tensor<16x32xf8E4M3FNUZ>, tensor<32x16xf8E5M2FNUZ> -> tensor<16x16xf32>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}

// -----

// GFX942: Remark="dot lowered to v_mfma_f32_16x16x8_xf32: 16x16x16 on 1x1 warps"
triton_xla.entry_func @tf32(%a: memref<16x16xf32>, %b: memref<16x16xf32>, %c: memref<16x16xf32>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<16x16xf32>
  %l = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %r = triton_xla.extract %b[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %d = triton_xla.dot %l, %r, %acc tf32 : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}
