// Programs without a layout assignment: each op involved, its requirement with the reason, and a remedy. The program is
// unchanged.
// RUN: smalti-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(mosaic-gpu-infer-layouts{relayouts=false})'
// RUN: not smalti-opt %s -split-input-file --mlir-print-ir-after-failure --pass-pipeline='builtin.module(mosaic-gpu-infer-layouts{relayouts=false})' 2>&1 | FileCheck %s
// CHECK: IR Dump After MosaicGPUInferLayouts Failed (mosaic-gpu-infer-layouts)
// CHECK-NOT: in_layouts =
// CHECK-NOT: out_layouts =
// CHECK-NOT: in_transforms =

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#tcgen = #mosaic_gpu.TiledLayout<[[128, 8], [32, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @contradictory_casts(%v: vector<128x64xf32>, %w: vector<128x64xf32>) {
    // expected-note@+1 {{'mosaic_gpu.layout_cast' needs WGMMA: the result of the cast}}
    %a = mosaic_gpu.layout_cast x(%v : vector<128x64xf32>) {new_layout = #wgmma}
    // expected-error@+2 {{'mosaic_gpu.layout_cast' op needs TCGEN05, but no layouts meet what these 2 ops demand together}}
    // expected-note@+1 {{'mosaic_gpu.layout_cast' needs TCGEN05: the result of the cast}}
    %b = mosaic_gpu.layout_cast x(%w : vector<128x64xf32>) {new_layout = #tcgen}
    // expected-note@+3 {{'arith.addf' takes operand 0 as it is laid out: only a splat becomes another layout by itself}}
    // expected-note@+2 {{'arith.addf' takes operand 1 as it is laid out: only a splat becomes another layout by itself}}
    // expected-note@+1 {{to resolve it, allow relayouts or insert 'mosaic_gpu.layout_cast' to TCGEN05 for operand 0 of this 'arith.addf', which has WGMMA (32768 bytes of shared memory, 2 barriers and 128 bank cycles (0 conflicts): 264 cycles)}}
    %r = arith.addf %a, %b : vector<128x64xf32>
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @two_tiles() {
    %s = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>
    // expected-note@+2 {{'mosaic_gpu.with_transforms' needs tile 8x64, swizzle 128: the memory}}
    // expected-note@+1 {{to resolve it, remove this 'mosaic_gpu.with_transforms' or let it state tile 8x32, swizzle 64, which the others allow}}
    %a = mosaic_gpu.with_transforms %s [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<64x64xf16, #smem>
    // expected-error@+3 {{'mosaic_gpu.with_transforms' op needs tile 8x32, swizzle 64, but no layouts meet what these 2 ops demand together}}
    // expected-note@+2 {{'mosaic_gpu.with_transforms' needs tile 8x32, swizzle 64: the memory}}
    // expected-note@+1 {{to resolve it, remove this 'mosaic_gpu.with_transforms' or let it state tile 8x64, swizzle 128, which the others allow}}
    %b = mosaic_gpu.with_transforms %s [#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<64 : i32>] : memref<64x64xf16, #smem>
    return
  }
}

// -----

// A tile that a view cuts.
#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @cut_tile(%c: vector<64x64xf32>, %b: memref<64x64xf16, #smem>) {
    %s = mosaic_gpu.slice_smem 0 : memref<64x128xf16, #smem>
    // expected-note@+3 {{'memref.subview' needs tiles whose sizes divide [64, 8]: views begin and end at whole tiles}}
    // expected-note@+2 {{'memref.subview' ties the layouts of memref<64x128xf16, #gpu.address_space<workgroup>> and memref<64x64xf16, strided<[128, 1], offset: 8>, #gpu.address_space<workgroup>> together: a view is stored as what it is a view of}}
    // expected-note@+1 {{to resolve it, let this 'memref.subview' begin and end at multiples of the tile}}
    %v = memref.subview %s[0, 8] [64, 64] [1, 1] : memref<64x128xf16, #smem> to memref<64x64xf16, strided<[128, 1], offset: 8>, #smem>
    // expected-error@+3 {{'mosaic_gpu.wgmma' op needs tile 8x64 or 8x32 or 8x16, swizzled over its rows, but no layouts meet what these 2 ops demand together}}
    // expected-note@+2 {{'mosaic_gpu.wgmma' needs tile 8x64 or 8x32 or 8x16, swizzled over its rows: the tensor core reads tiles of 8 rows of 32, 64 or 128 bytes}}
    // expected-note@+1 {{'mosaic_gpu.wgmma' ties the layouts of memref<64x64xf16, #gpu.address_space<workgroup>> and memref<64x64xf16, strided<[128, 1], offset: 8>, #gpu.address_space<workgroup>> together: 'a' and 'b' are stored alike}}
    %r = mosaic_gpu.wgmma accumulator(%c : vector<64x64xf32>) a(%v : memref<64x64xf16, strided<[128, 1], offset: 8>, #smem>)
        b(%b : memref<64x64xf16, #smem>) -> vector<64x64xf32>
    return
  }
}

// -----

// Only a splat has each element in every thread.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @element(%a: memref<128xf32>) -> f32 {
    // expected-note@+1 {{'mosaic_gpu.vector_load' needs a layout that is not splat: the loaded elements differ}}
    %v = mosaic_gpu.vector_load %a : memref<128xf32> -> vector<128xf32>
    // expected-error@+3 {{'vector.extract' op needs splat, but no layouts meet what these 2 ops demand together}}
    // expected-note@+2 {{'vector.extract' needs splat: only of a splat is an element in every thread}}
    // expected-note@+1 {{'vector.extract' takes operand 0 as it is laid out: only a splat becomes another layout by itself}}
    %e = vector.extract %v[3] : f32 from vector<128xf32>
    return %e : f32
  }
}

// -----

// 10000 elements can be shared by 16 threads, each of which would have 625.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @odd_sizes(%a: memref<100x100xf32>) {
    // expected-error@+3 {{'mosaic_gpu.vector_load' op needs a layout for 'vector<100x100xf32>', and no known one meets all that it demands}}
    // expected-note@+2 {{'mosaic_gpu.vector_load' needs a layout that is not splat: the loaded elements differ}}
    // expected-note@+1 {{to resolve it, pad the vector to 'vector<128x128xf32>', which the 128 threads can share evenly}}
    %v = mosaic_gpu.vector_load %a : memref<100x100xf32> -> vector<100x100xf32>
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @alias_of_another_shape() {
    %a = mosaic_gpu.slice_smem 0 {alias_id = 1 : i32} : memref<64x64xf16, #smem>
    // expected-note@+1 {{'mosaic_gpu.slice_smem' ties the layouts of memref<64x64xf16, #gpu.address_space<workgroup>> and memref<64x96xf16, #gpu.address_space<workgroup>> together: slices with one alias are stored alike}}
    %b = mosaic_gpu.slice_smem 0 {alias_id = 1 : i32} : memref<64x96xf16, #smem>
    // expected-error@+3 {{'mosaic_gpu.with_transforms' op needs tile 8x64, swizzle 128, but no layouts meet all that it demands}}
    // expected-note@+2 {{'mosaic_gpu.with_transforms' needs tile 8x64, swizzle 128: the memory}}
    // expected-note@+1 {{to resolve it, remove this 'mosaic_gpu.with_transforms' or let it state no tile, which the others allow}}
    %w = mosaic_gpu.with_transforms %a [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<64x64xf16, #smem>
    return
  }
}

// -----

// No tile begins at row 3.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @slice_in_a_tile(%m: memref<128x64xf32>) {
    // expected-error@+2 {{'mosaic_gpu.vector_load' op needs a layout for 'vector<128x64xf32>', and no known one meets what these 2 ops demand together}}
    // expected-note@+1 {{'mosaic_gpu.vector_load' needs a layout that is not splat: the loaded elements differ}}
    %v = mosaic_gpu.vector_load %m : memref<128x64xf32> -> vector<128x64xf32>
    // expected-note@+4 {{'vector.extract_strided_slice' needs tiles whose sizes divide [3, 1]: slices begin at whole tiles}}
    // expected-note@+3 {{'vector.extract_strided_slice' needs a layout that is not strided: a strided layout cannot be sliced}}
    // expected-note@+2 {{'vector.extract_strided_slice' takes operand 0 as it is laid out: only a splat becomes another layout by itself}}
    // expected-note@+1 {{to resolve it, let this 'vector.extract_strided_slice' begin and end at multiples of the tile}}
    %c = vector.extract_strided_slice %v {offsets = [3, 1], sizes = [64, 8], strides = [1, 1]} : vector<128x64xf32> to vector<64x8xf32>
    return
  }
}

