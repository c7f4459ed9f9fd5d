// Element-wise ops of any dialect: operands and results have one layout.
// RUN: smalti-opt %s -split-input-file --mosaic-gpu-infer-layouts | FileCheck %s

module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  // Two ops that JAX lowers, and has no rule of inference for.
  // CHECK-LABEL: func.func @erf_and_atan2
  func.func @erf_and_atan2(%a: memref<64x64xf32>, %out: memref<64x64xf32>) {
    // CHECK: arith.constant {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[64, 64]>]}
    %c = arith.constant dense<1.0> : vector<64x64xf32>
    // CHECK: vector_load {{.*}} {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 2>]}
    %v = mosaic_gpu.vector_load %a : memref<64x64xf32> -> vector<64x64xf32>
    // CHECK: math.erf {{.*}} {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 2>], out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 2>]}
    %e = math.erf %v : vector<64x64xf32>
    // A splat becomes any layout where it is used.
    // CHECK: math.atan2 {{.*}} {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 2>, #mosaic_gpu.WGStridedFragLayout<[64, 64], 2>], out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 2>]}
    %t = math.atan2 %e, %c : vector<64x64xf32>
    // CHECK: vector_store {{.*}} {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 2>]}
    mosaic_gpu.vector_store %t, %out : vector<64x64xf32>, memref<64x64xf32>
    return
  }

  // Elements may be of another type in the result; scalars have no layout.
  // CHECK-LABEL: func.func @types
  func.func @types(%a: memref<128x128xf16>, %p: i1) {
    // CHECK: vector_load {{.*}}WGStridedFragLayout<[128, 128], 4>
    %v = mosaic_gpu.vector_load %a : memref<128x128xf16> -> vector<128x128xf16>
    // CHECK: arith.extf {{.*}} {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 4>], out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 4>]}
    %e = arith.extf %v : vector<128x128xf16> to vector<128x128xf32>
    // CHECK: arith.select {{.*}} {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 4>, #mosaic_gpu.WGStridedFragLayout<[128, 128], 4>], out_layouts
    %s = arith.select %p, %e, %e : vector<128x128xf32>
    // CHECK: vector.fma {{.*}} {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 4>, #mosaic_gpu.WGStridedFragLayout<[128, 128], 4>, #mosaic_gpu.WGStridedFragLayout<[128, 128], 4>]
    %f = vector.fma %s, %s, %e : vector<128x128xf32>
    return
  }

  // Of splats alone, a splat.
  // CHECK-LABEL: func.func @splats
  func.func @splats(%x: f32) {
    // CHECK: vector.broadcast {{.*}} {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[3, 5]>]}
    %v = vector.broadcast %x : f32 to vector<3x5xf32>
    // CHECK: arith.addf {{.*}} {in_layouts = [#mosaic_gpu.WGSplatFragLayout<[3, 5]>, #mosaic_gpu.WGSplatFragLayout<[3, 5]>]
    %s = arith.addf %v, %v : vector<3x5xf32>
    // CHECK: vector.extract {{.*}} {in_layouts = [#mosaic_gpu.WGSplatFragLayout<[3, 5]>]}
    %e = vector.extract %s[0, 0] : f32 from vector<3x5xf32>
    return
  }

  // A constant whose elements differ has a strided layout.
  // CHECK-LABEL: func.func @constant
  func.func @constant() -> vector<128xi32> {
    // CHECK: mosaic_gpu.broadcasted_iota 0 {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>]}
    %i = mosaic_gpu.broadcasted_iota 0 : vector<128xi32>
    // CHECK: return {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>]}
    return %i : vector<128xi32>
  }
}
