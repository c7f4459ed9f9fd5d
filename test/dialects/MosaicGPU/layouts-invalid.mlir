// RUN: smalti-opt --split-input-file --verify-diagnostics %s

func.func @transforms_entry() {
  // expected-error @+1 {{'out_transforms' entry 0 is not valid for 'memref<8xf32, #gpu.address_space<workgroup>>': the value must be an array of transforms, such as [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}}
  %0 = mosaic_gpu.slice_smem 0 {out_transforms = [#mosaic_gpu.tile<[8]>]} : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @transforms_kind() {
  // expected-error @+1 {{the array contains unit; only #mosaic_gpu.tile and #mosaic_gpu.swizzle are allowed}}
  %0 = mosaic_gpu.slice_smem 0 {out_transforms = [[unit]]} : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @transforms_tiles() {
  // expected-error @+1 {{the array contains two #mosaic_gpu.tile; at most one is allowed}}
  %0 = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8]>, #mosaic_gpu.tile<[4]>]]}
      : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @transforms_swizzles() {
  // expected-error @+1 {{the array contains two #mosaic_gpu.swizzle; at most one is allowed}}
  %0 = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.swizzle<32 : i32>, #mosaic_gpu.swizzle<32 : i32>]]}
      : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @transforms_rank() {
  // expected-error @+1 {{#mosaic_gpu.tile has more dimensions than the memref}}
  %0 = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8, 8]>]]}
      : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @transforms_divisible() {
  // expected-error @+1 {{'out_transforms' entry 0 is not valid for 'memref<12xf32, #gpu.address_space<workgroup>>': size 12 of the memref is not a multiple of its tile size in #mosaic_gpu.tile, 8}}
  %0 = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8]>]]}
      : memref<12xf32, #gpu.address_space<workgroup>>
  return
}

// -----

// Layouts and transforms on ops.

