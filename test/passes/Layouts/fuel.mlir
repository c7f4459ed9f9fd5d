// Exceeded fuel: notes on values without a layout. Each independent part of a module has all of the fuel.
// RUN: not smalti-opt %s --mosaic-gpu-infer-layouts=fuel=1 -split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not smalti-opt %s --mosaic-gpu-infer-layouts=fuel=1 -split-input-file 2>/dev/null | FileCheck %s --check-prefix=APART
// RUN: not smalti-opt %s --mosaic-gpu-infer-layouts=fuel=4 -split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=LITTLE
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts=fuel=100 -split-input-file | FileCheck %s

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @two_values_of_one_memory() {
    %m = mosaic_gpu.slice_smem 0 : memref<64x64xf32, #smem>
    // CHECK: vector_load {{.*}}WGStridedFragLayout<[64, 64], 2>
    // EMPTY: [[@LINE+2]]:10: error: 'mosaic_gpu.vector_load' op does not have a layout after 1 search steps; raise the option 'fuel' or annotate the values in the notes
    // EMPTY: [[@LINE+1]]:10: note: no layout chosen yet for 'vector<64x64xf32>' of 'mosaic_gpu.vector_load'; annotate it with 'mosaic_gpu.layout_cast'
    %v = mosaic_gpu.vector_load %m : memref<64x64xf32, #smem> -> vector<64x64xf32>
    // CHECK: vector_load {{.*}}WGStridedFragLayout<[64, 64], 2>
    %w = mosaic_gpu.vector_load %m : memref<64x64xf32, #smem> -> vector<64x64xf32>
    return
  }
}

// -----

module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @values_apart(%a: memref<64x64xf32>, %b: memref<64x64xf32>) {
    // APART-LABEL: func.func @values_apart
    // APART: vector_load {{.*}}WGStridedFragLayout<[64, 64], 2>
    // APART: vector_load {{.*}}WGStridedFragLayout<[64, 64], 2>
    // CHECK-LABEL: func.func @values_apart
    // CHECK: vector_load {{.*}}WGStridedFragLayout<[64, 64], 2>
    %v = mosaic_gpu.vector_load %a : memref<64x64xf32> -> vector<64x64xf32>
    // CHECK: vector_load {{.*}}WGStridedFragLayout<[64, 64], 2>
    %w = mosaic_gpu.vector_load %b : memref<64x64xf32> -> vector<64x64xf32>
    return
  }
}

// -----

// The search for relayouts also uses fuel.
#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#tcgen = #mosaic_gpu.TiledLayout<[[128, 8], [32, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  // CHECK-LABEL: func.func @swap
  func.func @swap(%v: vector<128x64xf32>, %n: index) {
    %a = mosaic_gpu.layout_cast x(%v : vector<128x64xf32>) {new_layout = #wgmma}
    // EMPTY: [[@LINE+1]]:10: error: 'mosaic_gpu.layout_cast' op does not have a layout after 1 search steps; raise the option 'fuel' or annotate the values in the notes
    %b = mosaic_gpu.layout_cast x(%v : vector<128x64xf32>) {new_layout = #tcgen}
    %r:2 = scf.for %i = %n to %n step %n iter_args(%x = %a, %y = %b) -> (vector<128x64xf32>, vector<128x64xf32>) {
      scf.yield %y, %x : vector<128x64xf32>, vector<128x64xf32>
    }
    return
  }
}

// -----

// The search with JAX's rules uses its share of the fuel without a layout. The error is not a conflict: the search with
// relayouts finds a layout with more fuel.
#columns = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#rows = #mosaic_gpu.TiledLayout<[[128, 8], [32, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  // CHECK-LABEL: func.func @sums
  func.func @sums(%v: vector<64x64xf32>, %zero: vector<64xf32>, %out: memref<64x1xf32>) {
    // EMPTY: [[@LINE+1]]:10: error: 'mosaic_gpu.layout_cast' op does not have a layout after 1 search steps; raise the option 'fuel'
    %w = mosaic_gpu.layout_cast x(%v : vector<64x64xf32>) {new_layout = #columns}
    %s = vector.multi_reduction <add>, %w, %zero [1] : vector<64x64xf32> to vector<64xf32>
    %b = mosaic_gpu.broadcast_in_dim(%s : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x1xf32>
    mosaic_gpu.vector_store %b, %out : vector<64x1xf32>, memref<64x1xf32>
    return
  }

  // CHECK-LABEL: func.func @cheapest
  // LITTLE: [[@LINE+2]]:3: error: 'func.func' op does not have a layout after 4 search steps; raise the option 'fuel'
  // LITTLE-NOT: no known layout
  func.func @cheapest(%v: vector<128x64xf32>, %m: vector<128xf32>) {
    %zero = arith.constant dense<0.0> : vector<128xf32>
    %a = mosaic_gpu.layout_cast x(%v : vector<128x64xf32>) {new_layout = #rows}
    %s = vector.multi_reduction <add>, %a, %zero [1] : vector<128x64xf32> to vector<128xf32>
    %b = mosaic_gpu.broadcast_in_dim(%s : vector<128xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<128x64xf32>
    %c = mosaic_gpu.layout_cast x(%b : vector<128x64xf32>) {new_layout = #columns}
    return
  }
}
