// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(smalti-multi-buffer))' \
// RUN:   --remarks-filter=smalti-multi-buffer 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: smalti-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(func.func(smalti-pad-shared-memory{target=sm_80},smalti-multi-buffer))' | FileCheck %s --check-prefix=PAD

// Elements that no view shows are not read, and need not be overwritten.

// The output of smalti-pad-shared-memory.
// REMARK: Function=padded | Remark="buffer multi-buffered: 2 slots of 4224 B
// CHECK-LABEL: @padded
// CHECK: memref.alloc() : memref<2x32x33xf32
func.func @padded(%a: memref<64x32x32xf32>, %n: index, %zero: f32) -> f32 attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %t = gpu.thread_id x
  %all = memref.alloc() : memref<32x33xf32, #gpu.address_space<workgroup>>
  %s = memref.subview %all[0, 0] [32, 32] [1, 1] : memref<32x33xf32, #gpu.address_space<workgroup>>
    to memref<32x32xf32, strided<[33, 1]>, #gpu.address_space<workgroup>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    scf.for %j = %c0 to %c32 step %c1 {
      %x = memref.load %a[%i, %j, %t] : memref<64x32x32xf32>
      memref.store %x, %s[%j, %t] : memref<32x32xf32, strided<[33, 1]>, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %u = memref.load %s[%t, %c0] : memref<32x32xf32, strided<[33, 1]>, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %u : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}

// -----

// PAD-LABEL: @passes
// PAD: memref.alloc() : memref<2x32x33xf32
// REMARK: Function=passes | Remark="buffer multi-buffered: 2 slots of 4096 B
func.func @passes(%a: memref<64x32x32xf32>, %n: index, %zero: f32) -> f32 attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %t = gpu.thread_id x
  %s = memref.alloc() : memref<32x32xf32, #gpu.address_space<workgroup>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    scf.for %j = %c0 to %c32 step %c1 {
      %x = memref.load %a[%i, %j, %t] : memref<64x32x32xf32>
      memref.store %x, %s[%j, %t] : memref<32x32xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %u = memref.load %s[%t, %c0] : memref<32x32xf32, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %u : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}

// -----

// One column of two is written, and both are shown.
// REMARK: Function=half | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (32 of 64 elements are proven to be overwritten)"
// CHECK-LABEL: @half
// CHECK: memref.alloc() : memref<32x33xf32
func.func @half(%a: memref<64x32xf32>, %n: index, %zero: f32) -> f32 attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = gpu.thread_id x
  %all = memref.alloc() : memref<32x33xf32, #gpu.address_space<workgroup>>
  %s = memref.subview %all[0, 0] [32, 2] [1, 1] : memref<32x33xf32, #gpu.address_space<workgroup>>
    to memref<32x2xf32, strided<[33, 1]>, #gpu.address_space<workgroup>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %x = memref.load %a[%i, %t] : memref<64x32xf32>
    memref.store %x, %s[%t, %c0] : memref<32x2xf32, strided<[33, 1]>, #gpu.address_space<workgroup>>
    gpu.barrier
    %u = memref.load %s[%c0, %c1] : memref<32x2xf32, strided<[33, 1]>, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %u : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}

// -----

// The rest is read through the buffer itself.
// REMARK: Function=rest | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (32 of 64 elements are proven to be overwritten)"
// CHECK-LABEL: @rest
// CHECK: memref.alloc() : memref<64xf32
func.func @rest(%a: memref<64x32xf32>, %n: index, %zero: f32) -> f32 attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %t = gpu.thread_id x
  %all = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
  %s = memref.subview %all[0] [32] [1] : memref<64xf32, #gpu.address_space<workgroup>>
    to memref<32xf32, strided<[1]>, #gpu.address_space<workgroup>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
    %x = memref.load %a[%i, %t] : memref<64x32xf32>
    memref.store %x, %s[%t] : memref<32xf32, strided<[1]>, #gpu.address_space<workgroup>>
    gpu.barrier
    %u = memref.load %all[%c40] : memref<64xf32, #gpu.address_space<workgroup>>
    %new = arith.addf %acc, %u : f32
    gpu.barrier
    scf.yield %new : f32
  }
  return %sum : f32
}
