// RUN: smalti-opt %s --split-input-file --verify-diagnostics -smalti-verify-kernels=target=sm_90a
// RUN: not smalti-opt %s --split-input-file -smalti-verify-kernels='target=sm_90a memory=false' 2>&1 | FileCheck %s --check-prefix=LOOPS
// RUN: not smalti-opt %s --split-input-file -smalti-verify-kernels=target=cpu 2>&1 | FileCheck %s --check-prefix=CPU

// Errors of the pass itself; loop-steps-refused.mlir, attributes-refused.mlir, arguments-refused.mlir and
// memory-refused.mlir test more through smalti-compile.

// LOOPS-NOT: error: {{argument|memory attribution}}
// LOOPS:     error: 'scf.for' op has a step of 0; the step must be positive
// LOOPS-NOT: error: {{argument|memory attribution}}
gpu.module @loops {
  gpu.func @k() kernel {
    %c0 = arith.constant 0 : index
    // expected-error@+1 {{has a step of 0; the step must be positive}}
    scf.for %i = %c0 to %c0 step %c0 {
    }
    gpu.return
  }
}

// -----

gpu.module @arguments {
  // expected-error@+1 {{argument 0 of @k has type 'memref<?xf32>'; a static shape}}
  gpu.func @k(%a: memref<?xf32>) kernel {
    gpu.return
  }
}

// -----

gpu.module @memory {
  // expected-error@+1 {{memory attribution of @k has elements of type 'tf32'; LLVM does not support this type}}
  gpu.func @k() workgroup(%tile: memref<16xtf32, 3>) kernel {
    gpu.return
  }
}

// -----

// CPU: error: type '{{.*}}' uses memory space #gpu.address_space<workgroup>, which cpu does not have
func.func @spaces() {
  %s = memref.alloc() : memref<4xf32, #gpu.address_space<workgroup>>
  return
}

// -----

gpu.module @valid {
  gpu.func @k(%a: memref<4x8xf32>) workgroup(%tile: memref<16xf32, 3>) kernel {
    gpu.return
  }
}
