// A vector inside of another.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @f(%a: memref<64x128xf32>, %b: memref<64x64xf32>, %out: memref<64x128xf32>) {
    %0 = "mosaic_gpu.vector_load"(%a) <{optimized = false}> : (memref<64x128xf32>) -> vector<64x128xf32>
    %1 = mosaic_gpu.layout_cast x(%0 : vector<64x128xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
    %2 = "mosaic_gpu.vector_load"(%b) <{optimized = false}> : (memref<64x64xf32>) -> vector<64x64xf32>
    %3 = vector.insert_strided_slice %2, %1 {offsets = [0, 64], strides = [1, 1]} : vector<64x64xf32> into vector<64x128xf32>
    "mosaic_gpu.vector_store"(%3, %out) : (vector<64x128xf32>, memref<64x128xf32>) -> ()
    return
  }
}
