// Asynchronous code that is not pipelined: the full text of the reason, and the unchanged program.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{mode=stream}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s --check-prefix=STREAM < %t.remarks
// STREAM: Function=groups_by_hand | Remark="loop not pipelined: mode=stream does not support the asynchronous copies in this loop; use mode=async or mode=auto"

#shared = #gpu.address_space<workgroup>
!descriptor = !nvgpu.tensormap.descriptor<tensor = memref<64xf32, #shared>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!barriers = !nvgpu.mbarrier.group<memorySpace = #shared, num_barriers = 3>
!one = !nvgpu.mbarrier.group<memorySpace = #shared>
!view = memref<64xf32, strided<[1], offset: ?>, #shared>

// Copies for the iteration after the next, waited for with a number: three stages by hand.
// CHECK: Function=groups_by_hand | Remark="loop not pipelined: 'nvgpu.device_async_wait' does not wait for a copy of the same iteration; the loop appears to be pipelined already"
func.func @groups_by_hand(%a: memref<128x64xf32>, %thread: index, %init: f32, %token: !nvgpu.device.async.token) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<3x64xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    nvgpu.device_async_wait %token {numGroups = 1 : i32}
    gpu.barrier
    %slot = arith.remui %i, %c3 : index
    %value = memref.load %shared[%slot, %c1] : memref<3x64xf32, #shared>
    %later = arith.addi %i, %c2 : index
    %next_slot = arith.remui %later, %c3 : index
    %copy = nvgpu.device_async_copy %a[%later, %thread], %shared[%next_slot, %thread], 1
      : memref<128x64xf32> to memref<3x64xf32, #shared>
    %group = nvgpu.device_async_create_group %copy
    %next = arith.addf %acc, %value : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// The slot is read, waited for by the barrier, and filled for the next iteration.
// CHECK: Function=counter_by_hand | Remark="loop not pipelined: 'memref.load' uses %alloc before the copy into it in the same iteration; the loop appears to be pipelined already"
func.func @counter_by_hand(%a: memref<128x64xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<2x64xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    gpu.barrier
    %slot = arith.remui %i, %c2 : index
    %value = memref.load %shared[%slot, %c1] : memref<2x64xf32, #shared>
    %later = arith.addi %i, %c1 : index
    %next_slot = arith.remui %later, %c2 : index
    amdgpu.gather_to_lds %a[%later, %thread], %shared[%next_slot, %c0] : f32, memref<128x64xf32>, memref<2x64xf32, #shared>
    %next = arith.addf %acc, %value : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=barriers_by_hand | Remark="loop not pipelined: 'nvgpu.mbarrier.try_wait.parity' does not wait for a copy of the same iteration; the loop appears to be pipelined already"
func.func @barriers_by_hand(%a: !descriptor, %thread: index, %parity: i1, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %barriers = nvgpu.mbarrier.create -> !barriers
  %shared = memref.alloc() : memref<3x64xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c3 : index
    nvgpu.mbarrier.try_wait.parity %barriers[%slot], %parity, %c256 : !barriers
    %value = memref.load %shared[%slot, %thread] : memref<3x64xf32, #shared>
    gpu.barrier
    %later = arith.addi %i, %c2 : index
    %next_slot = arith.remui %later, %c3 : index
    %view = memref.subview %shared[%next_slot, 0] [1, 64] [1, 1] : memref<3x64xf32, #shared> to !view
    nvgpu.mbarrier.arrive.expect_tx %barriers[%next_slot], %c256 : !barriers
    nvgpu.tma.async.load %a[%later], %barriers[%next_slot] to %view : !descriptor, !barriers -> !view
    %next = arith.addf %acc, %value : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// The buffer has its slots, the barrier has not.
// CHECK: Function=one_barrier | Remark="loop not pipelined: the schedule needs 2 slots of %{{.*}}; accesses are proven to rotate over 1, so add slots with smalti-multi-buffer or use fewer stages"
func.func @one_barrier(%a: !descriptor, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %true = arith.constant true
  %false = arith.constant false
  %barrier = nvgpu.mbarrier.create -> !one
  %shared = memref.alloc() : memref<3x64xf32, #shared>
  %sum:2 = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init, %phase = %false) -> (f32, i1) {
    %slot = arith.remui %i, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 64] [1, 1] : memref<3x64xf32, #shared> to !view
    nvgpu.mbarrier.arrive.expect_tx %barrier[%c0], %c256 : !one
    nvgpu.tma.async.load %a[%i], %barrier[%c0] to %view : !descriptor, !one -> !view
    nvgpu.mbarrier.try_wait.parity %barrier[%c0], %phase, %c256 : !one
    %value = memref.load %view[%thread] : !view
    gpu.barrier
    %next = arith.addf %acc, %value : f32
    %flipped = arith.xori %phase, %true : i1
    scf.yield %next, %flipped : f32, i1
  }
  return %sum#0 : f32
}

