// Elements of shared memory that a thread-level kernel cannot access one by one.
// RUN: smalti-opt %s --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_90a

gpu.module @m {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @below {{has elements of type 'i4', which are not whole bytes; shared memory of a thread-level kernel has elements of whole bytes, such as i8}}
    %s = mosaic_gpu.slice_smem 0 : memref<128xi4, #gpu.address_space<workgroup>>
    gpu.return
  }
}
