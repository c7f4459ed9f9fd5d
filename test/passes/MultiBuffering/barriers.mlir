// Barrier objects that are multi-buffered together with the buffers whose copies complete on them.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=3}))' \
// RUN:   --remarks-filter=smalti-multi-buffer 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=3},smalti-pipeline-loops{stages=3}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIPELINED
//
// 4 slots of 64 KiB fit, 3 with barriers do.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=auto target=sm_90a}))' \
// RUN:   --remarks-filter=smalti-multi-buffer -o /dev/null 2>&1 | FileCheck %s --check-prefix=AUTO

#shared = #gpu.address_space<workgroup>
!map = !nvgpu.tensormap.descriptor<tensor = memref<64xf32, #shared>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!one = !nvgpu.mbarrier.group<memorySpace = #shared>
!three = !nvgpu.mbarrier.group<memorySpace = #shared, num_barriers = 3>
!tile = memref<64xf32, #shared>

// The parity comes from the slot's turn, and no longer from the value that the loop carries.
// REMARK: Function=carried_phase | Remark="mbarrier multi-buffered: 3 slots of 8 B, 24 B in total"
// REMARK: Function=carried_phase | Remark="buffer multi-buffered: 3 slots of 256 B, 768 B in total"
// PIPELINED: Function=carried_phase | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 768 B; 1 barrier per iteration; run-time guard on the trip count"
// AUTO: Function=carried_phase | Remark="mbarrier multi-buffered: 16 slots of 8 B, 128 B in total"
// AUTO: Function=carried_phase | Remark="buffer multi-buffered: 16 slots of 256 B, 4096 B in total; no more slots: 16 slots are the maximum of depth=auto"
// CHECK-LABEL: func.func @carried_phase(
// CHECK:         %[[BARS:.*]] = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
// CHECK:         nvgpu.mbarrier.init %[[BARS]][%c0], %c1, predicate = %[[FIRST:[^ ]*]]
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         nvgpu.mbarrier.init %[[BARS]][%[[ONE]]], %c1, predicate = %[[FIRST]]
// CHECK:         %[[TWO:.*]] = arith.constant 2 : index
// CHECK:         nvgpu.mbarrier.init %[[BARS]][%[[TWO]]], %c1, predicate = %[[FIRST]]
// CHECK:         gpu.barrier
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           memref.subview
// CHECK:           %[[SLOT:.*]] = arith.remui %[[I]], %{{.*}} : index
// CHECK:           %[[TURN:.*]] = arith.divui %[[I]], %{{.*}} : index
// CHECK:           %[[BIT:.*]] = arith.remui %[[TURN]], %{{.*}} : index
// CHECK:           %[[PARITY:.*]] = arith.cmpi eq, %[[BIT]], %{{.*}} : index
// CHECK:           nvgpu.mbarrier.arrive.expect_tx %[[BARS]][%[[SLOT]]], %{{[^ ]*}}, predicate = %[[FIRST]]
// CHECK:           nvgpu.tma.async.load %{{.*}}, %[[BARS]][%[[SLOT]]] to %{{.*}}, predicate = %[[FIRST]]
// CHECK:           nvgpu.mbarrier.try_wait.parity %[[BARS]][%[[SLOT]]], %[[PARITY]],
func.func @carried_phase(%map: !map, %out: memref<64xf32> {llvm.noalias}, %n: index)
    attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !one
  nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is_first : !one
  gpu.barrier
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%i], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// Two barriers of a group of three; the other one stays outside of the slots. The bounds are dynamic, all threads
// arrive on one of the two, and its count is an argument of the launch.
// REMARK: Function=group | Remark="mbarrier multi-buffered: 3 slots of 24 B, 72 B in total"
// REMARK: Function=group | Remark="buffer multi-buffered: 3 slots of 256 B, 768 B in total"
// REMARK: Function=group | Remark="buffer multi-buffered: 3 slots of 256 B, 768 B in total"
// PIPELINED: Function=group | Remark="loop pipelined: 3 stages, async mode, 2 copies prefetched; 2 shared buffers, 1536 B; 1 barrier per iteration; run-time guard on the trip count"
// CHECK-LABEL: func.func @group(
// CHECK-SAME:      %[[LOWER:[^ ]*]]: index, %{{[^ ]*}}: index, %[[STEP:[^ ]*]]: index
// CHECK:         %[[BARS:.*]] = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 9>
// CHECK-COUNT-7: nvgpu.mbarrier.init %[[BARS]]
// CHECK-NOT:     nvgpu.mbarrier.init
// CHECK:         nvgpu.mbarrier.arrive.expect_tx %[[BARS]][%c0]
// CHECK:         nvgpu.mbarrier.try_wait.parity %[[BARS]][%c0], %false
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK-COUNT-2:   memref.subview
// CHECK:           %[[DISTANCE:.*]] = arith.subi %[[I]], %[[LOWER]] : index
// CHECK:           %[[NUMBER:.*]] = arith.divui %[[DISTANCE]], %[[STEP]] : index
// CHECK:           %[[SLOT:.*]] = arith.remui %[[NUMBER]], %{{.*}} : index
// CHECK:           %[[FIRST:.*]] = arith.muli %[[SLOT]], %{{.*}} : index
// CHECK:           nvgpu.mbarrier.arrive.expect_tx %[[BARS]][%[[A:[^ ]*]]],
// CHECK:           nvgpu.tma.async.load %{{.*}}, %[[BARS]][%[[A]]] to
// CHECK:           nvgpu.mbarrier.arrive.expect_tx %[[BARS]][%[[B:[^ ]*]]],
// CHECK:           nvgpu.tma.async.load %{{.*}}, %[[BARS]][%[[B]]] to
// CHECK:           nvgpu.mbarrier.try_wait.parity %[[BARS]][%[[A]]],
// CHECK:           nvgpu.mbarrier.try_wait.parity %[[BARS]][%[[B]]],
func.func @group(%map: !map, %out: memref<64xf32> {llvm.noalias}, %lower: index, %upper: index, %step: index)
    attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %false = arith.constant false
  %thread = gpu.thread_id x
  %threads = gpu.block_dim x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %bytes = arith.select %is_first, %c256, %c0 : index
  %once = memref.alloc() : !tile
  %a = memref.alloc() : !tile
  %b = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !three
  scf.if %is_first {
    nvgpu.mbarrier.init %bars[%c0], %c1 : !three
    nvgpu.mbarrier.init %bars[%c1], %c1 : !three
    nvgpu.mbarrier.init %bars[%c2], %threads : !three
  }
  gpu.barrier
  nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !three
  nvgpu.tma.async.load %map[%c0], %bars[%c0] to %once, predicate = %is_first : !map, !three -> !tile
  nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !three
  %bias = memref.load %once[%thread] : !tile
  scf.for %i = %lower to %upper step %step {
    scf.if %is_first {
      nvgpu.mbarrier.arrive.expect_tx %bars[%c1], %c256 : !three
      nvgpu.tma.async.load %map[%i], %bars[%c1] to %a : !map, !three -> !tile
    }
    nvgpu.mbarrier.arrive.expect_tx %bars[%c2], %bytes : !three
    nvgpu.tma.async.load %map[%c0], %bars[%c2] to %b, predicate = %is_first : !map, !three -> !tile
    %distance = arith.subi %i, %lower : index
    %number = arith.divui %distance, %step : index
    %bit = arith.remui %number, %c2 : index
    %parity = arith.cmpi ne, %bit, %c0 : index
    nvgpu.mbarrier.try_wait.parity %bars[%c1], %parity, %ticks : !three
    nvgpu.mbarrier.try_wait.parity %bars[%c2], %parity, %ticks : !three
    %x = memref.load %a[%thread] : !tile
    %y = memref.load %b[%thread] : !tile
    %sum = arith.addf %x, %y : f32
    %value = arith.addf %sum, %bias : f32
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}

