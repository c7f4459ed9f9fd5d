# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The AMD kernels that other tests run on emulated chips: matmuls through copies and registers, transfer windows, a
hand-written pipeline."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from matmuls import matmul
from sim_programs import OWN
from smalti import check, sim
from smalti.sim import mutants
from test_lds_copies import PIPELINED, SHAPES, WINDOWS, window

CHIPS = ("gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250", "gfx90a", "gfx1250", "gfx1201")


@pytest.mark.parametrize(("case", "chip"), list(zip(SHAPES, CHIPS, strict=True)))
def test_matmuls(case: str, chip: str) -> None:
    shape, tile, dtype = SHAPES[case]
    compiled = smalti.compile(smalti.parse(matmul(shape, tile, dtype)), target=f"emu:{chip}", stages=3, copies="async")
    theirs = check.random_arguments(compiled.entry)
    made, mine = sim.simulate(compiled.asm["thread"], f"sim:{chip}"), [array.copy() for array in theirs]
    made(*mine, simulation=OWN[0])
    compiled.launcher(*theirs)
    assert all(x.tobytes() == y.tobytes() for x, y in zip(theirs, mine, strict=True))


@pytest.mark.parametrize(("chip", "copies", "stages"), [("gfx950", "async", 1), ("gfx1100", "registers", 3)])
def test_mutants_of_matmuls_are_caught(chip: str, copies: str, stages: int) -> None:
    text = matmul((32, 32, 136), (32, 32, 32), "f16")
    compiled = smalti.compile(smalti.parse(text), target=f"emu:{chip}", stages=stages, copies=copies)
    made = sim.simulate(compiled.asm["thread"], f"sim:{chip}")
    outcomes = mutants.score(made, made.random_arguments(), schedules=OWN)
    assert [str(outcome) for outcome in outcomes if not outcome.caught] == []
    wanted = {"barrier removed"} | ({"slots merged"} if stages > 1 else set())
    wanted |= {"wait removed", "wait weakened by one"} if copies == "async" else set()
    assert {outcome.mutant.kind for outcome in outcomes} == wanted


@pytest.mark.parametrize(("case", "chip"), list(zip(WINDOWS, ("gfx942", "gfx950", "gfx1250"), strict=True)))
def test_windows_of_dynamic_shape(case: str, chip: str) -> None:
    _, dtype, (rows, columns), pitch, extent = WINDOWS[case]
    unit = 1 if extent == "?" else 2 if pitch % 8 else 8
    compiled = smalti.compile(window(chip, case), target=f"emu:{chip}", depth=1, stages=1)
    made = sim.simulate(compiled.asm["thread"], f"sim:{chip}")
    array = np.random.default_rng(1).integers(1, 9, 64 * pitch).astype(dtype)
    for m, k in ((0, pitch), (31, 7 if extent == "?" else pitch), (64, pitch)):
        padded = np.zeros((192, 256), dtype)
        padded[64 : 64 + m, 64 : 64 + k] = array.reshape(64, pitch)[:m, :k]
        for i, j in ((0, 0), (-3, -unit), (60, 2 * unit), (1 << 40, 0)):
            out = np.full((rows, columns), np.nan, dtype)
            made(array, out, *map(np.asarray, (m, k, i, j // unit)))
            wanted = padded[64 + i :, 64 + j :][:rows, :columns] if i < 64 else np.zeros((rows, columns), dtype)
            assert (out == wanted).all(), (m, k, i, j)


@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
def test_a_pipeline_by_hand(chip: str) -> None:
    rows = np.random.default_rng(0).integers(-8, 9, (400, 256)).astype(np.float32)
    sums = np.full(256, np.nan, np.float32)
    for schedule in OWN[:2]:
        sums[:] = np.nan
        sim.simulate(PIPELINED.replace("LEFT", "1"), f"sim:{chip}")(rows, sums, simulation=schedule)
        assert (sums == rows.sum(0)[::-1]).all()
    # LLVM waits if the kernel's own wait leaves too many in flight.
    made = sim.simulate(PIPELINED.replace("LEFT", "2"), f"sim:{chip}")
    assert made.find(rows, sums) == ()
    assert {finding.kind for finding in made.find(rows, sums, simulation=OWN[0])} == {"race"}
