// Views: parts, transposed, with more and with fewer dimensions.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @f(%i: index, %out: memref<64x128xf32>) {
    %acc = arith.constant dense<0.0> : vector<64x128xf32>
    %c2 = arith.constant 2 : index
    %s = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<4x64x64xf16, #gpu.address_space<workgroup>>
    %t = "mosaic_gpu.slice_smem"() <{offset = 32768 : i32}> : () -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
    %k = arith.remui %i, %c2 : index
    %0 = memref.subview %s[%k, 0, 0] [1, 64, 64] [1, 1, 1] : memref<4x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
    %1 = memref.subview %t[%k, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
    %2 = memref.transpose %1 (d0, d1) -> (d1, d0) : memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>
    %3 = mosaic_gpu.wgmma accumulator(%acc : vector<64x128xf32>) a(%0: memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) b(%2: memref<64x128xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
    "mosaic_gpu.vector_store"(%3, %out) <{optimized = false}> : (vector<64x128xf32>, memref<64x128xf32>) -> ()
    return
  }
}
