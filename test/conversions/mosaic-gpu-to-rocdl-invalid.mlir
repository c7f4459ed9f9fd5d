// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-rocdl=target=gfx942

gpu.module @m {
  gpu.func @copy(%src: memref<128x64xf16>, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %m = mosaic_gpu.slice_smem 0 : memref<16x16xf16, #gpu.address_space<workgroup>>
    // expected-error @below {{'mosaic_gpu.async_copy' op cannot be lowered for gfx942: asynchronous copies to shared memory are not supported; copy through registers}}
    mosaic_gpu.async_copy %src[%i, %i] to %m : memref<128x64xf16> to memref<16x16xf16, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @barrier() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %b = mosaic_gpu.slice_smem 0 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
    // expected-error @below {{'mosaic_gpu.arrive' op cannot be lowered for gfx942: it has no barrier objects in shared memory}}
    mosaic_gpu.arrive %b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
    gpu.return
  }
}
