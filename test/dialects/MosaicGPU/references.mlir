// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt --mlir-print-op-generic %s | smalti-opt | FileCheck %s

// CHECK-LABEL: func.func @shared_memory
func.func @shared_memory() {
  // CHECK: mosaic_gpu.slice_smem 0 : memref<128x64xf16, #gpu.address_space<workgroup>>
  %a = mosaic_gpu.slice_smem 0 : memref<128x64xf16, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.slice_smem 16384 alias 3 : memref<64xf32, #gpu.address_space<workgroup>>
  %b = mosaic_gpu.slice_smem 16384 alias 3 : memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.slice_smem 8 : memref<4x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  %c = mosaic_gpu.slice_smem 8 : memref<4x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.slice_smem 3 : memref<16xi8, #gpu.address_space<workgroup>>
  %d = mosaic_gpu.slice_smem 3 : memref<16xi8, #gpu.address_space<workgroup>>
  return
}

// CHECK-LABEL: func.func @six_bit_elements
func.func @six_bit_elements() {
  // CHECK: mosaic_gpu.slice_smem 16 : memref<64x!mosaic_gpu.b6x16_p32<f6E2M3FN>, #gpu.address_space<workgroup>>
  %a = mosaic_gpu.slice_smem 16 : memref<64x!mosaic_gpu.b6x16_p32<f6E2M3FN>, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.slice_smem 1 : memref<64x!mosaic_gpu.p2b6<i6>, #gpu.address_space<workgroup>>
  %b = mosaic_gpu.slice_smem 1 : memref<64x!mosaic_gpu.p2b6<i6>, #gpu.address_space<workgroup>>
  return
}

// CHECK-LABEL: func.func @views
// CHECK-SAME: (%[[M:.*]]: memref<128x64xf16, #gpu.address_space<workgroup>>, %[[I:.*]]: i32, %[[N:.*]]: index)
func.func @views(%m: memref<128x64xf16, #gpu.address_space<workgroup>>, %i: i32, %n: index) {
  // CHECK: mosaic_gpu.reinterpret_cast %[[M]] : memref<128x64xf16, #gpu.address_space<workgroup>> to memref<8192xf16, #gpu.address_space<workgroup>>
  %0 = mosaic_gpu.reinterpret_cast %m : memref<128x64xf16, #gpu.address_space<workgroup>> to memref<8192xf16, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.with_transforms %[[M]] [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<128x64xf16, #gpu.address_space<workgroup>>
  %1 = mosaic_gpu.with_transforms %m [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<128x64xf16, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.with_transforms %[[M]] [] : memref<128x64xf16, #gpu.address_space<workgroup>>
  %2 = mosaic_gpu.with_transforms %m [] : memref<128x64xf16, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.get_cluster_ref %[[M]] x(%[[I]]) : memref<128x64xf16, #gpu.address_space<workgroup>> -> memref<128x64xf16, #mosaic_gpu.smem_cluster>
  %3 = mosaic_gpu.get_cluster_ref %m x(%i) : memref<128x64xf16, #gpu.address_space<workgroup>> -> memref<128x64xf16, #mosaic_gpu.smem_cluster>
  // CHECK: mosaic_gpu.get_cluster_ref %[[M]] z(%[[I]]) : memref<128x64xf16, #gpu.address_space<workgroup>>
  %4 = mosaic_gpu.get_cluster_ref %m z(%i) : memref<128x64xf16, #gpu.address_space<workgroup>> -> memref<128x64xf16, #mosaic_gpu.smem_cluster>
  // CHECK: mosaic_gpu.assume_multiple %[[I]], 64 : i32
  %5 = mosaic_gpu.assume_multiple %i, 64 : i32
  // CHECK: mosaic_gpu.assume_multiple %[[N]], 8 : index
  %6 = mosaic_gpu.assume_multiple %n, 8 : index
  return
}

// Transforms go by the strides: the contiguous dimension may be the first, or of size one.
// CHECK-LABEL: func.func @transforms
func.func @transforms(%t: memref<64x64xf16, strided<[1, 64]>, #gpu.address_space<workgroup>>, %r: memref<1x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>,
                      %d: memref<64x64xf16, strided<[?, ?], offset: ?>, #gpu.address_space<workgroup>>, %u: memref<32x128xf32, #gpu.address_space<workgroup>>) {
  // CHECK: mosaic_gpu.with_transforms %{{.*}} [#mosaic_gpu.tile<[64, 8]>, #mosaic_gpu.swizzle<128 : i32>]
  %0 = mosaic_gpu.with_transforms %t [#mosaic_gpu.tile<[64, 8]>, #mosaic_gpu.swizzle<128 : i32>]
      : memref<64x64xf16, strided<[1, 64]>, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.with_transforms %{{.*}} [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]
  %1 = mosaic_gpu.with_transforms %r [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]
      : memref<1x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.with_transforms %{{.*}} [#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<128 : i32>]
  %2 = mosaic_gpu.with_transforms %d [#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<128 : i32>]
      : memref<64x64xf16, strided<[?, ?], offset: ?>, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.with_transforms %{{.*}} [#mosaic_gpu.swizzle<64 : i32>]
  %3 = mosaic_gpu.with_transforms %u [#mosaic_gpu.swizzle<64 : i32>] : memref<32x128xf32, #gpu.address_space<workgroup>>
  return
}
