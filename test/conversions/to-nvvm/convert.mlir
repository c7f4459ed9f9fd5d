// RUN: smalti-opt %s --split-input-file --convert-mosaic-gpu-to-nvvm=target=sm_90a --canonicalize --cse | FileCheck %s

// Chunks of 4 elements distributed across 128 threads; 1000 is a multiple of 4, so a chunk is entirely in or out of
// bounds.
gpu.module @double_module {
  // CHECK-LABEL: gpu.func @double
  // CHECK-SAME: %[[SRC:.*]]: memref<1000xf32> {llvm.align = 16 : i64}, %[[DST:.*]]: memref<1000xf32> {llvm.align = 16 : i64}
  gpu.func @double(%src: memref<1000xf32>, %dst: memref<1000xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // CHECK: %[[TID:.*]] = gpu.thread_id x
    // CHECK: %[[BASE:.*]] = arith.muli %[[TID]], %c4
    // CHECK: %[[IN0:.*]] = arith.cmpi ult, %[[BASE]], %c1000
    // CHECK: %[[MASK0:.*]] = vector.broadcast %[[IN0]] : i1 to vector<4xi1>
    // CHECK: %[[V0:.*]] = vector.maskedload %[[SRC]][%[[BASE]]], %[[MASK0]], %cst {alignment = 16 : i64} : memref<1000xf32>
    // CHECK: %[[NEXT:.*]] = arith.addi %[[BASE]], %c512
    // CHECK: %[[IN1:.*]] = arith.cmpi ult, %[[NEXT]], %c1000
    // CHECK: %[[MASK1:.*]] = vector.broadcast %[[IN1]] : i1 to vector<4xi1>
    // CHECK: %[[V1:.*]] = vector.maskedload %[[SRC]][%[[NEXT]]], %[[MASK1]], %cst {alignment = 16 : i64} : memref<1000xf32>
    %v = vector.transfer_read %src[%c0], %zero {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[1024], 4>]}
        : memref<1000xf32>, vector<1024xf32>
    // CHECK: %[[D0:.*]] = arith.addf %[[V0]], %[[V0]] : vector<4xf32>
    // CHECK: %[[D1:.*]] = arith.addf %[[V1]], %[[V1]] : vector<4xf32>
    %d = arith.addf %v, %v : vector<1024xf32>
    // CHECK: scf.if %[[IN0]] {
    // CHECK-NEXT: vector.store %[[D0]], %[[DST]][%[[BASE]]] {alignment = 16 : i64}
    // CHECK: scf.if %[[IN1]] {
    // CHECK-NEXT: vector.store %[[D1]], %[[DST]][%[[NEXT]]]
    vector.transfer_write %d, %dst[%c0] {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[1024], 4>]}
        : vector<1024xf32>, memref<1000xf32>
    gpu.return
  }
}

// -----

