# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Seconds of layout inference and the code of its layouts, against JAX's own on the same modules.

Modules that JAX's Pallas front end printed go through the pass `mosaic-gpu-infer-layouts` here. JAX's `infer_layout` runs
in a process of its own with the Python that has JAX (`--jax-python`, or SMALTI_JAX_PYTHON). The two take turns on each
module, `--repeat` times, on modules that are parsed before the clock starts. Times are medians, in seconds of process
time, because wall time says less on a shared machine. The verifier does not run in between.

The modules are those of test/pallas/Inputs and of `--modules` (see test/pallas/printer). In the folder,
NAME.inferred.mlir next to NAME.mlir is the module after JAX's inference. Modules that one of the two refuses are listed
and are not part of the sums. If JAX is not installed, the script reports that and measures no seconds.

With `--code`, a module whose layouts differ from JAX's is compiled with both layouts, by this compiler and `ptxas`:
registers, bytes of spills, and instructions that access global memory. Equal layouts lead to equal code, which is not
compiled. The exit code is 1 if one of the three is larger with our layouts.

Prints a table and writes JSON with the versions and the machine to `--json`.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import _record
from _record import ROOT
from rich.table import Table
from smalti import Pipeline, SmaltiError, ir, targets, toolchain
from smalti.codegen import assemble
from smalti.codegen.codegen_worker import worker
from smalti.compiler import driver
from smalti.passmanager import PassManager

sys.path.insert(0, str(ROOT / "test" / "pallas"))
from compare_inference import compare_modules

PASS = "mosaic-gpu-infer-layouts"
EMPTY = "module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {}"
INPUTS = ROOT / "test" / "pallas" / "Inputs"
CHIPS = {9: "sm_90a", 10: "sm_100a"}


