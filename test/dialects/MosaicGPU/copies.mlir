// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt --mlir-print-op-generic %s | smalti-opt | FileCheck %s

// CHECK-LABEL: func.func @copies
func.func @copies(%m: memref<500x300xf16>, %n: memref<?x?xf16, strided<[?, 1], offset: ?>>,
                  %v: memref<100xi8, #gpu.address_space<global>>,
                  %s: memref<128x64xf16, #gpu.address_space<workgroup>>,
                  %t: memref<32xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, %i: index) {
  // CHECK: mosaic_gpu.async_copy %{{.*}}[%[[I:.*]], %[[I]]] to %{{.*}} : memref<500x300xf16> to memref<128x64xf16, #gpu.address_space<workgroup>>
  mosaic_gpu.async_copy %m[%i, %i] to %s : memref<500x300xf16> to memref<128x64xf16, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.async_copy %{{.*}}[%[[I]], %[[I]]] to %{{.*}} : memref<?x?xf16, strided<[?, 1], offset: ?>> to memref<128x64xf16, #gpu.address_space<workgroup>>
  mosaic_gpu.async_copy %n[%i, %i] to %s
      : memref<?x?xf16, strided<[?, 1], offset: ?>> to memref<128x64xf16, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.async_copy %{{.*}}[%[[I]]] to %{{.*}} : memref<100xi8, #gpu.address_space<global>> to memref<32xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
  mosaic_gpu.async_copy %v[%i] to %t
      : memref<100xi8, #gpu.address_space<global>> to memref<32xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.async_commit_group
  mosaic_gpu.async_commit_group
  // CHECK: mosaic_gpu.async_wait_group 2
  mosaic_gpu.async_wait_group 2
  return
}

