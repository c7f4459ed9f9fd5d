// One buffer for a matmul and for a store of rows.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @f(%a: memref<64x128xf16>, %out: memref<64x128xf32>) {
    %acc = arith.constant dense<0.0> : vector<64x128xf32>
    %s = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<64x64xf16, #gpu.address_space<workgroup>>
    %t = "mosaic_gpu.slice_smem"() <{offset = 8192 : i32}> : () -> memref<64x128xf16, #gpu.address_space<workgroup>>
    %0 = "mosaic_gpu.vector_load"(%a) : (memref<64x128xf16>) -> vector<64x128xf16>
    "mosaic_gpu.vector_store"(%0, %t) : (vector<64x128xf16>, memref<64x128xf16, #gpu.address_space<workgroup>>) -> ()
    %1 = mosaic_gpu.wgmma accumulator(%acc : vector<64x128xf32>) a(%s: memref<64x64xf16, #gpu.address_space<workgroup>>) b(%t: memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
    "mosaic_gpu.vector_store"(%1, %out) <{optimized = false}> : (vector<64x128xf32>, memref<64x128xf32>) -> ()
    return
  }
}
