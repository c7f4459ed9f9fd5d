// Layouts of mma for element types and numbers of warps that JAX does not have.
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts | FileCheck %s --check-prefixes=CHECK,FOUR
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts=warps=2 | FileCheck %s --check-prefixes=CHECK,TWO

module attributes {smalti.target = "sm_80"} {
  // m8n8k4: a lane holds one element of A.
  // CHECK-LABEL: func.func @doubles
  func.func @doubles(%a: memref<64x64xf64>, %c: vector<64x64xf64>) {
    %v = mosaic_gpu.vector_load %a : memref<64x64xf64> -> vector<64x64xf64>
    // FOUR: mosaic_gpu.mma {{.*}}in_layouts = [{{.*}}, #mosaic_gpu.TiledLayout<{{\[\[}}16, 4], [8, 4], [1]], warp_dims = [-5, #mosaic_gpu.Replicated<times = 2>], lane_dims = [-3, -2],
    // TWO: mosaic_gpu.mma {{.*}}in_layouts = [{{.*}}, #mosaic_gpu.TiledLayout<{{\[\[}}16, 4], [8, 4], [1]], warp_dims = [-5], lane_dims = [-3, -2],
    %r = mosaic_gpu.mma accumulator(%c : vector<64x64xf64>) a(%v : vector<64x64xf64>) b(%v : vector<64x64xf64>)
        -> vector<64x64xf64>
    return
  }

  // CHECK-LABEL: func.func @halves
  func.func @halves(%a: memref<64x64xf16>, %c: vector<64x64xf32>) -> vector<64x64xf32> {
    %v = mosaic_gpu.vector_load %a : memref<64x64xf16> -> vector<64x64xf16>
    // FOUR: mosaic_gpu.mma {{.*}}out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>]}
    // TWO: mosaic_gpu.mma {{.*}}out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}32, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>]}
    %r = mosaic_gpu.mma accumulator(%c : vector<64x64xf32>) a(%v : vector<64x64xf16>) b(%v : vector<64x64xf16>)
        -> vector<64x64xf32>
    return %r : vector<64x64xf32>
  }
}
