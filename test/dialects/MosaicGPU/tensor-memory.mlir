// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt --mlir-print-op-generic %s | smalti-opt | FileCheck %s

// CHECK-LABEL: func.func @memory
func.func @memory(%p: memref<i32, #gpu.address_space<workgroup>>) {
  // CHECK: %[[M:.*]] = mosaic_gpu.tmem_alloc smem_ptr(%[[P:.*]] : memref<i32, #gpu.address_space<workgroup>>) -> memref<128x256xi32, #mosaic_gpu.tmem>
  %0 = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32, #gpu.address_space<workgroup>>) -> memref<128x256xi32, #mosaic_gpu.tmem>
  // CHECK: mosaic_gpu.tmem_alloc smem_ptr(%[[P]] : memref<i32, #gpu.address_space<workgroup>>) {collective = true, packing = 2 : i32} -> memref<128x1024xf16, #mosaic_gpu.tmem>
  %1 = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32, #gpu.address_space<workgroup>>) {collective = true, packing = 2 : i32}
      -> memref<128x1024xf16, #mosaic_gpu.tmem>
  // CHECK: mosaic_gpu.tmem_relinquish_alloc_permit{{$}}
  mosaic_gpu.tmem_relinquish_alloc_permit
  // CHECK: mosaic_gpu.tmem_relinquish_alloc_permit {collective = true}
  mosaic_gpu.tmem_relinquish_alloc_permit {collective = true}
  // CHECK: mosaic_gpu.slice_tmem %[[M]] 0 : memref<128x256xi32, #mosaic_gpu.tmem> to memref<128x64xf32, #mosaic_gpu.tmem>
  %2 = mosaic_gpu.slice_tmem %0 0 : memref<128x256xi32, #mosaic_gpu.tmem> to memref<128x64xf32, #mosaic_gpu.tmem>
  // CHECK: mosaic_gpu.slice_tmem %[[M]] 128 alias 2 : memref<128x256xi32, #mosaic_gpu.tmem> to memref<128x128xf16, #mosaic_gpu.tmem>
  %3 = mosaic_gpu.slice_tmem %0 128 alias 2 : memref<128x256xi32, #mosaic_gpu.tmem> to memref<128x128xf16, #mosaic_gpu.tmem>
  // CHECK: mosaic_gpu.tmem_layout_cast %{{.*}} : memref<128x64xf32, #mosaic_gpu.tmem> to #mosaic_gpu.TiledLayout<{{\[\[128, 1\], \[32, 1\]\]}}, warp_dims = [-4], lane_dims = [-2], vector_dim = -1>
  %4 = mosaic_gpu.tmem_layout_cast %2 : memref<128x64xf32, #mosaic_gpu.tmem> to #mosaic_gpu.TiledLayout<[[128, 1], [32, 1]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>
  // CHECK: mosaic_gpu.tmem_dealloc tmem_ref(%[[M]] : memref<128x256xi32, #mosaic_gpu.tmem>)
  mosaic_gpu.tmem_dealloc tmem_ref(%0 : memref<128x256xi32, #mosaic_gpu.tmem>)
  return
}

// CHECK-LABEL: func.func @transfers
func.func @transfers(%m: memref<128x64xf32, #mosaic_gpu.tmem>, %v: vector<128x64xf32>) {
  // CHECK: mosaic_gpu.async_load_tmem %[[M:.*]] : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>
  %0 = mosaic_gpu.async_load_tmem %m : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>
  // CHECK: %{{.*}}:2 = mosaic_gpu.async_load_tmem %[[M]] reduce absmax : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>, vector<128xf32>
  %1:2 = mosaic_gpu.async_load_tmem %m reduce absmax : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>, vector<128xf32>
  // CHECK: mosaic_gpu.async_store_tmem %{{.*}}, %[[M]] : vector<128x64xf32>, memref<128x64xf32, #mosaic_gpu.tmem>
  mosaic_gpu.async_store_tmem %v, %m : vector<128x64xf32>, memref<128x64xf32, #mosaic_gpu.tmem>
  return
}

// CHECK-LABEL: func.func @copies
func.func @copies(%a: memref<128x64xf16, #gpu.address_space<workgroup>>, %at: memref<128x64xf16, #mosaic_gpu.tmem>, %m: memref<1x2x128x64xi2, #gpu.address_space<workgroup>>,
                  %mt: memref<128x128xi2, #mosaic_gpu.tmem>, %s: memref<1x2x32x16xf8E4M3FN, #gpu.address_space<workgroup>>, %h: memref<1x2x64x16xf8E4M3FN, #gpu.address_space<workgroup>>,
                  %st: memref<128x8xf8E4M3FN, #mosaic_gpu.tmem>) {
  // CHECK: mosaic_gpu.async_store_smem_to_tmem %{{.*}} to %{{.*}} : memref<128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, #mosaic_gpu.tmem>
  mosaic_gpu.async_store_smem_to_tmem %a to %at : memref<128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, #mosaic_gpu.tmem>
  // CHECK: mosaic_gpu.async_store_sparse_metadata_smem_to_tmem %{{.*}} to %{{.*}} {collective = true} : memref<1x2x128x64xi2, #gpu.address_space<workgroup>> to memref<128x128xi2, #mosaic_gpu.tmem>
  mosaic_gpu.async_store_sparse_metadata_smem_to_tmem %m to %mt {collective = true}
      : memref<1x2x128x64xi2, #gpu.address_space<workgroup>> to memref<128x128xi2, #mosaic_gpu.tmem>
  // CHECK: mosaic_gpu.async_store_scales_smem_to_tmem %{{.*}} to %{{.*}} : memref<1x2x32x16xf8E4M3FN, #gpu.address_space<workgroup>> to memref<128x8xf8E4M3FN, #mosaic_gpu.tmem>
  mosaic_gpu.async_store_scales_smem_to_tmem %s to %st : memref<1x2x32x16xf8E4M3FN, #gpu.address_space<workgroup>> to memref<128x8xf8E4M3FN, #mosaic_gpu.tmem>
  // CHECK: mosaic_gpu.async_store_scales_smem_to_tmem %{{.*}} to %{{.*}} : memref<1x2x64x16xf8E4M3FN, #gpu.address_space<workgroup>>
  mosaic_gpu.async_store_scales_smem_to_tmem %h to %st : memref<1x2x64x16xf8E4M3FN, #gpu.address_space<workgroup>> to memref<128x8xf8E4M3FN, #mosaic_gpu.tmem>
  return
}

// JAX's layouts of tensor memory: for matmuls of 64 rows, of 64 rows of two blocks, for scales and for metadata.
// CHECK-LABEL: func.func @layouts
func.func @layouts(%m: memref<64x64xf32, #mosaic_gpu.tmem>, %h: memref<64x64xf16, #mosaic_gpu.tmem>, %s: memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>,
                   %b: memref<256x4xf8E8M0FNU, #mosaic_gpu.tmem>, %d: memref<128x64xi2, #mosaic_gpu.tmem>) {
  // CHECK-COUNT-5: mosaic_gpu.tmem_layout_cast
  %0 = mosaic_gpu.tmem_layout_cast %m : memref<64x64xf32, #mosaic_gpu.tmem>
      to #mosaic_gpu.TiledLayout<[[64, 64], [16, 32], [1]], warp_dims = [-5], lane_dims = [-4, -3], vector_dim = -1>
  %1 = mosaic_gpu.tmem_layout_cast %h : memref<64x64xf16, #mosaic_gpu.tmem>
      to #mosaic_gpu.TiledLayout<[[64, 64], [32, 32], [2]], warp_dims = [-4, -5], lane_dims = [-3], vector_dim = -1>
  %2 = mosaic_gpu.tmem_layout_cast %s : memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>
      to #mosaic_gpu.TiledLayout<[[128, 4], [32, 1]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], lane_dims = [-2], vector_dim = -3>
  %3 = mosaic_gpu.tmem_layout_cast %b : memref<256x4xf8E8M0FNU, #mosaic_gpu.tmem>
      to #mosaic_gpu.TiledLayout<[[256, 4], [128, 4], [32, 4]], warp_dims = [#mosaic_gpu.Replicated<times = 2>, -6], lane_dims = [-2], vector_dim = -1>
  %4 = mosaic_gpu.tmem_layout_cast %d : memref<128x64xi2, #mosaic_gpu.tmem>
      to #mosaic_gpu.TiledLayout<[[128, 16], [32, 1], [16, 1], [8, 1]], warp_dims = [-8], lane_dims = [-2, -4, -6], vector_dim = -7>
  return
}
