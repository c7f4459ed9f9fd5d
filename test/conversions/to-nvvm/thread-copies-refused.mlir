// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_80

#smem = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @ordered(%m: memref<8x128xf32>, %i: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[]]} : memref<8x128xf32, #smem>
    %b = mosaic_gpu.slice_smem 4096 : memref<!mosaic_gpu.barrier, #smem>
    // expected-error @below {{'mosaic_gpu.arrive_expect_tx' op cannot be lowered for sm_80: its mbarriers do not count bytes, so the async_load ops that use this barrier between the op and the next synchronization in the same MLIR block must copy 4096 bytes, but they copy 0}}
    mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #smem>) 4096
    gpu.barrier
    mosaic_gpu.async_load %m[%i, %i] [8, 128] to %s barrier(%b) : memref<8x128xf32>[i32, i32] to memref<8x128xf32, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @unannounced(%m: memref<8x128xf32>, %i: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[]]} : memref<8x128xf32, #smem>
    %b = mosaic_gpu.slice_smem 4096 : memref<!mosaic_gpu.barrier, #smem>
    // expected-error @below {{'mosaic_gpu.async_load' op cannot be lowered for sm_80: its mbarriers do not count bytes, so an 'arrive_expect_tx' on the barrier of this load must precede it in the same MLIR block, without synchronization between the two}}
    mosaic_gpu.async_load %m[%i, %i] [8, 128] to %s barrier(%b) : memref<8x128xf32>[i32, i32] to memref<8x128xf32, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @other_bytes(%m: memref<8x128xf32>, %i: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[]]} : memref<8x128xf32, #smem>
    %b = mosaic_gpu.slice_smem 4096 : memref<!mosaic_gpu.barrier, #smem>
    // expected-error @below {{cannot be lowered for sm_80: its mbarriers do not count bytes, so the async_load ops that use this barrier between the op and the next synchronization in the same MLIR block must copy 8192 bytes, but they copy 4096}}
    mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #smem>) 8192
    mosaic_gpu.async_load %m[%i, %c0] [8, 128] to %s barrier(%b) : memref<8x128xf32>[i32, i32] to memref<8x128xf32, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

// Columns with unknown alignment.
#smem = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @unaligned(%m: memref<8x128xf16>, %i: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[]]} : memref<8x64xf16, #smem>
    %b = mosaic_gpu.slice_smem 4096 : memref<!mosaic_gpu.barrier, #smem>
    mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #smem>) 1024
    // expected-error @below {{'mosaic_gpu.async_load' op cannot be lowered for sm_80: the rows of the slice in global memory cannot be proven to be contiguous and aligned to 4 bytes, the smallest asynchronous copy; use static strides and aligned indices, or copy through registers with 'vector_load' and 'vector_store'}}
    mosaic_gpu.async_load %m[%i, %i] [8, 64] to %s barrier(%b) : memref<8x128xf16>[i32, i32] to memref<8x64xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @combined(%m: memref<8x128xf32>, %i: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[]]} : memref<8x128xf32, #smem>
    // expected-error @below {{'mosaic_gpu.async_store' op cannot be lowered for sm_80: 'reduction_op' requires TMA, which the target does not have; remove 'reduction_op', or compile for NVIDIA sm_90 or later}}
    mosaic_gpu.async_store %s to %m[%i, %i] [8, 128] {reduction_op = 0 : i32} : memref<8x128xf32, #smem> to memref<8x128xf32>[i32, i32]
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @shared_copy(%m: memref<8x128xf32>, %i: i32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[]]} : memref<8x128xf32, #smem>
    %b = mosaic_gpu.slice_smem 4096 : memref<!mosaic_gpu.barrier, #smem>
    mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #smem>) 4096
    // expected-error @below {{'mosaic_gpu.async_load' op cannot be lowered for sm_80: 'collective' requires clusters, which the target does not have; remove 'collective'}}
    mosaic_gpu.async_load %m[%i, %i] [8, 128] to %s barrier(%b) collective [x] : memref<8x128xf32>[i32, i32] to memref<8x128xf32, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @part_of_a_program(%m: memref<8x128xf32>, %i: i32) kernel
      attributes {known_block_size = array<i32: 96, 1, 1>, mosaic_gpu.thread_group_size = 64 : i64} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[]]} : memref<8x128xf32, #smem>
    %b = mosaic_gpu.slice_smem 4096 : memref<!mosaic_gpu.barrier, #smem>
    mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #smem>) 4096
    // expected-error @below {{all threads of a thread group perform the copy on this target, but the last thread group of the block has only 32 of 64 threads}}
    mosaic_gpu.async_load %m[%i, %i] [8, 128] to %s barrier(%b) : memref<8x128xf32>[i32, i32] to memref<8x128xf32, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @some_threads(%mask: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [[]]} : memref<8x128xf32, #smem>
    mosaic_gpu.print_layout "{}", %s : memref<8x128xf32, #smem>
    // expected-error @below {{'nvvm.elect.sync' op has a member mask, which is not supported on sm_80}}
    %e = nvvm.elect.sync %mask -> i1
    gpu.return
  }
}
