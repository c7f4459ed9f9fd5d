// What the search had no layout for when its fuel was used up, and what helps.
// RUN: not smalti-opt %s --mosaic-gpu-infer-layouts=fuel=1 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts=fuel=100 | FileCheck %s

module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @two_values(%a: memref<64x64xf32>, %b: memref<64x64xf32>) {
    // CHECK: vector_load {{.*}}WGStridedFragLayout<[64, 64], 2>
    %v = mosaic_gpu.vector_load %a : memref<64x64xf32> -> vector<64x64xf32>
    // CHECK: vector_load {{.*}}WGStridedFragLayout<[64, 64], 2>
    // EMPTY: [[@LINE+2]]:10: error: 'mosaic_gpu.vector_load' op has no layout after 1 assignments that the search tried (option 'fuel')
    // EMPTY: [[@LINE+1]]:10: note: no layout yet for 'vector<64x64xf32>' of 'mosaic_gpu.vector_load'; a 'mosaic_gpu.layout_cast' there would help
    %w = mosaic_gpu.vector_load %b : memref<64x64xf32> -> vector<64x64xf32>
    return
  }
}
