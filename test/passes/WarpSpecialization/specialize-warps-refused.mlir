// Kernels that are not specialized, each with its reason.
// RUN: smalti-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-specialize-warps{target=sm_90a depth=2})))' \
// RUN:   -o %t.out --remarks-filter=smalti-specialize-warps 2>&1 | FileCheck %s
// RUN: smalti-opt %s -split-input-file -o %t.in
// RUN: diff %t.in %t.out
// RUN: not smalti-opt %s -split-input-file -o /dev/null 2>&1 \
// RUN:   --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-specialize-warps{target=sm_90a depth=2 strict=true})))' \
// RUN:   | FileCheck %s --check-prefix=STRICT

// CHECK: [Missed] smalti-specialize-warps | {{.*}}Function=threads | Remark="warp specialization not applied: the block has 96 threads; the number must be a multiple of 128, at most 896 on sm_90a"
// STRICT: error: smalti-specialize-warps: warp specialization not applied: the block has 96 threads; the number must be a multiple of 128, at most 896 on sm_90a
#shared = #gpu.address_space<workgroup>
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
!barrier = memref<!mosaic_gpu.barrier, #shared>
!tile = memref<64x64xf16, #shared>
gpu.module @kernels {
  gpu.func @threads(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                   %out: memref<64x64xf32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : !barrier
    %address = memref.extract_aligned_pointer_as_index %full : !barrier -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    nvvm.fence.mbarrier.init
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %b_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false) -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      mosaic_gpu.arrive_expect_tx barrier(%full : !barrier) 16384
      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.wait barrier(%full : !barrier) parity(%parity : i1)
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : !tile) b(%b_tile : !tile)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}

// -----

// CHECK: [Missed] smalti-specialize-warps | {{.*}}Function=many | Remark="warp specialization not applied: the block has 1024 threads; the number must be a multiple of 128, at most 896 on sm_90a"
// STRICT: error: smalti-specialize-warps: warp specialization not applied: the block has 1024 threads; the number must be a multiple of 128, at most 896 on sm_90a
#shared = #gpu.address_space<workgroup>
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
!barrier = memref<!mosaic_gpu.barrier, #shared>
!tile = memref<64x64xf16, #shared>
gpu.module @kernels {
  gpu.func @many(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                   %out: memref<64x64xf32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 1024, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : !barrier
    %address = memref.extract_aligned_pointer_as_index %full : !barrier -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    nvvm.fence.mbarrier.init
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %b_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false) -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      mosaic_gpu.arrive_expect_tx barrier(%full : !barrier) 16384
      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.wait barrier(%full : !barrier) parity(%parity : i1)
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : !tile) b(%b_tile : !tile)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}

// -----

// CHECK: [Missed] smalti-specialize-warps | {{.*}}Function=already_split | Remark="warp specialization not applied: the threads of the block are already split into roles (attribute 'mosaic_gpu.thread_group_size')"
// STRICT: error: smalti-specialize-warps: warp specialization not applied: the threads of the block are already split into roles (attribute 'mosaic_gpu.thread_group_size')
#shared = #gpu.address_space<workgroup>
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
!barrier = memref<!mosaic_gpu.barrier, #shared>
!tile = memref<64x64xf16, #shared>
gpu.module @kernels {
  gpu.func @already_split(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                   %out: memref<64x64xf32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : !barrier
    %address = memref.extract_aligned_pointer_as_index %full : !barrier -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    nvvm.fence.mbarrier.init
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %b_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false) -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      mosaic_gpu.arrive_expect_tx barrier(%full : !barrier) 16384
      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.wait barrier(%full : !barrier) parity(%parity : i1)
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : !tile) b(%b_tile : !tile)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}

// -----

// CHECK: [Missed] smalti-specialize-warps | {{.*}}Function=reads_thread_id | Remark="warp specialization not applied: 'gpu.thread_id' depends on the thread numbering, which producer warps change; remove the op"
// STRICT: error: smalti-specialize-warps: warp specialization not applied: 'gpu.thread_id' depends on the thread numbering, which producer warps change
#shared = #gpu.address_space<workgroup>
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
!barrier = memref<!mosaic_gpu.barrier, #shared>
!tile = memref<64x64xf16, #shared>
gpu.module @kernels {
  gpu.func @reads_thread_id(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                   %out: memref<64x64xf32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : !barrier
    %address = memref.extract_aligned_pointer_as_index %full : !barrier -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    nvvm.fence.mbarrier.init
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %b_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %thread = gpu.thread_id x
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false) -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      mosaic_gpu.arrive_expect_tx barrier(%full : !barrier) 16384
      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.wait barrier(%full : !barrier) parity(%parity : i1)
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : !tile) b(%b_tile : !tile)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}

