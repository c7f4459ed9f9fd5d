// Ops, attributes and properties of newer dialect versions: errors with their names.
// RUN: smalti-opt --split-input-file --verify-diagnostics %s

// expected-error @+1 {{'mosaic_gpu.version' is 3, but the newest supported version of the mosaic_gpu dialect is 2; use a newer Smalti}}
module attributes {mosaic_gpu.version = 3 : i32} {
}

// -----

// expected-error @+1 {{'mosaic_gpu.version', the version of the mosaic_gpu dialect, must be a positive i32, but found 0 : i32}}
module attributes {mosaic_gpu.version = 0 : i32} {
}

// -----

// expected-error @+1 {{'mosaic_gpu.version', the version of the mosaic_gpu dialect, must be a positive i32, but found 2 : i64}}
module attributes {mosaic_gpu.version = 2} {
}

// -----

// expected-error @+1 {{'mosaic_gpu.version' is only allowed on builtin.module}}
func.func private @f() attributes {mosaic_gpu.version = 1 : i32}

// -----

func.func @op() {
  // expected-error @+1 {{custom op 'mosaic_gpu.novelty' version 2 of the mosaic_gpu dialect does not define the op 'mosaic_gpu.novelty'}}
  mosaic_gpu.novelty
  return
}

// -----

func.func @generic_op() {
  // expected-error @+1 {{unregistered operation 'mosaic_gpu.novelty' found in dialect ('mosaic_gpu') that does not allow unknown operations}}
  "mosaic_gpu.novelty"() : () -> ()
  return
}

// -----

func.func @property() {
  // expected-error @+1 {{invalid properties {novelty = 1 : i32, offset = 0 : i32} for op mosaic_gpu.slice_smem: version 2 of the mosaic_gpu dialect does not define the attribute 'novelty' of 'mosaic_gpu.slice_smem'}}
  %0 = "mosaic_gpu.slice_smem"() <{novelty = 1 : i32, offset = 0 : i32}> : () -> memref<8xi32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @segments(%m: memref<64x64xf16>, %i: i32) {
  // expected-error @+1 {{size mismatch in attribute conversion}}
  "mosaic_gpu.async_prefetch"(%m, %i, %i) <{collective = [], operandSegmentSizes = array<i32: 1, 2, 0, 0>, slice_lengths = array<i64: 64, 64>}>
      : (memref<64x64xf16>, i32, i32) -> ()
  return
}

// -----

// expected-error @+1 {{unknown attribute `novelty` in dialect `mosaic_gpu`}}
func.func private @f() attributes {test.a = #mosaic_gpu.novelty}

// -----

// expected-error @+1 {{in dialect `mosaic_gpu`}}
func.func private @f(memref<!mosaic_gpu.novelty>)

// -----

// Discardable attributes: a misspelled one would otherwise have no effect.

// expected-error @+1 {{'builtin.module' op has the unknown attribute 'mosaic_gpu.arch_majr'; known are mosaic_gpu.arch_major, mosaic_gpu.arch_minor,}}
module attributes {mosaic_gpu.arch_majr = 9 : i32} {
}

// -----

// expected-error @+1 {{has the unknown attribute 'mosaic_gpu.thread_group_size' of argument #1; known are mosaic_gpu.from_kernel_arg_idx}}
func.func private @f(index {mosaic_gpu.from_kernel_arg_idx = 0 : i32}, index {mosaic_gpu.thread_group_size = 1 : i64})
