// Multi-buffered barriers that are elements of a buffer, together with the tiles that are copied on them.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=3 target=sm_90a},canonicalize,cse))' \
// RUN:   --remarks-filter=smalti-multi-buffer 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: smalti-opt %s -o /dev/null --remarks-filter=smalti-pipeline-loops 2>&1 \
// RUN:   --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=3 target=sm_90a},smalti-pipeline-loops{stages=3}))' \
// RUN:   | FileCheck %s --check-prefix=PIPELINED

#shared = #gpu.address_space<workgroup>

// A block-level kernel: the phase of slot i mod 3 is i / 3.
// REMARK: Function=block_program | Remark="mbarrier multi-buffered: 3 slots of 8 B, 24 B in total"
// REMARK: Function=block_program | Remark="buffer multi-buffered: 3 slots of 8192 B, 24576 B in total"
// PIPELINED: Function=block_program | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 24576 B; 1 barrier per iteration; trip count 16"
// CHECK-LABEL: func.func @block_program(
// CHECK:         %[[BARRIERS:.*]] = memref.alloc() : memref<3x!mosaic_gpu.barrier
// CHECK:         %[[P0:.*]] = llvm.inttoptr
// CHECK-NEXT:    mosaic_gpu.initialize_barrier %[[P0]]
// CHECK-NEXT:    %[[P1:.*]] = llvm.getelementptr %[[P0]][8]
// CHECK-NEXT:    mosaic_gpu.initialize_barrier %[[P1]]
// CHECK-NEXT:    %[[P2:.*]] = llvm.getelementptr %[[P0]][16]
// CHECK-NEXT:    mosaic_gpu.initialize_barrier %[[P2]]
// CHECK-NEXT:    gpu.barrier
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           %[[SLOT:.*]] = arith.remui %[[I]], %c3
// CHECK:           %[[TURN:.*]] = arith.divui %[[I]], %c3
// CHECK-NEXT:      %[[BIT:.*]] = arith.remui %[[TURN]], %c2
// CHECK-NEXT:      %[[PARITY:.*]] = arith.cmpi eq, %[[BIT]], %c1
// CHECK-NEXT:      %[[BARRIER:.*]] = memref.subview %[[BARRIERS]][%[[SLOT]]] [1] [1]
// CHECK:           mosaic_gpu.arrive_expect_tx barrier(%[[BARRIER]]
// CHECK-NEXT:      mosaic_gpu.async_load {{.*}} barrier(%[[BARRIER]])
// CHECK:           mosaic_gpu.wait barrier(%[[BARRIER]] {{.*}} parity(%[[PARITY]]
func.func @block_program(%a: memref<64x1024xf16>, %init: vector<64x64xf16>) -> vector<64x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %row = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %true = arith.constant true
  %false = arith.constant false
  %barrier = memref.alloc() : memref<!mosaic_gpu.barrier, #shared>
  %index = memref.extract_aligned_pointer_as_index %barrier : memref<!mosaic_gpu.barrier, #shared> -> index
  %number64 = arith.index_cast %index : index to i64
  %pointer = llvm.inttoptr %number64 : i64 to !llvm.ptr<3>
  mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
  gpu.barrier
  %shared = memref.alloc() : memref<64x64xf16, #shared>
  %sum:2 = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init, %parity = %false) -> (vector<64x64xf16>, i1) {
    %number = arith.index_cast %i : index to i32
    %column = arith.muli %number, %c64 : i32
    mosaic_gpu.arrive_expect_tx barrier(%barrier : memref<!mosaic_gpu.barrier, #shared>) 8192
    mosaic_gpu.async_load %a[%row, %column] [64, 64] to %shared barrier(%barrier)
      : memref<64x1024xf16>[i32, i32] to memref<64x64xf16, #shared>, memref<!mosaic_gpu.barrier, #shared>
    mosaic_gpu.wait barrier(%barrier : memref<!mosaic_gpu.barrier, #shared>) parity(%parity : i1)
    %value = mosaic_gpu.vector_load %shared : memref<64x64xf16, #shared> -> vector<64x64xf16>
    %next = arith.addf %acc, %value : vector<64x64xf16>
    gpu.barrier
    %other = arith.xori %parity, %true : i1
    scf.yield %next, %other : vector<64x64xf16>, i1
  }
  return %sum#0 : vector<64x64xf16>
}

// Two barriers of one buffer: both have their slots in it.
// REMARK: Function=two_barriers | Remark="mbarrier multi-buffered: 3 slots of 16 B, 48 B in total"
// REMARK: Function=two_barriers | Remark="buffer multi-buffered: 3 slots of 8192 B, 24576 B in total"
// REMARK: Function=two_barriers | Remark="buffer multi-buffered: 3 slots of 8192 B, 24576 B in total"
// PIPELINED: Function=two_barriers | Remark="loop pipelined: 3 stages, async mode, 2 copies prefetched; 2 shared buffers, 49152 B; 1 barrier per iteration; trip count 16"
// CHECK-LABEL: func.func @two_barriers(
// CHECK:         mosaic_gpu.initialize_barrier %[[P0:.*]] {arrival_count = 1 : i64, num_barriers = 2 : i32}
// CHECK-NEXT:    llvm.getelementptr %[[P0]][16]
// CHECK-NEXT:    mosaic_gpu.initialize_barrier
// CHECK-NEXT:    llvm.getelementptr %[[P0]][32]
// CHECK:         scf.for
// CHECK-DAG:       %[[BOTH:.*]] = memref.subview %{{.*}}[%{{.*}}, 0] [1, 2] [1, 1]
// CHECK-DAG:       %[[SECOND:.*]] = memref.subview %[[BOTH]][1] [1] [1]
// CHECK-DAG:       %[[FIRST:.*]] = memref.subview %[[BOTH]][0] [1] [1]
// CHECK:           mosaic_gpu.arrive_expect_tx barrier(%[[FIRST]]
// CHECK:           mosaic_gpu.arrive_expect_tx barrier(%[[SECOND]]
// CHECK:           mosaic_gpu.wait barrier(%[[FIRST]]
// CHECK:           mosaic_gpu.wait barrier(%[[SECOND]]
func.func @two_barriers(%a: memref<64x1024xf16>, %init: vector<64x64xf16>) -> vector<64x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %row = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %true = arith.constant true
  %false = arith.constant false
  %barriers = memref.alloc() : memref<2x!mosaic_gpu.barrier, #shared>
  %first = memref.subview %barriers[0] [1] [1] : memref<2x!mosaic_gpu.barrier, #shared> to memref<!mosaic_gpu.barrier, strided<[]>, #shared>
  %second = memref.subview %barriers[1] [1] [1] : memref<2x!mosaic_gpu.barrier, #shared> to memref<!mosaic_gpu.barrier, strided<[], offset: 1>, #shared>
  %index = memref.extract_aligned_pointer_as_index %barriers : memref<2x!mosaic_gpu.barrier, #shared> -> index
  %number64 = arith.index_cast %index : index to i64
  %pointer = llvm.inttoptr %number64 : i64 to !llvm.ptr<3>
  mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 2 : i32} : !llvm.ptr<3>
  gpu.barrier
  %x_shared = memref.alloc() : memref<64x64xf16, #shared>
  %y_shared = memref.alloc() : memref<64x64xf16, #shared>
  %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init) -> vector<64x64xf16> {
    %number = arith.index_cast %i : index to i32
    %column = arith.muli %number, %c64 : i32
    %bit = arith.andi %i, %c1 : index
    %parity = arith.cmpi eq, %bit, %c1 : index
    mosaic_gpu.arrive_expect_tx barrier(%first : memref<!mosaic_gpu.barrier, strided<[]>, #shared>) 8192
    mosaic_gpu.async_load %a[%row, %column] [64, 64] to %x_shared barrier(%first)
      : memref<64x1024xf16>[i32, i32] to memref<64x64xf16, #shared>, memref<!mosaic_gpu.barrier, strided<[]>, #shared>
    mosaic_gpu.arrive_expect_tx barrier(%second : memref<!mosaic_gpu.barrier, strided<[], offset: 1>, #shared>) 8192
    mosaic_gpu.async_load %a[%column, %row] [64, 64] to %y_shared barrier(%second)
      : memref<64x1024xf16>[i32, i32] to memref<64x64xf16, #shared>, memref<!mosaic_gpu.barrier, strided<[], offset: 1>, #shared>
    mosaic_gpu.wait barrier(%first : memref<!mosaic_gpu.barrier, strided<[]>, #shared>) parity(%parity : i1)
    %x = mosaic_gpu.vector_load %x_shared : memref<64x64xf16, #shared> -> vector<64x64xf16>
    mosaic_gpu.wait barrier(%second : memref<!mosaic_gpu.barrier, strided<[], offset: 1>, #shared>) parity(%parity : i1)
    %y = mosaic_gpu.vector_load %y_shared : memref<64x64xf16, #shared> -> vector<64x64xf16>
    %product = arith.mulf %x, %y : vector<64x64xf16>
    %next = arith.addf %acc, %product : vector<64x64xf16>
    gpu.barrier
    scf.yield %next : vector<64x64xf16>
  }
  return %sum : vector<64x64xf16>
}

// Instructions of PTX, which take addresses. How much the copy writes is what was announced for it alone.
// REMARK: Function=addresses | Remark="mbarrier multi-buffered: 3 slots of 8 B, 24 B in total"
// REMARK: Function=addresses | Remark="buffer multi-buffered: 3 slots of 512 B, 1536 B in total"
// PIPELINED: Function=addresses | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 1536 B; 1 barrier per iteration; run-time guard on the trip count"
// CHECK-LABEL: func.func @addresses(
// CHECK:         %[[BARRIERS:.*]] = memref.alloc() : memref<3x1xi64
// CHECK:         %[[BASE:.*]] = memref.extract_aligned_pointer_as_index %[[BARRIERS]]
// CHECK:         scf.if
// CHECK-NEXT:      nvvm.mbarrier.init %[[P0:.*]], %c1_i32
// CHECK-NEXT:      %[[P1:.*]] = llvm.getelementptr %[[P0]][8]
// CHECK-NEXT:      nvvm.mbarrier.init %[[P1]], %c1_i32
// CHECK-NEXT:      %[[P2:.*]] = llvm.getelementptr %[[P0]][16]
// CHECK-NEXT:      nvvm.mbarrier.init %[[P2]], %c1_i32
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           %[[OFFSET:.*]] = arith.muli %{{.*}}, %c8
// CHECK-NEXT:      %[[PLACE:.*]] = arith.addi %[[BASE]], %[[OFFSET]]
// CHECK-NEXT:      %[[NUMBER:.*]] = arith.index_cast %[[PLACE]]
// CHECK-NEXT:      %[[BARRIER:.*]] = llvm.inttoptr %[[NUMBER]]
// CHECK:           nvvm.mbarrier.arrive.expect_tx %[[BARRIER]]
// CHECK:           nvvm.mbarrier.try_wait.parity %[[BARRIER]]
func.func @addresses(%map: !llvm.ptr, %out: memref<128xf32> {llvm.noalias}, %n: index) attributes {gpu.known_block_size = array<i32: 128, 1, 1>, gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i32
  %width = arith.constant 128 : i32
  %bytes = arith.constant 512 : i32
  %ticks = arith.constant 1000 : i32
  %t = gpu.thread_id x
  %is_first = arith.cmpi eq, %t, %c0 : index
  %tile = memref.alloc() {alignment = 128 : i64} : memref<128xf32, #shared>
  %bars = memref.alloc() : memref<1xi64, #shared>
  %bar_index = memref.extract_aligned_pointer_as_index %bars : memref<1xi64, #shared> -> index
  %bar_i64 = arith.index_cast %bar_index : index to i64
  %bar = llvm.inttoptr %bar_i64 : i64 to !llvm.ptr<3>
  %tile_index = memref.extract_aligned_pointer_as_index %tile : memref<128xf32, #shared> -> index
  %tile_i64 = arith.index_cast %tile_index : index to i64
  %to = llvm.inttoptr %tile_i64 : i64 to !llvm.ptr<3>
  scf.if %is_first {
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
  }
  gpu.barrier
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%phase = %zero) -> (i32) {
    %number = arith.index_cast %i : index to i32
    %x = arith.muli %number, %width : i32
    scf.if %is_first {
      nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %bar, box[%x] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    }
    nvvm.mbarrier.try_wait.parity %bar, %phase, %ticks : !llvm.ptr<3>, i32, i32
    %v = memref.load %tile[%t] : memref<128xf32, #shared>
    memref.store %v, %out[%t] : memref<128xf32>
    gpu.barrier
    %next = arith.xori %phase, %one : i32
    scf.yield %next : i32
  }
  return
}

// One lane of a warp, whichever it is.
// REMARK: Function=elected | Remark="mbarrier multi-buffered: 3 slots of 8 B, 24 B in total"
// REMARK: Function=elected | Remark="buffer multi-buffered: 3 slots of 512 B, 1536 B in total"
// PIPELINED: Function=elected | Remark="loop pipelined: 3 stages, async mode, 1 copy prefetched; 1 shared buffer, 1536 B; 1 barrier per iteration; run-time guard on the trip count"
// CHECK-LABEL: func.func @elected(
// CHECK:         memref<3x1xi64
func.func @elected(%map: !llvm.ptr, %out: memref<128xf32> {llvm.noalias}, %n: index) attributes {gpu.known_block_size = array<i32: 128, 1, 1>, gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i32
  %width = arith.constant 128 : i32
  %bytes = arith.constant 512 : i32
  %ticks = arith.constant 1000 : i32
  %t = gpu.thread_id x
  %c32 = arith.constant 32 : index
  %is_warp = arith.cmpi ult, %t, %c32 : index
  %elected = nvvm.elect.sync -> i1
  %is_first = arith.andi %is_warp, %elected : i1
  %tile = memref.alloc() {alignment = 128 : i64} : memref<128xf32, #shared>
  %bars = memref.alloc() : memref<1xi64, #shared>
  %bar_index = memref.extract_aligned_pointer_as_index %bars : memref<1xi64, #shared> -> index
  %bar_i64 = arith.index_cast %bar_index : index to i64
  %bar = llvm.inttoptr %bar_i64 : i64 to !llvm.ptr<3>
  %tile_index = memref.extract_aligned_pointer_as_index %tile : memref<128xf32, #shared> -> index
  %tile_i64 = arith.index_cast %tile_index : index to i64
  %to = llvm.inttoptr %tile_i64 : i64 to !llvm.ptr<3>
  scf.if %is_first {
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
  }
  gpu.barrier
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%phase = %zero) -> (i32) {
    %number = arith.index_cast %i : index to i32
    %x = arith.muli %number, %width : i32
    scf.if %is_first {
      nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %bar, box[%x] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    }
    nvvm.mbarrier.try_wait.parity %bar, %phase, %ticks : !llvm.ptr<3>, i32, i32
    %v = memref.load %tile[%t] : memref<128xf32, #shared>
    memref.store %v, %out[%t] : memref<128xf32>
    gpu.barrier
    %next = arith.xori %phase, %one : i32
    scf.yield %next : i32
  }
  return
}

// The second of two barriers, and one lane of each of four warps: each copies all of the tile.
// REMARK: Function=elected_of_each | Remark="mbarrier multi-buffered: 3 slots of 16 B, 48 B in total"
// CHECK-LABEL: func.func @elected_of_each(
// CHECK:         nvvm.mbarrier.init %[[P0:.*]], %c4_i32
// CHECK-NEXT:    llvm.getelementptr %[[P0]][16]
func.func @elected_of_each(%map: !llvm.ptr, %out: memref<128xf32> {llvm.noalias}, %n: index) attributes {gpu.known_block_size = array<i32: 128, 1, 1>, gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i32
  %width = arith.constant 128 : i32
  %bytes = arith.constant 512 : i32
  %ticks = arith.constant 1000 : i32
  %t = gpu.thread_id x
  %is_first = arith.cmpi eq, %t, %c0 : index
  %elected = nvvm.elect.sync -> i1
  %tile = memref.alloc() {alignment = 128 : i64} : memref<128xf32, #shared>
  %bars = memref.alloc() : memref<2xi64, #shared>
  %bar_index = memref.extract_aligned_pointer_as_index %bars : memref<2xi64, #shared> -> index
  %bar_i64 = arith.index_cast %bar_index : index to i64
  %bar = llvm.inttoptr %bar_i64 : i64 to !llvm.ptr<3>
  %tile_index = memref.extract_aligned_pointer_as_index %tile : memref<128xf32, #shared> -> index
  %tile_i64 = arith.index_cast %tile_index : index to i64
  %to = llvm.inttoptr %tile_i64 : i64 to !llvm.ptr<3>
  %second = llvm.getelementptr %bar[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
  scf.if %is_first {
    nvvm.mbarrier.init %second, %four : !llvm.ptr<3>, i32
  }
  gpu.barrier
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%phase = %zero) -> (i32) {
    %number = arith.index_cast %i : index to i32
    %x = arith.muli %number, %width : i32
    scf.if %elected {
      nvvm.mbarrier.arrive.expect_tx %second, %bytes : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %second, box[%x] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    }
    nvvm.mbarrier.try_wait.parity %second, %phase, %ticks : !llvm.ptr<3>, i32, i32
    %v = memref.load %tile[%t] : memref<128xf32, #shared>
    memref.store %v, %out[%t] : memref<128xf32>
    gpu.barrier
    %next = arith.xori %phase, %one : i32
    scf.yield %next : i32
  }
  return
}

// Neither of two copies exceeds its tile, and together they write the announced bytes: each fills its own tile, whose
// slot no longer shows that.
// REMARK: Function=two_tiles | Remark="mbarrier multi-buffered: 3 slots of 8 B, 24 B in total"
// REMARK: Function=two_tiles | Remark="buffer multi-buffered: 3 slots of 512 B, 1536 B in total"
// REMARK: Function=two_tiles | Remark="buffer multi-buffered: 3 slots of 256 B, 768 B in total"
// PIPELINED: Function=two_tiles | Remark="loop pipelined: 3 stages, async mode, 2 copies prefetched; 2 shared buffers, 2304 B; 1 barrier per iteration; run-time guard on the trip count"
// CHECK-LABEL: func.func @two_tiles(
// CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} {isCTAOnly = true, smalti.copied_bytes = 512 : i64}
// CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} {isCTAOnly = true, smalti.copied_bytes = 256 : i64}
func.func @two_tiles(%map_a: !llvm.ptr, %map_b: !llvm.ptr, %out: memref<128xf32> {llvm.noalias}, %n: index) attributes {gpu.known_block_size = array<i32: 128, 1, 1>, gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %width = arith.constant 128 : i32
  %bytes = arith.constant 768 : i32
  %ticks = arith.constant 1000 : i32
  %t = gpu.thread_id x
  %is_first = arith.cmpi eq, %t, %c0 : index
  %bars = memref.alloc() : memref<1xi64, #shared>
  %bar_index = memref.extract_aligned_pointer_as_index %bars : memref<1xi64, #shared> -> index
  %bar_i64 = arith.index_cast %bar_index : index to i64
  %bar = llvm.inttoptr %bar_i64 : i64 to !llvm.ptr<3>
  %a = memref.alloc() {alignment = 128 : i64} : memref<128xf32, #shared>
  %a_index = memref.extract_aligned_pointer_as_index %a : memref<128xf32, #shared> -> index
  %a_i64 = arith.index_cast %a_index : index to i64
  %to_a = llvm.inttoptr %a_i64 : i64 to !llvm.ptr<3>
  %b = memref.alloc() {alignment = 128 : i64} : memref<64xf32, #shared>
  %b_index = memref.extract_aligned_pointer_as_index %b : memref<64xf32, #shared> -> index
  %b_i64 = arith.index_cast %b_index : index to i64
  %to_b = llvm.inttoptr %b_i64 : i64 to !llvm.ptr<3>
  scf.if %is_first {
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
  }
  gpu.barrier
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%phase = %zero) -> (i32) {
    %number = arith.index_cast %i : index to i32
    %x = arith.muli %number, %width : i32
    scf.if %is_first {
      nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.tensor.shared.cluster.global %to_a, %map_a, %bar, box[%x] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
      nvvm.cp.async.bulk.tensor.shared.cluster.global %to_b, %map_b, %bar, box[%x] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    }
    nvvm.mbarrier.try_wait.parity %bar, %phase, %ticks : !llvm.ptr<3>, i32, i32
    %v = memref.load %a[%t] : memref<128xf32, #shared>
    %w = memref.load %b[%c1] : memref<64xf32, #shared>
    %sum = arith.addf %v, %w : f32
    memref.store %sum, %out[%t] : memref<128xf32>
    gpu.barrier
    %next = arith.xori %phase, %one : i32
    scf.yield %next : i32
  }
  return
}