// The loop already selects the barrier by its slot: only the buffer has no slots yet.
// REMARK-NOT: Function=by_hand | Remark="the barrier
// REMARK: Function=by_hand | Remark="buffer multi-buffered: 3 slots of 256 B, 768 B in total"
// PIPELINED: Function=by_hand | Remark="loop pipelined: 3 stages
// CHECK-LABEL: func.func @by_hand(
// CHECK:         nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
// CHECK:         memref.subview
// CHECK:         nvgpu.mbarrier.try_wait.parity %{{.*}}[%{{.*}}], %[[PARITY:[^ ]*]],
func.func @by_hand(%map: !map, %out: memref<64xf32> {llvm.noalias}, %n: index)
    attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !three
  scf.for %i = %c0 to %n step %c1 {
    %slot = arith.remui %i, %c3 : index
    %turn = arith.divui %i, %c3 : index
    %bit = arith.remui %turn, %c2 : index
    %parity = arith.cmpi eq, %bit, %c1 : index
    nvgpu.mbarrier.arrive.expect_tx %bars[%slot], %c256, predicate = %is_first : !three
    nvgpu.tma.async.load %map[%i], %bars[%slot] to %tile, predicate = %is_first : !map, !three -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%slot], %parity, %ticks : !three
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}

// Barriers in memory, of which the loop sees the slot of its iteration.
// REMARK-NOT: Function=block_program | Remark="the barrier
// REMARK: Function=block_program | Remark="buffer multi-buffered: 3 slots of 8192 B, 24576 B in total"
// PIPELINED: Function=block_program | Remark="loop pipelined: 3 stages
// CHECK-LABEL: func.func @block_program(
func.func @block_program(%a: memref<64x1024xf16>, %init: vector<64x64xf16>) -> vector<64x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %row = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %barriers = memref.alloc() : memref<4x!mosaic_gpu.barrier, #shared>
  %shared = memref.alloc() : memref<64x64xf16, #shared>
  %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init) -> vector<64x64xf16> {
    %slot = arith.remui %i, %c4 : index
    %turn = arith.divui %i, %c4 : index
    %bit = arith.remui %turn, %c2 : index
    %parity = arith.cmpi eq, %bit, %c1 : index
    %number = arith.index_cast %i : index to i32
    %column = arith.muli %number, %c64 : i32
    %barrier = memref.subview %barriers[%slot] [1] [1]
      : memref<4x!mosaic_gpu.barrier, #shared> to memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>
    mosaic_gpu.arrive_expect_tx barrier(%barrier : memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>) 8192
    mosaic_gpu.async_load %a[%row, %column] [64, 64] to %shared barrier(%barrier)
      : memref<64x1024xf16>[i32, i32] to memref<64x64xf16, #shared>,
        memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>
    mosaic_gpu.wait barrier(%barrier : memref<!mosaic_gpu.barrier, strided<[], offset: ?>, #shared>) parity(%parity : i1)
    %value = mosaic_gpu.vector_load %shared : memref<64x64xf16, #shared> -> vector<64x64xf16>
    %next = arith.addf %acc, %value : vector<64x64xf16>
    gpu.barrier
    scf.yield %next : vector<64x64xf16>
  }
  return %sum : vector<64x64xf16>
}
