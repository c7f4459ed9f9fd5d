// Accesses at index vectors: all vectors have one layout, and shared memory does not have transforms.
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts | FileCheck %s

#smem = #gpu.address_space<workgroup>
#row = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  // CHECK-LABEL: func.func @gather
  func.func @gather(%m: memref<100xf32>, %at: memref<256xi32>, %to: memref<256xf32>) {
    %c0 = arith.constant 0 : index
    // CHECK: vector_load {{.*}}out_layouts = [#[[L:.*]]]} : memref<256xi32>
    %i = mosaic_gpu.vector_load %at : memref<256xi32> -> vector<256xi32>
    %on = arith.constant dense<true> : vector<256xi1>
    %zero = arith.constant dense<0.0> : vector<256xf32>
    // CHECK: vector.gather {{.*}} {in_layouts = [#[[L]], #[[L]], #[[L]]], out_layouts = [#[[L]]]}
    %v = vector.gather %m[%c0] [%i], %on, %zero : memref<100xf32>, vector<256xi32>, vector<256xi1>, vector<256xf32> into vector<256xf32>
    // CHECK: vector_store {{.*}}in_layouts = [#[[L]]]
    mosaic_gpu.vector_store %v, %to : vector<256xf32>, memref<256xf32>
    return
  }

  // The layout of a value determines that of the indices.
  // CHECK-LABEL: func.func @scatter
  func.func @scatter(%at: memref<64xi32>, %x: vector<64xf16>) {
    %c0 = arith.constant 0 : index
    // CHECK: slice_smem 0 {out_transforms = {{\[\[}}]]}
    %s = mosaic_gpu.slice_smem 0 : memref<64xf16, #smem>
    // CHECK: vector_load {{.*}}out_layouts = [#[[R:.*]]]} : memref<64xi32>
    %i = mosaic_gpu.vector_load %at {optimized = false} : memref<64xi32> -> vector<64xi32>
    %f = arith.sitofp %i : vector<64xi32> to vector<64xf16>
    %v = mosaic_gpu.layout_cast x(%f : vector<64xf16>) {new_layout = #row}
    %on = arith.constant dense<true> : vector<64xi1>
    // CHECK: vector.scatter {{.*}} {in_layouts = [#[[R2:.*]], #[[R2]], #[[R2]]], in_transforms = {{\[\[}}]]}
    vector.scatter %s[%c0] [%i], %on, %v : memref<64xf16, #smem>, vector<64xi32>, vector<64xi1>, vector<64xf16>
    return
  }

  // CHECK-LABEL: func.func @atomics
  func.func @atomics(%m: memref<100xi32>, %at: memref<256xi32>) {
    // CHECK: vector_load {{.*}}out_layouts = [#[[L:.*]]]} : memref<256xi32>
    %i = mosaic_gpu.vector_load %at : memref<256xi32> -> vector<256xi32>
    %one = arith.constant dense<1> : vector<256xi32>
    // CHECK: mosaic_gpu.atomic_rmw {{.*}} {in_layouts = [#[[L]], #[[L]]], out_layouts = [#[[L]]]}
    %old = mosaic_gpu.atomic_rmw addi %one, %m[%i] device relaxed : vector<256xi32>, memref<100xi32>, vector<256xi32> -> vector<256xi32>
    // CHECK: mosaic_gpu.atomic_cas {{.*}} {in_layouts = [#[[L]], #[[L]], #[[L]]]}
    mosaic_gpu.atomic_cas %old, %one, %m[%i] device relaxed : vector<256xi32>, memref<100xi32>, vector<256xi32>
    %c = arith.cmpi slt, %old, %one : vector<256xi32>
    // CHECK: mosaic_gpu.assert {{.*}} {in_layouts = [#[[L]]]}
    mosaic_gpu.assert %c, "" : vector<256xi1>
    return
  }
}
