// Copies that complete on barrier objects. Arrivals and copies are prefetched together, and a wait keeps the barrier
// and the parity of its iteration.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=2},canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3},canonicalize,cse))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=4},canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,FOUR

#shared = #gpu.address_space<workgroup>
!descriptor = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf32, #shared>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!barriers = !nvgpu.mbarrier.group<memorySpace = #shared, num_barriers = 4>
!pair = !nvgpu.mbarrier.group<memorySpace = #shared, num_barriers = 8>

// One thread copies; parity and slot come from the induction variable. However many slots there are, a barrier keeps
// that thread from filling one that others still read.
// REMARK: Function=one_thread | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 65536 B; 1 barrier per iteration; run-time guard on the trip count"
// CHECK-LABEL: func.func @one_thread(
// CHECK:         scf.if
// TWO-COUNT-1:     nvgpu.tma.async.load
// THREE-COUNT-2:   nvgpu.tma.async.load
// FOUR-COUNT-3:    nvgpu.tma.async.load
// CHECK-NOT:       nvgpu.tma
// CHECK:           scf.for %[[I:[^ ]*]] =
// CHECK-NEXT:        %[[SLOT:.*]] = arith.remui %[[I]], %c4
// CHECK-NEXT:        %[[TURN:.*]] = arith.divui %[[I]], %c4
// CHECK-NEXT:        %[[BIT:.*]] = arith.remui %[[TURN]], %c2
// CHECK-NEXT:        %[[PARITY:.*]] = arith.cmpi eq, %[[BIT]], %c1
// CHECK-NEXT:        nvgpu.mbarrier.try_wait.parity %{{.*}}[%[[SLOT]]], %[[PARITY]]
// CHECK-NEXT:        %[[AHEAD:.*]] = arith.addi %[[I]],
// CHECK-NEXT:        %[[NEXT:.*]] = arith.remui %[[AHEAD]], %c4
// CHECK:             gpu.barrier
// CHECK:             scf.if
// CHECK-NEXT:          nvgpu.mbarrier.arrive.expect_tx %{{.*}}[%[[NEXT]]]
// CHECK-NEXT:          nvgpu.tma.async.load %{{.*}}[%c0, %[[AHEAD]]], %{{.*}}[%[[NEXT]]]
// CHECK:             memref.load
// CHECK:             scf.yield
// CHECK-NOT:       nvgpu.tma
// FOUR:            nvgpu.mbarrier.try_wait.parity
// THREE:           nvgpu.mbarrier.try_wait.parity
// FOUR:            nvgpu.mbarrier.try_wait.parity
// CHECK:           nvgpu.mbarrier.try_wait.parity
// CHECK:           memref.load
// CHECK:         } else {
func.func @one_thread(%tensor: !descriptor, %thread: index, %n: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %ticks = arith.constant 10000000 : index
  %bytes = arith.constant 16384 : index
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %barriers = nvgpu.mbarrier.create -> !barriers
  nvgpu.mbarrier.init %barriers[%c0], %c1, predicate = %is_first : !barriers
  gpu.barrier
  %shared = memref.alloc() : memref<4x64x64xf32, #shared>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %turn = arith.divui %i, %c4 : index
    %bit = arith.remui %turn, %c2 : index
    %parity = arith.cmpi eq, %bit, %c1 : index
    %view = memref.subview %shared[%slot, 0, 0] [1, 64, 64] [1, 1, 1]
      : memref<4x64x64xf32, #shared> to memref<64x64xf32, strided<[64, 1], offset: ?>, #shared>
    scf.if %is_first {
      nvgpu.mbarrier.arrive.expect_tx %barriers[%slot], %bytes : !barriers
      nvgpu.tma.async.load %tensor[%c0, %i], %barriers[%slot] to %view
        : !descriptor, !barriers -> memref<64x64xf32, strided<[64, 1], offset: ?>, #shared>
    }
    nvgpu.mbarrier.try_wait.parity %barriers[%slot], %parity, %ticks : !barriers
    %value = memref.load %view[%thread, %c1] : memref<64x64xf32, strided<[64, 1], offset: ?>, #shared>
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// A loop-carried phase, and one barrier for each of two operands in one group, each with its wait. A wait for a barrier
// object makes the copies visible to every waiting thread: the only block barrier signals that slots are free.
// REMARK: Function=carried_phase | Remark="loop pipelined: 3 stages, async mode, 2 copies prefetched; 2 shared buffers, 131072 B; 1 barrier per iteration; trip count 8"
// CHECK-LABEL: func.func @carried_phase(
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[PHASE:.*]] = %false)
// CHECK:           nvgpu.mbarrier.try_wait.parity %{{.*}}, %[[PHASE]],
// CHECK:           gpu.barrier
// CHECK-NOT:       gpu.barrier
// CHECK:           memref.load
// CHECK-NOT:       gpu.barrier
// CHECK:           nvgpu.mbarrier.try_wait.parity %{{.*}}, %[[PHASE]],
// CHECK-NOT:       gpu.barrier
// CHECK:           scf.yield
// CHECK-NOT:     gpu.barrier
// CHECK:         nvgpu.mbarrier.try_wait.parity
// CHECK:         return
func.func @carried_phase(%a: !descriptor, %b: !descriptor, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %true = arith.constant true
  %false = arith.constant false
  %ticks = arith.constant 10000000 : index
  %bytes = arith.constant 16384 : index
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %barriers = nvgpu.mbarrier.create -> !pair
  %a_shared = memref.alloc() : memref<4x64x64xf32, #shared>
  %b_shared = memref.alloc() : memref<4x64x64xf32, #shared>
  %sum:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %init, %phase = %false) -> (f32, i1) {
    %slot = arith.remui %i, %c4 : index
    %other = arith.addi %slot, %c4 : index
    %a_view = memref.subview %a_shared[%slot, 0, 0] [1, 64, 64] [1, 1, 1]
      : memref<4x64x64xf32, #shared> to memref<64x64xf32, strided<[64, 1], offset: ?>, #shared>
    %b_view = memref.subview %b_shared[%slot, 0, 0] [1, 64, 64] [1, 1, 1]
      : memref<4x64x64xf32, #shared> to memref<64x64xf32, strided<[64, 1], offset: ?>, #shared>
    nvgpu.mbarrier.arrive.expect_tx %barriers[%slot], %bytes, predicate = %is_first : !pair
    nvgpu.tma.async.load %a[%c0, %i], %barriers[%slot] to %a_view, predicate = %is_first
      : !descriptor, !pair -> memref<64x64xf32, strided<[64, 1], offset: ?>, #shared>
    nvgpu.mbarrier.arrive.expect_tx %barriers[%other], %bytes, predicate = %is_first : !pair
    nvgpu.tma.async.load %b[%i, %c0], %barriers[%other] to %b_view, predicate = %is_first
      : !descriptor, !pair -> memref<64x64xf32, strided<[64, 1], offset: ?>, #shared>
    nvgpu.mbarrier.try_wait.parity %barriers[%slot], %phase, %ticks : !pair
    %x = memref.load %a_view[%thread, %c1] : memref<64x64xf32, strided<[64, 1], offset: ?>, #shared>
    nvgpu.mbarrier.try_wait.parity %barriers[%other], %phase, %ticks : !pair
    %y = memref.load %b_view[%c1, %thread] : memref<64x64xf32, strided<[64, 1], offset: ?>, #shared>
    %product = arith.mulf %x, %y : f32
    %next = arith.addf %acc, %product : f32
    gpu.barrier
    %is_last = arith.cmpi eq, %slot, %c3 : index
    %flipped = arith.xori %phase, %true : i1
    %next_phase = arith.select %is_last, %flipped, %phase : i1
    scf.yield %next, %next_phase : f32, i1
  }
  return %sum#0 : f32
}

