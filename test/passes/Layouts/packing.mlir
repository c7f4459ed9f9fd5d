// Layouts of tensor memory with 'packing' elements in a column.
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts | FileCheck %s

#smem = #gpu.address_space<workgroup>
module attributes {mosaic_gpu.arch_major = 10 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @alloc() {
    %s = mosaic_gpu.slice_smem 0 : memref<i32, #smem>
    // CHECK: tmem_alloc {{.*}}out_tmem_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 2], [32, 2]]
    %packed = mosaic_gpu.tmem_alloc smem_ptr(%s : memref<i32, #smem>) {packing = 2 : i32}
        -> memref<128x64xf16, #mosaic_gpu.tmem>
    // CHECK: tmem_alloc {{.*}}out_tmem_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}128, 1], [32, 1]]
    %one = mosaic_gpu.tmem_alloc smem_ptr(%s : memref<i32, #smem>) -> memref<128x64xf16, #mosaic_gpu.tmem>
    return
  }
}