// The number counts a load to a register, which may be gone when the program runs: nothing says that the wait covers
// the copy.
// CHECK: Function=counts_a_load | Remark="loop not pipelined: 'amdgpu.memory_counter_wait' does not wait for a copy of the same iteration; the loop appears to be pipelined already"
func.func @counts_a_load(%a: memref<64x64xf32>, %b: memref<64xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<3x64xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 64] [1, 1] : memref<3x64xf32, #shared> to !view
    amdgpu.gather_to_lds %a[%i, %thread], %view[%c0] : f32, memref<64x64xf32>, !view
    %scale = memref.load %b[%i] : memref<64xf32>
    amdgpu.memory_counter_wait load(1)
    amdgpu.lds_barrier
    %value = memref.load %view[%c1] : !view
    %scaled = arith.mulf %value, %scale : f32
    amdgpu.lds_barrier
    %next = arith.addf %acc, %scaled : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=waits_for_one_of_two | Remark="loop not pipelined: 'memref.load' uses %alloc before a wait completes the copy into it; add a wait and a barrier before the use"
func.func @waits_for_one_of_two(%a: memref<64x64xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<3x64xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 64] [1, 1] : memref<3x64xf32, #shared> to !view
    %copy = nvgpu.device_async_copy %a[%i, %thread], %view[%thread], 1 : memref<64x64xf32> to !view
    %group = nvgpu.device_async_create_group %copy
    %other = nvgpu.device_async_copy %a[%i, %c1], %view[%c1], 1 : memref<64x64xf32> to !view
    %last = nvgpu.device_async_create_group %other
    nvgpu.device_async_wait %last {numGroups = 1 : i32}
    gpu.barrier
    %value = memref.load %view[%c1] : !view
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// Only a wait can order a tensor copy: the barrier does not wait for it.
// CHECK: Function=tensor_without_wait | Remark="loop not pipelined: 'memref.load' uses %alloc before a wait completes the copy into it; add a wait and a barrier before the use"
func.func @tensor_without_wait(%a: memref<64x64xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<64xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %base = amdgpu.make_dma_base %a[%i, %c0], %shared[%c0]
      : memref<64x64xf32>, memref<64xf32, #shared> -> !amdgpu.tdm_base<f32>
    %descriptor = amdgpu.make_dma_descriptor %base globalSize [64, 64] globalStride [64, 1] sharedSize [1, 64]
      : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
    amdgpu.tensor_load_to_lds %descriptor : !amdgpu.tdm_descriptor
    amdgpu.lds_barrier
    %value = memref.load %shared[%c1] : memref<64xf32, #shared>
    %next = arith.addf %acc, %value : f32
    amdgpu.lds_barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=unknown_descriptor | Remark="loop not pipelined: the source or destination of 'amdgpu.tensor_load_to_lds' cannot be determined, for example because the op copies to several blocks of a cluster"
func.func @unknown_descriptor(%descriptor: !amdgpu.tdm_descriptor) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    amdgpu.tensor_load_to_lds %descriptor : !amdgpu.tdm_descriptor
    amdgpu.memory_counter_wait tensor(0)
  }
  return
}

