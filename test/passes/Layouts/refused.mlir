// Conflicting constraints: a note for each op with its requirement and reason, and a hint. The module
// does not change.
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
    // expected-note@+1 {{'mosaic_gpu.layout_cast' requires layout WGMMA for the result (vector<128x64xf32> in registers): the layout of the cast result}}
    %a = mosaic_gpu.layout_cast x(%v : vector<128x64xf32>) {new_layout = #wgmma}
    // expected-error@+2 {{'mosaic_gpu.layout_cast' op requires layout TCGEN05 for the result (vector<128x64xf32> in registers); no layout assignment satisfies all requirements in the notes}}
    // expected-note@+1 {{'mosaic_gpu.layout_cast' requires layout TCGEN05 for the result (vector<128x64xf32> in registers): the layout of the cast result}}
    %b = mosaic_gpu.layout_cast x(%w : vector<128x64xf32>) {new_layout = #tcgen}
    // expected-note@+3 {{'arith.addf' requires operand 0 (vector<128x64xf32> in registers) in the layout of the result of 'mosaic_gpu.layout_cast', and the same layout for operand 1 and the result: only splats are converted to another layout without a 'mosaic_gpu.layout_cast'}}
    // expected-note@+2 {{'arith.addf' requires operand 1 (vector<128x64xf32> in registers) in the layout of the result of 'mosaic_gpu.layout_cast', and the same layout for operand 0 and the result: only splats are converted to another layout without a 'mosaic_gpu.layout_cast'}}
    // expected-note@+1 {{to resolve the conflict, set relayouts=true, or insert a 'mosaic_gpu.layout_cast' to the layout TCGEN05 before operand 0 of this 'arith.addf', whose layout is WGMMA (cost: 32768 bytes of shared memory, 2 barriers and 128 bank cycles (0 conflicts): 264 cycles)}}
    %r = arith.addf %a, %b : vector<128x64xf32>
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @two_tiles() {
    %s = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>
    // expected-note@+2 {{'mosaic_gpu.with_transforms' requires tile 8x64, swizzle 128 for operand 0 and the result (memref<64x64xf16, #gpu.address_space<workgroup>> in shared memory): the op sets the layout of the memory}}
    // expected-note@+1 {{to resolve the conflict, remove this 'mosaic_gpu.with_transforms' or change the layout of the op to tile 8x32, swizzle 64, which satisfies the other ops}}
    %a = mosaic_gpu.with_transforms %s [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<64x64xf16, #smem>
    // expected-error@+3 {{'mosaic_gpu.with_transforms' op requires tile 8x32, swizzle 64 for operand 0 and the result (memref<64x64xf16, #gpu.address_space<workgroup>> in shared memory); no layout assignment satisfies all requirements in the notes}}
    // expected-note@+2 {{'mosaic_gpu.with_transforms' requires tile 8x32, swizzle 64 for operand 0 and the result (memref<64x64xf16, #gpu.address_space<workgroup>> in shared memory): the op sets the layout of the memory}}
    // expected-note@+1 {{to resolve the conflict, remove this 'mosaic_gpu.with_transforms' or change the layout of the op to tile 8x64, swizzle 128, which satisfies the other ops}}
    %b = mosaic_gpu.with_transforms %s [#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<64 : i32>] : memref<64x64xf16, #smem>
    return
  }
}

// -----

// An op that accesses a single element does not support tiles.
#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @element_of_tile(%i: index) -> f16 {
    %s = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #smem>
    // expected-note@+2 {{'mosaic_gpu.with_transforms' requires tile 8x64, swizzle 128 for operand 0 and the result (memref<64x64xf16, #gpu.address_space<workgroup>> in shared memory): the op sets the layout of the memory}}
    // expected-note@+1 {{to resolve the conflict, remove this 'mosaic_gpu.with_transforms' or change the layout of the op to [] (no tile and no swizzle), which satisfies the other ops}}
    %a = mosaic_gpu.with_transforms %s [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<64x64xf16, #smem>
    // expected-error@+2 {{'memref.load' op requires untiled memory for operand 0 (memref<64x64xf16, #gpu.address_space<workgroup>> in shared memory); no layout assignment satisfies all requirements in the notes}}
    // expected-note@+1 {{'memref.load' requires untiled memory for operand 0 (memref<64x64xf16, #gpu.address_space<workgroup>> in shared memory): the op accesses a single element by its index; use a separate buffer for the ops that require tiles}}
    %e = memref.load %a[%i, %i] : memref<64x64xf16, #smem>
    return %e : f16
  }
}

// -----

// A view splits a tile.
#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @cut_tile(%c: vector<64x64xf32>, %b: memref<64x64xf16, #smem>) {
    %s = mosaic_gpu.slice_smem 0 : memref<64x128xf16, #smem>
    // expected-note@+3 {{'memref.subview' requires tiles whose sizes divide [64, 8] for operand 0 (memref<64x128xf16, #gpu.address_space<workgroup>> in shared memory): the view must begin and end at tile boundaries}}
    // expected-note@+2 {{'memref.subview' requires matching layouts for operand 0 (memref<64x128xf16, #gpu.address_space<workgroup>> in shared memory) and the result (memref<64x64xf16, strided<[128, 1], offset: 8>, #gpu.address_space<workgroup>> in shared memory): a view has the layout of its source}}
    // expected-note@+1 {{to resolve the conflict, make the offsets and sizes of this 'memref.subview' multiples of the tile that another op in the notes requires}}
    %v = memref.subview %s[0, 8] [64, 64] [1, 1] : memref<64x128xf16, #smem> to memref<64x64xf16, strided<[128, 1], offset: 8>, #smem>
    // expected-error@+3 {{'mosaic_gpu.wgmma' op requires tiles of 8x64 or 8x32 or 8x16, with a swizzle as wide as the tile's rows, for operand 2 (memref<64x64xf16, #gpu.address_space<workgroup>> in shared memory); no layout assignment satisfies all requirements in the notes}}
    // expected-note@+2 {{'mosaic_gpu.wgmma' requires tiles of 8x64 or 8x32 or 8x16, with a swizzle as wide as the tile's rows, for operand 2 (memref<64x64xf16, #gpu.address_space<workgroup>> in shared memory): the tensor core reads tiles of 8 rows of 32, 64 or 128 bytes}}
    // expected-note@+1 {{'mosaic_gpu.wgmma' requires matching layouts for operand 2 (memref<64x64xf16, #gpu.address_space<workgroup>> in shared memory) and operand 1 (memref<64x64xf16, strided<[128, 1], offset: 8>, #gpu.address_space<workgroup>> in shared memory): operands 'a' and 'b' must have the same tile and swizzle}}
    %r = mosaic_gpu.wgmma accumulator(%c : vector<64x64xf32>) a(%v : memref<64x64xf16, strided<[128, 1], offset: 8>, #smem>)
        b(%b : memref<64x64xf16, #smem>) -> vector<64x64xf32>
    return
  }
}

// -----

// Only a splat has each element in every thread.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @element(%a: memref<128xf32>) -> f32 {
    // expected-note@+1 {{'mosaic_gpu.vector_load' requires a layout other than splat (one scalar for all elements) for the result (vector<128xf32> in registers): the loaded elements may differ}}
    %v = mosaic_gpu.vector_load %a : memref<128xf32> -> vector<128xf32>
    // expected-error@+3 {{'vector.extract' op requires layout splat for operand 0 (vector<128xf32> in registers); no layout assignment satisfies all requirements in the notes}}
    // expected-note@+2 {{'vector.extract' requires layout splat for operand 0 (vector<128xf32> in registers): every thread needs the extracted element, and only the splat layout holds all elements in every thread; store the vector to memory, and load the element from there}}
    // expected-note@+1 {{'vector.extract' requires operand 0 (vector<128xf32> in registers) in the layout of the result of 'mosaic_gpu.vector_load': only splats are converted to another layout without a 'mosaic_gpu.layout_cast'}}
    %e = vector.extract %v[3] : f32 from vector<128xf32>
    return %e : f32
  }
}

