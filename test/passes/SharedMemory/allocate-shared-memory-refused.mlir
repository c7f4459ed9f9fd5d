// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-allocate-shared-memory)))' -split-input-file -verify-diagnostics
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-allocate-shared-memory)))' -split-input-file --mlir-print-ir-after-failure 2>&1 | FileCheck %s

// The function is unchanged.

// CHECK: IR Dump After SmaltiAllocateSharedMemory Failed
// CHECK-NEXT: gpu.func @large() kernel {
// CHECK-NEXT: memref.alloc
// CHECK-NEXT: memref.alloc
// CHECK-NEXT: gpu.return
gpu.module @limit attributes {smalti.target = "gfx942"} {
  // expected-error@+1 {{kernel needs 98304 B of shared memory; a block on gfx942 has at most 65536 B; use smaller tiles}}
  gpu.func @large() kernel {
    // expected-note@+1 {{a buffer of type 'memref<3x128x64xf16, #gpu.address_space<workgroup>>' takes 49152 B}}
    %a = memref.alloc() : memref<3x128x64xf16, #gpu.address_space<workgroup>>
    // expected-note@+1 {{a buffer of type 'memref<3x64x128xf16, #gpu.address_space<workgroup>>' takes 49152 B}}
    %b = memref.alloc() : memref<3x64x128xf16, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @dynamic attributes {smalti.target = "gfx942"} {
  gpu.func @dynamic(%n: index) kernel {
    // expected-error@+1 {{a buffer in shared memory must have a static shape, the identity layout and elements of known size}}
    %a = memref.alloc(%n) : memref<?xf16, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @loop attributes {smalti.target = "gfx942"} {
  gpu.func @loop(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-error@+1 {{allocates shared memory inside a loop, and all iterations would use the same bytes; move it out of the loop}}
      %a = memref.alloc() : memref<4xf16, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

gpu.module @no_target {
  // expected-error@+1 {{target}}
  gpu.func @no_target() kernel {
    gpu.return
  }
}

// -----

gpu.module @sizes attributes {smalti.target = "gfx942"} {
  gpu.func @dynamic(%n: index) kernel {
    // expected-error@+1 {{'memref.alloc' op has type 'memref<?xf32, #gpu.address_space<workgroup>>'; a buffer in shared memory must have a static shape, the identity layout and elements of known size}}
    %a = memref.alloc(%n) : memref<?xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @slices attributes {smalti.target = "gfx942"} {
  gpu.func @gaps() kernel {
    // expected-error@+1 {{'mosaic_gpu.slice_smem' op has type 'memref<8x8xf32, strided<[16, 1]>, #gpu.address_space<workgroup>>', whose size in bytes cannot be determined statically}}
    %a = mosaic_gpu.slice_smem 0 : memref<8x8xf32, strided<[16, 1]>, #gpu.address_space<workgroup>>
    gpu.return
  }
}
