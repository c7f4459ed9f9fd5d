# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unchanged results of kernels after the loop passes: shapes of loops, stages and bounds; and random kernels.

Every kernel runs on an emulated chip, before the passes and after them, and must leave the same bits in memory. The
long runs are `tools/dev fuzz loops`, with `--grid` for all points.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import hypothesis
import pytest
import smalti
from loops import campaign, kernels, runner
from loops.blocks import BLOCKS, Block
from loops.campaign import Point
from loops.case import Case
from loops.grammar import CHIPS, cases
from smalti.emulator import SCHEDULES, Emulation

SHAPES = {shape.name: shape for shape in kernels.SHAPES}

PIPELINED = {
    "reduction", "registers", "multiplications", "recurrence", "branch", "siblings", "outputs", "chain", "rotating", "groups",
    "pieces", "waves", "tensors", "tiles", "phases", "running_groups", "running_tiles_5", "running_phases_5",
}  # fmt: skip
"""Shapes that are pipelined with any number of stages."""


POINTS = campaign.covering(CHIPS)


@pytest.mark.grid(24, cover=lambda number: {POINTS[number].shape.name, POINTS[number].chip, POINTS[number].stages})
@pytest.mark.parametrize("number", range(len(POINTS)), ids=lambda number: str(POINTS[number]))
def test_loops(number: int) -> None:
    point, trips = POINTS[number], POINTS[number].bounds[0].trips
    schedules = [SCHEDULES[(number + k) % len(SCHEDULES)] for k in (0, 3)]
    outcome = point.check(runner.Tally(), schedules, sanitize=number % 6 == 0)
    if point.shape.name in PIPELINED:
        # With no more stages than iterations.
        some = point.stages > 1 and (trips is None or trips > 1)
        loops = 2 if point.shape.name == "siblings" else 1
        assert outcome.pipelined == loops * some, outcome.missed


@pytest.mark.grid(10, cover=lambda shape: {shape.name})
@pytest.mark.parametrize("shape", kernels.SHAPES, ids=lambda shape: shape.name)
def test_loops_with_arrays_that_may_overlap(shape: kernels.Shape) -> None:
    chips = [chip for chip in CHIPS if shape in campaign.shapes(chip)]
    point = Point(shape, chips[kernels.SHAPES.index(shape) % len(chips)], 3, noalias=False)
    point.check(runner.Tally(), SCHEDULES[1:2])


@pytest.mark.grid(8)
@pytest.mark.parametrize("stages", campaign.STAGES[1:])
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_loops_of_blocks(block: Block, stages: int) -> None:
    chip = CHIPS[(stages + BLOCKS.index(block)) % len(CHIPS)]
    outcome = campaign.check_block(block, chip, stages, depth=stages, tally=runner.Tally())
    assert outcome.pipelined == 1, outcome.missed


@pytest.mark.grid(3)
@pytest.mark.parametrize("chip", CHIPS)
def test_random_kernels_stay_what_they_are(chip: str) -> None:
    tally = runner.Tally()

    @hypothesis.settings(campaign.SETTINGS, max_examples=10, derandomize=True)
    @hypothesis.given(cases([chip]))
    def run(case: Case) -> None:
        campaign.examine(case, tally)

    run()
    assert tally.pipelined >= 1 and tally.ran >= 3, tally


def test_numbers_that_overflow_are_not_counted_on() -> None:
    case = Point(SHAPES["running_groups"], "sm_80", 3, bounds=(kernels.RUNS[0],)).case
    text = case.text.replace("%begin_number = %c0", "%begin_number = %almost")
    text = text.replace("%c0 = ", "%almost = arith.constant -20 : index\n    %c0 = ", 1)
    # Two iterations in a row have the same slot.
    text = text.replace("%more = ", "gpu.barrier\n      %more = ")
    case = replace(case, text=text)
    outcome = runner.run(case, runner.Tally(), SCHEDULES)
    assert outcome.pipelined == 1, outcome.missed
    # The successor of 2^64 - 1, which is a multiple of 5, is 0.
    wrong, changes = re.subn(r"arith\.cmpi ult, (%\w+, %c4611686018427387904)", r"arith.cmpi uge, \1", outcome.text)
    assert changes == 1
    with pytest.raises(runner.Wrong):
        runner.execute(case, wrong, SCHEDULES)


KEPT = sorted((Path(kernels.__file__).parent / "kept").glob("*.case"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_kernels_that_came_out_wrong_once(path: Path) -> None:
    outcome = runner.run(Case.parse(path.read_text()), runner.Tally(), SCHEDULES, sanitize=True)
    assert outcome.pipelined


# ---------------------------------------------------------------------------------------------------------------------
# Detection of mistakes
# ---------------------------------------------------------------------------------------------------------------------


MUTANTS = {
    "a barrier": ("groups", "sm_80", r"gpu\.barrier\n", "\n"),
    "a group that is waited for": ("groups", "sm_80", r"numGroups = 2 ", "numGroups = 3 "),
    "a barrier behind a wait for tiles": ("tiles", "sm_90a", r"gpu\.barrier\n", "\n"),
    "a wait for tiles": ("tiles", "sm_90a", r"nvgpu\.mbarrier\.try_wait[^\n]*\n", "\n"),
    "the parity of a phase": ("tiles", "sm_90a", r"arith\.cmpi eq, (%\w+), %c1 ", r"arith.cmpi ne, \1, %c1 "),
    "a tensor copy that is waited for": ("tensors", "gfx1250", r"tensor\(3\)", "tensor(4)"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_removed_synchronization_is_found(mutant: str) -> None:
    name, chip, pattern, replacement = MUTANTS[mutant]
    case = Point(SHAPES[name], chip, 3).case
    text = runner.transform(case).text
    # The code for small trip counts is unchanged.
    found = list(re.finditer(pattern, text[: text.rindex("} else {")]))
    assert found
    for match in found:
        less = text[: match.start()] + match.expand(replacement) + text[match.end() :]
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
