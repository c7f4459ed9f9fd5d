// A reshape that does not change rows.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @f(%a: memref<128x64xf32>, %out: memref<2x64x64xf32>) {
    %0 = "mosaic_gpu.vector_load"(%a) <{optimized = false}> : (memref<128x64xf32>) -> vector<128x64xf32>
    %1 = mosaic_gpu.layout_cast x(%0 : vector<128x64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
    %2 = vector.shape_cast %1 : vector<128x64xf32> to vector<2x64x64xf32>
    "mosaic_gpu.vector_store"(%2, %out) : (vector<2x64x64xf32>, memref<2x64x64xf32>) -> ()
    return
  }
}