// CHECK-LABEL: func.func @loads
func.func @loads(%m: memref<500x300xf16>, %s: memref<128x64xf16, #gpu.address_space<workgroup>>,
                 %r: memref<64xf16, strided<[1], offset: ?>, #gpu.address_space<workgroup>>,
                 %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32, %rows: vector<128xi32>, %p: i1) {
  // CHECK: mosaic_gpu.async_load %{{.*}}[%[[I:.*]], %[[I]]] [128, 64] to %{{.*}} barrier(%[[B:.*]]) : memref<500x300xf16>[i32, i32] to memref<128x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  mosaic_gpu.async_load %m[%i, %i] [128, 64] to %s barrier(%b)
      : memref<500x300xf16>[i32, i32] to memref<128x64xf16, #gpu.address_space<workgroup>>,
        memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.async_load %{{.*}}[%{{.*}}, %[[I]]] [128, 64] to %{{.*}} barrier(%[[B]]) predicate(%{{.*}}) : memref<500x300xf16>[vector<128xi32>, i32] to
  mosaic_gpu.async_load %m[%rows, %i] [128, 64] to %s barrier(%b) predicate(%p)
      : memref<500x300xf16>[vector<128xi32>, i32] to memref<128x64xf16, #gpu.address_space<workgroup>>,
        memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.async_load %{{.*}}[%[[I]], %[[I]]] [-1, 64] to %{{.*}} barrier(%[[B]]) {leader_tracked = #mosaic_gpu.copy_replicated} : memref<500x300xf16>[i32, i32] to memref<64xf16, strided<[1], offset: ?>, #gpu.address_space<workgroup>>,
  mosaic_gpu.async_load %m[%i, %i] [-1, 64] to %r barrier(%b) {leader_tracked = #mosaic_gpu.copy_replicated}
      : memref<500x300xf16>[i32, i32] to memref<64xf16, strided<[1], offset: ?>, #gpu.address_space<workgroup>>,
        memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// CHECK-LABEL: func.func @collective_loads
func.func @collective_loads(%m: memref<500x300xf16>, %s: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // CHECK: mosaic_gpu.async_load %{{.*}}[%[[I:.*]], %[[I]]] [128, 64] to %{{.*}} barrier(%[[B:.*]]) collective [x, z] : memref<500x300xf16>[i32, i32] to
  mosaic_gpu.async_load %m[%i, %i] [128, 64] to %s barrier(%b) collective [x, z]
      : memref<500x300xf16>[i32, i32] to memref<128x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  // CHECK: barrier(%[[B]]) peer(%[[I]]) {oob_fill_mode = 1 : i32} : memref<500x300xf16>
  mosaic_gpu.async_load %m[%i, %i] [128, 64] to %s barrier(%b) peer(%i) {oob_fill_mode = 1 : i32}
      : memref<500x300xf16>[i32, i32] to memref<128x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  // CHECK: [256, 64] to %{{.*}} barrier(%[[B]]) collective [y] {leader_tracked = #mosaic_gpu.copy_partitioned<axis = 0>, oob_fill_mode = 0 : i32}
  mosaic_gpu.async_load %m[%i, %i] [256, 64] to %s barrier(%b) collective [y]
      {leader_tracked = #mosaic_gpu.copy_partitioned<axis = 0>, oob_fill_mode = 0 : i32}
      : memref<500x300xf16>[i32, i32] to memref<128x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// CHECK-LABEL: func.func @prefetches
func.func @prefetches(%m: memref<500x300xf16>, %i: i32, %rows: vector<64xi16>, %p: i1) {
  // CHECK: mosaic_gpu.async_prefetch %{{.*}}[%[[I:.*]], %[[I]]] [64, -1] : memref<500x300xf16>[i32, i32]
  mosaic_gpu.async_prefetch %m[%i, %i] [64, -1] : memref<500x300xf16>[i32, i32]
  // CHECK: mosaic_gpu.async_prefetch %{{.*}}[%{{.*}}, %[[I]]] [64, 64] predicate(%{{.*}}) collective [x] : memref<500x300xf16>[vector<64xi16>, i32]
  mosaic_gpu.async_prefetch %m[%rows, %i] [64, 64] predicate(%p) collective [x] : memref<500x300xf16>[vector<64xi16>, i32]
  return
}

// CHECK-LABEL: func.func @stores
func.func @stores(%m: memref<500x300xf16>, %s: memref<128x64xf16, #gpu.address_space<workgroup>>, %r: memref<64xf16, #gpu.address_space<workgroup>>, %i: i32, %rows: vector<128xi8>, %p: i1) {
  // CHECK: mosaic_gpu.async_store %{{.*}} to %{{.*}}[%[[I:.*]], %[[I]]] [128, 64] : memref<128x64xf16, #gpu.address_space<workgroup>> to memref<500x300xf16>[i32, i32]
  mosaic_gpu.async_store %s to %m[%i, %i] [128, 64] : memref<128x64xf16, #gpu.address_space<workgroup>> to memref<500x300xf16>[i32, i32]
  // CHECK: mosaic_gpu.async_store %{{.*}} to %{{.*}}[%[[I]], %[[I]]] [-1, 64] predicate(%{{.*}}) peer(%[[I]]) {commit_group = false, reduction_op = 9 : i32} : memref<64xf16
  mosaic_gpu.async_store %r to %m[%i, %i] [-1, 64] predicate(%p) peer(%i) {commit_group = false, reduction_op = 9 : i32}
      : memref<64xf16, #gpu.address_space<workgroup>> to memref<500x300xf16>[i32, i32]
  // CHECK: mosaic_gpu.async_store %{{.*}} to %{{.*}}[%{{.*}}, %[[I]]] [128, 64] {is_global_broadcast = true} : memref<128x64xf16, #gpu.address_space<workgroup>> to memref<500x300xf16>[vector<128xi8>, i32]
  mosaic_gpu.async_store %s to %m[%rows, %i] [128, 64] {is_global_broadcast = true}
      : memref<128x64xf16, #gpu.address_space<workgroup>> to memref<500x300xf16>[vector<128xi8>, i32]
  return
}

// CHECK-LABEL: func.func @sends
func.func @sends(%v: vector<128x64xf16>, %s: memref<128x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // CHECK: mosaic_gpu.async_store_smem %{{.*}} to %{{.*}} barrier(%{{.*}}) block(z %{{.*}}) : vector<128x64xf16> to memref<128x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  mosaic_gpu.async_store_smem %v to %s barrier(%b) block(z %i) : vector<128x64xf16> to memref<128x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  // CHECK: block(x %{{.*}}) {atomic_type = 0 : i32, optimized = true} : vector<128x64xf16>
  mosaic_gpu.async_store_smem %v to %s barrier(%b) block(x %i) {atomic_type = 0 : i32, optimized = true}
      : vector<128x64xf16> to memref<128x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}
