// References of external code replace code that the target cannot execute.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{target=sm_90a}))' | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{target=gfx942}))' | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{target=cpu}))' --remarks-filter=smalti-expand-tile-ops 2>&1 | FileCheck %s --check-prefixes=REMARK,CHECK,CPU

// REMARK: Function=powers | Remark="inline_asm expanded to its reference: cpu cannot execute its code"

// CHECK-LABEL: triton_xla.entry_func @powers
triton_xla.entry_func @powers(%x: memref<64xf32>, %s: f32, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  // CHECK: %[[T:.*]] = triton_xla.extract
  %t = triton_xla.extract %x[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  // NVIDIA-NEXT: %[[R:.*]] = triton_xla.inline_asm nvidia {{.*}}(%[[T]]) {{.*}} : (tensor<64xf32>) -> tensor<64xf32>
  // AMD-NEXT: %[[R:.*]] = triton_xla.inline_asm amd {{.*}}(%[[T]]) {{.*}} : (tensor<64xf32>) -> tensor<64xf32>
  // CPU-NEXT: %[[R:.*]] = math.exp2 %[[T]] : tensor<64xf32>
  %r = triton_xla.inline_asm nvidia "ex2.approx.ftz.f32 $0, $1;", "=f,f" (%t) effects none : (tensor<64xf32>) -> tensor<64xf32> reference {
  ^bb0(%e: f32):
    %a = triton_xla.inline_asm amd "v_exp_f32 $0, $1", "=v,v" (%e) effects none : (f32) -> f32 reference {
    ^bb0(%f: f32):
      %p = math.exp2 %f : f32
      triton_xla.yield %p : f32
    }
    triton_xla.yield %a : f32
  }
  // CHECK: triton_xla.insert %[[R]]
  triton_xla.insert %r into %x[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  // Several results of scalars; one of them is an operand.
  // AMD: %[[N:.*]] = arith.negf %arg1 : f32
  // AMD-NEXT: memref.store %[[N]]
  // AMD-NEXT: memref.store %arg1
  %n:2 = triton_xla.inline_asm nvidia "neg.f32 $0, $2; mov.f32 $1, $2;", "=f,=f,f" (%s) effects none : (f32) -> (f32, f32) reference {
  ^bb0(%e: f32):
    %m = arith.negf %e : f32
    triton_xla.yield %m, %e : f32, f32
  }
  memref.store %n#0, %x[%c0] : memref<64xf32>
  memref.store %n#1, %x[%c0] : memref<64xf32>
  // Code without a reference remains.
  // CHECK: triton_xla.extern_call nvidia "__nv_fabsf"
  %k = triton_xla.extern_call nvidia "__nv_fabsf"(%s) effects none : (f32) -> f32
  memref.store %k, %x[%c0] : memref<64xf32>
  triton_xla.return
}
