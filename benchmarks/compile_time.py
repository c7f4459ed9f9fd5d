# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Seconds from a `.mlir` file to a binary, by target and stage.

Every target is compiled `--repeat` times in one process after one warm-up, which starts the code generation process
and loads libraries; minimum, median and maximum are kept. The stages:

- parse: text to a verified module
- lower: the pipeline `smalti-compile`, in process
- codegen: the module to PTX or GCN assembly, in the code generation process, transfer included
- assemble: ptxas, or LLVM's assembler and ld.lld; nothing on the CPU

On the CPU code is generated at the first call, which is not counted here.

Prints a table and writes JSON with the versions and the machine to `--json`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import _record
import smalti
from _record import ROOT
from rich.table import Table
from smalti import targets

PROGRAM = ROOT / "test" / "kernels" / "matmul_ragged.mlir"
STAGES = ("parse", "lower", "codegen", "assemble")

# The names of the steps that `smalti.compile` reports.
STEP_OF_MESSAGE = {
    "lowering": "lower",
    "generating code": "codegen",
    "ptxas": "assemble",
    "assembling": "assemble",
}


class Stopwatch:
    """Times the steps that a compilation announces."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self._step = "parse"
        self._since = time.perf_counter()

    def __call__(self, message: str) -> None:
        self.stop()
        self._step = STEP_OF_MESSAGE[message]

    def stop(self) -> None:
        now = time.perf_counter()
        self.seconds[self._step] += now - self._since
        self._since = now


def once(program: Path, target: str) -> dict[str, float]:
    """Seconds of each stage of one compilation."""
    watch = Stopwatch()
    smalti.compile(program, target=target, progress=watch)
    watch.stop()
    return watch.seconds


def summary(values: list[float]) -> dict[str, float]:
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def measure(program: Path, target: str, repeat: int, run: Callable[[Path, str], dict[str, float]] = once) -> dict:
    """The stages of `repeat` compilations after a warm-up."""
    run(program, target)
    samples = [run(program, target) for _ in range(repeat)]
    result: dict[str, object] = {stage: summary([sample[stage] for sample in samples]) for stage in STAGES}
    result["to_text"] = summary([sum(s[stage] for stage in STAGES[:3]) for s in samples])
    result["total"] = summary([sum(s.values()) for s in samples])
    return result


def default_targets() -> list[str]:
    return [target.name for target in targets.all() if target.is_gpu] + ["cpu"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help="the targets (default: every one in the table)")
    parser.add_argument("--program", type=Path, default=PROGRAM)
    parser.add_argument("--repeat", type=int, default=10)
    _record.add_option(parser, "compile_time")
    options = parser.parse_args()

    results: dict[str, object] = {}
    table = Table(title=f"{options.program.name}: milliseconds, median of {options.repeat} (minimum of the total)")
    for column in ("target", *STAGES, "to assembly text", "total", "(min)"):
        table.add_column(column, justify="left" if column == "target" else "right")
    for target in options.targets or default_targets():
        try:
            result = measure(options.program, target, options.repeat)
        except smalti.SmaltiError as error:
            results[target] = {"failed": str(error)}
            table.add_row(target, "failed")
            continue
        results[target] = result
        cells = [f"{1e3 * result[key]['median']:.1f}" for key in (*STAGES, "to_text", "total")]
        table.add_row(target, *cells, f"{1e3 * result['total']['min']:.1f}")

    record = {
        "what": "seconds from .mlir to a binary",
        "program": options.program.name,
        "repeat": options.repeat,
        "versions": _record.versions(),
        "machine": _record.machine(),
        "results": results,
    }
    _record.write(record, options.json, table)
    return 1 if any("failed" in result for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