// Other blocks' memory is written, too.
// CHECK: Function=multicast | Remark="loop not pipelined: the source or destination of 'nvgpu.tma.async.load' cannot be determined, for example because the op copies to several blocks of a cluster"
func.func @multicast(%a: !descriptor, %mask: i16, %barriers: !barriers, %shared: memref<64xf32, #shared>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    nvgpu.tma.async.load %a[%i], %barriers[%c0] to %shared multicast_mask = %mask
      : !descriptor, !barriers -> memref<64xf32, #shared>
  }
  return
}

// Another group of threads fills the buffer.
// CHECK: Function=consumer | Remark="loop not pipelined: mode=async requires an asynchronous copy in the loop body; use mode=stream or mode=auto"
func.func @consumer(%barriers: !barriers, %shared: memref<3x64xf32, #shared>, %parity: i1, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c3 : index
    nvgpu.mbarrier.try_wait.parity %barriers[%slot], %parity, %c64 : !barriers
    %value = memref.load %shared[%slot, %c1] : memref<3x64xf32, #shared>
    %next = arith.addf %acc, %value : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=foreign_wait | Remark="loop not pipelined: 'nvgpu.mbarrier.try_wait.parity' waits for the mbarrier %arg1, on which no copy of the loop completes; move the op out of the loop, or let a copy of the loop complete on the mbarrier"
func.func @foreign_wait(%a: !descriptor, %empty: !one, %parity: i1, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %barriers = nvgpu.mbarrier.create -> !barriers
  %shared = memref.alloc() : memref<3x64xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 64] [1, 1] : memref<3x64xf32, #shared> to !view
    nvgpu.mbarrier.try_wait.parity %empty[%c0], %parity, %c256 : !one
    nvgpu.mbarrier.arrive.expect_tx %barriers[%slot], %c256 : !barriers
    nvgpu.tma.async.load %a[%i], %barriers[%slot] to %view : !descriptor, !barriers -> !view
    nvgpu.mbarrier.try_wait.parity %barriers[%slot], %parity, %c256 : !barriers
    %value = memref.load %view[%thread] : !view
    %next = arith.addf %acc, %value : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=foreign_arrival | Remark="loop not pipelined: 'nvgpu.mbarrier.arrive' arrives on the mbarrier %arg1, on which no copy of the loop completes; move the op out of the loop, or let a copy of the loop complete on the mbarrier"
func.func @foreign_arrival(%a: !descriptor, %empty: !one, %parity: i1, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %barriers = nvgpu.mbarrier.create -> !barriers
  %shared = memref.alloc() : memref<3x64xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 64] [1, 1] : memref<3x64xf32, #shared> to !view
    nvgpu.mbarrier.arrive.expect_tx %barriers[%slot], %c256 : !barriers
    nvgpu.tma.async.load %a[%i], %barriers[%slot] to %view : !descriptor, !barriers -> !view
    nvgpu.mbarrier.try_wait.parity %barriers[%slot], %parity, %c256 : !barriers
    %value = memref.load %view[%thread] : !view
    %token = nvgpu.mbarrier.arrive %empty[%c0] : !one -> !nvgpu.mbarrier.token
    %next = arith.addf %acc, %value : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// All threads arrive, so that a slot is refilled after all have read it: prefetched arrivals would not ensure that.
// CHECK: Function=orders_by_arrivals | Remark="loop not pipelined: 'nvgpu.mbarrier.arrive' may order accesses of other threads before the copies, and prefetched copies would precede these accesses; add a gpu.barrier to the loop body"
func.func @orders_by_arrivals(%a: !descriptor, %is_first: i1, %parity: i1, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %barriers = nvgpu.mbarrier.create -> !barriers
  %shared = memref.alloc() : memref<3x64xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 64] [1, 1] : memref<3x64xf32, #shared> to !view
    %token = nvgpu.mbarrier.arrive %barriers[%slot] : !barriers -> !nvgpu.mbarrier.token
    scf.if %is_first {
      nvgpu.mbarrier.arrive.expect_tx %barriers[%slot], %c256 : !barriers
      nvgpu.tma.async.load %a[%i], %barriers[%slot] to %view : !descriptor, !barriers -> !view
    }
    nvgpu.mbarrier.try_wait.parity %barriers[%slot], %parity, %c256 : !barriers
    %value = memref.load %view[%thread] : !view
    %next = arith.addf %acc, %value : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=no_wait_for_barrier | Remark="loop not pipelined: 'nvgpu.tma.async.load' completes on %{{.*}}, which the loop does not wait for; add a wait to the loop body"
func.func @no_wait_for_barrier(%a: !descriptor, %barriers: !barriers, %sink: memref<64xf32>, %shared: memref<64xf32, #shared>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    nvgpu.tma.async.load %a[%i], %barriers[%c0] to %shared : !descriptor, !barriers -> memref<64xf32, #shared>
    memref.store %zero, %sink[%i] : memref<64xf32>
  }
  return
}

