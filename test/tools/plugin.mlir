// Stock mlir-opt with the plugin. mlir-opt only prints a message if a plugin does not load. Both runs therefore need
// it: the input has an op of ours, and the pipeline a pass of ours.

// RUN: mlir-opt %s --load-dialect-plugin=%smalti_plugin | FileCheck %s
// CHECK: triton_xla.entry_func @copy

// RUN: mlir-opt %s --load-dialect-plugin=%smalti_plugin --load-pass-plugin=%smalti_plugin \
// RUN:     --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-multi-buffer{depth=2}))' --dump-pass-pipeline \
// RUN:     -o /dev/null 2>&1 | FileCheck --check-prefix=PASS %s
// PASS: smalti-multi-buffer{{{.*}}depth=2

// RUN: not mlir-opt %s 2>&1 | FileCheck --check-prefix=WITHOUT %s
// WITHOUT: Dialect `triton_xla' not found

triton_xla.entry_func @copy(%memory: memref<100xf32>, %tile: index) tiles 4 {
  %t = triton_xla.extract %memory[%tile] [32] [1] : memref<100xf32> to tensor<32xf32>
  triton_xla.insert %t into %memory[%tile] [32] [1] : tensor<32xf32> into memref<100xf32>
  triton_xla.return
}
