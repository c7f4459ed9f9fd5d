"""Kernels without barriers get them from smalti-place-barriers: then they compute the right numbers with no race on the
emulator, and without any one of the barriers the emulator finds a race."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import smalti
from smalti import ir, passmanager
from smalti.errors import EmulationError

Array = np.ndarray[Any, Any]

THREADS = 128
TILES = 5
PASS = "builtin.module(gpu.module(gpu.func(smalti-place-barriers)))"
TARGETS = ("emu:sm_80", "emu:gfx942")
BARRIERS = ("gpu.barrier", "amdgpu.lds_barrier")

MODULE = """
gpu.module @m {{
  gpu.func @kernel(%in: memref<640xf32>, %out: memref<128xf32>) workgroup(%s: memref<{shared}xf32, 3>) kernel
      attributes {{known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c5 = arith.constant 5 : index
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
    body: str
    expected: Callable[[Array], Array]
    barriers: int
    """How many it needs."""

    def __str__(self) -> str:
        return self.name

    @property
    def text(self) -> str:
        """The module."""
        return MODULE.format(shared=self.shared, body=self.body)


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
)


def place(text: str) -> str:
    """The module with barriers."""
    with ir.Context():
        module = ir.Module.parse(text)
        passmanager.PassManager.parse(PASS).run(module.operation)
        return str(module)


def run(text: str, target: str, sanitize: str | None) -> tuple[Array, Array]:
    """Input and output of one launch."""
    # Pipelining would place the barriers anew.
    kernel = smalti.compile(text, target=target, depth=1, stages=1)
    kernel.emulation = smalti.Emulation(sanitize=sanitize) if sanitize else smalti.Emulation()
    x = np.random.default_rng(0).integers(-8, 8, THREADS * TILES).astype(np.float32)
    out = np.full(THREADS, np.nan, np.float32)
    kernel(x, out)
    return x, out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_placed_barriers_are_enough_and_needed(kernel: Kernel, target: str) -> None:
    assert not any(barrier in kernel.text for barrier in BARRIERS)
    lines = place(kernel.text).splitlines()
    places = [i for i, line in enumerate(lines) if line.strip() in BARRIERS]
    assert len(places) == kernel.barriers
    for sanitize in (None, "thread"):
        x, out = run("\n".join(lines), target, sanitize)
        np.testing.assert_array_equal(out, kernel.expected(x))
    for at in places:
        with pytest.raises(EmulationError) as caught:
            run("\n".join(lines[:at] + lines[at + 1 :]), target, "thread")
        assert {finding.kind for finding in caught.value.findings} == {"race"}