// CHECK: Function=polls | Remark="loop not pipelined: 'nvgpu.mbarrier.test.wait' polls an mbarrier; only waits that block are supported"
func.func @polls(%barriers: !barriers, %token: !nvgpu.mbarrier.token) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %done = nvgpu.mbarrier.test.wait %barriers[%c0], %token : !barriers, !nvgpu.mbarrier.token
  }
  return
}

// CHECK: Function=nested_wait | Remark="loop not pipelined: 'mosaic_gpu.async_wait_group' is inside 'scf.if', which can only be scheduled as a whole; move the inner op to the top level of the loop body"
func.func @nested_wait(%condition: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    scf.if %condition {
      mosaic_gpu.async_wait_group 0
    }
  }
  return
}

// The copies would read the result of an earlier iteration.
// CHECK: Function=unit_reads | Remark="loop not pipelined: 'memref.load' reads %arg1 inside 'scf.if', which contains asynchronous copies; move the access out of the op"
func.func @unit_reads(%a: memref<64xf32>, %flags: memref<64xi1, #shared>, %shared: memref<64xf32, #shared>, %condition: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    scf.if %condition {
      %flag = memref.load %flags[%i] : memref<64xi1, #shared>
      mosaic_gpu.async_copy %a[%c0] to %shared : memref<64xf32> to memref<64xf32, #shared>
    }
    mosaic_gpu.async_commit_group
    mosaic_gpu.async_wait_group 0
  }
  return
}

// A copy whose group the same threads may not make.
// CHECK: Function=group_of_others | Remark="loop not pipelined: a copy into %arg1 is not committed to a group in the same iteration; add an op that commits it, such as nvgpu.device_async_create_group"
func.func @group_of_others(%a: memref<64xf32>, %shared: memref<64xf32, #shared>, %sink: memref<64xf32>, %condition: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    mosaic_gpu.async_copy %a[%i] to %shared : memref<64xf32> to memref<64xf32, #shared>
    scf.if %condition {
      mosaic_gpu.async_commit_group
    }
    mosaic_gpu.async_wait_group 0
    memref.store %zero, %sink[%i] : memref<64xf32>
  }
  return
}

// Groups under a changing condition: a copy's own group may be the last one.
// CHECK: Function=varying_groups | Remark="loop not pipelined: the schedule needs 3 slots of %{{.*}}; accesses are proven to rotate over 1, so add slots with smalti-multi-buffer or use fewer stages"
func.func @varying_groups(%a: memref<64xf32>, %shared: memref<64xf32, #shared>, %n: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %condition = arith.cmpi ult, %i, %n : index
    scf.if %condition {
      mosaic_gpu.async_copy %a[%i] to %shared : memref<64xf32> to memref<64xf32, #shared>
      mosaic_gpu.async_commit_group
    }
    mosaic_gpu.async_wait_group 0
    gpu.barrier
    %value = memref.load %shared[%c1] : memref<64xf32, #shared>
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// The global memory that is copied may be what the loop stores.
// CHECK: Function=stores_the_source | Remark="loop not pipelined: the schedule would move 'amdgpu.gather_to_lds' of %arg0 before 'memref.store' of %arg1 of an earlier iteration, and the two accesses may alias"
func.func @stores_the_source(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %thread: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<3x64xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    %slot = arith.remui %i, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 64] [1, 1] : memref<3x64xf32, #shared> to !view
    amdgpu.gather_to_lds %a[%i, %thread], %view[%c0] : f32, memref<64x64xf32>, !view
    gpu.barrier
    %value = memref.load %view[%c1] : !view
    memref.store %value, %b[%i, %thread] : memref<64x64xf32>
    gpu.barrier
  }
  return
}

