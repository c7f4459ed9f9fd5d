# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long runs of the fuzzer: batches of kernels, and reduced failures in files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Flaky

from . import differential
from .grammar import programs
from .program import Program

SETTINGS = hypothesis.settings(
    database=None,
    deadline=None,
    # A program takes a while, and is a large draw.
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much),
    report_multiple_bugs=False,
    phases=(Phase.generate, Phase.shrink),
)


@dataclass(frozen=True)
class Failure:
    """A reduced kernel with wrong results on a target."""

    program: Program
    target: str
    message: str

    def save(self, folder: Path) -> Path:
        """Writes the program to a file that is named by its contents."""
        folder.mkdir(parents=True, exist_ok=True)
        text = str(self.program)
        path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.mlir"
        path.write_text(text)
        return path


class Campaign:
    """Runs batches of programs, and counts what became of them."""

    def __init__(self, targets: Sequence[str], progress: Callable[[], None] = lambda: None) -> None:
        self.targets = tuple(targets)
        self.tally = differential.Tally()
        self._progress = progress

    def batch(self, seed: int, count: int) -> Failure | None:
        """Generates `count` kernels, or fewer if one fails, which is then reduced."""
        suspects = self.targets
        failure: Failure | None = None

        @hypothesis.seed(seed)
        @hypothesis.settings(SETTINGS, max_examples=count)
        @hypothesis.given(programs())
        def run(program: Program) -> None:
            nonlocal suspects, failure
            # Reduction is not counted.
            tally = self.tally if failure is None else differential.Tally()
            try:
                differential.compare(program, suspects, tally)
            except differential.Disagreement as wrong:
                # The target that failed is enough to reduce the program.
                suspects = (wrong.target,)
                failure = Failure(program, wrong.target, str(wrong))
                raise
            finally:
                self._progress()

        try:
            run()
        except (differential.Disagreement, Flaky):
            assert failure is not None
            return failure
        return None
