# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutants of every `.mlir` file in the tree: through every pass, and a tenth of them on the CPU against the reference.

A mutant is a function of the seed, of its number and of the files. The outcomes of each batch are a line of the file
that `--resume` takes. A finding is a crash, a hang, a traceback, a result that does not parse back, a wrong number, or
a refusal without a reason or a location. Every finding is reduced, and attributed to Smalti or to upstream by the
functions on its stack.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from . import campaign, triage
from .campaign import Counts, Finding, State

SECONDS = 15
RECORD = "mutants.json"


class Report:
    """Prints each new kind of finding, and the progress periodically."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._start = self._reported = time.monotonic()
        self._seen: set[str] = set()

    def __call__(self, state: State, finding: Finding | None) -> None:
        if finding is not None and finding.signature not in self._seen:
            self._seen.add(finding.signature)
            print(f"mutant {finding.number} of {finding.file}: {finding.signature}", flush=True)
        now = time.monotonic()
        if now - self._reported >= SECONDS:
            self._reported = now
            counts = state.counts
            print(
                f"{now - self._start:5.0f} s: {counts.mutants} of {self._count} mutants, {counts.parse['valid']} valid, "
                f"{counts.total.total()} runs of passes, {counts.checks.total()} checks, {len(state.findings)} findings",
                flush=True,
            )


def table_of(counts: Counts) -> Table:
    """The outcomes of the runs, by pass."""
    outcomes = [outcome for outcome, _ in (counts.total + counts.checks).most_common()]
    table = Table("pass", *outcomes, "in all", title=f"{counts.mutants} mutants: {dict(counts.parse)}")
    rows = [*sorted(counts.runs.items()), ("run --check", counts.checks)]
    for name, row in [*rows, ("in all", counts.total + counts.checks)]:
        table.add_row(name, *(str(row[outcome]) for outcome in outcomes), str(row.total()))
    return table


def record_of(state: State, causes: Sequence[triage.Cause]) -> dict[str, Any]:
    """The record in benchmarks/results."""
    listed = [
        {
            "signature": cause.signature,
            "mutants": cause.count,
            "owner": cause.owner,
            "stage": cause.finding.stage,
            "message": cause.finding.message[:400],
            "stack": cause.stack,
            "input": cause.text,
        }
        for cause in sorted(causes, key=lambda cause: (cause.owner, cause.signature))
    ]
    return {"seed": state.seed, "corpora": dict(state.corpora), "counts": state.counts.to_json(), "causes": listed}


def show(path: Path, number: int) -> int:
    """Prints the finding of a mutant."""
    for finding in State.load(path).findings:
        if finding.number == number:
            print(f"// {finding.stage}\n// {finding.outcome}: {finding.message}\n{finding.text}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/dev fuzz mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of all mutants (default: %(default)s)")
    parser.add_argument("--count", type=int, default=10_000, help="mutants in all (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    parser.add_argument("--file", type=Path, default=Path("build/fuzz/mutants.jsonl"), help="(default: %(default)s)")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="go on with the run that wrote this file")
    parser.add_argument("--triage", type=Path, metavar="FILE", help="only reduce the findings in this file")
    parser.add_argument("--only", help="of the findings to reduce: those with this in the signature")
    parser.add_argument("--show", type=int, metavar="MUTANT", help="print a finding in the file")
    parser.add_argument("--json", type=Path, help="write the record to this file")
    options = parser.parse_args()
    path = options.triage or options.resume or options.file
    if options.show is not None:
        return show(path, options.show)
    if options.triage:
        state = State.load(path)
    else:
        report = Report(options.count)
        state = campaign.run(path, options.seed, options.count, options.jobs, options.resume is not None, report)
    chosen = [finding for finding in state.findings if (options.only or "") in finding.signature]
    console = Console(width=None if sys.stdout.isatty() else 200)
    if not options.triage:
        console.print(table_of(state.counts))

    def say(cause: triage.Cause) -> None:
        stack = "".join(f"\n    {frame[:150]}" for frame in cause.stack[:6])
        print(
            f"== {cause.owner}, {cause.count} mutants: {cause.signature}\n   {cause.finding.stage}\n"
            f"   {cause.finding.message[:300]}{stack}\n{cause.text}",
            flush=True,
        )

    causes = triage.all_causes(chosen, say)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(record_of(state, causes), indent=1) + "\n")
    ours = [cause for cause in causes if cause.owner != "upstream"]
    print(f"{state.counts.mutants} mutants, {len(causes)} causes of findings, {len(ours)} not upstream's; {path}")
    return 1 if ours else 0


if __name__ == "__main__":
    sys.exit(main())
