# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Thread code in loops with asynchronous copies: text with the placeholders of `bodies.py`.

BOTHBYTES are the bytes of two rows, MAP and OBJECTS<n> the types of a tensor map and of n barrier objects.
"""

COPIES = """
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zeros) -> vector<4xf32> {
  %row = arith.addi %i, %c16 : index
  %ca = nvgpu.device_async_copy %a[%row, %tc], %s0[%tc], 4 : ROW to memref<Cxf32, SHARED>
  %cb = nvgpu.device_async_copy %b[%row, %tc], %s1[%tc], 4 : ROW to memref<Cxf32, SHARED>
  %group = nvgpu.device_async_create_group %ca, %cb
  nvgpu.device_async_wait %group {numGroups = 0 : i32}
  gpu.barrier
  %x = vector.load %s0[%mc] : memref<Cxf32, SHARED>, vector<4xf32>
  %y = vector.load %s1[%mc] : memref<Cxf32, SHARED>, vector<4xf32>
  %p = arith.mulf %x, %y : vector<4xf32>
  %less = arith.mulf %acc, %halves : vector<4xf32>
  %next = arith.addf %less, %p : vector<4xf32>
  gpu.barrier
  scf.yield %next : vector<4xf32>
}
vector.store %sum, %o[%block, %c0, %tc] : OUT, vector<4xf32>
"""

# The slots are the kernel's own; two groups an iteration, each with its own wait.
GROUPS = """
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zeros) -> vector<4xf32> {
  %row = arith.addi %i, %c16 : index
  %distance = arith.subi %i, %lower : index
  %number = arith.divui %distance, %step : index
  %slot = arith.remui %number, %c5 : index
  %v0 = memref.subview %s0[%slot, 0] [1, C] [1, 1]
    : memref<5xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %v1 = memref.subview %s1[%slot, 0] [1, C] [1, 1]
    : memref<5xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %ca = nvgpu.device_async_copy %a[%row, %tc], %v0[%tc], 4 : ROW to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %ga = nvgpu.device_async_create_group %ca
  %cb = nvgpu.device_async_copy %b[%row, %tc], %v1[%tc], 4 : ROW to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %gb = nvgpu.device_async_create_group %cb
  nvgpu.device_async_wait %ga {numGroups = 1 : i32}
  gpu.barrier
  %x = vector.load %v0[%mc] : memref<Cxf32, strided<[1], offset: ?>, SHARED>, vector<4xf32>
  %less = arith.mulf %acc, %halves : vector<4xf32>
  nvgpu.device_async_wait %gb {numGroups = 0 : i32}
  gpu.barrier
  %y = vector.load %v1[%mc] : memref<Cxf32, strided<[1], offset: ?>, SHARED>, vector<4xf32>
  %p = arith.mulf %x, %y : vector<4xf32>
  %next = arith.addf %less, %p : vector<4xf32>
  gpu.barrier
  scf.yield %next : vector<4xf32>
}
vector.store %sum, %o[%block, %c0, %tc] : OUT, vector<4xf32>
"""

# Copies for the next iteration are in flight: the loop is pipelined by hand.
BY_HAND = """
%row0 = arith.addi %lower, %c16 : index
%z0 = memref.subview %s0[0, 0] [1, C] [1, 1] : memref<2xCxf32, SHARED> to memref<Cxf32, strided<[1]>, SHARED>
%c = nvgpu.device_async_copy %a[%row0, %tc], %z0[%tc], 4 : ROW to memref<Cxf32, strided<[1]>, SHARED>
%g = nvgpu.device_async_create_group %c
%sum:2 = scf.for %i = %lower to %upper step %step iter_args(%acc = %zeros, %k = %c0) -> (vector<4xf32>, index) {
  %row = arith.addi %i, %c16 : index
  %further = arith.addi %row, %step : index
  %k1 = arith.addi %k, %c1 : index
  %slot = arith.remui %k, %c2 : index
  %slot1 = arith.remui %k1, %c2 : index
  %v0 = memref.subview %s0[%slot, 0] [1, C] [1, 1]
    : memref<2xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %v1 = memref.subview %s0[%slot1, 0] [1, C] [1, 1]
    : memref<2xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %cn = nvgpu.device_async_copy %a[%further, %tc], %v1[%tc], 4 : ROW to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %gn = nvgpu.device_async_create_group %cn
  nvgpu.device_async_wait %gn {numGroups = 1 : i32}
  gpu.barrier
  %x = vector.load %v0[%mc] : memref<Cxf32, strided<[1], offset: ?>, SHARED>, vector<4xf32>
  %less = arith.mulf %acc, %halves : vector<4xf32>
  %next = arith.addf %less, %x : vector<4xf32>
  gpu.barrier
  scf.yield %next, %k1 : vector<4xf32>, index
}
nvgpu.device_async_wait %g {numGroups = 0 : i32}
vector.store %sum#0, %o[%block, %c0, %tc] : OUT, vector<4xf32>
"""

# A load by DMA writes the elements of a wave one after the other.
DMA = """
%wave = arith.divui %t, %wave_size : index
%first_of_wave = arith.muli %wave, %wave_size : index
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  amdgpu.gather_to_lds %a[%row, %t], %s0[%first_of_wave] : f32, ROW, memref<Cxf32, SHARED>
  amdgpu.gather_to_lds %b[%row, %t], %s1[%first_of_wave] : f32, ROW, memref<Cxf32, SHARED>
  amdgpu.memory_counter_wait load(1)
  gpu.barrier
  %x = memref.load %s0[%m] : memref<Cxf32, SHARED>
  amdgpu.memory_counter_wait load(0)
  gpu.barrier
  %y = memref.load %s1[%m] : memref<Cxf32, SHARED>
  %p = arith.mulf %x, %y : f32
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %p : f32
  gpu.barrier
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""

