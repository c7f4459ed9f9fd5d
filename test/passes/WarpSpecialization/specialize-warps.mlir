// The ops of the roles, their order and their slots.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-specialize-warps{target=sm_90a depth=4},canonicalize,cse)))' \
// RUN:   --remarks-filter=smalti-specialize-warps 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-specialize-warps{target=sm_90a depth=1},canonicalize,cse)))' \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-specialize-warps{target=sm_90a if-it-pays=true},canonicalize,cse)))' \
// RUN:   --remarks-filter=smalti-specialize-warps 2>%t.pays | FileCheck %s --check-prefix=PAYS
// RUN: FileCheck %s --check-prefix=TIME < %t.pays
// The pass applies the plan of smalti-choose-overlap.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-choose-overlap{target=sm_90a},smalti-specialize-warps{target=sm_90a if-it-pays=true})))' \
// RUN:   --remarks-filter=smalti-specialize-warps -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLAN
// A loop of 3 iterations.
// RUN: sed 's/arith.constant 1024 : index/arith.constant 192 : index/' %s \
// RUN:   | smalti-opt --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-specialize-warps{target=sm_90a})))' \
// RUN:   --remarks-filter=smalti-specialize-warps -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: Function=alone | Remark="warp specialization applied: {{.*}}; 3 slots of 16384 B;

// REMARK: [Analysis] smalti-specialize-warps | {{.*}}Function=matmul | Remark="estimate with warp specialization: 4352 cycles per tile (3 blocks per SM); without it 4352 cycles (3 blocks per SM, 4 slots per buffer)"
// REMARK: [Passed] smalti-specialize-warps | {{.*}}Function=matmul | Remark="warp specialization applied: 128 producer and 128 consumer threads; 4 slots of 16384 B; consumers keep one wgmma in flight while they wait for the next copy, in 1 of 1 copy groups"

// Resident blocks hide each other's waits; the path to L2 is the limit.
// TIME: [Missed] smalti-specialize-warps | {{.*}}Function=matmul | Remark="warp specialization not applied: no estimated benefit: 4352 cycles per tile (2 blocks per SM); without it 4352 cycles (4 blocks per SM, 3 slots per buffer)"
// A grid with one block per SM has no other resident blocks.
// TIME: [Analysis] smalti-specialize-warps | {{.*}}Function=alone | Remark="estimate with warp specialization: 4987 cycles per tile (1 block per SM); without it 6623 cycles (1 block per SM, 3 slots per buffer)"
// TIME: [Passed] smalti-specialize-warps | {{.*}}Function=alone | Remark="warp specialization applied: 128 producer and 128 consumer threads; 8 slots of 16384 B; consumers keep one wgmma in flight while they wait for the next copy, in 1 of 1 copy groups"
// PLAN: Function=alone | Remark="estimate with warp specialization: 4987 cycles per tile (1 block per SM); without it 6623 cycles (1 block per SM, 3 slots per buffer)"
// PLAN: Function=alone | Remark="warp specialization applied: 128 producer and 128 consumer threads; 8 slots of 16384 B; consumers keep one wgmma in flight while they wait for the next copy, in 1 of 1 copy groups"
// PAYS-LABEL: gpu.func @matmul
// PAYS-NOT:     mosaic_gpu.thread_group_size
// PAYS-LABEL: gpu.func @alone
// PAYS-SAME:    mosaic_gpu.thread_group_size = 128

