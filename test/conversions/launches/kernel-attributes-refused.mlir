// Attributes of kernels that upstream's verifier accepts and a kernel must not have.
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null --pass-pipeline='builtin.module(smalti-compile{target=gfx942})'
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null --pass-pipeline='builtin.module(smalti-compile{target=sm_90a})'
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-rocdl{target=gfx942}))'
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a}))'

gpu.module @m {
  // expected-error@+1 {{has 'workgroup_attributions' = "one", which is not an integer}}
  "gpu.func"() <{function_type = (memref<128xf32>) -> ()}> ({
  ^bb0(%a: memref<128xf32>):
    %s = mosaic_gpu.slice_smem 0 : memref<128xf32, #gpu.address_space<workgroup>>
    %c = arith.constant 0 : index
    %v = memref.load %a[%c] : memref<128xf32>
    memref.store %v, %s[%c] : memref<128xf32, #gpu.address_space<workgroup>>
    "gpu.return"() : () -> ()
  }) {sym_name = "words", gpu.kernel, workgroup_attributions = "one"} : () -> ()
}

// -----

gpu.module @m {
  // expected-error@+1 {{has 'known_block_size' = [-128, 1, 1]; each of its sizes must be positive}}
  gpu.func @block() kernel attributes {known_block_size = array<i32: -128, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{has 'known_grid_size' = [1, 0, 1]; each of its sizes must be positive}}
  gpu.func @grid() kernel attributes {known_grid_size = array<i32: 1, 0, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{has 'known_cluster_size' = [1, 1, -1]; each of its sizes must be positive}}
  gpu.func @cluster() kernel attributes {known_cluster_size = array<i32: 1, 1, -1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{has 'smalti.shared_memory_bytes' = -8 : i64, which is not an integer that is at least 0}}
  gpu.func @bytes() kernel attributes {smalti.shared_memory_bytes = -8 : i64} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{has 'smalti.shared_memory_bytes' = true, which is not an integer}}
  gpu.func @truth() kernel attributes {smalti.shared_memory_bytes = true} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{has 'smalti.shared_memory_alignment' = 48 : i64, which is not a power of two}}
  gpu.func @alignment() kernel attributes {smalti.shared_memory_alignment = 48 : i64} {
    gpu.return
  }
}
