// Element types that are not supported in shared memory.
// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_90a
// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-rocdl=target=gfx942

gpu.module @m {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @below {{has elements of type 'i1'; use elements of whole bytes, or of 2 or 4 bits}}
    %s = mosaic_gpu.slice_smem 0 : memref<128xi1, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @below {{has elements of type 'f6E2M3FN'; use elements of whole bytes, or of 2 or 4 bits}}
    %s = mosaic_gpu.slice_smem 0 : memref<128xf6E2M3FN, #gpu.address_space<workgroup>>
    gpu.return
  }
}