class Jax:
    """The process that infers as JAX does."""

    def __init__(self, python: str) -> None:
        script = Path(__file__).with_name("_jax_layout_inference.py")
        self.process = subprocess.Popen([python, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version: str = self.answer()["jax"]

    def answer(self) -> dict[str, str]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("the process with JAX has ended")
        return json.loads(line)

    def infer(self, path: Path) -> tuple[float, str | None]:
        """Seconds, and why it refuses."""
        assert self.process.stdin is not None
        print(path, file=self.process.stdin, flush=True)
        answer = self.answer()
        return float(answer["process"]), answer["error"]


def infer(path: Path) -> tuple[float, str | None]:
    """Seconds of the pass on a fresh module, and why it refuses."""
    with ir.Context() as context:
        context.enable_multithreading(False)
        module = ir.Module.parse(path.read_text())
        passes = PassManager.parse(f"builtin.module({PASS})")
        passes.enable_verifier(False)
        # Loads dialects and attaches the ops' rules, which JAX does when it is imported.
        passes.run(ir.Module.parse(EMPTY).operation)
        start = time.process_time()
        error = None
        try:
            passes.run(module.operation)
        except ir.MLIRError as failure:
            error = str(failure)
        return time.process_time() - start, error


def find_jax(python: str | None) -> str | None:
    """A Python that has JAX."""
    python = python or os.environ.get("SMALTI_JAX_PYTHON", sys.executable)
    done = subprocess.run([python, "-c", "import jax, absl"], capture_output=True, check=False)
    return python if done.returncode == 0 else None


def modules(folders: Sequence[Path]) -> Iterator[Path]:
    """Those before inference."""
    for folder in folders:
        for path in sorted(folder.glob("*.mlir")):
            before = not path.name.endswith(".inferred.mlir")
            if before and any(path.with_suffix(suffix).exists() for suffix in (".inferred.mlir", ".refused.txt")):
                yield path


@dataclass
class Measured:
    """Medians of the seconds that a module took, and who refused it why."""

    module: str
    jax: float
    smalti: float
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        return self.jax / self.smalti

    def columns(self) -> list[str]:
        last = f"refused by {' and '.join(self.refused)}" if self.refused else f"{self.ratio:.1f}"
        return [f"{1e3 * self.jax:.2f}", f"{1e3 * self.smalti:.2f}", last]


def measure(jax: Jax, path: Path, repeat: int) -> Measured:
    """Both in turns."""
    times: dict[str, list[float]] = {"jax": [], "smalti": []}
    refused: dict[str, str] = {}
    for _ in range(repeat):
        for who, run in (("jax", jax.infer), ("smalti", infer)):
            seconds, error = run(path)
            times[who].append(seconds)
            if error is not None:
                refused[who] = error[:300]
        if refused:
            break
    return Measured(path.stem, statistics.median(times["jax"]), statistics.median(times["smalti"]), refused)


def summarize(results: Sequence[Measured]) -> dict[str, float]:
    """Sums and ratios of what both solve."""
    solved = [result for result in results if not result.refused]
    if not solved:
        return {}
    jax, smalti = sum(result.jax for result in solved), sum(result.smalti for result in solved)
    ratios = [result.ratio for result in solved]
    return {
        "modules": len(solved),
        "jax": jax,
        "smalti": smalti,
        "ratio": jax / smalti,
        "least_ratio": min(ratios),
        "median_ratio": statistics.median(ratios),
    }


@dataclass(frozen=True)
class Code:
    """`ptxas` statistics of the kernels of a module, and their instructions that access global memory."""

    registers: int
    spills: int
    accesses: int

    def __str__(self) -> str:
        return f"{self.registers} registers, {self.spills} B of spills, {self.accesses} global accesses"


def compile_as_it_is(module: ir.Module) -> Code:
    """The code of a module that has layouts."""
    ptxas = toolchain.require(toolchain.find_ptxas(), "ptxas", "the code of layouts", toolchain.PTXAS_HINT)
    # The part of smalti-compile after inference. It would infer the layouts again if the program contains launches.
    major = ir.IntegerAttr(module.operation.attributes["mosaic_gpu.arch_major"]).value
    target = targets.get(CHIPS[major])
    options = {"specialize": "off", "depth": 1, "stages": 1}
    driver.run_pipeline(module, "builtin.module(mosaic-gpu-outline-launches)")
    driver.run_pipeline(module, driver.compile_pipeline(target, options))
    driver._lower_ptx_version(module, target, ptxas)
    bytecode = io.BytesIO()
    module.operation.write_bytecode(bytecode)
    objects = worker.generate(bytecode.getvalue(), f"builtin.module({driver._CODEGEN}{{format=isa}})")
    registers = spills = accesses = 0
    for generated in objects:
        cubin = assemble.assemble_ptx(generated.data.rstrip(b"\0").decode(), ptxas.path)
        registers = max([registers, *(usage.registers or 0 for usage in cubin.usages.values())])
        spills += sum(usage.spills or 0 for usage in cubin.usages.values())
        accesses += len(re.findall(r"\b(?:LDG|STG|ATOMG|REDG|RED)\b", driver._sass(cubin.data)))
    return Code(registers, spills, accesses)


@dataclass
class Compared:
    """The code that the layouts of a module lead to."""

    module: str
    verdict: str
    """`equal layouts`, `no worse`, `worse`, or `refused`."""
    jax: Code | None = None
    smalti: Code | None = None
    message: str = ""


def compare_code(path: Path) -> Compared:
    """Compiles a module with our layouts and with JAX's, if they differ."""
    ours = driver.parse(path)
    try:
        Pipeline(f"builtin.module({PASS})").run(ours)
        with ours.context:
            theirs = ir.Module.parse(path.with_suffix(".inferred.mlir").read_text())
            if not compare_modules(theirs, ours)[1]:
                return Compared(path.stem, "equal layouts")
        codes = compile_as_it_is(theirs), compile_as_it_is(ours)
    except SmaltiError as error:
        return Compared(path.stem, "refused", message=str(error).splitlines()[0])
    is_worse = any(b > a for a, b in zip(asdict(codes[0]).values(), asdict(codes[1]).values(), strict=True))
    return Compared(path.stem, "worse" if is_worse else "no worse", *codes)


def report_code(paths: Sequence[Path]) -> tuple[dict[str, object], bool]:
    """The record of the comparison, and whether some module is worse."""
    compared = [compare_code(path) for path in paths if path.with_suffix(".inferred.mlir").exists()]
    for result in compared:
        if result.verdict != "equal layouts":
            print(f"{result.module}: {result.verdict} {result.message}")
        if result.jax is not None:
            print(f"  JAX:  {result.jax}\n  here: {result.smalti}")
    verdicts = Counter(result.verdict for result in compared)
    print(f"code of {len(compared)} modules: " + ", ".join(f"{count} {name}" for name, count in verdicts.items()))
    different = [asdict(result) for result in compared if result.verdict != "equal layouts"]
    return {"modules": len(compared), "verdicts": dict(verdicts), "different": different}, verdicts["worse"] > 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="modules with one of these in their names (default: all)")
    parser.add_argument("--modules", type=Path, action="append", default=[], help="a folder of more modules")
    parser.add_argument("--code", action="store_true", help="compile modules whose layouts differ from JAX's")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--jax-python", help="the Python that has JAX")
    _record.add_option(parser, "layout_inference")
    options = parser.parse_args()

    paths = [
        path
        for path in modules([INPUTS, *options.modules])
        if not options.names or any(name in path.stem for name in options.names)
    ]
    record: dict[str, object] = {"versions": _record.versions(), "machine": _record.machine()}
    is_worse = False
    if options.code:
        record["code"], is_worse = report_code(paths)
    python = find_jax(options.jax_python)
    if python is None:
        print(
            "JAX is not installed: name a Python that has jax, jaxlib and absl-py with --jax-python; no seconds measured"
        )
        return int(is_worse)
    jax = Jax(python)
    table = Table(title=f"milliseconds of layout inference, medians of {options.repeat}")
    for column in ("module", f"JAX {jax.version}", "here", "ratio"):
        table.add_column(column, justify="left" if column == "module" else "right")
    results = []
    for path in paths:
        result = measure(jax, path, options.repeat)
        results.append(result)
        table.add_row(path.stem, *result.columns())
        print(path.stem, *result.columns(), flush=True)
    summary = summarize(results)
    if summary:
        table.add_row("all", *Measured("all", summary["jax"], summary["smalti"]).columns())
    record = {
        "what": "seconds of the process in layout inference, medians of runs that take turns; refused: not in the sums",
        "repeat": options.repeat,
        **record,
        "versions": {**_record.versions(), "jax": jax.version},
        "all": summary,
        "results": [asdict(result) for result in results],
    }
    _record.write(record, options.json, table)
    print(f"of {len(results)} modules {summary.get('modules', 0)} were solved by both")
    return int(is_worse)


if __name__ == "__main__":
    sys.exit(main())
