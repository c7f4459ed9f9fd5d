// RUN: smalti-opt %s --convert-mosaic-gpu-to-nvvm=target=sm_80 --verify-diagnostics --split-input-file

gpu.module @kernels {
  gpu.func @too_large(%to: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'mosaic_gpu.slice_smem' op has a slice that ends at byte 400000 of shared memory; a block on sm_80 has at most 166912 bytes: use smaller tiles or fewer buffers}}
    %x = mosaic_gpu.slice_smem 0 : memref<100000xf32, #gpu.address_space<workgroup>>
    %v = memref.load %x[%c0] : memref<100000xf32, #gpu.address_space<workgroup>>
    memref.store %v, %to[%c0] : memref<64xf32>
    gpu.return
  }
}

// -----

// A layout makes it a block-level kernel.
gpu.module @kernels {
  gpu.func @mixed(%from: memref<128xf32>, %to: memref<128xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %from[%c0], %zero {in_bounds = [true], out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 4>]}
        : memref<128xf32>, vector<128xf32>
    // expected-error @below {{'vector.load' op cannot be lowered to thread level: this op is not supported on block-level vectors}}
    %w = vector.load %from[%c0] : memref<128xf32>, vector<4xf32>
    vector.store %w, %to[%c0] : memref<128xf32>, vector<4xf32>
    gpu.return
  }
}
