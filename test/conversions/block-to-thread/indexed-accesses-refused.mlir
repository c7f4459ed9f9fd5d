// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_90a
// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-rocdl=target=gfx1201

#two = #mosaic_gpu.WGStridedFragLayout<[128], 2>
#one = #mosaic_gpu.WGStridedFragLayout<[128], 1>
gpu.module @m {
  gpu.func @layouts(%m: memref<?xi32>, %at: memref<128xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %i = mosaic_gpu.vector_load %at {out_layouts = [#two]} : memref<128xi32> -> vector<128xi32>
    %x = mosaic_gpu.vector_load %at {out_layouts = [#one]} : memref<128xi32> -> vector<128xi32>
    %mask = arith.constant dense<true> : vector<128xi1>
    // expected-error @below {{has operands in different layouts}}
    vector.scatter %m[%c0] [%i], %mask, %x : memref<?xi32>, vector<128xi32>, vector<128xi1>, vector<128xi32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[128], 1>
gpu.module @m {
  gpu.func @indices(%m: memref<?xi16>, %at: memref<128xi16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %i = mosaic_gpu.vector_load %at {out_layouts = [#one]} : memref<128xi16> -> vector<128xi16>
    %mask = arith.constant dense<true> : vector<128xi1>
    // expected-error @below {{has a vector of indices of type 'i16'; use i32, i64 or index}}
    vector.scatter %m[%c0] [%i], %mask, %i : memref<?xi16>, vector<128xi16>, vector<128xi1>, vector<128xi16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @small(%m: memref<?xi1>, %at: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %i = vector.broadcast %at {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]} : i32 to vector<128xi32>
    %mask = arith.constant dense<true> : vector<128xi1>
    %zero = arith.constant dense<false> : vector<128xi1>
    // expected-error @below {{cannot be lowered to thread level: the elements of the memref are smaller than a byte, which this access does not support; use elements of at least 8 bits}}
    %v = vector.gather %m[%c0] [%i], %mask, %zero : memref<?xi1>, vector<128xi32>, vector<128xi1>, vector<128xi1> into vector<128xi1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @tensor(%m: tensor<?xi32>, %at: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %i = vector.broadcast %at {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]} : i32 to vector<128xi32>
    %mask = arith.constant dense<true> : vector<128xi1>
    // expected-error @below {{cannot be lowered to thread level: the op accesses 'tensor<?xi32>'; a strided memref is required}}
    %v = vector.gather %m[%c0] [%i], %mask, %i {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]} : tensor<?xi32>, vector<128xi32>, vector<128xi1>, vector<128xi32> into vector<128xi32>
    gpu.return
  }
}

// -----

#tiled = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]
gpu.module @m {
  gpu.func @transforms(%at: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = mosaic_gpu.slice_smem 0 {out_transforms = #tiled} : memref<64x64xf16, #gpu.address_space<workgroup>>
    %i = vector.broadcast %at {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]} : i32 to vector<128xi32>
    %mask = arith.constant dense<true> : vector<128xi1>
    %zero = arith.constant dense<0.0> : vector<128xf16>
    // expected-error @below {{cannot be lowered to thread level: an operand is tiled or swizzled shared memory}}
    vector.scatter %s[%c0, %c0] [%i], %mask, %zero : memref<64x64xf16, #gpu.address_space<workgroup>>, vector<128xi32>, vector<128xi1>, vector<128xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @splat_result(%m: memref<?xi32>, %at: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = vector.broadcast %at {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]} : i32 to vector<128xi32>
    // expected-error @below {{has a result in the splat layout, in which all elements are equal, but the old values in memory may differ; use another layout}}
    %old = mosaic_gpu.atomic_rmw addi %i, %m[%i] device relaxed : vector<128xi32>, memref<?xi32>, vector<128xi32> -> vector<128xi32>
    gpu.return
  }
}
