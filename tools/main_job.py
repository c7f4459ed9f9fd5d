# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The main job: one ragged matmul, written as tiles, compiled for every target.

Compiles `test/kernels/matmul_ragged.mlir` for GPUs of both vendors. Runs the GPU code on the emulator and the CPU code
natively against a float64 reference, and prints one table. The exit code is 1 if a target fails. It fails without a
binary or matrix instruction, with spilled registers, wrong numbers or findings of the emulator, or if its kernel was not
pipelined.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import smalti
from rich.console import Console
from rich.table import Table
from smalti import check, targets

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "test" / "kernels" / "matmul_ragged.mlir"
TARGETS = ("sm_80", "sm_90a", "sm_100a", "gfx942", "gfx950", "gfx1100", "gfx1201", "cpu")

# The mnemonics of a vendor's matrix instructions.
MATRIX_INSTRUCTION = {"nvidia": r"\bmma\.sync\b", "amd": r"\bv_(?:mfma|wmma)_"}


@dataclass
class Row:
    """The table row of one target."""

    target: str
    artifact: str = ""
    registers: str = ""
    shared: str = ""
    stages: str = ""
    error: str = ""
    run: str = ""
    seconds: float = 0.0
    problem: str = ""


def size(count: int) -> str:
    return f"{count / 1024:.1f} KiB" if count >= 1024 else f"{count} B"


def gpu_row(row: Row, kernel: smalti.Kernel, folder: Path) -> None:
    """Writes the binary of a GPU kernel, and fills in its resources and problems."""
    vendor = kernel.target.vendor
    form = "ptx" if vendor == "nvidia" else "gcn"
    suffix = {"cubin": ".cubin", "hsaco": ".hsaco"}.get(kernel.binary_format or "", ".ptx" if form == "ptx" else ".s")
    path = kernel.save(folder / f"matmul_ragged.{row.target}{suffix}")
    used = kernel.resources
    row.artifact = f"{path.name} ({size(path.stat().st_size)})"
    row.registers = "unknown" if used.registers is None else str(used.registers)
    if used.accumulator_registers:
        row.registers += f" ({used.accumulator_registers} acc)"
    row.shared = size(used.shared_bytes or 0)
    row.stages = str(used.stages or 1)
    problems = []
    if not re.search(MATRIX_INSTRUCTION[vendor], kernel.asm[form]):
        problems.append("no matrix instruction")
    if used.spills:
        problems.append(f"{used.spills} spilled")
    if (used.stages or 1) < 2:
        problems.append("the matmul loop is not pipelined; the remarks of the compiler state why")
    problems += numbers(row, smalti.compile(PROGRAM, target=targets.EMULATED + row.target))
    row.problem = ", ".join(problems)


def cpu_row(row: Row, kernel: smalti.Kernel) -> None:
    row.artifact = "in memory"
    row.problem = ", ".join(numbers(row, kernel))


def numbers(row: Row, kernel: smalti.Kernel) -> list[str]:
    """Runs a kernel on random inputs and compares with the reference; returns the errors."""
    result = check.check(kernel, smalti.parse(PROGRAM))
    row.error = f"{result.max_error:.2e}"
    row.run = f"{result.seconds:.2f} s" if kernel.target.is_emulated else f"{result.seconds * 1e3:.2f} ms"
    return [c.detail for c in result.comparisons if c.wrong] + [
        f"argument {a.index}, which is only read, changed" for a in result.unwritten_changed
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=TARGETS, help=f"the targets (default: {' '.join(TARGETS)})")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "main-job", help="the folder for the binaries")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    rows, notes = [], {}
    for target in options.targets:
        row = Row(target)
        rows.append(row)
        start = time.perf_counter()
        try:
            kernel = smalti.compile(PROGRAM, target=target)
            if kernel.target.is_gpu and not kernel.target.is_emulated:
                gpu_row(row, kernel, options.out)
            else:
                cpu_row(row, kernel)
            notes.update(dict.fromkeys(kernel.notes))
        except smalti.SmaltiError as error:
            row.problem = str(error)
        row.seconds = time.perf_counter() - start

    table = Table(title="C[500x260] += A[500x300] * B[300x260], f16 in, f32 out, tiles of 128x128x64")
    for name in ("target", "artifact", "registers", "shared memory", "stages", "max error", "run", "seconds", ""):
        table.add_column(name)
    for row in rows:
        verdict = "[red]failed[/red]" if row.problem else "ok"
        table.add_row(
            row.target,
            row.artifact,
            row.registers,
            row.shared,
            row.stages,
            row.error,
            row.run,
            f"{row.seconds:.2f}",
            verdict,
        )
    # A pipe does not have a width: the table is not cut.
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table)
    for note in notes:
        console.print(f"note: {note}", markup=False, highlight=False)
    for row in rows:
        if row.problem:
            console.print(f"{row.target}: {row.problem}", markup=False, highlight=False, style="red")
    console.print(
        f"The binaries are in {options.out}. The GPUs' code ran on the emulator, on this machine's CPU.",
        highlight=False,
    )
    return 1 if any(row.problem for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
