# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code of our kernels, of Triton's and of IREE's, compared in executed instructions, without a GPU.

Both sides compile the same kernels for the same chip, tile, types and number of threads: PTX with one ptxas, AMD code with
the LLVM of each. The instructions that all warps of a block execute are counted: of the whole kernel and of its steady-state
loops, by kind, with the widths of memory accesses. Trip counts are not assumed: the control flow of each warp is executed
(`_isa_run.py` states the rules). Registers, spills and shared memory give the occupancy.

With `--grid`, the kernels are matmuls of many chips, types, operand orders, alignments, tiles and numbers of warps
(`_isa_grid.py`). Bank conflicts are those of the compiler's model, for the addresses that the machine code computes.

Triton and IREE are optional. These commands install them where this script looks for them (`--peers` and `--iree` name
another Python):

    python3 -m venv .cache/peers
    .cache/peers/bin/pip install -r benchmarks/requirements-peers.txt

Compiled kernels and counts are cached by content in `.cache/isa`, so that a run that stopped continues, and a second run
compiles and counts only changed kernels.

Prints a table, writes a page (HTML) with the worst cells first to `--page`, and JSON to `--json`. To see the loops of a cell
side by side, select it: `--grid --chips sm_80 --kernel "f16 NT aligned 128x128x64"`.
"""

from __future__ import annotations

import abc
import argparse
import functools
import hashlib
import json
import math
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import _isa_grid
import _isa_measure
import _isa_page
import _isa_rates
import _record
import smalti
from _isa_cases import CASES, CHIPS, Case
from _isa_code import Code, multiply_accumulates, read_gcn, read_sass
from _record import ROOT
from rich.table import Table
from smalti import targets, toolchain
from smalti.codegen import assemble

HERE = Path(__file__).resolve().parent
CACHE = ROOT / ".cache" / "isa"
PEERS = ROOT / ".cache" / "peers" / "bin" / "python"


class Cache:
    """JSON values by content: the name of a file is the hash of all that its value depends on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, *parts: str) -> Path:
        return self.folder / (hashlib.sha256("\0".join(parts).encode()).hexdigest() + ".json")

    def get(self, path: Path) -> Any:
        try:
            return json.loads(path.read_text())
        except (OSError, ValueError):
            return None

    def put(self, path: Path, value: Any) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(value))
        beside.replace(path)


def digest(paths: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.read_bytes())
    return whole.hexdigest()


@functools.cache
def compiler_digest() -> str:
    """The content of the compiler: its libraries and Python sources."""
    package = Path(smalti.__file__).parent
    files = [
        *package.glob("_mlir_libs/*.so*"),
        *(package / "compiler").glob("*.py"),
        *(package / "codegen").glob("*.py"),
    ]
    return digest(sorted(path for path in files if path.is_file()))


def read(chip: str, kernel: dict[str, Any]) -> Code:
    return read_sass(kernel["code"]) if targets.get(chip).vendor == "nvidia" else read_gcn(kernel["code"])


def compile_ours(case: Case, chip: str) -> dict[str, Any]:
    """Our machine code and its resources, or the error."""
    start = time.perf_counter()
    try:
        kernel = smalti.compile(case.source(), target=chip, num_warps=case.warps(targets.get(chip).wave_size))
        assert isinstance(kernel, smalti.Kernel)
        code = kernel.asm["sass" if targets.get(chip).vendor == "nvidia" else "gcn"]
    except smalti.SmaltiError as error:
        return {"error": str(error).splitlines()[0]}
    resources = kernel.resources
    return {
        "code": code,
        "registers": resources.registers or 0,
        "spills": resources.spills,
        "shared": resources.shared_bytes or 0,
        "warps": resources.warps,
        "tiles_per_block": resources.tiles / resources.grid[0] if resources.tiles and resources.grid else 1,
        "seconds": time.perf_counter() - start,
    }


