// Groups of copies, and several wait counters in one loop.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=2},canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3},canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=4},canonicalize,cse))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,FOUR

#shared = #gpu.address_space<workgroup>
!row = memref<256xf32, strided<[1], offset: ?>, #shared>
!tile = memref<64x64xf32, strided<[64, 1], offset: ?>, #shared>
!descriptor = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf32, #shared>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!barriers = !nvgpu.mbarrier.group<memorySpace = #shared, num_barriers = 4>

// Two groups an iteration with a reader each. The first wait leaves the second group of its iteration.
// CHECK-LABEL: func.func @two_groups(
// CHECK:         scf.if
// CHECK:           scf.for
// TWO:               mosaic_gpu.async_wait_group 1
// THREE:             mosaic_gpu.async_wait_group 3
// FOUR:              mosaic_gpu.async_wait_group 5
// CHECK:             mosaic_gpu.async_commit_group
// CHECK:             mosaic_gpu.async_commit_group
// CHECK:             memref.load
// TWO:               mosaic_gpu.async_wait_group 2
// THREE:             mosaic_gpu.async_wait_group 4
// FOUR:              mosaic_gpu.async_wait_group 6
// CHECK:             memref.load
// CHECK:             scf.yield
// FOUR:            mosaic_gpu.async_wait_group 5
// FOUR:            mosaic_gpu.async_wait_group 4
// THREE:           mosaic_gpu.async_wait_group 3
// THREE:           mosaic_gpu.async_wait_group 2
// FOUR:            mosaic_gpu.async_wait_group 3
// FOUR:            mosaic_gpu.async_wait_group 2
// CHECK:           mosaic_gpu.async_wait_group 1
// CHECK:           memref.load
// CHECK:           mosaic_gpu.async_wait_group 0
// CHECK:           memref.load
// CHECK:         } else {
func.func @two_groups(%a: memref<64x256xf32>, %b: memref<64x256xf32>, %n: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a_shared = memref.alloc() : memref<4x1x256xf32, #shared>
  %b_shared = memref.alloc() : memref<4x1x256xf32, #shared>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %x = memref.subview %a_shared[%slot, 0, 0] [1, 1, 256] [1, 1, 1]
      : memref<4x1x256xf32, #shared> to memref<1x256xf32, strided<[256, 1], offset: ?>, #shared>
    %y = memref.subview %b_shared[%slot, 0, 0] [1, 1, 256] [1, 1, 1]
      : memref<4x1x256xf32, #shared> to memref<1x256xf32, strided<[256, 1], offset: ?>, #shared>
    mosaic_gpu.async_copy %a[%i, %c0] to %x
      : memref<64x256xf32> to memref<1x256xf32, strided<[256, 1], offset: ?>, #shared>
    mosaic_gpu.async_commit_group
    mosaic_gpu.async_copy %b[%i, %c0] to %y
      : memref<64x256xf32> to memref<1x256xf32, strided<[256, 1], offset: ?>, #shared>
    mosaic_gpu.async_commit_group
    mosaic_gpu.async_wait_group 1
    gpu.barrier
    %x_value = memref.load %x[%c0, %c1] : memref<1x256xf32, strided<[256, 1], offset: ?>, #shared>
    %half = arith.addf %acc, %x_value : f32
    mosaic_gpu.async_wait_group 0
    gpu.barrier
    %y_value = memref.load %y[%c0, %c1] : memref<1x256xf32, strided<[256, 1], offset: ?>, #shared>
    %next = arith.addf %half, %y_value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// A tail with zeros: a thread stores the elements that it does not copy, and the group is committed anyway.
// CHECK-LABEL: func.func @tail(
// CHECK:         scf.for
// TWO:             nvgpu.device_async_wait %{{.*}} {numGroups = 0 : i32}
// THREE:           nvgpu.device_async_wait %{{.*}} {numGroups = 1 : i32}
// FOUR:            nvgpu.device_async_wait %{{.*}} {numGroups = 2 : i32}
// CHECK:           gpu.barrier
// CHECK:           scf.if
// CHECK-NEXT:        nvgpu.device_async_copy
// CHECK-NEXT:      } else {
// CHECK-NEXT:        memref.store
// CHECK-NEXT:      }
// CHECK-NEXT:      nvgpu.device_async_create_group
func.func @tail(%a: memref<64x256xf32>, %thread: index, %rows: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %shared = memref.alloc() : memref<4x256xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : memref<4x256xf32, #shared> to !row
    %is_inside = arith.cmpi ult, %i, %rows : index
    scf.if %is_inside {
      %copy = nvgpu.device_async_copy %a[%i, %thread], %view[%thread], 1 : memref<64x256xf32> to !row
    } else {
      memref.store %zero, %view[%thread] : !row
    }
    %group = nvgpu.device_async_create_group
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %value = memref.load %view[%c1] : !row
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// A copy in flight when the loop begins: the first wait leaves only newer ones, and the barrier that makes its data
// visible is after that wait.
// CHECK-LABEL: func.func @before(
// CHECK:         nvgpu.device_async_copy %arg0
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.for
// TWO:             nvgpu.device_async_wait %{{.*}} {numGroups = 0 : i32}
// THREE:           nvgpu.device_async_wait %{{.*}} {numGroups = 1 : i32}
// FOUR:            nvgpu.device_async_wait %{{.*}} {numGroups = 2 : i32}
// CHECK:           gpu.barrier
// CHECK:           memref.load
func.func @before(%q: memref<256xf32>, %a: memref<64x256xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %q_shared = memref.alloc() : memref<256xf32, #shared>
  %shared = memref.alloc() : memref<4x256xf32, #shared>
  %q_copy = nvgpu.device_async_copy %q[%thread], %q_shared[%thread], 1 : memref<256xf32> to memref<256xf32, #shared>
  %q_group = nvgpu.device_async_create_group %q_copy
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : memref<4x256xf32, #shared> to !row
    %copy = nvgpu.device_async_copy %a[%i, %thread], %view[%thread], 1 : memref<64x256xf32> to !row
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %value = memref.load %view[%c1] : !row
    %scale = memref.load %q_shared[%c1] : memref<256xf32, #shared>
    %product = arith.mulf %value, %scale : f32
    %next = arith.addf %acc, %product : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// One wait for two counters.
// CHECK-LABEL: func.func @two_counters(
// CHECK:         scf.for
// TWO:             amdgpu.memory_counter_wait load(0) tensor(0)
// THREE:           amdgpu.memory_counter_wait load(2) tensor(1)
// FOUR:            amdgpu.memory_counter_wait load(4) tensor(2)
func.func @two_counters(%a: memref<64x256xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %x_shared = memref.alloc() : memref<4x256xf32, #shared>
  %y_shared = memref.alloc() : memref<4x256xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %x = memref.subview %x_shared[%slot, 0] [1, 256] [1, 1] : memref<4x256xf32, #shared> to !row
    %y = memref.subview %y_shared[%slot, 0] [1, 256] [1, 1] : memref<4x256xf32, #shared> to !row
    amdgpu.gather_to_lds %a[%i, %thread], %x[%c0] : f32, memref<64x256xf32>, !row
    amdgpu.gather_to_lds %a[%i, %thread], %x[%c128] : f32, memref<64x256xf32>, !row
    %base = amdgpu.make_dma_base %a[%i, %c0], %y[%c0] : memref<64x256xf32>, !row -> !amdgpu.tdm_base<f32>
    %descriptor = amdgpu.make_dma_descriptor %base globalSize [1, 256] globalStride [256, 1] sharedSize [1, 256]
      : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
    amdgpu.tensor_load_to_lds %descriptor : !amdgpu.tdm_descriptor
    amdgpu.memory_counter_wait load(0) tensor(0)
    amdgpu.lds_barrier
    %x_value = memref.load %x[%c1] : !row
    %y_value = memref.load %y[%c1] : !row
    %product = arith.mulf %x_value, %y_value : f32
    %next = arith.addf %acc, %product : f32
    amdgpu.lds_barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// A tile by TMA and a row in a group.
// CHECK-LABEL: func.func @barrier_and_group(
// CHECK:         scf.for
// CHECK:           nvgpu.mbarrier.try_wait.parity
// TWO:             nvgpu.device_async_wait %{{.*}} {numGroups = 0 : i32}
// THREE:           nvgpu.device_async_wait %{{.*}} {numGroups = 1 : i32}
// FOUR:            nvgpu.device_async_wait %{{.*}} {numGroups = 2 : i32}
// CHECK:           nvgpu.tma.async.load
// CHECK:           nvgpu.device_async_create_group
// CHECK:           memref.load
func.func @barrier_and_group(%tensor: !descriptor, %b: memref<64x256xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 16384 : index
  %is_first = arith.cmpi eq, %thread, %c0 : index
  %barriers = nvgpu.mbarrier.create -> !barriers
  %tiles = memref.alloc() : memref<4x64x64xf32, #shared>
  %rows = memref.alloc() : memref<4x256xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %turn = arith.divui %i, %c4 : index
    %bit = arith.remui %turn, %c2 : index
    %parity = arith.cmpi eq, %bit, %c1 : index
    %tile = memref.subview %tiles[%slot, 0, 0] [1, 64, 64] [1, 1, 1] : memref<4x64x64xf32, #shared> to !tile
    %row = memref.subview %rows[%slot, 0] [1, 256] [1, 1] : memref<4x256xf32, #shared> to !row
    nvgpu.mbarrier.arrive.expect_tx %barriers[%slot], %bytes, predicate = %is_first : !barriers
    nvgpu.tma.async.load %tensor[%c0, %i], %barriers[%slot] to %tile, predicate = %is_first
      : !descriptor, !barriers -> !tile
    %copy = nvgpu.device_async_copy %b[%i, %thread], %row[%thread], 1 : memref<64x256xf32> to !row
    %group = nvgpu.device_async_create_group %copy
    nvgpu.mbarrier.try_wait.parity %barriers[%slot], %parity, %bytes : !barriers
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %x = memref.load %tile[%c1, %c1] : !tile
    %y = memref.load %row[%c1] : !row
    %product = arith.mulf %x, %y : f32
    %next = arith.addf %acc, %product : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// A group that names no copies, before an op with a result: with nothing between the two, upstream's parser would take
// the result for a copy.
// CHECK-LABEL: func.func @unnamed(
// CHECK:         nvgpu.device_async_create_group {smalti.all_copies}
// CHECK:         scf.for
// CHECK:           nvgpu.device_async_create_group {smalti.all_copies}
func.func @unnamed(%a: memref<64x256xf32>, %thread: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<4x256xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %view = memref.subview %shared[%slot, 0] [1, 256] [1, 1] : memref<4x256xf32, #shared> to !row
    %copy = nvgpu.device_async_copy %a[%i, %thread], %view[%thread], 1 : memref<64x256xf32> to !row
    %group = "nvgpu.device_async_create_group"() : () -> !nvgpu.device.async.token
    %other = arith.addi %i, %c1 : index
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %value = memref.load %view[%c1] : !row
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}
