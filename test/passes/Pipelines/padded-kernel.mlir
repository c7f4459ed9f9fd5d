// Compilation of smalti-lower-pad's output for a kernel's padded transfers, for padding values and shapes.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-lower-pad{target=sm_80})),smalti-compile{target=sm_80})' \
// RUN:   | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-lower-pad{target=gfx942})),smalti-compile{target=gfx942})' \
// RUN:   | FileCheck %s

// CHECK-LABEL: llvm.func @pad(
// CHECK-NOT:     vector.
gpu.module @m {
  gpu.func @pad(%source: memref<61x61xf16>, %out: memref<64x64xf16>) workgroup(%tile: memref<16x32xf16, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %padding = arith.constant -0.0 : f16
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %thread = gpu.thread_id x
    %row = arith.divui %thread, %c4 : index
    %chunk = arith.remui %thread, %c4 : index
    %column = arith.muli %chunk, %c8 : index
    %a = vector.transfer_read %source[%row, %column], %padding : memref<61x61xf16>, vector<1x8xf16>
    vector.transfer_write %a, %tile[%row, %column] : vector<1x8xf16>, memref<16x32xf16, 3>
    gpu.barrier
    %b = vector.transfer_read %tile[%row, %column], %padding {in_bounds = [true, true]} : memref<16x32xf16, 3>, vector<1x8xf16>
    vector.transfer_write %b, %out[%row, %column] : vector<1x8xf16>, memref<64x64xf16>
    %c = vector.transfer_read %source[%thread, %column], %padding : memref<61x61xf16>, vector<4x4xf16>
    vector.transfer_write %c, %out[%thread, %column] : vector<4x4xf16>, memref<64x64xf16>
    gpu.return
  }
}
