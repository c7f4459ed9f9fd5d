// Layouts that are not valid for their values or do not satisfy constraints.
// RUN: smalti-opt %s --split-input-file --mosaic-gpu-evaluate-layouts --verify-diagnostics -o /dev/null

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @none(%a: memref<64x64xf16>) {
    // expected-error @+1 {{'mosaic_gpu.vector_load' op has a value of type 'vector<64x64xf16>' without a layout; run 'mosaic-gpu-infer-layouts', or state the layout in the attributes of the op}}
    %v = mosaic_gpu.vector_load %a {optimized = false} : memref<64x64xf16> -> vector<64x64xf16>
    return
  }
}

// -----

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @two(%a: memref<64x64xf16>) {
    %v = mosaic_gpu.vector_load %a {optimized = false, out_layouts = [#wgmma]} : memref<64x64xf16> -> vector<64x64xf16>
    // expected-error @+1 {{'arith.addf' op has layout strided by 2 in 'out_layouts', but a value that must have the same layout has layout WGMMA; use one layout for both}}
    %r = arith.addf %v, %v {in_layouts = [#wgmma, #wgmma], out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 2>]} : vector<64x64xf16>
    return
  }
}

// -----

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @use(%a: memref<64x64xf16>) {
    %v = mosaic_gpu.vector_load %a {optimized = false, out_layouts = [#wgmma]} : memref<64x64xf16> -> vector<64x64xf16>
    // expected-error @+1 {{'mosaic_gpu.vector_store' op has the unsupported combination of the layouts WGMMA for the result of 'mosaic_gpu.vector_load' in registers, and strided by 2 for operand 0 in registers; it requires operand 0 (vector<64x64xf16> in registers) in the layout of the result of 'mosaic_gpu.vector_load': only splats are converted to another layout without a 'mosaic_gpu.layout_cast'; change one of the two layouts}}
    mosaic_gpu.vector_store %v, %a {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 2>]} : vector<64x64xf16>, memref<64x64xf16>
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @demand() {
    %a = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]} : memref<64x64xf16, #smem>
    // expected-error @+1 {{'mosaic_gpu.vector_load' op has the unsupported combination of the layouts tile 8x64, swizzle 128 for operand 0 in shared memory, and strided by 2 for the result in registers; it requires a layout for the result (vector<64x64xf16> in registers) that can be loaded from memref<64x64xf16, #gpu.address_space<workgroup>> without bank conflicts: the op loads its result from memory; change one of the two layouts}}
    %v = mosaic_gpu.vector_load %a {in_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]],
        out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 2>]} : memref<64x64xf16, #smem> -> vector<64x64xf16>
    return
  }
}

// -----

// expected-error @+1 {{'builtin.module' op is compiled for cpu, which is not a GPU; layouts require a GPU target}}
module attributes {smalti.target = "cpu"} {
}