// A block-level kernel: barriers are elements of a memref in shared memory.
// REMARK: Function=block_program | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 32768 B; 1 barrier per iteration; trip count 16"
// CHECK-LABEL: func.func @block_program(
// TWO-COUNT-1:   mosaic_gpu.async_load
// THREE-COUNT-2: mosaic_gpu.async_load
// FOUR-COUNT-3:  mosaic_gpu.async_load
// CHECK-NOT:     mosaic_gpu.async_load
// CHECK:         scf.for
// CHECK:           mosaic_gpu.wait
// CHECK:           mosaic_gpu.arrive_expect_tx
// CHECK-NEXT:      mosaic_gpu.async_load
// CHECK:           mosaic_gpu.vector_load
// CHECK:           scf.yield
func.func @block_program(%a: memref<64x1024xf16>, %init: vector<64x64xf16>) -> vector<64x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %row = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %barriers = memref.alloc() : memref<4x!mosaic_gpu.barrier, #shared>
  %shared = memref.alloc() : memref<4x64x64xf16, #shared>
  %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init) -> vector<64x64xf16> {
    %slot = arith.remui %i, %c4 : index
    %turn = arith.divui %i, %c4 : index
    %bit = arith.remui %turn, %c2 : index
    %parity = arith.cmpi eq, %bit, %c1 : index
    %number = arith.index_cast %i : index to i32
    %column = arith.muli %number, %c64 : i32
    %barrier = memref.subview %barriers[%slot] [1] [1]
      : memref<4x!mosaic_gpu.barrier, #shared> to memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>
    %view = memref.subview %shared[%slot, 0, 0] [1, 64, 64] [1, 1, 1]
      : memref<4x64x64xf16, #shared> to memref<64x64xf16, strided<[64, 1], offset: ?>, #shared>
    mosaic_gpu.arrive_expect_tx barrier(%barrier : memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>) 8192
    mosaic_gpu.async_load %a[%row, %column] [64, 64] to %view barrier(%barrier)
      : memref<64x1024xf16>[i32, i32] to memref<64x64xf16, strided<[64, 1], offset: ?>, #shared>,
        memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>
    mosaic_gpu.wait barrier(%barrier : memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>) parity(%parity : i1)
    %value = mosaic_gpu.vector_load %view
      : memref<64x64xf16, strided<[64, 1], offset: ?>, #shared> -> vector<64x64xf16>
    %next = arith.addf %acc, %value : vector<64x64xf16>
    gpu.barrier
    scf.yield %next : vector<64x64xf16>
  }
  return %sum : vector<64x64xf16>
}

