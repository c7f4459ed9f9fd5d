"""Seconds of layout inference, against JAX's own on the same modules.

Modules that JAX's Pallas front end printed go through the pass `mosaic-gpu-infer-layouts` here, and through JAX's
`infer_layout` in a process of its own with the Python that has JAX (`--jax-python`, or SMALTI_JAX_PYTHON). The two take
turns on each module, `--repeat` times, on modules parsed before the clock starts; times are medians, in seconds of the
processes: on a machine that others share the clock on the wall says less. The verifier does not run in between.

The modules are those of test/pallas/Inputs and of `--modules` (see test/pallas/printer). Those that one of the two
refuses are listed and not part of the sums. Where JAX is not installed, the script says so and measures nothing.

Prints a table and writes JSON with the versions and the machine to `--json`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import _record
from _record import ROOT
from rich.table import Table
from smalti import ir
from smalti.passmanager import PassManager

PASS = "mosaic-gpu-infer-layouts"
EMPTY = "module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {}"
INPUTS = ROOT / "test" / "pallas" / "Inputs"


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="modules with one of these in their names (default: all)")
    parser.add_argument("--modules", type=Path, action="append", default=[], help="a folder of more modules")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--jax-python", help="the Python that has JAX")
    _record.add_option(parser, "layout_inference")
    options = parser.parse_args()

    python = find_jax(options.jax_python)
    if python is None:
        print(
            "JAX is not installed: name a Python that has jax, jaxlib and absl-py with --jax-python; nothing measured"
        )
        return 0
    jax = Jax(python)
    table = Table(title=f"milliseconds of layout inference, medians of {options.repeat}")
    for column in ("module", f"JAX {jax.version}", "here", "ratio"):
        table.add_column(column, justify="left" if column == "module" else "right")
    results = []
    for path in modules([INPUTS, *options.modules]):
        if options.names and not any(name in path.stem for name in options.names):
            continue
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
        "versions": {**_record.versions(), "jax": jax.version},
        "machine": _record.machine(),
        "all": summary,
        "results": [asdict(result) for result in results],
    }
    _record.write(record, options.json, table)
    print(f"of {len(results)} modules {summary.get('modules', 0)} were solved by both")
    return 0


if __name__ == "__main__":
    sys.exit(main())
