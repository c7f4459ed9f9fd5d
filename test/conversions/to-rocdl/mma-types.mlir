// RUN: smalti-opt %s '-smalti-compile=target=gfx942 num-warps=1 stop-after=thread' -split-input-file | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: smalti-opt %s '-smalti-compile=target=gfx1100 num-warps=1 stop-after=thread' -split-input-file | FileCheck %s --check-prefixes=CHECK,GFX1100
// RUN: smalti-opt %s '-smalti-compile=target=gfx1201 num-warps=1 stop-after=thread' -split-input-file | FileCheck %s --check-prefixes=CHECK,GFX1201

// CHECK-LABEL: gpu.func @unsigned
// GFX942: amdgpu.mfma 16x16x32
// GFX1100: amdgpu.wmma 16x16x16 {{.*}} {unsignedB} : vector<16xi8>, vector<16xi8>, vector<8xi32>
// The MMA computes the transposed tile, so B is its first operand.
// GFX1201: amdgpu.wmma 16x16x16 {{.*}} {unsignedA} : vector<8xi8>, vector<8xi8>, vector<8xi32>
triton_xla.entry_func @unsigned(%a: memref<16x32xi8>, %b: memref<32x16xi8>, %c: memref<16x16xi32>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0> : tensor<16x16xi32>
  %l = triton_xla.extract %a[0, 0] [16, 32] [1, 1] : memref<16x32xi8> to tensor<16x32xi8>
  %r = triton_xla.extract %b[0, 0] [32, 16] [1, 1] : memref<32x16xi8> to tensor<32x16xi8>
  %d = triton_xla.dot %l, %r, %acc unsigned_rhs : tensor<16x32xi8>, tensor<32x16xi8> -> tensor<16x16xi32>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xi32> into memref<16x16xi32>
  triton_xla.return
}

// -----

// CHECK-LABEL: gpu.func @f64
// GFX942-COUNT-2: amdgpu.mfma 16x16x4 {{.*}} : f64, f64, vector<4xf64>
triton_xla.entry_func @f64(%a: memref<16x8xf64>, %b: memref<8x16xf64>, %c: memref<16x16xf64>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<16x16xf64>
  %l = triton_xla.extract %a[0, 0] [16, 8] [1, 1] : memref<16x8xf64> to tensor<16x8xf64>
  %r = triton_xla.extract %b[0, 0] [8, 16] [1, 1] : memref<8x16xf64> to tensor<8x16xf64>
  %d = triton_xla.dot %l, %r, %acc : tensor<16x8xf64>, tensor<8x16xf64> -> tensor<16x16xf64>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf64> into memref<16x16xf64>
  triton_xla.return
}

// -----

// RDNA3 has f16 accumulators in the low halves of registers.

// CHECK-LABEL: gpu.func @f16_accumulator
// GFX942: amdgpu.mfma 16x16x16 {{.*}} : vector<4xf16>, vector<4xf16>, vector<4xf32>
// GFX1100: vector.shuffle {{.*}} [0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1, 6, -1, 7, -1]
// GFX1100: amdgpu.wmma 16x16x16 {{.*}} : vector<16xf16>, vector<16xf16>, vector<16xf16>
// GFX1100: vector.shuffle {{.*}} [0, 2, 4, 6, 8, 10, 12, 14]
// GFX1201: amdgpu.wmma 16x16x16 {{.*}} : vector<8xf16>, vector<8xf16>, vector<8xf16>
triton_xla.entry_func @f16_accumulator(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf16>, %tile: index) tiles 1 {
  %acc = triton_xla.extract %c[0, 0] [16, 16] [1, 1] : memref<16x16xf16> to tensor<16x16xf16>
  %l = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf16> to tensor<16x16xf16>
  %r = triton_xla.extract %b[0, 0] [16, 16] [1, 1] : memref<16x16xf16> to tensor<16x16xf16>
  %d = triton_xla.dot %l, %r, %acc : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf16>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf16> into memref<16x16xf16>
  triton_xla.return
}

// -----

// XF32 truncates, so the operands are rounded.

// CHECK-LABEL: gpu.func @tf32
// GFX942-COUNT-2: arith.cmpf uno
// GFX942: amdgpu.mfma 16x16x8 {{.*}}reducePrecision{{.*}} : vector<2xf32>, vector<2xf32>, vector<4xf32>
// GFX1201-COUNT-3: amdgpu.wmma 16x16x16 {{.*}} : vector<8xbf16>, vector<8xbf16>, vector<8xf32>
// GFX1201-NOT: amdgpu.wmma
triton_xla.entry_func @tf32(%a: memref<16x16xf32>, %b: memref<16x16xf32>, %c: memref<16x16xf32>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<16x16xf32>
  %l = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %r = triton_xla.extract %b[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %d = triton_xla.dot %l, %r, %acc tf32 : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  triton_xla.insert %d into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}