# Each lane states the destination of its elements.
COUNTED = """
%rowbytes = arith.constant ROWBYTES : index
%shift = arith.muli %t, %c4 : index
%a_start = memref.extract_aligned_pointer_as_index %a : ROW -> index
%b_start = memref.extract_aligned_pointer_as_index %b : ROW -> index
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %offset = arith.muli %row, %rowbytes : index
  %distance = arith.subi %i, %lower : index
  %number = arith.divui %distance, %step : index
  %slot = arith.remui %number, %c5 : index
  %v0 = memref.subview %s0[%slot, 0] [1, C] [1, 1]
    : memref<5xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %v1 = memref.subview %s1[%slot, 0] [1, C] [1, 1]
    : memref<5xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %slot_offset = arith.muli %slot, %rowbytes : index
  %place = arith.addi %slot_offset, %shift : index
  %a_row = arith.addi %a_start, %offset : index
  %a_mine = arith.addi %a_row, %shift : index
  %a_number = arith.index_cast %a_mine : index to i64
  %a_from = llvm.inttoptr %a_number : i64 to !llvm.ptr<1>
  %a_slots = memref.extract_aligned_pointer_as_index %v0 : memref<Cxf32, strided<[1], offset: ?>, SHARED> -> index
  %a_place = arith.addi %a_slots, %place : index
  %a_to_number = arith.index_cast %a_place : index to i64
  %a_to = llvm.inttoptr %a_to_number : i64 to !llvm.ptr<3>
  rocdl.global.load.async.to.lds.b32 %a_from, %a_to, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>
  %b_row = arith.addi %b_start, %offset : index
  %b_mine = arith.addi %b_row, %shift : index
  %b_number = arith.index_cast %b_mine : index to i64
  %b_from = llvm.inttoptr %b_number : i64 to !llvm.ptr<1>
  %b_slots = memref.extract_aligned_pointer_as_index %v1 : memref<Cxf32, strided<[1], offset: ?>, SHARED> -> index
  %b_place = arith.addi %b_slots, %place : index
  %b_to_number = arith.index_cast %b_place : index to i64
  %b_to = llvm.inttoptr %b_to_number : i64 to !llvm.ptr<3>
  rocdl.global.load.async.to.lds.b32 %b_from, %b_to, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>
  rocdl.s.wait.asynccnt 1
  gpu.barrier
  %x = memref.load %v0[%m] : memref<Cxf32, strided<[1], offset: ?>, SHARED>
  rocdl.s.wait.asynccnt 0
  gpu.barrier
  %y = memref.load %v1[%m] : memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %p = arith.mulf %x, %y : f32
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %p : f32
  gpu.barrier
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""

# A copy for each element of a thread, and one that gives zeros for every third row.
PIECES = """
%lanes_of_thread = arith.constant 4 : index
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zeros) -> vector<4xf32> {
  %row = arith.addi %i, %c16 : index
  %distance = arith.subi %i, %lower : index
  %number = arith.divui %distance, %step : index
  %slot = arith.remui %number, %c5 : index
  %v0 = memref.subview %s0[%slot, 0] [1, C] [1, 1]
    : memref<5xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %v1 = memref.subview %s1[%slot, 0] [1, C] [1, 1]
    : memref<5xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  scf.for %j = %c0 to %lanes_of_thread step %c1 {
    %own = arith.addi %tc, %j : index
    %ca = nvgpu.device_async_copy %a[%row, %own], %v0[%own], 1 : ROW to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  }
  %third = arith.remui %row, %c3 : index
  %is_inside = arith.cmpi ne, %third, %c0 : index
  %some = arith.select %is_inside, %c4, %c0 : index
  %cb = nvgpu.device_async_copy %b[%row, %tc], %v1[%tc], 4, %some
    : ROW to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %group = nvgpu.device_async_create_group %cb
  nvgpu.device_async_wait %group {numGroups = 0 : i32}
  gpu.barrier
  %x = vector.load %v0[%mc] : memref<Cxf32, strided<[1], offset: ?>, SHARED>, vector<4xf32>
  %y = vector.load %v1[%mc] : memref<Cxf32, strided<[1], offset: ?>, SHARED>, vector<4xf32>
  %p = arith.addf %x, %y : vector<4xf32>
  %less = arith.mulf %acc, %halves : vector<4xf32>
  %next = arith.addf %less, %p : vector<4xf32>
  gpu.barrier
  scf.yield %next : vector<4xf32>
}
vector.store %sum, %o[%block, %c0, %tc] : OUT, vector<4xf32>
"""

# The inner loop has copies of its own, next to the outer one's: pipelined in the copies of the outer one.
INNER_COPIES = """
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zeros) -> vector<4xf32> {
  %row = arith.addi %i, %c16 : index
  %inner = scf.for %j = %c0 to %c4 step %c1 iter_args(%part = %acc) -> vector<4xf32> {
    %slot = arith.remui %j, %c5 : index
    %v0 = memref.subview %s0[%slot, 0] [1, C] [1, 1]
      : memref<5xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
    %near = arith.addi %row, %j : index
    %c = nvgpu.device_async_copy %a[%near, %tc], %v0[%tc], 4 : ROW to memref<Cxf32, strided<[1], offset: ?>, SHARED>
    %group = nvgpu.device_async_create_group %c
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %x = vector.load %v0[%mc] : memref<Cxf32, strided<[1], offset: ?>, SHARED>, vector<4xf32>
    %less = arith.mulf %part, %halves : vector<4xf32>
    %next = arith.addf %less, %x : vector<4xf32>
    gpu.barrier
    scf.yield %next : vector<4xf32>
  }
  scf.yield %inner : vector<4xf32>
}
vector.store %sum, %o[%block, %c0, %tc] : OUT, vector<4xf32>
"""

# A wave begins with one array or with the other.
WAVES = """
%wave = arith.divui %t, %wave_size : index
%first_of_wave = arith.muli %wave, %wave_size : index
%is_early = arith.cmpi eq, %wave, %c0 : index
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %distance = arith.subi %i, %lower : index
  %number = arith.divui %distance, %step : index
  %slot = arith.remui %number, %c5 : index
  %v0 = memref.subview %s0[%slot, 0] [1, C] [1, 1]
    : memref<5xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %v1 = memref.subview %s1[%slot, 0] [1, C] [1, 1]
    : memref<5xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  scf.if %is_early {
    amdgpu.gather_to_lds %a[%row, %t], %v0[%first_of_wave] : f32, ROW, memref<Cxf32, strided<[1], offset: ?>, SHARED>
    amdgpu.gather_to_lds %b[%row, %t], %v1[%first_of_wave] : f32, ROW, memref<Cxf32, strided<[1], offset: ?>, SHARED>
  } else {
    amdgpu.gather_to_lds %b[%row, %t], %v1[%first_of_wave] : f32, ROW, memref<Cxf32, strided<[1], offset: ?>, SHARED>
    amdgpu.gather_to_lds %a[%row, %t], %v0[%first_of_wave] : f32, ROW, memref<Cxf32, strided<[1], offset: ?>, SHARED>
  }
  gpu.barrier
  %x = memref.load %v0[%m] : memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %y = memref.load %v1[%m] : memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %p = arith.mulf %x, %y : f32
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %p : f32
  gpu.barrier
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""

