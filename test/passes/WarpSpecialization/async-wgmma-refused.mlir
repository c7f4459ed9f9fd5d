// RUN: smalti-opt %s --verify-diagnostics --pass-pipeline='builtin.module(func.func(smalti-async-wgmma))'

#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#shared = #gpu.address_space<workgroup>
func.func @truth(%c: vector<64x64xf32>, %a: memref<64x64xf16, #shared>) -> vector<64x64xf32> {
  // expected-error@+1 {{has 'smalti.synchronous' = false; a unit attribute, without a value, is required}}
  %r = mosaic_gpu.wgmma accumulator(%c : vector<64x64xf32>) a(%a : memref<64x64xf16, #shared>) b(%a : memref<64x64xf16, #shared>)
      {smalti.synchronous = false, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
  return %r : vector<64x64xf32>
}
