# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPU kernels with loops through the loop passes, on emulated chips: transformed kernels against the originals.

Generates random kernels until the time has elapsed, or takes every shape of loop with every number of stages
(`--grid`). A random kernel with wrong results is reduced to a small one and written to a file, which this command runs
again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from smalti.emulator import SCHEDULES

from . import campaign, runner, simulated
from .case import Case
from .grammar import CHIPS

BATCH = 100
SECONDS = 10


def replay(paths: list[Path]) -> int:
    """Runs kept kernels again."""
    wrong = 0
    for path in paths:
        try:
            outcome = runner.run(Case.parse(path.read_text()), runner.Tally(), SCHEDULES, sanitize=True)
        except Exception as error:
            wrong += 1
            print(f"{path}: {type(error).__name__}: {error}")
            continue
        for message in (*outcome.applied, *outcome.missed):
            print(f"{path}: {message}")
    return 1 if wrong else 0


class Report:
    """Prints the progress periodically, and the outcomes of the kernels at the end."""

    def __init__(self) -> None:
        self.tally = runner.Tally()
        self._start = self._reported = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._start

    def progress(self) -> None:
        """One line, if the last one is a while ago."""
        if time.monotonic() - self._reported < SECONDS:
            return
        self._reported = time.monotonic()
        print(f"{self.seconds:5.0f} s: {self.tally}", flush=True)

    def summary(self) -> None:
        """The table of reasons."""
        reasons = Table("times", "reason", title="Refusals")
        for reason, count in self.tally.refused.most_common():
            reasons.add_row(str(count), reason)
        Console(width=None if sys.stdout.isatty() else 160).print(reasons)
        print(f"{self.seconds:.0f} s: {self.tally}")


def fuzz(minutes: float, seed: int, chips: Sequence[str], folder: Path) -> int:
    """Batches of random kernels until the time has elapsed."""
    report, files = Report(), []
    while True:
        if failure := campaign.batch(chips, seed, BATCH, report.tally, report.progress):
            path = failure.case.save(folder)
            print(f"seed {seed}: {failure.message}\n  again: tools/dev fuzz loops {path}", flush=True)
            files.append(path)
        seed += 1
        if report.seconds >= 60 * minutes:
            break
    report.summary()
    print(f"the next seed is {seed}" + "".join(f"\nfailed: {path}" for path in sorted(set(files))))
    return 1 if files else 0


def points_of(chips: Sequence[str], part: tuple[int, int]) -> list[campaign.Point]:
    """Every point of the grid, or those of each plain kernel out of so many."""
    # Points of one plain kernel are consecutive, so that it is compiled once.
    groups: dict[object, list[campaign.Point]] = {}
    for point in campaign.grid(chips):
        groups.setdefault((point.chip, point.shape.name, point.noalias, point.bounds), []).append(point)
    return [point for group in list(groups.values())[part[0] :: part[1]] for point in group]


def simulate(points: Sequence[campaign.Point], of_mutants: bool) -> int:
    """Points of the grid in the simulator, in one schedule each; or the mutants of their kernels."""
    failed, noticed, count = 0, 0, 0
    start = reported = time.monotonic()
    for number, point in enumerate(points):
        try:
            if of_mutants:
                outcomes = simulated.score(point)
                missed = [outcome for outcome in outcomes if not outcome.caught]
                count, noticed = count + len(outcomes), noticed + len(outcomes) - len(missed)
                print("".join(f"{point}: {outcome}\n" for outcome in missed), end="", flush=True)
            else:
                simulated.check(point, [simulated.SCHEDULES[number % len(simulated.SCHEDULES)]])
        except Exception as error:
            failed += 1
            print(f"{point}: {type(error).__name__}: {error}", flush=True)
        if time.monotonic() - reported >= SECONDS:
            reported = time.monotonic()
            print(f"{reported - start:5.0f} s: {number + 1} of {len(points)} points", flush=True)
    print(f"{time.monotonic() - start:.0f} s: {len(points)} points, {failed} failed")
    if of_mutants:
        print(f"{noticed} of {count} mutants are noticed ({100 * noticed / max(count, 1):.4g} %)")
    return 1 if failed or noticed < count else 0


def grid(points: Sequence[campaign.Point], folder: Path) -> int:
    """Points of the grid on emulated chips."""
    report, failed = Report(), 0
    for number, point in enumerate(points):
        schedules = [SCHEDULES[(number + k) % len(SCHEDULES)] for k in (0, 3)]
        try:
            point.check(report.tally, schedules, sanitize=number % 8 == 0)
        except Exception as error:
            failed += 1
            path = point.case.save(folder)
            print(f"{point}: {type(error).__name__}: {error}\n  again: tools/dev fuzz loops {path}", flush=True)
        report.progress()
    report.summary()
    print(f"{len(points)} points, {failed} failed")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/dev fuzz loops", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="kernels to run again, instead of drawing new ones")
    parser.add_argument("--minutes", type=float, default=1, help="how long to go on (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help=f"the first batch of {BATCH} kernels (default: 0)")
    parser.add_argument("--chip", nargs="+", action="extend", help=f"default: {' '.join(CHIPS)}")
    parser.add_argument("--grid", action="store_true", help="every shape of loop, instead of random ones")
    parser.add_argument("--part", default="0/1", help="of the grid: 2/5 is every fifth plain kernel from the third on")
    parser.add_argument("--points", type=int, help="of the grid: so many points at most")
    parser.add_argument("--sim", action="store_true", help="of the grid: simulated, instead of emulated")
    parser.add_argument(
        "--mutants", action="store_true", help="of the grid where bounds are constant: mutants, simulated"
    )
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="for failures (default: %(default)s)")
    options = parser.parse_args()
    os.environ.setdefault("SMALTI_REPRODUCER_DIR", str(options.folder / "reproducers"))
    chips: Sequence[str] = options.chip or CHIPS
    if options.files:
        return replay(options.files)
    if options.grid:
        first, _, count = options.part.partition("/")
        points = points_of(chips, (int(first), int(count)))
        if options.mutants:
            # Runs of these are short.
            points = [point for point in points if point.bounds[0].trips is not None]
        points = points[: options.points]
        if options.sim or options.mutants:
            return simulate(points, options.mutants)
        return grid(points, options.folder)
    return fuzz(options.minutes, options.seed, chips, options.folder)


if __name__ == "__main__":
    sys.exit(main())
