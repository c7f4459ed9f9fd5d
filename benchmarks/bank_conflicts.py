"""What `smalti-compile{bank-conflicts=}` costs and saves: registers, spills, instructions and bank conflicts.

Compiles the example kernels, and products of matrices of other types and tiles, for every GPU with `keep`, `pad` and
`swizzle`. Registers and spills are the assembler's where it is there (ptxas for NVIDIA, llvm-mc for AMD); instructions
are those of the assembly text; bank conflicts are those of one wave for every access to shared memory that the passes'
bank model counts, before the pass and after.

Prints a table and writes JSON to `--json`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
from pathlib import Path
from typing import Any

import smalti
from rich.console import Console
from rich.table import Table
from smalti import reproducer, targets, toolchain

ROOT = Path(__file__).resolve().parent.parent
CHOICES = ("keep", "pad", "swizzle")
# Tile sizes and element types that the example kernels do not have.
PRODUCTS = [(64, 64, 32, "f16"), (128, 128, 64, "bf16"), (64, 64, 32, "f32"), (128, 64, 64, "f16")]

PRODUCT = """\
triton_xla.entry_func @product(%a: memref<{size}x{size}x{t}>, %b: memref<{size}x{size}x{t}>, %c: memref<{size}x{size}xf32>,
    %tile: index) tiles {tiles} {{
  %c0 = arith.constant 0 : index
  %cm = arith.constant {m} : index
  %cn = arith.constant {n} : index
  %ck = arith.constant {k} : index
  %end = arith.constant {size} : index
  %columns = arith.constant {columns} : index
  %row = arith.divui %tile, %columns : index
  %column = arith.remui %tile, %columns : index
  %i = arith.muli %row, %cm : index
  %j = arith.muli %column, %cn : index
  %zero = arith.constant dense<0.0> : tensor<{m}x{n}xf32>
  %sum = scf.for %l = %c0 to %end step %ck iter_args(%acc = %zero) -> (tensor<{m}x{n}xf32>) {{
    %x = triton_xla.extract %a[%i, %l] [{m}, {k}] [1, 1] : memref<{size}x{size}x{t}> to tensor<{m}x{k}x{t}>
    %y = triton_xla.extract %b[%l, %j] [{k}, {n}] [1, 1] : memref<{size}x{size}x{t}> to tensor<{k}x{n}x{t}>
    %next = triton_xla.dot %x, %y, %acc : tensor<{m}x{k}x{t}>, tensor<{k}x{n}x{t}> -> tensor<{m}x{n}xf32>
    scf.yield %next : tensor<{m}x{n}xf32>
  }}
  triton_xla.insert %sum into %c[%i, %j] [{m}, {n}] [1, 1] : tensor<{m}x{n}xf32> into memref<{size}x{size}xf32>
  triton_xla.return
}}
"""


def product(m: int, n: int, k: int, dtype: str) -> str:
    size = 512
    return PRODUCT.format(m=m, n=n, k=k, t=dtype, size=size, columns=size // n, tiles=(size // m) * (size // n))


def programs() -> dict[str, str]:
    """The kernels with shared memory."""
    names = ("matmul_ragged", "matmul_relu_bf16")
    found = {name: (ROOT / "test" / "kernels" / f"{name}.mlir").read_text() for name in names}
    for m, n, k, dtype in PRODUCTS:
        found[f"product {m}x{n}x{k} {dtype}"] = product(m, n, k, dtype)
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
        elif found := re.search(r"has (\d+) bank conflicts", remark.message):
            after, before = after + int(found[1]), before + int(found[1])
    if choice != "keep":
        result |= {"conflicts_before": before, "conflicts": after}
    return {name: value for name, value in result.items() if value is not None}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help="the targets (default: every GPU in the table)")
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "bank_conflicts.json")
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

    ptxas = toolchain.find_ptxas()
    record = {
        "what": "registers, spills, instructions and bank conflicts, by what is done against these",
        "versions": {**reproducer.versions(), "ptxas": toolchain.version_of(ptxas.path) if ptxas else None},
        "results": results,
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(record, indent=2) + "\n")
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    print(f"written to {options.json}")
    return 0


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
