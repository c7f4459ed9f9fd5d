#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Seconds of simulated kernels, and the operations per second.

The matmuls are C[n x n] = A[n x n] * B[n x n], f16 in, f32 out, tiles of 128 x 128 x 64 in 3 stages. They are block-level and
thread-level kernels; the modules are JAX's. Each runs with all checks, without numbers, and without checks. Each time
is the minimum of `--repeat` runs, and the result with all checks is compared with numpy. An operation is one of a
warpgroup or block, executed once. In thread-level kernels it is an instruction of a warp, except for control flow and
barriers. Operations are counted in a separate run.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import _record
import numpy as np
import smalti
from _record import ROOT
from rich.table import Table
from smalti import sim, targets
from smalti.sim.threads.execution.converged_warps import ConvergedWarps
from smalti.sim.translation.translator import Translated, Translator

sys.path.insert(0, str(ROOT / "test" / "kernels"))

from matmuls import matmul

TARGETS = ("sm_90a", "sm_80", "gfx942")
"""Chips with wgmma, mma.sync and mfma. Warpgroup matmuls are thread-level kernels only."""
SIZES = (128, 256, 512, 1024)
MODULES = ("hopper_matmul", "hopper_matmul_cluster_m", "row_softmax", "pointwise")
WAYS = {
    "all": sim.Simulation(),
    "races_only": sim.Simulation(numbers=False),
    "numbers_only": sim.Simulation(races=False),
}


def simulated_matmul(n: int, target: str, level: str) -> Callable[[], sim.SimulatedKernel]:
    """Returns a function that creates the matmul of n x n matrices."""
    source = matmul((n, n, n), (128, 128, 64), start="zero")
    return lambda: sim.simulate(source, f"sim:{target}", level=level, stages=3)


def kernels_by_name(
    sizes: Sequence[int], chips: Sequence[str]
) -> dict[str, tuple[Callable[[], sim.SimulatedKernel], bool]]:
    """The matmuls by name, at their levels; their result is checked."""
    found = {}
    for level, chip, n in itertools.product(("block", "thread"), chips, sizes):
        if level == "block" and targets.get(chip).has_wgmma:
            continue
        name = f"{n} x {n}, {chip}" + (", threads" if level == "thread" else "")
        found[name] = (simulated_matmul(n, chip, level), True)
    return found


def module(name: str) -> Callable[[], sim.SimulatedKernel]:
    path = ROOT / "test" / "pallas" / "Inputs" / f"{name}.mlir"
    return lambda: sim.simulate(path, "sim:sm_90a")


def operations(make: Callable[[], sim.SimulatedKernel]) -> int:
    """The operations that a kernel executes, or the instructions that its warps do."""
    count = 0
    translate = Translator.step

    def counted(self: Translator, op: Any) -> Translated | None:
        made = translate(self, op)
        if made is None or made.step is None:
            return made
        step = made.step

        def run(st: Any) -> None:
            nonlocal count
            count += len(st.active_warps()) if isinstance(st, ConvergedWarps) else 1
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
    _record.add_option(parser, "sim")
    options = parser.parse_args()

    programs = kernels_by_name(options.sizes, options.targets)
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
        "what": "seconds of programs in the simulator, and operations of warpgroups or blocks, or of warps, per second",
        "repeat": options.repeat,
        "versions": _record.versions(),
        "machine": _record.machine(),
        "results": results,
    }
    _record.write(record, options.json, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
