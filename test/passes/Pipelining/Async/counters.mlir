// Copies with AMD's wait counters. A wait leaves those in flight that surely follow the copies that it waits for, in
// the kernel and in the epilogue.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=2},canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3},canonicalize,cse))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=4},canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,FOUR
//
// A barrier that becomes a wait carries its part of a schedule.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3}))' -o %t.direct
// RUN: smalti-opt %s -o %t.read \
// RUN:   --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3 emit-schedule=true},smalti-pipeline-loops{use-schedule=true}))'
// RUN: diff %t.direct %t.read

#shared = #gpu.address_space<workgroup>

// No wait of its own: the barrier completes the copies, and becomes a wait.
// REMARK: Function=barrier_waits | Remark="loop pipelined: 3 stages, async mode, 2 copies prefetched; 1 shared buffer, 4096 B; 1 barrier per iteration; trip count 64"
// CHECK-LABEL: func.func @barrier_waits(
// TWO-COUNT-2:   amdgpu.gather_to_lds
// THREE-COUNT-4: amdgpu.gather_to_lds
// FOUR-COUNT-6:  amdgpu.gather_to_lds
// CHECK-NOT:     amdgpu
// CHECK:         scf.for
// With two stages the next copies come first, so that something is in flight while the wave waits.
// THREE-NEXT:      amdgpu.memory_counter_wait load(2)
// FOUR-NEXT:       amdgpu.memory_counter_wait load(4)
// CHECK:           amdgpu.gather_to_lds
// CHECK-NEXT:      amdgpu.gather_to_lds
// TWO-NEXT:        amdgpu.memory_counter_wait load(2)
// CHECK:           scf.yield
// FOUR:          amdgpu.memory_counter_wait load(4)
// THREE:         amdgpu.memory_counter_wait load(2)
// FOUR:          amdgpu.memory_counter_wait load(2)
// CHECK:         amdgpu.memory_counter_wait load(0)
// CHECK:         gpu.barrier
// CHECK:         memref.load
// CHECK-NOT:     amdgpu
// CHECK:         return
func.func @barrier_waits(%a: memref<64x256xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %shared = memref.alloc() : memref<4x256xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1]
      : memref<4x256xf32, #shared> to memref<256xf32, strided<[1], offset: ?>, #shared>
    amdgpu.gather_to_lds %a[%i, %thread], %view[%c0]
      : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
    amdgpu.gather_to_lds %a[%i, %thread], %view[%c128]
      : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
    gpu.barrier
    %value = memref.load %view[%thread] : memref<256xf32, strided<[1], offset: ?>, #shared>
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// Two waits, each for the copy that its reader needs. The second wait is after the next copies, and leaves them and the
// iterations between in flight. s_waitcnt has vmcnt in bits 0 to 3.
// REMARK: Function=two_waits | Remark="loop pipelined: 3 stages, async mode, 2 copies prefetched; 2 shared buffers, 8192 B; 2 barriers per iteration; run-time guard on the trip count"
// CHECK-LABEL: func.func @two_waits(
// CHECK:         scf.if
// CHECK:           scf.for
// THREE-NEXT:        amdgpu.memory_counter_wait load(3)
// FOUR-NEXT:         amdgpu.memory_counter_wait load(5)
// CHECK-COUNT-2:     amdgpu.gather_to_lds
// TWO-NEXT:          amdgpu.memory_counter_wait load(3)
// CHECK:             memref.load
// TWO:               rocdl.s.waitcnt 3954
// THREE:             rocdl.s.waitcnt 3956
// FOUR:              rocdl.s.waitcnt 3958
// CHECK:             memref.load
// CHECK:             scf.yield
// FOUR:            amdgpu.memory_counter_wait load(5)
// FOUR:            rocdl.s.waitcnt 3956
// FOUR:            amdgpu.memory_counter_wait load(3)
// FOUR:            rocdl.s.waitcnt 3954
// THREE:           amdgpu.memory_counter_wait load(3)
// THREE:           rocdl.s.waitcnt 3954
// CHECK:           amdgpu.memory_counter_wait load(1)
// CHECK:           memref.load
// CHECK:           rocdl.s.waitcnt 3952
// CHECK:           memref.load
// CHECK:         } else {
// CHECK:           scf.for
// CHECK:             amdgpu.memory_counter_wait load(1)
// CHECK:             rocdl.s.waitcnt 3952
func.func @two_waits(%a: memref<64x256xf32>, %n: index, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x_shared = memref.alloc() : memref<4x256xf32, #shared>
  %y_shared = memref.alloc() : memref<4x256xf32, #shared>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %x = memref.subview %x_shared[%slot, 0] [1, 256] [1, 1]
      : memref<4x256xf32, #shared> to memref<256xf32, strided<[1], offset: ?>, #shared>
    %y = memref.subview %y_shared[%slot, 0] [1, 256] [1, 1]
      : memref<4x256xf32, #shared> to memref<256xf32, strided<[1], offset: ?>, #shared>
    amdgpu.gather_to_lds %a[%i, %thread], %x[%c0]
      : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
    amdgpu.gather_to_lds %a[%i, %thread], %y[%c0]
      : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
    amdgpu.memory_counter_wait load(1)
    amdgpu.lds_barrier
    %x_value = memref.load %x[%thread] : memref<256xf32, strided<[1], offset: ?>, #shared>
    %half = arith.addf %acc, %x_value : f32
    rocdl.s.waitcnt 3952
    amdgpu.lds_barrier
    %y_value = memref.load %y[%thread] : memref<256xf32, strided<[1], offset: ?>, #shared>
    %next = arith.addf %half, %y_value : f32
    amdgpu.lds_barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// A tensor copy is counted separately by its own counter.
// REMARK: Function=tensor_copies | Remark="loop pipelined: 3 stages, async mode, 2 copies prefetched; 2 shared buffers, 65536 B; 1 barrier per iteration; trip count 10"
// CHECK-LABEL: func.func @tensor_copies(
// TWO-COUNT-2:   amdgpu.tensor_load_to_lds
// THREE-COUNT-4: amdgpu.tensor_load_to_lds
// FOUR-COUNT-6:  amdgpu.tensor_load_to_lds
// CHECK-NOT:     tensor_load_to_lds
// CHECK:         scf.for
// THREE-NEXT:      amdgpu.memory_counter_wait tensor(2)
// FOUR-NEXT:       amdgpu.memory_counter_wait tensor(4)
// CHECK-COUNT-2:   amdgpu.tensor_load_to_lds
// TWO-NEXT:        amdgpu.memory_counter_wait tensor(2)
// CHECK:           scf.yield
// FOUR:          amdgpu.memory_counter_wait tensor(4)
// THREE:         amdgpu.memory_counter_wait tensor(2)
// FOUR:          amdgpu.memory_counter_wait tensor(2)
// CHECK:         amdgpu.memory_counter_wait tensor(0)
func.func @tensor_copies(%a: memref<640x64xf16>, %b: memref<640x64xf16>, %thread: index, %init: f16) -> f16 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c640 = arith.constant 640 : index
  %a_shared = memref.alloc() : memref<4x64x64xf16, #shared>
  %b_shared = memref.alloc() : memref<4x64x64xf16, #shared>
  %sum = scf.for %i = %c0 to %c640 step %c64 iter_args(%acc = %init) -> f16 {
    %number = arith.divui %i, %c64 : index
    %slot = arith.remui %number, %c4 : index
    %a_view = memref.subview %a_shared[%slot, 0, 0] [1, 64, 64] [1, 1, 1]
      : memref<4x64x64xf16, #shared> to memref<64x64xf16, strided<[64, 1], offset: ?>, #shared>
    %b_view = memref.subview %b_shared[%slot, 0, 0] [1, 64, 64] [1, 1, 1]
      : memref<4x64x64xf16, #shared> to memref<64x64xf16, strided<[64, 1], offset: ?>, #shared>
    %a_base = amdgpu.make_dma_base %a[%i, %c0], %a_view[%c0, %c0]
      : memref<640x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #shared> -> !amdgpu.tdm_base<f16>
    %b_base = amdgpu.make_dma_base %b[%i, %c0], %b_view[%c0, %c0]
      : memref<640x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #shared> -> !amdgpu.tdm_base<f16>
    %a_descriptor = amdgpu.make_dma_descriptor %a_base globalSize [640, 64] globalStride [64, 1] sharedSize [64, 64]
      : !amdgpu.tdm_base<f16> -> !amdgpu.tdm_descriptor
    %b_descriptor = amdgpu.make_dma_descriptor %b_base globalSize [640, 64] globalStride [64, 1] sharedSize [64, 64]
      : !amdgpu.tdm_base<f16> -> !amdgpu.tdm_descriptor
    amdgpu.tensor_load_to_lds %a_descriptor : !amdgpu.tdm_descriptor
    amdgpu.tensor_load_to_lds %b_descriptor : !amdgpu.tdm_descriptor
    amdgpu.memory_counter_wait tensor(0)
    amdgpu.lds_barrier
    %x = memref.load %a_view[%thread, %c0] : memref<64x64xf16, strided<[64, 1], offset: ?>, #shared>
    %y = memref.load %b_view[%c0, %thread] : memref<64x64xf16, strided<[64, 1], offset: ?>, #shared>
    %product = arith.mulf %x, %y : f16
    %next = arith.addf %acc, %product : f16
    amdgpu.lds_barrier
    scf.yield %next : f16
  }
  return %sum : f16
}