# The first wave copies a row of each array.
TENSORS = """
%is_first_wave = arith.cmpi ult, %t, %wave_size : index
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %distance = arith.subi %i, %lower : index
  %number = arith.divui %distance, %step : index
  %slot = arith.remui %number, %c5 : index
  %v0 = memref.subview %s0[%slot, 0] [1, C] [1, 1]
    : memref<5xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %v1 = memref.subview %s1[%slot, 0] [1, C] [1, 1]
    : memref<5xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  scf.if %is_first_wave {
    %a_base = amdgpu.make_dma_base %a[%row, %c0], %v0[%c0]
      : ROW, memref<Cxf32, strided<[1], offset: ?>, SHARED> -> !amdgpu.tdm_base<f32>
    %a_copy = amdgpu.make_dma_descriptor %a_base globalSize [1, C] globalStride [C, 1] sharedSize [1, C]
      : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
    amdgpu.tensor_load_to_lds %a_copy : !amdgpu.tdm_descriptor
    %b_base = amdgpu.make_dma_base %b[%row, %c0], %v1[%c0]
      : ROW, memref<Cxf32, strided<[1], offset: ?>, SHARED> -> !amdgpu.tdm_base<f32>
    %b_copy = amdgpu.make_dma_descriptor %b_base globalSize [1, C] globalStride [C, 1] sharedSize [1, C]
      : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
    amdgpu.tensor_load_to_lds %b_copy : !amdgpu.tdm_descriptor
  }
  amdgpu.memory_counter_wait tensor(1)
  gpu.barrier
  %x = memref.load %v0[%m] : memref<Cxf32, strided<[1], offset: ?>, SHARED>
  amdgpu.memory_counter_wait tensor(0)
  gpu.barrier
  %y = memref.load %v1[%m] : memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %p = arith.mulf %x, %y : f32
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %p : f32
  gpu.barrier
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""

_OBJECTS = """
%is_first = arith.cmpi eq, %t, %c0 : index
%ticks = arith.constant 10000000 : index
%true = arith.constant true
%false = arith.constant false
"""

# One barrier object for both copies of an iteration, with a parity by the number of the iteration.
TILES = (
    _OBJECTS
    + """
