// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-allocate-shared-memory{target=sm_90a})))' | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-allocate-shared-memory{target=sm_90a})))' --remarks-filter=smalti-allocate-shared-memory 2>&1 | FileCheck %s --check-prefix=REMARK

gpu.module @kernels {
  // Offsets are aligned to 16 bytes, or to the alignment of the buffer; deallocations are erased.

  // REMARK: remark: [Passed] {{.*}} Remark="shared memory allocated: 16640 of 232448 B in 3 buffers"
  // CHECK-LABEL: gpu.func @three
  // CHECK-SAME: smalti.shared_memory_bytes = 16640 : i64
  // CHECK: %[[A:.*]] = mosaic_gpu.slice_smem 0 : memref<3xf32, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.slice_smem 16 : memref<7xi8, #gpu.address_space<workgroup>>
  // CHECK: %[[C:.*]] = mosaic_gpu.slice_smem 256 : memref<128x64xf16, #gpu.address_space<workgroup>>
  // CHECK: memref.load %[[C]]
  // CHECK-NOT: memref.dealloc
  // CHECK: memref.alloc() : memref<4xf32>
  // CHECK-NOT: memref.dealloc %[[A]]
  // CHECK: gpu.return
  gpu.func @three() kernel {
    %c0 = arith.constant 0 : index
    %a = memref.alloc() : memref<3xf32, #gpu.address_space<workgroup>>
    %b = memref.alloc() : memref<7xi8, #gpu.address_space<workgroup>>
    %c = memref.alloc() {alignment = 256 : i64} : memref<128x64xf16, #gpu.address_space<workgroup>>
    %x = memref.load %c[%c0, %c0] : memref<128x64xf16, #gpu.address_space<workgroup>>
    %private = memref.alloc() : memref<4xf32>
    memref.dealloc %a : memref<3xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // The address space may also be an integer.

  // CHECK-LABEL: gpu.func @number
  // CHECK: mosaic_gpu.slice_smem 0 : memref<8xf32, 3>
  // CHECK: mosaic_gpu.slice_smem 32 : memref<8xf32, #gpu.address_space<workgroup>>
  gpu.func @number() kernel {
    %a = memref.alloc() : memref<8xf32, 3>
    %b = memref.alloc() : memref<8xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // After the existing slices.

  // CHECK-LABEL: gpu.func @after
  // CHECK-SAME: smalti.shared_memory_bytes = 160 : i64
  // CHECK: mosaic_gpu.slice_smem 100 : memref<8xf32
  // CHECK: mosaic_gpu.slice_smem 144 : memref<4xf32
  gpu.func @after() kernel {
    %a = mosaic_gpu.slice_smem 100 : memref<8xf32, #gpu.address_space<workgroup>>
    %b = memref.alloc() : memref<4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @none
  // CHECK-SAME: smalti.shared_memory_bytes = 0 : i64
  gpu.func @none() kernel {
    gpu.return
  }
}
