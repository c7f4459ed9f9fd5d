# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls in the style of IREE's pipelines for AMD chips: against numpy and the emulator, and every mutant."""

from __future__ import annotations

import iree_programs
import numpy as np
import pytest
import smalti
from sim_programs import OWN
from smalti import sim
from smalti.sim import mutants

DIRECT = {"gfx942": (2, 16), "gfx950": (8, 32)}
"""Elements that a lane copies at a time, and the depth of a matmul."""


def direct(chip: str, m: int, n: int, k: int, slots: int = 2) -> str:
    moved, depth = DIRECT[chip]
    return iree_programs.direct(m, n, k, moved=moved, depth=depth, slots=slots)


def arguments(m: int, n: int, k: int) -> list[np.ndarray]:
    rng = np.random.default_rng(m + k)
    return [
        *(rng.standard_normal((rows, k)).astype(np.float16) for rows in (m, n)),
        np.full((m, n), np.nan, np.float32),
    ]


def check(text: str, chip: str, m: int, n: int, k: int) -> None:
    a, b, o = arguments(m, n, k)
    made, outs = sim.simulate(text, f"sim:{chip}"), []
    for schedule in (sim.SCHEDULES[k % len(sim.SCHEDULES)], OWN[0]):
        outs.append(o.copy())
        made(a, b, outs[-1], simulation=schedule)
    if k % iree_programs.DEPTH == 0:
        # LLVM 22 has no loads of buffers with masks.
        outs.append(o.copy())
        smalti.compile(text, target=f"emu:{chip}")(a, b, outs[-1])
    np.testing.assert_allclose(outs[0], a.astype(np.float64) @ b.T.astype(np.float64), atol=1e-3)
    assert all(out.tobytes() == outs[0].tobytes() for out in outs)


# One iteration, two, more; all of a tile, a part of one, several.
@pytest.mark.grid(4)
@pytest.mark.parametrize(
    ("m", "n", "k", "slots"), [(64, 64, 32, 2), (70, 64, 64, 3), (50, 128, 160, 2), (64, 64, 128, 3)]
)
@pytest.mark.parametrize("chip", DIRECT)
def test_copies_by_lanes(chip: str, m: int, n: int, k: int, slots: int) -> None:
    check(direct(chip, m, n, k, slots), chip, m, n, k)


@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 32), (70, 64, 72), (50, 128, 160)])
def test_copies_through_registers(m: int, n: int, k: int) -> None:
    check(iree_programs.staged(m, n, k), "gfx942", m, n, k)


@pytest.mark.parametrize(("chip", "slots"), [("gfx942", 3), ("gfx950", 2)])
def test_mutants_of_copies_by_lanes_are_caught(chip: str, slots: int) -> None:
    """With three slots the copies of a tile stay in flight, and not one more."""
    made = sim.simulate(direct(chip, 64, 64, 128, slots), f"sim:{chip}")
    outcomes = mutants.score(made, arguments(64, 64, 128), schedules=OWN[:1])
    assert [str(outcome) for outcome in outcomes if not outcome.caught] == []
    assert {outcome.mutant.kind for outcome in outcomes} == {
        "barrier removed",
        "slots merged",
        "wait removed",
        "wait weakened by one",
    }


def test_mutants_of_copies_through_registers_are_caught() -> None:
    made = sim.simulate(iree_programs.staged(64, 64, 96), "sim:gfx942")
    outcomes = mutants.score(made, arguments(64, 64, 96), schedules=mutants.SCHEDULES[:1])
    assert [str(outcome) for outcome in outcomes if not outcome.caught] == []
    assert len(outcomes) == 3 and {outcome.mutant.kind for outcome in outcomes} == {"barrier removed"}