// One operand by LDS DMA, the other through registers: it is loaded during the computation of the previous iteration,
// and stored after that. A load to a register is not counted: later passes may remove it.
// REMARK: Function=through_registers | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 2 shared buffers, 5120 B; 2 barriers per iteration; trip count 64"
// CHECK-LABEL: func.func @through_registers(
// CHECK:         scf.for
// THREE-NEXT:      amdgpu.memory_counter_wait load(1)
// FOUR-NEXT:       amdgpu.memory_counter_wait load(2)
// CHECK:           amdgpu.gather_to_lds
// TWO-NEXT:        amdgpu.memory_counter_wait load(1)
// CHECK:           %[[READ:.*]] = memref.load %arg1
// CHECK:           arith.mulf
// CHECK:           gpu.barrier
// CHECK-NEXT:      memref.store %[[READ]]
// CHECK:           scf.yield
func.func @through_registers(%a: memref<64x256xf32>, %b: memref<64x256xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %a_shared = memref.alloc() : memref<4x256xf32, #shared>
  %b_shared = memref.alloc() : memref<256xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %view = memref.subview %a_shared[%slot, 0] [1, 256] [1, 1]
      : memref<4x256xf32, #shared> to memref<256xf32, strided<[1], offset: ?>, #shared>
    amdgpu.gather_to_lds %a[%i, %thread], %view[%c0]
      : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
    %read = memref.load %b[%i, %thread] : memref<64x256xf32>
    memref.store %read, %b_shared[%thread] : memref<256xf32, #shared>
    gpu.barrier
    %x = memref.load %view[%thread] : memref<256xf32, strided<[1], offset: ?>, #shared>
    %y = memref.load %b_shared[%c1] : memref<256xf32, #shared>
    %product = arith.mulf %x, %y : f32
    %next = arith.addf %acc, %product : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// The copies of other waves: the condition is the same in every iteration, so a wave starts all of them or none.
// CHECK-LABEL: func.func @some_waves(
// CHECK:         scf.for
// THREE-NEXT:      amdgpu.memory_counter_wait load(2)
// FOUR-NEXT:       amdgpu.memory_counter_wait load(4)
// CHECK:           scf.if
// CHECK-COUNT-2:   amdgpu.gather_to_lds
// TWO:             amdgpu.memory_counter_wait load(2)
func.func @some_waves(%a: memref<64x256xf32>, %thread: index, %is_first: i1, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %shared = memref.alloc() : memref<4x256xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1]
      : memref<4x256xf32, #shared> to memref<256xf32, strided<[1], offset: ?>, #shared>
    scf.if %is_first {
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c0]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c128]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
    }
    gpu.barrier
    %value = memref.load %view[%thread] : memref<256xf32, strided<[1], offset: ?>, #shared>
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// The condition changes: only the other copy surely follows.
// CHECK-LABEL: func.func @some_iterations(
// CHECK:         scf.for
// THREE-NEXT:      amdgpu.memory_counter_wait load(1)
// FOUR-NEXT:       amdgpu.memory_counter_wait load(2)
// CHECK:           amdgpu.gather_to_lds
// CHECK:           scf.if
// CHECK-NEXT:        amdgpu.gather_to_lds
// TWO:             amdgpu.memory_counter_wait load(1)
func.func @some_iterations(%a: memref<64x256xf32>, %thread: index, %rows: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %shared = memref.alloc() : memref<4x256xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1]
      : memref<4x256xf32, #shared> to memref<256xf32, strided<[1], offset: ?>, #shared>
    amdgpu.gather_to_lds %a[%i, %thread], %view[%c0]
      : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
    %is_inside = arith.cmpi ult, %i, %rows : index
    scf.if %is_inside {
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c128]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
    }
    gpu.barrier
    %value = memref.load %view[%thread] : memref<256xf32, strided<[1], offset: ?>, #shared>
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// A loop of copies is scheduled as a whole. Its trip count is counted.
// CHECK-LABEL: func.func @inner_loop(
// CHECK:         scf.for
// CHECK:         scf.for
// TWO:             amdgpu.memory_counter_wait load(3)
// THREE:           amdgpu.memory_counter_wait load(3)
// FOUR:            amdgpu.memory_counter_wait load(6)
// CHECK:           gpu.barrier
func.func @inner_loop(%a: memref<64x256xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c192 = arith.constant 192 : index
  %shared = memref.alloc() : memref<4x256xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1]
      : memref<4x256xf32, #shared> to memref<256xf32, strided<[1], offset: ?>, #shared>
    scf.for %j = %c0 to %c192 step %c64 {
      amdgpu.gather_to_lds %a[%i, %thread], %view[%j]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
    }
    amdgpu.memory_counter_wait load(0)
    gpu.barrier
    %value = memref.load %view[%thread] : memref<256xf32, strided<[1], offset: ?>, #shared>
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// Conditional copies cannot be counted: with two stages the wait, for all, stays before the next ones.
// CHECK-LABEL: func.func @none_for_certain(
// CHECK:         scf.for
// CHECK-NEXT:      amdgpu.memory_counter_wait load(0)
// CHECK:           scf.if
// CHECK-NEXT:        amdgpu.gather_to_lds
// CHECK:           memref.load
func.func @none_for_certain(%a: memref<64x256xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<4x256xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1]
      : memref<4x256xf32, #shared> to memref<256xf32, strided<[1], offset: ?>, #shared>
    %is_early = arith.cmpi ult, %i, %c7 : index
    scf.if %is_early {
      amdgpu.gather_to_lds %a[%i, %thread], %view[%c0]
        : f32, memref<64x256xf32>, memref<256xf32, strided<[1], offset: ?>, #shared>
    }
    gpu.barrier
    %value = memref.load %view[%thread] : memref<256xf32, strided<[1], offset: ?>, #shared>
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// The address of a slot and an offset of known range: the copy stays in the slot of its iteration.
// REMARK: Function=addresses | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 1024 B; 1 barrier per iteration; trip count 64"
// CHECK-LABEL: func.func @addresses(
// CHECK:         scf.for
// THREE-NEXT:      rocdl.s.wait.asynccnt 1
// FOUR-NEXT:       rocdl.s.wait.asynccnt 2
// CHECK:           rocdl.global.load.async.to.lds.b32
// TWO-NEXT:        rocdl.s.wait.asynccnt 1
// CHECK:           memref.load
// CHECK:           scf.yield
func.func @addresses(%a: !llvm.ptr<1>, %init: f32) -> f32 attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %thread = gpu.thread_id x
  %shared = memref.alloc() : memref<4x64xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %shared : memref<4x64xf32, #shared> -> index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %view = memref.subview %shared[%slot, 0] [1, 64] [1, 1]
      : memref<4x64xf32, #shared> to memref<64xf32, strided<[1], offset: ?>, #shared>
    %row = arith.muli %slot, %c64 : index
    %element = arith.addi %row, %thread : index
    %offset = arith.muli %element, %c4 : index
    %address = arith.addi %offset, %base : index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    rocdl.global.load.async.to.lds.b32 %a, %pointer, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>
    rocdl.s.wait.asynccnt 0
    gpu.barrier
    %value = memref.load %view[%c1] : memref<64xf32, strided<[1], offset: ?>, #shared>
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}
