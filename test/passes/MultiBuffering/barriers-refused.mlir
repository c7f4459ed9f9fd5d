// Barrier objects that are not multi-buffered, together with the buffers whose copies complete on them.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=3}))' \
// RUN:   --remarks-filter=smalti-multi-buffer -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{strict=true}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STRICT
// STRICT: error: smalti-multi-buffer: mbarrier not multi-buffered: 'nvgpu.mbarrier.try_wait.parity' uses the mbarrier outside the loop; use another mbarrier there

#shared = #gpu.address_space<workgroup>
!map = !nvgpu.tensormap.descriptor<tensor = memref<64xf32, #shared>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!one = !nvgpu.mbarrier.group<memorySpace = #shared>
!three = !nvgpu.mbarrier.group<memorySpace = #shared, num_barriers = 3>
!tile = memref<64xf32, #shared>

// CHECK: Function=used_outside | Remark="mbarrier not multi-buffered: 'nvgpu.mbarrier.try_wait.parity' uses the mbarrier outside the loop; use another mbarrier there"
// CHECK: Function=used_outside | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=arrives_twice | Remark="mbarrier not multi-buffered: each iteration has 2 arrivals, but 'nvgpu.mbarrier.init' sets the arrival count to 1; the two must be equal"
// CHECK: Function=arrives_twice | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=all_threads_arrive | Remark="mbarrier not multi-buffered: each iteration has 64 arrivals, but 'nvgpu.mbarrier.init' sets the arrival count to 1; the two must be equal"
// CHECK: Function=all_threads_arrive | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=waits_on_another | Remark="mbarrier not multi-buffered: each iteration has 0 arrivals, but 'nvgpu.mbarrier.init' sets the arrival count to 1; the two must be equal"
// CHECK: Function=waits_on_another | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=never_waited | Remark="mbarrier not multi-buffered: the loop does not wait for the mbarrier; add a wait to the loop body"
// CHECK: Function=never_waited | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=same_parity | Remark="mbarrier not multi-buffered: the parity operand of 'nvgpu.mbarrier.try_wait.parity' is not proven to alternate in every iteration; use the parity of the iteration number: 0, 1, 0, 1, ..."
// CHECK: Function=same_parity | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=parity_of_turns | Remark="mbarrier not multi-buffered: the parity operand of 'nvgpu.mbarrier.try_wait.parity' is not proven to alternate in every iteration; use the parity of the iteration number: 0, 1, 0, 1, ..."
// CHECK: Function=parity_of_turns | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=phase_before | Remark="mbarrier not multi-buffered: 'nvgpu.mbarrier.try_wait.parity' waits for parity 1 in the first iteration, but the first phase has parity 0; wait for parity 0"
// CHECK: Function=phase_before | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=arrives_after | Remark="mbarrier not multi-buffered: 'nvgpu.mbarrier.arrive' uses the mbarrier after the wait of the same iteration of the loop; all arrivals must precede the wait: move the op before the wait"
// CHECK: Function=arrives_after | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
func.func @arrives_after(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
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

// CHECK: Function=polled | Remark="mbarrier not multi-buffered: 'nvgpu.mbarrier.test.wait' polls the mbarrier; only waits that block are supported: use a 'try_wait.parity' op"
// CHECK: Function=polled | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=pointed_to | Remark="mbarrier not multi-buffered: the mbarrier escapes through 'nvgpu.mbarrier.get', so not all of its uses are known; pass it only to mbarrier ops"
// CHECK: Function=pointed_to | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=argument | Remark="mbarrier not multi-buffered: the mbarrier is a function argument, which cannot be enlarged; allocate the mbarrier in the function"
// CHECK: Function=argument | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=not_initialized | Remark="mbarrier not multi-buffered: the mbarrier is not initialized in the function; initialize it before the loop"
// CHECK: Function=not_initialized | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
func.func @not_initialized(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
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

// CHECK: Function=initialized_twice | Remark="mbarrier not multi-buffered: the mbarrier must be initialized once, but has several initializations, for example 'nvgpu.mbarrier.init'"
// CHECK: Function=initialized_twice | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
func.func @initialized_twice(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
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

// CHECK: Function=initialized_inside | Remark="mbarrier not multi-buffered: 'nvgpu.mbarrier.init' initializes the mbarrier in every iteration; initialize the mbarrier before the loop"
// CHECK: Function=initialized_inside | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
func.func @initialized_inside(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
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

// CHECK: Function=initialized_late | Remark="mbarrier not multi-buffered: 'nvgpu.mbarrier.init' initializes the mbarrier, but does not precede the loop; move it before the loop"
// CHECK: Function=initialized_late | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
func.func @initialized_late(%map: !map, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
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

// CHECK: Function=unknown_number | Remark="mbarrier not multi-buffered: 'nvgpu.mbarrier.arrive.expect_tx' uses an mbarrier index that cannot be analyzed; use a constant, or the iteration number modulo the number of slots"
// CHECK: Function=unknown_number | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=no_such_number | Remark="mbarrier not multi-buffered: 'nvgpu.mbarrier.arrive.expect_tx' uses index 3 of the array of mbarriers; it must be from 0 to {{.*}}"
// CHECK: Function=no_such_number | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=one_with_slots | Remark="mbarrier not multi-buffered: 'nvgpu.mbarrier.try_wait.parity' uses the slot of its iteration as mbarrier index, but 'nvgpu.mbarrier.arrive.expect_tx' uses a constant index; all ops of the loop must use the same kind of index"
// CHECK: Function=one_with_slots | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=unknown_threads | Remark="mbarrier not multi-buffered: the number of threads that execute 'nvgpu.mbarrier.arrive.expect_tx' cannot be determined; use conditions that depend only on thread indices and constants"
// CHECK: Function=unknown_threads | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=unknown_condition | Remark="mbarrier not multi-buffered: the number of threads that execute 'nvgpu.mbarrier.arrive.expect_tx' cannot be determined; use conditions that depend only on thread indices and constants"
// CHECK: Function=unknown_condition | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=unknown_arrivals | Remark="mbarrier not multi-buffered: the arrival count of 'nvgpu.mbarrier.init' cannot be determined; use a constant"
// CHECK: Function=unknown_arrivals | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=repeated | Remark="mbarrier not multi-buffered: 'nvgpu.mbarrier.arrive.expect_tx' is in an inner 'scf.for', which may execute it several times per iteration; move it into the body of the outer loop or an scf.if there"
// CHECK: Function=repeated | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=used_again | Remark="mbarrier not multi-buffered: the loop may execute more than once after one initialization of the mbarrier; initialize the mbarrier directly before the loop"
// CHECK: Function=used_again | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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
// CHECK: Function=shared_barrier | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 64 elements are proven to be overwritten)"
// CHECK: Function=shared_barrier | Remark="mbarrier not multi-buffered: copies into a buffer that is not multi-buffered complete on the mbarrier; use another mbarrier for these copies"
// CHECK: Function=shared_barrier | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// Copies from another block to this one, or from this one to another, are not counted.
// CHECK: Function=multicast | Remark="mbarrier not multi-buffered: 'nvgpu.tma.async.load' completes on the mbarrier, but its destination is in another block of the cluster or cannot be determined; copy to a buffer of this block"
// CHECK: Function=multicast | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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

// CHECK: Function=some_arrivals | Remark="mbarrier not multi-buffered: the arrival count of 'nvgpu.mbarrier.arrive.nocomplete' cannot be determined; use a constant"
// CHECK: Function=some_arrivals | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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
// CHECK: Function=two_loops | Remark="mbarrier not multi-buffered: copies into buffers of several loops complete on the mbarrier; use an mbarrier for each loop"
// CHECK: Function=two_loops | Remark="buffer not multi-buffered: its copies complete on an mbarrier that is not multi-buffered (see the remark of the mbarrier)"
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
