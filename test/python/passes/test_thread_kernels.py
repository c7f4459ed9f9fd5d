# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hand-written thread-level loops, overlapped by smalti-multi-buffer and smalti-pipeline-loops.

Their instructions, and their numbers on emulated chips.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import smalti
from machine_code import Step, all_steps, inner_loops
from smalti import targets
from smalti.compiler import driver
from smalti.emulator import SCHEDULES, Emulation
from smalti.errors import EmulationError
from thread_kernels import (
    GROUPS,
    POINTERS,
    REGISTERS,
    ROWS,
    SHARED,
    SLOT_POINTERS,
    TENSORS,
    THREADS,
    VECTORS,
    WORDS,
    Copies,
    kernel,
)


def cases(vendor: str) -> list[Any]:
    return [
        pytest.param(copies, chip, id=f"{copies.name}-{chip}")
        for copies in (WORDS, VECTORS, TENSORS, POINTERS, SLOT_POINTERS, GROUPS)
        for chip in copies.chips
        if chip.startswith(vendor)
    ]


ON_AMD, ON_CHIPS = cases("gfx"), cases("")
OVERLAPS = [(2, 2), (3, 2), (3, 3), (4, 4)]
"""Slots, and stages."""


def compiled(copies: Copies, chip: str, slots: int, stages: int, **changes: int) -> smalti.Kernel:
    return smalti.compile(kernel(copies, slots=slots, **changes), target=chip, depth=slots, stages=stages)


# The parts of the loop.


def waits(steps: list[Step]) -> list[int]:
    return [step.left for step in steps if step.kind == "wait"]


@pytest.mark.grid(14)
@pytest.mark.parametrize("trips", [None, 64], ids=["dynamic", "static"])
@pytest.mark.parametrize("slots, stages", OVERLAPS)
@pytest.mark.parametrize("copies, chip", ON_AMD)
def test_the_steady_state_never_drains(copies: Copies, chip: str, slots: int, stages: int, trips: int | None) -> None:
    code = compiled(copies, chip, slots, stages, **({} if trips is None else {"trips": trips})).asm["gcn"]
    loops = [steps for steps in inner_loops(code) if any(step.kind == "read" for step in steps)]
    steady = [steps for steps in loops if 0 not in waits(steps)]
    assert len(steady) == 1 and len(loops) <= (2 if trips is None else 1)
    steps = steady[0]
    # LLVM may unroll the loop.
    rounds = sum(step.kind == "read" for step in steps) // 8
    assert sum(step.kind == "read" for step in steps) == 8 * rounds
    # Two copies an iteration: with two stages the next ones are in flight when the wave waits for these.
    assert waits(steps) == [max(2 * (stages - 2), 2)] * rounds
    # The reads of an iteration are consecutive: no wait for copies, and no barrier among them.
    kinds = "".join(step.kind[0] for step in steps)
    assert kinds.count("r" * 8) == rounds
    # One barrier, or with two stages and no additional slot, another one before the copies.
    barriers = 2 if (slots, stages) == (2, 2) else 1
    assert kinds.count("b") == barriers * rounds


@pytest.mark.grid(6)
@pytest.mark.parametrize("slots, stages", [(3, 3), (4, 4)])
@pytest.mark.parametrize("copies, chip", ON_AMD)
def test_the_epilogue_drains_step_by_step(copies: Copies, chip: str, slots: int, stages: int) -> None:
    code = compiled(copies, chip, slots, stages).asm["gcn"]
    counts = [count for count in waits(all_steps(code)) if count > 0]
    # The loop, and after it two copies fewer from step to step.
    assert sorted(counts) == sorted([2 * (stages - 2), *range(2 * (stages - 2), 0, -2)])


@pytest.mark.grid(10)
@pytest.mark.parametrize("slots, stages", OVERLAPS)
@pytest.mark.parametrize("copies, chip", ON_CHIPS)
def test_nothing_is_spilled(copies: Copies, chip: str, slots: int, stages: int) -> None:
    used = compiled(copies, chip, slots, stages).resources
    assert used.registers and used.spills == 0 and used.stack_bytes in (None, 0)