func.func @layouts_list(%m: memref<8xf32>) {
  // expected-error @+1 {{'out_layouts' must be an array of layouts}}
  %0 = mosaic_gpu.vector_load %m {out_layouts = #mosaic_gpu.WGSplatFragLayout<[8]>} : memref<8xf32> -> vector<8xf32>
  return
}

// -----

func.func @layouts_count(%v: vector<8xf32>, %m: memref<8xf32>) {
  // expected-error @+1 {{'in_layouts' has 2 entries for 1 vector operand}}
  mosaic_gpu.vector_store %v, %m {in_layouts = [#mosaic_gpu.WGSplatFragLayout<[8]>, #mosaic_gpu.WGSplatFragLayout<[8]>]}
      : vector<8xf32>, memref<8xf32>
  return
}

// -----

func.func @layouts_none(%m: memref<8xf32>) {
  // expected-error @+1 {{'in_layouts' has 1 entry for 0 vector operands}}
  %0 = mosaic_gpu.vector_load %m {in_layouts = [#mosaic_gpu.WGSplatFragLayout<[8]>]} : memref<8xf32> -> vector<8xf32>
  return
}

// -----

func.func @layouts_fit(%m: memref<8xf32>) {
  // expected-error @+1 {{'out_layouts' entry 0 is not valid for 'vector<8xf32>': shape [8] must be a multiple of the first tile of the layout, [64], but 8 is not a multiple of 64}}
  %0 = mosaic_gpu.vector_load %m {out_layouts = [#mosaic_gpu.TiledLayout<[[64], [2]], warp_dims = [], lane_dims = [-2], vector_dim = -1>]}
      : memref<8xf32> -> vector<8xf32>
  return
}

// -----

func.func @transforms_list(%m: memref<8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'in_transforms' must be an array of transform lists}}
  %0 = mosaic_gpu.vector_load %m {in_transforms = #mosaic_gpu.tile<[8]>}
      : memref<8xf32, #gpu.address_space<workgroup>> -> vector<8xf32>
  return
}

// -----

func.func @transforms_count(%m: memref<8xf32>) {
  // expected-error @+1 {{'in_transforms' has 1 entry for 0 shared-memory operands}}
  %0 = mosaic_gpu.vector_load %m {in_transforms = [[]]} : memref<8xf32> -> vector<8xf32>
  return
}

// -----

func.func @layouts_threads(%c: vector<16x16xf32>, %a: vector<16x16xf16>) {
  // expected-error @+1 {{'in_layouts' entry 1 is for 1 warp of 64 lanes, but another layout of the op is for 1 warp of 32 lanes; both must be equal}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<16x16xf32>) a(%a : vector<16x16xf16>) b(%a : vector<16x16xf16>)
      {in_layouts = [#mosaic_gpu.TiledLayout<[[16, 8], [8, 8], [2]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>,
                     #mosaic_gpu.TiledLayout<[[16, 16], [4, 1]], warp_dims = [], lane_dims = [-4, -3], vector_dim = -2>,
                     #mosaic_gpu.WGSplatFragLayout<[16, 16]>]} -> vector<16x16xf32>
  return
}

// -----

func.func @rank_0(%m: memref<f32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'transforms' is not valid for 'memref<f32, #gpu.address_space<workgroup>>': a memref of rank 0 cannot have transforms; use an empty array}}
  %0 = mosaic_gpu.with_transforms %m [#mosaic_gpu.swizzle<128 : i32>] : memref<f32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @not_strided(%m: memref<8x64xf16, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'transforms' is not valid for 'memref<8x64xf16, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, #gpu.address_space<workgroup>>': the memref does not have a strided layout; only strided memrefs can be tiled or swizzled}}
  %0 = mosaic_gpu.with_transforms %m [#mosaic_gpu.swizzle<128 : i32>] : memref<8x64xf16, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @no_unit_stride(%m: memref<8x64xf16, strided<[128, 2]>, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'transforms' is not valid for 'memref<8x64xf16, strided<[128, 2]>, #gpu.address_space<workgroup>>': no dimension of the memref has stride 1; only memrefs with a contiguous dimension can be tiled or swizzled}}
  %0 = mosaic_gpu.with_transforms %m [#mosaic_gpu.tile<[8, 64]>] : memref<8x64xf16, strided<[128, 2]>, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @two_unit_strides(%m: memref<8x64xf16, strided<[1, 1]>, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'transforms' is not valid for 'memref<8x64xf16, strided<[1, 1]>, #gpu.address_space<workgroup>>': two dimensions have stride 1, so the rows that the swizzle permutes are ambiguous; exactly one must have stride 1}}
  %0 = mosaic_gpu.with_transforms %m [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<8x64xf16, strided<[1, 1]>, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @swizzle_tile(%m: memref<8x64xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'transforms' is not valid for 'memref<8x64xf16, #gpu.address_space<workgroup>>': a swizzle of 128 bytes spans 64 elements; the contiguous dimension of the tile has 32 elements, which is not a multiple of that; use a smaller swizzle}}
  %0 = mosaic_gpu.with_transforms %m [#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<128 : i32>] : memref<8x64xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @swizzle_memory(%m: memref<8x48xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'transforms' is not valid for 'memref<8x48xf16, #gpu.address_space<workgroup>>': a swizzle of 64 bytes spans 32 elements; the contiguous dimension of the memref has 48 elements, which is not a multiple of that; use a smaller swizzle}}
  %0 = mosaic_gpu.with_transforms %m [#mosaic_gpu.swizzle<64 : i32>] : memref<8x48xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @swizzle_transposed(%m: memref<64x8xf16, strided<[1, 64]>, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'transforms' is not valid for 'memref<64x8xf16, strided<[1, 64]>, #gpu.address_space<workgroup>>': a swizzle of 128 bytes spans 64 elements; the contiguous dimension of the tile has 32 elements, which is not a multiple of that; use a smaller swizzle}}
  %0 = mosaic_gpu.with_transforms %m [#mosaic_gpu.tile<[32, 8]>, #mosaic_gpu.swizzle<128 : i32>] : memref<64x8xf16, strided<[1, 64]>, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @not_an_array_entry(%m: memref<8x64xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'transforms' is not valid for 'memref<8x64xf16, #gpu.address_space<workgroup>>': the array contains "rows"; only #mosaic_gpu.tile and #mosaic_gpu.swizzle are allowed}}
  %0 = mosaic_gpu.with_transforms %m ["rows"] : memref<8x64xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @tmem_count(%m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{'in_tmem_layouts' has 0 entries for 1 tensor-memory operand}}
  %0 = mosaic_gpu.async_load_tmem %m {in_tmem_layouts = []} : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>
  return
}

// -----

func.func @tmem_list(%m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{'in_tmem_layouts' must be an array of layouts}}
  %0 = mosaic_gpu.async_load_tmem %m {in_tmem_layouts} : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>
  return
}

// -----

func.func @tmem_kind(%m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{'in_tmem_layouts' entry 0 is not valid for 'memref<128x64xf32, #mosaic_gpu.tmem>': the layout is #mosaic_gpu.WGSplatFragLayout<[128, 64]>; tensor memory requires a #mosaic_gpu.TiledLayout}}
  %0 = mosaic_gpu.async_load_tmem %m {in_tmem_layouts = [#mosaic_gpu.WGSplatFragLayout<[128, 64]>]} : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>
  return
}

// -----

func.func @tmem_results(%m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{'out_tmem_layouts' has 1 entry for 0 tensor-memory results}}
  %0 = mosaic_gpu.async_load_tmem %m {out_tmem_layouts = ["x"]} : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>
  return
}
