// Fast-math flags of tile-level ops: they are on the LLVM instructions, or select functions of the device library.
// RUN: smalti-opt %s --smalti-compile=target=sm_80 | FileCheck %s --check-prefixes=ALL,NVIDIA
// RUN: smalti-opt %s --smalti-compile=target=gfx942 | FileCheck %s --check-prefixes=ALL,AMD
// RUN: smalti-opt %s --smalti-compile=target=cpu | FileCheck %s --check-prefixes=ALL,CPU

// NVIDIA-LABEL: llvm.func @arithmetic
// AMD-LABEL: llvm.func @arithmetic
// CPU-LABEL: llvm.func @smalti.arithmetic
// ALL: llvm.fmul %{{.*}} {fastmathFlags = #llvm.fastmath<contract>}
// ALL: llvm.fadd %{{.*}} {fastmathFlags = #llvm.fastmath<contract>}
// ALL: llvm.fdiv %{{.*}} {fastmathFlags = #llvm.fastmath<arcp, afn>}
// ALL: llvm.fsub %{{.*}} {fastmathFlags = #llvm.fastmath<nnan, ninf, nsz, reassoc>}
// ALL: llvm.fneg %{{.*}} {fastmathFlags = #llvm.fastmath<fast>}
// ALL: llvm.fcmp "olt" %{{.*}} {fastmathFlags = #llvm.fastmath<nnan>}
triton_xla.entry_func @arithmetic(%a: memref<128xf32>, %o: memref<128xf32>, %p: memref<128xi8>, %tile: index) tiles 1 {
  %x = triton_xla.extract %a[0] [128] [1] : memref<128xf32> to tensor<128xf32>
  %0 = arith.mulf %x, %x fastmath<contract> : tensor<128xf32>
  %1 = arith.addf %0, %x fastmath<contract> : tensor<128xf32>
  %2 = arith.divf %x, %1 fastmath<arcp,afn> : tensor<128xf32>
  %3 = arith.subf %1, %2 fastmath<nnan,ninf,nsz,reassoc> : tensor<128xf32>
  %4 = arith.negf %3 fastmath<fast> : tensor<128xf32>
  %5 = arith.cmpf olt, %4, %x fastmath<nnan> : tensor<128xf32>
  %6 = arith.extui %5 : tensor<128xi1> to tensor<128xi8>
  triton_xla.insert %4 into %o[0] [128] [1] : tensor<128xf32> into memref<128xf32>
  triton_xla.insert %6 into %p[0] [128] [1] : tensor<128xi8> into memref<128xi8>
  triton_xla.return
}

// NVIDIA-DAG: llvm.func @__nv_fast_sinf
// NVIDIA-DAG: llvm.func @__nv_cosf

// NVIDIA-LABEL: llvm.func @functions
// AMD-LABEL: llvm.func @functions
// CPU-LABEL: llvm.func @smalti.functions
// NVIDIA: llvm.call @__nv_fast_sinf
// NVIDIA: llvm.call @__nv_cosf
// NVIDIA: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// NVIDIA: llvm.call_intrinsic "llvm.nvvm.sqrt.approx.f"
// AMD: rocdl.exp2
// AMD: llvm.intr.sqrt(%{{.*}}) {fastmathFlags = #llvm.fastmath<nnan, afn>}
// CPU: llvm.intr.sin(%{{.*}}) {fastmathFlags = #llvm.fastmath<afn>}
// CPU: llvm.intr.cos(%{{[^ ]*}}) :
// CPU: llvm.intr.sqrt(%{{.*}}) {fastmathFlags = #llvm.fastmath<{{.*}}afn{{.*}}>}
triton_xla.entry_func @functions(%a: memref<128xf32>, %o: memref<128xf32>, %tile: index) tiles 1 {
  %x = triton_xla.extract %a[0] [128] [1] : memref<128xf32> to tensor<128xf32>
  %0 = math.sin %x fastmath<afn> : tensor<128xf32>
  %1 = math.cos %0 : tensor<128xf32>
  %2 = math.exp %1 fastmath<afn> : tensor<128xf32>
  %3 = math.sqrt %2 fastmath<nnan,afn> : tensor<128xf32>
  triton_xla.insert %3 into %o[0] [128] [1] : tensor<128xf32> into memref<128xf32>
  triton_xla.return
}
