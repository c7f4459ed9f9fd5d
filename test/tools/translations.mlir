// Registration of the LLVM translations and the GPU targets: a kernel becomes code text without another tool.

// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu-module-to-binary{format=isa})' | FileCheck %s

// CHECK: gpu.binary @nvidia
// CHECK-SAME: .visible .entry kernel
gpu.module @nvidia [#nvvm.target<chip = "sm_90a">] {
  llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}

// CHECK: gpu.binary @amd
// CHECK-SAME: s_endpgm
gpu.module @amd [#rocdl.target<chip = "gfx942">] {
  llvm.func @kernel() attributes {gpu.kernel, rocdl.kernel} {
    llvm.return
  }
}
