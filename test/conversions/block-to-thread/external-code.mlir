// Inline assembly and external functions: one execution for each element of a thread, or for `pack` elements.
// RUN: smalti-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a},canonicalize,cse))' | FileCheck %s

#strided = #mosaic_gpu.WGStridedFragLayout<[512], 4>

gpu.module @assembly {
  // CHECK-LABEL: gpu.func @assembly
  gpu.func @assembly(%a: memref<512xf16>, %b: memref<512xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f16
    %v = vector.transfer_read %a[%c0], %zero {in_bounds = [true], out_layouts = [#strided]} : memref<512xf16>, vector<512xf16>
    // Two words of two elements each for an execution of four elements, which has four results of 32 bits.
    // CHECK: %[[R:.*]] = vector.load %arg0{{.*}} vector<4xf16>
    // CHECK: %[[LOW:.*]] = vector.bitcast %{{.*}} : vector<2xf16> to vector<1xi32>
    // CHECK: %[[HIGH:.*]] = vector.bitcast %{{.*}} : vector<2xf16> to vector<1xi32>
    // CHECK: llvm.inline_asm "mov.b32 $0, $4;", "=f,=f,=f,=f,r,r" %{{.*}}, %{{.*}} : (i32, i32) -> !llvm.struct<(f32, f32, f32, f32)>
    // CHECK-NOT: llvm.inline_asm
    %r = triton_xla.inline_asm nvidia "mov.b32 $0, $4;", "=f,=f,=f,=f,r,r" (%v) effects none pack 4 {in_layouts = [#strided], out_layouts = [#strided]}
        : (vector<512xf16>) -> vector<512xf32> reference {
    ^bb0(%e: f16):
      %w = arith.extf %e : f16 to f32
      triton_xla.yield %w : f32
    }
    // CHECK: vector.store %{{.*}}, %arg1{{.*}} vector<4xf32>
    vector.transfer_write %r, %b[%c0] {in_bounds = [true], in_layouts = [#strided]} : vector<512xf32>, memref<512xf32>
    gpu.return
  }
}

// -----

#strided = #mosaic_gpu.WGStridedFragLayout<[512], 4>

gpu.module @effects {
  // CHECK: llvm.func @lookup(f32, f32) -> f32
  // CHECK-LABEL: gpu.func @effects
  gpu.func @effects(%b: memref<512xf32>, %s: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %b[%c0], %zero {in_bounds = [true], out_layouts = [#strided]} : memref<512xf32>, vector<512xf32>
    // CHECK-COUNT-4: llvm.inline_asm has_side_effects "mov.b32 $0, $1;", "=f,f,~{memory}"
    %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,f" (%v) effects read {in_layouts = [#strided], out_layouts = [#strided]}
        : (vector<512xf32>) -> vector<512xf32>
    // CHECK-COUNT-4: llvm.call @lookup(%{{.*}}) {memory_effects = #llvm.memory_effects<other = read, argMem = read, inaccessibleMem = read{{.*}}>, no_unwind, will_return}
    %q = triton_xla.extern_call nvidia "lookup" library "tables.ll"(%r, %r) effects read {in_layouts = [#strided, #strided], out_layouts = [#strided]}
        : (vector<512xf32>, vector<512xf32>) -> vector<512xf32>
    // CHECK: llvm.call @change(%arg1) {no_unwind} : (f32) -> f32
    %t = triton_xla.extern_call nvidia "change" library "tables.ll"(%s) effects write : (f32) -> f32
    vector.transfer_write %q, %b[%c0] {in_bounds = [true], in_layouts = [#strided]} : vector<512xf32>, memref<512xf32>
    memref.store %t, %b[%c0] : memref<512xf32>
    gpu.return
  }
}