// -----

// CHECK: [Missed] smalti-specialize-warps | {{.*}}Function=asynchronous | Remark="warp specialization not applied: 'mosaic_gpu.wgmma' is asynchronous; only wgmma ops with the attribute 'smalti.synchronous' are supported"
// STRICT: error: smalti-specialize-warps: warp specialization not applied: 'mosaic_gpu.wgmma' is asynchronous; only wgmma ops with the attribute 'smalti.synchronous' are supported
#shared = #gpu.address_space<workgroup>
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
!barrier = memref<!mosaic_gpu.barrier, #shared>
!tile = memref<64x64xf16, #shared>
gpu.module @kernels {
  gpu.func @asynchronous(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                   %out: memref<64x64xf32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : !barrier
    %address = memref.extract_aligned_pointer_as_index %full : !barrier -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    nvvm.fence.mbarrier.init
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %b_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false) -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      mosaic_gpu.arrive_expect_tx barrier(%full : !barrier) 16384
      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.wait barrier(%full : !barrier) parity(%parity : i1)
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : !tile) b(%b_tile : !tile)
          {in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}

// -----

// CHECK: [Missed] smalti-specialize-warps | {{.*}}Function=arrivals | Remark="warp specialization not applied: 'memref.extract_aligned_pointer_as_index' is not a supported use of an mbarrier; supported are one initialization, one arrive_expect_tx, TMA loads and one wait"
// STRICT: error: smalti-specialize-warps: warp specialization not applied: 'memref.extract_aligned_pointer_as_index' is not a supported use of an mbarrier; supported are one initialization, one arrive_expect_tx, TMA loads and one wait
#shared = #gpu.address_space<workgroup>
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
!barrier = memref<!mosaic_gpu.barrier, #shared>
!tile = memref<64x64xf16, #shared>
gpu.module @kernels {
  gpu.func @arrivals(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                   %out: memref<64x64xf32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : !barrier
    %address = memref.extract_aligned_pointer_as_index %full : !barrier -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 2 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    nvvm.fence.mbarrier.init
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %b_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false) -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      mosaic_gpu.arrive_expect_tx barrier(%full : !barrier) 16384
      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.wait barrier(%full : !barrier) parity(%parity : i1)
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : !tile) b(%b_tile : !tile)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}

// -----

// CHECK: [Missed] smalti-specialize-warps | {{.*}}Function=waits_twice | Remark="warp specialization not applied: 'mosaic_gpu.wait' is not a supported use of an mbarrier; supported are one initialization, one arrive_expect_tx, TMA loads and one wait"
// STRICT: error: smalti-specialize-warps: warp specialization not applied: 'mosaic_gpu.wait' is not a supported use of an mbarrier; supported are one initialization, one arrive_expect_tx, TMA loads and one wait
#shared = #gpu.address_space<workgroup>
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
!barrier = memref<!mosaic_gpu.barrier, #shared>
!tile = memref<64x64xf16, #shared>
gpu.module @kernels {
  gpu.func @waits_twice(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                   %out: memref<64x64xf32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : !barrier
    %address = memref.extract_aligned_pointer_as_index %full : !barrier -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    nvvm.fence.mbarrier.init
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %b_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false) -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      mosaic_gpu.arrive_expect_tx barrier(%full : !barrier) 16384
      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.wait barrier(%full : !barrier) parity(%parity : i1)
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : !tile) b(%b_tile : !tile)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    mosaic_gpu.wait barrier(%full : !barrier) parity(%false : i1)
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}

// -----

// CHECK: [Missed] smalti-specialize-warps | {{.*}}Function=predicate | Remark="warp specialization not applied: 'mosaic_gpu.async_load' is not a supported use of an mbarrier; supported are one initialization, one arrive_expect_tx, TMA loads and one wait"
// STRICT: error: smalti-specialize-warps: warp specialization not applied: 'mosaic_gpu.async_load' is not a supported use of an mbarrier; supported are one initialization, one arrive_expect_tx, TMA loads and one wait
#shared = #gpu.address_space<workgroup>
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
!barrier = memref<!mosaic_gpu.barrier, #shared>
!tile = memref<64x64xf16, #shared>
gpu.module @kernels {
  gpu.func @predicate(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                   %out: memref<64x64xf32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : !barrier
    %address = memref.extract_aligned_pointer_as_index %full : !barrier -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    nvvm.fence.mbarrier.init
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %b_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false) -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      mosaic_gpu.arrive_expect_tx barrier(%full : !barrier) 16384
      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full) predicate(%true)
          : memref<64x1024xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.wait barrier(%full : !barrier) parity(%parity : i1)
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : !tile) b(%b_tile : !tile)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}

