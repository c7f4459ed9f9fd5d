# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Seconds of the command `smalti compile` for a matmul on gfx942, compared with `iree-compile`.

Each run is a new process that reads a text and writes a file, without a cache. The two take turns. CPU seconds are those of
the process and its children, which other load of the machine affects less than elapsed seconds. Both are minima.

- Smalti: C[512x512] += A[512x256] * B[256x512] in f16 with tiles of 128x128, to an HSACO
- IREE: the same `linalg.matmul`, whose tiles IREE chooses, to a module for IREE's virtual machine with an HSACO
- Smalti, ragged; IREE, ragged: the same for C[500x260] += A[500x300] * B[300x260], whose tiles overhang

Install IREE, which needs no GPU, in an environment of its own, and pass its program with `--iree`:

    python3 -m venv .cache/iree
    .cache/iree/bin/pip install iree-base-compiler==3.13.0

Prints a table and writes JSON with the versions and the machine to `--json`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import _record
from _record import ROOT
from rich.table import Table

CHIP = "gfx942"
IREE = ROOT / ".cache" / "iree" / "bin" / "iree-compile"
RAGGED = (500, 260, 300)
ALIGNED = (512, 512, 256)


def ours(m: int, n: int, k: int) -> str:
    """The kernel of test/kernels/matmul_ragged.mlir for other sizes."""
    text = (ROOT / "test" / "kernels" / "matmul_ragged.mlir").read_text()
    columns = -(-n // 128)
    for old, new in zip(RAGGED, (m, n, k), strict=True):
        text = re.sub(rf"(?<![\dc]){old}(?!\d)", str(new), text)
    return text.replace("%c3 = arith.constant 3", f"%c3 = arith.constant {columns}").replace(
        "tiles 12", f"tiles {-(-m // 128) * columns}"
    )


def of_iree(m: int, n: int, k: int) -> str:
    a, b, c = f"tensor<{m}x{k}xf16>", f"tensor<{k}x{n}xf16>", f"tensor<{m}x{n}xf32>"
    return (
        f"func.func @matmul(%a: {a}, %b: {b}, %c: {c}) -> {c} {{\n"
        f"  %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}\n"
        f"  return %r : {c}\n}}\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iree", type=Path, default=IREE, help="(default: .cache/iree/bin/iree-compile)")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument(
        "--ragged-repeat", type=int, default=1, help="runs of IREE's ragged matmul, which take a minute"
    )
    _record.add_option(parser, "cold_compile")
    options = parser.parse_args()
    environment = dict(os.environ, SMALTI_CACHE="0")
    has_iree = options.iree.exists()
    seconds: dict[str, list[_record.Times]] = {}
    with tempfile.TemporaryDirectory(prefix="smalti-") as folder:

        def measure(name: str, text: str, is_ours: bool) -> None:
            source, output = Path(folder, "matmul.mlir"), Path(folder, "matmul.hsaco")
            source.write_text(text)
            smalti = [sys.executable, "-P", "-m", "smalti", "compile", source, "--target", CHIP, "-o", output]
            iree = [options.iree, "--iree-hal-target-backends=rocm", f"--iree-rocm-target={CHIP}", source, "-o", output]
            times, _ = _record.run_process(smalti if is_ours else iree, environment)
            assert output.stat().st_size
            seconds.setdefault(name, []).append(times)

        for number in range(options.repeat):
            measure("Smalti", ours(*ALIGNED), True)
            if has_iree:
                measure("IREE", of_iree(*ALIGNED), False)
            measure("Smalti, ragged", ours(*RAGGED), True)
            if has_iree and number < options.ragged_repeat:
                measure("IREE, ragged", of_iree(*RAGGED), False)
    results = {
        name: {field: round(min(getattr(one, field) for one in times), 3) for field in _record.Times._fields}
        for name, times in seconds.items()
    }
    table = Table(title=f"{CHIP}: seconds of a new process that compiles a matmul, minimum of {options.repeat}")
    table.add_column("command")
    for field in _record.Times._fields:
        table.add_column(field, justify="right")
    for name, one in results.items():
        table.add_row(name, *(f"{one[field]:.2f}" for field in _record.Times._fields))
    version = None
    if has_iree:
        shown = subprocess.run([options.iree, "--version"], capture_output=True, text=True, check=True).stdout
        version = re.search(r"version (\S+)", shown)
    record = {
        "what": "seconds of a new process that compiles a matmul",
        "chip": CHIP,
        "repeat": options.repeat,
        "ragged_repeat": options.ragged_repeat,
        "versions": _record.versions() | {"iree": version and version[1]},
        "machine": _record.machine(),
        "results": results,
    }
    _record.write(record, options.json, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