@pytest.mark.parametrize("trips", [None, 64], ids=["dynamic", "static"])
@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("chip", GROUPS.chips)
def test_groups_are_counted_exactly(chip: str, stages: int, trips: int | None) -> None:
    ptx = compiled(GROUPS, chip, stages, stages, **({} if trips is None else {"trips": trips})).asm["ptx"]
    counts = [int(count) for count in re.findall(r"cp\.async\.wait_group\s+(\d+)", ptx)]
    # Two groups an iteration. The fallback loop for small trip counts waits for all.
    steps = [2 * (stages - 2), *range(2 * (stages - 2), -1, -2)]
    plain = [] if trips else [0]
    assert sorted(counts) == sorted([*steps, *plain])


# The numbers.


def run(
    code: smalti.Kernel, copies: Copies, trips: int, step: int = 1, lower: int = 0, how: Emulation | None = None
) -> None:
    random = np.random.default_rng(trips)
    a, b = (random.integers(-8, 9, (ROWS, copies.columns)).astype(np.float32) for _ in range(2))
    wanted = np.zeros((THREADS, 4), np.float32)
    for row in range(lower, lower + trips * step, step):
        wanted *= np.float32(0.5)
        for read in range(8):
            place = 4 * (np.arange(THREADS) + 37 * read + 67) % copies.columns
            wanted += (b if read % 2 else a)[row][place[:, None] + np.arange(4)]
    sums = np.full((THREADS, 4), np.nan, np.float32)
    code.launcher(a, b, sums, lower + trips * step, emulation=how)
    assert (sums == wanted).all()


@pytest.mark.grid(4)
@pytest.mark.parametrize("slots, stages", [(1, 2), (2, 2), (3, 3)])
@pytest.mark.parametrize("chip", REGISTERS.chips)
def test_numbers_of_copies_through_registers(chip: str, slots: int, stages: int) -> None:
    code = compiled(REGISTERS, f"emu:{chip}", slots, stages)
    for trips in (0, 1, 2, 5):
        run(code, REGISTERS, trips)


@pytest.mark.grid(6, cover=False)
@pytest.mark.parametrize("slots, stages", OVERLAPS)
@pytest.mark.parametrize("copies, chip", ON_CHIPS)
def test_numbers(copies: Copies, chip: str, slots: int, stages: int) -> None:
    code = compiled(copies, targets.EMULATED + chip, slots, stages)
    for trips in range(10):
        # Early and late completion of copies, in turn.
        for how in SCHEDULES[trips % 2 :: 2] if trips < 4 else (SCHEDULES[trips % len(SCHEDULES)],):
            run(code, copies, trips, how=how)
    for how in (
        Emulation(sanitize="thread"),
        Emulation(sanitize="address"),
        Emulation(sanitize="thread", copies="early"),
    ):
        run(code, copies, 7, how=how)


@pytest.mark.grid(6)
@pytest.mark.parametrize("lower, step", [(3, 2), (0, 5)])
@pytest.mark.parametrize("copies, chip", ON_AMD)
def test_other_bounds(copies: Copies, chip: str, lower: int, step: int) -> None:
    code = compiled(copies, targets.EMULATED + chip, 3, 3, lower=lower, step=step)
    for trips in (0, 1, 2, 3, 4, 7, 9):
        run(code, copies, trips, step, lower, SCHEDULES[trips % len(SCHEDULES)])


def weakened(copies: Copies, chip: str, stages: int) -> Iterator[smalti.Kernel]:
    """The kernel with one copy more in flight after one of its waits."""
    text = compiled(copies, chip, 3, stages, trips=9).asm["pipelined"]
    for match in re.finditer(r"((?:load|tensor)\(|asynccnt )(\d+)", text):
        weaker = text[: match.start(2)] + str(int(match[2]) + 1) + text[match.end(2) :]
        yield smalti.compile(weaker, target=targets.EMULATED + chip, depth=1, stages=1)


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("copies", [TENSORS, POINTERS], ids=["tensors", "pointers"])
def test_a_weaker_wait_is_noticed(copies: Copies, stages: int) -> None:
    for code in weakened(copies, "gfx1250", stages):
        with pytest.raises((AssertionError, EmulationError)):
            for moment in ("late", "early"):
                run(code, copies, 9, how=Emulation(copies=moment))
                run(code, copies, 9, how=Emulation(sanitize="thread", copies=moment))


