// The reproducer of a failing pass, which fails identically.

// RUN: not smalti-opt %s --mlir-pass-pipeline-crash-reproducer=%t.reproducer.mlir \
// RUN:     --pass-pipeline='builtin.module(gpu-module-to-binary{format=nonsense})' 2>&1 | FileCheck %s
// CHECK: error: Invalid format specified
// RUN: FileCheck --check-prefix=REPRODUCER --input-file=%t.reproducer.mlir %s
// REPRODUCER: gpu-module-to-binary{
// RUN: not smalti-opt --run-reproducer %t.reproducer.mlir 2>&1 | FileCheck %s

gpu.module @empty [#nvvm.target] {
}
