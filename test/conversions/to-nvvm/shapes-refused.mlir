// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_90a
// RUN: not smalti-opt %s --split-input-file --convert-mosaic-gpu-to-nvvm=target=sm_90a --mlir-print-ir-after-failure 2>&1 | FileCheck %s

// The module is unchanged.
// CHECK-NOT: gpu.thread_id

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>

gpu.module @m {
  gpu.func @k(%a: memref<128x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<128x8xf32> -> vector<128x8xf32>
    // expected-error @below {{moves elements between threads, from layout #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1> to layout #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>: thread 0 does not hold element [16, 0] of the source; use a result layout in which each thread keeps its elements}}
    %s = vector.extract_strided_slice %v {offsets = [16, 0], sizes = [64, 8], strides = [1, 1], out_layouts = [#wgmma]} : vector<128x8xf32> to vector<64x8xf32>
    gpu.return
  }
}

// -----

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>

gpu.module @m {
  gpu.func @k(%a: memref<64x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<64x8xf32> -> vector<64x8xf32>
    // expected-error @below {{does not have a layout for its result; run mosaic-gpu-infer-layouts, or set the attribute 'out_layouts'}}
    %s = vector.shape_cast %v : vector<64x8xf32> to vector<1x64x8xf32>
    gpu.return
  }
}

// -----

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>

gpu.module @m {
  gpu.func @k(%a: memref<64x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<64x8xf32> -> vector<64x8xf32>
    // expected-error @below {{extracts a scalar from layout #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>, in which only some threads have the element; store the vector to memory, and load the element from there}}
    %s = vector.extract %v[0, 0] : f32 from vector<64x8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = arith.constant dense<1.0> : vector<4x128xf32>
    // expected-error @below {{extracts a vector at a dynamic position, which is not supported on block-level vectors; store the vector to memory, and load the part from there}}
    %s = vector.extract %v[%i] {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]} : vector<128xf32> from vector<4x128xf32>
    %o = mosaic_gpu.optimization_barrier %s : vector<128xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{has a result in the splat layout, in which all elements are equal, but the elements of an iota differ; use another layout}}
    %i = mosaic_gpu.broadcasted_iota 0 {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]} : vector<128xi32>
    gpu.return
  }
}
