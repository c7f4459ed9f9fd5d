// RUN: smalti-opt %s --split-input-file --verify-diagnostics -smalti-compile=target=cpu
// RUN: smalti-opt %s --split-input-file --verify-diagnostics -smalti-compile=target=sm_80
// RUN: smalti-opt %s --split-input-file --verify-diagnostics -smalti-compile=target=gfx942
// RUN: smalti-opt %s --split-input-file --verify-diagnostics -convert-triton-xla-to-cpu

// Upstream's folders drop these loops; on hardware some would not terminate.
triton_xla.entry_func @zero(%x: memref<64xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{has a step of 0; the step must be positive}}
  scf.for %i = %c0 to %c8 step %c0 {
    %a = triton_xla.extract %x[%i] [8] [1] : memref<64xf32> to tensor<8xf32>
    triton_xla.insert %a into %x[%i] [8] [1] : tensor<8xf32> into memref<64xf32>
  }
  triton_xla.return
}

// -----

triton_xla.entry_func @negative(%x: memref<64xf32>, %tile: index) tiles 1 {
  %c8 = arith.constant 8 : i32
  %down = arith.constant -1 : i32
  // expected-error@+1 {{has a step of -1; the step must be positive}}
  scf.for %i = %down to %c8 step %down : i32 {
    %at = arith.index_cast %i : i32 to index
    %a = triton_xla.extract %x[%at] [8] [1] : memref<64xf32> to tensor<8xf32>
    triton_xla.insert %a into %x[%at] [8] [1] : tensor<8xf32> into memref<64xf32>
  }
  triton_xla.return
}

// -----

gpu.module @m {
  gpu.func @threads(%x: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %f = arith.constant 0.0 : f32
    // expected-error@+1 {{has a step of 0; the step must be positive}}
    scf.for %i = %c0 to %c0 step %c0 {
      memref.store %f, %x[%i] : memref<64xf32>
    }
    gpu.return
  }
}