// CHECK-LABEL: gpu.func @matmul
// CHECK-SAME:    known_block_size = array<i32: 256, 1, 1>
// CHECK-SAME:    mosaic_gpu.thread_group_size = 128
// CHECK-COUNT-2: memref.alloc() : memref<4x!mosaic_gpu.barrier
// CHECK-COUNT-2: mosaic_gpu.initialize_barrier %{{.*}} {arrival_count = 1 : i64, num_barriers = 4 : i32}
// CHECK:         nvvm.fence.mbarrier.init
// CHECK:         gpu.barrier
// CHECK:         %[[THREAD:.*]] = gpu.thread_id x
// CHECK:         %[[COPIES:.*]] = arith.cmpi uge, %[[THREAD]], %c128
// CHECK:         scf.if %[[COPIES]]
// The producers wait for a slot, arrive with its bytes and issue its copies.
// CHECK:           scf.for {{.*}} iter_args(%[[SLOT:[^ ]*]] = %c0, %[[PHASE:[^ ]*]] = %false)
// CHECK:             %[[FREE:.*]] = memref.subview %[[A:[a-z_0-9]+]][%[[SLOT]]]
// CHECK:             mosaic_gpu.wait barrier(%[[FREE]] {{.*}} parity(%[[PHASE]] : i1)
// CHECK:             %[[COME:.*]] = memref.subview %[[B:[a-z_0-9]+]][%[[SLOT]]]
// CHECK:             mosaic_gpu.arrive_expect_tx barrier(%[[COME]] {{.*}} 16384
// CHECK-COUNT-2:     mosaic_gpu.async_load {{.*}} barrier(%[[COME]])
// CHECK:             %[[NEXT:.*]] = arith.addi %[[SLOT]], %c1
// CHECK:             %[[WRAPS:.*]] = arith.cmpi eq, %[[NEXT]], %c4
// CHECK:             %[[AFTER:.*]] = arith.select %[[WRAPS]], %c0, %[[NEXT]]
// CHECK:             %[[TURN:.*]] = arith.xori %[[PHASE]], %[[WRAPS]]
// CHECK:             scf.yield %[[AFTER]], %[[TURN]]
// CHECK-NOT:         mosaic_gpu.wgmma
// CHECK:         } else {
// The consumers release all slots but the last, which the first wgmma releases.
// CHECK-COUNT-3:   mosaic_gpu.arrive %
// CHECK-NOT:       mosaic_gpu.arrive %
// CHECK:           scf.for
// CHECK-NOT:         mosaic_gpu.async_load
// CHECK:             %[[HERE:.*]] = memref.subview %[[B]][%[[READ:.*]]] [1] [1]
// CHECK:             mosaic_gpu.wait barrier(%[[HERE]]
// CHECK:             nvvm.wgmma.fence.aligned
// CHECK-NEXT:        mosaic_gpu.wgmma
// CHECK-NEXT:        nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT:        nvvm.wgmma.wait.group.sync.aligned 1
// CHECK:             %[[FIRST:.*]] = arith.cmpi eq, %[[READ]], %c0
// CHECK:             %[[BEFORE:.*]] = arith.subi %[[READ]], %c1
// CHECK:             %[[LAST:.*]] = arith.select %[[FIRST]], %c3, %[[BEFORE]]
// CHECK:             %[[BACK:.*]] = memref.subview %[[A]][%[[LAST]]]
// CHECK:             mosaic_gpu.arrive %[[BACK]]
// CHECK:           }
// CHECK-NEXT:      nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-NEXT:      vector.transfer_write

// With one slot the consumers wait for each wgmma and release its own slot.
// ONE-LABEL: gpu.func @matmul
// ONE:         mosaic_gpu.async_load
// ONE:       } else {
// ONE-COUNT-1: mosaic_gpu.arrive %
// ONE:         scf.for
// ONE-NOT:       nvvm.wgmma
// ONE:           mosaic_gpu.wgmma {{.*}} smalti.synchronous
// ONE:           mosaic_gpu.arrive %

#shared = #gpu.address_space<workgroup>
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
gpu.module @kernels {
  gpu.func @matmul(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                    %out: memref<64x64xf32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : memref<!mosaic_gpu.barrier, #shared>
    %address = memref.extract_aligned_pointer_as_index %full : memref<!mosaic_gpu.barrier, #shared> -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : memref<64x64xf16, #shared>
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>]
        : memref<64x64xf16, #shared>
    %b_memory = memref.alloc() {alignment = 1024 : i64} : memref<64x64xf16, #shared>
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>]
        : memref<64x64xf16, #shared>
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false)
        -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      mosaic_gpu.arrive_expect_tx barrier(%full : memref<!mosaic_gpu.barrier, #shared>) 16384
      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to memref<64x64xf16, #shared>, memref<!mosaic_gpu.barrier, #shared>
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to memref<64x64xf16, #shared>, memref<!mosaic_gpu.barrier, #shared>
      mosaic_gpu.wait barrier(%full : memref<!mosaic_gpu.barrier, #shared>) parity(%parity : i1)
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : memref<64x64xf16, #shared>)
          b(%b_tile : memref<64x64xf16, #shared>) {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]}
          -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }

  gpu.func @alone(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                    %out: memref<64x64xf32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : memref<!mosaic_gpu.barrier, #shared>
    %address = memref.extract_aligned_pointer_as_index %full : memref<!mosaic_gpu.barrier, #shared> -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : memref<64x64xf16, #shared>
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>]
        : memref<64x64xf16, #shared>
    %b_memory = memref.alloc() {alignment = 1024 : i64} : memref<64x64xf16, #shared>
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>]
        : memref<64x64xf16, #shared>
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false)
        -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      mosaic_gpu.arrive_expect_tx barrier(%full : memref<!mosaic_gpu.barrier, #shared>) 16384
      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to memref<64x64xf16, #shared>, memref<!mosaic_gpu.barrier, #shared>
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to memref<64x64xf16, #shared>, memref<!mosaic_gpu.barrier, #shared>
      mosaic_gpu.wait barrier(%full : memref<!mosaic_gpu.barrier, #shared>) parity(%parity : i1)
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : memref<64x64xf16, #shared>)
          b(%b_tile : memref<64x64xf16, #shared>) {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]}
          -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}
