// RUN: smalti-opt %s --split-input-file --convert-mosaic-gpu-to-rocdl=target=gfx942 --canonicalize --cse | FileCheck %s

// The hardware checks bounds: an out-of-bounds access reads zero or stores nothing.
gpu.module @double_module {
  // CHECK-LABEL: gpu.func @double
  gpu.func @double(%src: memref<1000xf32>, %dst: memref<1000xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // CHECK: %[[TID:.*]] = gpu.thread_id x
    // CHECK: %[[BASE:.*]] = arith.muli %[[TID]], %c4
    // CHECK: %[[IN:.*]] = arith.cmpi ult, %[[BASE]], %c1000
    // CHECK: %[[INDEX:.*]] = arith.index_cast %[[BASE]] : index to i32
    // CHECK: %[[MASKED:.*]] = arith.select %[[IN]], %[[INDEX]], %c1000_i32
    // CHECK: %[[V:.*]] = amdgpu.raw_buffer_load {{.*}}%{{.*}}[%[[MASKED]]] : memref<1000xf32>, i32 -> vector<4xf32>
    %v = vector.transfer_read %src[%c0], %zero {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[1024], 4>]}
        : memref<1000xf32>, vector<1024xf32>
    // CHECK: %[[D:.*]] = arith.addf %[[V]], %[[V]] : vector<4xf32>
    %d = arith.addf %v, %v : vector<1024xf32>
    // CHECK: amdgpu.raw_buffer_store {{.*}}%[[D]] -> %{{.*}}[%[[MASKED]]]
    vector.transfer_write %d, %dst[%c0] {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[1024], 4>]}
        : vector<1024xf32>, memref<1000xf32>
    gpu.return
  }
}

// -----

// Out-of-bounds lanes read a value that is not zero: the result of the hardware is replaced.
gpu.module @pad_module {
  // CHECK-LABEL: gpu.func @pad
  gpu.func @pad(%src: memref<250xf32>, %dst: memref<256xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    // CHECK: %[[L:.*]] = amdgpu.raw_buffer_load {{.*}} -> f32
    // CHECK: %[[B:.*]] = vector.broadcast %[[L]] : f32 to vector<1xf32>
    // CHECK: arith.select %{{.*}}, %[[B]], %cst
    %v = vector.transfer_read %src[%c0], %one {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], 1>]}
        : memref<250xf32>, vector<256xf32>
    // CHECK: vector.store
    vector.transfer_write %v, %dst[%c0] {in_bounds = [true]} : vector<256xf32>, memref<256xf32>
    gpu.return
  }
}

// -----

