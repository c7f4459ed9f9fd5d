// An element of a splat, and the sum of all.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @f(%a: memref<128x64xf32>, %out: memref<1xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %0 = "mosaic_gpu.vector_load"(%a) : (memref<128x64xf32>) -> vector<128x64xf32>
    %1 = vector.shape_cast %0 : vector<128x64xf32> to vector<8192xf32>
    %2 = vector.reduction <add>, %1, %zero : vector<8192xf32> into f32
    memref.store %2, %out[%c0] : memref<1xf32>
    return
  }
}
