// smalti-choose-overlap sets attributes, which later passes apply.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-choose-overlap{target=gfx942})))' \
// RUN:   --remarks-filter=smalti-choose-overlap 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-choose-overlap{target=gfx942 stages=1})))' \
// RUN:   | FileCheck %s --check-prefix=ONE
// An attribute of the kernel overrides the options.
// RUN: sed 's/known_block_size/smalti.stages = 1, known_block_size/' %s \
// RUN:   | smalti-opt --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-choose-overlap{target=gfx942 stages=4})))' | FileCheck %s --check-prefix=ONE
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-choose-overlap{target=gfx942 depth=5})))' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ASKED
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-multi-buffer{target=gfx942},smalti-pipeline-loops{target=gfx942})))' \
// RUN:   | FileCheck %s --check-prefix=DEFAULT
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-choose-overlap{target=sm_90a depth=3},smalti-multi-buffer{target=sm_90a},smalti-pipeline-loops{target=sm_90a})))' \
// RUN:   | FileCheck %s --check-prefix=THREE
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-choose-overlap{target=sm_90a depth=17})))' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RANGE
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-choose-overlap{target=sm_90a stages=4},smalti-pipeline-loops{target=sm_90a})))' \
// RUN:   | FileCheck %s --check-prefix=REQUEST
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-choose-overlap{target=sm_90a specialize=on})))' \
// RUN:   --remarks-filter=smalti-choose-overlap 2>&1 -o /dev/null | FileCheck %s --check-prefix=SPECIALIZE
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-choose-overlap{target=sm_80})))' \
// RUN:   --remarks-filter=smalti-choose-overlap 2>%t.pressure | FileCheck %s --check-prefix=PRESSURE
// RUN: FileCheck %s --check-prefix=SPILLS < %t.pressure

