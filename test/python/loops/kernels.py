"""Kernels with one shape of loop each, with their results in numpy.

A block runs its loop as often as its number says, from `lower` by `step`: one launch covers 0 to 9 iterations. With
`trips` the bounds are constants, and there is one block.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from smalti import targets

from .case import Case

ROWS, TRIPS, BIAS = 64, 10, 16
Rows = Sequence[int]


@dataclass(frozen=True)
class Bounds:
    """Where a loop starts, how it steps, and how often it runs where that is constant."""

    lower: int = 0
    step: int = 1
    short: int = 0
    """By how much the end is nearer than a whole step."""
    trips: int | None = None

    def rows(self, trips: int) -> list[int]:
        return [self.lower + BIAS + k * self.step for k in range(trips)]


@dataclass(frozen=True)
class Shape:
    """One shape of loop."""

    name: str
    body: str
    """For one thread: from the rows of %a and %b to the block's rows of %o, or its row 0 for a result."""
    expected: Callable[[np.ndarray, np.ndarray, Rows], dict[int, np.ndarray]]
    """The rows of the output that are written, by the arrays and the rows that the loop runs over."""
    buffers: Sequence[str] = ()
    """Types of the buffers in shared memory; `C` is the number of columns."""
    refused: bool = False
    """Whether no loop of it can be pipelined."""
    copies: bool = False
    """Whether it copies asynchronously, as NVIDIA's chips do."""
    slots: bool = True
    """Whether the pass for slots may be in front."""
    lanes: int = 1

    def case(self, chip: str, passes: str, bounds: Sequence[Bounds], noalias: bool = True) -> Case:
        """The kernel and the passes; one launch for each of `bounds` where they are not constant."""
        return Case(self.text(chip, bounds[0], noalias), chip, passes, tuple(self._scalars(b) for b in bounds), seed=1)

    @staticmethod
    def _scalars(bounds: Bounds) -> dict[int, str]:
        if bounds.trips is not None:
            return {}
        return {3: str(bounds.lower), 4: str(bounds.step), 5: str(bounds.short)}

    def text(self, chip: str, bounds: Bounds, noalias: bool = True) -> str:
        threads = 2 * targets.get(chip).wave_size
        columns = threads * self.lanes
        own = " {llvm.noalias}" if noalias else ""
        scalars = "" if bounds.trips is not None else ", %lower: index, %step: index, %short: index"
        if bounds.trips is None:
            ends = ["%length = arith.muli %block, %step : index", "%whole = arith.addi %lower, %length : index",
                    "%upper = arith.subi %whole, %short : index"]  # fmt: skip
        else:
            end = bounds.lower + bounds.trips * bounds.step - (bounds.short if bounds.trips else 0)
            numbers = {"lower": bounds.lower, "upper": end, "step": bounds.step}
            ends = [f"%{name} = arith.constant {number} : index" for name, number in numbers.items()]
        constants = [f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 4, 5, BIAS, ROWS - 1)]
        buffers = [
            f"%s{i} = memref.alloc() : memref<{ty}xf32, #gpu.address_space<workgroup>>".replace("C", str(columns))
            for i, ty in enumerate(self.buffers)
        ]
        a = f"memref<{ROWS}x{columns}xf32>{own}"
        body = (self.body.replace("ROW", f"memref<{ROWS}x{columns}xf32>")
                .replace("OUT", f"memref<{TRIPS}x{ROWS}x{columns}xf32>")
                .replace("SHARED", "#gpu.address_space<workgroup>")
                .replace("C", str(columns)).replace("HALF", str(threads // 2)))  # fmt: skip
        lines = [
            "gpu.module @kernels {",
            f"  gpu.func @{self.name}(%a: {a}, %b: {a}, %o: memref<{TRIPS}x{ROWS}x{columns}xf32>{own}{scalars}) kernel",
            f"      attributes {{known_block_size = array<i32: {threads}, 1, 1>, "
            f"known_grid_size = array<i32: {TRIPS if bounds.trips is None else 1}, 1, 1>}} {{",
            *("    " + line for line in (
                *constants, "%half = arith.constant 0.5 : f32", "%zero = arith.constant 0.0 : f32",
                "%halves = arith.constant dense<0.5> : vector<4xf32>",
                "%zeros = arith.constant dense<0.0> : vector<4xf32>",
                "%block = gpu.block_id x", "%t = gpu.thread_id x", f"%last = arith.constant {threads - 1} : index",
                "%m = arith.subi %last, %t : index", f"%lanes = arith.constant {self.lanes} : index",
                "%tc = arith.muli %t, %lanes : index", "%mc = arith.muli %m, %lanes : index", *ends, *buffers,
            )),
            textwrap.indent(textwrap.dedent(body).strip("\n"), "    "),
            "    gpu.return",
            "  }",
            "}",
        ]  # fmt: skip
        return "\n".join(lines) + "\n"

    def check(self, bounds: Bounds, arrays: Sequence[np.ndarray]) -> None:
        """Compares the kernel's output with numpy in double precision."""
        a, b, out = (array.astype(np.float64) for array in arrays[:3])
        for block in range(TRIPS if bounds.trips is None else 1):
            rows = bounds.rows(block if bounds.trips is None else bounds.trips)
            for row, wanted in self.expected(a, b, rows).items():
                np.testing.assert_allclose(out[block, row], wanted, rtol=1e-5, atol=1e-5, err_msg=f"block {block}")


def _folded(values: Iterator[np.ndarray], start: Any = 0.0) -> Any:
    total = start
    for value in values:
        total = total * 0.5 + value
    return total


def _mirrored(row: np.ndarray, lanes: int = 1) -> np.ndarray:
    return row.reshape(-1, lanes)[::-1].reshape(-1)


_REDUCTION = """
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

_REGISTERS = """
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
_PRODUCT = """
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

_RECURRENCE = """
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
_BRANCH = """
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

_NESTED = """
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

_SIBLINGS = """
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

_OUTPUTS = """
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
_CHAIN = """
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
_PERSISTENT = """
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
_MEMORY = """
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

_COPIES = """
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
_GROUPS = """
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
_BY_HAND = """
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


def _recurrence(a: np.ndarray, rows: Rows) -> Iterator[np.ndarray]:
    row = 5
    for _ in rows:
        yield a[row][::-1]
        row = (5 * row + 3) % ROWS


def _branch(a: np.ndarray, b: np.ndarray, rows: Rows) -> Iterator[np.ndarray]:
    for row in rows:
        got = (b if row % 2 else a)[row][::-1].copy()
        got[: len(got) // 2] *= 2
        yield got


def _nested(a: np.ndarray, rows: Rows) -> Any:
    total: Any = np.zeros(a.shape[1])
    for row in rows:
        total = _folded((a[row + j][::-1] for j in range(4)), total)[::-1]
    return total


def _siblings(a: np.ndarray, b: np.ndarray, rows: Rows) -> Any:
    first = _folded(a[row][::-1] for row in rows)
    # The block is known by how often the loop runs.
    return first if len(rows) == 3 else _folded((b[row][::-1] for row in rows), first)


def _persistent(a: np.ndarray, rows: Rows) -> Iterator[np.ndarray]:
    held = np.zeros(a.shape[1])
    for row in rows:
        held = held if row % 2 else a[row][::-1]
        yield held


def _memory(a: np.ndarray, rows: Rows) -> dict[int, np.ndarray]:
    if not rows:
        return {}
    step = rows[1] - rows[0] if len(rows) > 1 else 0
    value, found = a[0], {rows[0]: a[0]}
    for row in rows:
        value = value[::-1] * 0.5 + a[row]
        if step:
            found[row + step] = value
    return found


def _both(a: np.ndarray, b: np.ndarray, rows: Rows) -> dict[int, np.ndarray]:
    return {0: _folded(_mirrored(a[row], 4) * _mirrored(b[row], 4) for row in rows)}


SHAPES = (
    Shape("reduction", _REDUCTION, lambda a, b, rows: {0: _folded(a[row][::-1] for row in rows)}, ["C"]),
    Shape("registers", _REGISTERS, lambda a, b, rows: {0: _folded(a[row] * b[row][::-1] for row in rows)}),
    Shape(
        "product", _PRODUCT,
        lambda a, b, rows: {k: _folded(a[row][::-1] * b[row][k] for row in rows) for k in range(4)}, ["C", "4"],
    ),
    Shape("recurrence", _RECURRENCE, lambda a, b, rows: {0: _folded(_recurrence(a, rows))}, ["C"]),
    Shape("branch", _BRANCH, lambda a, b, rows: {0: _folded(_branch(a, b, rows))}, ["C"]),
    Shape("nested", _NESTED, lambda a, b, rows: {0: _nested(a, rows)}, ["C"]),
    Shape("siblings", _SIBLINGS, lambda a, b, rows: {0: _siblings(a, b, rows)}, ["C"]),
    Shape("outputs", _OUTPUTS, lambda a, b, rows: {row: a[row][::-1] * b[row] for row in rows}, ["C"]),
    Shape(
        "chain", _CHAIN, lambda a, b, rows: {0: _folded((a[row][::-1] * b[row])[::-1] for row in rows)}, ["C", "C"],
    ),
    Shape("persistent", _PERSISTENT, lambda a, b, rows: {0: _folded(_persistent(a, rows))}, ["C"]),
    Shape("memory", _MEMORY, lambda a, b, rows: _memory(a, rows), refused=True),
    Shape("copies", _COPIES, _both, ["C", "C"], copies=True, lanes=4),
    Shape("groups", _GROUPS, _both, ["5xC", "5xC"], copies=True, lanes=4),
    Shape(
        "by_hand", _BY_HAND, lambda a, b, rows: {0: _folded(_mirrored(a[row], 4) for row in rows)}, ["2xC"],
        copies=True, lanes=4, refused=True,
    ),
)  # fmt: skip

BOUNDS = (Bounds(), Bounds(lower=3, step=2, short=1), Bounds(lower=-5, step=3, short=2))
"""Of loops whose bounds are not constant."""


def passes(chip: str, stages: int, depth: int = 0, mode: str = "auto") -> str:
    """The passes on every kernel; slots of a buffer where `depth` is not 0."""
    found = [f"smalti-multi-buffer{{depth={depth} target={chip}}}"] if depth else []
    found.append(f"smalti-pipeline-loops{{stages={stages} mode={mode} target={chip}}}")
    return f"builtin.module(gpu.module(gpu.func({','.join(found)})))"
