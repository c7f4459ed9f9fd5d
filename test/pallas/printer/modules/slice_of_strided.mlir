// The upper half of a vector with a strided layout, and a part of a splat.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @f(%a: memref<64x128xf32>, %out: memref<32x128xf32>) {
    %zero = arith.constant dense<0.0> : vector<64x128xf32>
    %0 = "mosaic_gpu.vector_load"(%a) : (memref<64x128xf32>) -> vector<64x128xf32>
    %1 = mosaic_gpu.layout_cast x(%0 : vector<64x128xf32>) {new_layout = #mosaic_gpu.WGStridedFragLayout<[64, 128], 2>}
    %2 = vector.extract_strided_slice %1 {offsets = [32, 0], sizes = [32, 128], strides = [1, 1]} : vector<64x128xf32> to vector<32x128xf32>
    %3 = vector.extract_strided_slice %zero {offsets = [32, 0], sizes = [32, 128], strides = [1, 1]} : vector<64x128xf32> to vector<32x128xf32>
    %4 = arith.addf %2, %3 : vector<32x128xf32>
    "mosaic_gpu.vector_store"(%4, %out) : (vector<32x128xf32>, memref<32x128xf32>) -> ()
    return
  }
}
