// Memory of other blocks, of other devices and of the tensor core: its loops are not pipelined.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks

#shared = #gpu.address_space<workgroup>
!barrier = memref<!mosaic_gpu.barrier, #shared>
!tile = memref<64x64xf16, #shared>

// CHECK: Function=collective | Remark="loop not pipelined: the source or destination of 'mosaic_gpu.async_load' cannot be determined, for example because the op copies to several blocks of a cluster"
func.func @collective(%m: memref<64x64xf16>, %s: !tile, %b: !barrier, %i: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %k = %c0 to %c64 step %c1 {
    mosaic_gpu.async_load %m[%i, %i] [64, 64] to %s barrier(%b) collective [x]
        : memref<64x64xf16>[i32, i32] to !tile, !barrier
  }
  return
}

// CHECK: Function=leader | Remark="loop not pipelined: the source or destination of 'mosaic_gpu.async_load' cannot be determined, for example because the op copies to several blocks of a cluster"
func.func @leader(%m: memref<64x64xf16>, %s: !tile, %b: !barrier, %i: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %k = %c0 to %c64 step %c1 {
    mosaic_gpu.async_load %m[%i, %i] [64, 64] to %s barrier(%b) {leader_tracked = #mosaic_gpu.copy_replicated}
        : memref<64x64xf16>[i32, i32] to !tile, !barrier
  }
  return
}

// CHECK: Function=peer | Remark="loop not pipelined: the source or destination of 'mosaic_gpu.async_load' cannot be determined, for example because the op copies to several blocks of a cluster"
func.func @peer(%m: memref<64x64xf16>, %s: !tile, %b: !barrier, %i: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %k = %c0 to %c64 step %c1 {
    mosaic_gpu.async_load %m[%i, %i] [64, 64] to %s barrier(%b) peer(%i)
        : memref<64x64xf16>[i32, i32] to !tile, !barrier
  }
  return
}

// CHECK: Function=cluster | Remark="loop not pipelined: 'memref.load' accesses cluster memory; only global, shared and private memory is analyzed"
func.func @cluster(%a: memref<64xf32, #mosaic_gpu.smem_cluster>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32, #mosaic_gpu.smem_cluster>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=tensor | Remark="loop not pipelined: 'memref.load' accesses tensor memory; only global, shared and private memory is analyzed"
func.func @tensor(%a: memref<64xf32, #mosaic_gpu.tmem>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32, #mosaic_gpu.tmem>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=tensor_load | Remark="loop not pipelined: 'mosaic_gpu.async_load_tmem' has a side effect that is not an access to a memref or pointer"
func.func @tensor_load(%a: memref<128x64xf32, #mosaic_gpu.tmem>, %g: memref<128x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %v = mosaic_gpu.async_load_tmem %a : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>
    mosaic_gpu.vector_store %v, %g : vector<128x64xf32>, memref<128x64xf32>
  }
  return
}

// The first barrier is the end of the last tile.
// CHECK: Function=slices_that_overlap | Remark="loop not pipelined: the schedule would move 'mosaic_gpu.async_load' of %1 before 'mosaic_gpu.wait' of %0 of an earlier iteration, and the two accesses may alias"
func.func @slices_that_overlap(%a: memref<64x1024xf16>, %init: vector<64x64xf16>) -> vector<64x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %row = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %barriers = mosaic_gpu.slice_smem 32760 : memref<4x!mosaic_gpu.barrier, #shared>
  %shared = mosaic_gpu.slice_smem 0 : memref<4x64x64xf16, #shared>
  %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init) -> vector<64x64xf16> {
    %slot = arith.remui %i, %c4 : index
    %turn = arith.divui %i, %c4 : index
    %bit = arith.remui %turn, %c2 : index
    %parity = arith.cmpi eq, %bit, %c1 : index
    %number = arith.index_cast %i : index to i32
    %column = arith.muli %number, %c64 : i32
    %barrier = memref.subview %barriers[%slot] [1] [1]
      : memref<4x!mosaic_gpu.barrier, #shared> to memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>
    %view = memref.subview %shared[%slot, 0, 0] [1, 64, 64] [1, 1, 1]
      : memref<4x64x64xf16, #shared> to memref<64x64xf16, strided<[64, 1], offset: ?>, #shared>
    mosaic_gpu.arrive_expect_tx barrier(%barrier : memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>) 8192
    mosaic_gpu.async_load %a[%row, %column] [64, 64] to %view barrier(%barrier)
      : memref<64x1024xf16>[i32, i32] to memref<64x64xf16, strided<[64, 1], offset: ?>, #shared>,
        memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>
    mosaic_gpu.wait barrier(%barrier : memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>) parity(%parity : i1)
    %value = mosaic_gpu.vector_load %view
      : memref<64x64xf16, strided<[64, 1], offset: ?>, #shared> -> vector<64x64xf16>
    %next = arith.addf %acc, %value : vector<64x64xf16>
    gpu.barrier
    scf.yield %next : vector<64x64xf16>
  }
  return %sum : vector<64x64xf16>
}
