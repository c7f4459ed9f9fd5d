// RUN: smalti-opt %s --split-input-file --convert-mosaic-gpu-to-nvvm=target=sm_90a --canonicalize --cse | FileCheck %s

// Chunks of 4 elements dealt to 128 threads; 1000 is a multiple of 4, so a chunk is inside or outside as a whole.
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
    // CHECK: %[[SAFE0:.*]] = arith.select %[[IN0]], %[[BASE]], %c0
    // CHECK: %[[L0:.*]] = vector.load %[[SRC]][%[[SAFE0]]] {alignment = 16 : i64} : memref<1000xf32>, vector<4xf32>
    // CHECK: %[[V0:.*]] = arith.select %[[IN0]], %[[L0]], %cst
    // CHECK: %[[NEXT:.*]] = arith.addi %[[BASE]], %c512
    // CHECK: %[[IN1:.*]] = arith.cmpi ult, %[[NEXT]], %c1000
    // CHECK: %[[L1:.*]] = vector.load
    // CHECK: %[[V1:.*]] = arith.select %[[IN1]], %[[L1]], %cst
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

// Rows of 30 elements start at multiples of 2 elements, so chunks of 4 are read in halves.
gpu.module @narrow_module {
  // CHECK-LABEL: gpu.func @narrow
  gpu.func @narrow(%src: memref<16x30xf16>, %dst: memref<16x32xf16>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f16
    // CHECK-COUNT-2: vector.load {{.*}} {alignment = 4 : i64} : memref<16x30xf16>, vector<2xf16>
    // CHECK: vector.shuffle
    // CHECK: vector.store {{.*}} {alignment = 8 : i64} : memref<16x32xf16>, vector<4xf16>
    %v = vector.transfer_read %src[%c0, %c0], %zero {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[16, 32], 4>]}
        : memref<16x30xf16>, vector<16x32xf16>
    vector.transfer_write %v, %dst[%c0, %c0] {in_bounds = [true, true]} : vector<16x32xf16>, memref<16x32xf16>
    gpu.return
  }
}

// -----

// One warp, one instruction: fragments come from shared memory by ldmatrix, B transposed on the way.
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
    %a = mosaic_gpu.vector_load %sa {out_layouts = [#a]} : memref<16x16xf16, #smem> -> vector<16x16xf16>
    // CHECK: nvgpu.ldmatrix %[[B]][{{.*}}] {numTiles = 2 : i32, transpose = true} : {{.*}} -> vector<2x2xf16>
    %b = mosaic_gpu.vector_load %sb {out_layouts = [#b]} : memref<16x8xf16, #smem> -> vector<16x8xf16>
    // CHECK: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
    %c = mosaic_gpu.mma accumulator(%zero : vector<16x8xf32>) a(%a : vector<16x16xf16>) b(%b : vector<16x8xf16>)
        {out_layouts = [#c]} -> vector<16x8xf32>
    // CHECK-COUNT-2: vector.store {{.*}} {alignment = 8 : i64} : memref<16x8xf32>, vector<2xf32>
    vector.transfer_write %c, %dst[%c0, %c0] {in_bounds = [true, true]} : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// The loop carries one register for each that the layout gives a thread; a splat starts it.
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

// A chunk that ends outside copies fewer elements and fills up with zeros.
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

// A kernel of threads is not a block-level kernel.
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