// 16 bytes from the last thread's address on end in the next slot.
// CHECK: Function=beyond_the_slot | Remark="loop not pipelined: the schedule needs 3 slots of %alloc, but the accesses of an iteration are not proven to use the same slot; use one slot per iteration"
// So they may with an offset of its own.
// CHECK: Function=own_offset | Remark="loop not pipelined: the schedule needs 3 slots of %alloc, but the accesses of an iteration are not proven to use the same slot; use one slot per iteration"
func.func @beyond_the_slot(%a: !llvm.ptr<1>, %init: f32) -> f32 attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %thread = gpu.thread_id x
  %shared = memref.alloc() : memref<4x64xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %shared : memref<4x64xf32, #shared> -> index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %view = memref.subview %shared[%slot, 0] [1, 64] [1, 1] : memref<4x64xf32, #shared> to !view
    %row = arith.muli %slot, %c64 : index
    %element = arith.addi %row, %thread : index
    %offset = arith.muli %element, %c4 : index
    %address = arith.addi %offset, %base : index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    rocdl.global.load.async.to.lds.b128 %a, %pointer, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>
    rocdl.s.wait.asynccnt 0
    gpu.barrier
    %value = memref.load %view[%c1] : !view
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}
func.func @own_offset(%a: !llvm.ptr<1>, %init: f32) -> f32 attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %thread = gpu.thread_id x
  %shared = memref.alloc() : memref<4x64xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %shared : memref<4x64xf32, #shared> -> index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %view = memref.subview %shared[%slot, 0] [1, 64] [1, 1] : memref<4x64xf32, #shared> to !view
    %row = arith.muli %slot, %c64 : index
    %element = arith.addi %row, %thread : index
    %offset = arith.muli %element, %c4 : index
    %address = arith.addi %offset, %base : index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    rocdl.global.load.async.to.lds.b32 %a, %pointer, 4, 0 : !llvm.ptr<1>, !llvm.ptr<3>
    rocdl.s.wait.asynccnt 0
    gpu.barrier
    %value = memref.load %view[%c1] : !view
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=never_waits | Remark="loop not pipelined: no wait covers the asynchronous copies in this loop; add a wait to the loop body"
func.func @never_waits(%a: memref<64x64xf32>, %thread: index, %out: memref<64xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<64xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    %copy = nvgpu.device_async_copy %a[%i, %thread], %shared[%thread], 1 : memref<64x64xf32> to memref<64xf32, #shared>
    %group = nvgpu.device_async_create_group %copy
    gpu.barrier
    memref.store %x, %out[%i] : memref<64xf32>
  }
  return
}

// CHECK: Function=other_queue | Remark="loop not pipelined: 'nvgpu.device_async_wait' leaves 1 copy in flight, but the loop does not start a copy that this wait counts; move the wait out of the loop"
func.func @other_queue(%a: memref<64x64xf32>, %thread: index, %out: memref<64xf32>, %token: !nvgpu.device.async.token) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<64xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    amdgpu.gather_to_lds %a[%i, %thread], %shared[%c0] : f32, memref<64x64xf32>, memref<64xf32, #shared>
    nvgpu.device_async_wait %token {numGroups = 1 : i32}
    gpu.barrier
    %x = memref.load %shared[%thread] : memref<64xf32, #shared>
    memref.store %x, %out[%i] : memref<64xf32>
    gpu.barrier
  }
  return
}

