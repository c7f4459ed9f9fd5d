// Shared memory of a kernel without a number of workgroup attributions, or with a number of a narrow type.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-rocdl{target=gfx942}))' | FileCheck %s

gpu.module @m {
  // CHECK: gpu.func @none(%{{.*}}: memref<128xf32>) workgroup(%{{.*}} : memref<512xi8, #gpu.address_space<workgroup>> {llvm.align = {{[0-9]+}} : i64}) kernel
  "gpu.func"() <{function_type = (memref<128xf32>) -> ()}> ({
  ^bb0(%a: memref<128xf32>):
    %s = mosaic_gpu.slice_smem 0 : memref<128xf32, #gpu.address_space<workgroup>>
    %c = arith.constant 0 : index
    %v = memref.load %a[%c] : memref<128xf32>
    memref.store %v, %s[%c] : memref<128xf32, #gpu.address_space<workgroup>>
    "gpu.return"() : () -> ()
  }) {sym_name = "none", gpu.kernel} : () -> ()

  // CHECK: gpu.func @narrow(%{{.*}}: memref<128xf32>) workgroup(%{{.*}} : memref<512xi8, #gpu.address_space<workgroup>> {llvm.align = {{[0-9]+}} : i64}) kernel
  "gpu.func"() <{function_type = (memref<128xf32>) -> ()}> ({
  ^bb0(%a: memref<128xf32>):
    %s = mosaic_gpu.slice_smem 0 : memref<128xf32, #gpu.address_space<workgroup>>
    %c = arith.constant 0 : index
    %v = memref.load %a[%c] : memref<128xf32>
    memref.store %v, %s[%c] : memref<128xf32, #gpu.address_space<workgroup>>
    "gpu.return"() : () -> ()
  }) {sym_name = "narrow", gpu.kernel, workgroup_attributions = 0 : i1} : () -> ()
}
