# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelined loops in the simulator: equal to numpy, without findings, and with killed mutants.

For every number of stages and iterations. The whole grid: `tools/dev fuzz loops --grid --sim` (or `--mutants`)."""

from __future__ import annotations

import itertools

import pytest
from loops import campaign, kernels, simulated
from loops.campaign import Point
from loops.grammar import CHIPS


def _points() -> list[Point]:
    """Each shape with 1 to 4 stages, with all trip counts up to two more than stages in many of them."""
    found = []
    for at, (shape, stages) in enumerate(itertools.product(kernels.SHAPES, (1, 2, 3, 4))):
        chips = [chip for chip in CHIPS if shape in campaign.shapes(chip)]
        bounds = kernels.BOUNDS[at % 3]
        trips = at // 4 % (stages + 3)
        constant = kernels.Bounds(bounds.lower, bounds.step, bounds.short, trips)
        found.append(Point(shape, chips[at % len(chips)], stages, stages, bounds=(constant,)))
    return found


POINTS = _points()


def test_every_number_of_stages_meets_every_number_of_iterations() -> None:
    met = {(point.stages, point.bounds[0].trips) for point in POINTS}
    assert met == {(stages, trips) for stages in (1, 2, 3, 4) for trips in range(stages + 3)}


@pytest.mark.grid(24, cover=lambda number: {POINTS[number].shape.name, POINTS[number].chip, POINTS[number].stages})
@pytest.mark.parametrize("number", range(len(POINTS)), ids=lambda number: str(POINTS[number]))
def test_loops(number: int) -> None:
    schedules = [simulated.SCHEDULES[(number + k) % len(simulated.SCHEDULES)] for k in (0, 4)]
    simulated.check(POINTS[number], schedules)


MUTATED = [
    Point(shape, next(chip for chip in CHIPS if shape in campaign.shapes(chip)), stages, stages, bounds=(bounds,))
    for at, shape in enumerate(kernels.SHAPES)
    for stages, bounds in [((2, kernels.Bounds(1, 2, 1, 4)), (3, kernels.Bounds(0, 1, 0, 5)))[at % 2]]
]


@pytest.mark.grid(9)
@pytest.mark.parametrize("point", MUTATED, ids=str)
def test_every_mutant_of_a_loop_is_noticed(point: Point) -> None:
    outcomes = simulated.score(point)
    assert [str(outcome) for outcome in outcomes if not outcome.caught] == []
    # Without shared memory, or with warps in the order of the copies, no mistake is possible.
    assert outcomes or point.shape.name in ("registers", "memory", "persistent")


def test_unreached_ops_do_not_have_mutants() -> None:
    shapes = {shape.name: shape for shape in kernels.SHAPES}
    for trips, wanted in ((0, set()), (3, {"phase flipped", "expect_tx too small", "expect_tx too large"})):
        point = Point(shapes["phases"], "sm_90a", 1, bounds=(kernels.Bounds(trips=trips),))
        outcomes = simulated.score(point)
        assert all(outcome.caught for outcome in outcomes)
        found = {outcome.mutant.kind for outcome in outcomes}
        assert found & {"phase flipped", "expect_tx too small", "expect_tx too large"} == wanted
