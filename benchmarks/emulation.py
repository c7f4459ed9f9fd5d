#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Seconds of a matmul on an emulated GPU, by chip and size.

C[n x n] = A[n x n] * B[n x n], f16 in, f32 out, tiles of 128 x 128 (at most n), on one chip of each kind. The kernel
and the kernel library are compiled before the clock starts. Each time is the minimum of `--repeat` runs. Sizes double,
so that the ratio to the previous size is 8 if MMAs dominate the time. Sanitizers run on the small sizes.
"""

from __future__ import annotations

import argparse
import sys

import _record
import numpy as np
import smalti
from _record import ROOT
from rich.table import Table
from smalti import targets
from smalti.calling import calls
from smalti.emulator import Emulation
from smalti.emulator.options import SANITIZERS

sys.path.insert(0, str(ROOT / "test" / "kernels"))

from matmuls import matmul

SIZES = (64, 128, 256, 512, 1024)
SANITIZED = 256
"""The largest size that runs under a sanitizer."""


def program(n: int) -> str:
    """The matmul of n x n matrices."""
    tile = min(n, 128)
    return matmul((n, n, n), (tile, tile, min(n, 64)), start="zero")


def default_targets() -> list[str]:
    """One chip for each kind of MMA and of wait: the first in the table."""
    chosen: dict[tuple[str, ...], str] = {}
    for target in targets.all():
        if target.is_gpu:
            chosen.setdefault((target.vendor, target.mmas[0].kind, target.barrier), target.name)
    return list(chosen.values())


def seconds(target: str, n: int, emulation: Emulation, repeat: int) -> float:
    """The shortest of some runs; its result is right."""
    rng = np.random.default_rng(n)
    a, b = (rng.standard_normal((n, n)).astype(np.float16) for _ in range(2))
    c = np.full((n, n), np.nan, np.float32)
    kernel = smalti.compile(program(n), target=targets.EMULATED + target, emulation=emulation)
    kernel(a, b, c)
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    if not np.allclose(c, wanted, rtol=0, atol=1e-5 * n):
        raise smalti.SmaltiError(f"the matmul of size {n} is wrong on {target}")
    return min(kernel.launcher.run_on_copies([a, b, c]) for _ in range(repeat))


def measure(target: str, sizes: list[int], repeat: int) -> dict[str, dict[str, dict[str, float]]]:
    """By sanitizer (or `plain`) and size: the seconds, and how many times those of half the size."""
    results: dict[str, dict[str, dict[str, float]]] = {}
    for sanitizer in (None, *SANITIZERS):
        rows = results[sanitizer or "plain"] = {}
        for n in sizes:
            if sanitizer is not None and n > SANITIZED:
                continue
            emulation = Emulation(sanitize=sanitizer, time_limit=3600)  # type: ignore[arg-type]
            row = rows[str(n)] = {"seconds": seconds(target, n, emulation, repeat if n < 1024 else 1)}
            if before := rows.get(str(n // 2)):
                row["ratio"] = row["seconds"] / before["seconds"]
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help=f"the chips (default: {' '.join(default_targets())})")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--repeat", type=int, default=3)
    _record.add_option(parser, "emulation")
    options = parser.parse_args()

    table = Table(title=f"f16 matmul of n x n matrices: seconds (ratio to n / 2), {calls.num_threads()} workers")
    for column in ("chip", "sanitizer", *(str(n) for n in options.sizes)):
        table.add_column(column, justify="left" if column in ("chip", "sanitizer") else "right")
    results: dict[str, object] = {}
    for target in options.targets or default_targets():
        try:
            measured = measure(target, sorted(options.sizes), options.repeat)
        except smalti.SmaltiError as error:
            results[target] = {"failed": str(error)}
            table.add_row(target, "failed")
            continue
        results[target] = measured
        for sanitizer, rows in measured.items():
            cells = [rows.get(str(n)) for n in options.sizes]
            table.add_row(target, sanitizer, *("" if cell is None else _cell(cell) for cell in cells))

    record = {
        "what": "seconds of an f16 matmul of n x n matrices on an emulated GPU",
        "repeat": options.repeat,
        "workers": calls.num_threads(),
        "versions": _record.versions(),
        "machine": _record.machine(),
        "results": results,
    }
    _record.write(record, options.json, table)
    return 1 if any(isinstance(result, dict) and "failed" in result for result in results.values()) else 0


def _cell(row: dict[str, float]) -> str:
    return f"{row['seconds']:.2f}" + (f" ({row['ratio']:.1f})" if "ratio" in row else "")


if __name__ == "__main__":
    sys.exit(main())
