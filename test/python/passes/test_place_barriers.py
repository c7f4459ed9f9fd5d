# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Barriers inserted by smalti-place-barriers, checked on the emulator.

The kernels start without barriers. With the inserted ones they compute the right numbers without a race, and without
any one of them the emulator finds a race."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import smalti
from helpers import Array
from smalti import ir, passmanager
from smalti.errors import EmulationError

THREADS = 128
TILES = 5
PASS = "builtin.module(gpu.module(gpu.func(smalti-place-barriers)))"
TARGETS = ("emu:sm_80", "emu:gfx942")
BARRIERS = ("gpu.barrier", "amdgpu.lds_barrier")

MODULE = """
gpu.module @m {{
  gpu.func @kernel(%in: memref<640xf32>, %out: memref<128xf32>) workgroup({shared}) kernel
      attributes {{known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c10 = arith.constant 10 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %back = arith.subi %c127, %t : index
    {body}
    gpu.return
  }}
}}
"""


@dataclass(frozen=True)
class Kernel:
    """A kernel of one block, without its barriers."""

    name: str
    shared: str
    """The shape of each shared buffer: %s, and %s1, %s2 of the same."""
    body: str
    expected: Callable[[Array], Array]
    barriers: int
    """How many it needs."""
    buffers: int = 1

    def __str__(self) -> str:
        return self.name

    @property
    def text(self) -> str:
        """The module."""
        names = ["%s", *(f"%s{i}" for i in range(1, self.buffers))]
        shared = ", ".join(f"{name}: memref<{self.shared}xf32, 3>" for name in names)
        return MODULE.format(shared=shared, body=self.body)


