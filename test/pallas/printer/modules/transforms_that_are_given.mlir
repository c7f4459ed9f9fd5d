// Transforms that the kernel requests.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @f(%out: memref<64x64xf16>) {
    %s = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<64x64xf16, #gpu.address_space<workgroup>>
    %t = "mosaic_gpu.with_transforms"(%s) <{transforms = [#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<64 : i32>]}> : (memref<64x64xf16, #gpu.address_space<workgroup>>) -> memref<64x64xf16, #gpu.address_space<workgroup>>
    %0 = "mosaic_gpu.vector_load"(%t) : (memref<64x64xf16, #gpu.address_space<workgroup>>) -> vector<64x64xf16>
    "mosaic_gpu.vector_store"(%0, %out) : (vector<64x64xf16>, memref<64x64xf16>) -> ()
    return
  }
}
