// Names of definitions that generated code calls: refused.
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null -smalti-compile=target=sm_90a
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null -smalti-compile=target=gfx942

// expected-error@+1 {{'triton_xla.entry_func' op defines '__nv_tanhf', a name of the compiler or of the device library; names that begin with 'llvm.', '__nv', '__ocml_', '__ockl_' or '__oclc_', and the names 'vprintf' and '__assertfail', are reserved}}
triton_xla.entry_func @__nv_tanhf(%x: memref<64xf32>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{defines '__ocml_tanh_f32', a name of the compiler}}
triton_xla.entry_func @__ocml_tanh_f32(%x: memref<64xf32>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// JAX's suffix is removed from the name of the kernel.
// expected-error@+1 {{defines 'vprintf_mosaic_gpu', a name of the compiler}}
func.func @vprintf_mosaic_gpu(%stream: !llvm.ptr, %buffers: !llvm.ptr) {
  %one = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %one, %gy = %one, %gz = %one) threads(%tx, %ty, %tz) in (%bx = %one, %by = %one, %bz = %one) {
    gpu.terminator
  }
  return
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{'gpu.func' op defines '__nvvm_reflect', a name of the compiler}}
  gpu.func @__nvvm_reflect() kernel {
    gpu.return
  }
  // expected-error@+1 {{'gpu.func' op defines 'llvm.trap', a name of the compiler}}
  gpu.func @llvm.trap() {
    gpu.return
  }
  // expected-error@+1 {{'memref.global' op defines '__nv_sinf', a name of the compiler}}
  memref.global @__nv_sinf : memref<4xf32> = dense<1.0>
  // Declarations are functions of the library.
  func.func private @__nv_cosf(f32) -> f32
}
