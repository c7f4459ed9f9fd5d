// Cost of existing layouts. The module does not change.
// RUN: smalti-opt %s --mosaic-gpu-evaluate-layouts --remarks-filter=mosaic-gpu-evaluate-layouts -o %t.after 2>%t.remarks
// RUN: smalti-opt %s -o %t.before
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// The result of layout inference is valid and does not cost more.
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts --mosaic-gpu-evaluate-layouts \
// RUN:   --remarks-filter=mosaic-gpu-evaluate-layouts -o /dev/null 2>&1 | FileCheck %s --check-prefix=INFERRED

#smem = #gpu.address_space<workgroup>
#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#transposed = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2, 2], [2, 1]], warp_dims = [-10], lane_dims = [-6, -3, -5], vector_dim = -2>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @f(%out: memref<64x64xf16>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %half = arith.constant {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[64, 64]>]} dense<0.5> : vector<64x64xf16>
    %a = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]}
        : memref<64x64xf16, #smem>
    // CHECK: :[[@LINE+1]]:10: remark: {{.*}}"estimated cost: [[LOAD:[1-9][0-9]*]] cycles with layouts tile 8x64, swizzle 128 and WGMMA: the op loads its result from memory"
    %v = mosaic_gpu.vector_load %a {in_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]],
        out_layouts = [#wgmma]} : memref<64x64xf16, #smem> -> vector<64x64xf16>
    // The argument of the loop has the layout of what reaches it.
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %v) -> vector<64x64xf16> {
      // A splat becomes what is needed.
      %y = arith.mulf %x, %half {in_layouts = [#wgmma, #wgmma], out_layouts = [#wgmma]} : vector<64x64xf16>
      scf.yield {in_layouts = [#wgmma]} %y : vector<64x64xf16>
    } {in_layouts = [#wgmma], out_layouts = [#wgmma]}
    // CHECK: :[[@LINE+1]]:10: remark: {{.*}}"estimated cost: [[CAST:[1-9][0-9]*]] cycles with layouts WGMMA and WGMMA_TRANSPOSED: the cast converts its operand to the layout that it states"
    %t = mosaic_gpu.layout_cast x(%r : vector<64x64xf16>) {new_layout = #transposed, in_layouts = [#wgmma],
        out_layouts = [#transposed]}
    mosaic_gpu.vector_store %t, %out {in_layouts = [#transposed], optimized = false}
        : vector<64x64xf16>, memref<64x64xf16>
    // CHECK: remark: {{.*}}"estimated cost of all layouts: {{[1-9][0-9]*}} cycles and {{[1-9][0-9]*}} registers per thread, summed over all values"
    // INFERRED: remark: {{.*}}"estimated cost of all layouts: {{[1-9][0-9]*}} cycles and {{[1-9][0-9]*}} registers per thread, summed over all values"
    return
  }
}
