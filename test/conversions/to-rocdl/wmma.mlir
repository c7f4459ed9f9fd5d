// RUN: smalti-opt %s --convert-mosaic-gpu-to-rocdl=target=gfx1201 --canonicalize --cse | FileCheck %s --check-prefix=GFX12
// RUN: not smalti-opt %s --convert-mosaic-gpu-to-rocdl=target=gfx942 2>&1 | FileCheck %s --check-prefix=WAVE
// RUN: not smalti-opt %s --convert-mosaic-gpu-to-rocdl=target=sm_90a 2>&1 | FileCheck %s --check-prefix=VENDOR
// RUN: not smalti-opt %s --convert-mosaic-gpu-to-nvvm=target=gfx1201 2>&1 | FileCheck %s --check-prefix=VENDOR2

// VENDOR: error: convert-mosaic-gpu-to-rocdl: sm_90a is not an AMD GPU
// VENDOR2: error: convert-mosaic-gpu-to-nvvm: gfx1201 is not an NVIDIA GPU

// The half waves share K in chunks of 8.
#a = #mosaic_gpu.TiledLayout<[[16, 16], [8]], warp_dims = [], lane_dims = [-2, -3], vector_dim = -1>
#b = #mosaic_gpu.TiledLayout<[[16, 16], [8, 1]], warp_dims = [], lane_dims = [-4, -3], vector_dim = -2>
#c = #mosaic_gpu.TiledLayout<[[16, 16], [8, 1]], warp_dims = [], lane_dims = [-4, -3], vector_dim = -2>
#smem = #gpu.address_space<workgroup>
gpu.module @mma_module {
  // GFX12-LABEL: gpu.func @mma
  // WAVE: error: 'gpu.func' op has blocks of 32 threads; a multiple of the warp size of gfx942, 64, is required
  gpu.func @mma(%dst: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %sa = mosaic_gpu.slice_smem 0 : memref<16x16xf16, #smem>
    %sb = mosaic_gpu.slice_smem 512 : memref<16x16xf16, #smem>
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    // GFX12: vector.load {{.*}} {alignment = 16 : i64} : {{.*}}, vector<8xf16>
    %a = mosaic_gpu.vector_load %sa {out_layouts = [#a]} : memref<16x16xf16, #smem> -> vector<16x16xf16>
    // GFX12-COUNT-8: vector.load {{.*}} : {{.*}}, vector<1xf16>
    %b = mosaic_gpu.vector_load %sb {out_layouts = [#b]} : memref<16x16xf16, #smem> -> vector<16x16xf16>
    // GFX12: amdgpu.wmma 16x16x16 {{.*}} : vector<8xf16>, vector<8xf16>, vector<8xf32>
    %c = mosaic_gpu.mma accumulator(%zero : vector<16x16xf32>) a(%a : vector<16x16xf16>) b(%b : vector<16x16xf16>)
        {out_layouts = [#c]} -> vector<16x16xf32>
    // GFX12-COUNT-8: vector.store {{.*}}, vector<1xf32>
    vector.transfer_write %c, %dst[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}
