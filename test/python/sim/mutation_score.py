#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutation score of the simulator, for files, or for all files in folders.

Fails if a mutant survives. A kernel that cannot be simulated or has findings itself is reported and not counted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from smalti import errors, sim
from smalti.sim import mutants


def files(paths: Sequence[Path]) -> Iterator[Path]:
    """The kernels in files and folders. Kernels written by layout inference are omitted: they have the same mutants as
    its input."""
    for path in paths:
        found = sorted(path.glob("*.mlir")) if path.is_dir() else [path]
        yield from (one for one in found if not one.name.endswith(".inferred.mlir"))


def score(path: Path, target: str, level: str | None, blocks: range | None) -> list[mutants.Outcome]:
    """The outcomes of the mutants of one kernel."""
    kernel = sim.simulate(path, target, level=level)
    return mutants.score(kernel, kernel.random_arguments(), blocks=blocks)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, help="files and folders")
    parser.add_argument("--target", nargs="+", default=["sm_90a"], help="chips (default: sm_90a)")
    parser.add_argument("--level", choices=["block", "thread"], help="lower all programs to this level")
    parser.add_argument("--blocks", type=int, default=1, help="how many blocks of each run (default: 1)")
    options = parser.parse_args(words)
    noticed = count = 0
    for path in files(options.paths):
        for chip in options.target:
            try:
                outcomes = score(path, f"sim:{chip}", options.level, range(options.blocks))
            except errors.SmaltiError as error:
                print(f"{path}, {chip}: not counted: {str(error).splitlines()[0]}", flush=True)
                continue
            caught = sum(outcome.caught for outcome in outcomes)
            count, noticed = count + len(outcomes), noticed + caught
            print(f"{path}, {chip}: {caught} of {len(outcomes)}", flush=True)
            for outcome in outcomes:
                if not outcome.caught:
                    print(f"  {outcome}")
    print(f"{noticed} of {count} mutants are noticed ({100 * noticed / max(count, 1):.4g} %)")
    return 1 if noticed < count else 0


if __name__ == "__main__":
    sys.exit(main())
