// RUN: smalti-opt --split-input-file --verify-diagnostics %s

// expected-error @+1 {{shape [8, 0] of the strided layout must have positive sizes}}
func.func private @f() attributes {test.a = #mosaic_gpu.WGStridedFragLayout<[8, 0], 2>}

// -----

// expected-error @+1 {{the vector size of the strided layout (elements per chunk) must be positive, but is 0}}
func.func private @f() attributes {test.a = #mosaic_gpu.WGStridedFragLayout<[8], 0>}

// -----

// expected-error @+1 {{the vector size of the strided layout (elements per chunk) is 3, which does not divide the 8 elements of its shape [8]}}
func.func private @f() attributes {test.a = #mosaic_gpu.WGStridedFragLayout<[8], 3>}

// -----

// expected-error @+1 {{shape [4294967296, 4294967296] of the strided layout has more than 2147483647 elements, the limit; use a smaller shape}}
func.func private @f() attributes {test.a = #mosaic_gpu.WGStridedFragLayout<[4294967296, 4294967296], 2>}

// -----

// expected-error @+1 {{the sizes of a #mosaic_gpu.WGSplatFragLayout must be positive, but found [-1]}}
func.func private @f() attributes {test.a = #mosaic_gpu.WGSplatFragLayout<[-1]>}

// -----

// expected-error @+1 {{the 'times' of a #mosaic_gpu.Replicated must be positive, but found 0}}
func.func private @f() attributes {test.a = #mosaic_gpu.Replicated<times = 0>}

// -----

// expected-error @+1 {{the sizes of #mosaic_gpu.tile must be positive, but found [8, 0]}}
func.func private @f() attributes {test.a = #mosaic_gpu.tile<[8, 0]>}

// -----

// expected-error @+1 {{#mosaic_gpu.swizzle must be 16, 32, 64 or 128 bytes, but found 48}}
func.func private @f() attributes {test.a = #mosaic_gpu.swizzle<48 : i32>}

// -----

// expected-error @+1 {{the number in #mosaic_gpu.swizzle must be an i32, but found 'i64'; write #mosaic_gpu.swizzle<64 : i32>}}
func.func private @f() attributes {test.a = #mosaic_gpu.swizzle<64>}

// -----

// expected-error @+1 {{the tiling of the layout must have at least one tile}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[], warp_dims = [], lane_dims = [], vector_dim = -1>}

// -----

// expected-error @+1 {{each tile of the layout must have at least one dimension}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[8], []], warp_dims = [], lane_dims = [], vector_dim = -1>}

// -----

// expected-error @+1 {{tile [8, -8] of the layout must have positive sizes}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[8, -8]], warp_dims = [], lane_dims = [], vector_dim = -1>}

// -----

// expected-error @+1 {{tile [65536, 65536] of the layout has more than 2147483647 elements, the limit; use a smaller tile}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[65536, 65536]], warp_dims = [], lane_dims = [], vector_dim = -1>}

// -----

// expected-error @+1 {{tile [2, 2] of the layout has more dimensions than the tile before it, [8], which it must divide}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[8], [2, 2]], warp_dims = [], lane_dims = [], vector_dim = -1>}

// -----

// expected-error @+1 {{tile [48, 8] of the layout must divide the tile before it, [64, 8], but 48 does not divide 64}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[64, 8], [48, 8]], warp_dims = [], lane_dims = [], vector_dim = -1>}

// -----

// expected-error @+1 {{warp_dims of the layout has dimension -4; dimensions are counted from the end, so it must be from -3 to -1}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[64, 8], [2]], warp_dims = [-4], lane_dims = [], vector_dim = -1>}

// -----

// expected-error @+1 {{lane_dims has dimension 1; dimensions of the tiled layout are counted from the end and must be negative: -1 is the last}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[64, 8], [2]], warp_dims = [], lane_dims = [1], vector_dim = -1>}

// -----

// expected-error @+1 {{vector_dim of the layout has dimension 0; dimensions are counted from the end, so it must be from -3 to -1}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[64, 8], [2]], warp_dims = [], lane_dims = [], vector_dim = 0>}

// -----

// expected-error @+1 {{lane_dims has dimension 0; dimensions of the tiled layout are counted from the end and must be negative: -1 is the last}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[64, 8], [2]], warp_dims = [], lane_dims = [0], vector_dim = -1>}

// -----

// expected-error @+1 {{dimension -2 is used twice}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[64, 8], [2]], warp_dims = [-2], lane_dims = [-2], vector_dim = -1>}

// -----

// expected-error @+1 {{dimension -1 is used twice}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[64, 8], [2]], warp_dims = [-2], lane_dims = [-1], vector_dim = -1>}

// -----

// expected-error @+1 {{the product of the sizes of lane_dims of the layout exceeds the limit of 2147483647; use smaller tiles}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[8]], warp_dims = [], lane_dims = [#mosaic_gpu.Replicated<times = 65536>, #mosaic_gpu.Replicated<times = 65536>], vector_dim = -1>}

// -----

// expected-error @+1 {{invalid kind of attribute specified}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[8]], warp_dims = [], lane_dims = [#mosaic_gpu.tile<[8]>], vector_dim = -1>}

// -----

// expected-error @+1 {{expected 'warp_dims'}}
func.func private @f() attributes {test.a = #mosaic_gpu.TiledLayout<[[8]], lane_dims = [], warp_dims = [], vector_dim = -1>}

// -----

// expected-error @+1 {{the axis of #mosaic_gpu.copy_partitioned, the dimension to split among the blocks, must not be negative, but is -1}}
func.func private @f() attributes {test.a = #mosaic_gpu.copy_partitioned<axis = -1>}

// -----

// expected-error @+1 {{the elements of a 6-bit type must have 6 bits, such as f6E2M3FN, but are 'f16'}}
func.func private @f(memref<8x!mosaic_gpu.b6x16_p32<f16>>)

// -----

// expected-error @+1 {{the elements of a 6-bit type must have 6 bits, such as f6E2M3FN, but are 'index'}}
func.func private @f(memref<8x!mosaic_gpu.p2b6<index>>)