// -----

// WGMMA has 8 columns at a time.
#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @slice_of_five(%x: memref<64x64xf32>, %a: memref<64x64xf16, #smem>) {
    %c = mosaic_gpu.vector_load %x : memref<64x64xf32> -> vector<64x64xf32>
    // expected-error@+2 {{'mosaic_gpu.wgmma' op needs WGMMA, but no layouts meet all that it demands}}
    // expected-note@+1 {{'mosaic_gpu.wgmma' needs WGMMA: the accumulator}}
    %r = mosaic_gpu.wgmma accumulator(%c : vector<64x64xf32>) a(%a : memref<64x64xf16, #smem>) b(%a : memref<64x64xf16, #smem>) -> vector<64x64xf32>
    // expected-note@+3 {{'vector.extract_strided_slice' ties the layouts of vector<64x64xf32> and vector<64x5xf32> together: a slice has the layout of the whole}}
    // expected-note@+2 {{'vector.extract_strided_slice' takes operand 0 as it is laid out: only a splat becomes another layout by itself}}
    // expected-note@+1 {{to resolve it, for this 'vector.extract_strided_slice' choose sizes that one layout fits on both sides}}
    %e = vector.extract_strided_slice %r {offsets = [0, 3], sizes = [64, 5], strides = [1, 1]} : vector<64x64xf32> to vector<64x5xf32>
    return
  }
}
