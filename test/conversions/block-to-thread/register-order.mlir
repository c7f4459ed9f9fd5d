// Order of ops that need more registers than a thread has.
// RUN: smalti-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a},canonicalize,cse))' | FileCheck %s
// RUN: smalti-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-rocdl{target=gfx942},canonicalize,cse))' | FileCheck %s --check-prefix=AMD

// Two vectors of 128 registers each: one register after the other is read, computed and pinned, and all stores follow.
// A thread of gfx942 has 512 registers.
gpu.module @reads {
  // CHECK-LABEL: gpu.func @reads
  // AMD-LABEL: gpu.func @reads
  gpu.func @reads(%a: memref<128x128xf32>, %b: memref<128x128xf32>, %c: memref<128x128xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // CHECK: %[[A0:.*]] = vector.load %arg0
    // CHECK-NEXT: %[[B0:.*]] = vector.load %arg1
    // CHECK-NEXT: %[[SUM0:.*]] = math.atan2 %[[A0]], %[[B0]] : vector<4xf32>
    // CHECK: llvm.inline_asm has_side_effects
    // CHECK-NOT: vector.store
    // CHECK: %[[A1:.*]] = vector.load %arg0
    // CHECK-NEXT: %[[B1:.*]] = vector.load %arg1
    // CHECK-NEXT: math.atan2 %[[A1]], %[[B1]] : vector<4xf32>
    // CHECK-NOT: vector.store
    // CHECK-COUNT-30: math.atan2
    // CHECK-COUNT-32: vector.store
    // AMD-COUNT-64: vector.load
    // AMD-NOT: vector.load
    // AMD-COUNT-32: math.atan2
    // AMD-NOT: math.atan2
    // AMD-COUNT-32: vector.store
    %va = vector.transfer_read %a[%c0, %c0], %zero {in_bounds = [true, true],
        out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 4>]} : memref<128x128xf32>, vector<128x128xf32>
    %vb = vector.transfer_read %b[%c0, %c0], %zero {in_bounds = [true, true],
        out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 4>]} : memref<128x128xf32>, vector<128x128xf32>
    %v = math.atan2 %va, %vb : vector<128x128xf32>
    vector.transfer_write %v, %c[%c0, %c0] {in_bounds = [true, true],
        in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 4>]} : vector<128x128xf32>, memref<128x128xf32>
    gpu.return
  }
}

// -----

// The loaded values fit in the registers, the computed ones do not: reads come first.
gpu.module @computes {
  // CHECK-LABEL: gpu.func @computes
  gpu.func @computes(%a: memref<64x128xf32>, %c: memref<64x128xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // CHECK-COUNT-16: vector.load
    // CHECK-NOT: vector.load
    // CHECK: math.sin
    // CHECK-NEXT: math.cos
    // CHECK-NEXT: arith.addf
    // CHECK-NEXT: math.tan
    // CHECK-NEXT: arith.mulf
    // CHECK-NEXT: math.exp
    // CHECK-NEXT: arith.addf
    // CHECK: llvm.inline_asm has_side_effects
    // CHECK: math.sin
    // CHECK-NEXT: math.cos
    // CHECK: vector.store
    %x = vector.transfer_read %a[%c0, %c0], %zero {in_bounds = [true, true],
        out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 128], 4>]} : memref<64x128xf32>, vector<64x128xf32>
    %s = math.sin %x : vector<64x128xf32>
    %k = math.cos %x : vector<64x128xf32>
    %t = math.tan %x : vector<64x128xf32>
    %e = math.exp %x : vector<64x128xf32>
    %sk = arith.addf %s, %k : vector<64x128xf32>
    %skt = arith.mulf %sk, %t : vector<64x128xf32>
    %v = arith.addf %skt, %e : vector<64x128xf32>
    vector.transfer_write %v, %c[%c0, %c0] {in_bounds = [true, true],
        in_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 128], 4>]} : vector<64x128xf32>, memref<64x128xf32>
    gpu.return
  }
}

// -----

// Everything fits in the registers: the order does not change.
gpu.module @room {
  // CHECK-LABEL: gpu.func @room
  gpu.func @room(%a: memref<32x128xf32>, %c: memref<32x128xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // CHECK-COUNT-8: vector.load
    // CHECK-COUNT-8: math.sin
    // CHECK-COUNT-8: math.cos
    // CHECK-NOT: llvm.inline_asm
    %x = vector.transfer_read %a[%c0, %c0], %zero {in_bounds = [true, true],
        out_layouts = [#mosaic_gpu.WGStridedFragLayout<[32, 128], 4>]} : memref<32x128xf32>, vector<32x128xf32>
    %s = math.sin %x : vector<32x128xf32>
    %v = math.cos %s : vector<32x128xf32>
    vector.transfer_write %v, %c[%c0, %c0] {in_bounds = [true, true],
        in_layouts = [#mosaic_gpu.WGStridedFragLayout<[32, 128], 4>]} : vector<32x128xf32>, memref<32x128xf32>
    gpu.return
  }
}

// -----

// A read stays after earlier writes and before later writes.
gpu.module @writes {
  // CHECK-LABEL: gpu.func @writes
  gpu.func @writes(%a: memref<128x128xf32>, %b: memref<128x128xf32>, %c: memref<128x128xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // CHECK-COUNT-32: vector.load %arg0
    // CHECK-COUNT-32: vector.store {{.*}}, %arg1
    // CHECK-NOT: vector.store
    // CHECK-COUNT-32: vector.load %arg1
    // CHECK-NOT: vector.load
    // CHECK-COUNT-32: vector.store {{.*}}, %arg2
    %va = vector.transfer_read %a[%c0, %c0], %zero {in_bounds = [true, true],
        out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 4>]} : memref<128x128xf32>, vector<128x128xf32>
    vector.transfer_write %va, %b[%c0, %c0] {in_bounds = [true, true],
        in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 4>]} : vector<128x128xf32>, memref<128x128xf32>
    %vb = vector.transfer_read %b[%c0, %c0], %zero {in_bounds = [true, true],
        out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 4>]} : memref<128x128xf32>, vector<128x128xf32>
    %v = math.atan2 %va, %vb : vector<128x128xf32>
    vector.transfer_write %v, %c[%c0, %c0] {in_bounds = [true, true],
        in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 4>]} : vector<128x128xf32>, memref<128x128xf32>
    gpu.return
  }
}