// The same in slices of a kernel's shared memory, which have no byte in common.
// REMARK: Function=slices | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 32768 B; 1 barrier per iteration; trip count 16"
// CHECK-LABEL: func.func @slices(
// TWO-COUNT-1:   mosaic_gpu.async_load
// THREE-COUNT-2: mosaic_gpu.async_load
// FOUR-COUNT-3:  mosaic_gpu.async_load
// CHECK-NOT:     mosaic_gpu.async_load
// CHECK:         scf.for
// CHECK:           mosaic_gpu.wait
// CHECK:           mosaic_gpu.arrive_expect_tx
// CHECK-NEXT:      mosaic_gpu.async_load
// CHECK:           mosaic_gpu.vector_load
// CHECK:           scf.yield
func.func @slices(%a: memref<64x1024xf16>, %init: vector<64x64xf16>) -> vector<64x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %row = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %barriers = mosaic_gpu.slice_smem 32768 : memref<4x!mosaic_gpu.barrier, #shared>
  %shared = mosaic_gpu.slice_smem 0 : memref<4x64x64xf16, #shared>
  %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init) -> vector<64x64xf16> {
    %slot = arith.remui %i, %c4 : index
    %turn = arith.divui %i, %c4 : index
    %bit = arith.remui %turn, %c2 : index
    %parity = arith.cmpi eq, %bit, %c1 : index
    %number = arith.index_cast %i : index to i32
    %column = arith.muli %number, %c64 : i32
    %barrier = memref.subview %barriers[%slot] [1] [1]
      : memref<4x!mosaic_gpu.barrier, #shared> to memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>
    %view = memref.subview %shared[%slot, 0, 0] [1, 64, 64] [1, 1, 1]
      : memref<4x64x64xf16, #shared> to memref<64x64xf16, strided<[64, 1], offset: ?>, #shared>
    mosaic_gpu.arrive_expect_tx barrier(%barrier : memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>) 8192
    mosaic_gpu.async_load %a[%row, %column] [64, 64] to %view barrier(%barrier)
      : memref<64x1024xf16>[i32, i32] to memref<64x64xf16, strided<[64, 1], offset: ?>, #shared>,
        memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>
    mosaic_gpu.wait barrier(%barrier : memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>) parity(%parity : i1)
    %value = mosaic_gpu.vector_load %view
      : memref<64x64xf16, strided<[64, 1], offset: ?>, #shared> -> vector<64x64xf16>
    %next = arith.addf %acc, %value : vector<64x64xf16>
    gpu.barrier
    scf.yield %next : vector<64x64xf16>
  }
  return %sum : vector<64x64xf16>
}

