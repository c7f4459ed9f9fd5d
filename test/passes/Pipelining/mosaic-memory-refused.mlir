// Memory of other blocks, of other devices and of the tensor core: loops that touch it are left as they are.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks

#shared = #gpu.address_space<workgroup>
!barrier = memref<!mosaic_gpu.barrier, #shared>
!tile = memref<64x64xf16, #shared>

// CHECK: Function=collective | Remark="the loop is not pipelined: 'mosaic_gpu.async_load' copies from or to memory that is not known"
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

// CHECK: Function=leader | Remark="the loop is not pipelined: 'mosaic_gpu.async_load' copies from or to memory that is not known"
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

// CHECK: Function=peer | Remark="the loop is not pipelined: 'mosaic_gpu.async_load' copies from or to memory that is not known"
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

// CHECK: Function=cluster | Remark="the loop is not pipelined: 'memref.load' accesses cluster memory, which is not followed"
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

// CHECK: Function=tensor | Remark="the loop is not pipelined: 'memref.load' accesses tensor memory, which is not followed"
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

// CHECK: Function=tensor_load | Remark="the loop is not pipelined: 'mosaic_gpu.async_load_tmem' has a side effect on something other than a memref"
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
