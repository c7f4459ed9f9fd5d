// Divergence through control flow: a value that depends on the path through a CFG, although each path gives a uniform one.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers{target=sm_80})))' \
// RUN:   --remarks-filter=smalti-place-barriers 2>%t.barriers | FileCheck %s --check-prefix=BARRIERS
// RUN: FileCheck %s --check-prefix=NOBARRIER < %t.barriers
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-multi-buffer{target=sm_80})))' | FileCheck %s --check-prefix=SLOTS

#shared = #gpu.address_space<workgroup>
gpu.module @m {
  // BARRIERS-LABEL: @argument
  // BARRIERS-NOT: gpu.barrier
  // NOBARRIER: divergent
  gpu.func @argument(%out: memref<64xf32>) workgroup(%s: memref<64xf32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c9 = arith.constant 9 : index
    %x = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %is_low = arith.cmpi slt, %t, %c5 : index
    %n = scf.execute_region -> index {
      cf.cond_br %is_low, ^bb1(%c5 : index), ^bb1(%c9 : index)
    ^bb1(%k: index):
      scf.yield %k : index
    }
    scf.for %i = %c0 to %n step %c1 {
      memref.store %x, %s[%t] : memref<64xf32, 3>
      %y = memref.load %s[%i] : memref<64xf32, 3>
      memref.store %y, %out[%t] : memref<64xf32>
    }
    gpu.return
  }

  // BARRIERS-LABEL: @exits
  // BARRIERS-NOT: gpu.barrier
  // NOBARRIER: divergent
  gpu.func @exits(%out: memref<64xf32>) workgroup(%s: memref<64xf32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c9 = arith.constant 9 : index
    %x = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %is_low = arith.cmpi slt, %t, %c5 : index
    %n = scf.execute_region -> index {
      cf.cond_br %is_low, ^bb1, ^bb2
    ^bb1:
      scf.yield %c5 : index
    ^bb2:
      scf.yield %c9 : index
    }
    scf.for %i = %c0 to %n step %c1 {
      memref.store %x, %s[%t] : memref<64xf32, 3>
      %y = memref.load %s[%i] : memref<64xf32, 3>
      memref.store %y, %out[%t] : memref<64xf32>
    }
    gpu.return
  }

  // SLOTS-LABEL: @slots
  // SLOTS: memref.alloc() : memref<64xf32,
  gpu.func @slots(%a: memref<4096xf32>, %out: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c9 = arith.constant 9 : index
    %t = gpu.thread_id x
    %is_low = arith.cmpi slt, %t, %c5 : index
    cf.cond_br %is_low, ^bb1(%c5 : index), ^bb1(%c9 : index)
  ^bb1(%n: index):
    %buffer = memref.alloc() : memref<64xf32, #shared>
    scf.for %i = %c0 to %n step %c1 {
      %window = memref.subview %a[%i] [64] [1] : memref<4096xf32> to memref<64xf32, strided<[1], offset: ?>>
      memref.copy %window, %buffer : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #shared>
    }
    %v = memref.load %buffer[%t] : memref<64xf32, #shared>
    memref.store %v, %out[%t] : memref<64xf32>
    gpu.return
  }
}
