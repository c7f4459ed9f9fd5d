# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The whole matrix of tile-level operations, or a part of it, on all targets."""

from __future__ import annotations

import argparse
import random
import sys
import time

from . import kernels, matrix


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/dev fuzz tiles", description=__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="only kernels whose name contains a match of it")
    parser.add_argument("--target", nargs="+", action="extend", help=f"default: {' '.join(matrix.TARGETS)}")
    parser.add_argument("--count", type=int, help="a random sample of this many kernels")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")
    parser.add_argument("--show", action="store_true", help="print the text of each wrong kernel")
    options = parser.parse_args()
    targets = options.target or list(matrix.TARGETS)
    chosen = matrix.selected(kernels.cases(), options.pattern)
    if options.count is not None:
        chosen = random.Random(options.seed).sample(chosen, min(options.count, len(chosen)))
    report, unknown = matrix.Report(), 0
    reported = time.monotonic()
    for number, case in enumerate(chosen):
        try:
            outcomes = matrix.run(case, targets)
        except matrix.ReferenceRefuses as error:
            unknown += 1
            print(f"reference: {error}", flush=True)
            continue
        report.add(outcomes)
        for outcome in outcomes:
            if outcome.kind == "wrong":
                print(outcome, flush=True)
                if options.show:
                    print(case.program, flush=True)
        if time.monotonic() - reported > 30:
            reported = time.monotonic()
            print(f"{number + 1} of {len(chosen)} kernels", flush=True)
    print("\n".join([*report.table(targets), "", *report.reasons()]))
    print(f"{len(chosen)} kernels on {len(targets)} targets: {len(report.wrong)} wrong results")
    return 1 if report.wrong or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
