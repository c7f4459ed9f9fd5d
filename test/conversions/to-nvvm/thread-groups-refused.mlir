// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_90a
// RUN: not smalti-opt %s --split-input-file --convert-mosaic-gpu-to-nvvm=target=sm_90a --mlir-print-ir-after-failure 2>&1 | FileCheck %s

// The module is unchanged.
// CHECK-NOT: gpu.thread_id

gpu.module @m {
  // expected-error @below {{has 'mosaic_gpu.thread_group_size' = 100; it must be a positive multiple of the warp size, 32, and at most 384, the number of threads of the block}}
  gpu.func @k(%i: index) kernel attributes {known_block_size = array<i32: 384, 1, 1>, mosaic_gpu.thread_group_size = 100 : i64} {
    %n = mosaic_gpu.assume_multiple %i, 8 : index
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: index) kernel attributes {known_block_size = array<i32: 1024, 1, 1>, mosaic_gpu.thread_group_size = 32 : i64} {
    // expected-error @below {{requires a barrier per thread group: the block has 32 thread groups, but only 15 barriers for them; use larger thread groups}}
    mosaic_gpu.warp_map (%n = %i : index) {
    }
    gpu.return
  }
}

// -----

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>

gpu.module @m {
  gpu.func @k(%a: memref<64x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<64x8xf32> -> vector<64x8xf32>
    %r = mosaic_gpu.custom_primitive (%x = %v : vector<64x8xf32>) {
      // expected-error @below {{converts between a vector in layout #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}}
      %regs = builtin.unrealized_conversion_cast %x : vector<64x8xf32> to vector<2xf32> {layout = #wgmma}
      mosaic_gpu.return %x : vector<64x8xf32>
    } {in_layouts = [#wgmma], in_transforms = [], out_layouts = [#wgmma]} -> vector<64x8xf32>
    gpu.return
  }
}