@pytest.mark.parametrize("stages", [2, 3])
def test_a_weaker_wait_leaves_llvm_s(stages: int) -> None:
    """On gfx9 barriers then wait for all loads, as they do without the pass."""
    for code in weakened(WORDS, "gfx950", stages):
        assert any("no wait followed by a barrier orders 'vector.load'" in mark.message for mark in code.remarks)
        run(code, WORDS, 9, how=Emulation(copies="late"))


# Rows of 32 elements; a warp reads one column.
_TRANSPOSED = """gpu.module @kernels {
  gpu.func @sums(%a: memref<64x32x32xf32> {llvm.noalias}, %o: memref<32xf32> {llvm.noalias}, %n: index) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %s = memref.alloc() : memref<32x32xf32, #gpu.address_space<workgroup>>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
COPIES
      gpu.barrier
      %u = memref.load %s[%t, %c1] : memref<32x32xf32, #gpu.address_space<workgroup>>
      %new = arith.addf %acc, %u : f32
      gpu.barrier
      scf.yield %new : f32
    }
    memref.store %sum, %o[%t] : memref<32xf32>
    gpu.return
  }
}
"""


def test_buffers_get_padding_and_then_slots() -> None:
    copies = "\n".join(
        f"""%k{row} = arith.constant {row} : index
%x{row} = memref.load %a[%i, %k{row}, %t] : memref<64x32x32xf32>
memref.store %x{row}, %s[%k{row}, %t] : memref<32x32xf32, #gpu.address_space<workgroup>>"""
        for row in range(32)
    )
    module = smalti.parse(_TRANSPOSED.replace("COPIES", copies))
    driver.run_pipeline(
        module,
        "builtin.module(gpu.module(gpu.func(smalti-pad-shared-memory{target=sm_80},smalti-multi-buffer,"
        "smalti-pipeline-loops{target=sm_80 strict=true})))",
    )
    assert "memref<2x32x33xf32" in str(module)
    a = np.random.default_rng(1).integers(-8, 9, (64, 32, 32)).astype(np.float32)
    code = smalti.compile(module, target="emu:sm_80", depth=1, stages=1)
    for trips in (0, 1, 2, 7):
        sums = np.full(32, np.nan, np.float32)
        code.launcher(a, sums, trips, emulation=Emulation(sanitize="thread"))
        assert (sums == a[:trips, :, 1].sum(axis=0)).all()


@pytest.mark.grid(6)
@pytest.mark.parametrize("slots, stages", OVERLAPS)
@pytest.mark.parametrize("copies", [GROUPS, REGISTERS], ids=lambda copies: copies.name)
@pytest.mark.parametrize("chip", GROUPS.chips)
def test_slots_by_index(chip: str, copies: Copies, slots: int, stages: int) -> None:
    text = kernel(replace(copies, has_slots=True), slots=slots)
    text = re.sub(r"^%t[01] = memref.subview.*\n", "", text, flags=re.MULTILINE)
    tile = f"memref<{copies.columns}xf32, strided<[1], offset: ?>, {SHARED}>"
    text = re.sub(r"%t([01])\[", r"%b\1[%slot, ", text).replace(tile, f"memref<{slots}x{copies.columns}xf32, {SHARED}>")
    code = smalti.compile(text, target=f"emu:{chip}", depth=slots, stages=stages)
    assert any("loop pipelined: " in remark.message for remark in code.remarks)
    for trips in (0, 1, 2, 7):
        run(code, copies, trips, how=Emulation(sanitize="thread"))
