// Errors of the lowering of TMA copies and wgmma: the full messages.
// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_90a

#smem = #gpu.address_space<workgroup>

gpu.module @m {
  gpu.func @k(%m: memref<500x300xf16>, %i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %b = mosaic_gpu.slice_smem 65536 : memref<!mosaic_gpu.barrier, #smem>
    %s = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>
    // expected-error @below {{cannot use TMA: the tensor map of the global memref has a stride of 600 bytes; it must be a multiple of 16 bytes below 2^40}}
    mosaic_gpu.async_load %m[%i, %i] [64, 64] to %s barrier(%b)
        : memref<500x300xf16>[i32, i32] to memref<64x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>

gpu.module @m {
  gpu.func @k(%m: memref<500x320xf16>, %i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %b = mosaic_gpu.slice_smem 65536 : memref<!mosaic_gpu.barrier, #smem>
    %s = mosaic_gpu.slice_smem 0 : memref<64x4xf16, #smem>
    // expected-error @below {{cannot use TMA: the rows of the slice in shared memory have 8 bytes; a multiple of 16 bytes is required}}
    mosaic_gpu.async_load %m[%i, %i] [64, 4] to %s barrier(%b)
        : memref<500x320xf16>[i32, i32] to memref<64x4xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>

gpu.module @m {
  gpu.func @k(%m: memref<512x320xf16>, %i: vector<64xi32>, %j: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %b = mosaic_gpu.slice_smem 65536 : memref<!mosaic_gpu.barrier, #smem>
    %s = mosaic_gpu.slice_smem 64 : memref<64x64xf16, #smem>
    // expected-error @below {{cannot use TMA: the address of the slice in shared memory must be a multiple of 128 bytes, but is only proven to be a multiple of 64; use constant offsets that are such multiples}}
    mosaic_gpu.async_load %m[%j, %j] [64, 64] to %s barrier(%b)
        : memref<512x320xf16>[i32, i32] to memref<64x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>

gpu.module @m {
  gpu.func @k(%m: memref<512x320xf16>, %i: i32, %peer: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %b = mosaic_gpu.slice_smem 65536 : memref<!mosaic_gpu.barrier, #smem>
    %s = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>
    // expected-error @below {{cannot be lowered for sm_90a: the copy accesses memory of another device, which is not supported; remove the peer or the multimem address}}
    mosaic_gpu.async_load %m[%i, %i] [64, 64] to %s barrier(%b) peer(%peer)
        : memref<512x320xf16>[i32, i32] to memref<64x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>

gpu.module @m {
  gpu.func @k(%m: memref<512x320xf64>, %i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 : memref<64x64xf64, #smem>
    // expected-error @below {{cannot be lowered for sm_90a: a TMA store cannot reduce elements of type 'f64' with 'add'; use i32, i64, f16, bf16, f32}}
    mosaic_gpu.async_store %s to %m[%i, %i] [64, 64] {reduction_op = 0 : i32}
        : memref<64x64xf64, #smem> to memref<512x320xf64>[i32, i32]
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>

gpu.module @m {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %b = mosaic_gpu.slice_smem 0 : memref<!mosaic_gpu.barrier, #smem>
    // expected-error @below {{expects 2000000 bytes; a phase of an mbarrier counts at most 1048575 bytes, so use a barrier for each part of the copies}}
    mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #smem>) 2000000
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>

gpu.module @m {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %zero = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %a = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>
    %b = mosaic_gpu.slice_smem 16384 : memref<64x64xf16, #smem>
    // expected-error @below {{cannot read operand 'a' from shared memory: the shared memory of the operand is not swizzled; a swizzle of 32, 64 or 128 bytes is required}}
    %p = mosaic_gpu.wgmma accumulator(%zero : vector<64x64xf32>) a(%a : memref<64x64xf16, #smem>)
        b(%b : memref<64x64xf16, #smem>) {in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
    gpu.return
  }
}