class Peer(abc.ABC):
    """A compiler in another Python, started at the first kernel that is not in the cache."""

    name: str
    script: str
    package: str
    environment: ClassVar[dict[str, str]] = {}

    def __init__(self, python: Path) -> None:
        self.python = python
        found = python.absolute().parent.parent.glob(f"lib/python*/site-packages/{self.package}-*.dist-info")
        self.version = next((path.name.split("-")[1].removesuffix(".dist") for path in found), None)
        self._process: subprocess.Popen[str] | None = None

    @abc.abstractmethod
    def jobs(self, case: Case, chip: str) -> list[dict[str, Any]]:
        """The jobs of a case, of which the best kernel counts."""

    def compile(self, job: dict[str, Any]) -> dict[str, Any]:
        answer = self._ask(job)
        if "error" in answer:
            return answer
        kernel = {"shared": answer["shared"], "tiles_per_block": 1, "seconds": answer["seconds"]}
        kernel["warps"] = answer.get("warps") or answer["threads"] // targets.get(job["chip"]).wave_size
        text = answer["assembly"]
        if job["chip"].startswith("sm_"):
            return kernel | self._assemble(text, job["chip"])

        def number(name: str) -> int:
            found = re.search(rf"^\s*(?:- )?\.{name}:\s+(\d+)$", text, re.MULTILINE)
            return int(found[1]) if found else 0

        return kernel | {"code": text, "registers": number("vgpr_count"), "spills": number("vgpr_spill_count")}

    def _assemble(self, text: str, chip: str) -> dict[str, Any]:
        """PTX, assembled with the options that Triton uses."""
        ptxas = toolchain.require(toolchain.find_ptxas(), "ptxas", "comparing NVIDIA code", toolchain.PTXAS_HINT)
        nvdisasm = toolchain.require(
            toolchain.find_nvdisasm(), "nvdisasm", "comparing NVIDIA code", toolchain.NVDISASM_HINT
        )
        with tempfile.TemporaryDirectory(prefix="smalti-") as folder:
            source, binary = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
            source.write_text(text)
            command = [ptxas.path, "-v", "--regAllocOptLevel=2", f"-arch={chip}", source, "-o", binary]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                return {"error": f"ptxas: {done.stderr.splitlines()[0]}"}
            usage = next(iter(assemble.ptx_usage(done.stderr + done.stdout).values()))
            return {
                "code": assemble.disassemble_cubin(binary.read_bytes(), nvdisasm.path),
                "registers": usage.registers or 0,
                "spills": usage.spills or 0,
            }

    def _ask(self, job: dict[str, Any]) -> dict[str, Any]:
        if self._process is None:
            self._process = subprocess.Popen(
                [self.python, HERE / self.script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, **self.environment},
            )
            self._line()
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
            return json.loads(self._line())
        except (ValueError, BrokenPipeError):
            self._process = None
            return {"error": f"{self.name}'s process ended"}

    def _line(self) -> str:
        assert self._process and self._process.stdout
        return self._process.stdout.readline()

    def close(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()
            self._process.wait()


class Triton(Peer):
    name = "Triton"
    script = "_isa_triton.py"
    package = "triton"

    def __init__(self, python: Path) -> None:
        super().__init__(python)
        self.environment = _record.triton_environment() | {"TRITON_CACHE_DIR": str(CACHE / "triton")}

    def jobs(self, case: Case, chip: str) -> list[dict[str, Any]]:
        jobs = case.jobs(chip, targets.get(chip).wave_size)
        ptxas = toolchain.find_ptxas()
        if targets.get(chip).vendor == "nvidia" and ptxas and (newest := toolchain.ptx_version_of(ptxas.path)):
            for job in jobs:
                job["options"]["ptx_version"] = 10 * newest[0] + newest[1]
        return jobs


class Iree(Peer):
    """IREE chooses its own tile and number of threads: it is compared in the cells of one tile and the default warps."""

    name = "IREE"
    script = "_isa_iree.py"
    package = "iree_base_compiler"

    def jobs(self, case: Case, chip: str) -> list[dict[str, Any]]:
        job = {"chip": chip, "types": case.types, "constants": case.constants}
        return [job] if case.is_for_iree else []


class Runner:
    """Compiles and counts, or takes results from the cache."""

    def __init__(self, cache: Cache, peers: Sequence[Peer] = ()) -> None:
        self.cache = cache
        self.peers = {peer.name: peer for peer in peers}

    def ours(self, case: Case, chip: str) -> dict[str, Any]:
        path = self.cache.path(
            "ours", compiler_digest(), chip, case.source(), str(case.warps(targets.get(chip).wave_size))
        )
        kernel = self.cache.get(path)
        if kernel is None:
            kernel = compile_ours(case, chip)
            self.cache.put(path, kernel)
        return kernel

    def peer(self, name: str, case: Case, chip: str) -> dict[str, Any] | None:
        """A peer's kernel: of its jobs, the one with the fewest instructions. None if the peer does not have the case."""
        peer = self.peers[name]
        kernels = []
        for job in peer.jobs(case, chip):
            path = self.cache.path(name.lower(), str(peer.version), digest([HERE / peer.script]), json.dumps(job))
            kernel = self.cache.get(path)
            if kernel is None:
                kernel = peer.compile(job)
                self.cache.put(path, kernel)
            kernels.append(kernel)
        if not kernels:
            return None
        if len(kernels) == 1:
            return kernels[0]

        def order(kernel: dict[str, Any]) -> tuple[bool, float]:
            figures = self.figures(case, chip, kernel)
            # A kernel that computes parts of the tile several times is not better.
            return (figures.get("MMA work") or 0) > 1.05, figures.get("rate", math.inf)

        return min(kernels, key=order)

    def figures(self, case: Case, chip: str, kernel: dict[str, Any], has_own_tile: bool = False) -> dict[str, Any]:
        """The kernel's figures, or its error. A kernel of an unknown tile does the work of its MMAs."""
        if "error" in kernel:
            return kernel
        per_block = kernel["tiles_per_block"]
        blocks = sorted({int(tile / per_block) for tile in case.tiles})
        path = self.cache.path("count", counter_digest(), kernel["code"], str((kernel["warps"], blocks, chip)))
        found = self.cache.get(path)
        if found is None:
            try:
                found = _isa_measure.figures(read(chip, kernel), kernel["warps"], blocks, chip)
            except Exception as error:
                # One kernel that the counter cannot read must not stop the others.
                found = {"error": f"counting: {type(error).__name__}: {error}"}
            self.cache.put(path, found)
        if "error" in found:
            return found
        amount = case.amount * len(blocks) * per_block / len(case.tiles)
        if has_own_tile:
            amount = (found["multiply-accumulates"] or 0) / 4096
            if not amount:
                return {"error": "the kernel does not have MMAs whose work is known"}
        resources = {name: kernel[name] for name in ("registers", "spills", "shared", "warps", "seconds")}
        shared = kernel["shared"]
        occupancy = None if shared is None else _isa_rates.occupancy(chip, kernel["registers"], shared, kernel["warps"])
        rates = _isa_rates.rates(found, case.is_matmul, amount)
        if rates.get("loop kinds"):
            rates["issue bound"] = _isa_rates.issue_bound(chip, case.operand, rates["loop kinds"])
            rates["mca cycles"] = self.mca_cycles(chip, kernel, found)
        return {**found, **resources, "occupancy": occupancy, **rates}

    def mca_cycles(self, chip: str, kernel: dict[str, Any], found: dict[str, Any]) -> float | None:
        """The cycles that llvm-mca computes per 4096 multiply-accumulates of a warp, for the loop with the most MMAs."""
        path = self.cache.path("mca", chip, kernel["code"])
        entry = self.cache.get(path)
        if entry is None:
            first = max(found["loops"], key=lambda loop: loop["mma"])["first"]
            code = read(chip, kernel)
            body = next(loop.body for loop in code.loops if loop.header == first)
            work = [code.instructions[i] for i in sorted(body)]
            lines = [i.text for i in work if i.kind != "branch"]
            amount = sum(multiply_accumulates(i) or 0 for i in work if i.kind == "mma") / 4096
            cycles = _isa_rates.mca_cycles(chip, lines) if amount else None
            entry = {"cycles": cycles and cycles / amount}
            self.cache.put(path, entry)
        return entry["cycles"]


@functools.cache
def counter_digest() -> str:
    return digest(HERE / f"_isa_{name}.py" for name in ("code", "run", "measure"))


def compare(runner: Runner, case: Case, chip: str) -> dict[str, Any]:
    """All sides of one cell, and how many times as many instructions ours has as the better peer."""
    ours = runner.figures(case, chip, runner.ours(case, chip))
    cell: dict[str, Any] = {"kernel": case.name, "chip": chip, "per": case.per, "ours": ours}
    others = []
    for peer in runner.peers:
        if (kernel := runner.peer(peer, case, chip)) is not None:
            cell[peer] = runner.figures(case, chip, kernel, has_own_tile=peer == "IREE")
            others.append(cell[peer])
    # The better peer counts.
    best = min(others, key=lambda figures: figures.get("rate", math.inf), default={})
    for name in ("rate", "loop rate"):
        mine, other = ours.get(name), best.get(name)
        if mine is not None and other:
            cell[f"{name} ratio"] = round(mine / other, 3)
    return cell


def worst_first(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Kernels that do not compile, then by how many times as many instructions ours has."""
    return sorted(cells, key=lambda cell: ("error" not in cell["ours"], -cell.get("rate ratio", 0.0)))


def table_of(cells: Sequence[dict[str, Any]]) -> Table:
    table = Table(title=f"executed instructions of all warps, {' / '.join(_isa_page.SIDES)}")
    for column in (
        "kernel",
        "chip",
        "per",
        "whole",
        "ratio",
        "loops",
        "ratio",
        "conflicts",
        "registers",
        "spills",
        "occupancy",
    ):
        table.add_column(column)
    for cell in cells:
        sides = [cell[name] for name in _isa_page.SIDES if name in cell]

        def both(name: str, sides: list[dict[str, Any]] = sides) -> str:
            return " / ".join(_isa_page.number(side.get(name)) for side in sides)

        error = cell["ours"].get("error")
        ratios = [_isa_page.number(cell.get(f"{name} ratio")) for name in ("rate", "loop rate")]
        row = [
            both("rate"),
            ratios[0],
            both("loop rate"),
            ratios[1],
            both("conflicts"),
            both("registers"),
            both("spills"),
            both("occupancy"),
        ]
        table.add_row(cell["kernel"], cell["chip"], cell["per"], *([error[:40]] if error else row))
    return table


_BRIEF = ("error", "rate", "loop rate", "loop kinds", "widths", *_isa_page.RESOURCES.values())
"""The figures of a side that the record of the grid has."""


def brief(value: Any, names: Sequence[str] | None = None) -> Any:
    """A cell as the record of the grid has it: not all figures, with four digits."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if not isinstance(value, dict):
        return value
    return {
        name: brief(part, _BRIEF if name in _isa_page.SIDES else None)
        for name, part in value.items()
        if (names is None or name in names) and part is not None
    }


Work = tuple[Case, str]
"""A kernel and a chip."""

_runner: Runner | None = None
"""The runner of this process."""


def start(cache: Path, pythons: Mapping[type[Peer], Path]) -> Runner:
    """Prepares this process: its compiler and its peers stay warm."""
    global _runner
    _runner = Runner(Cache(cache), [peer(python) for peer, python in pythons.items()])
    return _runner


def compare_one(work: Work) -> dict[str, Any]:
    assert _runner
    return compare(_runner, *work)


def run(work: Sequence[Work], cache: Path, pythons: Mapping[type[Peer], Path], jobs: int) -> list[dict[str, Any]]:
    """The cells, in the order of `work`. Each process has its own compiler and peers."""
    if jobs == 1:
        start(cache, pythons)
        results: Iterable[dict[str, Any]] = map(compare_one, work)
        return [report(cell, i, len(work)) for i, cell in enumerate(results)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, start, (cache, pythons)) as pool:
        # Neighbors of a chip share nothing, so the order does not matter for speed.
        return [report(cell, i, len(work)) for i, cell in enumerate(pool.map(compare_one, work))]


def report(cell: dict[str, Any], i: int, number: int) -> dict[str, Any]:
    result = cell.get("rate ratio", cell["ours"].get("error", ""))
    print(f"{i + 1}/{number} {cell['kernel']}, {cell['chip']}: {result}", file=sys.stderr)
    return cell


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grid", action="store_true", help="matmuls of the grid instead of the kernels")
    parser.add_argument("--kernel", action="append", help="a part of a kernel's name (default: all kernels)")
    parser.add_argument("--chips", nargs="+", metavar="CHIP", help="(default: all of the kernels or of the grid)")
    for name in ("types", "orders", "rows", "tiles", "warps"):
        values = getattr(_isa_grid, name.upper())
        parser.add_argument(f"--{name}", nargs="+", choices=values, default=values, help="of the grid (default: all)")
    parser.add_argument(
        "--splits", nargs="+", type=int, choices=_isa_grid.SPLITS, default=_isa_grid.SPLITS, help="of the grid"
    )
    parser.add_argument("--sample", type=int, metavar="N", help="only N cells of the grid, chosen at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--details", type=int, default=40, help="cells with loops on the page (default: the worst 40)")
    parser.add_argument("--peers", type=Path, default=PEERS, help="the Python that has Triton (default: .cache/peers)")
    parser.add_argument("--iree", type=Path, default=PEERS, help="the Python that has IREE (default: .cache/peers)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="(default: .cache/isa)")
    parser.add_argument("--page", type=Path, help="(default: .cache/isa/isa.html, or isa_grid.html)")
    parser.add_argument("--json", type=Path, help="(default: benchmarks/results/isa.json, or isa_grid.json)")
    options = parser.parse_args()
    name = "isa_grid" if options.grid else "isa"

    pythons: dict[type[Peer], Path] = {}
    for peer, python in ((Triton, options.peers), (Iree, options.iree)):
        if python.exists() and peer(python).version:
            pythons[peer] = python
        else:
            print(f"{python} does not have {peer.name}, which is dropped", file=sys.stderr)
    absent: list[dict[str, Any]] = []
    if options.grid:
        chips = options.chips or _isa_grid.CHIPS
        grid = _isa_grid.Grid(
            chips, options.types, options.orders, options.rows, options.tiles, options.warps, options.splits
        )
        wanted = grid.sample(options.sample, options.seed) if options.sample else grid.cells()
        absent = [{"kernel": w.name, "chip": w.chip, "absent": w.absent} for w in wanted if w.absent]
        work: list[Work] = [(w.case(), w.chip) for w in wanted if not w.absent]
    else:
        work = [(case, chip) for case in CASES for chip in options.chips or CHIPS]
    work = [
        (case, chip) for case, chip in work if not options.kernel or any(part in case.name for part in options.kernel)
    ]
    cells = worst_first(run(work, options.cache, pythons, options.jobs))

    runner = start(options.cache, pythons)
    cases = {(case.name, chip): case for case, chip in work}

    def loops(cell: dict[str, Any], side: str) -> list[list[str]]:
        case, chip = cases[cell["kernel"], cell["chip"]], cell["chip"]
        kernel = runner.ours(case, chip) if side == "ours" else runner.peer(side, case, chip)
        assert kernel
        code = read(chip, kernel)
        return [_isa_measure.loop_text(code, loop["first"]) for loop in cell[side]["loops"]]

    versions = {**_record.versions(), **{name.lower(): peer.version for name, peer in runner.peers.items()}}
    record = {"what": "executed instructions of all warps of the counted blocks", "versions": versions, "cells": cells}
    rows: tuple[str, ...] = ()
    if options.grid:
        rows = ("cells", "absent")
        record |= {"cells": [brief(cell) for cell in cells], "absent": absent}
    path = options.json or ROOT / "benchmarks" / "results" / f"{name}.json"
    _record.write(record, path, table_of(cells), 160, rows)
    page = options.page or options.cache / f"{name}.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(_isa_page.page(cells, versions, loops, options.details, absent))
    print(f"written to {page}")
    for peer in runner.peers.values():
        peer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
