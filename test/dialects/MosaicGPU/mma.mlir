// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt --mlir-print-op-generic %s | smalti-opt | FileCheck %s

// CHECK-LABEL: func.func @matmuls
func.func @matmuls(%c: vector<64x128xf32>, %a: vector<64x16xf16>, %b: vector<16x128xf16>,
                    %a32: vector<64x8xf32>, %b32: vector<8x128xf32>,
                    %e4: vector<64x32xf8E4M3FN>, %e5: vector<32x128xf8E5M2>,
                    %z5: vector<64x32xf8E5M2FNUZ>, %z4: vector<32x128xf8E4M3FNUZ>,
                    %ci: vector<64x128xi32>, %ai: vector<64x32xi8>, %bi: vector<32x128xi8>,
                    %ai4: vector<64x64xi4>, %bi4: vector<64x128xi4>,
                    %ch: vector<64x128xf16>, %cd: vector<64x128xf64>, %ad: vector<64x4xf64>, %bd: vector<4x128xf64>) {
  // CHECK: mosaic_gpu.mma accumulator(%{{.*}} : vector<64x128xf32>) a(%{{.*}} : vector<64x16xf16>) b(%{{.*}} : vector<16x128xf16>) -> vector<64x128xf32>
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x128xf32>) a(%a : vector<64x16xf16>) b(%b : vector<16x128xf16>)
      -> vector<64x128xf32>
  // CHECK: mosaic_gpu.mma accumulator(%{{.*}}) a(%{{.*}} : vector<64x8xf32>) b(%{{.*}} : vector<8x128xf32>) {allow_tf32} -> vector<64x128xf32>
  %1 = mosaic_gpu.mma accumulator(%0 : vector<64x128xf32>) a(%a32 : vector<64x8xf32>) b(%b32 : vector<8x128xf32>)
      {allow_tf32} -> vector<64x128xf32>
  // CHECK: a(%{{.*}} : vector<64x32xf8E4M3FN>) b(%{{.*}} : vector<32x128xf8E5M2>)
  %2 = mosaic_gpu.mma accumulator(%1 : vector<64x128xf32>) a(%e4 : vector<64x32xf8E4M3FN>)
      b(%e5 : vector<32x128xf8E5M2>) -> vector<64x128xf32>
  // CHECK: a(%{{.*}} : vector<64x32xf8E5M2FNUZ>) b(%{{.*}} : vector<32x128xf8E4M3FNUZ>)
  %3 = mosaic_gpu.mma accumulator(%2 : vector<64x128xf32>) a(%z5 : vector<64x32xf8E5M2FNUZ>)
      b(%z4 : vector<32x128xf8E4M3FNUZ>) -> vector<64x128xf32>
  // CHECK: mosaic_gpu.mma accumulator(%{{.*}} : vector<64x128xi32>) a(%{{.*}} : vector<64x32xi8>)
  %4 = mosaic_gpu.mma accumulator(%ci : vector<64x128xi32>) a(%ai : vector<64x32xi8>) b(%bi : vector<32x128xi8>)
      -> vector<64x128xi32>
  // CHECK: a(%{{.*}} : vector<64x64xi4>) b(%{{.*}} : vector<64x128xi4>)
  %5 = mosaic_gpu.mma accumulator(%4 : vector<64x128xi32>) a(%ai4 : vector<64x64xi4>) b(%bi4 : vector<64x128xi4>)
      -> vector<64x128xi32>
  // CHECK: a(%{{.*}} : vector<64x32xi8>) b(%{{.*}} : vector<32x128xi8>) {unsigned_a, unsigned_b} -> vector<64x128xi32>
  %6 = mosaic_gpu.mma accumulator(%5 : vector<64x128xi32>) a(%ai : vector<64x32xi8>) b(%bi : vector<32x128xi8>)
      {unsigned_a, unsigned_b} -> vector<64x128xi32>
  // CHECK: mosaic_gpu.mma accumulator(%{{.*}} : vector<64x128xf16>) a(%{{.*}} : vector<64x16xf16>)
  %7 = mosaic_gpu.mma accumulator(%ch : vector<64x128xf16>) a(%a : vector<64x16xf16>) b(%b : vector<16x128xf16>)
      -> vector<64x128xf16>
  // CHECK: mosaic_gpu.mma accumulator(%{{.*}} : vector<64x128xf64>) a(%{{.*}} : vector<64x4xf64>)
  %8 = mosaic_gpu.mma accumulator(%cd : vector<64x128xf64>) a(%ad : vector<64x4xf64>) b(%bd : vector<4x128xf64>)
      -> vector<64x128xf64>
  return
}

