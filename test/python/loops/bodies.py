"""What a thread does in each shape of loop (`kernels.py`), as text with placeholders.

C is the number of columns, ROW, OUT and SHARED are types and a memory space, ROWBYTES are the bytes of a row, HALF is half of the threads.
"""

REDUCTION = """
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %x = memref.load %a[%row, %t] : ROW
  memref.store %x, %s0[%t] : memref<Cxf32, SHARED>
  gpu.barrier
  %y = memref.load %s0[%m] : memref<Cxf32, SHARED>
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %y : f32
  gpu.barrier
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""

REGISTERS = """
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %x = memref.load %a[%row, %t] : ROW
  %y = memref.load %b[%row, %m] : ROW
  %p = arith.mulf %x, %y : f32
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %p : f32
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""

# Four rows of products: thread t has column t, and all have the same four factors.
PRODUCT = """
%few = arith.cmpi ult, %t, %c4 : index
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zeros) -> vector<4xf32> {
  %row = arith.addi %i, %c16 : index
  %x = memref.load %a[%row, %t] : ROW
  %f = memref.load %b[%row, %t] : ROW
  memref.store %x, %s0[%t] : memref<Cxf32, SHARED>
  scf.if %few {
    memref.store %f, %s1[%t] : memref<4xf32, SHARED>
  }
  gpu.barrier
  %y = memref.load %s0[%m] : memref<Cxf32, SHARED>
  %ys = vector.broadcast %y : f32 to vector<4xf32>
  %fs = vector.load %s1[%c0] : memref<4xf32, SHARED>, vector<4xf32>
  %less = arith.mulf %acc, %halves : vector<4xf32>
  %p = arith.mulf %ys, %fs : vector<4xf32>
  %next = arith.addf %less, %p : vector<4xf32>
  gpu.barrier
  scf.yield %next : vector<4xf32>
}
%r0 = vector.extract %sum[0] : f32 from vector<4xf32>
%r1 = vector.extract %sum[1] : f32 from vector<4xf32>
%r2 = vector.extract %sum[2] : f32 from vector<4xf32>
%r3 = vector.extract %sum[3] : f32 from vector<4xf32>
memref.store %r0, %o[%block, %c0, %t] : OUT
memref.store %r1, %o[%block, %c1, %t] : OUT
memref.store %r2, %o[%block, %c2, %t] : OUT
memref.store %r3, %o[%block, %c3, %t] : OUT
"""

RECURRENCE = """
%sum:2 = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero, %row = %c5) -> (f32, index) {
  %x = memref.load %a[%row, %t] : ROW
  memref.store %x, %s0[%t] : memref<Cxf32, SHARED>
  gpu.barrier
  %y = memref.load %s0[%m] : memref<Cxf32, SHARED>
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %y : f32
  %by5 = arith.muli %row, %c5 : index
  %by5and3 = arith.addi %by5, %c3 : index
  %next_row = arith.andi %by5and3, %c63 : index
  gpu.barrier
  scf.yield %next, %next_row : f32, index
}
memref.store %sum#0, %o[%block, %c0, %t] : OUT
"""

# Each side reads another array; the first half of the threads doubles what it got.
BRANCH = """
%half_of_threads = arith.constant HALF : index
%is_first = arith.cmpi ult, %t, %half_of_threads : index
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %bit = arith.andi %row, %c1 : index
  %is_even = arith.cmpi eq, %bit, %c0 : index
  %x = scf.if %is_even -> f32 {
    %from_a = memref.load %a[%row, %t] : ROW
    scf.yield %from_a : f32
  } else {
    %from_b = memref.load %b[%row, %t] : ROW
    scf.yield %from_b : f32
  }
  memref.store %x, %s0[%t] : memref<Cxf32, SHARED>
  gpu.barrier
  %y = memref.load %s0[%m] : memref<Cxf32, SHARED>
  %z = scf.if %is_first -> f32 {
    %twice = arith.addf %y, %y : f32
    scf.yield %twice : f32
  } else {
    scf.yield %y : f32
  }
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %z : f32
  gpu.barrier
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""

NESTED = """
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %inner = scf.for %j = %c0 to %c4 step %c1 iter_args(%part = %acc) -> f32 {
    %near = arith.addi %row, %j : index
    %x = memref.load %a[%near, %t] : ROW
    memref.store %x, %s0[%t] : memref<Cxf32, SHARED>
    gpu.barrier
    %y = memref.load %s0[%m] : memref<Cxf32, SHARED>
    %less = arith.mulf %part, %half : f32
    %next = arith.addf %less, %y : f32
    gpu.barrier
    scf.yield %next : f32
  }
  memref.store %inner, %s0[%t] : memref<Cxf32, SHARED>
  gpu.barrier
  %back = memref.load %s0[%m] : memref<Cxf32, SHARED>
  gpu.barrier
  scf.yield %back : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""

