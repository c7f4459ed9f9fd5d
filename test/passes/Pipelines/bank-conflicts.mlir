// The option bank-conflicts of smalti-compile, on the buffers of the example kernel.
// RUN: smalti-opt %smalti_src/test/kernels/matmul_relu_bf16.mlir --smalti-compile='target=sm_90a stop-after=thread bank-conflicts=swizzle' \
// RUN:   --remarks-filter=smalti-swizzle-shared-memory 2>%t.sm_90a | FileCheck %s --check-prefix=SWIZZLE
// RUN: FileCheck %s --check-prefix=SM_90A < %t.sm_90a
// RUN: smalti-opt %smalti_src/test/kernels/matmul_relu_bf16.mlir --smalti-compile='target=gfx942 bank-conflicts=swizzle' \
// RUN:   --remarks-filter=smalti-swizzle-shared-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix=GFX942
// RUN: smalti-opt %smalti_src/test/kernels/matmul_relu_bf16.mlir --smalti-compile='target=gfx942 stop-after=pipelined bank-conflicts=pad' \
// RUN:   --remarks-filter=smalti-pad-shared-memory 2>%t.pad | FileCheck %s --check-prefix=PAD
// RUN: FileCheck %s --check-prefix=PADDED < %t.pad
// Padding is the default.
// RUN: smalti-opt %smalti_src/test/kernels/matmul_relu_bf16.mlir --smalti-compile='target=gfx942 stop-after=pipelined' \
// RUN:   | FileCheck %s --check-prefix=PAD
// RUN: smalti-opt %smalti_src/test/kernels/matmul_relu_bf16.mlir --smalti-compile='target=sm_90a bank-conflicts=pad' -o /dev/null
// RUN: not smalti-opt %s --smalti-compile='target=gfx942 bank-conflicts=none' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// SM_90A:     Remark="buffer swizzled: chunks of 16 B XORed with row / 2 mod 4: 0 bank conflicts instead of 288 in 12 accesses"
// SM_90A:     Remark="buffer swizzled: chunks of 16 B XORed with row mod 8: 0 bank conflicts instead of 1344 in 15 accesses"
// SWIZZLE:      %[[A:.*]] = memref.view %{{.*}} to memref<3x64x32xbf16
// SWIZZLE:      %[[B:.*]] = memref.view %{{.*}} to memref<3x32x64xbf16
// SWIZZLE:      %[[COLUMN:.*]] = arith.xori
// SWIZZLE-NOT:  memref.subview
// SWIZZLE:      nvgpu.device_async_copy %{{.*}}, %[[A]][
// SWIZZLE:      nvgpu.ldmatrix %[[A]][
// SWIZZLE:      nvgpu.ldmatrix %[[B]][

// GFX942:       Remark="buffer swizzled: chunks of 8 B XORed with row / 2 mod 8: 0 bank conflicts instead of 896 in 12 accesses"
// GFX942:       Remark="buffer swizzled: chunks of 8 B XORed with row / 2 mod 8: 192 bank conflicts instead of 1856 in 16 accesses"

// PADDED:       Remark="rows padded by 8 elements (16 B):
// PADDED:       Remark="rows padded by 8 elements (16 B): 576 bank conflicts instead of 1856
// PAD:          smalti.shared_memory_bytes = 20480 : i64
// PAD:          mosaic_gpu.slice_smem 0 : memref<2x64x40xbf16, #gpu.address_space<workgroup>>
// PAD:          mosaic_gpu.slice_smem 10240 : memref<2x64x40xbf16, #gpu.address_space<workgroup>>

// UNKNOWN: --bank-conflicts option: Cannot find option named 'none'
