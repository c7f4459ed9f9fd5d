// Features of mlir-opt in smalti-opt: both kinds of dialects, upstream's passes, and its options.

// RUN: smalti-opt --version | FileCheck --check-prefix=VERSION %s
// VERSION: LLVM version 22.

// RUN: smalti-opt --show-dialects | FileCheck --check-prefix=DIALECTS %s
// DIALECTS-DAG: amdgpu
// DIALECTS-DAG: mosaic_gpu
// DIALECTS-DAG: nvgpu
// DIALECTS-DAG: transform
// DIALECTS-DAG: triton_xla

// RUN: smalti-opt --list-passes | FileCheck --check-prefix=PASSES %s
// PASSES-DAG: convert-gpu-to-nvvm
// PASSES-DAG: convert-gpu-to-rocdl
// PASSES-DAG: smalti-multi-buffer

// RUN: smalti-opt %s --split-input-file --verify-diagnostics --canonicalize | FileCheck %s

// CHECK-LABEL: triton_xla.entry_func @round_trip
// CHECK-NOT:     arith.muli
triton_xla.entry_func @round_trip(%memory: memref<100xf32>, %tile: index) tiles 4 {
  %c1 = arith.constant 1 : index
  %offset = arith.muli %tile, %c1 : index
  %t = triton_xla.extract %memory[%offset] [32] [1] : memref<100xf32> to tensor<32xf32>
  triton_xla.insert %t into %memory[%offset] [32] [1] : tensor<32xf32> into memref<100xf32>
  triton_xla.return
}

// -----

// expected-error@+1 {{custom op 'triton_xla.nothing' is unknown}}
triton_xla.nothing