SIBLINGS = """
%first = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %x = memref.load %a[%row, %t] : ROW
  memref.store %x, %s0[%t] : memref<Cxf32, SHARED>
  gpu.barrier
  %y = memref.load %s0[%m] : memref<Cxf32, SHARED>
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %y : f32
  gpu.barrier
  scf.yield %next : f32
}
%is_third = arith.cmpi ne, %block, %c3 : index
%both = scf.if %is_third -> f32 {
  %second = scf.for %i = %lower to %upper step %step iter_args(%acc = %first) -> f32 {
    %row = arith.addi %i, %c16 : index
    %x = memref.load %b[%row, %t] : ROW
    memref.store %x, %s0[%m] : memref<Cxf32, SHARED>
    gpu.barrier
    %y = memref.load %s0[%t] : memref<Cxf32, SHARED>
    %less = arith.mulf %acc, %half : f32
    %next = arith.addf %less, %y : f32
    gpu.barrier
    scf.yield %next : f32
  }
  scf.yield %second : f32
} else {
  scf.yield %first : f32
}
memref.store %both, %o[%block, %c0, %t] : OUT
"""

OUTPUTS = """
scf.for %i = %lower to %upper step %step {
  %row = arith.addi %i, %c16 : index
  %x = memref.load %a[%row, %t] : ROW
  memref.store %x, %s0[%t] : memref<Cxf32, SHARED>
  gpu.barrier
  %y = memref.load %s0[%m] : memref<Cxf32, SHARED>
  %z = memref.load %b[%row, %t] : ROW
  %p = arith.mulf %y, %z : f32
  memref.store %p, %o[%block, %row, %t] : OUT
  gpu.barrier
}
"""

# From one buffer to the next.
CHAIN = """
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %x = memref.load %a[%row, %t] : ROW
  memref.store %x, %s0[%t] : memref<Cxf32, SHARED>
  gpu.barrier
  %y = memref.load %s0[%m] : memref<Cxf32, SHARED>
  %z = memref.load %b[%row, %t] : ROW
  %p = arith.mulf %y, %z : f32
  memref.store %p, %s1[%t] : memref<Cxf32, SHARED>
  gpu.barrier
  %q = memref.load %s1[%m] : memref<Cxf32, SHARED>
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %q : f32
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""

# What the buffer holds lasts for two iterations.
PERSISTENT = """
memref.store %zero, %s0[%t] : memref<Cxf32, SHARED>
gpu.barrier
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %bit = arith.andi %row, %c1 : index
  %is_even = arith.cmpi eq, %bit, %c0 : index
  %x = memref.load %a[%row, %t] : ROW
  scf.if %is_even {
    memref.store %x, %s0[%t] : memref<Cxf32, SHARED>
  }
  gpu.barrier
  %y = memref.load %s0[%m] : memref<Cxf32, SHARED>
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %y : f32
  gpu.barrier
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""

# Each iteration reads what the one before wrote, in global memory, and another thread at that.
MEMORY = """
%c62 = arith.constant 62 : index
%start = memref.load %a[%c0, %t] : ROW
%first = arith.addi %lower, %c16 : index
memref.store %start, %o[%block, %first, %t] : OUT
gpu.barrier
scf.for %i = %lower to %upper step %step {
  %row = arith.addi %i, %c16 : index
  %further = arith.addi %row, %step : index
  %x = memref.load %o[%block, %row, %m] : OUT
  %y = memref.load %a[%row, %t] : ROW
  %less = arith.mulf %x, %half : f32
  %z = arith.addf %less, %y : f32
  memref.store %z, %o[%block, %further, %t] : OUT
  gpu.barrier
}
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

# The slots are the kernel's own; two groups an iteration, each waited for by itself.
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

# Copies for the next iteration are under way: it is pipelined by hand.
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

# Each lane says where its elements go.
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
