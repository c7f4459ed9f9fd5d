// Sub-byte elements: layouts in which two threads would access one byte, and memory that does not begin or end at a
// byte boundary.
// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_80
// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-rocdl=target=gfx942
// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-rocdl=target=gfx1100
// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-rocdl=target=gfx1250

#smem = #gpu.address_space<workgroup>
#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @shared_load() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 : memref<256xi4, #smem>
    // expected-error @below {{elements of 4 bits that one thread holds are not adjacent in memory, so two threads would access the same byte; use another layout}}
    %v = mosaic_gpu.vector_load %s {out_layouts = [#one]} : memref<256xi4, #smem> -> vector<256xi4>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#two = #mosaic_gpu.WGStridedFragLayout<[256], 2>
gpu.module @m {
  gpu.func @shared_store(%x: i2) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 : memref<256xi2, #smem>
    %v = vector.broadcast %x : i2 to vector<256xi2>
    %w = arith.addi %v, %v {in_layouts = [#two, #two], out_layouts = [#two]} : vector<256xi2>
    // expected-error @below {{elements of 2 bits that one thread holds are not adjacent in memory, so two threads would access the same byte; use another layout}}
    mosaic_gpu.vector_store %w, %s {in_layouts = [#two]} : vector<256xi2>, memref<256xi2, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#row = #mosaic_gpu.WGStridedFragLayout<[256], 4>
gpu.module @m {
  gpu.func @shared_transfer(%pad: i4) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = mosaic_gpu.slice_smem 0 : memref<256xi4, #smem>
    // expected-error @below {{cannot be lowered to thread level: an operand is tiled or swizzled shared memory (packed elements); this op requires memory without tile and swizzle, so use a buffer without transforms}}
    %v = vector.transfer_read %s[%c0], %pad {in_bounds = [true], out_layouts = [#row]} : memref<256xi4, #smem>, vector<256xi4>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @odd_view(%i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 : memref<512xi4, #smem>
    // expected-error @below {{cannot be lowered to thread level: the offset of the view in dimension 0 cannot be proven to be a multiple of 2 elements, which is one byte}}
    %v = memref.subview %s[%i] [256] [1] : memref<512xi4, #smem> to memref<256xi4, strided<[1], offset: ?>, #smem>
    %x = mosaic_gpu.vector_load %v {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], 4>]} : memref<256xi4, strided<[1], offset: ?>, #smem> -> vector<256xi4>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @odd_cast(%i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 : memref<512xi2, #smem>
    %c2 = arith.constant 2 : index
    %j = arith.muli %i, %c2 : index
    // expected-error @below {{cannot be lowered to thread level: the offset of the view cannot be proven to be a multiple of 4 elements, which is one byte}}
    %v = memref.reinterpret_cast %s to offset: [%j], sizes: [256], strides: [1] : memref<512xi2, #smem> to memref<256xi2, strided<[1], offset: ?>, #smem>
    %x = mosaic_gpu.vector_load %v {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], 4>]} : memref<256xi2, strided<[1], offset: ?>, #smem> -> vector<256xi2>
    gpu.return
  }
}
