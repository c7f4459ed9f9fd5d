# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Thread code for each shape of loop (`kernels.py`), as text with placeholders.

C is the number of columns, ROW, OUT and SHARED are types and a memory space, ROWBYTES are the bytes of a row, HALF is
half of the threads.
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

# Four rows of multiplications: thread t has column t, and all have the same four multipliers.
MULTIPLICATIONS = """
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

# Each side reads another array; the first half of the threads doubles the value that it read.
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
%span = arith.subi %upper, %lower : index
%trips = arith.ceildivsi %span, %step : index
%is_third = arith.cmpi ne, %trips, %c3 : index
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

# The buffer's contents last for two iterations.
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

# Two buffers change places with every iteration.
ROTATING = """
%sum:3 = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero, %now = %s0, %next = %s1)
    -> (f32, memref<Cxf32, SHARED>, memref<Cxf32, SHARED>) {
  %row = arith.addi %i, %c16 : index
  %x = memref.load %a[%row, %t] : ROW
  memref.store %x, %now[%t] : memref<Cxf32, SHARED>
  gpu.barrier
  %y = memref.load %now[%m] : memref<Cxf32, SHARED>
  %less = arith.mulf %acc, %half : f32
  %more = arith.addf %less, %y : f32
  scf.yield %more, %next, %now : f32, memref<Cxf32, SHARED>, memref<Cxf32, SHARED>
}
memref.store %sum#0, %o[%block, %c0, %t] : OUT
"""

# Two buffers in turn, one of which this iteration uses.
SELECTED = """
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %distance = arith.subi %i, %lower : index
  %number = arith.divui %distance, %step : index
  %bit = arith.andi %number, %c1 : index
  %is_even = arith.cmpi eq, %bit, %c0 : index
  %now = arith.select %is_even, %s0, %s1 : memref<Cxf32, SHARED>
  %x = memref.load %a[%row, %t] : ROW
  memref.store %x, %now[%t] : memref<Cxf32, SHARED>
  gpu.barrier
  %y = memref.load %now[%m] : memref<Cxf32, SHARED>
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %y : f32
  scf.yield %next : f32
}
memref.store %sum, %o[%block, %c0, %t] : OUT
"""

# The value in the buffer after the last iteration, or the value before the first, is read after the loop.
LEFTOVER = """
%start = memref.load %b[%c5, %t] : ROW
memref.store %start, %s0[%t] : memref<Cxf32, SHARED>
gpu.barrier
%sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> f32 {
  %row = arith.addi %i, %c16 : index
  %x = memref.load %a[%row, %t] : ROW
  gpu.barrier
  memref.store %x, %s0[%t] : memref<Cxf32, SHARED>
  gpu.barrier
  %y = memref.load %s0[%m] : memref<Cxf32, SHARED>
  %less = arith.mulf %acc, %half : f32
  %next = arith.addf %less, %y : f32
  scf.yield %next : f32
}
%left = memref.load %s0[%m] : memref<Cxf32, SHARED>
memref.store %sum, %o[%block, %c0, %t] : OUT
memref.store %left, %o[%block, %c1, %t] : OUT
"""
