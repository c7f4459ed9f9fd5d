// smalti.stages of a tile-level loop sets its stages, and its slots if copies are asynchronous.
// RUN: sed 's/STAGES/4/' %s | smalti-opt -smalti-compile=target=sm_80 --remarks-filter='.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: sed 's/STAGES/2/' %s | smalti-opt -smalti-compile=target=sm_80 --remarks-filter='.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: sed 's/STAGES/1/' %s | smalti-opt -smalti-compile=target=sm_80 --remarks-filter='.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: sed 's/STAGES/16/' %s | not smalti-opt -smalti-compile=target=sm_80 -o /dev/null 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: sed 's/STAGES/4/' %s | smalti-opt -smalti-compile=target=sm_90a --remarks-filter='.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROLES
// RUN: sed 's/STAGES/4/' %s | smalti-opt -smalti-compile=target=gfx942 --remarks-filter='.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=READS

// FOUR: 65536 of 166912 B of shared memory
// FOUR: 4 slots per buffer of this loop: requested by its attributes
// FOUR: loop pipelined: 4 stages, async mode
// FOUR: loop pipelined: 3 stages, async mode
// TWO: 2 slots per buffer of this loop
// TWO: loop pipelined: 2 stages, async mode
// ONE: 1 slot per buffer of this loop
// ONE-COUNT-1: loop pipelined
// ONE-NOT: loop pipelined
// LARGE: error: smalti-choose-overlap: 16 slots per buffer of this loop need 262144 B of shared memory per block; sm_80 has 166912 B; set fewer slots: 1 slot needs 16384 B
// ROLES: warp specialization applied: {{.*}}; 4 slots of 16384 B
// READS-NOT: slots per buffer of this loop
// READS: loop pipelined: 4 stages, stream mode
triton_xla.entry_func @matmul(%a: memref<128x512xf16>, %b: memref<512x128xf16>, %c: memref<128x128xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %r = scf.for %k = %c0 to %c512 step %c32 iter_args(%sum = %zero) -> (tensor<128x128xf32>) {
    %x = triton_xla.extract %a[0, %k] [128, 32] [1, 1] : memref<128x512xf16> to tensor<128x32xf16>
    %y = triton_xla.extract %b[%k, 0] [32, 128] [1, 1] : memref<512x128xf16> to tensor<32x128xf16>
    %d = triton_xla.dot %x, %y, %sum : tensor<128x32xf16>, tensor<32x128xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  } {smalti.stages = STAGES : i64}
  triton_xla.insert %r into %c[0, 0] [128, 128] [1, 1] : tensor<128x128xf32> into memref<128x128xf32>
  triton_xla.return
}

// Another kernel keeps the defaults.
triton_xla.entry_func @default(%a: memref<128x512xf16>, %b: memref<512x128xf16>, %c: memref<128x128xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %r = scf.for %k = %c0 to %c512 step %c32 iter_args(%sum = %zero) -> (tensor<128x128xf32>) {
    %x = triton_xla.extract %a[0, %k] [128, 32] [1, 1] : memref<128x512xf16> to tensor<128x32xf16>
    %y = triton_xla.extract %b[%k, 0] [32, 128] [1, 1] : memref<512x128xf16> to tensor<32x128xf16>
    %d = triton_xla.dot %x, %y, %sum : tensor<128x32xf16>, tensor<32x128xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  triton_xla.insert %r into %c[0, 0] [128, 128] [1, 1] : tensor<128x128xf32> into memref<128x128xf32>
  triton_xla.return
}
