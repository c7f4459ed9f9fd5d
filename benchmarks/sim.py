#!/usr/bin/env python3
"""Seconds that simulated programs take, and the operations that they execute in a second.

The products are C[n x n] = A[n x n] * B[n x n], f16 in, f32 out, tiles of 128 x 128 x 64 in 3 stages, as programs of
blocks; the modules are JAX's. Each runs whole, with all checks, without numbers, and without checks; each time is the
minimum of `--repeat` runs, and the result with all checks is that of numpy. An operation is one of a warpgroup or
block, executed once; they are counted in a run of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import smalti
from compile_time import processor, versions
from rich.console import Console
from rich.table import Table
from smalti import sim
from smalti.sim.program import Translated, Translator

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "kernels"))

from products import matmul  # noqa: E402

TARGETS = ("sm_90a", "sm_80", "gfx942")
SIZES = (128, 256, 512, 1024)
MODULES = ("hopper_matmul", "hopper_matmul_cluster_m", "row_softmax", "pointwise")
WAYS = {
    "all": sim.Simulation(),
    "races_only": sim.Simulation(numbers=False),
    "numbers_only": sim.Simulation(races=False),
}


def product(n: int, target: str) -> Callable[[], sim.SimulatedKernel]:
    """Makes the product of n x n matrices."""
    source = matmul((n, n, n), (128, 128, 64), start="zero")
    return lambda: sim.simulate(source, f"sim:{target}", stages=3)


def module(name: str) -> Callable[[], sim.SimulatedKernel]:
    path = ROOT / "test" / "pallas" / "Inputs" / f"{name}.mlir"
    return lambda: sim.simulate(path, "sim:sm_90a")


def operations(make: Callable[[], sim.SimulatedKernel]) -> int:
    """The operations that a kernel executes."""
    count = 0
    translate = Translator.step

    def counted(self: Translator, op: Any) -> Translated | None:
        made = translate(self, op)
        if made is None or made.step is None:
            return made
        step = made.step

        def run(st: Any) -> None:
            nonlocal count
            count += 1
            step(st)

        def run_with_waits(st: Any) -> Iterator[Any]:
            nonlocal count
            count += 1
            yield from step(st)

        return Translated(run_with_waits if made.blocking else run, made.blocking)

    with mock.patch.object(Translator, "step", counted):
        kernel = make()
    kernel(*kernel.random_arguments(), simulation=sim.Simulation(races=False))
    return count


def measure(make: Callable[[], sim.SimulatedKernel], check: bool, repeat: int) -> dict[str, float]:
    """Seconds by what is simulated, and operations."""
    kernel = make()
    arguments = kernel.random_arguments()
    found: dict[str, float] = {}
    for name, way in WAYS.items():
        times = []
        for _ in range(repeat):
            values = [value.copy() for value in arguments]
            start = time.perf_counter()
            kernel(*values, simulation=way)
            times.append(time.perf_counter() - start)
            if check and way.numbers:
                a, b, c = values
                wanted = a.astype(np.float64) @ b.astype(np.float64)
                if not np.allclose(c, wanted, rtol=2**-10, atol=1e-3 * np.abs(wanted).max()):
                    raise smalti.SmaltiError(f"@{kernel.name} is wrong")
        found[f"{name}_seconds"] = round(min(times), 6)
    found["operations"] = operations(make)
    found["operations_per_second"] = round(found["operations"] / found["all_seconds"])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--targets", nargs="*", default=TARGETS)
    parser.add_argument("--modules", nargs="*", default=MODULES)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "sim.json")
    options = parser.parse_args()

    programs = {f"{n} x {n}, {target}": (product(n, target), True) for target in options.targets for n in options.sizes}
    programs |= {name: (module(name), "matmul" in name) for name in options.modules}
    table = Table(title="seconds in the simulator")
    for column in ("program", "all checks", "races only", "numbers only", "operations", "operations/s"):
        table.add_column(column, justify="left" if column == "program" else "right")
    results = {}
    for name, (make, check) in programs.items():
        found = results[name] = measure(make, check, options.repeat)
        seconds = (f"{found[f'{way}_seconds']:.3f}" for way in WAYS)
        table.add_row(name, *seconds, f"{found['operations']:,}", f"{found['operations_per_second']:,}")

    record = {
        "what": "seconds of programs in the simulator, and operations of warpgroups or blocks per second",
        "repeat": options.repeat,
        "versions": versions(),
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "results": results,
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(record, indent=2) + "\n")
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    print(f"written to {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
