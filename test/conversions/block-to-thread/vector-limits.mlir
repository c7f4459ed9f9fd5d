// Size limits of a block-level vector, which is distributed across the threads.
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null \
// RUN:   --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a}))'
#layout = #mosaic_gpu.WGStridedFragLayout<[100000000], 1>

gpu.module @block {
  gpu.func @many(%m: memref<100000000xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error@+1 {{a vector of type 'vector<100000000xf32>' needs 781250 registers per thread with 128 threads; the limit per vector on sm_90a is 255; use a smaller vector, power-of-two sizes or more warps}}
    %v = mosaic_gpu.vector_load %m {out_layouts = [#layout]} : memref<100000000xf32> -> vector<100000000xf32>
    gpu.return
  }
}
