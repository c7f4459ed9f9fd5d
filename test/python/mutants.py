# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutants of pipelined matmuls: each barrier and each wait removed or moved, each slot of shared memory aliased.

A mutant is killed if its numbers are wrong under some schedule, the thread sanitizer reports a race, or threads wait
forever. `python -m mutants` writes the outcome of each mutant as a table in Markdown.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import smalti
from smalti import check, targets
from smalti.emulator import SCHEDULES, Emulation, load
from smalti.emulator.options import COPIES
from smalti.errors import EmulationError

TILE = 32
ROWS, COLUMNS, DEPTH = 40, 36, 72

# Five iterations over K, more than stages. If a row of A or B has an odd number of elements, no access is proven to be
# aligned enough for an asynchronous copy.
MATMUL = """
triton_xla.entry_func @matmul(%a: memref<{m}x{k}xf16>, %b: memref<{k}x{n}xf16>, %c: memref<{m}x{n}xf32>,
                               %tile: index) tiles 4 {{
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %depth = arith.constant {k} : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %i = arith.divui %tile, %c2 : index
  %j = arith.remui %tile, %c2 : index
  %row = arith.muli %i, %c32 : index
  %column = arith.muli %j, %c32 : index
  %sum = scf.for %p = %c0 to %depth step %c16 iter_args(%acc = %zero) -> (tensor<32x32xf32>) {{
    %x = triton_xla.extract %a[%row, %p] [32, 16] [1, 1] : memref<{m}x{k}xf16> to tensor<32x16xf16>
    %y = triton_xla.extract %b[%p, %column] [16, 32] [1, 1] : memref<{k}x{n}xf16> to tensor<16x32xf16>
    %next = triton_xla.dot %x, %y, %acc : tensor<32x16xf16>, tensor<16x32xf16> -> tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }}
  triton_xla.insert %sum into %c[%row, %column] [32, 32] [1, 1] : tensor<32x32xf32> into memref<{m}x{n}xf32>
  triton_xla.return
}}
"""


@dataclass(frozen=True)
class Case:
    """A matmul for a chip."""

    target: str
    """The chip."""
    is_async: bool = False
    """Whether its copies are asynchronous."""

    def __str__(self) -> str:
        return f"{self.target}-{'async' if self.is_async else 'sync'}"


def cases() -> list[Case]:
    """One chip for each kind of barrier and vendor, also with asynchronous copies if it has them."""
    chosen: dict[tuple[str, str], targets.Target] = {}
    for target in targets.all():
        if target.is_gpu:
            chosen.setdefault((target.vendor, target.barrier), target)
    found = []
    for target in chosen.values():
        if "cp_async_group" in target.waits:
            found.append(Case(target.name, is_async=True))
        found.append(Case(target.name))
    return found


@dataclass(frozen=True)
class Mutant:
    """A program with one fault."""

    level: str
    """The location of the fault: in the `pipelined` block-level kernel, or in the final `llvm` code."""
    kind: str
    """`removed`, `weakened` (waits for one group less), `moved`, or `aliased` (takes the place of another)."""
    what: str
    """The operation, and which one of its name it is."""
    text: str = dataclasses.field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.level}: {self.kind} {self.what}"


# ---------------------------------------------------------------------------------------------------------------------
# Making mutants
# ---------------------------------------------------------------------------------------------------------------------

_SYNCHRONIZATION = re.compile(
    r"^ *(?P<what>gpu\.barrier|amdgpu\.lds_barrier|mosaic_gpu\.async_wait_group)(?: (?P<left>\d+))?"
)
_SHARED_ACCESS = re.compile(r"mosaic_gpu\.(?:vector_load|vector_store|async_copy)\b")
_SLOT = re.compile(r"(?P<head>memref\.subview %\w+\[)(?P<slot>%\w+)(?=, 0, 0\].* : memref<(?P<count>\d+)x)")
_BUFFER = re.compile(r"(?P<head>mosaic_gpu\.slice_smem )(?P<offset>\d+)")
_DEVICE = re.compile(
    r"call .*@(?P<what>llvm\.nvvm\.barrier\.[\w.]+|llvm\.nvvm\.cp\.async\.wait[\w.]+|llvm\.amdgcn\.s\.barrier[\w.]*"
    r"|llvm\.amdgcn\.s\.wait[\w.]+)\(|^ *(?P<fence>fence) .*"
)


