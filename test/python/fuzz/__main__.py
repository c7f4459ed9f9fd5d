# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random tile-level kernels on every kind of target, against the float64 reference.

Without files it generates kernels until the time has elapsed. Every failure is reduced to a small kernel and written to
a file, which this command runs again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from . import differential
from .campaign import Campaign
from .program import Program
from .targets import default_targets

BATCH = 40


def replay(paths: list[Path], targets: list[str]) -> int:
    """Runs kept programs again."""
    wrong = 0
    for path in paths:
        program = Program.load(path)
        for target in targets:
            tally = differential.Tally()
            try:
                differential.compare(program, [target], tally)
            except differential.Disagreement as error:
                wrong += 1
                print(f"{path}: {error}")
                continue
            refused = [reason for (_, reason) in tally.refused]
            print(f"{path}: {target}: {'refused: ' + refused[0] if refused else 'agrees'}")
    return 1 if wrong else 0


def summary(tally: differential.Tally, targets: list[str]) -> list[Table]:
    """The outcomes of the kernels, and the reasons of refusals."""
    counts = Table("target", "agreed", "refused", "failed", title="Programs")
    for target in targets:
        refused = sum(count for (where, _), count in tally.refused.items() if where == target)
        counts.add_row(target, str(tally.agreed[target]), str(refused), str(tally.failed[target]))
    if not tally.refused:
        return [counts]
    reasons = Table("target", "programs", "reason", title="Refusals")
    for (target, reason), count in sorted(tally.refused.items(), key=lambda item: (item[0][0], -item[1])):
        reasons.add_row(target, str(count), reason)
    return [counts, reasons]


def fuzz(minutes: float, seed: int, targets: list[str], folder: Path) -> int:
    """Runs batches until the time has elapsed."""
    console = Console(width=None if sys.stdout.isatty() else 120)
    start, reported = time.monotonic(), 0.0

    def progress() -> None:
        nonlocal reported
        now = time.monotonic()
        if now - reported >= 10:
            reported = now
            tally = campaign.tally
            text = f"{now - start:5.0f} s: {tally.agreed.total()} runs agreed, {tally.refused.total()} refused"
            print(f"{text}, {tally.failed.total()} failed", flush=True)

    campaign = Campaign(targets, progress)
    files: list[Path] = []
    while True:
        if failure := campaign.batch(seed, BATCH):
            path = failure.save(folder)
            print(
                f"seed {seed}: {failure.message}\n  again: tools/dev fuzz {path} --target {failure.target}", flush=True
            )
            files.append(path)
        seed += 1
        if time.monotonic() - start >= 60 * minutes:
            break
    for table in summary(campaign.tally, targets):
        console.print(table)
    print(f"the next seed is {seed}" + "".join(f"\nfailed: {path}" for path in sorted(set(files))))
    return 1 if files else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/dev fuzz", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="programs to run again, instead of drawing new ones")
    parser.add_argument("--minutes", type=float, default=1, help="how long to go on (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help=f"the first batch of {BATCH} programs (default: 0)")
    parser.add_argument("--target", nargs="+", action="extend", help=f"default: {' '.join(default_targets())}")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="for failures (default: %(default)s)")
    options = parser.parse_args()
    targets = options.target or default_targets()
    os.environ.setdefault("SMALTI_REPRODUCER_DIR", str(options.folder / "reproducers"))
    if options.files:
        return replay(options.files, targets)
    return fuzz(options.minutes, options.seed, targets, options.folder)


if __name__ == "__main__":
    sys.exit(main())
