// Output of smalti-pipeline-loops without canonicalization: the same barriers are replaced.
// RUN: smalti-opt %s -o /dev/null --remarks-filter=smalti-overlap-lds-dma 2>%t.direct \
// RUN:   --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-pipeline-loops{stages=3 target=gfx950},smalti-overlap-lds-dma{target=gfx950})))'
// RUN: FileCheck %s < %t.direct
// RUN: smalti-opt %s -o /dev/null --remarks-filter=smalti-overlap-lds-dma 2>%t.canonical \
// RUN:   --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-pipeline-loops{stages=3 target=gfx950},canonicalize,cse,smalti-overlap-lds-dma{target=gfx950})))'
// RUN: FileCheck %s < %t.canonical

// CHECK: Function=static | Remark="3 of 3 barriers no longer wait for outstanding LDS DMA loads"
// If the trip count is too small, the original loop runs, and its barrier completes the loads.
// CHECK: Function=bounds | Remark="4 of 5 barriers no longer wait for outstanding LDS DMA loads
// CHECK: Function=steps | Remark="4 of 5 barriers no longer wait for outstanding LDS DMA loads
// CHECK: Function=any_step | Remark="4 of 5 barriers no longer wait for outstanding LDS DMA loads
// CHECK: Function=affine_step | Remark="4 of 5 barriers no longer wait for outstanding LDS DMA loads
#shared = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @static(%a: memref<64x256xf32>, %o: memref<256xf32> {llvm.noalias}, %thread: index, %init: f32) workgroup(%shared: memref<4x256xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
      %slot = arith.remui %i, %c4 : index
      %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1]
        : memref<4x256xf32, #shared> to memref<256xf32, strided<[1], offset: ?>, #shared>
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c0]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c128]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
      gpu.barrier
      %value = memref.load %view[%thread] : memref<256xf32, strided<[1], offset: ?>, #shared>
      %next = arith.addf %acc, %value : f32
      gpu.barrier
      scf.yield %next : f32
    }
    memref.store %sum, %o[%thread] : memref<256xf32>
    gpu.return
  }
  gpu.func @bounds(%a: memref<64x256xf32>, %o: memref<256xf32> {llvm.noalias}, %thread: index, %init: f32, %l: index, %n: index) workgroup(%shared: memref<4x256xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %sum = scf.for %i = %l to %n step %c1 iter_args(%acc = %init) -> f32 {
      %e = arith.subi %i, %l : index
      %slot = arith.remui %e, %c4 : index
      %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1]
        : memref<4x256xf32, #shared> to memref<256xf32, strided<[1], offset: ?>, #shared>
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c0]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c128]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
      gpu.barrier
      %value = memref.load %view[%thread] : memref<256xf32, strided<[1], offset: ?>, #shared>
      %next = arith.addf %acc, %value : f32
      gpu.barrier
      scf.yield %next : f32
    }
    memref.store %sum, %o[%thread] : memref<256xf32>
    gpu.return
  }
  gpu.func @steps(%a: memref<64x256xf32>, %o: memref<256xf32> {llvm.noalias}, %thread: index, %init: f32, %l: index, %n: index) workgroup(%shared: memref<4x256xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %sum = scf.for %i = %l to %n step %c2 iter_args(%acc = %init) -> f32 {
      %e = arith.subi %i, %l : index
      %d = arith.divui %e, %c2 : index
      %slot = arith.remui %d, %c4 : index
      %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1]
        : memref<4x256xf32, #shared> to memref<256xf32, strided<[1], offset: ?>, #shared>
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c0]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c128]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
      gpu.barrier
      %value = memref.load %view[%thread] : memref<256xf32, strided<[1], offset: ?>, #shared>
      %next = arith.addf %acc, %value : f32
      gpu.barrier
      scf.yield %next : f32
    }
    memref.store %sum, %o[%thread] : memref<256xf32>
    gpu.return
  }
  gpu.func @any_step(%a: memref<64x256xf32>, %o: memref<256xf32> {llvm.noalias}, %thread: index, %init: f32, %l: index, %n: index, %st: index) workgroup(%shared: memref<4x256xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %sum = scf.for %i = %l to %n step %st iter_args(%acc = %init) -> f32 {
      %e = arith.subi %i, %l : index
      %d = arith.divui %e, %st : index
      %slot = arith.remui %d, %c4 : index
      %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1]
        : memref<4x256xf32, #shared> to memref<256xf32, strided<[1], offset: ?>, #shared>
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c0]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c128]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
      gpu.barrier
      %value = memref.load %view[%thread] : memref<256xf32, strided<[1], offset: ?>, #shared>
      %next = arith.addf %acc, %value : f32
      gpu.barrier
      scf.yield %next : f32
    }
    memref.store %sum, %o[%thread] : memref<256xf32>
    gpu.return
  }
  gpu.func @affine_step(%a: memref<64x256xf32>, %o: memref<256xf32> {llvm.noalias}, %thread: index, %init: f32, %l: index, %n: index) workgroup(%shared: memref<4x256xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %sum = scf.for %i = %l to %n step %c2 iter_args(%acc = %init) -> f32 {
      %slot = affine.apply affine_map<(d0, d1) -> (((d0 - d1) floordiv 2) mod 4)>(%i, %l)
      %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1]
        : memref<4x256xf32, #shared> to memref<256xf32, strided<[1], offset: ?>, #shared>
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c0]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c128]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
      gpu.barrier
      %value = memref.load %view[%thread] : memref<256xf32, strided<[1], offset: ?>, #shared>
      %next = arith.addf %acc, %value : f32
      gpu.barrier
      scf.yield %next : f32
    }
    memref.store %sum, %o[%thread] : memref<256xf32>
    gpu.return
  }
}
