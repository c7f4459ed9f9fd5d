// Errors on ops whose constraints cannot be satisfied.
// RUN: smalti-opt %s -split-input-file -verify-diagnostics --mosaic-gpu-infer-layouts

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @no_rule(%v: vector<16xf32>, %i: index, %m: memref<64xf32>) {
    %mask = arith.constant dense<true> : vector<16xi1>
    // expected-error@+1 {{'vector.compressstore' op is not supported in block-level kernels: layout inference does not have a rule for this op, which uses or produces a vector ('vector<16xi1>')}}
    vector.compressstore %m[%i], %mask, %v : memref<64xf32>, vector<16xi1>, vector<16xf32>
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  // The instruction takes 16 columns of 8-bit elements at least.
  func.func @wgmma_a(%c: vector<64x64xf32>, %a: vector<64x8xf8E4M3FN>, %b: memref<8x64xf8E4M3FN, #smem>) {
    // expected-error@+1 {{'mosaic_gpu.wgmma' op the layout of operand 'a' is WGMMA_8BIT, which is not valid for 'vector<64x8xf8E4M3FN>'}}
    %r = mosaic_gpu.wgmma accumulator(%c : vector<64x64xf32>) a(%a : vector<64x8xf8E4M3FN>) b(%b : memref<8x64xf8E4M3FN, #smem>) -> vector<64x64xf32>
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @tile() {
    %a = mosaic_gpu.slice_smem 0 : memref<64x96xf16, #smem>
    // expected-error@+1 {{'mosaic_gpu.with_transforms' op 'transforms' is not valid for 'memref<64x96xf16, #gpu.address_space<workgroup>>': size 96 of the memref is not a multiple of its tile size in #mosaic_gpu.tile, 64}}
    %w = mosaic_gpu.with_transforms %a [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<64x96xf16, #smem>
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @gather_of_three(%m: memref<512x64xf16>, %b: memref<!mosaic_gpu.barrier, #smem>, %r: vector<3xi32>) {
    %c0 = arith.constant 0 : i32
    %s = mosaic_gpu.slice_smem 0 : memref<3x64xf16, #smem>
    // expected-error@+1 {{'mosaic_gpu.async_load' op gathers 3 rows; the number of rows must be a multiple of 4}}
    mosaic_gpu.async_load %m[%r, %c0] [3, 64] to %s barrier(%b)
        : memref<512x64xf16>[vector<3xi32>, i32] to memref<3x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @narrow_gather(%m: memref<512x64xf16>, %b: memref<!mosaic_gpu.barrier, #smem>, %r: vector<16xi32>) {
    %c0 = arith.constant 0 : i32
    %s = mosaic_gpu.slice_smem 0 : memref<16x8xf16, #smem>
    // expected-error@+1 {{'mosaic_gpu.async_load' op gathers rows of 8 elements; the length must be a multiple of 16 (32 bytes)}}
    mosaic_gpu.async_load %m[%r, %c0] [16, 8] to %s barrier(%b)
        : memref<512x64xf16>[vector<16xi32>, i32] to memref<16x8xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @gather_of_columns(%m: memref<512x64xf16>, %b: memref<!mosaic_gpu.barrier, #smem>, %r: vector<16xi32>) {
    %c0 = arith.constant 0 : i32
    %s = mosaic_gpu.slice_smem 0 : memref<64x16xf16, #smem>
    // expected-error@+1 {{'mosaic_gpu.async_load' op gathers along dimension 1; only dimension 0 is supported}}
    mosaic_gpu.async_load %m[%c0, %r] [64, 16] to %s barrier(%b)
        : memref<512x64xf16>[i32, vector<16xi32>] to memref<64x16xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    return
  }
}

// -----

module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @broadcast(%v: vector<64xf32>) {
    // expected-error@+1 {{'vector.broadcast' op does not support a source vector of rank 1 or higher; use 'mosaic_gpu.broadcast_in_dim'}}
    %b = vector.broadcast %v : vector<64xf32> to vector<64x64xf32>
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @strided_view() {
    %a = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>
    // expected-error@+1 {{'memref.subview' op creates a view of shared memory with stride 2; strides must be 1, so that the view consists of whole tiles}}
    %s = memref.subview %a[0, 0] [32, 64] [2, 1] : memref<64x64xf16, #smem> to memref<32x64xf16, strided<[128, 1]>, #smem>
    return
  }
}

// -----

#tmem = #mosaic_gpu.tmem
#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 10 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @rows(%c: memref<96x64xf32, #tmem>, %a: memref<96x64xf16, #smem>, %b: memref<64x64xf16, #smem>, %i1: i1) {
    // expected-error@+1 {{'mosaic_gpu.tcgen05_mma' op the layout of the accumulator in tensor memory is not defined}}
    mosaic_gpu.tcgen05_mma accumulator(%c : memref<96x64xf32, #tmem>) a(%a : memref<96x64xf16, #smem>)
        b(%b : memref<64x64xf16, #smem>) accumulate(%i1)
    return
  }
}

// -----

// expected-error@+1 {{has compute capability 7.0, which does not match a known target; known targets: }}
module attributes {mosaic_gpu.arch_major = 7 : i32, mosaic_gpu.arch_minor = 0 : i32} {
}

// -----

// expected-error@+1 {{no target given: use the option 'target=NAME' or set the attribute smalti.target = "NAME" on the module}}
module {
}

// -----

// expected-error@+1 {{is compiled for cpu, which is not a GPU; layouts require a GPU target}}
module attributes {smalti.target = "cpu"} {
}

// -----

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
module attributes {smalti.target = "gfx942"} {
  func.func @lanes_of_another_chip(%v: vector<64x64xf16>) {
    // expected-error@+1 {{'mosaic_gpu.layout_cast' op the layout of the cast result is WGMMA, which is not valid for 'vector<64x64xf16>': the layout is defined for 4 warps of 32 lanes, but the block has 4 warps of 64 lanes; use a layout for this number of warps and lanes}}
    %a = mosaic_gpu.layout_cast x(%v : vector<64x64xf16>) {new_layout = #wgmma}
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
module attributes {smalti.target = "sm_80"} {
  func.func @wgmma_of_another_chip(%c: vector<64x64xf32>, %a: memref<64x64xf16, #smem>) {
    // expected-error@+1 {{'mosaic_gpu.wgmma' op requires wgmma, which sm_80 does not have; use 'mosaic_gpu.mma', or compile for sm_90a}}
    %r = mosaic_gpu.wgmma accumulator(%c : vector<64x64xf32>) a(%a : memref<64x64xf16, #smem>) b(%a : memref<64x64xf16, #smem>) -> vector<64x64xf32>
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
module attributes {smalti.target = "sm_90a"} {
  func.func @window_of_shared_memory(%m: memref<64x64xf32, #smem>, %i: index, %zero: f32) {
    // expected-error@+1 {{'vector.transfer_read' op supports only global memory; use 'mosaic_gpu.vector_load'}}
    %v = vector.transfer_read %m[%i, %i], %zero : memref<64x64xf32, #smem>, vector<64x64xf32>
    return
  }
}

// -----

module attributes {smalti.target = "sm_90a"} {
  func.func @transposed_window(%m: memref<64x64xf32>, %v: vector<64x64xf32>, %i: index) {
    // expected-error@+1 {{'vector.transfer_write' op has the permutation map affine_map<(d0, d1) -> (d1, d0)>, which is not supported in block-level kernels; the vector must span the last dimensions of the memory in their order}}
    vector.transfer_write %v, %m[%i, %i] {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<64x64xf32>, memref<64x64xf32>
    return
  }
}
