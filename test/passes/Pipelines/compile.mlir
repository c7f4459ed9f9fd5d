// RUN: smalti-opt %s -smalti-compile="target=sm_90a stop-after=tile" | FileCheck %s --check-prefix=TILE
// RUN: smalti-opt %s -smalti-compile="target=sm_90a stop-after=mosaic" | FileCheck %s --check-prefix=MOSAIC
// RUN: smalti-opt %s -smalti-compile="target=sm_90a stop-after=pipelined" | FileCheck %s --check-prefix=ASYNC
// RUN: smalti-opt %s -smalti-compile="target=gfx942 stop-after=pipelined" | FileCheck %s --check-prefix=STREAM
// RUN: smalti-opt %s -smalti-compile="target=sm_90a depth=2 stop-after=pipelined" | FileCheck %s --check-prefix=DEPTH2
// RUN: smalti-opt %s -smalti-compile="target=sm_90a stages=1 stop-after=pipelined" | FileCheck %s --check-prefix=PLAIN
// RUN: not smalti-opt %s -smalti-compile="target=gfx942 depth=3 stop-after=pipelined" 2>&1 | FileCheck %s --check-prefix=ASKED
// RUN: smalti-opt %s -smalti-compile="target=sm_90a stop-after=thread" | FileCheck %s --check-prefix=THREAD
// RUN: smalti-opt %s -smalti-compile=target=sm_90a | FileCheck %s --check-prefix=NVVM
// RUN: smalti-opt %s -smalti-compile=target=gfx942 | FileCheck %s --check-prefix=ROCDL
// RUN: smalti-opt %s -smalti-compile=target=cpu | FileCheck %s --check-prefix=CPU
// RUN: not smalti-opt %s -smalti-compile="target=sm_90a stop-after=nowhere" 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not smalti-opt %s -smalti-compile="target=cpu stop-after=thread" 2>&1 | FileCheck %s --check-prefix=NOTCPU
// RUN: not smalti-opt %s -smalti-compile=target=sm_12 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not smalti-opt %s -smalti-compile="target=sm_90a depth=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not smalti-opt %s -smalti-compile="target=sm_90a depth=100000000000" 2>&1 | FileCheck %s --check-prefix=MANY
// Also if no pass of the run reads the option.
// RUN: not smalti-opt %s -smalti-compile="target=cpu depth=99" 2>&1 | FileCheck %s --check-prefix=DEPTH
// RUN: not smalti-opt %s -smalti-compile="target=sm_90a stop-after=tile depth=99" 2>&1 | FileCheck %s --check-prefix=DEPTH
// RUN: not smalti-opt %s -smalti-compile="target=cpu stages=17" 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not smalti-opt %s -smalti-compile="target=gfx942 stop-after=tile blocks=-1" 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not smalti-opt %s -smalti-compile="target=gfx942 stop-after=tile num-warps=17" 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not smalti-opt %s -smalti-compile-cpu="target=cpu depth=99" 2>&1 | FileCheck %s --check-prefix=FAMILY

// TILE: triton_xla.entry_func @matmul
// MOSAIC: memref.alloc() : memref<128x64xf16, #gpu.address_space<workgroup>>
// MOSAIC-NOT: mosaic_gpu.slice_smem

// Rows are padded to avoid bank conflicts.
// ASYNC: smalti.shared_memory_bytes = 107520
// ASYNC: mosaic_gpu.slice_smem 0 : memref<3x128x72xf16
// ASYNC: mosaic_gpu.slice_smem 55296 : memref<3x64x136xf16
// ASYNC: mosaic_gpu.async_wait_group 1
// DEPTH2: mosaic_gpu.slice_smem 0 : memref<2x128x72xf16
// PLAIN: mosaic_gpu.slice_smem 0 : memref<128x72xf16
// PLAIN-NOT: async_wait_group 1
// Padding would exceed shared memory.
// STREAM: smalti.shared_memory_bytes = 65536
// STREAM: mosaic_gpu.slice_smem 0 : memref<2x128x64xf16

// ASKED: error: depth=3 needs 98304 B of shared memory; gfx942 has 65536 B per block; depth=2 needs 65536 B

// THREAD-NOT: mosaic_gpu.
// THREAD: scf.for
// THREAD-NOT: mosaic_gpu.

// NVVM: gpu.module @matmul_module [#nvvm.target<{{.*}}chip = "sm_90a"
// An external array, whose size the launch specifies; ptxas would allocate an internal global statically.
// NVVM: llvm.mlir.global external @{{.*}}() {addr_space = 3 : i32{{.*}}} : !llvm.array<0 x i8>
// NVVM: llvm.func @matmul(%{{.*}}: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias
// NVVM-NOT: unrealized_conversion_cast
// NVVM: nvvm.mma.sync
// NVVM-NOT: unrealized_conversion_cast

// ROCDL: gpu.module @matmul_module [#rocdl.target<{{.*}}chip = "gfx942"
// ROCDL: llvm.func @matmul(
// ROCDL-NOT: unrealized_conversion_cast
// ROCDL: rocdl.mfma.f32.16x16x16f16
// ROCDL-NOT: unrealized_conversion_cast

// CPU: llvm.func @smalti.matmul(

// LEVEL: --stop-after option: Cannot find option named 'nowhere'
// NOTCPU: error: smalti-compile: the value of 'stop-after' is a level of GPU kernels; cpu supports only stop-after=tile and stop-after=llvm
// UNKNOWN: error: unknown target 'sm_12'; known targets: {{.*}}sm_90a
// NEGATIVE: --depth option: '-1' is not a valid value; it must be 'auto' or a positive number
// MANY: error: smalti-compile: 'depth' must be 'auto' or between 1 and 16, but is 100000000000
// DEPTH: error: smalti-compile: 'depth' must be 'auto' or between 1 and 16, but is 99
// STAGES: error: smalti-compile: 'stages' must be 'auto' or between 1 and 16, but is 17
// BLOCKS: error: smalti-compile: 'blocks' must be between 0 and 2147483647, but is -1
// WARPS: error: smalti-compile: 'num-warps' must be 'auto' or between 1 and 16, but is 17
// FAMILY: smalti-compile-cpu: 'depth' must be 'auto' or between 1 and 16, but is 99
triton_xla.entry_func @matmul(
    %a: memref<500x300xf16>, %b: memref<300x260xf16>, %c: memref<500x260xf32>, %tile: index) tiles 12 {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c300 = arith.constant 300 : index
  %tile_row = arith.divui %tile, %c3 : index
  %tile_column = arith.remui %tile, %c3 : index
  %row = arith.muli %tile_row, %c128 : index
  %column = arith.muli %tile_column, %c128 : index
  %before = triton_xla.extract %c[%row, %column] [128, 128] [1, 1] : memref<500x260xf32> to tensor<128x128xf32>
  %after = scf.for %k = %c0 to %c300 step %c64 iter_args(%sum = %before) -> (tensor<128x128xf32>) {
    %a_tile = triton_xla.extract %a[%row, %k] [128, 64] [1, 1] : memref<500x300xf16> to tensor<128x64xf16>
    %b_tile = triton_xla.extract %b[%k, %column] [64, 128] [1, 1] : memref<300x260xf16> to tensor<64x128xf16>
    %next = triton_xla.dot %a_tile, %b_tile, %sum : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  triton_xla.insert %after into %c[%row, %column] [128, 128] [1, 1] : tensor<128x128xf32> into memref<500x260xf32>
  triton_xla.return
}
