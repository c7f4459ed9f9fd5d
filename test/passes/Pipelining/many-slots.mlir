// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-pipeline-loops{stages=3 target=gfx950})))' \
// RUN:   | FileCheck %s

// The slots of a buffer are not enumerated if it has billions.
// CHECK-LABEL: gpu.func @affine_step
// CHECK: scf.for

#map = affine_map<(d0, d1) -> (((d0 - d1) floordiv 2) mod 2147483647)>
module {
  gpu.module @m {
    gpu.func @affine_step(%arg0: memref<64x256xf32>, %arg1: memref<256xf32> {llvm.noalias}, %arg2: index, %arg3: f32, %arg4: index, %arg5: index) workgroup(%arg6 : memref<2147483647x256xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c2147483647 = arith.constant 2147483647 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %0 = scf.for %arg7 = %arg4 to %arg5 step %c2 iter_args(%arg8 = %arg3) -> (f32) {
        %1 = affine.apply #map(%arg7, %arg4)
        %subview = memref.subview %arg6[%1, 0] [1, 256] [1, 1] : memref<2147483647x256xf32, #gpu.address_space<workgroup>> to memref<256xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        amdgpu.gather_to_lds %arg0[%arg7, %arg2], %subview[%c0] : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        amdgpu.gather_to_lds %arg0[%arg7, %arg2], %subview[%c128] : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        gpu.barrier
        %2 = memref.load %subview[%arg2] : memref<256xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        %3 = arith.addf %arg8, %2 : f32
        gpu.barrier
        scf.yield %3 : f32
      }
      memref.store %0, %arg1[%arg2] : memref<256xf32>
      gpu.return
    }
  }
}

