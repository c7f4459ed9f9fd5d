// RUN: smalti-opt --split-input-file --cse --loop-invariant-code-motion --canonicalize %s | FileCheck %s

!smem = memref<64x64xf16, #gpu.address_space<workgroup>>

// CHECK-LABEL: func.func @slices_are_pure
func.func @slices_are_pure() -> (!smem, !smem) {
  // CHECK: %[[S:.*]] = mosaic_gpu.slice_smem 0
  // CHECK-NOT: slice_smem
  // CHECK: return %[[S]], %[[S]]
  %a = mosaic_gpu.slice_smem 0 : !smem
  %b = mosaic_gpu.slice_smem 0 : !smem
  %unused = mosaic_gpu.slice_smem 128 : !smem
  return %a, %b : !smem, !smem
}

// -----

!smem = memref<64x64xf16, #gpu.address_space<workgroup>>

// Two loads are one, but not across a store, a wait for copies or a wait for a barrier.
// CHECK-LABEL: func.func @loads
func.func @loads(%s: !smem, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %p: i1)
    -> (vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf16>) {
  // CHECK: %[[V0:.*]] = mosaic_gpu.vector_load
  // CHECK-NEXT: mosaic_gpu.async_wait_group 0
  // CHECK-NEXT: %[[V1:.*]] = mosaic_gpu.vector_load
  // CHECK-NEXT: mosaic_gpu.wait
  // CHECK-NEXT: %[[V2:.*]] = mosaic_gpu.vector_load
  // CHECK-NEXT: mosaic_gpu.vector_store
  // CHECK-NEXT: %[[V3:.*]] = mosaic_gpu.vector_load
  // CHECK-NEXT: return %[[V0]], %[[V0]], %[[V1]], %[[V2]], %[[V3]]
  %0 = mosaic_gpu.vector_load %s : !smem -> vector<64x64xf16>
  %1 = mosaic_gpu.vector_load %s : !smem -> vector<64x64xf16>
  mosaic_gpu.async_wait_group 0
  %2 = mosaic_gpu.vector_load %s : !smem -> vector<64x64xf16>
  mosaic_gpu.wait barrier(%b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) parity(%p : i1)
  %3 = mosaic_gpu.vector_load %s : !smem -> vector<64x64xf16>
  mosaic_gpu.vector_store %3, %s : vector<64x64xf16>, !smem
  %4 = mosaic_gpu.vector_load %s : !smem -> vector<64x64xf16>
  return %0, %1, %2, %3, %4
      : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf16>
}

// -----

!smem = memref<64x64xf16, #gpu.address_space<workgroup>>

// Loop-invariant matmuls leave the loop. Copies, groups and waits do not, and they are neither dead nor duplicates.
// CHECK-LABEL: func.func @loop
func.func @loop(%m: memref<64x64xf16>, %s: !smem, %n: index, %out: memref<64x64xf32>, %c: vector<64x64xf32>,
                %a: vector<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: mosaic_gpu.mma
  // CHECK: scf.for
  // CHECK-NEXT: mosaic_gpu.async_copy
  // CHECK-NEXT: mosaic_gpu.async_copy
  // CHECK-NEXT: mosaic_gpu.async_commit_group
  // CHECK-NEXT: mosaic_gpu.async_commit_group
  // CHECK-NEXT: mosaic_gpu.async_wait_group 1
  // CHECK-NEXT: mosaic_gpu.async_wait_group 1
  // CHECK-NEXT: mosaic_gpu.vector_store
  // CHECK-NEXT: }
  scf.for %i = %c0 to %n step %c1 {
    mosaic_gpu.async_copy %m[%c0, %c0] to %s : memref<64x64xf16> to !smem
    mosaic_gpu.async_copy %m[%c0, %c0] to %s : memref<64x64xf16> to !smem
    mosaic_gpu.async_commit_group
    mosaic_gpu.async_commit_group
    mosaic_gpu.async_wait_group 1
    mosaic_gpu.async_wait_group 1
    %r = mosaic_gpu.mma accumulator(%c : vector<64x64xf32>) a(%a : vector<64x64xf16>) b(%a : vector<64x64xf16>)
        -> vector<64x64xf32>
    mosaic_gpu.vector_store %r, %out : vector<64x64xf32>, memref<64x64xf32>
  }
  return
}