KERNELS = (
    Kernel(
        "reverse",
        "128",
        """
    %x = memref.load %in[%t] : memref<640xf32>
    memref.store %x, %s[%t] : memref<128xf32, 3>
    %y = memref.load %s[%back] : memref<128xf32, 3>
    memref.store %y, %out[%t] : memref<128xf32>""",
        lambda x: x[127::-1],
        1,
    ),
    Kernel(
        "own elements",
        "128",
        """
    %x = memref.load %in[%t] : memref<640xf32>
    memref.store %x, %s[%t] : memref<128xf32, 3>
    %y = memref.load %s[%t] : memref<128xf32, 3>
    memref.store %y, %out[%t] : memref<128xf32>""",
        lambda x: x[:128],
        0,
    ),
    Kernel(
        "tiles",
        "128",
        """
    %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero) -> f32 {
      %base = arith.muli %i, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      memref.store %x, %s[%t] : memref<128xf32, 3>
      %y = memref.load %s[%back] : memref<128xf32, 3>
      %next = arith.addf %acc, %y : f32
      scf.yield %next : f32
    }
    memref.store %sum, %out[%t] : memref<128xf32>""",
        lambda x: x.reshape(TILES, THREADS)[:, ::-1].sum(0),
        2,
    ),
    Kernel(
        "slots",
        "2x128",
        """
    %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero) -> f32 {
      %slot = arith.remui %i, %c2 : index
      %tile = memref.subview %s[%slot, 0] [1, 128] [1, 1] : memref<2x128xf32, 3> to memref<128xf32, strided<[1], offset: ?>, 3>
      %base = arith.muli %i, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      memref.store %x, %tile[%t] : memref<128xf32, strided<[1], offset: ?>, 3>
      %y = memref.load %tile[%back] : memref<128xf32, strided<[1], offset: ?>, 3>
      %next = arith.addf %acc, %y : f32
      scf.yield %next : f32
    }
    memref.store %sum, %out[%t] : memref<128xf32>""",
        lambda x: x.reshape(TILES, THREADS)[:, ::-1].sum(0),
        1,
    ),
    Kernel(
        "one thread reads",
        "128",
        """
    %x = memref.load %in[%t] : memref<640xf32>
    memref.store %x, %s[%t] : memref<128xf32, 3>
    %first = arith.cmpi eq, %t, %c0 : index
    %sum = scf.if %first -> f32 {
      %all = scf.for %i = %c0 to %c128 step %c1 iter_args(%acc = %zero) -> f32 {
        %y = memref.load %s[%i] : memref<128xf32, 3>
        %next = arith.addf %acc, %y : f32
        scf.yield %next : f32
      }
      scf.yield %all : f32
    } else {
      scf.yield %zero : f32
    }
    memref.store %sum, %out[%t] : memref<128xf32>""",
        lambda x: np.concatenate([x[:128].sum(keepdims=True), np.zeros(127, np.float32)]),
        1,
    ),
    Kernel(
        "nested loops",
        "128",
        """
    %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero) -> f32 {
      %base = arith.muli %i, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      memref.store %x, %s[%t] : memref<128xf32, 3>
      %inner = scf.for %j = %c0 to %c2 step %c1 iter_args(%part = %acc) -> f32 {
        %place = arith.addi %back, %j : index
        %round = arith.remui %place, %c128 : index
        %y = memref.load %s[%round] : memref<128xf32, 3>
        %next = arith.addf %part, %y : f32
        scf.yield %next : f32
      }
      scf.yield %inner : f32
    }
    memref.store %sum, %out[%t] : memref<128xf32>""",
        lambda x: (x.reshape(TILES, THREADS) + np.roll(x.reshape(TILES, THREADS), -1, axis=1))[:, ::-1].sum(0),
        2,
    ),
    # Buffers instead of slots: a loop-carried buffer is permuted in each iteration, or selected.
    Kernel(
        "slot of the next iteration",
        "2x128",
        """
    %first = memref.subview %s[0, 0] [1, 128] [1, 1] : memref<2x128xf32, 3> to memref<128xf32, strided<[1]>, 3>
    memref.store %zero, %first[%t] : memref<128xf32, strided<[1]>, 3>
    %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero) -> f32 {
      %slot = arith.remui %i, %c2 : index
      %after = arith.addi %i, %c1 : index
      %other = arith.remui %after, %c2 : index
      %from = memref.subview %s[%slot, 0] [1, 128] [1, 1] : memref<2x128xf32, 3> to memref<128xf32, strided<[1], offset: ?>, 3>
      %to = memref.subview %s[%other, 0] [1, 128] [1, 1] : memref<2x128xf32, 3> to memref<128xf32, strided<[1], offset: ?>, 3>
      %base = arith.muli %i, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      %y = memref.load %from[%back] : memref<128xf32, strided<[1], offset: ?>, 3>
      memref.store %x, %to[%t] : memref<128xf32, strided<[1], offset: ?>, 3>
      %next = arith.addf %acc, %y : f32
      scf.yield %next : f32
    }
    memref.store %sum, %out[%t] : memref<128xf32>""",
        lambda x: x.reshape(TILES, THREADS)[:-1, ::-1].sum(0),
        1,
    ),
    Kernel(
        "swapped",
        "128",
        """
    %sum:3 = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero, %a = %s, %b = %s1) -> (f32, memref<128xf32, 3>, memref<128xf32, 3>) {
      %base = arith.muli %i, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      memref.store %x, %a[%t] : memref<128xf32, 3>
      %y = memref.load %a[%back] : memref<128xf32, 3>
      %next = arith.addf %acc, %y : f32
      scf.yield %next, %b, %a : f32, memref<128xf32, 3>, memref<128xf32, 3>
    }
    memref.store %sum#0, %out[%t] : memref<128xf32>""",
        lambda x: x.reshape(TILES, THREADS)[:, ::-1].sum(0),
        1,
        buffers=2,
    ),
    Kernel(
        "swapped, with the tile of the iteration before",
        "128",
        """
    memref.store %zero, %s1[%t] : memref<128xf32, 3>
    %sum:3 = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero, %a = %s, %b = %s1) -> (f32, memref<128xf32, 3>, memref<128xf32, 3>) {
      %base = arith.muli %i, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      memref.store %x, %a[%t] : memref<128xf32, 3>
      %y = memref.load %a[%back] : memref<128xf32, 3>
      %z = memref.load %b[%back] : memref<128xf32, 3>
      %yz = arith.addf %y, %z : f32
      %next = arith.addf %acc, %yz : f32
      scf.yield %next, %b, %a : f32, memref<128xf32, 3>, memref<128xf32, 3>
    }
    memref.store %sum#0, %out[%t] : memref<128xf32>""",
        lambda x: x.reshape(TILES, THREADS)[:, ::-1].sum(0) + x.reshape(TILES, THREADS)[:-1, ::-1].sum(0),
        2,
        buffers=2,
    ),
    Kernel(
        "rotated, with the tile of the iteration before",
        "128",
        """
    memref.store %zero, %s2[%t] : memref<128xf32, 3>
    %sum:4 = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero, %a = %s, %b = %s1, %c = %s2)
        -> (f32, memref<128xf32, 3>, memref<128xf32, 3>, memref<128xf32, 3>) {
      %base = arith.muli %i, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      memref.store %x, %a[%t] : memref<128xf32, 3>
      %y = memref.load %a[%back] : memref<128xf32, 3>
      %z = memref.load %c[%back] : memref<128xf32, 3>
      %yz = arith.addf %y, %z : f32
      %next = arith.addf %acc, %yz : f32
      scf.yield %next, %b, %c, %a : f32, memref<128xf32, 3>, memref<128xf32, 3>, memref<128xf32, 3>
    }
    memref.store %sum#0, %out[%t] : memref<128xf32>""",
        lambda x: x.reshape(TILES, THREADS)[:, ::-1].sum(0) + x.reshape(TILES, THREADS)[:-1, ::-1].sum(0),
        1,
        buffers=3,
    ),
    Kernel(
        "rotated, with the tile of the iteration after next",
        "128",
        """
    memref.store %zero, %s[%t] : memref<128xf32, 3>
    memref.store %zero, %s1[%t] : memref<128xf32, 3>
    %sum:4 = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero, %a = %s, %b = %s1, %c = %s2)
        -> (f32, memref<128xf32, 3>, memref<128xf32, 3>, memref<128xf32, 3>) {
      %base = arith.muli %i, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      %y = memref.load %a[%back] : memref<128xf32, 3>
      memref.store %x, %c[%t] : memref<128xf32, 3>
      %next = arith.addf %acc, %y : f32
      scf.yield %next, %b, %c, %a : f32, memref<128xf32, 3>, memref<128xf32, 3>, memref<128xf32, 3>
    }
    memref.store %sum#0, %out[%t] : memref<128xf32>""",
        lambda x: x.reshape(TILES, THREADS)[:-2, ::-1].sum(0),
        1,
        buffers=3,
    ),
    Kernel(
        "swapped in steps of two",
        "128",
        """
    %sum:3 = scf.for %i = %c0 to %c10 step %c2 iter_args(%acc = %zero, %a = %s, %b = %s1) -> (f32, memref<128xf32, 3>, memref<128xf32, 3>) {
      %number = arith.divui %i, %c2 : index
      %base = arith.muli %number, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      memref.store %x, %a[%t] : memref<128xf32, 3>
      %y = memref.load %a[%back] : memref<128xf32, 3>
      %next = arith.addf %acc, %y : f32
      scf.yield %next, %b, %a : f32, memref<128xf32, 3>, memref<128xf32, 3>
    }
    memref.store %sum#0, %out[%t] : memref<128xf32>""",
        lambda x: x.reshape(TILES, THREADS)[:, ::-1].sum(0),
        1,
        buffers=2,
    ),
    Kernel(
        "swapped in some iterations",
        "128",
        """
    %sum:3 = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero, %a = %s, %b = %s1) -> (f32, memref<128xf32, 3>, memref<128xf32, 3>) {
      %base = arith.muli %i, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      memref.store %x, %a[%t] : memref<128xf32, 3>
      %y = memref.load %a[%back] : memref<128xf32, 3>
      %next = arith.addf %acc, %y : f32
      %some = arith.cmpi ult, %i, %c2 : index
      %ab:2 = scf.if %some -> (memref<128xf32, 3>, memref<128xf32, 3>) {
        scf.yield %b, %a : memref<128xf32, 3>, memref<128xf32, 3>
      } else {
        scf.yield %a, %b : memref<128xf32, 3>, memref<128xf32, 3>
      }
      scf.yield %next, %ab#0, %ab#1 : f32, memref<128xf32, 3>, memref<128xf32, 3>
    }
    memref.store %sum#0, %out[%t] : memref<128xf32>""",
        lambda x: x.reshape(TILES, THREADS)[:, ::-1].sum(0),
        2,
        buffers=2,
    ),
    Kernel(
        "swapped, and read behind the loop",
        "128",
        """
    memref.store %zero, %s[%t] : memref<128xf32, 3>
    %sum:3 = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero, %a = %s, %b = %s1) -> (f32, memref<128xf32, 3>, memref<128xf32, 3>) {
      %base = arith.muli %i, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      %y = memref.load %a[%back] : memref<128xf32, 3>
      memref.store %x, %b[%t] : memref<128xf32, 3>
      %next = arith.addf %acc, %y : f32
      scf.yield %next, %b, %a : f32, memref<128xf32, 3>, memref<128xf32, 3>
    }
    %last = memref.load %sum#1[%back] : memref<128xf32, 3>
    %all = arith.addf %sum#0, %last : f32
    memref.store %all, %out[%t] : memref<128xf32>""",
        lambda x: x.reshape(TILES, THREADS)[:, ::-1].sum(0),
        2,
        buffers=2,
    ),
    Kernel(
        "swapped, and the other one written behind the loop",
        "128",
        """
    %sum:3 = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero, %a = %s, %b = %s1) -> (f32, memref<128xf32, 3>, memref<128xf32, 3>) {
      %base = arith.muli %i, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      memref.store %x, %a[%t] : memref<128xf32, 3>
      %y = memref.load %a[%back] : memref<128xf32, 3>
      %next = arith.addf %acc, %y : f32
      scf.yield %next, %b, %a : f32, memref<128xf32, 3>, memref<128xf32, 3>
    }
    memref.store %sum#0, %sum#1[%t] : memref<128xf32, 3>
    %own = memref.load %sum#1[%t] : memref<128xf32, 3>
    memref.store %own, %out[%t] : memref<128xf32>""",
        lambda x: x.reshape(TILES, THREADS)[:, ::-1].sum(0),
        1,
        buffers=2,
    ),
    Kernel(
        "selected by parity",
        "128",
        """
    %sum = scf.for %i = %c0 to %c10 step %c2 iter_args(%acc = %zero) -> f32 {
      %number = arith.divui %i, %c2 : index
      %bit = arith.remui %number, %c2 : index
      %isOdd = arith.cmpi eq, %bit, %c1 : index
      %a = arith.select %isOdd, %s, %s1 : memref<128xf32, 3>
      %base = arith.muli %number, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      memref.store %x, %a[%t] : memref<128xf32, 3>
      %y = memref.load %a[%back] : memref<128xf32, 3>
      %next = arith.addf %acc, %y : f32
      scf.yield %next : f32
    }
    memref.store %sum, %out[%t] : memref<128xf32>""",
        lambda x: x.reshape(TILES, THREADS)[:, ::-1].sum(0),
        1,
        buffers=2,
    ),
    Kernel(
        "swapped slots",
        "2x128",
        """
    %s0 = memref.subview %s[0, 0] [1, 128] [1, 1] : memref<2x128xf32, 3> to memref<128xf32, strided<[1]>, 3>
    %s1 = memref.subview %s[1, 0] [1, 128] [1, 1] : memref<2x128xf32, 3> to memref<128xf32, strided<[1], offset: 128>, 3>
    %first = memref.cast %s0 : memref<128xf32, strided<[1]>, 3> to memref<128xf32, strided<[1], offset: ?>, 3>
    %second = memref.cast %s1 : memref<128xf32, strided<[1], offset: 128>, 3> to memref<128xf32, strided<[1], offset: ?>, 3>
    %sum:3 = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero, %a = %first, %b = %second)
        -> (f32, memref<128xf32, strided<[1], offset: ?>, 3>, memref<128xf32, strided<[1], offset: ?>, 3>) {
      %base = arith.muli %i, %c128 : index
      %at = arith.addi %base, %t : index
      %x = memref.load %in[%at] : memref<640xf32>
      memref.store %x, %a[%t] : memref<128xf32, strided<[1], offset: ?>, 3>
      %y = memref.load %a[%back] : memref<128xf32, strided<[1], offset: ?>, 3>
      %next = arith.addf %acc, %y : f32
      scf.yield %next, %b, %a : f32, memref<128xf32, strided<[1], offset: ?>, 3>, memref<128xf32, strided<[1], offset: ?>, 3>
    }
    memref.store %sum#0, %out[%t] : memref<128xf32>""",
        lambda x: x.reshape(TILES, THREADS)[:, ::-1].sum(0),
        1,
    ),
    # The barrier in the loop is the only one between the accesses before and after it, of slots that the loop does not use.
    Kernel(
        "fixed slots around a loop of others",
        "4x128",
        """
    %x = memref.load %in[%t] : memref<640xf32>
    %s0 = memref.subview %s[0, 0] [1, 128] [1, 1] : memref<4x128xf32, 3> to memref<128xf32, strided<[1]>, 3>
    memref.store %x, %s0[%t] : memref<128xf32, strided<[1]>, 3>
    scf.for %i = %c0 to %c3 step %c1 {
      %bit = arith.remui %i, %c2 : index
      %place = memref.subview %s1[%bit, 0] [1, 128] [1, 1] : memref<4x128xf32, 3> to memref<128xf32, strided<[1], offset: ?>, 3>
      memref.store %x, %place[%t] : memref<128xf32, strided<[1], offset: ?>, 3>
      %y = memref.load %place[%back] : memref<128xf32, strided<[1], offset: ?>, 3>
      memref.store %y, %out[%t] : memref<128xf32>
    }
    %z = memref.load %s0[%back] : memref<128xf32, strided<[1]>, 3>
    memref.store %z, %out[%t] : memref<128xf32>""",
        lambda x: x[127::-1],
        1,
        buffers=2,
    ),
    # Elements of two threads with the same number are in different buffers, and with different numbers at the same
    # offset.
    Kernel(
        "elements of a buffer that the thread selects",
        "640",
        """
    %x = memref.load %in[%t] : memref<640xf32>
    %bit = arith.remui %t, %c2 : index
    %isEven = arith.cmpi eq, %bit, %c0 : index
    %s1 = memref.subview %s[0] [384] [1] : memref<640xf32, 3> to memref<384xf32, strided<[1]>, 3>
    %s2 = memref.subview %s[129] [384] [1] : memref<640xf32, 3> to memref<384xf32, strided<[1], offset: 129>, 3>
    %one = memref.cast %s1 : memref<384xf32, strided<[1]>, 3> to memref<384xf32, strided<[1], offset: ?>, 3>
    %two = memref.cast %s2 : memref<384xf32, strided<[1], offset: 129>, 3> to memref<384xf32, strided<[1], offset: ?>, 3>
    %a = arith.select %isEven, %one, %two : memref<384xf32, strided<[1], offset: ?>, 3>
    memref.store %x, %a[%t] : memref<384xf32, strided<[1], offset: ?>, 3>
    %c130 = arith.constant 130 : index
    %far = arith.addi %t, %c130 : index
    %z = scf.if %isEven -> f32 {
      %y = memref.load %a[%far] : memref<384xf32, strided<[1], offset: ?>, 3>
      scf.yield %y : f32
    } else {
      scf.yield %zero : f32
    }
    memref.store %z, %out[%t] : memref<128xf32>""",
        lambda x: np.where(np.arange(128) % 2 == 0, x[1:129], np.float32(0)),
        1,
    ),
)


