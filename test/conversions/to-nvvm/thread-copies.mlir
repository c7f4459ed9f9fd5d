// Slices of tensors on chips without bulk copies.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_80},canonicalize,cse))' | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a},canonicalize,cse))' | FileCheck %s --check-prefix=BULK

#smem = #gpu.address_space<workgroup>
#tiles = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  // 8 pieces of 16 bytes for each of 64 threads, two slices for one arrival.
  // CHECK-LABEL: gpu.func @loads(
  // CHECK-NOT: nvvm.mbarrier.arrive
  // CHECK-COUNT-16: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %{{.*}} : !llvm.ptr<3>, !llvm.ptr<1>, i32
  // CHECK-NOT: nvvm.cp.async.shared
  // CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} {noinc = true}
  // CHECK-NOT: nvvm.mbarrier.arrive
  // CHECK: nvvm.mbarrier.test.wait
  // CHECK: gpu.return
  // BULK-LABEL: gpu.func @loads(
  // BULK: nvvm.mbarrier.arrive.expect_tx
  // BULK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
  gpu.func @loads(%m: memref<100x136xf16>, %i: i32, %parity: i1) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]} : memref<64x64xf16, #smem>
    %t = mosaic_gpu.slice_smem 8192 {out_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]} : memref<64x64xf16, #smem>
    %b = mosaic_gpu.slice_smem 16384 : memref<!mosaic_gpu.barrier, #smem>
    mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #smem>) 16384
    mosaic_gpu.async_load %m[%i, %c0] [64, 64] to %s barrier(%b) : memref<100x136xf16>[i32, i32] to memref<64x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    mosaic_gpu.async_load %m[%i, %c64] [64, 64] to %t barrier(%b) : memref<100x136xf16>[i32, i32] to memref<64x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    mosaic_gpu.wait barrier(%b : memref<!mosaic_gpu.barrier, #smem>) parity(%parity : i1)
    gpu.return
  }

  // A warp arrives for the other, too; rows of 72 bytes are copied 8 bytes at a time, 9 pieces each.
  // CHECK-LABEL: gpu.func @of_a_warp(
  // CHECK-COUNT-2: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca
  // CHECK: scf.if
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca
  // CHECK: nvvm.cp.async.mbarrier.arrive %[[B:.*]] {noinc = true}
  // CHECK-NEXT: nvvm.mbarrier.arrive %[[B]] :
  // CHECK-NOT: nvvm.mbarrier.arrive
  gpu.func @of_a_warp(%m: memref<64x36xi16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[]]} : memref<8x36xi16, #smem>
    %b = mosaic_gpu.slice_smem 16384 : memref<!mosaic_gpu.barrier, #smem>
    mosaic_gpu.warp_map (%arg0 = %s : memref<8x36xi16, #smem>, %arg1 = %b : memref<!mosaic_gpu.barrier, #smem>, %arg2 = %m : memref<64x36xi16>) {
      %c0 = arith.constant 0 : i32
      mosaic_gpu.arrive_expect_tx barrier(%arg1 : memref<!mosaic_gpu.barrier, #smem>) 576
      mosaic_gpu.async_load %arg2[%c0, %c0] [8, 36] to %arg0 barrier(%arg1) : memref<64x36xi16>[i32, i32] to memref<8x36xi16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    }
    gpu.return
  }

  // Stores are of whole pieces; what orders copies in bulk is nothing.
  // CHECK-LABEL: gpu.func @stores(
  // CHECK-NOT: cp.async
  // CHECK-NOT: fence
  // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
  // CHECK-NOT: cp.async
  // CHECK: gpu.return
  gpu.func @stores(%m: memref<100x128xf32>, %i: i32, %p: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[]]} : memref<4x128xf32, #smem>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    mosaic_gpu.async_store %s to %m[%i, %c0] [4, 128] predicate(%p) : memref<4x128xf32, #smem> to memref<100x128xf32>[i32, i32]
    nvvm.cp.async.bulk.wait_group 0
    mosaic_gpu.async_prefetch %m[%i, %c0] [4, 128] : memref<100x128xf32>[i32, i32]
    gpu.return
  }
}
