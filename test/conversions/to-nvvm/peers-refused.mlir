// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_90a
// RUN: not smalti-opt %s --split-input-file --convert-mosaic-gpu-to-nvvm=target=sm_89 2>&1 | FileCheck %s

#smem = #gpu.address_space<workgroup>
#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
gpu.module @m {
  gpu.func @alone(%a: memref<64x8xf32>, %i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<64x8xf32> -> vector<64x8xf32>
    %s = mosaic_gpu.slice_smem 0 : memref<64x8xf32, #smem>
    %b = mosaic_gpu.slice_smem 8192 : memref<!mosaic_gpu.barrier, #smem>
    // CHECK: 'mosaic_gpu.async_store_smem' op cannot be lowered for sm_89: the target does not have clusters of blocks; compile for NVIDIA sm_90 or later
    // expected-error @below {{'mosaic_gpu.async_store_smem' op refers to another block of the cluster, but the kernel does not state the size of the cluster; set 'known_cluster_size' on the gpu.func}}
    mosaic_gpu.async_store_smem %v to %s barrier(%b) block(x %i) : vector<64x8xf32> to memref<64x8xf32, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @no_such_block() kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 4, 2, 1>} {
    %i = arith.constant 2 : i32
    %s = mosaic_gpu.slice_smem 0 : memref<64x8xf32, #smem>
    // expected-error @below {{'mosaic_gpu.get_cluster_ref' op refers to block 2 of the cluster in direction y, in which the cluster has 2 blocks; the number must be from 0 to 1}}
    %p = mosaic_gpu.get_cluster_ref %s y(%i) : memref<64x8xf32, #smem> -> memref<64x8xf32, #mosaic_gpu.smem_cluster>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @elements(%i: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 4, 2, 1>} {
    %c0 = arith.constant 0 : index
    %s = mosaic_gpu.slice_smem 0 : memref<8xf32, #smem>
    %p = mosaic_gpu.get_cluster_ref %s y(%i) : memref<8xf32, #smem> -> memref<8xf32, #mosaic_gpu.smem_cluster>
    // expected-error @below {{'memref.load' op cannot be lowered to thread level: an operand is shared memory of another block of the cluster, which this op does not support; use 'async_store_smem' to write it}}
    %x = memref.load %p[%c0] : memref<8xf32, #mosaic_gpu.smem_cluster>
    gpu.return
  }
}

// -----

// A thread holds single f16 elements.
#smem = #gpu.address_space<workgroup>
#ones = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [1]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#column = #mosaic_gpu.TiledLayout<[[64, 1], [16, 1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 2>], vector_dim = -1>
gpu.module @m {
  gpu.func @narrow(%a: memref<64x1xf16>, %i: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#column]} : memref<64x1xf16> -> vector<64x1xf16>
    %s = mosaic_gpu.slice_smem 0 : memref<64x1xf16, #smem>
    %b = mosaic_gpu.slice_smem 8192 : memref<!mosaic_gpu.barrier, #smem>
    // expected-error @below {{cannot be lowered to thread level: the narrowest store of a thread has 2 bytes; a store to another block requires at least 4 bytes}}
    mosaic_gpu.async_store_smem %v to %s barrier(%b) block(x %i) {in_layouts = [#column]} : vector<64x1xf16> to memref<64x1xf16, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
gpu.module @m {
  gpu.func @floats(%a: memref<64x8xf32>, %i: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<64x8xf32> -> vector<64x8xf32>
    %s = mosaic_gpu.slice_smem 0 : memref<64x8xf32, #smem>
    %b = mosaic_gpu.slice_smem 8192 : memref<!mosaic_gpu.barrier, #smem>
    // expected-error @below {{has 'atomic_type' for elements of type 'f32' in shared memory of another block; sm_90a supports it for i32 only: remove 'atomic_type' or use i32}}
    mosaic_gpu.async_store_smem %v to %s barrier(%b) block(x %i) {atomic_type = 0 : i32} : vector<64x8xf32> to memref<64x8xf32, #smem>, memref<!mosaic_gpu.barrier, #smem>
    // An atomic store without an mbarrier is not supported either.
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @splat(%x: f32, %i: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %v = vector.broadcast %x : f32 to vector<64x8xf32>
    %s = mosaic_gpu.slice_smem 0 : memref<64x8xf32, #smem>
    %b = mosaic_gpu.slice_smem 8192 : memref<!mosaic_gpu.barrier, #smem>
    // expected-error @below {{stores a vector in the splat layout, in which all threads hold all elements, so every thread would store them; use another layout}}
    mosaic_gpu.async_store_smem %v to %s barrier(%b) block(x %i) : vector<64x8xf32> to memref<64x8xf32, #smem>, memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
gpu.module @m {
  gpu.func @atomic_reference(%a: memref<64x8xi32>, %i: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<64x8xi32> -> vector<64x8xi32>
    %s = mosaic_gpu.slice_smem 0 : memref<64x8xi32, #smem>
    %p = mosaic_gpu.get_cluster_ref %s x(%i) : memref<64x8xi32, #smem> -> memref<64x8xi32, #mosaic_gpu.smem_cluster>
    // expected-error @below {{stores atomically to shared memory of another block, which is not supported; use 'async_store_smem'}}
    mosaic_gpu.vector_store %v, %p {atomic_type = 0 : i32, in_layouts = [#wgmma]} : vector<64x8xi32>, memref<64x8xi32, #mosaic_gpu.smem_cluster>
    gpu.return
  }
}