def place(text: str) -> str:
    """The module with barriers."""
    with ir.Context():
        module = ir.Module.parse(text)
        passmanager.PassManager.parse(PASS).run(module.operation)
        return str(module)


def run(text: str, target: str) -> tuple[Array, Array]:
    """Input and output of one launch, in which races are found."""
    # Pipelining would insert the barriers again.
    kernel = smalti.compile(text, target=target, depth=1, stages=1)
    kernel.emulation = smalti.Emulation(sanitize="thread")
    x = np.random.default_rng(0).integers(-8, 8, THREADS * TILES).astype(np.float32)
    out = np.full(THREADS, np.nan, np.float32)
    kernel(x, out)
    return x, out


@pytest.mark.grid(19)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_placed_barriers_are_enough_and_needed(kernel: Kernel, target: str) -> None:
    assert not any(barrier in kernel.text for barrier in BARRIERS)
    lines = place(kernel.text).splitlines()
    positions = [i for i, line in enumerate(lines) if line.strip() in BARRIERS]
    assert len(positions) == kernel.barriers
    x, out = run("\n".join(lines), target)
    np.testing.assert_array_equal(out, kernel.expected(x))
    for at in positions:
        with pytest.raises(EmulationError) as caught:
            run("\n".join(lines[:at] + lines[at + 1 :]), target)
        assert {finding.kind for finding in caught.value.findings} == {"race"}
