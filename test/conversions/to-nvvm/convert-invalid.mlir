// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_90a

gpu.module @m {
  // expected-error @below {{'gpu.func' op requires the attribute 'known_block_size', as all block-level kernels; set it to the number of threads, e.g. array<i32: 128, 1, 1>}}
  gpu.func @no_block_size() kernel {
    mosaic_gpu.async_commit_group
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{has blocks of 48 threads; a multiple of the warp size of sm_90a, 32, is required}}
  gpu.func @block_size() kernel attributes {known_block_size = array<i32: 48, 1, 1>} {
    mosaic_gpu.async_commit_group
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @no_layout(%m: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{'mosaic_gpu.vector_load' op does not have a layout for its result; run mosaic-gpu-infer-layouts, or set the attribute 'out_layouts'}}
    %v = mosaic_gpu.vector_load %m : memref<64xf32> -> vector<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @misfit(%m: memref<64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{has a vector of type 'vector<64xf32>', which is incompatible with layout #mosaic_gpu.WGStridedFragLayout<[64], 1>: the strided layout has 64 chunks of 1 elements, which cannot be distributed evenly across 128 threads; the number of chunks must be a multiple of the number of threads}}
    %v = mosaic_gpu.vector_load %m {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64], 1>]}
        : memref<64xf32> -> vector<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @warps(%m: memref<64x8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @below {{has a vector of type 'vector<64x8xf32>', which is incompatible with layout #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>: the layout is defined for 4 warps of 32 lanes}}
    %v = mosaic_gpu.vector_load %m {out_layouts = [#mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]],
        warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>]} : memref<64x8xf32> -> vector<64x8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @disagree(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = mosaic_gpu.vector_load %m {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], 1>]}
        : memref<256xf32> -> vector<256xf32>
    %b = mosaic_gpu.vector_load %m {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], 2>]}
        : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{has operands in different layouts: #mosaic_gpu.WGStridedFragLayout<[256], 1> and #mosaic_gpu.WGStridedFragLayout<[256], 2>}}
    %c = arith.addf %a, %b : vector<256xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @cast(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = mosaic_gpu.vector_load %m {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], 1>]}
        : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{'mosaic_gpu.layout_cast' op cannot change the layout from #mosaic_gpu.WGStridedFragLayout<[256], 1> to #mosaic_gpu.WGSplatFragLayout<[256]>: the splat layout holds one scalar for all elements, but elements of the vector may differ}}
    %b = mosaic_gpu.layout_cast x(%a : vector<256xf32>) {new_layout = #mosaic_gpu.WGSplatFragLayout<[256]>}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @wanted(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = mosaic_gpu.vector_load %m {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], 1>]}
        : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{requires layout #mosaic_gpu.WGStridedFragLayout<[256], 2> for vector operand #0, but the operand has layout #mosaic_gpu.WGStridedFragLayout<[256], 1>; insert 'mosaic_gpu.layout_cast' on the operand}}
    mosaic_gpu.vector_store %a, %m {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], 2>]}
        : vector<256xf32>, memref<256xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @constant() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{is a block-level constant with different elements, which is not supported; load the values from memory}}
    %a = arith.constant {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[32], 1>]} dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"> : vector<32xi8>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @unknown(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = mosaic_gpu.vector_load %m {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], 1>]}
        : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{'vector.interleave' op cannot be lowered to thread level: this op is not supported on block-level vectors}}
    %s = vector.interleave %a, %a : vector<256xf32> -> vector<512xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @alloc() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    mosaic_gpu.async_commit_group
    // expected-error @below {{allocates memory; run smalti-allocate-shared-memory before this conversion}}
    %m = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @slice() kernel attributes {known_block_size = array<i32: 64, 1, 1>, smalti.shared_memory_bytes = 128 : i64} {
    // expected-error @below {{ends at byte 256 of shared memory; the kernel has 128 bytes}}
    %m = mosaic_gpu.slice_smem 0 : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @too_much() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @below {{ends at byte 1048576 of shared memory; a block on sm_90a has at most 232448 bytes}}
    %m = mosaic_gpu.slice_smem 0 : memref<262144xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @rows(%src: memref<100x61xf16>, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %m = mosaic_gpu.slice_smem 0 : memref<16x16xf16, #gpu.address_space<workgroup>>
    // expected-error @below {{has a source or destination whose rows cannot be proven to be contiguous and aligned to 4 bytes, the size of the smallest asynchronous copy on sm_90a; copy through registers with 'vector_load' and 'vector_store'}}
    mosaic_gpu.async_copy %src[%i, %i] to %m : memref<100x61xf16> to memref<16x16xf16, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

#a = #mosaic_gpu.TiledLayout<[[16, 16], [8, 8], [2]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
#b = #mosaic_gpu.TiledLayout<[[16, 8], [8, 8], [2]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
#c = #mosaic_gpu.TiledLayout<[[16, 8], [8, 8], [2]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
gpu.module @m {
  gpu.func @mma(%ma: memref<16x16xf16>, %mb: memref<16x8xf16>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %a = mosaic_gpu.vector_load %ma {out_layouts = [#a]} : memref<16x16xf16> -> vector<16x16xf16>
    %b = mosaic_gpu.vector_load %mb {out_layouts = [#b]} : memref<16x8xf16> -> vector<16x8xf16>
    // expected-error @below {{does not have the layouts of an MMA instruction of sm_90a (run mosaic-gpu-infer-layouts to choose them): operand A is 'vector<16x16xf16>' in layout}}
    %c = mosaic_gpu.mma accumulator(%zero : vector<16x8xf32>) a(%a : vector<16x16xf16>) b(%b : vector<16x8xf16>)
        {out_layouts = [#c]} -> vector<16x8xf32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
#two = #mosaic_gpu.WGStridedFragLayout<[256], 2>
gpu.module @m {
  gpu.func @carried(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %init = mosaic_gpu.vector_load %m {out_layouts = [#one]} : memref<256xf32> -> vector<256xf32>
    %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %init) -> (vector<256xf32>) {
      %v = mosaic_gpu.vector_load %m {out_layouts = [#two]} : memref<256xf32> -> vector<256xf32>
      // expected-error @below {{forwards a vector in layout #mosaic_gpu.WGStridedFragLayout<[256], 2> to a value in layout #mosaic_gpu.WGStridedFragLayout<[256], 1>; both must be equal: insert 'mosaic_gpu.layout_cast' before this op}}
      scf.yield %v : vector<256xf32>
    }
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @cluster_memory(%m: memref<256xf32, #mosaic_gpu.smem_cluster>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @below {{'mosaic_gpu.vector_load' op accesses shared memory of another block, which is not supported; use 'async_store_smem' for stores}}
    %v = mosaic_gpu.vector_load %m {out_layouts = [#one]}
        : memref<256xf32, #mosaic_gpu.smem_cluster> -> vector<256xf32>
    gpu.return
  }
}