%bytes = arith.constant BOTHBYTES : index
%full = nvgpu.mbarrier.create -> OBJECTS<5>
nvgpu.mbarrier.init %full[%c0], %c1, predicate = %is_first : OBJECTS<5>
nvgpu.mbarrier.init %full[%c1], %c1, predicate = %is_first : OBJECTS<5>
nvgpu.mbarrier.init %full[%c2], %c1, predicate = %is_first : OBJECTS<5>
nvgpu.mbarrier.init %full[%c3], %c1, predicate = %is_first : OBJECTS<5>
nvgpu.mbarrier.init %full[%c4], %c1, predicate = %is_first : OBJECTS<5>
nvvm.fence.mbarrier.init
gpu.barrier
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %distance = arith.subi %i, %lower : index
  %number = arith.divui %distance, %step : index
  %slot = arith.remui %number, %c5 : index
  %turn = arith.divui %number, %c5 : index
  %bit = arith.remui %turn, %c2 : index
  %parity = arith.cmpi eq, %bit, %c1 : index
  %v0 = memref.subview %s0[%slot, 0, 0] [1, 1, C] [1, 1, 1]
    : memref<5x1xCxf32, SHARED> to memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  %v1 = memref.subview %s1[%slot, 0, 0] [1, 1, C] [1, 1, 1]
    : memref<5x1xCxf32, SHARED> to memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  scf.if %is_first {
    nvgpu.mbarrier.arrive.expect_tx %full[%slot], %bytes : OBJECTS<5>
    nvgpu.tma.async.load %map_a[%c0, %row], %full[%slot] to %v0
      : MAP, OBJECTS<5> -> memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
    nvgpu.tma.async.load %map_b[%c0, %row], %full[%slot] to %v1
      : MAP, OBJECTS<5> -> memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  }
  nvgpu.mbarrier.try_wait.parity %full[%slot], %parity, %ticks : OBJECTS<5>
  %x = memref.load %v0[%c0, %m] : memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  %y = memref.load %v1[%c0, %m] : memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  %p = arith.mulf %x, %y : f32
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %p : f32
  gpu.barrier
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""
)

