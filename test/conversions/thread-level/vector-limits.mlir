// Vectors that exceed the registers of a thread: an error without other changes. At each level, with the message of
// tiles, and for numbers of elements that exceed 32 and 64 bits.
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null \
// RUN:   --pass-pipeline='builtin.module(gpu.module(smalti-lower-vectors))'
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null \
// RUN:   --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a}))'
// RUN: not smalti-opt %s -split-input-file -o /dev/null \
// RUN:   --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-rocdl{target=gfx942}))' 2>&1 | FileCheck %s --check-prefix=AMD
// RUN: not smalti-opt %s -split-input-file -o /dev/null \
// RUN:   --pass-pipeline='builtin.module(mosaic-gpu-infer-layouts{target=sm_90a})' 2>&1 | FileCheck %s --check-prefix=INFER
// RUN: not smalti-opt %s -split-input-file -o /dev/null \
// RUN:   --pass-pipeline='builtin.module(smalti-compile-cpu{target=cpu})' 2>&1 | FileCheck %s --check-prefix=CPU

module attributes {smalti.target = "sm_90a"} {
  gpu.module @thread {
    gpu.func @elements_2_31(%m: memref<4294967296xf32>, %i: index) kernel {
      %zero = arith.constant 0.0 : f32
      // AMD: a vector of type 'vector<2147483648xf32>' needs 2147483648 registers per thread; the limit per vector on gfx942 is 512
      // A constant that upstream's passes create does not have a location: the error uses that of the function.
      // CPU: mlir:[[#@LINE-4]]:5: error: a vector of type 'vector<2147483648xi1>' takes 268435456 bytes
      // CPU: a vector of type 'vector<2147483648xf32>' takes 8589934592 bytes; the limit per vector on cpu is 4194304 bytes (4 MiB); use a smaller vector
      // INFER: a vector of type 'vector<2147483648xf32>' needs 16777216 registers per thread with 128 threads; the limit per vector on sm_90a is 512
      // expected-error@+1 {{a vector of type 'vector<2147483648xf32>' needs 2147483648 registers per thread; the limit per vector on sm_90a is 255; use a smaller vector}}
      %v = vector.transfer_read %m[%i], %zero : memref<4294967296xf32>, vector<2147483648xf32>
      vector.transfer_write %v, %m[%i] : vector<2147483648xf32>, memref<4294967296xf32>
      gpu.return
    }
  }
}

// -----

module attributes {smalti.target = "sm_90a"} {
  gpu.module @thread {
    gpu.func @elements_2_32() kernel {
      // INFER: a vector of type 'vector<65536x65536xf32>' needs 33554432 registers per thread with 128 threads
      // expected-error@+1 {{a vector of type 'vector<65536x65536xf32>' needs 4294967296 registers per thread}}
      %v = arith.constant dense<0.0> : vector<65536x65536xf32>
      gpu.return
    }
  }
}

// -----

module attributes {smalti.target = "sm_90a"} {
  gpu.module @thread {
    gpu.func @elements_2_64(%x: i1) kernel {
      // expected-error@+1 {{a vector of type 'vector<4294967296x4294967296xi1>' needs}}
      %v = vector.broadcast %x : i1 to vector<4294967296x4294967296xi1>
      gpu.return
    }
  }
}

// -----

module attributes {smalti.target = "sm_90a"} {
  gpu.module @thread {
    gpu.func @more_than_a_thread_has(%x: f64) kernel {
      %fits = vector.broadcast %x : f64 to vector<127xf64>
      // expected-error@+1 {{a vector of type 'vector<128xf64>' needs 256 registers per thread; the limit per vector on sm_90a is 255}}
      %v = vector.broadcast %x : f64 to vector<128xf64>
      gpu.return
    }
  }
}