// -----

// 10000 elements can be shared by 16 threads, each of which would have 625.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @odd_sizes(%a: memref<100x100xf32>) {
    // expected-error@+3 {{'mosaic_gpu.vector_load' op requires a layout for the result (vector<100x100xf32> in registers); no known layout satisfies all requirements in the notes}}
    // expected-note@+2 {{'mosaic_gpu.vector_load' requires a layout other than splat (one scalar for all elements) for the result (vector<100x100xf32> in registers): the loaded elements may differ}}
    // expected-note@+1 {{to resolve the conflict, pad the vector to 'vector<128x128xf32>', whose elements can be divided evenly among the 128 threads}}
    %v = mosaic_gpu.vector_load %a : memref<100x100xf32> -> vector<100x100xf32>
    return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @alias_of_another_shape() {
    %a = mosaic_gpu.slice_smem 0 {alias_id = 1 : i32} : memref<64x64xf16, #smem>
    // expected-note@+1 {{'mosaic_gpu.slice_smem' requires matching layouts for the result of another 'mosaic_gpu.slice_smem' (memref<64x64xf16, #gpu.address_space<workgroup>> in shared memory) and the result (memref<64x96xf16, #gpu.address_space<workgroup>> in shared memory): slices of memory with the same alias id have the same layout}}
    %b = mosaic_gpu.slice_smem 0 {alias_id = 1 : i32} : memref<64x96xf16, #smem>
    // expected-error@+3 {{'mosaic_gpu.with_transforms' op requires tile 8x64, swizzle 128 for operand 0 and the result (memref<64x64xf16, #gpu.address_space<workgroup>> in shared memory); no layout assignment satisfies all requirements in the notes}}
    // expected-note@+2 {{'mosaic_gpu.with_transforms' requires tile 8x64, swizzle 128 for operand 0 and the result (memref<64x64xf16, #gpu.address_space<workgroup>> in shared memory): the op sets the layout of the memory}}
    // expected-note@+1 {{to resolve the conflict, remove this 'mosaic_gpu.with_transforms' or change the layout of the op to [] (no tile and no swizzle), which satisfies the other ops}}
    %w = mosaic_gpu.with_transforms %a [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<64x64xf16, #smem>
    return
  }
}

