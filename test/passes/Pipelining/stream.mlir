// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops,canonicalize,cse))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t | FileCheck %s --check-prefix=ONE
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer,smalti-pipeline-loops,canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefix=TWO
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3},canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefix=THREE
// RUN: smalti-opt %s \
// RUN:   --pass-pipeline='builtin.module(func.func(smalti-multi-buffer,smalti-pipeline-loops{target=gfx1201},canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefix=SPLIT

// With one buffer, the kernel needs one barrier between the stores of the last iteration and their
// use, and one before the buffer is overwritten. The first is before the reads, which need not
// wait.
// REMARK: remark: [Passed] smalti-pipeline-loops | Category:smalti-pipeline-loops | Function=matmul | Remark="loop pipelined: 2 stages, stream mode, 2 reads prefetched; 2 shared buffers, 8192 B; 2 barriers per iteration; trip count 10"
// ONE-LABEL: func.func @matmul(
// ONE-COUNT-2: vector.transfer_read
// ONE-COUNT-2: mosaic_gpu.vector_store
// ONE-NOT:     gpu.barrier
// ONE:         scf.for
// ONE-NEXT:      arith.addi
// ONE-NEXT:      gpu.barrier
// ONE-COUNT-2:   vector.transfer_read
// ONE-COUNT-2:   mosaic_gpu.vector_load
// ONE:           gpu.barrier
// ONE-COUNT-2:   mosaic_gpu.vector_store
// ONE:           scf.yield
// ONE:         } {my.attribute}
// ONE:         gpu.barrier
// ONE-COUNT-2: mosaic_gpu.vector_load
// ONE-NOT:     gpu.barrier
// ONE:         return

// With two slots, one barrier is enough.
// TWO-LABEL: func.func @matmul(
// TWO:         scf.for
// TWO:           gpu.barrier
// TWO-COUNT-2:   vector.transfer_read
// TWO-COUNT-2:   mosaic_gpu.vector_load
// TWO-NOT:       gpu.barrier
// TWO-COUNT-2:   mosaic_gpu.vector_store
// TWO:           scf.yield
// TWO:         gpu.barrier
// TWO-COUNT-2: mosaic_gpu.vector_load

// With three stages, what was read is carried to the next iteration. Each read follows the store of
// the previous value, and is in flight while the next store waits.
// THREE-LABEL: func.func @matmul(
// THREE:         scf.for {{.*}} -> (vector<64x32xf16>, vector<64x32xf16>, vector<64x32xf16>)
// THREE-NEXT:      gpu.barrier
// THREE-COUNT-2:   mosaic_gpu.vector_load
// THREE:           gpu.barrier
// THREE:           mosaic_gpu.vector_store
// THREE-NOT:       mosaic_gpu.vector_store
// THREE:           vector.transfer_read
// THREE-NOT:       vector.transfer_read
// THREE:           mosaic_gpu.vector_store
// THREE-NOT:       mosaic_gpu.vector_store
// THREE:           vector.transfer_read
// THREE-NEXT:      scf.yield
// THREE:         gpu.barrier
// THREE:         gpu.barrier
// THREE:         gpu.barrier
// THREE:         return

// Where a barrier waits for reads in flight, one for shared memory is placed.
// SPLIT-LABEL: func.func @matmul(
// SPLIT-NOT:     gpu.barrier
// SPLIT:         scf.for
// SPLIT:           amdgpu.lds_barrier
// SPLIT:         amdgpu.lds_barrier
// SPLIT:         return
#shared = #gpu.address_space<workgroup>
func.func @matmul(%a: memref<500x300xf16>, %b: memref<500x300xf16>, %row: index) -> vector<64x32xf16> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c300 = arith.constant 300 : index
  %zero = arith.constant 0.0 : f16
  %init = arith.constant dense<0.0> : vector<64x32xf16>
  %a_shared = memref.alloc() : memref<64x32xf16, #shared>
  %b_shared = memref.alloc() : memref<64x32xf16, #shared>
  %sum = scf.for %k = %c0 to %c300 step %c32 iter_args(%acc = %init) -> vector<64x32xf16> {
    %a_tile = vector.transfer_read %a[%row, %k], %zero : memref<500x300xf16>, vector<64x32xf16>
    mosaic_gpu.vector_store %a_tile, %a_shared : vector<64x32xf16>, memref<64x32xf16, #shared>
    %b_tile = vector.transfer_read %b[%row, %k], %zero : memref<500x300xf16>, vector<64x32xf16>
    mosaic_gpu.vector_store %b_tile, %b_shared : vector<64x32xf16>, memref<64x32xf16, #shared>
    gpu.barrier
    %a_back = mosaic_gpu.vector_load %a_shared : memref<64x32xf16, #shared> -> vector<64x32xf16>
    %b_back = mosaic_gpu.vector_load %b_shared : memref<64x32xf16, #shared> -> vector<64x32xf16>
    %product = arith.mulf %a_back, %b_back : vector<64x32xf16>
    %next = arith.addf %acc, %product : vector<64x32xf16>
    gpu.barrier
    scf.yield %next : vector<64x32xf16>
  } {my.attribute}
  return %sum : vector<64x32xf16>
}

// Other threads may write the prefetched elements after the loop: the barriers must also order global memory.
// SPLIT-LABEL: func.func @reads_before_and_writes_after(
// SPLIT-NOT:     amdgpu.lds_barrier
// SPLIT:         scf.for
// SPLIT:           gpu.barrier
// SPLIT-NOT:     amdgpu.lds_barrier
// SPLIT:         return
func.func @reads_before_and_writes_after(%a: memref<500x300xf16>, %c: memref<64x96xf16>, %row: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c300 = arith.constant 300 : index
  %zero = arith.constant 0.0 : f16
  %a_shared = memref.alloc() : memref<64x32xf16, #shared>
  %init = vector.transfer_read %c[%c0, %c0], %zero : memref<64x96xf16>, vector<64x32xf16>
  %sum = scf.for %k = %c0 to %c300 step %c32 iter_args(%acc = %init) -> vector<64x32xf16> {
    %a_tile = vector.transfer_read %a[%row, %k], %zero : memref<500x300xf16>, vector<64x32xf16>
    mosaic_gpu.vector_store %a_tile, %a_shared : vector<64x32xf16>, memref<64x32xf16, #shared>
    gpu.barrier
    %a_back = mosaic_gpu.vector_load %a_shared : memref<64x32xf16, #shared> -> vector<64x32xf16>
    %next = arith.addf %acc, %a_back : vector<64x32xf16>
    gpu.barrier
    scf.yield %next : vector<64x32xf16>
  }
  vector.transfer_write %sum, %c[%c0, %c32] : vector<64x32xf16>, memref<64x96xf16>
  return
}

// Without stores to shared memory, the reads follow the computation.
// THREE-LABEL: func.func @registers(
// THREE:         scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[NOW:.*]] = %{{.*}}, %[[SOON:.*]] = %{{.*}}) -> (f32, f32, f32)
// THREE-NEXT:      %[[SUM:.*]] = arith.addf %[[ACC]], %[[NOW]]
// THREE:           %[[READ:.*]] = memref.load
// THREE-NEXT:      scf.yield %[[SUM]], %[[SOON]], %[[READ]]
func.func @registers(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}