// An argument may state an alignment below 16 bytes; a layout with strides does not.
gpu.module @aligned_module {
  // CHECK-LABEL: gpu.func @aligned
  // CHECK-SAME: %[[SRC:.*]]: memref<512xf32> {llvm.align = 8 : i64}, %[[DST:.*]]: memref<512xf32, strided<[1]>> {llvm.align = 16 : i64}
  gpu.func @aligned(%src: memref<512xf32> {llvm.align = 8 : i64}, %dst: memref<512xf32, strided<[1]>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // CHECK-COUNT-2: vector.load %[[SRC]]{{.*}} {alignment = 8 : i64} : memref<512xf32>, vector<2xf32>
    %v = vector.transfer_read %src[%c0], %zero {in_bounds = [true], out_layouts = [#mosaic_gpu.WGStridedFragLayout<[512], 4>]}
        : memref<512xf32>, vector<512xf32>
    // CHECK: vector.store {{.*}}, %[[DST]]{{.*}} {alignment = 16 : i64}
    vector.transfer_write %v, %dst[%c0] {in_bounds = [true], in_layouts = [#mosaic_gpu.WGStridedFragLayout<[512], 4>]}
        : vector<512xf32>, memref<512xf32, strided<[1]>>
    gpu.return
  }
}

// -----

// Rows of 30 elements start at multiples of 2 elements, so chunks of 4 are read in two halves.
gpu.module @narrow_module {
  // CHECK-LABEL: gpu.func @narrow
  gpu.func @narrow(%src: memref<16x30xf16>, %dst: memref<16x32xf16>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f16
    // CHECK-COUNT-2: vector.maskedload {{.*}} {alignment = 4 : i64} : memref<16x30xf16>, vector<2xi1>, vector<2xf16>
    // CHECK: vector.shuffle
    // CHECK: vector.store {{.*}} {alignment = 8 : i64} : memref<16x32xf16>, vector<4xf16>
    %v = vector.transfer_read %src[%c0, %c0], %zero {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[16, 32], 4>]}
        : memref<16x30xf16>, vector<16x32xf16>
    vector.transfer_write %v, %dst[%c0, %c0] {in_bounds = [true, true]} : vector<16x32xf16>, memref<16x32xf16>
    gpu.return
  }
}

// -----

// One warp, one instruction: ldmatrix loads the fragments from shared memory and transposes B.
#a = #mosaic_gpu.TiledLayout<[[16, 16], [8, 8], [2]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
#b = #mosaic_gpu.TiledLayout<[[16, 8], [8, 8], [2, 1]], warp_dims = [], lane_dims = [-3, -4], vector_dim = -2>
#c = #mosaic_gpu.TiledLayout<[[16, 8], [8, 8], [2]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
#smem = #gpu.address_space<workgroup>
gpu.module @mma_module {
  // CHECK-LABEL: gpu.func @mma
  // CHECK-SAME: smalti.shared_memory_bytes = 768
  gpu.func @mma(%dst: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    // CHECK: %[[SMEM:.*]] = gpu.dynamic_shared_memory
    // CHECK-DAG: %[[A:.*]] = memref.view %[[SMEM]][%c0][] : {{.*}} to memref<16x16xf16
    // CHECK-DAG: %[[B:.*]] = memref.view %[[SMEM]][%c512][] : {{.*}} to memref<16x8xf16
    %sa = mosaic_gpu.slice_smem 0 : memref<16x16xf16, #smem>
    %sb = mosaic_gpu.slice_smem 512 : memref<16x8xf16, #smem>
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    // CHECK: nvgpu.ldmatrix %[[A]][{{.*}}] {numTiles = 4 : i32, transpose = false} : {{.*}} -> vector<4x2xf16>
    // The matrices have the order of the operand registers: no moves.
    // CHECK-NEXT: %[[A0:.*]] = vector.extract %{{.*}}[0] : vector<2xf16>
    // CHECK-NEXT: %[[A1:.*]] = vector.extract %{{.*}}[1] : vector<2xf16>
    // CHECK-NEXT: %[[A2:.*]] = vector.extract %{{.*}}[2] : vector<2xf16>
    // CHECK-NEXT: %[[A3:.*]] = vector.extract %{{.*}}[3] : vector<2xf16>
    %a = mosaic_gpu.vector_load %sa {out_layouts = [#a]} : memref<16x16xf16, #smem> -> vector<16x16xf16>
    // CHECK: nvgpu.ldmatrix %[[B]][{{.*}}] {numTiles = 2 : i32, transpose = true} : {{.*}} -> vector<2x2xf16>
    %b = mosaic_gpu.vector_load %sb {out_layouts = [#b]} : memref<16x8xf16, #smem> -> vector<16x8xf16>
    // CHECK: nvvm.mma.sync A[%[[A0]], %[[A1]], %[[A2]], %[[A3]]] B[{{.*}}] C[{{.*}}] {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
    %c = mosaic_gpu.mma accumulator(%zero : vector<16x8xf32>) a(%a : vector<16x16xf16>) b(%b : vector<16x8xf16>)
        {out_layouts = [#c]} -> vector<16x8xf32>
    // CHECK-COUNT-2: vector.store {{.*}} {alignment = 8 : i64} : memref<16x8xf32>, vector<2xf32>
    vector.transfer_write %c, %dst[%c0, %c0] {in_bounds = [true, true]} : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// A transposed view has contiguous columns, which are the rows of the matrices in memory.
#b = #mosaic_gpu.TiledLayout<[[16, 8], [8, 8], [2, 1]], warp_dims = [], lane_dims = [-3, -4], vector_dim = -2>
#smem = #gpu.address_space<workgroup>
gpu.module @view_module {
  // CHECK-LABEL: gpu.func @transposed_view
  gpu.func @transposed_view(%dst: memref<16x8xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    // CHECK-DAG: %[[COLUMN:.*]] = arith.remui %thread_id_x, %c8
    // CHECK-DAG: %[[HALF:.*]] = arith.muli %{{.*}}, %c8
    // CHECK: %[[VIEW:.*]] = memref.transpose
    // CHECK: nvgpu.ldmatrix %[[VIEW]][%[[HALF]], %[[COLUMN]]] {numTiles = 2 : i32, transpose = false} : {{.*}} -> vector<2x2xf16>
    %sb = mosaic_gpu.slice_smem 0 : memref<8x16xf16, #smem>
    %view = memref.transpose %sb (d0, d1) -> (d1, d0) : memref<8x16xf16, #smem> to memref<16x8xf16, strided<[1, 16]>, #smem>
    %b = mosaic_gpu.vector_load %view {out_layouts = [#b]} : memref<16x8xf16, strided<[1, 16]>, #smem> -> vector<16x8xf16>
    vector.transfer_write %b, %dst[%c0, %c0] {in_bounds = [true, true]} : vector<16x8xf16>, memref<16x8xf16>
    gpu.return
  }
}

// -----

// 8-bit operands. Rows of A are contiguous along K. A transposed ldmatrix reads pairs of columns of B, and two byte
// permutations separate them. The MMAs of the even and the odd columns have one accumulator. Before the store, a change
// of the layout makes vectors of 4 columns.
#a = #mosaic_gpu.TiledLayout<[[16, 32], [8, 16], [4]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
#b = #mosaic_gpu.TiledLayout<[[32, 16], [16, 16], [4, 2]], warp_dims = [], lane_dims = [-3, -4], vector_dim = -2>
#c = #mosaic_gpu.TiledLayout<[[16, 16], [8, 16], [4], [2]], warp_dims = [], lane_dims = [-4, -3], vector_dim = -2>
#rows = #mosaic_gpu.TiledLayout<[[16, 16], [8, 16], [4]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
#smem = #gpu.address_space<workgroup>
gpu.module @bytes_module {
  // CHECK-LABEL: gpu.func @bytes
  gpu.func @bytes(%dst: memref<16x16xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    // In the lanes 2 and 3 of each 4, the first matrix has the last rows.
    // CHECK-DAG: %[[EVEN:.*]] = arith.select %[[LAST:.*]], %c8292_i32, %c25632_i32
    // CHECK-DAG: %[[ODD:.*]] = arith.select %[[LAST]], %c12661_i32, %c30001_i32
    %sa = mosaic_gpu.slice_smem 0 : memref<16x32xi8, #smem>
    %sb = mosaic_gpu.slice_smem 512 : memref<32x16xi8, #smem>
    %zero = arith.constant dense<0> : vector<16x16xi32>
    // CHECK: nvvm.ldmatrix %{{.*}} {eltType = {{.*}}b16>, layout = {{.*}}row>, num = 4 : i32
    %a = mosaic_gpu.vector_load %sa {out_layouts = [#a]} : memref<16x32xi8, #smem> -> vector<16x32xi8>
    // CHECK: %[[M:.*]] = nvvm.ldmatrix %{{.*}} {eltType = {{.*}}b16>, layout = {{.*}}col>, num = 4 : i32
    // CHECK-DAG: %[[M0:.*]] = llvm.extractvalue %[[M]][0]
    // CHECK-DAG: %[[M1:.*]] = llvm.extractvalue %[[M]][1]
    // CHECK-DAG: nvvm.prmt <default> %[[EVEN]], %[[M0]], %[[M1]] : i32
    // CHECK-DAG: nvvm.prmt <default> %[[ODD]], %[[M0]], %[[M1]] : i32
    %b = mosaic_gpu.vector_load %sb {out_layouts = [#b]} : memref<32x16xi8, #smem> -> vector<32x16xi8>
    // CHECK-COUNT-2: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 32>
    %c = mosaic_gpu.mma accumulator(%zero : vector<16x16xi32>) a(%a : vector<16x32xi8>) b(%b : vector<32x16xi8>)
        {out_layouts = [#c]} -> vector<16x16xi32>
    // CHECK-COUNT-2: vector.store {{.*}} : memref<16x16xi32>, vector<4xi32>
    %rows = mosaic_gpu.layout_cast x(%c : vector<16x16xi32>) {in_layouts = [#c], new_layout = #rows, out_layouts = [#rows]}
    vector.transfer_write %rows, %dst[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xi32>, memref<16x16xi32>
    gpu.return
  }
}

// -----

// The loop carries one value per register of the layout; a splat initializes it.
#l = #mosaic_gpu.WGStridedFragLayout<[32, 8], 2>
gpu.module @loop_module {
  // CHECK-LABEL: gpu.func @loop
  gpu.func @loop(%src: memref<32x64xf32>, %dst: memref<32x8xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<32x8xf32>
    // CHECK: %[[R:.*]]:2 = scf.for {{.*}} -> (vector<2xf32>, vector<2xf32>)
    %sum = scf.for %k = %c0 to %c64 step %c8 iter_args(%acc = %zero) -> (vector<32x8xf32>) {
      // CHECK-COUNT-2: vector.load {{.*}} {alignment = 8 : i64} : memref<32x64xf32>, vector<2xf32>
      %v = vector.transfer_read %src[%c0, %k], %pad {in_bounds = [true, true], out_layouts = [#l]}
          : memref<32x64xf32>, vector<32x8xf32>
      %next = arith.addf %acc, %v : vector<32x8xf32>
      // CHECK: scf.yield %{{.*}}, %{{.*}} : vector<2xf32>, vector<2xf32>
      scf.yield %next : vector<32x8xf32>
    }
    // CHECK-COUNT-2: vector.store
    vector.transfer_write %sum, %dst[%c0, %c0] {in_bounds = [true, true]} : vector<32x8xf32>, memref<32x8xf32>
    gpu.return
  }
}

// -----

// A chunk that ends out of bounds copies fewer elements and fills the rest with zeros.
#smem = #gpu.address_space<workgroup>
gpu.module @copy_module {
  // CHECK-LABEL: gpu.func @copy
  gpu.func @copy(%src: memref<100x60xf16>, %row: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c56 = arith.constant 56 : index
    %buffer = mosaic_gpu.slice_smem 0 : memref<16x8xf16, #smem>
    // CHECK: scf.if
    // CHECK: %[[COUNT:.*]] = arith.select %{{.*}}, %{{.*}}, %c0
    // CHECK: nvgpu.device_async_copy %{{.*}}, %{{.*}}, 4, %[[COUNT]]
    mosaic_gpu.async_copy %src[%row, %c56] to %buffer : memref<100x60xf16> to memref<16x8xf16, #smem>
    // CHECK: nvvm.cp.async.commit.group
    mosaic_gpu.async_commit_group
    // CHECK: nvvm.cp.async.wait.group 0
    mosaic_gpu.async_wait_group 0
    // CHECK: gpu.barrier
    gpu.barrier
    gpu.return
  }
}

// -----

// A thread-level kernel is not a block-level kernel.
gpu.module @threads_module {
  // CHECK-LABEL: gpu.func @threads
  // CHECK-NOT: llvm.align
  // CHECK: arith.addf %{{.*}} : vector<4xf32>
  gpu.func @threads(%v: vector<4xf32>, %dst: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %d = arith.addf %v, %v : vector<4xf32>
    vector.store %d, %dst[%c0] : memref<4xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

// Without an MMA instruction for f32, each thread uses fused multiply-add; allow_tf32 applies only if the layouts are
// those of the TF32 instruction.
#a = #mosaic_gpu.TiledLayout<[[8, 1]], warp_dims = [], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>
#b = #mosaic_gpu.TiledLayout<[[1, 4], [1, 1]], warp_dims = [], lane_dims = [#mosaic_gpu.Replicated<times = 8>, -3], vector_dim = -2>
#c = #mosaic_gpu.TiledLayout<[[8, 4], [1]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
#smem = #gpu.address_space<workgroup>
gpu.module @fma_module {
  // CHECK-LABEL: gpu.func @fma
  gpu.func @fma(%dst: memref<8x4xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %sa = mosaic_gpu.slice_smem 0 : memref<8x2xf32, #smem>
    %sb = mosaic_gpu.slice_smem 64 : memref<2x4xf32, #smem>
    %zero = arith.constant dense<0.0> : vector<8x4xf32>
    %a = mosaic_gpu.vector_load %sa {out_layouts = [#a]} : memref<8x2xf32, #smem> -> vector<8x2xf32>
    %b = mosaic_gpu.vector_load %sb {out_layouts = [#b]} : memref<2x4xf32, #smem> -> vector<2x4xf32>
    // CHECK-COUNT-2: llvm.intr.fma{{.*}} vector<1xf32>
    // CHECK-NOT: nvvm.mma
    %c = mosaic_gpu.mma accumulator(%zero : vector<8x4xf32>) a(%a : vector<8x2xf32>) b(%b : vector<2x4xf32>)
        {allow_tf32, out_layouts = [#c]} -> vector<8x4xf32>
    vector.transfer_write %c, %dst[%c0, %c0] {in_bounds = [true, true]} : vector<8x4xf32>, memref<8x4xf32>
    gpu.return
  }
}

// -----

#a = #mosaic_gpu.TiledLayout<[[16, 8], [8, 4], [1]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
#b = #mosaic_gpu.TiledLayout<[[8, 8], [4, 8], [1, 1]], warp_dims = [], lane_dims = [-3, -4], vector_dim = -2>
#c = #mosaic_gpu.TiledLayout<[[16, 8], [8, 8], [2]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
#smem = #gpu.address_space<workgroup>
gpu.module @tf32_module {
  // CHECK-LABEL: gpu.func @tf32
  gpu.func @tf32(%dst: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %sa = mosaic_gpu.slice_smem 0 : memref<16x8xf32, #smem>
    %sb = mosaic_gpu.slice_smem 512 : memref<8x8xf32, #smem>
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %a = mosaic_gpu.vector_load %sa {out_layouts = [#a]} : memref<16x8xf32, #smem> -> vector<16x8xf32>
    %b = mosaic_gpu.vector_load %sb {out_layouts = [#b]} : memref<8x8xf32, #smem> -> vector<8x8xf32>
    // Rounded, not truncated.
    // CHECK-COUNT-6: nvvm.convert.float.to.tf32 %{{.*}} {rnd = #nvvm.fp_rnd_mode<rna>}
    // CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 8>
    %c = mosaic_gpu.mma accumulator(%zero : vector<16x8xf32>) a(%a : vector<16x8xf32>) b(%b : vector<8x8xf32>)
        {allow_tf32, out_layouts = [#c]} -> vector<16x8xf32>
    vector.transfer_write %c, %dst[%c0, %c0] {in_bounds = [true, true]} : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Mbarriers are words of shared memory. All threads arrive; each expects its share of the bytes, or one thread expects
// all if the share is not a whole number.
#smem = #gpu.address_space<workgroup>
gpu.module @barrier_module {
  // CHECK-LABEL: gpu.func @barriers
  gpu.func @barriers(%base: !llvm.ptr<3>, %parity: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[TID:.*]] = gpu.thread_id x
    // CHECK: %[[B:.*]] = llvm.inttoptr
    // CHECK: %[[LEADER:.*]] = arith.andi
    %b = mosaic_gpu.slice_smem 0 : memref<!mosaic_gpu.barrier, #smem>
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[TID]], %c0
    // CHECK: scf.if %[[FIRST]]
    // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %c128_i32
    mosaic_gpu.initialize_barrier %base {arrival_count = 1 : i64, num_barriers = 2 : i32} : !llvm.ptr<3>
    // CHECK: nvvm.mbarrier.arrive %[[B]]
    mosaic_gpu.arrive %b : memref<!mosaic_gpu.barrier, #smem>
    // CHECK: nvvm.mbarrier.arrive.expect_tx %[[B]], %c32_i32
    mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #smem>) 4096
    // CHECK: %[[BYTES:.*]] = arith.select %[[LEADER]], %c4000_i32, %c0_i32
    // CHECK: nvvm.mbarrier.arrive.expect_tx %[[B]], %[[BYTES]]
    mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #smem>) 4000
    // CHECK: scf.while
    // CHECK: nvvm.mbarrier.try_wait
    mosaic_gpu.wait barrier(%b : memref<!mosaic_gpu.barrier, #smem>) parity(%parity : i1)
    gpu.return
  }
}

// -----

// A mask compares the indices of each element with the bounds.
#l = #mosaic_gpu.WGStridedFragLayout<[32, 8], 2>
gpu.module @mask_module {
  // CHECK-LABEL: gpu.func @mask
  // CHECK-SAME: %[[ROWS:[a-z0-9]*]]: index, %[[COLUMNS:[a-z0-9]*]]: index
  gpu.func @mask(%rows: index, %columns: index, %dst: memref<32x8xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1.0> : vector<32x8xf32>
    %zero = arith.constant dense<0.0> : vector<32x8xf32>
    // CHECK: %[[IN_ROWS:.*]] = arith.cmpi slt, %{{.*}}, %[[ROWS]] : index
    // CHECK: %[[IN_COLUMNS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : vector<2xindex>
    // CHECK: %[[ALL:.*]] = vector.broadcast %[[IN_ROWS]] : i1 to vector<2xi1>
    // CHECK: %[[MASK:.*]] = arith.andi %[[IN_COLUMNS]], %[[ALL]]
    %mask = vector.create_mask %rows, %columns {out_layouts = [#l]} : vector<32x8xi1>
    // CHECK: arith.select %[[MASK]], %{{.*}}, %{{.*}} : vector<2xi1>, vector<2xf32>
    %v = arith.select %mask, %one, %zero : vector<32x8xi1>, vector<32x8xf32>
    vector.transfer_write %v, %dst[%c0, %c0] {in_bounds = [true, true]} : vector<32x8xf32>, memref<32x8xf32>
    gpu.return
  }
}

// -----

// If several threads hold an element, the first of them writes it.
gpu.module @replicated_module {
  // CHECK-LABEL: gpu.func @replicated
  gpu.func @replicated(%src: memref<16xf32>, %dst: memref<16xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %src {out_layouts = [#mosaic_gpu.TiledLayout<[[16], [1]],
        warp_dims = [#mosaic_gpu.Replicated<times = 2>], lane_dims = [-2, #mosaic_gpu.Replicated<times = 2>],
        vector_dim = -1>]} : memref<16xf32> -> vector<16xf32>
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0
    // CHECK: scf.if %[[FIRST]]
    // CHECK: vector.store
    mosaic_gpu.vector_store %v, %dst : vector<16xf32>, memref<16xf32>
    gpu.return
  }
}
