# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a folder of modules that JAX printed to cubins, and counts the refusals by reason.

`--folder` names the folder; the default is the environment variable SMALTI_JAX_SUITE, or `shared/jax_suite` next to the
checkout. Each subfolder is a kind of modules, and each of its `.mlir` files is a module. `NAME.inferred.mlir` (a module after JAX's own layout inference) is not compiled.
A module is compiled for the chip that it names, in one of `--jobs` processes; a process that dies or takes longer than
`--timeout` seconds is a result, too.

    tools/dev bench jax-suite --folder DIR
    tools/dev bench jax-suite --folder DIR --kind lane --match test_copy --json out.json

Prints a table by kind and the refusals by reason, and writes JSON with the outcome of each module to `--json`. The
process returns 1 where a module crashes or times out.
"""

from __future__ import annotations

import argparse
import collections
import csv
import dataclasses
import multiprocessing
import os
import random
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

FOLDER_VARIABLE = "SMALTI_JAX_SUITE"

CUBIN, REFUSED, CRASHED, TIMEOUT = "cubin", "refused", "crashed", "timeout"


@dataclasses.dataclass
class Outcome:
    """The outcome of one module."""

    kind: str
    module: str
    outcome: str
    seconds: float
    reason: str = ""
    """The first message of the refusal, whole."""
    registers: int | None = None
    spills: int | None = None


def default_folder() -> Path | None:
    """The folder of SMALTI_JAX_SUITE, or the folder next to the checkout, if it exists."""
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named)
    beside = Path(__file__).resolve().parents[2] / "shared" / "jax_suite"
    return beside if beside.is_dir() else None


def modules_of(folder: Path) -> list[Path]:
    """The modules below a folder, by kind and name."""
    return sorted(path for path in folder.rglob("*.mlir") if not path.name.endswith(".inferred.mlir"))


def sample_of(paths: Sequence[Path], count: int, seed: int) -> list[Path]:
    """At most `count` of them, the same ones for the same seed."""
    return list(paths) if len(paths) <= count else sorted(random.Random(seed).sample(list(paths), count))


def refused_by_jax(folder: Path) -> set[tuple[str, str]]:
    """Kind and name of the modules that JAX itself refuses, if an index lists them."""
    index = folder / "index.tsv"
    if not index.is_file():
        return set()
    with index.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return {(row["kind"], row["module"]) for row in rows if row.get("jax_refuses") == "True"}


def reason_class(reason: str) -> str:
    """A message without its numbers, types, layouts and names, so that refusals of one reason are equal."""
    text = re.sub(r"#mosaic_gpu\.\w+<(?:[^<>]|<[^<>]*>)*>", "LAYOUT", reason)
    for _ in range(3):
        text = re.sub(r"\b(vector|memref|tensor|strided|array|struct)<[^<>]*>", r"\1", text)
    text = re.sub(r"@[\w.$-]+", "@NAME", text)
    text = re.sub(r"(?<![\w%])-?\d[\d,]*(?!\w)", "N", text)
    return " ".join(text.split())


# --------------------------------------------------------------------------------------------------------------------
# Compilation
# --------------------------------------------------------------------------------------------------------------------


def compile_one(path: Path) -> Outcome:
    """Compiles a module in this process."""
    import smalti

    began = time.perf_counter()
    result = Outcome(path.parent.name, path.stem, REFUSED, 0.0)
    try:
        kernel = smalti.compile(path)
    except smalti.SmaltiError as error:
        result.reason = error.diagnostics[0].message if error.diagnostics else error.message
    else:
        if kernel.binary_format == "cubin":
            result.outcome = CUBIN
            result.registers, result.spills = kernel.resources.registers, kernel.resources.spills
        else:
            result.reason = f"no ptxas: {kernel.binary_format} only"
    result.seconds = round(time.perf_counter() - began, 3)
    return result


def _serve(channel: Connection) -> None:
    """The loop of a process that compiles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SMALTI_REPRODUCER_DIR"] = folder
        while (path := channel.recv()) is not None:
            channel.send(compile_one(path))


class _Worker:
    """A process that compiles modules one after another; it is replaced if it exits or hangs."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._process: Any = None

    def _start(self) -> Any:
        self._channel, other = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        return self._process

    def run(self, path: Path) -> Outcome:
        process = self._process or self._start()
        began = time.perf_counter()
        try:
            self._channel.send(path)
            if self._channel.poll(self._timeout):
                return self._channel.recv()
            outcome, reason = TIMEOUT, f"takes more than {self._timeout:g} s"
        except (EOFError, OSError):
            process.join()
            outcome, reason = CRASHED, f"the process ended with exit code {process.exitcode}"
        self.stop()
        return Outcome(path.parent.name, path.stem, outcome, round(time.perf_counter() - began, 3), reason)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def compile_all(paths: Iterable[Path], jobs: int, timeout: float, show_progress: bool = False) -> list[Outcome]:
    """The outcomes of all modules, in the order of the modules."""
    queue = list(enumerate(paths))
    total = len(queue)
    queue.reverse()
    outcomes: dict[int, Outcome] = {}
    lock = threading.Lock()

    def work() -> None:
        worker = _Worker(timeout)
        try:
            while True:
                with lock:
                    if not queue:
                        return
                    number, path = queue.pop()
                outcome = worker.run(path)
                with lock:
                    outcomes[number] = outcome
                    if show_progress:
                        print(f"\r{len(outcomes)} of {total}", end="", file=sys.stderr, flush=True)
        finally:
            worker.stop()

    threads = [threading.Thread(target=work) for _ in range(max(1, min(jobs, total)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if show_progress:
        print(file=sys.stderr)
    return [outcomes[number] for number in sorted(outcomes)]


# --------------------------------------------------------------------------------------------------------------------
# The record
# --------------------------------------------------------------------------------------------------------------------


def summary(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """How many modules of each kind had which outcome."""
    result: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        counts = result.setdefault(outcome.kind, {"modules": 0, CUBIN: 0, REFUSED: 0, CRASHED: 0, TIMEOUT: 0})
        counts["modules"] += 1
        counts[outcome.outcome] += 1
    return result


def refusals(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """The modules that did not become a cubin by kind and reason, the most frequent reason first."""
    groups: dict[tuple[str, str], list[Outcome]] = collections.defaultdict(list)
    for outcome in outcomes:
        if outcome.outcome != CUBIN:
            groups[outcome.kind, reason_class(outcome.reason)].append(outcome)
    return [
        {
            "kind": kind,
            "count": len(found),
            "reason": reason,
            "example": found[0].reason,
            "modules": [o.module for o in found],
        }
        for (kind, reason), found in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=default_folder())
    parser.add_argument("--kind", action="append", help="only the modules of this subfolder (may be repeated)")
    parser.add_argument("--match", default="", help="only the modules whose names match this regular expression")
    parser.add_argument("--sample", type=int, help="only so many modules, chosen by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for a module (default: 120)")

    import _record

    _record.add_option(parser, "jax_suite")
    options = parser.parse_args()
    if options.folder is None:
        print(f"skipped: neither --folder nor {FOLDER_VARIABLE} names a folder with modules that JAX printed")
        return 0
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    paths = [
        path
        for path in modules_of(options.folder)
        if (not options.kind or path.parent.name in options.kind) and re.search(options.match, path.stem)
    ]
    if not paths:
        parser.error(f"{options.folder} does not have modules that match")
    if options.sample is not None:
        paths = sample_of(paths, options.sample, options.seed)

    outcomes = compile_all(paths, options.jobs, options.timeout, show_progress=sys.stderr.isatty())
    counts, groups = summary(outcomes), refusals(outcomes)
    also = refused_by_jax(options.folder)

    from rich.table import Table

    table = Table(title="modules that JAX printed")
    for column in ("kind", "modules", CUBIN, "share", REFUSED, "by JAX, too", CRASHED, TIMEOUT):
        table.add_column(column, justify="left" if column == "kind" else "right")
    for kind, count in counts.items():
        both = sum((o.kind, o.module) in also for o in outcomes if o.kind == kind and o.outcome != CUBIN)
        share = f"{100 * count[CUBIN] / count['modules']:.1f} %"
        table.add_row(
            kind,
            *map(str, (count["modules"], count[CUBIN], share, count[REFUSED], both, count[CRASHED], count[TIMEOUT])),
        )
    for group in groups:
        print(f"{group['kind']:9} {group['count']:4}  {group['reason']}")
    record = {
        "what": "modules of JAX's tests to cubins",
        "versions": _record.versions(),
        "machine": _record.machine(),
        "summary": counts,
        "refusals": groups,
        "spilling": sum(bool(o.spills) for o in outcomes),
        "modules": [dataclasses.asdict(outcome) for outcome in outcomes],
    }
    _record.write(record, options.json, table)
    return 1 if any(o.outcome in (CRASHED, TIMEOUT) for o in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
