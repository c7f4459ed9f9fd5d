// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=2}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks

// A read of global memory stays with the private memory that its op accesses.
// CHECK: Function=cond | Remark="loop not pipelined: 'scf.if' reads global memory and accesses private memory, so the read cannot be prefetched; move the read out of the op"
func.func @cond(%a: memref<64x256xf32> {llvm.noalias}, %n: index, %zero: f32) -> f32 attributes {gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %t = gpu.thread_id x
  %s0 = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
  %p = memref.alloca() : memref<1xf32, #gpu.address_space<private>>
  %is = arith.cmpi ult, %t, %c32 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    scf.if %is {
      %x = memref.load %a[%i, %t] : memref<64x256xf32>
      memref.store %x, %p[%c0] : memref<1xf32, #gpu.address_space<private>>
    }
    %y = memref.load %p[%c0] : memref<1xf32, #gpu.address_space<private>>
    memref.store %y, %s0[%t] : memref<256xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %u = memref.load %s0[%c0] : memref<256xf32, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %u : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}

// CHECK: Function=cond_inner | Remark="loop not pipelined: 'scf.if' reads global memory and accesses private memory, so the read cannot be prefetched; move the read out of the op"
func.func @cond_inner(%a: memref<64x256xf32> {llvm.noalias}, %n: index, %zero: f32) -> f32 attributes {gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %t = gpu.thread_id x
  %s0 = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
  %is = arith.cmpi ult, %t, %c32 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %y = scf.if %is -> f32 {
      %p = memref.alloca() : memref<1xf32>
      %x = memref.load %a[%i, %t] : memref<64x256xf32>
      memref.store %x, %p[%c0] : memref<1xf32>
      %z = memref.load %p[%c0] : memref<1xf32>
      scf.yield %z : f32
    } else { scf.yield %zero : f32 }
    memref.store %y, %s0[%t] : memref<256xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %u = memref.load %s0[%c0] : memref<256xf32, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %u : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}