class _Counter:
    """Numbers the operations of a name in their order."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        self._seen[name] = self._seen.get(name, 0) + 1
        return f"{name} #{self._seen[name]}"


def _without(lines: list[str], at: int) -> str:
    return "\n".join(lines[:at] + lines[at + 1 :])


def _replaced(lines: list[str], at: int, line: str) -> str:
    return "\n".join([*lines[:at], line, *lines[at + 1 :]])


def _moved(lines: list[str], at: int, step: int) -> str | None:
    """A barrier on the other side of the nearest access to shared memory in the same block, if there is one."""
    to = at + step
    while not _SHARED_ACCESS.search(lines[to]):
        if lines[to].rstrip().endswith(("{", "}")) or "scf.yield" in lines[to] or "gpu.return" in lines[to]:
            return None
        to += step
    moved = lines[:at] + lines[at + 1 :]
    # If the barrier moved forwards, the lines after it have moved up by one.
    moved.insert(to, lines[at])
    return "\n".join(moved)


def _next_slot(line: str, found: re.Match[str]) -> str:
    """The same access one slot further."""
    return "\n".join(
        (
            "%one_further = arith.constant 1 : index",
            f"%count_of_slots = arith.constant {found['count']} : index",
            f"%further = arith.addi {found['slot']}, %one_further : index",
            "%other_slot = arith.remui %further, %count_of_slots : index",
            _SLOT.sub(r"\g<head>%other_slot", line),
        )
    )


def of_block_program(text: str) -> Iterator[Mutant]:
    """Mutants of a pipelined block-level kernel."""
    lines, number = text.splitlines(), _Counter()
    level = "pipelined"
    for at, line in enumerate(lines):
        if found := _SYNCHRONIZATION.match(line):
            what = number(found["what"])
            yield Mutant(level, "removed", what, _without(lines, at))
            if found["left"] is not None:
                left = int(found["left"])
                yield Mutant(level, "weakened", what, _replaced(lines, at, line.replace(f" {left}", f" {left + 1}")))
            if "barrier" in found["what"]:
                for step, where in ((1, "down"), (-1, "up")):
                    if (moved := _moved(lines, at, step)) is not None:
                        yield Mutant(level, "moved", f"{what} {where}", moved)
        elif found := _SLOT.search(line):
            yield Mutant(level, "aliased", number("slot"), _replaced(lines, at, _next_slot(line, found)))
        elif (found := _BUFFER.search(line)) and found["offset"] != "0":
            yield Mutant(level, "aliased", number("buffer"), _replaced(lines, at, _BUFFER.sub(r"\g<head>0", line)))


def of_device_code(text: str) -> Iterator[Mutant]:
    """Mutants of LLVM IR."""
    lines, number = text.splitlines(), _Counter()
    for at, line in enumerate(lines):
        if (found := _DEVICE.search(line)) and not line.startswith("declare"):
            name = found["what"] or f"fence {'acquire' if 'acquire' in line else 'release'}"
            yield Mutant("llvm", "removed", number(name), _without(lines, at))


# ---------------------------------------------------------------------------------------------------------------------
# Running them
# ---------------------------------------------------------------------------------------------------------------------

BLOCKS = range(1)
LIMIT = 60.0


class Bench:
    """The matmuls of a case, and one of their blocks on the emulator."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._target = targets.EMULATED + case.target
        odd = 0 if case.is_async else 1
        text = MATMUL.format(m=ROWS, n=COLUMNS + odd, k=DEPTH - odd)
        # Four warps of 32 or two of 64: each reads data that another copied.
        warps = 128 // targets.get(self._target).wave_size
        self._kernel = smalti.compile(text, target=self._target, num_warps=warps)
        assert ("async_copy" in self.block_program) == case.is_async
        self._arguments = check.random_arguments(self._kernel.entry)
        a, b, _ = self._arguments
        self._expected = np.einsum("mk,kn->mn", a[:TILE].astype(np.float64), b[:, :TILE].astype(np.float64))

    @functools.cached_property
    def block_program(self) -> str:
        """The pipelined block-level kernel."""
        return self._kernel.asm["pipelined"]

    @functools.cached_property
    def device_code(self) -> str:
        """The final LLVM IR."""
        return self._kernel.asm["llvm"]

    def mutants(self) -> list[Mutant]:
        """All mutants of the case."""
        return [*of_block_program(self.block_program), *of_device_code(self.device_code)]

    def launcher(self, level: str, text: str) -> Callable[[Emulation, Any, Any, Any], Any]:
        """How a program of this level is run."""
        if level == "pipelined":
            # Slots and stages are in the program already.
            kernel = smalti.compile(text, target=self._target, depth=1, stages=1)
            return lambda emulation, *arguments: kernel.launcher(*arguments, emulation=emulation)
        module, resources = load(text, self._target), self._kernel.resources
        assert resources.grid is not None and resources.block is not None
        grid, block = resources.grid, resources.block
        shared = resources.dynamic_shared_bytes
        return lambda emulation, *arguments: module.launch(grid, block, *arguments, shared=shared, emulation=emulation)

    def caught_by(self, level: str, text: str) -> tuple[str, ...]:
        """The detector of a program's fault: `numbers`, `race`, `deadlock`; empty if it is not detected."""
        launch = self.launcher(level, text)
        caught: set[str] = set()
        for schedule in SCHEDULES:
            caught |= self._run(launch, schedule)
            if caught:
                break
        for copies in COPIES if self.case.is_async else COPIES[:1]:
            caught |= self._run(launch, Emulation(sanitize="thread", copies=copies))
        return tuple(sorted(caught))

    def _run(self, launch: Callable[..., Any], emulation: Emulation) -> set[str]:
        a, b, c = (array.copy() for array in self._arguments)
        try:
            launch(dataclasses.replace(emulation, blocks=BLOCKS, time_limit=LIMIT), a, b, c)
        except EmulationError as error:
            return {finding.kind for finding in error.findings}
        right = np.allclose(c[:TILE, :TILE], self._expected, rtol=0, atol=1e-3)
        return set() if right else {"numbers"}


def main() -> int:
    """Writes the table of all cases."""
    print("| case | mutant | caught by |\n|---|---|---|")
    for case in cases():
        bench = Bench(case)
        for mutant in bench.mutants():
            print(f"| {case} | {mutant} | {', '.join(bench.caught_by(mutant.level, mutant.text)) or '-'} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