# One barrier object, and one tile of each array: their slots are up to the passes.
ONE_TILE = (
    _OBJECTS
    + """
%bytes = arith.constant BOTHBYTES : index
%full = nvgpu.mbarrier.create -> OBJECTS<1>
nvgpu.mbarrier.init %full[%c0], %c1, predicate = %is_first : OBJECTS<1>
nvvm.fence.mbarrier.init
gpu.barrier
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %distance = arith.subi %i, %lower : index
  %number = arith.divui %distance, %step : index
  %bit = arith.remui %number, %c2 : index
  %parity = arith.cmpi eq, %bit, %c1 : index
  nvgpu.mbarrier.arrive.expect_tx %full[%c0], %bytes, predicate = %is_first : OBJECTS<1>
  nvgpu.tma.async.load %map_a[%c0, %row], %full[%c0] to %s0, predicate = %is_first
    : MAP, OBJECTS<1> -> memref<1xCxf32, SHARED>
  nvgpu.tma.async.load %map_b[%c0, %row], %full[%c0] to %s1, predicate = %is_first
    : MAP, OBJECTS<1> -> memref<1xCxf32, SHARED>
  nvgpu.mbarrier.try_wait.parity %full[%c0], %parity, %ticks : OBJECTS<1>
  %x = memref.load %s0[%c0, %m] : memref<1xCxf32, SHARED>
  %y = memref.load %s1[%c0, %m] : memref<1xCxf32, SHARED>
  %p = arith.mulf %x, %y : f32
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %p : f32
  gpu.barrier
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""
)

# A barrier object for each of two buffers in one group, and a parity that the loop carries.
PHASES = (
    _OBJECTS
    + """
%bytes = arith.constant ROWBYTES : index
%ten = arith.constant 10 : index
%full = nvgpu.mbarrier.create -> OBJECTS<10>
scf.for %k = %c0 to %ten step %c1 {
  nvgpu.mbarrier.init %full[%k], %c1, predicate = %is_first : OBJECTS<10>
}
nvvm.fence.mbarrier.init
gpu.barrier
%sum:2 = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero, %parity = %false) -> (f32, i1) {
  %row = arith.addi %i, %c16 : index
  %distance = arith.subi %i, %lower : index
  %number = arith.divui %distance, %step : index
  %slot = arith.remui %number, %c5 : index
  %other = arith.addi %slot, %c5 : index
  %v0 = memref.subview %s0[%slot, 0, 0] [1, 1, C] [1, 1, 1]
    : memref<5x1xCxf32, SHARED> to memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  %v1 = memref.subview %s1[%slot, 0, 0] [1, 1, C] [1, 1, 1]
    : memref<5x1xCxf32, SHARED> to memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  nvgpu.mbarrier.arrive.expect_tx %full[%slot], %bytes, predicate = %is_first : OBJECTS<10>
  nvgpu.tma.async.load %map_a[%c0, %row], %full[%slot] to %v0, predicate = %is_first
    : MAP, OBJECTS<10> -> memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  nvgpu.mbarrier.arrive.expect_tx %full[%other], %bytes, predicate = %is_first : OBJECTS<10>
  nvgpu.tma.async.load %map_b[%c0, %row], %full[%other] to %v1, predicate = %is_first
    : MAP, OBJECTS<10> -> memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  nvgpu.mbarrier.try_wait.parity %full[%slot], %parity, %ticks : OBJECTS<10>
  %x = memref.load %v0[%c0, %m] : memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  nvgpu.mbarrier.try_wait.parity %full[%other], %parity, %ticks : OBJECTS<10>
  %y = memref.load %v1[%c0, %m] : memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  %p = arith.mulf %x, %y : f32
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %p : f32
  gpu.barrier
  %is_last = arith.cmpi eq, %slot, %c4 : index
  %flipped = arith.xori %parity, %true : i1
  %later = arith.select %is_last, %flipped, %parity : i1
  scf.yield %next, %later : f32, i1
}
memref.store %sum#0, %o[%block, %c0, %t] : OUT
"""
)

# Barrier objects that all runs of the loop use in turn: slot and parity are counted from the iterations of all runs.
RUNNING_HEAD = (
    _OBJECTS
    + """
