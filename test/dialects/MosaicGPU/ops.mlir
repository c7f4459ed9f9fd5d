// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt --mlir-print-op-generic %s | smalti-opt | FileCheck %s

!barrier = !mosaic_gpu.barrier
!tc_barrier = !mosaic_gpu.barrier<orders_tensor_core = true>

// CHECK-LABEL: func.func @shared_memory
func.func @shared_memory() {
  // CHECK: mosaic_gpu.slice_smem 0 : memref<128x64xf16, #gpu.address_space<workgroup>>
  %a = mosaic_gpu.slice_smem 0 : memref<128x64xf16, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.slice_smem 16384 alias 3 : memref<64xf32, #gpu.address_space<workgroup>>
  %b = mosaic_gpu.slice_smem 16384 alias 3 : memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.slice_smem 8 : memref<4x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  %c = mosaic_gpu.slice_smem 8 : memref<4x!barrier, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.slice_smem 3 : memref<16xi8, #gpu.address_space<workgroup>>
  %d = mosaic_gpu.slice_smem 3 : memref<16xi8, #gpu.address_space<workgroup>>
  return
}

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
  // CHECK: mosaic_gpu.async_load %{{.*}}[%[[I]], %[[I]]] [-1, 64] to %{{.*}} barrier(%[[B]]) {leader_tracked} : memref<500x300xf16>[i32, i32] to memref<64xf16, strided<[1], offset: ?>, #gpu.address_space<workgroup>>,
  mosaic_gpu.async_load %m[%i, %i] [-1, 64] to %r barrier(%b) {leader_tracked}
      : memref<500x300xf16>[i32, i32] to memref<64xf16, strided<[1], offset: ?>, #gpu.address_space<workgroup>>,
        memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// CHECK-LABEL: func.func @products
func.func @products(%c: vector<64x128xf32>, %a: vector<64x16xf16>, %b: vector<16x128xf16>,
                    %a32: vector<64x8xf32>, %b32: vector<8x128xf32>,
                    %e4: vector<64x32xf8E4M3FN>, %e5: vector<32x128xf8E5M2>,
                    %z5: vector<64x32xf8E5M2FNUZ>, %z4: vector<32x128xf8E4M3FNUZ>,
                    %ci: vector<64x128xi32>, %ai: vector<64x32xi8>, %bi: vector<32x128xi8>,
                    %ai4: vector<64x64xi4>, %bi4: vector<64x128xi4>) {
  // CHECK: mosaic_gpu.mma accumulator(%{{.*}} : vector<64x128xf32>) a(%{{.*}} : vector<64x16xf16>) b(%{{.*}} : vector<16x128xf16>) -> vector<64x128xf32>
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x128xf32>) a(%a : vector<64x16xf16>) b(%b : vector<16x128xf16>)
      -> vector<64x128xf32>
  // CHECK: mosaic_gpu.mma accumulator(%{{.*}}) a(%{{.*}} : vector<64x8xf32>) b(%{{.*}} : vector<8x128xf32>) {allow_tf32} -> vector<64x128xf32>
  %1 = mosaic_gpu.mma accumulator(%0 : vector<64x128xf32>) a(%a32 : vector<64x8xf32>) b(%b32 : vector<8x128xf32>)
      {allow_tf32} -> vector<64x128xf32>
  // CHECK: a(%{{.*}} : vector<64x32xf8E4M3FN>) b(%{{.*}} : vector<32x128xf8E5M2>)
  %2 = mosaic_gpu.mma accumulator(%1 : vector<64x128xf32>) a(%e4 : vector<64x32xf8E4M3FN>)
      b(%e5 : vector<32x128xf8E5M2>) -> vector<64x128xf32>
  // CHECK: a(%{{.*}} : vector<64x32xf8E5M2FNUZ>) b(%{{.*}} : vector<32x128xf8E4M3FNUZ>)
  %3 = mosaic_gpu.mma accumulator(%2 : vector<64x128xf32>) a(%z5 : vector<64x32xf8E5M2FNUZ>)
      b(%z4 : vector<32x128xf8E4M3FNUZ>) -> vector<64x128xf32>
  // CHECK: mosaic_gpu.mma accumulator(%{{.*}} : vector<64x128xi32>) a(%{{.*}} : vector<64x32xi8>)
  %4 = mosaic_gpu.mma accumulator(%ci : vector<64x128xi32>) a(%ai : vector<64x32xi8>) b(%bi : vector<32x128xi8>)
      -> vector<64x128xi32>
  // CHECK: a(%{{.*}} : vector<64x64xi4>) b(%{{.*}} : vector<64x128xi4>)
  %5 = mosaic_gpu.mma accumulator(%4 : vector<64x128xi32>) a(%ai4 : vector<64x64xi4>) b(%bi4 : vector<64x128xi4>)
      -> vector<64x128xi32>
  return
}

// CHECK-LABEL: func.func @barriers
func.func @barriers(%p: !llvm.ptr<3>, %b: memref<!barrier, #gpu.address_space<workgroup>>,
                    %t: memref<!tc_barrier, #gpu.address_space<workgroup>>, %n: i32, %parity: i1) {
  // CHECK: mosaic_gpu.initialize_barrier %{{.*}} {arrival_count = 2 : i64, num_barriers = 4 : i32} : !llvm.ptr<3>
  mosaic_gpu.initialize_barrier %p {arrival_count = 2 : i64, num_barriers = 4 : i32} : !llvm.ptr<3>
  // CHECK: mosaic_gpu.initialize_barrier %{{.*}} {arrival_count = 1 : i64, num_barriers = 1 : i32, orders_tensor_core = true} : !llvm.ptr<3>
  mosaic_gpu.initialize_barrier %p {arrival_count = 1 : i64, num_barriers = 1 : i32, orders_tensor_core = true}
      : !llvm.ptr<3>
  // CHECK: mosaic_gpu.arrive %[[B:.*]] : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  mosaic_gpu.arrive %b : memref<!barrier, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.arrive %{{.*}} {orders_tensor_core = true} : memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
  mosaic_gpu.arrive %t {orders_tensor_core = true} : memref<!tc_barrier, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.arrive_expect_tx barrier(%[[B]] : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
  mosaic_gpu.arrive_expect_tx barrier(%b : memref<!barrier, #gpu.address_space<workgroup>>) 8192
  // CHECK: mosaic_gpu.arrive_expect_tx barrier(%[[B]] : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) %{{.*}}
  mosaic_gpu.arrive_expect_tx barrier(%b : memref<!barrier, #gpu.address_space<workgroup>>) %n
  // CHECK: mosaic_gpu.wait barrier(%[[B]] : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) parity(%{{.*}} : i1)
  mosaic_gpu.wait barrier(%b : memref<!barrier, #gpu.address_space<workgroup>>) parity(%parity : i1)
  return
}
