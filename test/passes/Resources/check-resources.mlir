// The resources of a kernel as a remark, and exceeded limits as errors with notes.
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null \
// RUN:   --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-check-resources)))'
// RUN: smalti-opt %s -split-input-file -o %t.before
// RUN: smalti-opt %s -split-input-file -o %t.after --remarks-filter=smalti-check-resources \
// RUN:   --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-check-resources{only-remarks=true})))' 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks

// Sub-byte elements are packed; a vector of three elements has the size of four.
// Each buffer is aligned to 16 bytes. Two mbarriers of 8 bytes, a workgroup
// attribution and a global follow.
// CHECK: [Analysis] smalti-check-resources | Category:smalti-check-resources | Function=layout | Remark="kernel uses 640 of 65536 B of shared memory (3 B in memref<5xi4, #gpu.address_space<workgroup>>, 12 B in memref<3xvector<8xi4>, #gpu.address_space<workgroup>>, 32 B in memref<2xvector<3xf32>, #gpu.address_space<workgroup>>, 12 B in memref<3xf32, #gpu.address_space<workgroup>>, 32 B in memref<8xf32, #gpu.address_space<workgroup>>, 512 B in memref<512xi8, #gpu.address_space<workgroup>>, 16 B in memref<2xi64>); estimated register pressure: 0 of 512 per thread; 64 of 1024 threads"
gpu.module @kernels attributes {smalti.target = "gfx942"} {
  memref.global "private" @shared : memref<512xi8, #gpu.address_space<workgroup>> = uninitialized
  gpu.func @layout() workgroup(%w: memref<8xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = memref.alloc() : memref<5xi4, #gpu.address_space<workgroup>>
    %b = memref.alloc() : memref<3xvector<8xi4>, #gpu.address_space<workgroup>>
    %c = memref.alloc() : memref<2xvector<3xf32>, #gpu.address_space<workgroup>>
    %d = memref.alloc() {alignment = 64 : i64} : memref<3xf32, #gpu.address_space<workgroup>>
    %e = memref.get_global @shared : memref<512xi8, #gpu.address_space<workgroup>>
    %f = memref.get_global @shared : memref<512xi8, #gpu.address_space<workgroup>>
    %g = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
    gpu.return
  }
}

// -----

