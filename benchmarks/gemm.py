# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls on a GPU: ours, cuBLAS through torch, Triton, and JAX Pallas' own kernel, compared in one process.

C = A * B on data of N(0, 1), f16, bf16 and fp8 (e4m3) with 32-bit accumulators: squares from 1024 to 8192, skinny and
ragged shapes. Every result is compared with float64 first; a wrong one is not timed. Then all are timed in turns. The
time is that of the kernels on the GPU, as CUPTI counts it (torch.profiler): the median of `--rounds` rounds of at least
`--seconds` each. The ceiling is the rate of a kernel that consists of `wgmma` only, on such data, from shared memory, on
all multiprocessors concurrently.

Two steps, which may run on two machines:

    benchmarks/gemm.py --build kernels/     where Smalti is built: every matmul as a file (.smalti)
    benchmarks/gemm.py --kernels kernels/   where the GPU is: Python, numpy, ml_dtypes, torch, the folders benchmarks/ and
                                            python/smalti/ (as `smalti` on PYTHONPATH), and the files; no MLIR

Triton and JAX are included if they are installed. The record has the missing peers and the reasons. Prints tables and
writes JSON with the versions, the clocks and every round to `--json`.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import _record
from _gemm_problem import OURS, Comparison, Peer, Problem, Unavailable
from _record import ROOT

DTYPES = ("f16", "bf16", "fp8")
SQUARES = (1024, 1536, 2048, 3072, 4096, 6144, 8192)
SHAPES = (
    *((size, size, size) for size in SQUARES),
    # Skinny: few rows, few columns, a short sum, a long sum.
    *((64, 8192, 8192), (8192, 128, 8192), (8192, 8192, 128), (512, 512, 16384)),
    # Ragged: the sizes are not multiples of the tile; rows are multiples of 16 bytes, as copies of tiles require.
    *((1000, 1000, 1000), (2072, 4120, 1048), (4104, 4104, 4104), (5000, 3000, 7000)),
)


class Backend(Protocol):
    """A machine that runs matmuls."""

    def peers(self) -> Sequence[Peer]: ...
    def data(self, problem: Problem) -> tuple[Any, Any]: ...
    def reference(self, problem: Problem, a: Any, b: Any) -> Callable[[Any], Comparison]: ...
    def seconds(self, call: Callable[[], Any], least: float) -> float:
        """Seconds of one call on the GPU, the mean of as many as take `least` seconds."""
        ...

    def ceiling(self, dtype: str) -> float | None:
        """Operations per second of the matrix units only."""
        ...

    def clocks(self) -> dict[str, Any]: ...
    def machine(self) -> dict[str, Any]: ...
    def versions(self) -> dict[str, str | None]: ...


@dataclass
class Result:
    """One peer on one problem."""

    seconds: list[float] = field(default_factory=list)
    comparison: Comparison | None = None
    absent: str | None = None
    """Why it was not timed."""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def was_timed(self) -> bool:
        return bool(self.seconds)


def problems(dtypes: Sequence[str], shapes: Sequence[tuple[int, int, int]]) -> list[Problem]:
    return [Problem(dtype, *shape) for dtype in dtypes for shape in shapes]


def parse_shape(text: str) -> tuple[int, int, int]:
    """`4096`, or `64x8192x8192` for m, n and k."""
    try:
        sizes = [int(part) for part in text.split("x")]
    except ValueError:
        sizes = []
    if len(sizes) not in (1, 3) or any(size < 1 for size in sizes):
        raise argparse.ArgumentTypeError(f"'{text}' is not a shape such as 4096 or 64x8192x8192")
    m, n, k = sizes * 3 if len(sizes) == 1 else sizes
    return m, n, k