// CHECK: Function=depends | Remark="loop not pipelined: the asynchronous copies depend on 'memref.load', which cannot be issued in an earlier iteration; compute it before the loop"
func.func @depends(%a: memref<64x64xf32>, %thread: index, %at: memref<64xindex>, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<2x64xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    %row = memref.load %at[%i] : memref<64xindex>
    %slot = arith.remui %i, %c1 : index
    %copy = nvgpu.device_async_copy %a[%row, %thread], %shared[%slot, %thread], 1 : memref<64x64xf32> to memref<2x64xf32, #shared>
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %x = memref.load %shared[%slot, %thread] : memref<2x64xf32, #shared>
    memref.store %x, %out[%i] : memref<64xf32>
    memref.store %row, %at[%c0] : memref<64xindex>
    gpu.barrier
  }
  return
}

// CHECK: Function=initializes | Remark="loop not pipelined: 'nvgpu.mbarrier.init' initializes an mbarrier in every iteration; initialize it before the loop"
func.func @initializes(%a: !descriptor, %barriers: !barriers, %shared: memref<64xf32, #shared>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    nvgpu.mbarrier.init %barriers[%c0], %c1 : !barriers
    nvgpu.tma.async.load %a[%i], %barriers[%c0] to %shared : !descriptor, !barriers -> memref<64xf32, #shared>
  }
  return
}

// The arrival is one for the next phase.
// CHECK: Function=arrives_after | Remark="loop not pipelined: 'nvgpu.mbarrier.arrive' arrives on %{{[^ ]*}} after the wait of the same iteration; the loop appears to be pipelined already"
func.func @arrives_after(%a: !descriptor, %parity: i1, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %barriers = nvgpu.mbarrier.create -> !barriers
  %shared = memref.alloc() : memref<3x64xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c3 : index
    %view = memref.subview %shared[%slot, 0] [1, 64] [1, 1] : memref<3x64xf32, #shared> to !view
    nvgpu.mbarrier.arrive.expect_tx %barriers[%slot], %c256 : !barriers
    nvgpu.tma.async.load %a[%i], %barriers[%slot] to %view : !descriptor, !barriers -> !view
    nvgpu.mbarrier.try_wait.parity %barriers[%slot], %parity, %c256 : !barriers
    %value = memref.load %view[%thread] : !view
    gpu.barrier
    %token = nvgpu.mbarrier.arrive %barriers[%slot] : !barriers -> !nvgpu.mbarrier.token
    %next = arith.addf %acc, %value : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// The store would be prefetched with the copies.
// CHECK: Function=unit_writes | Remark="loop not pipelined: 'memref.store' writes %arg1 inside 'scf.if', which contains asynchronous copies; move the access out of the op"
func.func @unit_writes(%a: memref<64xf32>, %flags: memref<64xi1, #shared>, %shared: memref<64xf32, #shared>, %condition: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    scf.if %condition {
      memref.store %condition, %flags[%i] : memref<64xi1, #shared>
      mosaic_gpu.async_copy %a[%c0] to %shared : memref<64xf32> to memref<64xf32, #shared>
    }
    mosaic_gpu.async_commit_group
    mosaic_gpu.async_wait_group 0
  }
  return
}

// A proxy fence follows the stores that it makes visible; without asynchronous copies, the stores would move.
// CHECK: Function=proxy_fence | Remark="loop not pipelined: 'nvvm.fence.proxy' must follow writes to shared memory in the same iteration, and mode=stream may move them to another iteration; only the schedules of mode=async are supported"
func.func @proxy_fence(%a: memref<128x64xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<64xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %value = memref.load %a[%i, %thread] : memref<128x64xf32>
    memref.store %value, %shared[%thread] : memref<64xf32, #shared>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %read = memref.load %shared[%c1] : memref<64xf32, #shared>
    gpu.barrier
    %next = arith.addf %acc, %read : f32
    scf.yield %next : f32
  }
  return %sum : f32
}
