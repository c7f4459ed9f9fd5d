# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cost and benefit of `smalti-compile{bank-conflicts=}`: registers, spills, instructions and bank conflicts.

Compiles the example kernels, and matmuls of other types and tiles, for every GPU with `keep`, `pad` and `swizzle`.
Registers and spills are the assembler's, if it is installed (ptxas for NVIDIA, LLVM for AMD). Instructions are those
of the assembly text. Bank conflicts are those of one wave for every access to shared memory that the passes' bank model
counts, before the pass and after.

Prints a table and writes JSON to `--json`.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from typing import Any

import _record
import smalti
from _record import ROOT
from rich.table import Table
from smalti import targets

sys.path.insert(0, str(ROOT / "test" / "kernels"))

from matmuls import matmul

CHOICES = ("keep", "pad", "swizzle")
# Tile sizes and element types that the example kernels do not have.
MATMULS = [(64, 64, 32, "f16"), (128, 128, 64, "bf16"), (64, 64, 32, "f32"), (128, 64, 64, "f16")]


def programs() -> dict[str, str]:
    """The kernels with shared memory."""
    names = ("matmul_ragged", "matmul_relu_bf16")
    found = {name: (ROOT / "test" / "kernels" / f"{name}.mlir").read_text() for name in names}
    for m, n, k, dtype in MATMULS:
        found[f"matmul {m}x{n}x{k} {dtype}"] = matmul((512, 512, 512), (m, n, k), dtype, start="zero")
    return found


def count_instructions(text: str) -> int:
    """Lines of the assembly text that are instructions: neither labels, directives nor comments."""
    return sum(bool(re.match(r"\s+[@a-z][\w.!%@]*(\s|;|$)", line)) for line in text.splitlines())


def measure(program: str, target: str, choice: str) -> dict[str, Any]:
    kernel = smalti.compile(program, target=target, bank_conflicts=choice)
    resources = kernel.resources
    text = next(kernel.asm[form] for form in ("ptx", "gcn") if form in kernel.asm)
    result: dict[str, Any] = {
        "registers": resources.registers,
        "accumulator_registers": resources.accumulator_registers,
        "scalar_registers": resources.scalar_registers,
        "spills": resources.spills,
        "shared_bytes": resources.shared_bytes,
        "instructions": count_instructions(text),
    }
    # The passes count before and after, `pad` the accesses of whole blocks and `swizzle` those of threads.
    before = after = 0
    for remark in kernel.remarks:
        if remark.category != f"smalti-{choice}-shared-memory":
            continue
        if found := re.search(r"(\d+) bank conflicts instead of (\d+)", remark.message):
            after, before = after + int(found[1]), before + int(found[2])
        elif found := re.search(r"reduces the (\d+) bank conflicts", remark.message):
            after, before = after + int(found[1]), before + int(found[1])
    if choice != "keep":
        result |= {"conflicts_before": before, "conflicts": after}
    return {name: value for name, value in result.items() if value is not None}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help="the targets (default: every GPU in the table)")
    _record.add_option(parser, "bank_conflicts")
    options = parser.parse_args()

    results: dict[str, dict[str, dict[str, Any]]] = {}
    table = Table(title="registers / spills / instructions / bank conflicts")
    for column in ("program", "target", *CHOICES):
        table.add_column(column)
    chips = options.targets or [target.name for target in targets.all() if target.is_gpu]
    for (name, program), chip in itertools.product(programs().items(), chips):
        row: dict[str, dict[str, Any]] = {}
        for choice in CHOICES:
            try:
                row[choice] = measure(program, chip, choice)
            except smalti.SmaltiError as error:
                row[choice] = {"failed": str(error).splitlines()[0]}
        results.setdefault(name, {})[chip] = row
        table.add_row(name, chip, *(cell(row[choice]) for choice in CHOICES))

    record = {
        "what": "registers, spills, instructions and bank conflicts, by what is done against these",
        "versions": _record.versions(),
        "results": results,
    }
    _record.write(record, options.json, table, 140)
    failed = [
        f"{name} {chip} {choice}: {numbers['failed']}"
        for name, chips in results.items()
        for chip, row in chips.items()
        for choice, numbers in row.items()
        if "failed" in numbers
    ]
    print("\n".join(failed), file=sys.stderr, end="\n" if failed else "")
    return bool(failed)


def cell(numbers: dict[str, Any]) -> str:
    if "failed" in numbers:
        return "failed"
    names = ("registers", "spills", "instructions")
    said = " / ".join(str(numbers.get(name, "?")) for name in names)
    if "conflicts" in numbers:
        said += f" / {numbers['conflicts_before']} -> {numbers['conflicts']}"
    return said


if __name__ == "__main__":
    sys.exit(main())
