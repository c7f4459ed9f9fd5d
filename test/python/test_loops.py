"""The loop passes keep what a kernel computes: shapes of loops, stages and bounds; and random kernels.

Every kernel runs on an emulated chip, before the passes and after them, and must leave the same bits in memory. The
long runs are `tools/dev fuzz loops`, with `--grid` for all points.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import hypothesis
import pytest
import smalti
from loops import campaign, kernels, runner
from loops.blocks import BLOCKS, Block
from loops.campaign import Point
from loops.case import Case
from loops.grammar import CHIPS, cases
from loops.kernels import BOUNDS, Bounds
from smalti.emulator import SCHEDULES, Emulation

SHAPES = {shape.name: shape for shape in kernels.SHAPES}

# Slots have to be the kernel's own as long as the pass that makes them wants one op to fill a buffer.
PIPELINED = {"reduction", "registers", "product", "recurrence", "branch", "siblings", "outputs", "chain", "groups"}
"""Shapes of which every loop is pipelined, with any number of stages."""


def _chips(shape: kernels.Shape) -> list[str]:
    """Those that have the instructions."""
    return [chip for chip in CHIPS if shape in campaign.shapes(chip)]


def _points() -> Iterator[Point]:
    """Each shape with 2 to 5 stages, on chips in turn."""
    turn = itertools.count()
    for shape in kernels.SHAPES:
        for stages in campaign.STAGES[1:]:
            chips = _chips(shape)
            chip = chips[next(turn) % len(chips)]
            yield Point(shape, chip, stages, depth=stages if stages % 2 else 0, noalias=shape.name != "memory")


@pytest.mark.parametrize("point", list(_points()), ids=str)
def test_loops_without_constant_bounds(point: Point) -> None:
    tally = runner.Tally()
    number = point.stages + kernels.SHAPES.index(point.shape)
    schedules = [SCHEDULES[(number + k) % len(SCHEDULES)] for k in (0, 3)]
    outcome = point.check(tally, schedules, sanitize=point.stages == 3)
    if point.shape.name in PIPELINED:
        assert outcome.pipelined == (2 if point.shape.name == "siblings" else 1), outcome.missed


@pytest.mark.parametrize("trips", range(kernels.TRIPS))
def test_loops_with_constant_bounds(trips: int) -> None:
    turn = itertools.count(trips)
    for name in ("reduction", "groups"):
        shape, bounds, stages = SHAPES[name], BOUNDS[next(turn) % len(BOUNDS)], 2 + next(turn) % 3
        chips = _chips(shape)
        constant = Bounds(bounds.lower, bounds.step, bounds.short, trips)
        point = Point(shape, chips[next(turn) % len(chips)], stages, bounds=(constant,))
        outcome = point.check(runner.Tally(), [SCHEDULES[next(turn) % len(SCHEDULES)]])
        # With no more stages than iterations.
        assert outcome.pipelined == (trips >= 2), outcome.missed


@pytest.mark.parametrize("stages", campaign.STAGES[1:])
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_loops_of_blocks(block: Block, stages: int) -> None:
    chip = CHIPS[(stages + BLOCKS.index(block)) % len(CHIPS)]
    outcome = campaign.check_block(block, chip, stages, depth=stages, tally=runner.Tally())
    assert outcome.pipelined == 1, outcome.missed


@pytest.mark.parametrize("chip", CHIPS)
def test_random_kernels_stay_what_they_are(chip: str) -> None:
    tally = runner.Tally()

    @hypothesis.settings(campaign.SETTINGS, max_examples=30, derandomize=True)
    @hypothesis.given(cases([chip]))
    def run(case: Case) -> None:
        campaign.examine(case, tally)

    run()
    assert tally.loops >= 5, tally


# ---------------------------------------------------------------------------------------------------------------------
# What is wrong is noticed
# ---------------------------------------------------------------------------------------------------------------------


def _made(name: str, stages: int = 3) -> tuple[Case, str]:
    case = Point(SHAPES[name], "sm_80", stages).case
    return case, runner.transform(case).text


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [(r"gpu\.barrier\n", "\n"), (r"numGroups = 2 ", "numGroups = 3 ")],
    ids=["a barrier", "a group that is waited for"],
)
def test_what_is_taken_away_is_missed(pattern: str, replacement: str) -> None:
    case, text = _made("groups")
    kernel = text.index("} else {") if "else" in text else len(text)
    found = list(re.finditer(pattern, text[:kernel]))
    assert found
    for match in found:
        less = text[: match.start()] + replacement + text[match.end() :]
        with pytest.raises(runner.Wrong):
            runner.execute(
                case, less, SCHEDULES, [Emulation(sanitize="thread", blocks=range(b, b + 1)) for b in (3, 8)]
            )


def test_a_module_that_changed_in_secret_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Point(SHAPES["by_hand"], "sm_80", 3).case
    assert not runner.transform(case).applied
    ran = runner._run

    def also(module: object, passes: str) -> object:
        remarks = ran(module, passes)
        smalti.Pipeline().cse().run(module)
        return remarks

    monkeypatch.setattr(runner, "_run", also)
    with pytest.raises(runner.Wrong, match="the module changed"):
        runner.transform(case)


def test_a_case_is_kept_in_a_file(tmp_path: pytest.TempPathFactory) -> None:
    case = Point(SHAPES["reduction"], "gfx942", 2).case
    assert Case.parse(str(case)) == case
