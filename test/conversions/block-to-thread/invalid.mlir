// Errors of the conversion from block level to thread level: the full messages.
// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_90a

gpu.module @m {
  gpu.func @k(%m: memref<64x6xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{has a vector of type 'vector<64x6xf32>', which is incompatible with layout #mosaic_gpu.WGStridedFragLayout<[64, 6], 4>: the last dimension of shape [64, 6] is not a multiple of 4, the number of consecutive elements that the layout gives a thread}}
    %v = mosaic_gpu.vector_load %m {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 6], 4>]} : memref<64x6xf32> -> vector<64x6xf32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %m {out_layouts = [#one]} : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{has a vector of type 'vector<256xf32>', which is incompatible with layout "none": the attribute is not the layout of a vector; use #mosaic_gpu.TiledLayout, WGStridedFragLayout or WGSplatFragLayout}}
    %w = arith.negf %v {in_layouts = ["none"]} : vector<256xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    // expected-error @below {{which is incompatible with layout #mosaic_gpu.WGStridedFragLayout<[4], 1>: scalable vectors are not supported}}
    %v = vector.transfer_read %m[%c0], %zero {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[4], 1>]} : memref<256xf32>, vector<[4]xf32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @k(%t: tensor<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    // expected-error @below {{cannot be lowered to thread level: the op accesses a tensor; a memref is required}}
    %v = vector.transfer_read %t[%c0], %zero {out_layouts = [#one]} : tensor<256xf32>, vector<256xf32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %mask = arith.constant {out_layouts = [#one]} dense<true> : vector<256xi1>
    // expected-error @below {{cannot be lowered to thread level: masked transfers are not supported; transfer the whole vector, and apply the mask to it with arith.select}}
    %v = vector.transfer_read %m[%c0], %zero, %mask {out_layouts = [#one]} : memref<256xf32>, vector<256xf32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    // expected-error @below {{cannot be lowered to thread level: the permutation map broadcasts a dimension, which is not supported; transfer without the broadcast, and then broadcast the vector}}
    %v = vector.transfer_read %m[%c0], %zero {in_bounds = [true], permutation_map = affine_map<(d0) -> (0)>, out_layouts = [#one]} : memref<256xf32>, vector<256xf32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32, affine_map<(d0) -> (d0 mod 7)>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    // expected-error @below {{cannot be lowered to thread level: the layout of the memref is not strided; use a strided layout}}
    %v = vector.transfer_read %m[%c0], %zero {out_layouts = [#one]} : memref<256xf32, affine_map<(d0) -> (d0 mod 7)>>, vector<256xf32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 2>
gpu.module @m {
  gpu.func @bits_of_upstream(%m: memref<256xi1>, %i: index, %b: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{cannot be lowered to thread level: the elements of the memref are smaller than a byte, which this access does not support; use elements of at least 8 bits}}
    %v = vector.transfer_read %m[%i], %b {in_bounds = [true], out_layouts = [#one]} : memref<256xi1>, vector<256xi1>
    vector.transfer_write %v, %m[%i] {in_bounds = [true], in_layouts = [#one]} : vector<256xi1>, memref<256xi1>
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op has 'known_block_size' = [64, 2, 1]; blocks of a block-level kernel are one-dimensional: use [N, 1, 1]}}
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 2, 1>} {
    mosaic_gpu.async_commit_group
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op has blocks of 2048 threads; a block on sm_90a has at most 1024}}
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 2048, 1, 1>} {
    mosaic_gpu.async_commit_group
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op has branches between MLIR blocks; in block-level kernels, use scf.for, scf.while and scf.if}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    mosaic_gpu.async_commit_group
    cf.br ^next
  ^next:
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %m {out_layouts = [#one]} : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{has a vector of type 'vector<256xf32>', which is incompatible with layout #mosaic_gpu.WGStridedFragLayout<[128], 1>: the shape of the layout, [128], differs from the shape of the vector}}
    %w = arith.addf %v, %v {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>, #one], out_layouts = [#one]} : vector<256xf32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %m {out_layouts = [#one]} : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{has 2 vector operands, but 'in_layouts' has 1 entry}}
    %w = arith.addf %v, %v {in_layouts = [#one], out_layouts = [#one]} : vector<256xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    mosaic_gpu.async_commit_group
    // expected-error @below {{has branches between MLIR blocks; in block-level kernels, use scf.for, scf.while and scf.if}}
    scf.execute_region {
      cf.br ^next
    ^next:
      scf.yield
    }
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %m {out_layouts = [#one]} : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{broadcasts a vector in layout #mosaic_gpu.WGStridedFragLayout<[256], 1>; only scalars and splats can be broadcast: use 'mosaic_gpu.broadcast_in_dim'}}
    %w = vector.broadcast %v : vector<256xf32> to vector<2x256xf32>
    gpu.return
  }
}

// -----

#splat = #mosaic_gpu.WGSplatFragLayout<[256]>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c7 = arith.constant 7 : index
    // expected-error @below {{'vector.create_mask' op has a result in the splat layout, in which all elements are equal, but elements of this mask may differ; use another layout}}
    %w = vector.create_mask %c7 {out_layouts = [#splat]} : vector<256xi1>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
#two = #mosaic_gpu.WGStridedFragLayout<[256], 2>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %m {out_layouts = [#one]} : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{has a result in layout #mosaic_gpu.WGStridedFragLayout<[256], 2>, but operands in layout #mosaic_gpu.WGStridedFragLayout<[256], 1>}}
    %w = arith.negf %v {out_layouts = [#two]} : vector<256xf32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
#two = #mosaic_gpu.WGStridedFragLayout<[256], 2>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = mosaic_gpu.vector_load %m {out_layouts = [#one]} : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{has layout #mosaic_gpu.WGStridedFragLayout<[256], 2> for loop-carried vector #0, but its initial value has layout #mosaic_gpu.WGStridedFragLayout<[256], 1>; insert 'mosaic_gpu.layout_cast' on the initial value}}
    %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %v) -> (vector<256xf32>) {
      scf.yield %x : vector<256xf32>
    } {out_layouts = [#two]}
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %m {out_layouts = [#one]} : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{has 'multimem', a store to several devices, which is not supported; remove 'multimem' and store to each device}}
    mosaic_gpu.vector_store %v, %m {multimem = true} : vector<256xf32>, memref<256xf32>
    gpu.return
  }
}

// -----

#splat = #mosaic_gpu.WGSplatFragLayout<[256]>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @below {{has a result in the splat layout, in which all elements are equal, but elements in memory may differ; use another layout}}
    %v = mosaic_gpu.vector_load %m {out_layouts = [#splat]} : memref<256xf32> -> vector<256xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%m: memref<7xf32>) kernel attributes {known_block_size = array<i32: 192, 1, 1>} {
    %x = arith.constant dense<1.0> : vector<7xf32>
    // expected-error @below {{stores a splat that cannot be distributed across the threads: }}
    mosaic_gpu.vector_store %x, %m : vector<7xf32>, memref<7xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%src: memref<64x64xi4>, %d: memref<16x16xi4, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-error @below {{cannot copy elements of type 'i4': asynchronous copies require elements of whole bytes; load the elements with 'mosaic_gpu.vector_load', and store them with 'mosaic_gpu.vector_store'}}
    mosaic_gpu.async_copy %src[%c0, %c0] to %d : memref<64x64xi4> to memref<16x16xi4, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %m {out_layouts = [#one]} : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{has type 'memref<64xf32, 3>'; in a block-level kernel, slices of shared memory must have #gpu.address_space<workgroup>}}
    %s = mosaic_gpu.slice_smem 0 : memref<64xf32, 3>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @below {{a static shape and a contiguous layout are required}}
    %s = mosaic_gpu.slice_smem 0 : memref<8x8xf32, strided<[16, 1]>, #gpu.address_space<workgroup>>
    %v = mosaic_gpu.vector_load %m {out_layouts = [#one]} : memref<256xf32> -> vector<256xf32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 : memref<256xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{declares transforms [#mosaic_gpu.swizzle<128 : i32>] for an operand, but the layout of its buffer in shared memory is: no tile; both must be equal}}
    %v = mosaic_gpu.vector_load %s {out_layouts = [#one], in_transforms = [[#mosaic_gpu.swizzle<128 : i32>]]} : memref<256xf32, #gpu.address_space<workgroup>> -> vector<256xf32>
    gpu.return
  }
}

// -----

#tiled = #mosaic_gpu.TiledLayout<[[16, 8], [8, 8], [2]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
gpu.module @m {
  gpu.func @k(%m: memref<256xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = arith.constant dense<1.0> : vector<16x8xf32>
    %a = arith.constant dense<1.0> : vector<16x16xf16>
    %b = arith.constant dense<1.0> : vector<16x8xf16>
    // expected-error @below {{requires a tiled layout for operand 'a', but its layout is #mosaic_gpu.WGSplatFragLayout<[16, 16]>; insert 'mosaic_gpu.layout_cast'}}
    %c = mosaic_gpu.mma accumulator(%x : vector<16x8xf32>) a(%a : vector<16x16xf16>) b(%b : vector<16x8xf16>) {out_layouts = [#tiled]} -> vector<16x8xf32>
    mosaic_gpu.async_commit_group
    gpu.return
  }
}

// -----

#a = #mosaic_gpu.TiledLayout<[[16, 16], [8, 8], [2]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
#b = #mosaic_gpu.TiledLayout<[[16, 8], [8, 8], [2]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
#strided = #mosaic_gpu.WGStridedFragLayout<[16, 8], 1>
gpu.module @m {
  gpu.func @k(%ma: memref<16x16xf16>, %mb: memref<16x8xf16>, %mc: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = mosaic_gpu.vector_load %ma {out_layouts = [#a]} : memref<16x16xf16> -> vector<16x16xf16>
    %b = mosaic_gpu.vector_load %mb {out_layouts = [#b]} : memref<16x8xf16> -> vector<16x8xf16>
    %c = mosaic_gpu.vector_load %mc {out_layouts = [#strided]} : memref<16x8xf32> -> vector<16x8xf32>
    // expected-error @below {{has an accumulator in layout #mosaic_gpu.WGStridedFragLayout<[16, 8], 1>, but a result in layout}}
    %r = mosaic_gpu.mma accumulator(%c : vector<16x8xf32>) a(%a : vector<16x16xf16>) b(%b : vector<16x8xf16>) {out_layouts = [#b]} -> vector<16x8xf32>
    gpu.return
  }
}

// -----

#a = #mosaic_gpu.TiledLayout<[[16, 16], [8, 8], [2]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
#b = #mosaic_gpu.TiledLayout<[[16, 8], [8, 8], [2]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>
#strided = #mosaic_gpu.WGStridedFragLayout<[16, 8], 1>
gpu.module @m {
  gpu.func @k(%ma: memref<16x16xf16>, %mb: memref<16x8xf16>, %mc: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = mosaic_gpu.vector_load %ma {out_layouts = [#a]} : memref<16x16xf16> -> vector<16x16xf16>
    %b = mosaic_gpu.vector_load %mb {out_layouts = [#b]} : memref<16x8xf16> -> vector<16x8xf16>
    %c = mosaic_gpu.vector_load %mc {out_layouts = [#strided]} : memref<16x8xf32> -> vector<16x8xf32>
    // expected-error @below {{requires a tiled layout for its result, such as that of an MMA accumulator (run mosaic-gpu-infer-layouts to choose one), but the layout of the result is #mosaic_gpu.WGStridedFragLayout<[16, 8], 1>}}
    %r = mosaic_gpu.mma accumulator(%c : vector<16x8xf32>) a(%a : vector<16x16xf16>) b(%b : vector<16x8xf16>) {out_layouts = [#strided]} -> vector<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%v: vector<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    mosaic_gpu.async_commit_group
    // expected-error @below {{uses a block-level vector that does not have a layout; run mosaic-gpu-infer-layouts, or set the attribute 'out_layouts' on the op that produces the vector}}
    %w = arith.negf %v : vector<256xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%t: tensor<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %x = arith.constant dense<1.0> : vector<256xf32>
    // expected-error @below {{cannot be lowered to thread level: the op accesses a tensor; a memref is required}}
    %w = vector.transfer_write %x, %t[%c0] : vector<256xf32>, tensor<256xf32>
    mosaic_gpu.async_commit_group
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %b = mosaic_gpu.slice_smem 0 : memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
    // expected-error @below {{'mosaic_gpu.arrive' op uses 'orders_tensor_core', which orders tcgen05 operations; sm_90a does not have}}
    mosaic_gpu.arrive %b {orders_tensor_core = true} : memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%m: memref<64x8xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    // expected-error @below {{cannot be lowered to thread level: the memref has elements of type i32 and the vector has elements of type f32; the same type is required}}
    %v = vector.transfer_read %m[%c0, %c0], %zero {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 8], 4>]} : memref<64x8xi32>, vector<64x8xf32>
    mosaic_gpu.async_commit_group
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: ui8) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{has a vector of type 'vector<64xui8>'; its elements must be signless integers, floats or index}}
    %v = vector.broadcast %x {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[64]>]} : ui8 to vector<64xui8>
    gpu.return
  }
}
