# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records of the benchmarks: their paths, versions and machine."""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent


def add_option(parser: argparse.ArgumentParser, name: str) -> None:
    """Adds `--json`, the file of the record."""
    parser.add_argument(
        "--json",
        type=Path,
        default=ROOT / "benchmarks" / "results" / f"{name}.json",
        help=f"(default: benchmarks/results/{name}.json)",
    )


def versions() -> dict[str, str | None]:
    """The versions that the numbers depend on."""
    # Some benchmarks need no MLIR.
    from smalti import toolchain

    ptxas = toolchain.find_ptxas()
    return {**toolchain.versions(), "ptxas": toolchain.version_of(ptxas.path) if ptxas else None}


def triton_environment() -> dict[str, str]:
    """The environment in which Triton uses our `ptxas`, and does not warn about the fusion of operations."""
    from smalti import toolchain

    environment = dict(os.environ, TRITON_DEFAULT_FP_FUSION="1")
    if ptxas := toolchain.find_ptxas():
        environment |= dict.fromkeys(("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"), str(ptxas.path))
    return environment


class Times(NamedTuple):
    """Seconds."""

    cpu: float
    elapsed: float


def run_process(command: Sequence[str | Path], environment: Mapping[str, str]) -> tuple[Times, str]:
    """The seconds of a new process with its children, and its standard output."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    after, elapsed = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Times(cpu, elapsed), done.stdout


def machine() -> dict[str, str | int | None]:
    return {"processor": _processor(), "cores": os.cpu_count()}


def _processor() -> str:
    """The processor's name, if the system has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    unknown = platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), unknown)


def write(record: dict[str, Any], path: Path, table: Any = None, width: int = 120, rows: tuple[str, ...] = ()) -> None:
    """Writes the record, and prints its table, with this width if the output is not a terminal. The entries of the lists
    `rows` take one line each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({name: value for name, value in record.items() if name not in rows}, indent=2)
    for name in rows:
        lines = ",\n".join("    " + json.dumps(entry) for entry in record[name])
        start = text.removesuffix("\n}")
        text = f'{start},\n  "{name}": [\n{lines}\n  ]\n}}'
    path.write_text(text + "\n")
    if table is not None:
        from rich.console import Console

        Console(width=None if sys.stdout.isatty() else width).print(table)
    print(f"written to {path}")