def measure(backend: Backend, problem: Problem, rounds: int, least: float) -> dict[str, Result]:
    """All peers on one problem: numbers first, then times in turns."""
    a, b = backend.data(problem)
    compare = backend.reference(problem, a, b)
    results: dict[str, Result] = {}
    calls: dict[str, Callable[[], Any]] = {}
    for peer in backend.peers():
        result = results[peer.name] = Result()
        try:
            call = peer.prepare(problem, a, b)
            result.comparison = compare(call())
        except Unavailable as reason:
            result.absent = str(reason)
            continue
        except Exception as error:
            # A peer that fails must not take the others with it.
            result.absent = f"{type(error).__name__}: {error}"
            continue
        if result.comparison.wrong:
            result.absent = f"wrong: {result.comparison.wrong} elements, off by up to {result.comparison.max_error:.3g}"
            continue
        calls[peer.name] = call
    for round_ in range(rounds + 1):
        for name, call in calls.items():
            seconds = backend.seconds(call, least)
            # The first round warms up.
            if round_:
                results[name].seconds.append(seconds)
    return results


def geometric_mean(values: Sequence[float]) -> float | None:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def ratios(results: dict[str, Result]) -> dict[str, float]:
    """How many times as fast as each peer ours is."""
    ours = results.get(OURS)
    if ours is None or not ours.was_timed:
        return {}
    return {name: r.median / ours.median for name, r in results.items() if name != OURS and r.was_timed}


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """By type and peer: the geometric mean of the ratios, the least, and the number of shapes where ours is faster."""
    found: dict[str, dict[str, Any]] = {}
    for dtype in dict.fromkeys(row["dtype"] for row in rows):
        mine = [row for row in rows if row["dtype"] == dtype]
        names = dict.fromkeys(name for row in mine for name in row["ratios"])
        found[dtype] = {}
        for name in names:
            values = [row["ratios"][name] for row in mine if name in row["ratios"]]
            found[dtype][name] = {
                "shapes": len(values),
                "geometric_mean": geometric_mean(values),
                "least": min(values),
                "ahead": sum(value >= 1 for value in values),
            }
    return found


def row_of(problem: Problem, results: dict[str, Result], ceiling: float | None) -> dict[str, Any]:
    """The record of a problem."""
    peers = {}
    for name, result in results.items():
        entry: dict[str, Any] = {"absent": result.absent} if result.absent else {}
        if result.comparison is not None:
            entry["numbers"] = asdict(result.comparison)
        if result.was_timed:
            rate = problem.operations / result.median
            entry |= {
                "seconds": result.seconds,
                "median": result.median,
                "tflops": rate / 1e12,
                "of_ceiling": rate / ceiling if ceiling else None,
            }
        peers[name] = entry
    return {
        "dtype": problem.dtype,
        "m": problem.m,
        "n": problem.n,
        "k": problem.k,
        "peers": peers,
        "ratios": ratios(results),
    }


def run(backend: Backend, wanted: Sequence[Problem], rounds: int, least: float, tell: Callable[[str], None]) -> dict:
    """The record of all problems."""
    ceilings = {dtype: backend.ceiling(dtype) for dtype in dict.fromkeys(problem.dtype for problem in wanted)}
    rows = []
    for problem in wanted:
        tell(f"{problem}")
        before = backend.clocks()
        row = row_of(problem, measure(backend, problem, rounds, least), ceilings[problem.dtype])
        rows.append({**row, "clocks": {"before": before, "after": backend.clocks()}})
    return {
        "what": "TFLOP/s of matmuls on N(0, 1) data, checked against float64 first",
        "rounds": rounds,
        "least_seconds": least,
        "machine": backend.machine(),
        "versions": backend.versions(),
        "ceilings_tflops": {dtype: value / 1e12 if value else None for dtype, value in ceilings.items()},
        "results": rows,
        "summary": summary(rows),
    }


