// RUN: smalti-opt %s --verify-diagnostics --convert-mosaic-gpu-to-rocdl=target=gfx1201

#replicated = #mosaic_gpu.TiledLayout<[[32], [1]], warp_dims = [#mosaic_gpu.Replicated<times = 2>], lane_dims = [-2], vector_dim = -1>
gpu.module @m {
  gpu.func @capacity(%m: memref<64xi32>, %at: memref<32xi32>, %r: memref<32xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 : memref<65536xi8, #gpu.address_space<workgroup>>
    %i = mosaic_gpu.vector_load %at {out_layouts = [#replicated]} : memref<32xi32> -> vector<32xi32>
    // Without a result, shared memory is not required.
    mosaic_gpu.atomic_rmw addi %i, %m[%i] device relaxed : vector<32xi32>, memref<64xi32>, vector<32xi32>
    // expected-error @below {{moves elements between warps through 1024 bytes of shared memory in addition to the 65536 bytes of the kernel; a block on gfx1201 has at most 65536 bytes}}
    %old = mosaic_gpu.atomic_rmw addi %i, %m[%i] device relaxed : vector<32xi32>, memref<64xi32>, vector<32xi32> -> vector<32xi32>
    mosaic_gpu.vector_store %old, %r {in_layouts = [#replicated]} : vector<32xi32>, memref<32xi32>
    gpu.return
  }
}