// CHECK-LABEL: func.func @asynchronous_matmuls
func.func @asynchronous_matmuls(%c: vector<64x128xf32>, %ch: vector<64x128xf16>, %ci: vector<64x128xi32>, %r: vector<64x64xf16>,
                                 %a: memref<64x64xf16, #gpu.address_space<workgroup>>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>, %e4: memref<64x64xf8E4M3FN, #gpu.address_space<workgroup>>,
                                 %e5: memref<64x128xf8E5M2, #gpu.address_space<workgroup>>, %ai: memref<64x64xi8, #gpu.address_space<workgroup>>, %bi: memref<64x128xi8, #gpu.address_space<workgroup>>) {
  // CHECK: mosaic_gpu.wgmma accumulator(%{{.*}} : vector<64x128xf32>) a(%{{.*}} : memref<64x64xf16, #gpu.address_space<workgroup>>) b(%{{.*}} : memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
  %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf32>) a(%a : memref<64x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>)
      -> vector<64x128xf32>
  // CHECK: mosaic_gpu.wgmma accumulator(%{{.*}} : vector<64x128xf16>) a(%{{.*}} : vector<64x64xf16>) b(%{{.*}} : memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf16>
  %1 = mosaic_gpu.wgmma accumulator(%ch : vector<64x128xf16>) a(%r : vector<64x64xf16>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf16>
  // CHECK: a(%{{.*}} : memref<64x64xf8E4M3FN, #gpu.address_space<workgroup>>) b(%{{.*}} : memref<64x128xf8E5M2, #gpu.address_space<workgroup>>)
  %2 = mosaic_gpu.wgmma accumulator(%ch : vector<64x128xf16>) a(%e4 : memref<64x64xf8E4M3FN, #gpu.address_space<workgroup>>)
      b(%e5 : memref<64x128xf8E5M2, #gpu.address_space<workgroup>>) -> vector<64x128xf16>
  // CHECK: a(%{{.*}} : memref<64x64xi8, #gpu.address_space<workgroup>>) b(%{{.*}} : memref<64x128xi8, #gpu.address_space<workgroup>>) -> vector<64x128xi32>
  %3 = mosaic_gpu.wgmma accumulator(%ci : vector<64x128xi32>) a(%ai : memref<64x64xi8, #gpu.address_space<workgroup>>)
      b(%bi : memref<64x128xi8, #gpu.address_space<workgroup>>) -> vector<64x128xi32>
  // CHECK: {unsigned_b} -> vector<64x128xi32>
  %4 = mosaic_gpu.wgmma accumulator(%ci : vector<64x128xi32>) a(%ai : memref<64x64xi8, #gpu.address_space<workgroup>>)
      b(%bi : memref<64x128xi8, #gpu.address_space<workgroup>>) {unsigned_b} -> vector<64x128xi32>
  return
}

// CHECK-LABEL: func.func @tensor_core_matmuls
func.func @tensor_core_matmuls(%c: memref<128x128xf32, #mosaic_gpu.tmem>, %a: memref<128x64xf16, #gpu.address_space<workgroup>>, %at: memref<128x64xf16, #mosaic_gpu.tmem>, %b: memref<64x128xf16, #gpu.address_space<workgroup>>,
                                %b2: memref<128x64xf16, #gpu.address_space<workgroup>>, %m: memref<128x64xi2, #mosaic_gpu.tmem>, %s: memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>,
                                %a6: memref<128x64x!mosaic_gpu.p2b6<f6E3M2FN>, #gpu.address_space<workgroup>>,
                                %b6: memref<64x128x!mosaic_gpu.p2b6<f6E3M2FN>, #gpu.address_space<workgroup>>, %p: i1) {
  // CHECK: mosaic_gpu.tcgen05_mma accumulator(%[[C:.*]] : memref<128x128xf32, #mosaic_gpu.tmem>) a(%[[A:.*]] : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%[[B:.*]] : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%[[P:.*]]){{$}}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>) a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%p)
  // CHECK: a(%{{.*}} : memref<128x64xf16, #mosaic_gpu.tmem>) b(%[[B]] : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%[[P]])
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>) a(%at : memref<128x64xf16, #mosaic_gpu.tmem>) b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>)
      accumulate(%p)
  // CHECK: accumulate(%[[P]]) a_scale(%[[S:.*]] : memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>) b_scale(%[[S]] : memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>)
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
      a(%a6 : memref<128x64x!mosaic_gpu.p2b6<f6E3M2FN>, #gpu.address_space<workgroup>>)
      b(%b6 : memref<64x128x!mosaic_gpu.p2b6<f6E3M2FN>, #gpu.address_space<workgroup>>) accumulate(%p)
      a_scale(%s : memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>) b_scale(%s : memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>)
  // CHECK: accumulate(%[[P]]) a_sparse_metadata(%{{.*}} : memref<128x64xi2, #mosaic_gpu.tmem>) {collective = true}
  mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>) a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>) b(%b2 : memref<128x64xf16, #gpu.address_space<workgroup>>)
      accumulate(%p) a_sparse_metadata(%m : memref<128x64xi2, #mosaic_gpu.tmem>) {collective = true}
  return
}

// A matmul is checked against the target of the module, if the target is in the table.
// CHECK-LABEL: module @hopper
module @hopper attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @matmul(%c: vector<64x128xf32>, %a: vector<64x32xf8E4M3FN>, %b: vector<32x128xf8E4M3FN>) {
    %0 = mosaic_gpu.mma accumulator(%c : vector<64x128xf32>) a(%a : vector<64x32xf8E4M3FN>)
        b(%b : vector<32x128xf8E4M3FN>) -> vector<64x128xf32>
    return
  }
}

// CHECK-LABEL: module @unknown
module @unknown attributes {mosaic_gpu.arch_major = 77 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @matmul(%c: vector<64x128xf32>, %a: vector<64x32xf8E4M3FN>, %b: vector<32x128xf8E4M3FN>) {
    %0 = mosaic_gpu.mma accumulator(%c : vector<64x128xf32>) a(%a : vector<64x32xf8E4M3FN>)
        b(%b : vector<32x128xf8E4M3FN>) -> vector<64x128xf32>
    return
  }
}