def table(record: dict[str, Any], dtype: str) -> list[str]:
    """The lines of a table: TFLOP/s, and how many times as fast as each peer ours is."""
    rows = [row for row in record["results"] if row["dtype"] == dtype]
    names = list(dict.fromkeys(name for row in rows for name in row["peers"]))
    others = [name for name in names if name != OURS]
    ceiling = record["ceilings_tflops"][dtype]
    title = f"{dtype}: TFLOP/s" + (f"; the matrix units alone reach {ceiling:.0f}" if ceiling else "")
    columns = [*names, *(f"/ {name}" for name in others), "of ceiling"]
    lines = [title, f"{'m x n x k':>18}" + "".join(f"{name:>14}" for name in columns)]
    for row in rows:
        ours = row["peers"].get(OURS, {})
        cells = [number(row["peers"][name].get("tflops"), "{:.1f}") for name in names]
        cells += [number(row["ratios"].get(name), "{:.3f}") for name in others]
        cells.append(number(ours.get("of_ceiling"), "{:.1%}"))
        lines.append(f"{row['m']}x{row['n']}x{row['k']:<}".rjust(18) + "".join(f"{cell:>14}" for cell in cells))
    for name, of in record["summary"].get(dtype, {}).items():
        lines.append(
            f"  against {name}: {of['geometric_mean']:.3f} times as fast (geometric mean of {of['shapes']} shapes), "
            f"{of['least']:.3f} at least, faster on {of['ahead']}"
        )
    for name in names:
        reasons = [(f"{row['m']}x{row['n']}x{row['k']}", row["peers"][name].get("absent")) for row in rows]
        for reason in dict.fromkeys(reason for _, reason in reasons if reason):
            shapes = [shape for shape, why in reasons if why == reason]
            lines.append(f"  {name} is missing on {', '.join(shapes) if len(shapes) < len(rows) else 'all'}: {reason}")
    return lines


def number(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


# ---------------------------------------------------------------------------------------------------------------------
# Kernels of ours
# ---------------------------------------------------------------------------------------------------------------------

ELEMENTS = {"f16": ("f16", "f16"), "bf16": ("bf16", "bf16"), "fp8": ("f8E4M3FN", "bf16")}
"""The types of the operands and of the result."""
TILES = ((128, 256, 64), (128, 128, 64), (64, 128, 64))
"""The first one that compiles is used."""


def program(problem: Problem, tile: tuple[int, int, int]) -> str:
    sys.path.insert(0, str(ROOT / "test" / "kernels"))
    import matmuls

    element, result = ELEMENTS[problem.dtype]
    shape = (problem.m, problem.n, problem.k)
    # cuBLAS takes the columns of B for fp8, as the instruction does.
    return matmuls.matmul(shape, tile, element, start="zero", result=result, columns_of_b=problem.dtype == "fp8")


def build(folder: Path, wanted: Sequence[Problem], target: str, tell: Callable[[str], None]) -> int:
    """Compiles ours for every problem; returns how many could not be."""
    import smalti

    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for problem in wanted:
        reasons = []
        for tile in TILES:
            try:
                kernel = smalti.compile(program(problem, tile), target=target)
            except smalti.SmaltiError as error:
                reasons.append(f"tiles of {tile}: {str(error).splitlines()[0]}")
                continue
            kernel.save(folder / problem.file)
            tell(
                f"{problem}: tiles of {tile}, {kernel.resources.registers} registers, {kernel.resources.spills} spilled"
            )
            break
        else:
            failed += 1
            tell(f"{problem}: not compiled: {'; '.join(reasons)}")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, metavar="FOLDER", help="compile ours into files, and measure nothing")
    parser.add_argument("--kernels", type=Path, metavar="FOLDER", help="the files with ours")
    parser.add_argument("--target", default="sm_90a", help="of --build")
    parser.add_argument("--dtype", action="append", choices=DTYPES, help="default: all")
    parser.add_argument("--shape", action="append", type=parse_shape, help="4096 or 64x8192x8192; default: all")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.05, help="of a round, at least")
    _record.add_option(parser, "gemm")
    options = parser.parse_args()
    wanted = problems(options.dtype or DTYPES, options.shape or SHAPES)
    if options.build:
        return 1 if build(options.build, wanted, options.target, print) else 0
    import _gemm_gpu

    try:
        backend = _gemm_gpu.Gpu(options.kernels)
    except Unavailable as reason:
        print(f"{reason}; nothing measured", file=sys.stderr)
        return 0
    record = run(backend, wanted, options.rounds, options.seconds, lambda text: print(text, file=sys.stderr))
    for dtype in record["ceilings_tflops"]:
        print("\n".join(table(record, dtype)), end="\n\n")
    _record.write(record, options.json)
    return 0


if __name__ == "__main__":
    # The other module imports this one by its name, and its classes must be the same.
    sys.path.insert(0, str(Path(__file__).parent))
    import gemm

    sys.exit(gemm.main())
