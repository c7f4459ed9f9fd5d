// Stores to shared memory of other blocks of a cluster.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a},canonicalize,cse))' | FileCheck %s

#smem = #gpu.address_space<workgroup>
#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#tcgen05 = #mosaic_gpu.TiledLayout<[[128, 8], [32, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>

gpu.module @m {
  // Block (x, index, z) of a cluster of 2 x 4 x 1 has rank x + 2 * index; the threads expect their shares there.
  // CHECK-LABEL: gpu.func @send(
  // CHECK-SAME: smalti.shared_memory_bytes = 8200 : i64
  gpu.func @send(%a: memref<64x64xf16>, %index: i32, %phase: i1) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 4, 1>} {
    // CHECK: %[[BASE:.*]] = llvm.inttoptr
    // CHECK: %[[X:.*]] = gpu.cluster_block_id x
    // CHECK: %[[WORD:.*]] = arith.index_cast %[[X]] : index to i32
    // CHECK: %[[ROW:.*]] = arith.muli %arg1, %c2_i32
    // CHECK: %[[RANK:.*]] = arith.addi %[[WORD]], %[[ROW]]
    // CHECK: %[[BARRIER:.*]] = nvvm.mapa %{{.*}}, %[[RANK]] : !llvm.ptr<3> -> !llvm.ptr<7>
    // CHECK: nvvm.mbarrier.arrive.expect_tx %[[BARRIER]], %c64_i32 {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>, i32
    // CHECK: nvvm.mapa %[[BASE]], %[[RANK]] : !llvm.ptr<3> -> !llvm.ptr<7>
    // CHECK-COUNT-16: llvm.inline_asm has_side_effects "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0], $1, [$2];", "l,r,l" %{{.*}}, %{{.*}}, %[[BARRIER]] : (!llvm.ptr<7>, i32, !llvm.ptr<7>) -> ()
    // CHECK-NOT: st.async
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<64x64xf16> -> vector<64x64xf16>
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]} : memref<64x64xf16, #smem>
    %b = mosaic_gpu.slice_smem 8192 : memref<1x!mosaic_gpu.barrier, #smem>
    %one = memref.subview %b[0] [1] [1] : memref<1x!mosaic_gpu.barrier, #smem> to memref<!mosaic_gpu.barrier, strided<[]>, #smem>
    %barrier = memref.cast %one : memref<!mosaic_gpu.barrier, strided<[]>, #smem> to memref<!mosaic_gpu.barrier, #smem>
    mosaic_gpu.async_store_smem %v to %s barrier(%barrier) block(y %index)
        {in_layouts = [#wgmma], in_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]], optimized = false}
        : vector<64x64xf16> to memref<64x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    // A wait acquires the writes of the other blocks.
    // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %{{.*}} {scope = #nvvm.mem_scope<cluster>}
    mosaic_gpu.wait barrier(%barrier : memref<!mosaic_gpu.barrier, #smem>) parity(%phase : i1)
    gpu.return
  }

  // CHECK-LABEL: gpu.func @combine(
  // CHECK-SAME: smalti.shared_memory_bytes = 8200 : i64
  gpu.func @combine(%a: memref<64x8xi32>, %index: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    // CHECK-COUNT-4: llvm.inline_asm has_side_effects "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 [$0], $1, [$2];", "l,r,l"
    // CHECK-NOT: red.async
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<64x8xi32> -> vector<64x8xi32>
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[]]} : memref<64x8xi32, #smem>
    %b = mosaic_gpu.slice_smem 8192 : memref<!mosaic_gpu.barrier, #smem>
    mosaic_gpu.async_store_smem %v to %s barrier(%b) block(x %index) {atomic_type = 2 : i32, in_layouts = [#wgmma]}
        : vector<64x8xi32> to memref<64x8xi32, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }

  // The offset in the other block is the same: the reference and its views become address arithmetic only.
  // CHECK-LABEL: gpu.func @references(
  // CHECK-SAME: smalti.shared_memory_bytes = 5120 : i64
  gpu.func @references(%a: memref<64x8xf32>, %index: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 1, 1, 2>} {
    // CHECK: %[[BASE:.*]] = llvm.inttoptr
    // CHECK: %[[PEER:.*]] = nvvm.mapa %[[BASE]], %arg1 : !llvm.ptr<3> -> !llvm.ptr<7>
    // CHECK: llvm.getelementptr %[[PEER]][{{.*}}] : (!llvm.ptr<7>, i32) -> !llvm.ptr<7>, i8
    // CHECK-COUNT-2: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<7>
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<64x8xf32> -> vector<64x8xf32>
    %s = mosaic_gpu.slice_smem 1024 {out_transforms = [[]]} : memref<2x64x8xf32, #smem>
    %p = mosaic_gpu.get_cluster_ref %s z(%index) {in_transforms = [[]], out_transforms = [[]]} : memref<2x64x8xf32, #smem> -> memref<2x64x8xf32, #mosaic_gpu.smem_cluster>
    %w = memref.subview %p[1, 0, 0] [1, 64, 8] [1, 1, 1] : memref<2x64x8xf32, #mosaic_gpu.smem_cluster> to memref<64x8xf32, strided<[8, 1], offset: 512>, #mosaic_gpu.smem_cluster>
    mosaic_gpu.vector_store %v, %w {in_layouts = [#wgmma], optimized = false} : vector<64x8xf32>, memref<64x8xf32, strided<[8, 1], offset: 512>, #mosaic_gpu.smem_cluster>
    gpu.return
  }

  // Scratch of the kernel follows the buffers that other blocks write, independent of the order.
  // CHECK-LABEL: gpu.func @scratch_after(
  // CHECK-SAME: smalti.shared_memory_bytes = 33792 : i64
  // CHECK: st.async
  // CHECK: nvvm.stmatrix
  gpu.func @scratch_after(%a: memref<128x64xf16>, %y: memref<128x64xf16>, %index: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<128x64xf16> -> vector<128x64xf16>
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]} : memref<128x64xf16, #smem>
    %b = mosaic_gpu.slice_smem 16384 : memref<!mosaic_gpu.barrier, #smem>
    mosaic_gpu.async_store_smem %v to %s barrier(%b) block(x %index)
        {in_layouts = [#wgmma], in_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]], optimized = false}
        : vector<128x64xf16> to memref<128x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    %w = mosaic_gpu.layout_cast x(%v : vector<128x64xf16>) {in_layouts = [#wgmma], new_layout = #tcgen05, out_layouts = [#tcgen05]}
    mosaic_gpu.vector_store %w, %y {in_layouts = [#tcgen05]} : vector<128x64xf16>, memref<128x64xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @scratch_before(
  // CHECK-SAME: smalti.shared_memory_bytes = 33792 : i64
  // CHECK: nvvm.stmatrix
  // CHECK: st.async
  gpu.func @scratch_before(%a: memref<128x64xf16>, %y: memref<128x64xf16>, %index: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<128x64xf16> -> vector<128x64xf16>
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]} : memref<128x64xf16, #smem>
    %b = mosaic_gpu.slice_smem 16384 : memref<!mosaic_gpu.barrier, #smem>
    %w = mosaic_gpu.layout_cast x(%v : vector<128x64xf16>) {in_layouts = [#wgmma], new_layout = #tcgen05, out_layouts = [#tcgen05]}
    mosaic_gpu.vector_store %w, %y {in_layouts = [#tcgen05]} : vector<128x64xf16>, memref<128x64xf16>
    mosaic_gpu.async_store_smem %v to %s barrier(%b) block(x %index)
        {in_layouts = [#wgmma], in_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]], optimized = false}
        : vector<128x64xf16> to memref<128x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}
