// RUN: smalti-opt %s --pass-pipeline='builtin.module(llvm.func(smalti-mark-tensor-maps))' | FileCheck %s

// The last arguments of a kernel, one per tensor map.
// CHECK: llvm.func @kernel(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
llvm.func @kernel(%memory: !llvm.ptr {llvm.noalias}, %first: !llvm.ptr, %second: !llvm.ptr)
    attributes {gpu.kernel, mosaic_gpu.tensor_maps = [{argument = 0 : i64}, {argument = 0 : i64}], nvvm.kernel} {
  llvm.return
}

// CHECK: llvm.func @without(%{{.*}}: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel}
llvm.func @without(%memory: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
  llvm.return
}

// CHECK: llvm.func @no_kernel(%{{.*}}: !llvm.ptr) attributes
llvm.func @no_kernel(%memory: !llvm.ptr) attributes {mosaic_gpu.tensor_maps = [{argument = 0 : i64}]} {
  llvm.return
}
