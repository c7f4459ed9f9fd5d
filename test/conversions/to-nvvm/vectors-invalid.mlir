// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_90a
// RUN: not smalti-opt %s --split-input-file --convert-mosaic-gpu-to-nvvm=target=sm_80 2>&1 | FileCheck %s

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @devices(%x: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#one]} : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{'mosaic_gpu.vector_store' op has 'multimem', a store to several devices, which is not supported; remove 'multimem' and store to each device}}
    mosaic_gpu.vector_store %v, %x {multimem = true, in_layouts = [#one]} : vector<256xf32>, memref<256xf32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @atomic_bytes(%x: memref<256xi8>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#one]} : memref<256xi8> -> vector<256xi8>
    // expected-error @below {{has atomic_type 'add' for elements of type 'i8'; sm_90a has this atomic operation for elements of type i32, i64, f16, bf16, f32, f64}}
    mosaic_gpu.vector_store %v, %x {atomic_type = 0 : i32, in_layouts = [#one]} : vector<256xi8>, memref<256xi8>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @atomic_splat(%x: memref<3xi32>, %i: i32) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    %v = vector.broadcast %i : i32 to vector<3xi32>
    // expected-error @below {{stores a splat that cannot be distributed across the threads: }}
    mosaic_gpu.vector_store %v, %x {atomic_type = 0 : i32} : vector<3xi32>, memref<3xi32>
    gpu.return
  }
}

// -----

#two = #mosaic_gpu.WGStridedFragLayout<[256], 2>
#four = #mosaic_gpu.WGStridedFragLayout<[512], 4>
gpu.module @m {
  gpu.func @bits(%x: memref<256xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#two]} : memref<256xi32> -> vector<256xi32>
    // expected-error @below {{changes the element width, so the layout of its result cannot be that of its operand; set the attribute 'out_layouts'}}
    %h = vector.bitcast %v : vector<256xi32> to vector<512xi16>
    gpu.return
  }
}

// -----

#two = #mosaic_gpu.WGStridedFragLayout<[256], 2>
#eight = #mosaic_gpu.WGStridedFragLayout<[512], 8>
gpu.module @m {
  gpu.func @bits(%x: memref<256xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#two]} : memref<256xi32> -> vector<256xi32>
    // expected-error @below {{must not move bits between threads, but the threads hold different bits of operand and result for 'vector<256xi32>' in layout #mosaic_gpu.WGStridedFragLayout<[256], 2> and 'vector<512xi16>' in layout #mosaic_gpu.WGStridedFragLayout<[512], 8>}}
    %h = vector.bitcast %v {out_layouts = [#eight]} : vector<256xi32> to vector<512xi16>
    gpu.return
  }
}

// -----

// All lanes of a quarter warp access one bank.
#row = #mosaic_gpu.TiledLayout<[[128], [32], [1]], warp_dims = [-3], lane_dims = [-2], vector_dim = -1>
#rows = #mosaic_gpu.TiledLayout<[[128, 1], [32, 1]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>
gpu.module @m {
  gpu.func @conflicts() kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %m = mosaic_gpu.slice_smem 0 {out_transforms = [[]]} : memref<128x32xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{'mosaic_gpu.vector_load' op cannot be lowered to thread level: every access pattern has bank conflicts; the best is}}
    // expected-note @below {{to permit bank conflicts, set 'optimized = false' on the op}}
    %v = mosaic_gpu.vector_load %m {optimized = true, out_layouts = [#rows]} : memref<128x32xf32, #gpu.address_space<workgroup>> -> vector<128x32xf32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 4>
gpu.module @m {
  gpu.func @small_floats(%x: memref<256xf8E4M3FN>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#one]} : memref<256xf8E4M3FN> -> vector<256xf8E4M3FN>
    // CHECK: 'arith.fptosi' op converts 'f8E4M3FN' to 'i32', for which sm_80 does not have an instruction; convert to f32 first, and then to 'i32'
    %i = arith.fptosi %v : vector<256xf8E4M3FN> to vector<256xi32>
    // expected-error @below {{'arith.extf' op converts 'f8E4M3FN' to 'f128'; floats of at most 8 bits convert only to and from each other, f16, bf16, f32 and f64, and from integers: convert through f32}}
    %w = arith.extf %v : vector<256xf8E4M3FN> to vector<256xf128>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 4>
gpu.module @m {
  gpu.func @unknown_floats(%x: memref<256xf8E5M2FNUZ>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#one]} : memref<256xf8E5M2FNUZ> -> vector<256xf8E5M2FNUZ>
    // expected-error @below {{'arith.fptoui' op converts 'f8E5M2FNUZ' to 'i8', for which sm_90a does not have an instruction; convert to f32 first, and then to 'i8'}}
    %w = arith.fptoui %v : vector<256xf8E5M2FNUZ> to vector<256xi8>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 4>
gpu.module @m {
  gpu.func @sum_of_small_floats(%x: memref<256xf8E5M2>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#one]} : memref<256xf8E5M2> -> vector<256xf8E5M2>
    // expected-error @below {{'vector.reduction' op reduces elements of type 'f8E5M2', which is not supported; convert the vector to f16, bf16, f32 or f64 first}}
    %s = vector.reduction <add>, %v : vector<256xf8E5M2> into f8E5M2
    gpu.return
  }
}

// -----

#strided = #mosaic_gpu.WGStridedFragLayout<[64, 64], 4>
gpu.module @m {
  gpu.func @crossing(%x: memref<64x64xf32>, %y: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %zero = arith.constant {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[64]>]} dense<0.0> : vector<64xf32>
    %v = mosaic_gpu.vector_load %x {out_layouts = [#strided]} : memref<64x64xf32> -> vector<64x64xf32>
    // expected-error @below {{'vector.multi_reduction' op cannot reduce a vector in layout #mosaic_gpu.WGStridedFragLayout<[64, 64], 4>: }}
    %r = vector.multi_reduction <add>, %v, %zero [1] : vector<64x64xf32> to vector<64xf32>
    gpu.return
  }
}

// -----

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#row = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>
gpu.module @m {
  gpu.func @other_layout(%x: memref<64x64xf32>, %y: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %zero = arith.constant {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[64]>]} dense<0.0> : vector<64xf32>
    %v = mosaic_gpu.vector_load %x {out_layouts = [#wgmma]} : memref<64x64xf32> -> vector<64x64xf32>
    // expected-error @below {{has a result in layout #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>, but the reduction of a vector in layout #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1> gives another layout; set the layout of the result in 'out_layouts' to #mosaic_gpu.TiledLayout<[[8], [2]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], lane_dims = [#mosaic_gpu.Replicated<times = 8>, -2], vector_dim = -1>}}
    %r = vector.multi_reduction <add>, %v, %zero {out_layouts = [#row]} [0] : vector<64x64xf32> to vector<64xf32>
    gpu.return
  }
}

// -----

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#tcgen05 = #mosaic_gpu.TiledLayout<[[128, 8], [32, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
gpu.module @m {
  gpu.func @no_room(%x: memref<128x64xf16>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, smalti.shared_memory_bytes = 229376 : i64} {
    %m = mosaic_gpu.slice_smem 0 : memref<114688xf16, #gpu.address_space<workgroup>>
    %v = mosaic_gpu.vector_load %x {out_layouts = [#wgmma]} : memref<128x64xf16> -> vector<128x64xf16>
    // expected-error @below {{'mosaic_gpu.layout_cast' op moves elements between warps through 16384 bytes of shared memory in addition to the 229376 bytes of the kernel; a block on sm_90a has at most 232448}}
    %w = mosaic_gpu.layout_cast x(%v : vector<128x64xf16>) {new_layout = #tcgen05}
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 4>
gpu.module @m {
  gpu.func @print_small_floats(%x: memref<256xf8E5M2>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#one]} : memref<256xf8E5M2> -> vector<256xf8E5M2>
    // expected-error @below {{'mosaic_gpu.debug_print' op cannot print elements of type 'f8E5M2'}}
    mosaic_gpu.debug_print "{}", %v {in_layouts = [#one]} : vector<256xf8E5M2>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @print_a_small_float(%x: f8E5M2, %tile: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @below {{'mosaic_gpu.print_tile' op cannot print elements of type 'f8E5M2'}}
    mosaic_gpu.print_tile %tile, "x", %x : f8E5M2
    gpu.return
  }
}
