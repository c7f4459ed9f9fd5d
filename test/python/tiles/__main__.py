# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The whole matrix of tile-level operations, or a part of it, on all targets.

Each outcome is a line of the file `--file`. A run that was interrupted goes on with `--resume`, which runs the kernels
that the file does not have, and those with a wrong result. `--json` writes the record of all outcomes in the file.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from . import kernels, matrix

ROOT = Path(__file__).resolve().parents[3]


def record_of(report: matrix.Report) -> dict[str, Any]:
    """The record in benchmarks/results: the outcomes by target."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import _record

    return {
        "what": "kernels of one tile-level operation each, by target: right, refused by reason, or wrong",
        "versions": _record.versions(),
        "targets": report.by_target(),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="tools/dev fuzz tiles", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pattern", nargs="?", default="", help="only kernels whose name contains a match of it")
    parser.add_argument("--target", nargs="+", action="extend", help=f"default: {' '.join(matrix.TARGETS)}")
    parser.add_argument("--count", type=int, help="a random sample of this many kernels")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")
    parser.add_argument("--show", action="store_true", help="print the text of each wrong kernel")
    parser.add_argument(
        "--file", type=Path, default=ROOT / "build" / "fuzz" / "tiles.jsonl", help="(default: build/fuzz/tiles.jsonl)"
    )
    parser.add_argument("--resume", action="store_true", help="go on with the run that wrote the file")
    parser.add_argument("--json", type=Path, help="write the record of the outcomes in the file to this file")
    options = parser.parse_args()
    targets = options.target or list(matrix.TARGETS)
    cases = list(kernels.cases())
    chosen = matrix.selected(cases, options.pattern)
    if options.count is not None:
        chosen = random.Random(options.seed).sample(chosen, min(options.count, len(chosen)))
    log = matrix.Log(options.file, cases, options.resume)
    report, unknown = matrix.Report(), 0
    reported = time.monotonic()
    for number, case in enumerate(chosen):
        known = [outcome for target in targets if (outcome := log.known(case, target)) is not None]
        report.add(known)
        rest = [target for target in targets if all(outcome.target != target for outcome in known)]
        if not rest:
            continue
        try:
            outcomes = matrix.run(case, rest)
        except matrix.ReferenceRefuses as error:
            unknown += 1
            print(f"reference: {error}", flush=True)
            continue
        log.add(outcomes)
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
    if options.json:
        whole = matrix.Report()
        whole.add(log.outcomes())
        options.json.write_text(json.dumps(record_of(whole), indent=1) + "\n")
    print(f"{len(chosen)} kernels on {len(targets)} targets: {len(report.wrong)} wrong results")
    return 1 if report.wrong or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
