# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic updates of memory (`memref.atomic_rmw`) of every kind, and their results, for any engine.

The kinds are those of MLIR's bindings. The functions are of Python's numbers, and numpy only holds the arrays.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from smalti.dialects.arith import AtomicRMWKind

THREADS, SLOTS = 64, 3
INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
FLOATS: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
TYPES = {**INTEGERS, **FLOATS}
SMALL_FLOATS: dict[str, Any] = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
"""Types that only the simulator updates: LLVM's atomics can exchange them and nothing else."""
_DTYPES = {**TYPES, **SMALL_FLOATS}


def _maximum(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y):
        return math.nan
    return y if x < y or (x == y and math.copysign(1, x) < 0) else x


def _maxnum(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y):
        return y if math.isnan(x) else x
    return max(x, y)


FUNCTIONS: dict[AtomicRMWKind, Callable[[Any, Any, int], Any]] = {
    AtomicRMWKind.addf: lambda x, y, mask: x + y,
    AtomicRMWKind.addi: lambda x, y, mask: x + y,
    AtomicRMWKind.andi: lambda x, y, mask: x & y,
    AtomicRMWKind.assign: lambda x, y, mask: y,
    AtomicRMWKind.maximumf: lambda x, y, mask: _maximum(x, y),
    AtomicRMWKind.maxnumf: lambda x, y, mask: _maxnum(x, y),
    AtomicRMWKind.maxs: lambda x, y, mask: max(x, y),
    AtomicRMWKind.maxu: lambda x, y, mask: max(x & mask, y & mask),
    AtomicRMWKind.minimumf: lambda x, y, mask: -_maximum(-x, -y),
    AtomicRMWKind.minnumf: lambda x, y, mask: -_maxnum(-x, -y),
    AtomicRMWKind.mins: lambda x, y, mask: min(x, y),
    AtomicRMWKind.minu: lambda x, y, mask: min(x & mask, y & mask),
    AtomicRMWKind.mulf: lambda x, y, mask: x * y,
    AtomicRMWKind.muli: lambda x, y, mask: x * y,
    AtomicRMWKind.ori: lambda x, y, mask: x | y,
    AtomicRMWKind.xori: lambda x, y, mask: x ^ y,
}
"""The stored value, computed from the previous value, the operand, and a mask of the type's bits."""

OF_ANY = {AtomicRMWKind.assign}
CASES = [
    (kind, ty)
    for kind in AtomicRMWKind
    for ty in TYPES
    if kind in OF_ANY or (str(kind).endswith("f") == (ty in FLOATS))
]
"""Every kind with every type that it is for."""


def program(kind: AtomicRMWKind, ty: str, shared: bool = False) -> str:
    """Each of the threads updates one of a few elements and stores what it found there."""
    space = ", #gpu.address_space<workgroup>" if shared else ""
    there, before, after = "%o", "", ""
    if shared:
        there = "%tile"
        move = """
    scf.if %few {{
      %{0} = memref.load %{1}[%t] : memref<{n}x{ty}{2}>
      memref.store %{0}, %{3}[%t] : memref<{n}x{ty}{4}>
    }}"""
        before = f"""
    %tile = memref.alloc() : memref<{SLOTS}x{ty}{space}>
    %few = arith.cmpi ult, %t, %slots : index"""
        before += move.format("b", "o", "", "tile", space, n=SLOTS, ty=ty) + "\n    gpu.barrier"
        after = "\n    gpu.barrier" + move.format("a", "tile", space, "o", "", n=SLOTS, ty=ty)
    return f"""gpu.module @m {{
  gpu.func @k(%x: memref<{THREADS}x{ty}>, %o: memref<{SLOTS}x{ty}>, %old: memref<{THREADS}x{ty}>) kernel attributes {{
      known_block_size = array<i32: {THREADS}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %t = gpu.thread_id x
    %slots = arith.constant {SLOTS} : index{before}
    %v = memref.load %x[%t] : memref<{THREADS}x{ty}>
    %at = arith.remui %t, %slots : index
    %found = memref.atomic_rmw {kind} %v, {there}[%at] : ({ty}, memref<{SLOTS}x{ty}{space}>) -> {ty}
    memref.store %found, %old[%t] : memref<{THREADS}x{ty}>{after}
    gpu.return
  }}
}}
"""


def tile_program(kind: AtomicRMWKind, ty: str) -> str:
    """The same updates by one tile, one after the other."""
    return f"""triton_xla.entry_func @k(
    %x: memref<{THREADS}x{ty}>, %o: memref<{SLOTS}x{ty}>, %old: memref<{THREADS}x{ty}>, %tile: index) tiles 1 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant {THREADS} : index
  %slots = arith.constant {SLOTS} : index
  scf.for %t = %c0 to %end step %c1 {{
    %v = memref.load %x[%t] : memref<{THREADS}x{ty}>
    %at = arith.remui %t, %slots : index
    %found = memref.atomic_rmw {kind} %v, %o[%at] : ({ty}, memref<{SLOTS}x{ty}>) -> {ty}
    memref.store %found, %old[%t] : memref<{THREADS}x{ty}>
  }}
  triton_xla.return
}}
"""


def arguments(kind: AtomicRMWKind, ty: str) -> list[np.ndarray[Any, Any]]:
    """Operands and first elements for which every result is exact in every order of the threads."""
    generator, dtype = np.random.default_rng(int(kind)), np.dtype(_DTYPES[ty])
    if ty in INTEGERS:
        bits = generator.integers(0, 256, (THREADS + SLOTS, dtype.itemsize), np.uint8)
        values = bits.view(dtype)[:, 0]
    elif kind == AtomicRMWKind.mulf:
        values = generator.choice([1.0, -1.0, 1.0, -1.0, 2.0], THREADS + SLOTS).astype(dtype)
    else:
        values = generator.integers(-3, 4, THREADS + SLOTS).astype(dtype)
        values[values == 0] = -0.0
        values[:2] = [math.inf, 0.0]
        values[7:9] = [-math.inf, math.nan]
    if kind in (AtomicRMWKind.addf, AtomicRMWKind.maxnumf, AtomicRMWKind.minnumf):
        # The sign of a zero is not specified, and infinities add up to NaN.
        values[values == 0] = 1.0
    return [values[:THREADS].copy(), values[THREADS:].copy(), np.zeros(THREADS, dtype)]


def check(kind: AtomicRMWKind, ty: str, given: list[np.ndarray[Any, Any]], found: list[np.ndarray[Any, Any]]) -> None:
    """Whether some order of the threads explains the results: each thread found the value that its predecessor stored.
    The found values and the last value are then the first value and the stored values."""
    (x, first, _), (_, last, old) = given, found
    dtype, bits = np.dtype(_DTYPES[ty]), np.dtype(_DTYPES[ty]).itemsize * 8
    mask = (1 << bits) - 1

    def left(there: Any, operand: Any) -> Any:
        number = FUNCTIONS[kind](there, operand, mask)
        return (number + (1 << bits - 1) & mask) - (1 << bits - 1) if ty in INTEGERS else float(dtype.type(number))

    def counted(numbers: list[Any]) -> Counter[str]:
        return Counter("nan" if number != number else repr(number) for number in numbers)

    numbers = [array.astype(object if ty in INTEGERS else np.float64).tolist() for array in (x, first, last, old)]
    operands, begins, ends, seen = numbers
    for slot in range(SLOTS):
        threads = range(slot, THREADS, SLOTS)
        after = [begins[slot], *(left(seen[t], operands[t]) for t in threads)]
        assert counted([*(seen[t] for t in threads), ends[slot]]) == counted(after), (str(kind), ty, slot)
