// What has no layouts: each op that takes part, what it needs and why, and what
// would resolve it. What is refused stays as it was.
// RUN: smalti-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(mosaic-gpu-infer-layouts{relayouts=false})'
// RUN: not smalti-opt %s -split-input-file --mlir-print-ir-after-failure --pass-pipeline='builtin.module(mosaic-gpu-infer-layouts{relayouts=false})' 2>&1 | FileCheck %s
// CHECK-NOT: in_layouts =
// CHECK-NOT: out_layouts =
// CHECK-NOT: in_transforms =

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#tcgen = #mosaic_gpu.TiledLayout<[[128, 8], [32, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @contradictory_casts(%v: vector<128x64xf32>, %w: vector<128x64xf32>) {
    %a = mosaic_gpu.layout_cast x(%v : vector<128x64xf32>) {new_layout = #wgmma}
    %b = mosaic_gpu.layout_cast x(%w : vector<128x64xf32>) {new_layout = #tcgen}
    %r = arith.addf %a, %b : vector<128x64xf32>
    return
  }
}
