// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt --mlir-print-op-generic %s | smalti-opt | FileCheck %s

// CHECK-LABEL: func.func @vectors
// CHECK-SAME: (%[[M:.*]]: memref<64x64xf16>, %[[G:.*]]: memref<64x64xf16, #gpu.address_space<global>>, %[[S:.*]]: memref<64x64xf16, strided<[72, 1], offset: ?>, #gpu.address_space<workgroup>>)
func.func @vectors(%m: memref<64x64xf16>, %g: memref<64x64xf16, #gpu.address_space<global>>,
                   %s: memref<64x64xf16, strided<[72, 1], offset: ?>, #gpu.address_space<workgroup>>) {
  // CHECK: %[[V:.*]] = mosaic_gpu.vector_load %[[M]] : memref<64x64xf16> -> vector<64x64xf16>
  %0 = mosaic_gpu.vector_load %m : memref<64x64xf16> -> vector<64x64xf16>
  // CHECK: mosaic_gpu.vector_load %[[S]] {optimized = true} : memref<64x64xf16, strided<[72, 1], offset: ?>, #gpu.address_space<workgroup>> -> vector<64x64xf16>
  %1 = mosaic_gpu.vector_load %s {optimized = true}
      : memref<64x64xf16, strided<[72, 1], offset: ?>, #gpu.address_space<workgroup>> -> vector<64x64xf16>
  // CHECK: mosaic_gpu.vector_store %{{.*}}, %[[S]] {optimized = false} : vector<64x64xf16>, memref<64x64xf16, strided<[72, 1], offset: ?>, #gpu.address_space<workgroup>>
  mosaic_gpu.vector_store %1, %s {optimized = false}
      : vector<64x64xf16>, memref<64x64xf16, strided<[72, 1], offset: ?>, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.vector_store %{{.*}}, %[[G]] {multimem = true} : vector<64x64xf16>, memref<64x64xf16, #gpu.address_space<global>>
  mosaic_gpu.vector_store %0, %g {multimem = true} : vector<64x64xf16>, memref<64x64xf16, #gpu.address_space<global>>
  // CHECK: mosaic_gpu.layout_cast x(%{{.*}} : vector<64x64xf16>) {new_layout = #mosaic_gpu.WGStridedFragLayout<[64, 64], 8>}
  %2 = mosaic_gpu.layout_cast x(%0 : vector<64x64xf16>) {new_layout = #mosaic_gpu.WGStridedFragLayout<[64, 64], 8>}
  return
}

// CHECK-LABEL: func.func @cluster_memory
func.func @cluster_memory(%m: memref<64x64xf16, #mosaic_gpu.smem_cluster>) {
  // CHECK: mosaic_gpu.vector_load %{{.*}} : memref<64x64xf16, #mosaic_gpu.smem_cluster> -> vector<64x64xf16>
  %0 = mosaic_gpu.vector_load %m : memref<64x64xf16, #mosaic_gpu.smem_cluster> -> vector<64x64xf16>
  // CHECK: mosaic_gpu.vector_store %{{.*}}, %{{.*}} {atomic_type = 2 : i32} : vector<64x64xf16>, memref<64x64xf16, #mosaic_gpu.smem_cluster>
  mosaic_gpu.vector_store %0, %m {atomic_type = 2 : i32} : vector<64x64xf16>, memref<64x64xf16, #mosaic_gpu.smem_cluster>
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%m: memref<64x64xf16>, %n: memref<64xi32>, %f: memref<64xf32>) {
  // CHECK: mosaic_gpu.multimem_load_reduce max %{{.*}} : memref<64x64xf16> -> vector<64x64xf16>
  %0 = mosaic_gpu.multimem_load_reduce max %m : memref<64x64xf16> -> vector<64x64xf16>
  // CHECK: mosaic_gpu.multimem_load_reduce umin %{{.*}} : memref<64xi32> -> vector<64xi32>
  %1 = mosaic_gpu.multimem_load_reduce umin %n : memref<64xi32> -> vector<64xi32>
  // CHECK: mosaic_gpu.multimem_load_reduce xor %{{.*}} : memref<64xi32> -> vector<64xi32>
  %2 = mosaic_gpu.multimem_load_reduce xor %n : memref<64xi32> -> vector<64xi32>
  // CHECK: mosaic_gpu.multimem_load_reduce add %{{.*}} : memref<64xf32> -> vector<64xf32>
  %3 = mosaic_gpu.multimem_load_reduce add %f : memref<64xf32> -> vector<64xf32>
  return
}

// CHECK-LABEL: func.func @shapes
// CHECK-SAME: (%[[V:.*]]: vector<64xf32>, %[[W:.*]]: vector<64x1xf32>, %[[N:.*]]: i32)
func.func @shapes(%v: vector<64xf32>, %w: vector<64x1xf32>, %n: i32) {
  // CHECK: mosaic_gpu.broadcast_in_dim(%[[V]] : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x128xf32>
  %0 = mosaic_gpu.broadcast_in_dim(%v : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x128xf32>
  // CHECK: mosaic_gpu.broadcast_in_dim(%[[W]] : vector<64x1xf32>) {broadcast_dimensions = array<i64: 1, 2>} -> vector<8x64x4xf32>
  %1 = mosaic_gpu.broadcast_in_dim(%w : vector<64x1xf32>) {broadcast_dimensions = array<i64: 1, 2>} -> vector<8x64x4xf32>
  // CHECK: mosaic_gpu.vector_concat(%[[V]], %[[V]], %[[V]] : vector<64xf32>, vector<64xf32>, vector<64xf32>) {dimension = 0 : i32} -> vector<192xf32>
  %2 = mosaic_gpu.vector_concat(%v, %v, %v : vector<64xf32>, vector<64xf32>, vector<64xf32>) {dimension = 0 : i32}
      -> vector<192xf32>
  // CHECK: mosaic_gpu.broadcasted_iota 1 : vector<64x128xi32>
  %3 = mosaic_gpu.broadcasted_iota 1 : vector<64x128xi32>
  // CHECK: mosaic_gpu.optimization_barrier %[[V]], %[[N]] : vector<64xf32>, i32
  %4:2 = mosaic_gpu.optimization_barrier %v, %n : vector<64xf32>, i32
  return
}
