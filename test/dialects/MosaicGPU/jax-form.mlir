// The forms in which JAX prints these ops: generic with properties, or its own custom form; with the layouts and
// transforms that its inference leaves on them.
// RUN: smalti-opt %s | smalti-opt | FileCheck %s

// CHECK: module @kernel attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32, mosaic_gpu.collective_metadata_used, mosaic_gpu.multimem_args = dense<[false, true]> : tensor<2xi1>, mosaic_gpu.multimem_used}
module @kernel attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32, mosaic_gpu.collective_metadata_used, mosaic_gpu.multimem_args = dense<[false, true]> : tensor<2xi1>, mosaic_gpu.multimem_used} {
  // CHECK-LABEL: func.func @body
  func.func @body(%arg0: !llvm.ptr<3>, %arg1: memref<32x64xf32>) {
    // CHECK: mosaic_gpu.slice_smem 2048 {out_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<64 : i32>]]} : memref<2x64x32xbf16, #gpu.address_space<workgroup>>
    %0 = "mosaic_gpu.slice_smem"() <{offset = 2048 : i32}> {out_transforms = [[#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<64 : i32>]]} : () -> memref<2x64x32xbf16, #gpu.address_space<workgroup>>
    // CHECK: mosaic_gpu.slice_smem 0 alias 7 : memref<8xi32, #gpu.address_space<workgroup>>
    %1 = "mosaic_gpu.slice_smem"() <{alias_id = 7 : i32, offset = 0 : i32}> : () -> memref<8xi32, #gpu.address_space<workgroup>>
    %2 = builtin.unrealized_conversion_cast %arg0 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
    // CHECK: mosaic_gpu.initialize_barrier %{{.*}} {arrival_count = 1 : i64, num_barriers = 2 : i32} : !llvm.ptr<3>
    "mosaic_gpu.initialize_barrier"(%arg0) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
    // CHECK: mosaic_gpu.arrive_expect_tx barrier(%{{.*}} : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 4096
    mosaic_gpu.arrive_expect_tx barrier(%2 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 4096
    // CHECK: mosaic_gpu.arrive %{{.*}} : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
    "mosaic_gpu.arrive"(%2) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
    // CHECK: mosaic_gpu.vector_load %{{.*}} {optimized = false, out_layouts = [#mosaic_gpu.WGStridedFragLayout<[32, 64], 2>]} : memref<32x64xf32> -> vector<32x64xf32>
    %3 = "mosaic_gpu.vector_load"(%arg1) <{optimized = false}> {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[32, 64], 2>]} : (memref<32x64xf32>) -> vector<32x64xf32>
    // CHECK: mosaic_gpu.layout_cast x(%{{.*}} : vector<32x64xf32>) {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[32, 64], 2>], new_layout = #mosaic_gpu.WGStridedFragLayout<[32, 64], 2>, out_layouts = [#mosaic_gpu.WGStridedFragLayout<[32, 64], 2>]}
    %4 = mosaic_gpu.layout_cast x(%3 : vector<32x64xf32>) {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[32, 64], 2>], new_layout = #mosaic_gpu.WGStridedFragLayout<[32, 64], 2>, out_layouts = [#mosaic_gpu.WGStridedFragLayout<[32, 64], 2>]}
    // CHECK: mosaic_gpu.vector_store %{{.*}}, %{{.*}} {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[32, 64], 2>]} : vector<32x64xf32>, memref<32x64xf32>
    "mosaic_gpu.vector_store"(%4, %arg1) <{multimem = false}> {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[32, 64], 2>]} : (vector<32x64xf32>, memref<32x64xf32>) -> ()
    %5 = "mosaic_gpu.slice_smem"() <{offset = 8192 : i32}> : () -> memref<32x64xf32, #gpu.address_space<workgroup>>
    %6 = arith.constant 0 : i32
    // CHECK: mosaic_gpu.async_load %{{.*}}[%{{.*}}, %{{.*}}] [32, 64] to %{{.*}} barrier(%{{.*}}) {in_transforms = {{\[\[}}#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<128 : i32>]]} : memref<32x64xf32>[i32, i32] to memref<32x64xf32, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
    "mosaic_gpu.async_load"(%arg1, %5, %2, %6, %6) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 32, 64>}> {in_transforms = [[#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<128 : i32>]]} : (memref<32x64xf32>, memref<32x64xf32, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
    return
  }
}
