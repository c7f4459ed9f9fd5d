// Barrier objects that are not multi-buffered, together with the buffers whose copies complete on them.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=3}))' \
// RUN:   --remarks-filter=smalti-multi-buffer -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{strict=true}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STRICT
// STRICT: error: smalti-multi-buffer: the barrier object is also used outside the loop, by 'nvgpu.mbarrier.try_wait.parity'

#shared = #gpu.address_space<workgroup>
!map = !nvgpu.tensormap.descriptor<tensor = memref<64xf32, #shared>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!one = !nvgpu.mbarrier.group<memorySpace = #shared>
!three = !nvgpu.mbarrier.group<memorySpace = #shared, num_barriers = 3>
!tile = memref<64xf32, #shared>

// CHECK: Function=used_outside | Remark="the barrier object is also used outside the loop, by 'nvgpu.mbarrier.try_wait.parity'"
// CHECK: Function=used_outside | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @used_outside(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
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
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %last, %ticks : !one
  return
}

// CHECK: Function=arrives_twice | Remark="the barrier object counts 2 arrivals in an iteration, and 'nvgpu.mbarrier.init' says that 1 complete a phase"
// CHECK: Function=arrives_twice | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @arrives_twice(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
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
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=all_threads_arrive | Remark="the barrier object counts 64 arrivals in an iteration, and 'nvgpu.mbarrier.init' says that 1 complete a phase"
// CHECK: Function=all_threads_arrive | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @all_threads_arrive(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
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
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %true : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=waits_on_another | Remark="the barrier object counts 0 arrivals in an iteration, and 'nvgpu.mbarrier.init' says that 1 complete a phase"
// CHECK: Function=waits_on_another | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @waits_on_another(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !three
  nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is_first : !three
  nvgpu.mbarrier.init %bars[%c1], %c1, predicate = %is_first : !three
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c1], %c256, predicate = %is_first : !three
    nvgpu.tma.async.load %map[%c0], %bars[%c1] to %tile, predicate = %is_first : !map, !three -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c1], %phase, %ticks : !three
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !three
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=never_waited | Remark="the barrier object is not waited for in the loop"
// CHECK: Function=never_waited | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @never_waited(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !three
  nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is_first : !three
  nvgpu.mbarrier.init %bars[%c1], %c1, predicate = %is_first : !three
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !three
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !three -> !tile
    nvgpu.mbarrier.arrive.expect_tx %bars[%c1], %c256, predicate = %is_first : !three
    nvgpu.mbarrier.try_wait.parity %bars[%c1], %phase, %ticks : !three
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=same_parity | Remark="the barrier object is waited for by 'nvgpu.mbarrier.try_wait.parity' with a parity that is not known to change in every iteration"
// CHECK: Function=same_parity | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @same_parity(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
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
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=parity_of_turns | Remark="the barrier object is waited for by 'nvgpu.mbarrier.try_wait.parity' with a parity that is not known to change in every iteration"
// CHECK: Function=parity_of_turns | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @parity_of_turns(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
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
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    %turn = arith.divui %i, %c2 : index
    %bit = arith.remui %turn, %c2 : index
    %parity = arith.cmpi eq, %bit, %c1 : index
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %parity, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=phase_before | Remark="the barrier object is waited for by 'nvgpu.mbarrier.try_wait.parity' with parity 1 in the first iteration, where its first phase has parity 0"
// CHECK: Function=phase_before | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @phase_before(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
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
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    %before = arith.xori %phase, %true : i1
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %before, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=arrives_behind | Remark="the barrier object is used by 'nvgpu.mbarrier.arrive' behind the wait for it in the same iteration"
// CHECK: Function=arrives_behind | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @arrives_behind(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
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
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %token = nvgpu.mbarrier.arrive %bars[%c0] : !one -> !nvgpu.mbarrier.token
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=polled | Remark="the barrier object is asked for its phase by 'nvgpu.mbarrier.test.wait', which does not wait for it"
// CHECK: Function=polled | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @polled(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
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
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    %token = nvgpu.mbarrier.arrive %bars[%c0] : !one -> !nvgpu.mbarrier.token
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %done = nvgpu.mbarrier.test.wait %bars[%c0], %token : !one, !nvgpu.mbarrier.token
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=pointed_to | Remark="the barrier object escapes through 'nvgpu.mbarrier.get'"
// CHECK: Function=pointed_to | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @pointed_to(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
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
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  %pointer = nvgpu.mbarrier.get %bars[%c0] : !one -> i32
  return
}

// CHECK: Function=argument | Remark="the barrier object is an argument, whose size is not this function's to change"
// CHECK: Function=argument | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @argument(%map: !map, %out: memref<64xf32>, %bars: !one) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=not_initialised | Remark="the barrier object is not initialised in the function"
// CHECK: Function=not_initialised | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @not_initialised(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !one
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=initialised_twice | Remark="the barrier object is initialised more than once, by 'nvgpu.mbarrier.init'"
// CHECK: Function=initialised_twice | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @initialised_twice(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !one
  nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is_first : !one
  nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is_first : !one
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=initialised_inside | Remark="the barrier object is initialised in every iteration, by 'nvgpu.mbarrier.init'"
// CHECK: Function=initialised_inside | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @initialised_inside(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !one
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
  nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is_first : !one
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=initialised_late | Remark="the barrier object is initialised by 'nvgpu.mbarrier.init', which does not stand ahead of the loop"
// CHECK: Function=initialised_late | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @initialised_late(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !one
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is_first : !one
  return
}

