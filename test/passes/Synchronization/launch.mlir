// The body of gpu.launch, which is not changed, with a remark.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-place-barriers{insert=true}))' --remarks-filter=smalti-place-barriers 2>%t > %t.after
// RUN: FileCheck %s < %t
// RUN: smalti-opt %s | diff - %t.after
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-place-barriers{strict=true}))' 2>&1 | FileCheck %s --check-prefix=STRICT
// Outlined, it is a function as others are.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu-kernel-outlining,gpu.module(gpu.func(smalti-place-barriers)))' | FileCheck %s --check-prefix=OUTLINED

// STRICT: error: smalti-place-barriers: barriers in the launch body not changed: the body is not a function; run 'gpu-kernel-outlining' first

// OUTLINED: gpu.func
// OUTLINED-COUNT-1: gpu.barrier
// OUTLINED-NOT: gpu.barrier

// CHECK: [Missed] smalti-place-barriers | Category:smalti-place-barriers | Function=launch | Remark="barriers in the launch body not changed: the body is not a function; run 'gpu-kernel-outlining' first"
// CHECK: Function=launch | Remark="barrier neither removed nor weakened: the control flow of 'gpu.launch' is unknown; run 'gpu-kernel-outlining' first"
// CHECK: Function=launch | Remark="barrier neither removed nor weakened: the control flow of 'gpu.launch' is unknown; run 'gpu-kernel-outlining' first"
module attributes {gpu.container_module} {
  func.func @launch(%a: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
               workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) {
      %x = memref.load %a[%tx] : memref<64xf32>
      memref.store %x, %s[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      gpu.barrier
      %c63 = arith.constant 63 : index
      %o = arith.subi %c63, %tx : index
      %y = memref.load %s[%o] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %y, %a[%tx] : memref<64xf32>
      gpu.terminator
    }
    return
  }
}