#shared = #gpu.address_space<workgroup>
gpu.module @kernels {
  // CHECK: @sum{{.*}} smalti.slots = 2 : i64, smalti.stages = 2 : i64}
  // REMARK: [Analysis]{{.*}}loops get up to 2 stages, 2 slots per buffer: loads go through registers, so a stage does not need its own slot; 2048 of 65536 B of shared memory
  // ONE: @sum{{.*}} smalti.slots = 1 : i64, smalti.stages = 1 : i64}
  // DEFAULT: @sum
  // DEFAULT: memref.alloc() : memref<2x256xf32
  // One attribute holds the stages of the loop; the request is kept.
  // REQUEST: @sum{{.*}} smalti.pipelined_stages = 4 : i64, smalti.slots = 2 : i64, smalti.stages = 4 : i64}
  // RANGE: error: smalti-choose-overlap: 'depth' must be 'auto' or between 1 and 16, but is 17
  // SPECIALIZE: [Missed]{{.*}}Function=sum{{.*}}warp specialization not applied: the kernel does not contain a 'mosaic_gpu.wgmma' with the attribute 'smalti.synchronous'; set it on the wgmma ops that a wait follows
  // THREE: @sum{{.*}} smalti.pipelined_stages = 2 : i64, smalti.slots = 3 : i64, smalti.stages = 2 : i64}
  // THREE: memref.alloc() : memref<3x256xf32
  gpu.func @sum(%a: memref<64x256xf32> {llvm.noalias}, %b: memref<256xf32> {llvm.noalias}) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c255 = arith.constant 255 : index
    %zero = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %other = arith.subi %c255, %t : index
    %buffer = memref.alloc() : memref<256xf32, #shared>
    %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> f32 {
      %x = memref.load %a[%i, %t] : memref<64x256xf32>
      memref.store %x, %buffer[%t] : memref<256xf32, #shared>
      gpu.barrier
      %y = memref.load %buffer[%other] : memref<256xf32, #shared>
      %next = arith.addf %acc, %y : f32
      gpu.barrier
      scf.yield %next : f32
    }
    memref.store %sum, %b[%t] : memref<256xf32>
    gpu.return
  }

  // REQUEST: @large{{.*}}smalti.pipelined_stages = 1 : i64, {{.*}}smalti.stages = 4 : i64}
  // CHECK: @large{{.*}}smalti.slots = 1 : i64, smalti.stages = 2 : i64}
  // REMARK: [Missed]{{.*}}slots per buffer reduced from 2 to 1: 2 need 131072 B of shared memory, 1 slot needs 65536 B; gfx942 has 65536 B per block
  // ASKED: error: depth=5 needs 327680 B of shared memory; gfx942 has 65536 B per block; depth=1 needs 65536 B
  gpu.func @large(%a: memref<16384xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %buffer = memref.alloc() : memref<16384xf32, #shared>
    scf.for %i = %c0 to %c64 step %c1 {
      memref.copy %a, %buffer : memref<16384xf32> to memref<16384xf32, #shared>
    }
    gpu.return
  }

  // A kernel without loops gets no attributes.
  // CHECK: @plain(%{{.*}}: memref<4xf32>) kernel {
  gpu.func @plain(%a: memref<4xf32>) kernel {
    gpu.return
  }

  // Asynchronous copies get 3 slots, or 2 if the registers of a thread are exceeded.
  // PRESSURE: @narrow{{.*}} smalti.slots = 3 : i64, smalti.stages = 3 : i64}
  // PRESSURE: @wide{{.*}} smalti.slots = 2 : i64, smalti.stages = 2 : i64}
  // SPILLS: Function=wide | Remark="slots per buffer reduced from 3 to 2: each slot needs registers for its addresses, and the estimated register pressure of 256 per thread exceeds the 255 registers of sm_80"
  gpu.func @narrow(%a: memref<128x512xf32> {llvm.noalias}, %b: memref<128x8xf32> {llvm.noalias}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c512 = arith.constant 512 : index
    %zero = arith.constant dense<0.0> : vector<128x8xf32>
    %buffer = memref.alloc() : memref<128x8xf32, #shared>
    %sum = scf.for %i = %c0 to %c512 step %c8 iter_args(%acc = %zero) -> vector<128x8xf32> {
      mosaic_gpu.async_copy %a[%c0, %i] to %buffer : memref<128x512xf32> to memref<128x8xf32, #shared>
      mosaic_gpu.async_commit_group
      mosaic_gpu.async_wait_group 0
      gpu.barrier
      %x = mosaic_gpu.vector_load %buffer : memref<128x8xf32, #shared> -> vector<128x8xf32>
      %next = arith.addf %acc, %x : vector<128x8xf32>
      gpu.barrier
      scf.yield %next : vector<128x8xf32>
    }
    vector.transfer_write %sum, %b[%c0, %c0] {in_bounds = [true, true]} : vector<128x8xf32>, memref<128x8xf32>
    gpu.return
  }

  gpu.func @wide(%a: memref<512x512xf32> {llvm.noalias}, %b: memref<512x8xf32> {llvm.noalias}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c512 = arith.constant 512 : index
    %zero = arith.constant dense<0.0> : vector<512x8xf32>
    %buffer = memref.alloc() : memref<512x8xf32, #shared>
    %sum = scf.for %i = %c0 to %c512 step %c8 iter_args(%acc = %zero) -> vector<512x8xf32> {
      mosaic_gpu.async_copy %a[%c0, %i] to %buffer : memref<512x512xf32> to memref<512x8xf32, #shared>
      mosaic_gpu.async_commit_group
      mosaic_gpu.async_wait_group 0
      gpu.barrier
      %x = mosaic_gpu.vector_load %buffer : memref<512x8xf32, #shared> -> vector<512x8xf32>
      %next = arith.addf %acc, %x : vector<512x8xf32>
      gpu.barrier
      scf.yield %next : vector<512x8xf32>
    }
    vector.transfer_write %sum, %b[%c0, %c0] {in_bounds = [true, true]} : vector<512x8xf32>, memref<512x8xf32>
    gpu.return
  }
}
