// Inserted relayouts: the cheapest one between ops that require different layouts, with a remark.
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts --remarks-filter=mosaic-gpu-infer-layouts 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#transposed = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2, 2], [2, 1]], warp_dims = [-10], lane_dims = [-6, -3, -5], vector_dim = -2>
#tcgen = #mosaic_gpu.TiledLayout<[[128, 8], [32, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  // Among lanes.
  // CHECK-LABEL: func.func @lanes
  func.func @lanes(%v: vector<64x64xf16>, %w: vector<64x64xf16>) {
    // CHECK: layout_cast
    // CHECK: layout_cast
    %a = mosaic_gpu.layout_cast x(%v : vector<64x64xf16>) {new_layout = #wgmma}
    %b = mosaic_gpu.layout_cast x(%w : vector<64x64xf16>) {new_layout = #transposed}
    // CHECK: %[[CAST:.*]] = mosaic_gpu.layout_cast x({{.*}}) {in_layouts = [{{.*}}], new_layout = {{.*}}, out_layouts = [{{.*}}]}
    // CHECK: arith.addf {{.*}}%[[CAST]]
    // REMARK: relayout inserted: operand {{[01]}} converted from WGMMA{{.*}} to WGMMA{{.*}} (cost: {{[0-9]+}} shuffles
    %r = arith.addf %a, %b : vector<64x64xf16>
    return
  }

  // The relayout of a row is cheaper than that of the matrix.
  // CHECK-LABEL: func.func @cheapest
  func.func @cheapest(%v: vector<128x64xf32>, %m: vector<128xf32>) {
    %zero = arith.constant dense<0.0> : vector<128xf32>
    %a = mosaic_gpu.layout_cast x(%v : vector<128x64xf32>) {new_layout = #tcgen}
    // CHECK: vector.multi_reduction
    %s = vector.multi_reduction <add>, %a, %zero [1] : vector<128x64xf32> to vector<128xf32>
    // CHECK: layout_cast x({{.*}} : vector<128xf32>)
    // REMARK: to WGMMA_ROW
    %b = mosaic_gpu.broadcast_in_dim(%s : vector<128xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<128x64xf32>
    // CHECK: broadcast_in_dim
    %c = mosaic_gpu.layout_cast x(%b : vector<128x64xf32>) {new_layout = #wgmma}
    return
  }
}
