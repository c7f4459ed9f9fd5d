# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutation score of pipelined matmuls: killed mutants, by detector, and survivors with their reasons (`mutants.py`)."""

from __future__ import annotations

import re
from collections import Counter

import mutants
import pytest

CAUGHT_BY = {
    "sm_80-async": {"numbers": 6, "numbers, race": 5, "race": 25},
    # LLVM unrolls the loop of four iterations, so that five barriers can be removed. It does not unroll the loop if the
    # accumulators are carried as vectors: then there are two.
    "sm_80-sync": {"numbers": 4, "numbers, race": 14},
    "gfx90a-sync": {"numbers": 4, "numbers, race": 14, "": 10},
    "gfx1200-sync": {"numbers": 4, "numbers, race": 18, "deadlock": 1, "": 10},
}

IN_SUITE = "sm_80-sync"
"""The shortest case; `tools/dev fuzz grids` runs all."""

NOT_CAUGHT = {
    r"llvm: removed fence (acquire|release) #\d+": (
        "a fence orders accesses that are on their way to memory; in the emulator each access is done when its "
        "instruction is, so a fence has nothing to wait for. What the backend makes of it, s_waitcnt, is no part of "
        "the code that is emulated."
    ),
}
"""Why a mutant's fault cannot show, by its name."""


def test_every_case_has_its_row() -> None:
    assert [str(case) for case in mutants.cases()] == list(CAUGHT_BY)


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if str(case) == IN_SUITE else pytest.mark.slow) for case in mutants.cases()],
    ids=str,
)
def test_mutants(case: mutants.Case) -> None:
    bench = mutants.Bench(case)
    for level, text in (("pipelined", bench.block_program), ("llvm", bench.device_code)):
        assert bench.caught_by(level, text) == ()

    caught: Counter[str] = Counter()
    missed = []
    for mutant in bench.mutants():
        means = bench.caught_by(mutant.level, mutant.text)
        caught[", ".join(means)] += 1
        if not means and not any(re.fullmatch(pattern, str(mutant)) for pattern in NOT_CAUGHT):
            missed.append(str(mutant))
    assert not missed
    assert caught == CAUGHT_BY[str(case)]


def test_every_barrier_wait_and_slot_is_mutated() -> None:
    program = """
    mosaic_gpu.async_wait_group 1
    gpu.barrier
    %v = mosaic_gpu.vector_load %s : memref<4x4xf16> -> vector<4x4xf16>
    %subview = memref.subview %1[%slot, 0, 0] [1, 4, 4] [1, 1, 1] : memref<3x4x4xf16> to memref<4x4xf16>
    %2 = mosaic_gpu.slice_smem 128 : memref<3x4x4xf16>
    gpu.barrier
    scf.yield"""
    assert [str(mutant) for mutant in mutants.of_block_program(program)] == [
        "pipelined: removed mosaic_gpu.async_wait_group #1",
        "pipelined: weakened mosaic_gpu.async_wait_group #1",
        "pipelined: removed gpu.barrier #1",
        "pipelined: moved gpu.barrier #1 down",
        "pipelined: aliased slot #1",
        "pipelined: aliased buffer #1",
        "pipelined: removed gpu.barrier #2",
        "pipelined: moved gpu.barrier #2 up",
    ]
    down = next(m for m in mutants.of_block_program(program) if m.kind == "moved").text.splitlines()
    assert "vector_load" in down[2] and "gpu.barrier" in down[3]
