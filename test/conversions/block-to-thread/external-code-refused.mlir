// RUN: smalti-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a}))'

gpu.module @other_vendor {
  gpu.func @kernel(%b: memref<512xf32>, %s: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error@+1 {{has code for AMD GPUs, but the target sm_90a is an NVIDIA GPU; a tile-level kernel can have a reference, which smalti-expand-tile-ops uses instead}}
    %r = triton_xla.inline_asm amd "v_mov_b32 $0, $1", "=v,v" (%s) effects none : (f32) -> f32
    gpu.return
  }
}

// -----

gpu.module @name_of_the_kernel {
  // expected-note@+1 {{the symbol is here}}
  gpu.func @kernel(%b: memref<512xf32>, %s: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error@+1 {{calls 'kernel', which is also the name of a symbol of the module; rename one}}
    %r = triton_xla.extern_call nvidia "kernel" library "x.ll"(%s) effects none : (f32) -> f32
    gpu.return
  }
}

// -----

gpu.module @two_types {
  gpu.func @kernel(%b: memref<512xf32>, %s: f32, %i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error@+1 {{calls 'f' with other types or from another library than another call; a function has one declaration in a kernel}}
    %r = triton_xla.extern_call nvidia "f" library "x.ll"(%s) effects none : (f32) -> f32
    // expected-note@+1 {{the other call is here}}
    %q = triton_xla.extern_call nvidia "f" library "x.ll"(%i) effects none : (i32) -> f32
    gpu.return
  }
}
