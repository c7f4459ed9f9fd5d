# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long runs: batches of random kernels, and every shape of loop with every number of stages."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import hypothesis
from fuzz.campaign import SETTINGS
from hypothesis.errors import Flaky
from smalti import targets
from smalti.emulator import SCHEDULES, Emulation

from . import kernels, runner
from .blocks import Block
from .case import Case
from .grammar import cases
from .kernels import BOUNDS, RUNS, Bounds, Shape

STAGES = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Failure:
    """A reduced kernel with wrong results."""

    case: Case
    message: str


def examine(case: Case, tally: runner.Tally) -> runner.Outcome:
    """One kernel, in two orders of its threads and copies, and under the thread sanitizer now and then."""
    first = case.seed % len(SCHEDULES)
    schedules = [SCHEDULES[first], SCHEDULES[(first + 3) % len(SCHEDULES)]]
    return runner.run(case, tally, schedules, sanitize=case.seed == 0)


def batch(
    chips: Sequence[str], seed: int, count: int, tally: runner.Tally, progress: Callable[[], None]
) -> Failure | None:
    """Generates `count` kernels, or fewer if one has wrong results, which is then reduced."""
    failure: Failure | None = None

    @hypothesis.seed(seed)
    @hypothesis.settings(SETTINGS, max_examples=count)
    @hypothesis.given(cases(chips))
    def run(case: Case) -> None:
        nonlocal failure
        try:
            # Reduction is not counted.
            examine(case, tally if failure is None else runner.Tally())
        except Exception as error:
            failure = Failure(case, f"{type(error).__name__}: {error}")
            raise
        finally:
            progress()

    try:
        run()
    except Exception as error:
        if failure is None or not isinstance(error, (runner.Wrong, Flaky, Exception)):
            raise
        return failure
    return None


# ---------------------------------------------------------------------------------------------------------------------
# The grid
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """One kernel of the grid: a shape, a chip, the passes and the bounds."""

    shape: Shape
    chip: str
    stages: int
    depth: int = 0
    mode: str = "auto"
    bounds: tuple[Bounds, ...] = BOUNDS
    noalias: bool = True

    def __str__(self) -> str:
        first = self.bounds[0]
        trips = "dynamic" if first.trips is None else f"{first.trips}_from_{first.lower}_by_{first.step}"
        trips += "_again" if first.pace else ""
        words = [self.shape.name, self.chip, f"{self.stages}_stages", f"{self.depth}_slots", self.mode, trips]
        return "-".join([*words, *([] if self.noalias else ["alias"])])

    @property
    def case(self) -> Case:
        """The kernel with its passes."""
        return self.shape.case(
            self.chip, kernels.passes(self.chip, self.stages, self.depth, self.mode), self.bounds, self.noalias
        )

    def check(self, tally: runner.Tally, schedules: Sequence[Emulation], sanitize: bool = False) -> runner.Outcome:
        """The plain kernel against numpy, and what the passes make of it against the plain one."""
        case = self.case
        plain = runner.plain_kernel(case.chip, case.text)
        for bounds, scalars in zip(self.bounds, case.scalars, strict=True):
            self.shape.check(bounds, plain.run(case, scalars, Emulation()))
        outcome = runner.run(case, tally, schedules, sanitize)
        if outcome.pipelined and (self.shape.refused or (self.shape.recurrent and not self.noalias)):
            raise runner.Wrong(f"{self} is pipelined")
        return outcome


def check_block(block: Block, chip: str, stages: int, depth: int, tally: runner.Tally) -> runner.Outcome:
    """The plain kernel of a block against numpy, and the passes' output against the plain kernel."""
    case = block.case(chip, kernels.passes(chip, stages, depth))
    plain = runner.plain_kernel(case.chip, case.text)
    block.check(case, lambda scalars: plain.run(case, scalars, Emulation()))
    return runner.run(case, tally, [SCHEDULES[stages % len(SCHEDULES)]])


def shapes(chip: str) -> Iterator[Shape]:
    """Those that the chip has the instructions for."""
    for shape in kernels.SHAPES:
        if not shape.waits or shape.waits in targets.get(chip).waits:
            yield shape


def facts(point: Point) -> dict[str, object]:
    """The position of a point in the grid."""
    bounds = point.bounds[0]
    return {
        "shape": point.shape.name,
        "chip": point.chip,
        "stages": point.stages,
        "slots": point.depth > 0,
        "mode": point.mode == "auto",
        "trips": bounds.trips,
        # All of them, if they are dynamic.
        "bounds": bounds.lower if bounds.trips is not None else None,
        "runs": "changing" if bounds.pace and bounds.trips is None else bounds.pace > 0,
    }


_APART = ({"shape", "trips"}, {"shape", "bounds"}, {"bounds", "trips"}, {"runs", "trips"}, {"runs", "bounds"})
"""Facts whose pairs one launch with dynamic bounds covers."""


def pairs(point: Point) -> list[tuple[object, ...]]:
    """Each two facts of a point."""
    both = itertools.combinations(facts(point).items(), 2)
    return [(*one, *other) for one, other in both if {one[0], other[0]} not in _APART]


def covering(chips: Sequence[str]) -> list[Point]:
    """A small part of the grid that has each pair of facts: each shape with each number of stages, and so on.

    And each shape with bounds that are not constant, pipelined.
    """
    points = [point for point in grid(chips) if point.noalias]
    numbers: dict[tuple[object, ...], int] = {}
    masks = [sum(1 << numbers.setdefault(pair, len(numbers)) for pair in pairs(point)) for point in points]
    missing, chosen = (1 << len(numbers)) - 1, []

    def gain(at: int) -> int:
        return (masks[at] & missing).bit_count()

    def take(at: int) -> None:
        nonlocal missing
        missing &= ~masks[at]
        chosen.append(points[at])

    for number, shape in enumerate(kernels.SHAPES):
        known = (shape, 2 + number % 4, None)
        take(max((at for at, p in enumerate(points) if (p.shape, p.stages, p.bounds[0].trips) == known), key=gain))
    # Gains only shrink, so the first point of the heap is the best one if its gain is up to date.
    heap = [(-gain(at), at) for at in range(len(points))]
    heapq.heapify(heap)
    while missing:
        before, at = heap[0]
        if before == -gain(at):
            take(at)
        heapq.heapreplace(heap, (-gain(at), at))
    return chosen


def grid(chips: Sequence[str]) -> list[Point]:
    """Every shape with 1 to 5 stages: with bounds that are not constant, also of a loop that another one runs again and
    again, and with each constant trip count.

    In an order of its own, which is always the same: any part of it has all of them in about equal shares.
    """
    points = list(_grid(chips))
    random.Random(0).shuffle(points)
    return points


def _grid(chips: Sequence[str]) -> Iterator[Point]:
    for chip, stages in itertools.product(chips, STAGES):
        for shape in shapes(chip):
            for depth in (0, stages):
                yield Point(shape, chip, stages, depth)
            yield Point(shape, chip, stages, stages, "async" if shape.waits else "stream")
            yield Point(shape, chip, stages, noalias=False)
            if shape.repeats:
                for depth in (0, stages):
                    yield Point(shape, chip, stages, depth, bounds=RUNS)
                for trips in (2, 5):
                    yield Point(shape, chip, stages, bounds=(Bounds(1, 2, 1, trips, pace=1),))
            for trips, bounds in itertools.product(range(kernels.TRIPS), BOUNDS):
                constant = Bounds(bounds.lower, bounds.step, bounds.short, trips)
                yield Point(shape, chip, stages, stages, bounds=(constant,))
