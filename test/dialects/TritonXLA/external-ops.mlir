// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --mlir-print-op-generic | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --cse --loop-invariant-code-motion | FileCheck %s --check-prefix=OPT

// CHECK-LABEL: triton_xla.entry_func @assembly
// OPT-LABEL: triton_xla.entry_func @assembly
triton_xla.entry_func @assembly(%x: memref<64xf32>, %y: memref<64xi8>, %tile: index) tiles 1 {
  // CHECK: %[[T:.*]] = triton_xla.extract
  %t = triton_xla.extract %x[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  // CHECK: triton_xla.inline_asm nvidia "ex2.approx.ftz.f32 $0, $1;", "=f,f"(%[[T]]) effects none : (tensor<64xf32>) -> tensor<64xf32>
  // OPT-COUNT-1: triton_xla.inline_asm nvidia "ex2
  // OPT-NOT: triton_xla.inline_asm nvidia "ex2
  %a = triton_xla.inline_asm nvidia "ex2.approx.ftz.f32 $0, $1;", "=f,f" (%t) effects none : (tensor<64xf32>) -> tensor<64xf32>
  %b = triton_xla.inline_asm nvidia "ex2.approx.ftz.f32 $0, $1;", "=f,f" (%t) effects none : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: %[[C:.*]]:2 = triton_xla.inline_asm amd "v_mov_b32 $0, $2\0Av_mov_b32 $1, $3", "=&v,=v,v,v,~{vcc}"(%[[T]], %{{.*}}) effects write
  // OPT-COUNT-2: triton_xla.inline_asm amd
  %c:2 = triton_xla.inline_asm amd "v_mov_b32 $0, $2\0Av_mov_b32 $1, $3", "=&v,=v,v,v,~{vcc}" (%t, %a) effects write
      : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xi32>)
  %d:2 = triton_xla.inline_asm amd "v_mov_b32 $0, $2\0Av_mov_b32 $1, $3", "=&v,=v,v,v,~{vcc}" (%t, %b) effects write
      : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xi32>)
  %u = triton_xla.extract %y[0] [64] [1] : memref<64xi8> to tensor<64xi8>
  // CHECK: triton_xla.inline_asm nvidia "{ prmt.b32 ${0}, $1, $$0, 0x0123; // }\0A}", "=r,r"(%{{.*}}) effects none pack 4
  // CHECK-SAME: reference {
  // CHECK: ^bb0(%[[E:.*]]: i8):
  // CHECK: triton_xla.yield %[[E]] : i8
  %e = triton_xla.inline_asm nvidia "{ prmt.b32 ${0}, $1, $$0, 0x0123; // }\0A}", "=r,r" (%u) effects none pack 4
      : (tensor<64xi8>) -> tensor<64xi8> reference {
  ^bb0(%element: i8):
    triton_xla.yield %element : i8
  }
  // A remainder of constants is not a register.
  // CHECK: triton_xla.inline_asm nvidia "add.f32 $0, $1, 7%3;"
  %m = triton_xla.inline_asm nvidia "add.f32 $0, $1, 7%3;", "=f,f" (%t) effects write : (tensor<64xf32>) -> tensor<64xf32>
  // f16 operands fill half as many registers as f32 results.
  %h = arith.truncf %t : tensor<64xf32> to tensor<64xf16>
  // CHECK: triton_xla.inline_asm nvidia
  // CHECK-SAME: "=f,=f,r"
  %f = triton_xla.inline_asm nvidia "{ .reg .b16 a, b; mov.b32 {a, b}, $2; cvt.f32.f16 $0, a; cvt.f32.f16 $1, b; }", "=f,=f,r" (%h)
      effects none pack 2 : (tensor<64xf16>) -> tensor<64xf32>
  // CHECK: triton_xla.insert
  triton_xla.insert %a into %x[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.insert %b into %x[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.insert %c#0 into %x[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.insert %d#0 into %x[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.insert %e into %y[0] [64] [1] : tensor<64xi8> into memref<64xi8>
  triton_xla.insert %f into %x[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.return
}

// Comments, strings, scopes and lists of registers.
// CHECK-LABEL: func.func @texts
func.func @texts(%t: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-COUNT-2: triton_xla.inline_asm
  %a = triton_xla.inline_asm amd "v_mov_b32 $0, $1 ; copy { .incbin a:\0A\0A  s_nop /* .x */ 0 // {\0Ads_swizzle_b32 $0, $0 offset:swizzle(BITMASK_PERM, \2201pip\22)", "=v,v,~{v[0:1]},~{s3},~{memory}" (%t) effects none
      : (tensor<8xf32>) -> tensor<8xf32>
  %b = triton_xla.inline_asm nvidia ".pragma \22nounroll;{\22; { .reg .b16 a, b; { a: mov.b32 {a, b}, $1; } b: bra b; } mov.b32 $0, $1;", "=f,f,~{memory}" (%t) effects none
      : (tensor<8xf32>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: triton_xla.entry_func @calls
// OPT-LABEL: triton_xla.entry_func @calls
triton_xla.entry_func @calls(%x: memref<64xf32>, %s: f32, %n: index, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = triton_xla.extract %x[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  // A call without effects leaves the loop, and one with effects does not.
  // OPT: triton_xla.extern_call nvidia "__nv_fsqrt_rn"
  // OPT: scf.for
  // OPT: triton_xla.extern_call amd "lookup"
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: triton_xla.extern_call nvidia "__nv_fsqrt_rn"(%{{.*}}) effects none : (tensor<64xf32>) -> tensor<64xf32>
    %r = triton_xla.extern_call nvidia "__nv_fsqrt_rn"(%t) effects none : (tensor<64xf32>) -> tensor<64xf32>
    // CHECK: triton_xla.extern_call amd "lookup" library "tables.ll"(%{{.*}}) effects read : (tensor<64xf32>) -> tensor<64xf32>
    %q = triton_xla.extern_call amd "lookup" library "tables.ll"(%r) effects read : (tensor<64xf32>) -> tensor<64xf32>
    triton_xla.insert %q into %x[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  }
  // CHECK: triton_xla.extern_call amd "__ocml_pow_f32"(%{{.*}}, %{{.*}}) effects none : (f32, f32) -> f32
  %p = triton_xla.extern_call amd "__ocml_pow_f32"(%s, %s) effects none : (f32, f32) -> f32
  memref.store %p, %x[%c0] : memref<64xf32>
  triton_xla.return
}