// CHECK: Function=unknown_number | Remark="the barrier object is chosen by 'nvgpu.mbarrier.arrive.expect_tx' with a number that is neither constant nor that of a slot"
// CHECK: Function=unknown_number | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @unknown_number(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !three
  nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is_first : !three
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    %number = arith.muli %i, %c2 : index
    %odd = arith.remui %number, %c3 : index
    nvgpu.mbarrier.arrive.expect_tx %bars[%odd], %c256, predicate = %is_first : !three
    nvgpu.tma.async.load %map[%c0], %bars[%odd] to %tile, predicate = %is_first : !map, !three -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%odd], %phase, %ticks : !three
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=no_such_number | Remark="the barrier object has no number 3, which 'nvgpu.mbarrier.arrive.expect_tx' uses"
// CHECK: Function=no_such_number | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @no_such_number(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !three
  nvgpu.mbarrier.init %bars[%c3], %c1, predicate = %is_first : !three
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c3], %c256, predicate = %is_first : !three
    nvgpu.tma.async.load %map[%c0], %bars[%c3] to %tile, predicate = %is_first : !map, !three -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c3], %phase, %ticks : !three
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=one_with_slots | Remark="the barrier object has slots for 'nvgpu.mbarrier.try_wait.parity', and none for 'nvgpu.mbarrier.arrive.expect_tx'"
// CHECK: Function=one_with_slots | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @one_with_slots(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !three
  nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is_first : !three
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    %slot = arith.remui %i, %c3 : index
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !three
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !three -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%slot], %phase, %ticks : !three
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=unknown_threads | Remark="the barrier object is arrived on by 'nvgpu.mbarrier.arrive.expect_tx', and how many threads execute it is not known"
// CHECK: Function=unknown_threads | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @unknown_threads(%map: !map, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
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
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %true : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=unknown_condition | Remark="the barrier object is arrived on by 'nvgpu.mbarrier.arrive.expect_tx', and how many threads execute it is not known"
// CHECK: Function=unknown_condition | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @unknown_condition(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
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
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    %is_even = arith.cmpi ult, %i, %c2 : index
    %both = arith.andi %is_first, %is_even : i1
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %both : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=unknown_arrivals | Remark="the barrier object is initialised by 'nvgpu.mbarrier.init' for a number of arrivals that is not known"
// CHECK: Function=unknown_arrivals | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @unknown_arrivals(%map: !map, %out: memref<64xf32>, %count: index) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !one
  nvgpu.mbarrier.init %bars[%c0], %count, predicate = %is_first : !one
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=repeated | Remark="the barrier object is used by 'nvgpu.mbarrier.arrive.expect_tx' inside 'scf.for', which may repeat it"
// CHECK: Function=repeated | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @repeated(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !one
  nvgpu.mbarrier.init %bars[%c0], %c2, predicate = %is_first : !one
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    scf.for %j = %c0 to %c2 step %c1 {
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    }
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=used_again | Remark="the barrier object may be used by the loop more than once after it was initialised"
// CHECK: Function=used_again | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @used_again(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
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
  scf.for %k = %c0 to %c2 step %c1 {
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  }
  return
}

// One of two buffers is read before it is overwritten: the barrier, and the other buffer, get no slots either.
// CHECK: Function=shared_barrier | Remark="the buffer is read by 'memref.load' before it is overwritten in the iteration (0 of 64 elements are)"
// CHECK: Function=shared_barrier | Remark="the barrier object counts bytes of copies into a buffer without slots"
// CHECK: Function=shared_barrier | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @shared_barrier(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %a = memref.alloc() : !tile
  %b = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !one
  nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is_first : !one
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    %before = memref.load %b[%thread] : !tile
    gpu.barrier
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c512, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %a, predicate = %is_first : !map, !one -> !tile
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %b, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %a[%thread] : !tile
    %sum = arith.addf %value, %before : f32
    memref.store %sum, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// What another block copies here, or what this one copies there, is not counted.
// CHECK: Function=multicast | Remark="the barrier object counts bytes of 'nvgpu.tma.async.load', which copies to other blocks or to memory that is not known"
// CHECK: Function=multicast | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @multicast(%map: !map, %mask: i16, %foreign: !tile, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !one
  nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is_first : !one
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c512, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %foreign multicast_mask = %mask, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// CHECK: Function=some_arrivals | Remark="the barrier object is arrived on by 'nvgpu.mbarrier.arrive.nocomplete' a number of times that is not known"
// CHECK: Function=some_arrivals | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @some_arrivals(%map: !map, %times: index, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !one
  nvgpu.mbarrier.init %bars[%c0], %c64, predicate = %is_first : !one
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    %token = nvgpu.mbarrier.arrive.nocomplete %bars[%c0], %times : !one -> !nvgpu.mbarrier.token
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  return
}

// The second loop fills the tile through registers, in slots of its own iterations.
// CHECK: Function=two_loops | Remark="the barrier object counts bytes of copies into buffers that several loops use"
// CHECK: Function=two_loops | Remark="the buffer is filled by copies that complete on a barrier object without slots"
func.func @two_loops(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %ticks = arith.constant 1000000 : index
  %true = arith.constant true
  %false = arith.constant false
  %zero = arith.constant 0.0 : f32
  %thread = gpu.thread_id x
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %tile = memref.alloc() : !tile
  %bars = nvgpu.mbarrier.create -> !one
  nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %is_first : !one
  gpu.barrier
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%phase = %false) -> i1 {
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %c256, predicate = %is_first : !one
    nvgpu.tma.async.load %map[%c0], %bars[%c0] to %tile, predicate = %is_first : !map, !one -> !tile
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %phase, %ticks : !one
    %value = memref.load %tile[%thread] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
    %next = arith.xori %phase, %true : i1
    scf.yield %next : i1
  }
  scf.for %i = %c0 to %c64 step %c1 {
    memref.store %zero, %tile[%thread] : !tile
    gpu.barrier
    %value = memref.load %tile[%c1] : !tile
    memref.store %value, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}