// Four waves, each with a column of 16x16 instruction tiles of 32x16. Buffer offsets are too small for memory of 2 GiB
// and more, so its accesses are masked instead.
#a = #mosaic_gpu.TiledLayout<[[16, 16], [4]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], lane_dims = [-2, -3], vector_dim = -1>
#b = #mosaic_gpu.TiledLayout<[[16, 64], [16, 16], [4, 1]], warp_dims = [-5], lane_dims = [-4, -3], vector_dim = -2>
#c = #mosaic_gpu.TiledLayout<[[16, 64], [16, 16], [4, 1]], warp_dims = [-5], lane_dims = [-4, -3], vector_dim = -2>
#smem = #gpu.address_space<workgroup>
gpu.module @mma_module {
  // CHECK-LABEL: gpu.func @mma
  // CHECK-SAME: workgroup(%[[SMEM:.*]] : memref<3072xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // CHECK-SAME: smalti.shared_memory_bytes = 3072
  gpu.func @mma(%dst: memref<40000x40000xf32>, %i: index) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    // CHECK-DAG: %[[A:.*]] = memref.view %[[SMEM]][%c0][] : {{.*}} to memref<32x16xf16
    // CHECK-DAG: %[[B:.*]] = memref.view %[[SMEM]][%c1024][] : {{.*}} to memref<16x64xf16
    %sa = mosaic_gpu.slice_smem 0 : memref<32x16xf16, #smem>
    %sb = mosaic_gpu.slice_smem 1024 : memref<16x64xf16, #smem>
    %zero = arith.constant dense<0.0> : vector<32x64xf32>
    // Threads communicate only through shared memory.
    // CHECK: amdgpu.lds_barrier
    gpu.barrier
    // CHECK-COUNT-2: vector.load %[[A]][{{.*}}] {alignment = 8 : i64} : {{.*}}, vector<4xf16>
    %a = mosaic_gpu.vector_load %sa {out_layouts = [#a]} : memref<32x16xf16, #smem> -> vector<32x16xf16>
    // CHECK-COUNT-4: vector.load %[[B]][{{.*}}] {{.*}}, vector<1xf16>
    %b = mosaic_gpu.vector_load %sb {out_layouts = [#b]} : memref<16x64xf16, #smem> -> vector<16x64xf16>
    // CHECK-COUNT-2: amdgpu.mfma 16x16x16 {{.*}} : vector<4xf16>, vector<4xf16>, vector<4xf32>
    %c = mosaic_gpu.mma accumulator(%zero : vector<32x64xf32>) a(%a : vector<32x16xf16>) b(%b : vector<16x64xf16>)
        {out_layouts = [#c]} -> vector<32x64xf32>
    // CHECK-NOT: raw_buffer_store
    // CHECK: scf.if
    // CHECK: vector.store
    vector.transfer_write %c, %dst[%i, %i] : vector<32x64xf32>, memref<40000x40000xf32>
    gpu.return
  }
}

// -----

// Threads communicate through global memory, so the barrier must order it, too.
#l = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @global_module {
  // CHECK-LABEL: gpu.func @global
  gpu.func @global(%m: memref<512xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %m[%c0], %zero {in_bounds = [true], out_layouts = [#l]} : memref<512xf32>, vector<256xf32>
    // CHECK: gpu.barrier
    gpu.barrier
    vector.transfer_write %v, %m[%c1] {in_bounds = [true]} : vector<256xf32>, memref<512xf32>
    gpu.return
  }
}

// -----

// Each thread reads only what it writes, so no thread waits for the global memory accesses of another.
#l = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @own_module {
  // CHECK-LABEL: gpu.func @own
  gpu.func @own(%m: memref<512xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %m[%c0], %zero {in_bounds = [true], out_layouts = [#l]} : memref<512xf32>, vector<256xf32>
    // CHECK: amdgpu.lds_barrier
    gpu.barrier
    vector.transfer_write %v, %m[%c0] {in_bounds = [true]} : vector<256xf32>, memref<512xf32>
    gpu.return
  }
}

// -----

// The offsets of elements of a memref with gaps reach 56. Upstream removes an access of memref<8x1xf32, strided<[8, 1]>> whose
// constant offset is 8 or more, so the buffer has one dimension of 64 elements.
#l = #mosaic_gpu.WGStridedFragLayout<[256, 1], 1>
gpu.module @gaps_module {
  // CHECK-LABEL: gpu.func @gaps
  gpu.func @gaps(%m: memref<8x1xf32, strided<[8, 1]>>, %o: memref<256x1xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // CHECK: %[[OFFSET:.*]] = arith.muli %{{.*}}, %c8_i32 : i32
    // CHECK: %[[MASKED:.*]] = arith.select %{{.*}}, %[[OFFSET]], %c64_i32
    // CHECK: amdgpu.raw_buffer_load {{.*}}[%[[MASKED]]] : memref<64xf32>, i32 -> f32
    %v = vector.transfer_read %m[%c0, %c0], %zero {out_layouts = [#l]}
        : memref<8x1xf32, strided<[8, 1]>>, vector<256x1xf32>
    vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, true], in_layouts = [#l]} : vector<256x1xf32>, memref<256x1xf32>
    gpu.return
  }
}

// -----

// Overlapping rows extend beyond the end of a buffer of this type, so the access is masked.
#l = #mosaic_gpu.WGStridedFragLayout<[16, 16], 1>
gpu.module @overlap_module {
  // CHECK-LABEL: gpu.func @overlap
  gpu.func @overlap(%m: memref<15x15xf32, strided<[1, 1]>>, %o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // CHECK-NOT: raw_buffer_load
    // CHECK: vector.load
    %v = vector.transfer_read %m[%c0, %c0], %zero {out_layouts = [#l]}
        : memref<15x15xf32, strided<[1, 1]>>, vector<16x16xf32>
    vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}
