// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-rocdl=target=gfx942

gpu.module @m {
  gpu.func @copy(%src: memref<128x64xf16>, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %m = mosaic_gpu.slice_smem 0 : memref<16x16xf16, #gpu.address_space<workgroup>>
    // expected-error @below {{'mosaic_gpu.async_copy' op has a source or destination whose rows cannot be proven to be contiguous and aligned to 4 bytes, the size of the smallest asynchronous copy on gfx942; copy through registers with 'vector_load' and 'vector_store'}}
    mosaic_gpu.async_copy %src[%i, %i] to %m : memref<128x64xf16> to memref<16x16xf16, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// The loads of a wave write consecutive addresses.
gpu.module @m {
  gpu.func @copy(%src: memref<128x64xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %m = mosaic_gpu.slice_smem 0 : memref<16x24xf16, #gpu.address_space<workgroup>>
    %rows = memref.subview %m[0, 0] [16, 16] [1, 1]
        : memref<16x24xf16, #gpu.address_space<workgroup>> to memref<16x16xf16, strided<[24, 1]>, #gpu.address_space<workgroup>>
    // expected-error @below {{'mosaic_gpu.async_copy' op copies to 'memref<16x16xf16, strided<[24, 1]>, #gpu.address_space<workgroup>>', which has gaps between its rows, but the loads of a wave write consecutive LDS addresses on gfx942; use a contiguous destination}}
    mosaic_gpu.async_copy %src[%c0, %c0] to %rows
        : memref<128x64xf16> to memref<16x16xf16, strided<[24, 1]>, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @barrier() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %b = mosaic_gpu.slice_smem 0 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
    // expected-error @below {{'mosaic_gpu.arrive' op cannot be lowered for gfx942: the target does not have mbarriers; use gpu.barrier}}
    mosaic_gpu.arrive %b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
    gpu.return
  }
}
