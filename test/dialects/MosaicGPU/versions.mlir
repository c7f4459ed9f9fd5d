// Forms of other versions of the dialect: JAX 0.10's is version 1, JAX 0.11's version 2.
// RUN: smalti-opt --split-input-file %s | FileCheck %s
// RUN: smalti-opt --split-input-file --mlir-print-op-generic %s | FileCheck %s --check-prefix=GENERIC

// CHECK: module attributes {mosaic_gpu.version = 1 : i32}
module attributes {mosaic_gpu.version = 1 : i32} {
}

// -----

// CHECK: module attributes {mosaic_gpu.version = 2 : i32}
module attributes {mosaic_gpu.version = 2 : i32} {
}

// -----

// In version 2, the number of an alias is an i64, and async_load has an operand segment for a peer. Ops without features
// of version 2 are printed in the form of version 1.
// CHECK-LABEL: func.func @forms
// GENERIC-LABEL: "func.func"
func.func @forms(%m: memref<64x64xf16>, %s: memref<64x64xf16, #gpu.address_space<workgroup>>,
                 %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32,
                 %t: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // CHECK: mosaic_gpu.slice_smem 0 alias 7 : memref<8xi32, #gpu.address_space<workgroup>>
  // GENERIC: "mosaic_gpu.slice_smem"() <{alias_id = 7 : i32, offset = 0 : i32}>
  %0 = "mosaic_gpu.slice_smem"() <{alias_id = 7 : i32, offset = 0 : i32}> : () -> memref<8xi32, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.slice_smem 0 alias 8 : memref<8xi32, #gpu.address_space<workgroup>>
  // GENERIC: "mosaic_gpu.slice_smem"() <{alias_id = 8 : i32, offset = 0 : i32}>
  %1 = "mosaic_gpu.slice_smem"() <{alias_id = 8 : i64, offset = 0 : i32}> : () -> memref<8xi32, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.slice_tmem %{{.*}} 0 alias 9
  // GENERIC: "mosaic_gpu.slice_tmem"(%{{.*}}) <{alias_id = 9 : i32, offset = 0 : i32}>
  %2 = "mosaic_gpu.slice_tmem"(%t) <{alias_id = 9 : i64, offset = 0 : i32}>
      : (memref<128x64xf32, #mosaic_gpu.tmem>) -> memref<128x64xf32, #mosaic_gpu.tmem>
  // CHECK: mosaic_gpu.async_load %{{.*}} barrier(%{{.*}}) : memref
  // GENERIC: "mosaic_gpu.async_load"(%{{.*}}) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 64>}>
  "mosaic_gpu.async_load"(%m, %s, %b, %i, %i) <{collective = [], operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 64>}>
      : (memref<64x64xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
  // CHECK: mosaic_gpu.async_load %{{.*}} barrier(%{{.*}}) : memref
  // GENERIC: "mosaic_gpu.async_load"(%{{.*}}) <{{.*}}operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>
  "mosaic_gpu.async_load"(%m, %s, %b, %i, %i) <{collective = [], operandSegmentSizes = array<i32: 1, 1, 1, 2, 0, 0>, slice_lengths = array<i64: 64, 64>}>
      : (memref<64x64xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
  // CHECK: mosaic_gpu.async_load %{{.*}} barrier(%{{.*}}) peer(%{{.*}}) : memref
  // GENERIC: "mosaic_gpu.async_load"(%{{.*}}) <{{.*}}operandSegmentSizes = array<i32: 1, 1, 1, 2, 0, 1>
  "mosaic_gpu.async_load"(%m, %s, %b, %i, %i, %i) <{collective = [], operandSegmentSizes = array<i32: 1, 1, 1, 2, 0, 1>, slice_lengths = array<i64: 64, 64>}>
      : (memref<64x64xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32) -> ()
  return
}
