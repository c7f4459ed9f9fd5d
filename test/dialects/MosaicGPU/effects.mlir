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

// Loop-invariant products leave the loop; copies, groups and waits do not, and none is taken for dead or for another.
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
