// RUN: smalti-opt %s '-smalti-compile=target=sm_80 num-warps=1 stop-after=thread' -split-input-file | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: smalti-opt %s '-smalti-compile=target=sm_90a num-warps=1 stop-after=thread' -split-input-file | FileCheck %s --check-prefixes=CHECK,SM90

// Each operand of i8 is signed or unsigned.

// CHECK-LABEL: gpu.func @unsigned
// CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<u8>, multiplicandBPtxType = #nvvm.mma_type<s8>, shape = #nvvm.shape<m = 16, n = 8, k = 32>
triton_xla.entry_func @unsigned(%a: memref<16x32xi8>, %b: memref<32x8xi8>, %c: memref<16x8xi32>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0> : tensor<16x8xi32>
  %l = triton_xla.extract %a[0, 0] [16, 32] [1, 1] : memref<16x32xi8> to tensor<16x32xi8>
  %r = triton_xla.extract %b[0, 0] [32, 8] [1, 1] : memref<32x8xi8> to tensor<32x8xi8>
  %d = triton_xla.dot %l, %r, %acc unsigned_lhs : tensor<16x32xi8>, tensor<32x8xi8> -> tensor<16x8xi32>
  triton_xla.insert %d into %c[0, 0] [16, 8] [1, 1] : tensor<16x8xi32> into memref<16x8xi32>
  triton_xla.return
}

// -----

// CHECK-LABEL: gpu.func @f64
// SM80-COUNT-4: llvm.call_intrinsic "llvm.nvvm.mma.m8n8k4.row.col.f64"(%{{.*}}) : (f64, f64, f64, f64) -> !llvm.struct<(f64, f64)>
// SM80-NOT: llvm.nvvm.mma
// SM90: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.f64"(%{{.*}}) : (f64, f64, f64, f64, f64, f64, f64, f64, f64, f64) -> !llvm.struct<(f64, f64, f64, f64)>
// SM90-NOT: llvm.nvvm.mma
triton_xla.entry_func @f64(%a: memref<16x8xf64>, %b: memref<8x8xf64>, %c: memref<16x8xf64>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<16x8xf64>
  %l = triton_xla.extract %a[0, 0] [16, 8] [1, 1] : memref<16x8xf64> to tensor<16x8xf64>
  %r = triton_xla.extract %b[0, 0] [8, 8] [1, 1] : memref<8x8xf64> to tensor<8x8xf64>
  %d = triton_xla.dot %l, %r, %acc : tensor<16x8xf64>, tensor<8x8xf64> -> tensor<16x8xf64>
  triton_xla.insert %d into %c[0, 0] [16, 8] [1, 1] : tensor<16x8xf64> into memref<16x8xf64>
  triton_xla.return
}

// -----

// CHECK-LABEL: gpu.func @f16_accumulator
// CHECK: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>{{.*}} -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>
triton_xla.entry_func @f16_accumulator(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %c: memref<16x8xf16>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<16x8xf16>
  %l = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf16> to tensor<16x16xf16>
  %r = triton_xla.extract %b[0, 0] [16, 8] [1, 1] : memref<16x8xf16> to tensor<16x8xf16>
  %d = triton_xla.dot %l, %r, %acc : tensor<16x16xf16>, tensor<16x8xf16> -> tensor<16x8xf16>
  triton_xla.insert %d into %c[0, 0] [16, 8] [1, 1] : tensor<16x8xf16> into memref<16x8xf16>
  triton_xla.return
}

// -----

// CHECK-LABEL: gpu.func @mixed
// SM80: nvvm.mma.sync {{.*}}bf16
// SM90: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e4m3.f32"
triton_xla.entry_func @mixed(%a: memref<16x32xf8E5M2>, %b: memref<32x8xf8E4M3FN>, %c: memref<16x8xf32>, %tile: index) tiles 1 {
  %acc = arith.constant dense<0.0> : tensor<16x8xf32>
  %l = triton_xla.extract %a[0, 0] [16, 32] [1, 1] : memref<16x32xf8E5M2> to tensor<16x32xf8E5M2>
  %r = triton_xla.extract %b[0, 0] [32, 8] [1, 1] : memref<32x8xf8E4M3FN> to tensor<32x8xf8E4M3FN>
  %d = triton_xla.dot %l, %r, %acc : tensor<16x32xf8E5M2>, tensor<32x8xf8E4M3FN> -> tensor<16x8xf32>
  triton_xla.insert %d into %c[0, 0] [16, 8] [1, 1] : tensor<16x8xf32> into memref<16x8xf32>
  triton_xla.return
}
