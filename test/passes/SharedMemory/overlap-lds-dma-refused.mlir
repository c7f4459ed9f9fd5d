// Refused functions: the full reason, and the unchanged function.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-overlap-lds-dma{target=gfx950}))' \
// RUN:   --remarks-filter=smalti-overlap-lds-dma -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks

!global = memref<4096xf32, #gpu.address_space<global>>
!slots = memref<3x1x64xf32, #gpu.address_space<workgroup>>
!slot = memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>

// CHECK: Function=no_barrier | Remark="LDS DMA loads not overlapped: the function does not contain a block barrier; place one between the loads and the accesses of other waves"
func.func @no_barrier(%in: !global, %slots: !slots) {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  return
}

// CHECK: Function=blocks | Remark="LDS DMA loads not overlapped: the function has branches between MLIR blocks; use scf.for, scf.while or scf.if"
func.func @blocks(%in: !global, %slots: !slots, %c: i1) {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  amdgpu.lds_barrier
  cf.cond_br %c, ^a, ^a
^a:
  return
}

// CHECK: Function=pointer | Remark="LDS DMA loads not overlapped: 'rocdl.load.to.lds' does not state the memref that it writes; use amdgpu.gather_to_lds"
func.func @pointer(%from: !llvm.ptr<1>, %to: !llvm.ptr<3>) {
  rocdl.load.to.lds %from, %to, 4, 0, 0 : !llvm.ptr<1>
  amdgpu.memory_counter_wait load(0)
  amdgpu.lds_barrier
  return
}

// CHECK: Function=allocates | Remark="LDS DMA loads not overlapped: 'memref.alloc' allocates or frees memory"
func.func @allocates(%in: !global) {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %slots = memref.alloc() : !slots
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  amdgpu.memory_counter_wait load(0)
  amdgpu.lds_barrier
  return
}

// CHECK: Function=overwritten | Remark="LDS DMA loads not overlapped: 'amdgpu.gather_to_lds' writes a slot of %arg1 that earlier accesses use, and no barrier separates them; place a barrier before it"
func.func @overwritten(%in: !global, %slots: !slots) -> f32 {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %p0 = memref.subview %slots[%c0, 0, 0] [1, 1, 64] [1, 1, 1] : !slots to !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  amdgpu.memory_counter_wait load(0)
  amdgpu.lds_barrier
  %v = memref.load %p0[%c0, %lane] : !slot
  amdgpu.gather_to_lds %in[%lane], %p0[%c0, %c0] : f32, !global, !slot
  return %v : f32
}
