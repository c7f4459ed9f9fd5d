# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Seconds to compile each kernel of examples/ for a chip of each family, compared with Triton.

Each side compiles in one process that has compiled another kernel before, from text to a cubin or HSACO, with the same
number of warps. Neither side uses a cache. `isa.py` states how to install Triton, which is optional.

Prints a line of JSON for each example and chip: the registers, spills, shared memory and seconds, or the error, and the
seconds or the error of Triton. `tools/dev examples` records them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import _record
import smalti
from _record import ROOT
from isa import PEERS
from smalti import targets, toolchain

HERE = Path(__file__).resolve().parent
CHIPS = ("sm_80", "sm_90a", "sm_120a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")


def ours(example: str, chip: str) -> dict[str, Any]:
    """The resources and the seconds, or the error."""
    start = time.perf_counter()
    try:
        kernel = smalti.compile(ROOT / "examples" / f"{example}.mlir", target=chip)
    except smalti.SmaltiError as error:
        return {"error": str(error).splitlines()[0]}
    assert isinstance(kernel, smalti.Kernel)
    used = kernel.resources
    return {
        "seconds": round(time.perf_counter() - start, 3),
        "registers": used.registers,
        "spills": used.spills,
        "shared": used.shared_bytes,
        "warps": used.warps,
    }


class Triton:
    """A process that compiles Triton's kernels."""

    def __init__(self, python: Path) -> None:
        environment = _record.triton_environment() | {"TRITON_ALWAYS_COMPILE": "1"}
        command = [python, HERE / "_examples_triton.py"]
        pipe, none = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=none, text=True, env=environment)

    def compile(self, example: str, chip: str, warps: int) -> dict[str, Any]:
        """The seconds, or the error."""
        assert self._process.stdin and self._process.stdout
        options: dict[str, Any] = {"num_warps": warps, "num_stages": 3 if chip.startswith("sm_") else 2}
        ptxas = toolchain.find_ptxas()
        if chip.startswith("sm_") and ptxas and (newest := toolchain.ptx_version_of(ptxas.path)):
            options["ptx_version"] = 10 * newest[0] + newest[1]
        job = {"example": example, "chip": chip, "options": options}
        try:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            return {"error": "Triton's process ended"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("example", nargs="+", help="names of files of examples/, without .mlir")
    parser.add_argument("--chip", action="append", help="a chip, or several times one (default: one of each family)")
    parser.add_argument("--peers", type=Path, default=PEERS, help="the Python that has Triton (default: .cache/peers)")
    options = parser.parse_args()
    chips = options.chip or CHIPS
    triton = Triton(options.peers) if options.peers.exists() else None
    for vendor in sorted({targets.get(chip).vendor for chip in chips}):
        # The first compilation for a vendor loads libraries and starts processes.
        first = next(chip for chip in chips if targets.get(chip).vendor == vendor)
        ours("histogram", first)
        if triton:
            triton.compile("histogram", first, 4)
    for example in options.example:
        for chip in chips:
            record = {"example": example, "target": chip, "smalti": ours(example, chip)}
            if triton:
                warps = record["smalti"].get("warps", 4)
                record["Triton"] = triton.compile(example, chip, warps)
            print(json.dumps(record), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