// PTX's instructions, with the addresses of slots. A tensor copy stays in its slot: it writes what was announced for it.
// REMARK: Function=addresses | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 2048 B; 1 barrier per iteration; run-time guard on the trip count"
// CHECK-LABEL: func.func @addresses(
// CHECK:         scf.if
// TWO-COUNT-1:     nvvm.cp.async.bulk.tensor
// THREE-COUNT-2:   nvvm.cp.async.bulk.tensor
// FOUR-COUNT-3:    nvvm.cp.async.bulk.tensor
// CHECK-NOT:       nvvm.cp.async.bulk.tensor
// CHECK:           scf.for
// CHECK:             nvvm.mbarrier.try_wait.parity
// CHECK:             gpu.barrier
// CHECK:             nvvm.mbarrier.arrive.expect_tx
// CHECK-NEXT:        nvvm.cp.async.bulk.tensor
// CHECK:             memref.load
// CHECK:             scf.yield
func.func @addresses(%map: !llvm.ptr, %n: index, %init: f32) -> f32 attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c512 = arith.constant 512 : index
  %width = arith.constant 128 : i32
  %bytes = arith.constant 512 : i32
  %ticks = arith.constant 1000 : i32
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tiles = memref.alloc() : memref<4x128xf32, #shared>
  %barriers = memref.alloc() : memref<4xi64, #shared>
  %tiles_begin = memref.extract_aligned_pointer_as_index %tiles : memref<4x128xf32, #shared> -> index
  %barriers_begin = memref.extract_aligned_pointer_as_index %barriers : memref<4xi64, #shared> -> index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %turn = arith.divui %i, %c4 : index
    %bit = arith.remui %turn, %c2 : index
    %parity = arith.index_cast %bit : index to i32
    %number = arith.index_cast %i : index to i32
    %x = arith.muli %number, %width : i32
    %offset = arith.muli %slot, %c512 : index
    %place = arith.addi %tiles_begin, %offset : index
    %place_i64 = arith.index_cast %place : index to i64
    %own = llvm.inttoptr %place_i64 : i64 to !llvm.ptr<3>
    %to = llvm.addrspacecast %own : !llvm.ptr<3> to !llvm.ptr<7>
    %bar_offset = arith.muli %slot, %c8 : index
    %bar_place = arith.addi %barriers_begin, %bar_offset : index
    %bar_i64 = arith.index_cast %bar_place : index to i64
    %bar = llvm.inttoptr %bar_i64 : i64 to !llvm.ptr<3>
    scf.if %is_first {
      nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %bar, box[%x] : !llvm.ptr<7>, !llvm.ptr
    }
    nvvm.mbarrier.try_wait.parity %bar, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %view = memref.subview %tiles[%slot, 0] [1, 128] [1, 1]
      : memref<4x128xf32, #shared> to memref<128xf32, strided<[1], offset: ?>, #shared>
    %value = memref.load %view[%thread] : memref<128xf32, strided<[1], offset: ?>, #shared>
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// As JAX writes it: barriers are memrefs that are made of addresses, counted in 32 bits.
// REMARK: Function=jax_form | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 32768 B; 1 barrier per iteration; trip count 16"
// CHECK-LABEL: func.func @jax_form(
// TWO-COUNT-1:   mosaic_gpu.async_load
// THREE-COUNT-2: mosaic_gpu.async_load
// FOUR-COUNT-3:  mosaic_gpu.async_load
// CHECK-NOT:     mosaic_gpu.async_load
// CHECK:         scf.for
// CHECK:           mosaic_gpu.wait
// CHECK:           mosaic_gpu.arrive_expect_tx
// CHECK-NEXT:      mosaic_gpu.async_load
// CHECK:           mosaic_gpu.vector_load
// CHECK:           scf.yield
!fields = !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
!barrier = memref<!mosaic_gpu.barrier, #shared>
func.func @jax_form(%a: memref<64x1024xf16>, %init: vector<64x64xf16>) -> vector<64x64xf16> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c16 = arith.constant 16 : i32
  %c64 = arith.constant 64 : i32
  %c8_i64 = arith.constant 8 : i64
  %tiles = mosaic_gpu.slice_smem 0 : memref<4x64x64xf16, #shared>
  %barriers = mosaic_gpu.slice_smem 32768 : memref<4x!mosaic_gpu.barrier, #shared>
  %fields = builtin.unrealized_conversion_cast %barriers : memref<4x!mosaic_gpu.barrier, #shared> to !fields
  %begin = llvm.extractvalue %fields[1] : !fields
  %offset = llvm.extractvalue %fields[2] : !fields
  %bytes = llvm.mul %offset, %c8_i64 : i64
  %begin_i64 = llvm.ptrtoint %begin : !llvm.ptr<3> to i64
  %place = llvm.add %begin_i64, %bytes : i64
  %first = llvm.inttoptr %place : i64 to !llvm.ptr<3>
  mosaic_gpu.initialize_barrier %first {arrival_count = 1 : i64, num_barriers = 4 : i32} : !llvm.ptr<3>
  gpu.barrier
  %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init) -> (vector<64x64xf16>) : i32 {
    %slot = arith.remsi %i, %c4 : i32
    %slot_index = arith.index_cast %slot : i32 to index
    %turn = arith.divsi %i, %c4 : i32
    %bit = arith.remsi %turn, %c2 : i32
    %parity = arith.cmpi eq, %bit, %c1 : i32
    %column = arith.muli %i, %c64 : i32
    %address = llvm.getelementptr %first[%slot] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %barrier = builtin.unrealized_conversion_cast %address : !llvm.ptr<3> to !barrier
    %view = memref.subview %tiles[%slot_index, 0, 0] [1, 64, 64] [1, 1, 1]
      : memref<4x64x64xf16, #shared> to memref<64x64xf16, strided<[64, 1], offset: ?>, #shared>
    mosaic_gpu.arrive_expect_tx barrier(%barrier : !barrier) 8192
    mosaic_gpu.async_load %a[%c0, %column] [64, 64] to %view barrier(%barrier)
      : memref<64x1024xf16>[i32, i32] to memref<64x64xf16, strided<[64, 1], offset: ?>, #shared>, !barrier
    mosaic_gpu.wait barrier(%barrier : !barrier) parity(%parity : i1)
    %value = mosaic_gpu.vector_load %view
      : memref<64x64xf16, strided<[64, 1], offset: ?>, #shared> -> vector<64x64xf16>
    %next = arith.addf %acc, %value : vector<64x64xf16>
    gpu.barrier
    scf.yield %next : vector<64x64xf16>
  }
  return %sum : vector<64x64xf16>
}