// -----

!tmem = memref<128x64xf32, #mosaic_gpu.tmem>
!barrier = memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>

// Asynchronous work, allocations and what is printed stay where they are, each of them; views of memory are pure.
// CHECK-LABEL: func.func @asynchronous
func.func @asynchronous(%m: memref<64x64xf16>, %s: memref<64x64xf16, #gpu.address_space<workgroup>>, %t: !tmem,
                        %slot: memref<i32, #gpu.address_space<workgroup>>, %b: !barrier, %i: i32, %c: vector<64x64xf32>,
                        %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  // CHECK-NEXT: mosaic_gpu.async_prefetch
  // CHECK-NEXT: mosaic_gpu.async_prefetch
  // CHECK-NEXT: mosaic_gpu.async_store
  // CHECK-NEXT: mosaic_gpu.async_store
  // CHECK-NEXT: mosaic_gpu.wgmma
  // CHECK-NEXT: mosaic_gpu.wgmma
  // CHECK-NEXT: mosaic_gpu.async_load_tmem
  // CHECK-NEXT: mosaic_gpu.async_load_tmem
  // CHECK-NEXT: mosaic_gpu.optimization_barrier
  // CHECK-NEXT: mosaic_gpu.tcgen05_commit_arrive
  // CHECK-NEXT: mosaic_gpu.tcgen05_commit_arrive
  // CHECK-NEXT: mosaic_gpu.tmem_alloc
  // CHECK-NEXT: mosaic_gpu.tmem_dealloc
  // CHECK-NEXT: mosaic_gpu.debug_print
  // CHECK-NEXT: mosaic_gpu.debug_print
  // CHECK-NEXT: mosaic_gpu.print_layout
  // CHECK-NEXT: {{^ *}$}}
  scf.for %k = %c0 to %n step %c1 {
    mosaic_gpu.async_prefetch %m[%i, %i] [64, 64] : memref<64x64xf16>[i32, i32]
    mosaic_gpu.async_prefetch %m[%i, %i] [64, 64] : memref<64x64xf16>[i32, i32]
    mosaic_gpu.async_store %s to %m[%i, %i] [64, 64]
        : memref<64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16>[i32, i32]
    mosaic_gpu.async_store %s to %m[%i, %i] [64, 64]
        : memref<64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16>[i32, i32]
    %0 = mosaic_gpu.wgmma accumulator(%c : vector<64x64xf32>) a(%s : memref<64x64xf16, #gpu.address_space<workgroup>>)
        b(%s : memref<64x64xf16, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
    %1 = mosaic_gpu.wgmma accumulator(%c : vector<64x64xf32>) a(%s : memref<64x64xf16, #gpu.address_space<workgroup>>)
        b(%s : memref<64x64xf16, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
    %2 = mosaic_gpu.async_load_tmem %t : !tmem -> vector<128x64xf32>
    %3 = mosaic_gpu.async_load_tmem %t : !tmem -> vector<128x64xf32>
    %4 = mosaic_gpu.optimization_barrier %c : vector<64x64xf32>
    mosaic_gpu.tcgen05_commit_arrive %b : !barrier
    mosaic_gpu.tcgen05_commit_arrive %b : !barrier
    %5 = mosaic_gpu.tmem_alloc smem_ptr(%slot : memref<i32, #gpu.address_space<workgroup>>) -> !tmem
    mosaic_gpu.tmem_dealloc tmem_ref(%5 : !tmem)
    mosaic_gpu.debug_print "{}", %c : vector<64x64xf32>
    mosaic_gpu.debug_print "{}", %c : vector<64x64xf32>
    mosaic_gpu.print_layout "{}", %c : vector<64x64xf32>
    %6 = mosaic_gpu.slice_tmem %t 0 : !tmem to !tmem
    %7 = mosaic_gpu.get_cluster_ref %s x(%i)
        : memref<64x64xf16, #gpu.address_space<workgroup>> -> memref<64x64xf16, #mosaic_gpu.smem_cluster>
    %8 = mosaic_gpu.broadcasted_iota 0 : vector<64x64xi32>
    %9 = mosaic_gpu.vector_concat(%c, %c : vector<64x64xf32>, vector<64x64xf32>) {dimension = 0 : i32} -> vector<128x64xf32>
  }
  return
}
