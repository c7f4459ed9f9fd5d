// A reshape that cuts the rows of a tile.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @f(%a: memref<64x128xf32>, %out: memref<64x8x16xf32>) {
    %0 = "mosaic_gpu.vector_load"(%a) <{optimized = false}> : (memref<64x128xf32>) -> vector<64x128xf32>
    %1 = mosaic_gpu.layout_cast x(%0 : vector<64x128xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
    %2 = vector.shape_cast %1 : vector<64x128xf32> to vector<64x8x16xf32>
    "mosaic_gpu.vector_store"(%2, %out) : (vector<64x8x16xf32>, memref<64x8x16xf32>) -> ()
    return
  }
}