// CHECK: Function=slots | Remark="kernel uses 128000 of 65536 B of shared memory (32000 B in memref<16000xf16, #gpu.address_space<workgroup>>, 96000 B in 3 slots of memref<3x16000xf16
// CHECK: [Failure] smalti-check-resources | Category:smalti-check-resources | Function=slots | Remark="kernel needs 128000 B of shared memory; a block on gfx942 has at most 65536 B; use smaller tiles"
gpu.module @slots attributes {smalti.target = "gfx942"} {
  // expected-error@+1 {{kernel needs 128000 B of shared memory; a block on gfx942 has at most 65536 B; 1 slot per buffer would need 64000 B}}
  gpu.func @slots(%slot: index) kernel {
    // expected-note@+1 {{a buffer of type 'memref<16000xf16, #gpu.address_space<workgroup>>' takes 32000 B}}
    %other = memref.alloc() : memref<16000xf16, #gpu.address_space<workgroup>>
    // expected-note@+1 {{a buffer of type 'memref<3x16000xf16, #gpu.address_space<workgroup>>' takes 96000 B}}
    %buffer = memref.alloc() : memref<3x16000xf16, #gpu.address_space<workgroup>>
    %view = memref.subview %buffer[%slot, 0] [1, 16000] [1, 1]
      : memref<3x16000xf16, #gpu.address_space<workgroup>> to memref<16000xf16, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @more_slots attributes {smalti.target = "gfx942"} {
  // expected-error@+1 {{kernel needs 80000 B of shared memory; a block on gfx942 has at most 65536 B; 4 slots per buffer would need 64000 B}}
  gpu.func @more_slots(%slot: index) kernel {
    // expected-note@+1 {{a buffer of type 'memref<5x8000xf16, #gpu.address_space<workgroup>>' takes 80000 B}}
    %buffer = memref.alloc() : memref<5x8000xf16, #gpu.address_space<workgroup>>
    %view = memref.subview %buffer[%slot, 0] [1, 8000] [1, 1]
      : memref<5x8000xf16, #gpu.address_space<workgroup>> to memref<8000xf16, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// CHECK: [Failure] {{.*}} Function=threads | Remark="kernel needs 2048 threads; a block on sm_90a has at most 1024; use a smaller block"
gpu.module @threads attributes {smalti.target = "sm_90a"} {
  // expected-error@+1 {{kernel needs 2048 threads; a block on sm_90a has at most 1024}}
  gpu.func @threads() kernel attributes {known_block_size = array<i32: 1024, 2, 1>} {
    gpu.return
  }
}

// -----

// CHECK: [Analysis] {{.*}} Function=columns | Remark="kernel uses 0 of 232448 B of shared memory; estimated register pressure: 0 of 255 per thread; 768 of 512 columns of tensor memory"
// CHECK: [Failure] {{.*}} Function=columns | Remark="kernel needs 768 columns of tensor memory; a block on sm_100a has at most 512; use smaller tiles"
gpu.module @columns attributes {smalti.target = "sm_100a"} {
  // expected-error@+1 {{kernel needs 768 columns of tensor memory; a block on sm_100a has at most 512}}
  gpu.func @columns(%at: !llvm.ptr<3>) kernel {
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    nvvm.tcgen05.alloc %at, %c256 : !llvm.ptr<3>, i32
    nvvm.tcgen05.alloc %at, %c512 : !llvm.ptr<3>, i32
    gpu.return
  }
}

// -----

// Both vectors are live in the loop; expected spills are not an error.
// CHECK: [Missed] smalti-check-resources | Category:smalti-check-resources | Function=registers | Remark="estimated register pressure is 400 per thread at this op, 200 for a value of type vector<200xf32>; sm_90a has 255, so spills are expected; use smaller tiles or more warps"
gpu.module @registers attributes {smalti.target = "sm_90a"} {
  gpu.func @registers(%a: memref<64x200xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = vector.load %a[%c0, %c0] : memref<64x200xf32>, vector<200xf32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%total = %first) -> (vector<200xf32>) {
      %next = arith.addf %total, %first : vector<200xf32>
      scf.yield %next : vector<200xf32>
    }
    vector.store %sum, %a[%c0, %c0] : memref<64x200xf32>, vector<200xf32>
    gpu.return
  }
}

// -----

// Buffers with a static layout end at their last element.
// CHECK: [Analysis] {{.*}} Function=layouts | Remark="kernel uses 2688 of 232448 B of shared memory (1216 B in memref<4x64xf32, strided<[80, 1]>, 3>, 256 B in memref<64xf32, strided<[-1], offset: 63>, 3>, 192 B in memref<{{.*}}>, 1024 B in memref<8x16xf32, strided<[1, 16], offset: 8>, 3>); estimated register pressure: 0 of 255 per thread"
gpu.module @layouts attributes {smalti.target = "sm_90a"} {
  gpu.func @layouts() kernel {
    %padded = memref.alloc() : memref<4x64xf32, strided<[80, 1]>, 3>
    %reversed = memref.alloc() : memref<64xf32, strided<[-1], offset: 63>, 3>
    %tiled = memref.alloc() : memref<10x4xf32, affine_map<(i, j) -> (i floordiv 4, j, i mod 4)>, 3>
    %columns = memref.alloc() : memref<8x16xf32, strided<[1, 16], offset: 8>, 3>
    gpu.return
  }
}

// -----

// A remark names each buffer whose size cannot be determined.
// CHECK: [Analysis] {{.*}} Function=unknown | Remark="kernel uses 256 of 232448 B of shared memory (256 B in memref<64xf32, 3>) and 6 buffers of unknown size; estimated register pressure
// CHECK: [Missed] {{.*}} Function=unknown | Remark="shared-memory buffer not counted: the size of memref<?xf32, 3> cannot be determined statically; use a static shape"
// CHECK: [Missed] {{.*}} Function=unknown | Remark="shared-memory buffer not counted: the size of memref<64xf32, strided<[?]>, 3> cannot be determined statically; use a static shape"
// CHECK: [Missed] {{.*}} Function=unknown | Remark="shared-memory buffer not counted: the size of memref<64xf32, strided<[-1]>, 3> cannot be determined statically; use a static shape"
// CHECK: [Missed] {{.*}} Function=unknown | Remark="shared-memory buffer not counted: the size of memref<64xf32, affine_map<(d0)[s0] -> (d0 * s0)>, 3> cannot be determined statically; use a static shape"
// CHECK: [Missed] {{.*}} Function=unknown | Remark="shared-memory buffer not counted: the size of memref<4294967296x4294967296xf32, 3> cannot be determined statically; use a static shape"
// CHECK: [Missed] {{.*}} Function=unknown | Remark="shared-memory buffer not counted: the size of memref<4294967296xf32, strided<[4294967296]>, 3> cannot be determined statically; use a static shape"
gpu.module @unknown attributes {smalti.target = "sm_90a"} {
  gpu.func @unknown(%n: index) kernel {
    %dynamic = memref.alloc(%n) : memref<?xf32, 3>
    %stride = memref.alloc()[%n] : memref<64xf32, strided<[?]>, 3>
    %ahead = memref.alloc() : memref<64xf32, strided<[-1]>, 3>
    %symbol = memref.alloc()[%n] : memref<64xf32, affine_map<(i)[s] -> (i * s)>, 3>
    %large = memref.alloc() : memref<4294967296x4294967296xf32, 3>
    %apart = memref.alloc() : memref<4294967296xf32, strided<[4294967296]>, 3>
    %known = memref.alloc() : memref<64xf32, 3>
    gpu.return
  }
}

// -----

// CHECK: [Missed] {{.*}} Function=unknown_columns | Remark="tensor memory not counted: the number of columns is not a constant; use a constant"
gpu.module @unknown_columns attributes {smalti.target = "sm_100a"} {
  gpu.func @unknown_columns(%at: !llvm.ptr<3>, %n: i32) kernel {
    nvvm.tcgen05.alloc %at, %n : !llvm.ptr<3>, i32
    gpu.return
  }
}
