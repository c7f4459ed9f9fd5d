// The first rows of a warpgroup's tile, and others.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @f(%a: memref<128x64xf32>, %out: memref<64x64xf32>) {
    %0 = "mosaic_gpu.vector_load"(%a) <{optimized = false}> : (memref<128x64xf32>) -> vector<128x64xf32>
    %1 = mosaic_gpu.layout_cast x(%0 : vector<128x64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
    %2 = vector.extract_strided_slice %1 {offsets = [64, 0], sizes = [64, 64], strides = [1, 1]} : vector<128x64xf32> to vector<64x64xf32>
    "mosaic_gpu.vector_store"(%2, %out) : (vector<64x64xf32>, memref<64x64xf32>) -> ()
    return
  }
}