// -----

// CHECK: [Missed] smalti-specialize-warps | {{.*}}Function=reads_more | Remark="warp specialization not applied: 'mosaic_gpu.vector_load' accesses the buffer that 'mosaic_gpu.async_load' fills; only wgmma ops after the wait for its mbarrier, in the MLIR block of the wait, may use the buffer"
// STRICT: error: smalti-specialize-warps: warp specialization not applied: 'mosaic_gpu.vector_load' accesses the buffer that 'mosaic_gpu.async_load' fills; only wgmma ops after the wait for its mbarrier, in the MLIR block of the wait, may use the buffer
#shared = #gpu.address_space<workgroup>
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
!barrier = memref<!mosaic_gpu.barrier, #shared>
!tile = memref<64x64xf16, #shared>
gpu.module @kernels {
  gpu.func @reads_more(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                   %out: memref<64x64xf32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : !barrier
    %address = memref.extract_aligned_pointer_as_index %full : !barrier -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    nvvm.fence.mbarrier.init
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %b_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false) -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      mosaic_gpu.arrive_expect_tx barrier(%full : !barrier) 16384
      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.wait barrier(%full : !barrier) parity(%parity : i1)
      %x = mosaic_gpu.vector_load %a_tile : !tile -> vector<64x64xf16>
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : !tile) b(%b_tile : !tile)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}

// -----

// CHECK: [Missed] smalti-specialize-warps | {{.*}}Function=writes_source | Remark="warp specialization not applied: 'vector.transfer_write' may write memory that 'mosaic_gpu.async_load' prefetches; if the two arguments do not overlap, mark them llvm.noalias"
// STRICT: error: smalti-specialize-warps: warp specialization not applied: 'vector.transfer_write' may write memory that 'mosaic_gpu.async_load' prefetches
#shared = #gpu.address_space<workgroup>
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
!barrier = memref<!mosaic_gpu.barrier, #shared>
!tile = memref<64x64xf16, #shared>
gpu.module @kernels {
  gpu.func @writes_source(%a: memref<64x1024xf16> , %b: memref<1024x64xf16> ,
                   %out: memref<64x64xf32> )
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : !barrier
    %address = memref.extract_aligned_pointer_as_index %full : !barrier -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    nvvm.fence.mbarrier.init
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %b_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false) -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      mosaic_gpu.arrive_expect_tx barrier(%full : !barrier) 16384
      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.wait barrier(%full : !barrier) parity(%parity : i1)
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : !tile) b(%b_tile : !tile)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}

// -----

// CHECK: [Missed] smalti-specialize-warps | {{.*}}Function=dynamic_address | Remark="warp specialization not applied: the address or loop bounds of 'mosaic_gpu.async_load' depend on 'memref.load', which producer warps cannot recompute; compute them from constants, kernel arguments and induction variables, without reads of memory and vectors"
// STRICT: error: smalti-specialize-warps: warp specialization not applied: the address or loop bounds of 'mosaic_gpu.async_load' depend on 'memref.load', which producer warps cannot recompute; compute them from constants, kernel arguments and induction variables, without reads of memory and vectors
#shared = #gpu.address_space<workgroup>
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
!barrier = memref<!mosaic_gpu.barrier, #shared>
!tile = memref<64x64xf16, #shared>
gpu.module @kernels {
  gpu.func @dynamic_address(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                   %out: memref<64x64xf32> {llvm.noalias}, %places: memref<1024xi32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : !barrier
    %address = memref.extract_aligned_pointer_as_index %full : !barrier -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    nvvm.fence.mbarrier.init
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %b_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false) -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      %place = memref.load %places[%k] : memref<1024xi32>
      mosaic_gpu.arrive_expect_tx barrier(%full : !barrier) 16384
      mosaic_gpu.async_load %a[%zero, %place] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.wait barrier(%full : !barrier) parity(%parity : i1)
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : !tile) b(%b_tile : !tile)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}