%bytes = arith.constant BOTHBYTES : index
%full = nvgpu.mbarrier.create -> OBJECTS<SLOTS>
%slots = arith.constant SLOTS : index
scf.for %k = %c0 to %slots step %c1 {
  nvgpu.mbarrier.init %full[%k], %c1, predicate = %is_first : OBJECTS<SLOTS>
}
nvvm.fence.mbarrier.init
gpu.barrier
"""
)
_RUNNING_TILES = """
  %v0 = memref.subview %s0[%slot, 0, 0] [1, 1, C] [1, 1, 1]
    : memref<SLOTSx1xCxf32, SHARED> to memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  %v1 = memref.subview %s1[%slot, 0, 0] [1, 1, C] [1, 1, 1]
    : memref<SLOTSx1xCxf32, SHARED> to memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  scf.if %is_first {
    nvgpu.mbarrier.arrive.expect_tx %full[%slot], %bytes : OBJECTS<SLOTS>
    nvgpu.tma.async.load %map_a[%c0, %row], %full[%slot] to %v0
      : MAP, OBJECTS<SLOTS> -> memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
    nvgpu.tma.async.load %map_b[%c0, %row], %full[%slot] to %v1
      : MAP, OBJECTS<SLOTS> -> memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  }
  nvgpu.mbarrier.try_wait.parity %full[%slot], %parity, %ticks : OBJECTS<SLOTS>
  %x = memref.load %v0[%c0, %m] : memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  %y = memref.load %v1[%c0, %m] : memref<1xCxf32, strided<[C, 1], offset: ?>, SHARED>
  %p = arith.mulf %x, %y : f32
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %p : f32
  gpu.barrier
"""

RUNNING_TILES = (
    """
%later = arith.addi %before, %count : index
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %distance = arith.subi %i, %lower : index
  %own = arith.divui %distance, %step : index
  %number = arith.addi %before, %own : index
  %slot = arith.remui %number, %slots : index
  %turn = arith.divui %number, %slots : index
  %bit = arith.remui %turn, %c2 : index
  %parity = arith.cmpi eq, %bit, %c1 : index
"""
    + _RUNNING_TILES
    + """
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""
)

