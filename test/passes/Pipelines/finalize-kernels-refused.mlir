// RUN: smalti-opt %s --split-input-file --verify-diagnostics -smalti-finalize-kernels=target=sm_90a
// RUN: not smalti-opt %s --split-input-file -smalti-finalize-kernels 2>&1 | FileCheck %s --check-prefix=NOTARGET
// NOTARGET: error: no target

gpu.module @arithmetic {
  llvm.func @k(%a: i32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{'arith.addi' op on 'i32', 'i32' cannot be lowered to sm_90a}}
    %0 = arith.addi %a, %a : i32
    llvm.return
  }
}

// -----

gpu.module @cast {
  llvm.func @k(%a: i64) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{from 'i64' to 'index' cannot be lowered to sm_90a: no conversion removes the cast; use an op that converts the value, such as arith.index_cast}}
    %0 = builtin.unrealized_conversion_cast %a : i64 to index
    llvm.return
  }
}

// -----

func.func @host() {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{is not outlined into a gpu.module; run mosaic-gpu-outline-launches or smalti-compile}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%nx = %c1, %ny = %c1, %nz = %c1) {
    gpu.terminator
  }
  return
}
