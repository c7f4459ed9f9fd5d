// Pipelines of smalti-compile per vendor: the printed pipeline has the same result.
// RUN: smalti-opt %s --smalti-compile-amd=target=gfx942 -o %t.family
// RUN: smalti-opt %s --smalti-compile=target=gfx942 -o %t.compile
// RUN: cmp %t.family %t.compile
// RUN: smalti-opt %s --smalti-compile-cpu='target=cpu stop-after=tile' | FileCheck %s --check-prefix=TILE
// RUN: smalti-opt /dev/null --smalti-compile-nvidia='target=sm_90a stop-after=pipelined' --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=PASSES
// RUN: not smalti-opt %s --smalti-compile-amd=target=sm_90a 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not smalti-opt %s --smalti-compile-cpu 2>&1 | FileCheck %s --check-prefix=NONE

// RUN: not smalti-opt %S/../../pallas/Inputs/pointwise.mlir --smalti-compile-nvidia=target=sm_90a 2>&1 | FileCheck %s --check-prefix=LAUNCH
// RUN: smalti-opt %s --smalti-compile-nvidia=target=sm_90a -o %t.family
// RUN: smalti-opt %s --smalti-compile=target=sm_90a -o %t.compile
// RUN: cmp %t.family %t.compile

// LAUNCH: error: 'gpu.launch' op is not outlined into a gpu.module
// TILE: triton_xla.extract
// PASSES: smalti-choose-overlap{depth=auto specialize=auto stages=auto target=sm_90a}
// PASSES-NOT: convert-mosaic-gpu-to-nvvm
// OTHER: smalti-compile-amd: the target 'sm_90a' is not supported; supported targets: gfx90a
// NONE: smalti-compile-cpu: the target '' is not supported; supported targets: cpu
triton_xla.entry_func @double(%x: memref<1000xf32>, %y: memref<1000xf32>, %tile: index) tiles 4 {
  %c256 = arith.constant 256 : index
  %offset = arith.muli %tile, %c256 : index
  %t = triton_xla.extract %x[%offset] [256] [1] : memref<1000xf32> to tensor<256xf32>
  %d = arith.addf %t, %t : tensor<256xf32>
  triton_xla.insert %d into %y[%offset] [256] [1] : tensor<256xf32> into memref<1000xf32>
  triton_xla.return
}