# The same with a slot and a parity that go from iteration to iteration, and from run to run.
RUNNING_PHASES = (
    """
%sum:3 = scf.for %i = %lower to %upper step %step
    iter_args(%acc = %zero, %slot = %begin_slot, %parity = %begin_parity) -> (f32, index, i1) {
  %row = arith.addi %i, %c16 : index
"""
    + _RUNNING_TILES
    + """
  %more = arith.addi %slot, %c1 : index
  %is_over = arith.cmpi eq, %more, %slots : index
  %later_slot = arith.select %is_over, %c0, %more : index
  %flipped = arith.xori %parity, %true : i1
  %later_parity = arith.select %is_over, %flipped, %parity : i1
  scf.yield %next, %later_slot, %later_parity : f32, index, i1
}
memref.store %sum#0, %o[%block, %c0, %t] : OUT
"""
)

# A number that goes from iteration to iteration, and from run to run.
RUNNING_GROUPS = """
%sum:2 = scf.for %i = %lower to %upper step %step iter_args(%acc = %zeros, %number = %begin_number)
    -> (vector<4xf32>, index) {
  %row = arith.addi %i, %c16 : index
  %slot = arith.remui %number, %c5 : index
  %v0 = memref.subview %s0[%slot, 0] [1, C] [1, 1]
    : memref<5xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %v1 = memref.subview %s1[%slot, 0] [1, C] [1, 1]
    : memref<5xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %ca = nvgpu.device_async_copy %a[%row, %tc], %v0[%tc], 4 : ROW to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %cb = nvgpu.device_async_copy %b[%row, %tc], %v1[%tc], 4 : ROW to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %group = nvgpu.device_async_create_group %ca, %cb
  nvgpu.device_async_wait %group {numGroups = 0 : i32}
  gpu.barrier
  %x = vector.load %v0[%mc] : memref<Cxf32, strided<[1], offset: ?>, SHARED>, vector<4xf32>
  %y = vector.load %v1[%mc] : memref<Cxf32, strided<[1], offset: ?>, SHARED>, vector<4xf32>
  %p = arith.mulf %x, %y : vector<4xf32>
  %less = arith.mulf %acc, %halves : vector<4xf32>
  %next = arith.addf %less, %p : vector<4xf32>
  %more = arith.addi %number, %c1 : index
  scf.yield %next, %more : vector<4xf32>, index
}
vector.store %sum#0, %o[%block, %c0, %tc] : OUT, vector<4xf32>
"""

# A number of all runs that is narrower than the counter.
RUNNING_DMA = """
%wave = arith.divui %t, %wave_size : index
%first_of_wave = arith.muli %wave, %wave_size : index
%later = arith.addi %before, %count : index
%before32 = arith.index_cast %before : index to i32
%four = arith.constant 4 : i32
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %distance = arith.subi %i, %lower : index
  %own = arith.divui %distance, %step : index
  %own32 = arith.index_cast %own : index to i32
  %number = arith.addi %own32, %before32 : i32
  %slot32 = arith.remsi %number, %four : i32
  %slot = arith.index_cast %slot32 : i32 to index
  %v0 = memref.subview %s0[%slot, 0] [1, C] [1, 1]
    : memref<4xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %v1 = memref.subview %s1[%slot, 0] [1, C] [1, 1]
    : memref<4xCxf32, SHARED> to memref<Cxf32, strided<[1], offset: ?>, SHARED>
  amdgpu.gather_to_lds %a[%row, %t], %v0[%first_of_wave] : f32, ROW, memref<Cxf32, strided<[1], offset: ?>, SHARED>
  amdgpu.gather_to_lds %b[%row, %t], %v1[%first_of_wave] : f32, ROW, memref<Cxf32, strided<[1], offset: ?>, SHARED>
  gpu.barrier
  %x = memref.load %v0[%m] : memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %y = memref.load %v1[%m] : memref<Cxf32, strided<[1], offset: ?>, SHARED>
  %p = arith.mulf %x, %y : f32
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %p : f32
  gpu.barrier
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""