// -----

// Row 3 is not a tile boundary.
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @slice_in_a_tile(%m: memref<128x64xf32>) {
    // expected-error@+2 {{'mosaic_gpu.vector_load' op requires a layout for the result (vector<128x64xf32> in registers); no known layout satisfies all requirements in the notes}}
    // expected-note@+1 {{'mosaic_gpu.vector_load' requires a layout other than splat (one scalar for all elements) for the result (vector<128x64xf32> in registers): the loaded elements may differ}}
    %v = mosaic_gpu.vector_load %m : memref<128x64xf32> -> vector<128x64xf32>
    // expected-note@+4 {{'vector.extract_strided_slice' requires tiles whose sizes divide [3, 1] for operand 0 (vector<128x64xf32> in registers): a slice of a vector must begin at a tile boundary}}
    // expected-note@+3 {{'vector.extract_strided_slice' requires a layout other than strided for operand 0 (vector<128x64xf32> in registers): slices of vectors in strided layouts are not supported}}
    // expected-note@+2 {{'vector.extract_strided_slice' requires operand 0 (vector<128x64xf32> in registers) in the layout of the result of 'mosaic_gpu.vector_load': only splats are converted to another layout without a 'mosaic_gpu.layout_cast'}}
    // expected-note@+1 {{to resolve the conflict, make the offsets and sizes of this 'vector.extract_strided_slice' multiples of the tile of a register layout, such as 64x8 for WGMMA}}
    %c = vector.extract_strided_slice %v {offsets = [3, 1], sizes = [64, 8], strides = [1, 1]} : vector<128x64xf32> to vector<64x8xf32>
    return
  }
}

// -----

// The tile of WGMMA has 8 columns.
#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @slice_of_five(%x: memref<64x64xf32>, %a: memref<64x64xf16, #smem>) {
    %c = mosaic_gpu.vector_load %x : memref<64x64xf32> -> vector<64x64xf32>
    // expected-error@+2 {{'mosaic_gpu.wgmma' op requires layout WGMMA for operand 0 and the result (vector<64x64xf32> in registers); no layout assignment satisfies all requirements in the notes}}
    // expected-note@+1 {{'mosaic_gpu.wgmma' requires layout WGMMA for operand 0 and the result (vector<64x64xf32> in registers): the layout of the accumulator}}
    %r = mosaic_gpu.wgmma accumulator(%c : vector<64x64xf32>) a(%a : memref<64x64xf16, #smem>) b(%a : memref<64x64xf16, #smem>) -> vector<64x64xf32>
    // expected-note@+3 {{'vector.extract_strided_slice' requires matching layouts for operand 0 (vector<64x64xf32> in registers) and the result (vector<64x5xf32> in registers): a slice must have the layout of the whole vector}}
    // expected-note@+2 {{'vector.extract_strided_slice' requires operand 0 (vector<64x64xf32> in registers) in the layout of the result of 'mosaic_gpu.wgmma': only splats are converted to another layout without a 'mosaic_gpu.layout_cast'}}
    // expected-note@+1 {{to resolve the conflict, change the sizes in this 'vector.extract_strided_slice' so that one layout is valid for both values}}
    %e = vector.extract_strided_slice %r {offsets = [0, 3], sizes = [64, 5], strides = [1, 1]} : vector<64x64xf32> to vector<64x5xf32>
    return
  }
}
