"""Long runs: batch after batch of random kernels, and every shape of loop with every number of stages."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Flaky
from smalti import targets
from smalti.emulator import SCHEDULES, Emulation

from . import kernels, runner
from .blocks import Block
from .case import Case
from .grammar import cases
from .kernels import BOUNDS, Bounds, Shape

SETTINGS = hypothesis.settings(
    database=None,
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much),
    report_multiple_bugs=False,
    phases=(Phase.generate, Phase.shrink),
)
STAGES = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Failure:
    """A reduced kernel that comes out wrong."""

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
    """Draws `count` kernels, or fewer where one comes out wrong, which is then reduced."""
    failure: Failure | None = None

    @hypothesis.seed(seed)
    @hypothesis.settings(SETTINGS, max_examples=count)
    @hypothesis.given(cases(chips))
    def run(case: Case) -> None:
        nonlocal failure
        try:
            # Reducing is no part of the count.
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
        plain = runner.Kernel(case, case.text)
        for bounds, scalars in zip(self.bounds, case.scalars, strict=True):
            self.shape.check(bounds, plain.run(case, scalars, Emulation()))
        outcome = runner.run(case, tally, schedules, sanitize)
        if self.shape.refused and outcome.pipelined:
            raise runner.Wrong(f"{self} is pipelined")
        return outcome


def check_block(block: Block, chip: str, stages: int, depth: int, tally: runner.Tally) -> runner.Outcome:
    """The plain program of a block against numpy, and what the passes make of it against the plain one."""
    case = block.case(chip, kernels.passes(chip, stages, depth))
    plain = runner.Kernel(case, case.text)
    block.check(case, lambda scalars: plain.run(case, scalars, Emulation()))
    return runner.run(case, tally, [SCHEDULES[stages % len(SCHEDULES)]])


def shapes(chip: str) -> Iterator[Shape]:
    """Those that the chip has the instructions for."""
    for shape in kernels.SHAPES:
        if not shape.waits or shape.waits in targets.get(chip).waits:
            yield shape


def grid(chips: Sequence[str]) -> Iterator[Point]:
    """Every shape with 1 to 5 stages: with bounds that are not constant, and with each constant trip count."""
    for chip, stages in itertools.product(chips, STAGES):
        for shape in shapes(chip):
            for depth in (0, stages):
                yield Point(shape, chip, stages, depth)
            yield Point(shape, chip, stages, stages, "async" if shape.waits else "stream")
            yield Point(shape, chip, stages, noalias=False)
            for trips, bounds in itertools.product(range(kernels.TRIPS), BOUNDS):
                constant = Bounds(bounds.lower, bounds.step, bounds.short, trips)
                yield Point(shape, chip, stages, stages, bounds=(constant,))
