# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with one shape of loop each, with their results in numpy.

A block's trip count is its number, from `lower` by `step`: one launch covers 0 to 9 iterations. With `trips` the bounds
are constants, and the launch has one block. With `pace` one block runs the loop repeatedly in an outer loop, with
another trip count each time.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from helpers import SHARED
from smalti import targets

from . import bodies, copy_bodies
from .case import Case

ROWS, TRIPS, BIAS = 64, 10, 16
Rows = Sequence[int]


@dataclass(frozen=True)
class Bounds:
    """The start and step of a loop, and its trip count if it is constant."""

    lower: int = 0
    step: int = 1
    short: int = 0
    """The difference between the end and a whole step."""
    trips: int | None = None
    pace: int = 0
    """If an outer loop runs it ten times: in its run k it has k * pace mod 10 iterations, or `trips`."""

    def rows(self, trips: int) -> list[int]:
        return [self.lower + BIAS + k * self.step for k in range(trips)]


@dataclass(frozen=True)
class Shape:
    """One shape of loop."""

    name: str
    body: str
    """For one thread: from the rows of %a and %b to the block's rows of %o, or its row 0 for a result."""
    expected: Callable[[np.ndarray, np.ndarray, Rows], dict[int, np.ndarray]]
    """The rows of the output that are written, by the arrays and the rows that the loop runs over."""
    buffers: Sequence[str] = ()
    """Types of the buffers in shared memory; `C` is the number of columns."""
    refused: bool = False
    """Whether no loop of it can be pipelined."""
    recurrent: bool = False
    """Whether no loop can be pipelined if the written array may alias other arguments."""
    waits: str = ""
    """The kind of wait that its chips need, if it copies asynchronously."""
    lanes: int = 1
    maps: bool = False
    """Whether it gets tensor maps of its inputs."""
    head: str = ""
    """Code of a thread that runs once, before the body."""
    carried: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    """Values that one run of the body yields to the next: by name, the first value, the type, and the last value."""
    repeats: bool = True
    """Whether the body may be run again."""
    joins: bool = False
    """Whether threads have to wait for one another between two runs of it."""

    def case(self, chip: str, passes: str, bounds: Sequence[Bounds], noalias: bool = True) -> Case:
        """The kernel and the passes; one launch for each of `bounds` if they are dynamic."""
        return Case(self.text(chip, bounds[0], noalias), chip, passes, tuple(self._scalars(b) for b in bounds), seed=1)

    @staticmethod
    def _scalars(bounds: Bounds) -> dict[int, str]:
        values = [] if bounds.trips is not None else [bounds.lower, bounds.step, bounds.short]
        values += [bounds.pace] if bounds.pace else []
        return {number: str(value) for number, value in enumerate(values, start=3)}

    def text(self, chip: str, bounds: Bounds, noalias: bool = True) -> str:
        threads = 2 * targets.get(chip).wave_size
        columns = threads * self.lanes
        own = " {llvm.noalias}" if noalias else ""
        scalars = "" if bounds.trips is not None else ", %lower: index, %step: index, %short: index"
        scalars += ", %pace: index" if bounds.pace else ""
        if bounds.trips is None:
            ends = ["%length = arith.muli %block, %step : index", "%whole = arith.addi %lower, %length : index",
                    "%upper = arith.subi %whole, %short : index"]  # fmt: skip
        else:
            end = bounds.lower + bounds.trips * bounds.step - (bounds.short if bounds.trips else 0)
            numbers = {"lower": bounds.lower, "upper": end, "step": bounds.step}
            numbers["count"] = bounds.trips
            ends = [f"%{name} = arith.constant {number} : index" for name, number in numbers.items()]
        constants = [f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 4, 5, BIAS, ROWS - 1)]
        aligned = " {alignment = 128 : i64}" if self.maps else ""
        buffers = [
            f"%s{i} = memref.alloc(){aligned} : memref<{ty}xf32, {SHARED}>".replace("C", str(columns))
            for i, ty in enumerate(self.buffers)
        ]
        a = f"memref<{ROWS}x{columns}xf32>{own}"
        tile = (f"!nvgpu.tensormap.descriptor<tensor = memref<1x{columns}xf32, {SHARED}>, swizzle = none, l2promo = none, "
                "oob = zero, interleave = none>")  # fmt: skip
        maps = f", %map_a: {tile}, %map_b: {tile}" if self.maps else ""
        objects = f"!nvgpu.mbarrier.group<memorySpace = {SHARED}, num_barriers ="
        body = (self._body(ends, bounds).replace("ROWBYTES", str(4 * columns)).replace("BOTHBYTES", str(8 * columns))
                .replace("OBJECTS<", objects).replace("MAP", tile)
                .replace("ROW", f"memref<{ROWS}x{columns}xf32>")
                .replace("OUT", f"memref<{TRIPS}x{ROWS}x{columns}xf32>")
                .replace("SHARED", SHARED)
                .replace("C", str(columns)).replace("HALF", str(threads // 2)))  # fmt: skip
        lines = [
            "gpu.module @kernels {",
            f"  gpu.func @{self.name}(%a: {a}, %b: {a}, %o: memref<{TRIPS}x{ROWS}x{columns}xf32>{own}{scalars}{maps}) kernel",
            f"      attributes {{known_block_size = array<i32: {threads}, 1, 1>, "
            f"known_grid_size = array<i32: {self._blocks(bounds)}, 1, 1>}} {{",
            *("    " + line for line in (
                *constants, "%half = arith.constant 0.5 : f32", "%zero = arith.constant 0.0 : f32",
                "%halves = arith.constant dense<0.5> : vector<4xf32>",
                "%zeros = arith.constant dense<0.0> : vector<4xf32>",
                "%t = gpu.thread_id x", f"%last = arith.constant {threads - 1} : index",
                "%m = arith.subi %last, %t : index", f"%lanes = arith.constant {self.lanes} : index",
                f"%wave_size = arith.constant {threads // 2} : index",
                "%tc = arith.muli %t, %lanes : index", "%mc = arith.muli %m, %lanes : index", *buffers,
            )),
            textwrap.indent(body, "    "),
            "    gpu.return",
            "  }",
            "}",
        ]  # fmt: skip
        return "\n".join(lines) + "\n"

    @staticmethod
    def _blocks(bounds: Bounds) -> int:
        return TRIPS if bounds.trips is None and not bounds.pace else 1

    def _body(self, ends: Sequence[str], bounds: Bounds) -> str:
        """The body with its bounds, as often as it runs."""
        head, body = (textwrap.dedent(text).strip("\n") for text in (self.head, self.body))
        if bounds.trips is None:
            body = re.sub(r"%count\b", "%block", body)
        if not bounds.pace:
            for name, (first, _, _) in self.carried.items():
                body = re.sub(rf"{name}\b", first, body)
            return "\n".join(["%block = gpu.block_id x", *ends, head, body])
        carried = ", ".join(f"{name} = {first}" for name, (first, _, _) in self.carried.items())
        types = ", ".join(ty for _, ty, _ in self.carried.values())
        lasts = ", ".join(last for _, _, last in self.carried.values())
        around = f" iter_args({carried}) -> ({types})" if carried else ""
        lines = ["%paced = arith.muli %run, %pace : index", "%block = arith.remui %paced, %runs : index", *ends, body]
        lines += ["gpu.barrier"] if self.joins else []
        lines += [f"scf.yield {lasts} : {types}"] if carried else []
        loop = f"{'%after:' + str(len(self.carried)) + ' = ' if carried else ''}scf.for %run = %c0 to %runs step %c1{around} {{"
        return "\n".join(
            [f"%runs = arith.constant {TRIPS} : index", head, loop, textwrap.indent("\n".join(lines), "  "), "}"]
        )

    def check(self, bounds: Bounds, arrays: Sequence[np.ndarray]) -> None:
        """Compares the kernel's output with numpy in double precision."""
        a, b, out = (array.astype(np.float64) for array in arrays[:3])
        # The runs in one block differ in their trip counts.
        for block in range(TRIPS if bounds.trips is None or bounds.pace else 1):
            rows = bounds.rows(block if bounds.trips is None else bounds.trips)
            for row, wanted in self.expected(a, b, rows).items():
                np.testing.assert_allclose(out[block, row], wanted, rtol=1e-5, atol=1e-5, err_msg=f"block {block}")


def _folded(values: Iterator[np.ndarray], start: Any = 0.0) -> Any:
    total = start
    for value in values:
        total = total * 0.5 + value
    return total


def _mirrored(row: np.ndarray, lanes: int = 1) -> np.ndarray:
    return row.reshape(-1, lanes)[::-1].reshape(-1)


def _recurrence(a: np.ndarray, rows: Rows) -> Iterator[np.ndarray]:
    row = 5
    for _ in rows:
        yield a[row][::-1]
        row = (5 * row + 3) % ROWS


def _branch(a: np.ndarray, b: np.ndarray, rows: Rows) -> Iterator[np.ndarray]:
    for row in rows:
        got = (b if row % 2 else a)[row][::-1].copy()
        got[: len(got) // 2] *= 2
        yield got


def _nested(a: np.ndarray, rows: Rows) -> Any:
    total: Any = np.zeros(a.shape[1])
    for row in rows:
        total = _folded((a[row + j][::-1] for j in range(4)), total)[::-1]
    return total


def _siblings(a: np.ndarray, b: np.ndarray, rows: Rows) -> Any:
    first = _folded(a[row][::-1] for row in rows)
    # One of the loops is omitted for a trip count of three.
    return first if len(rows) == 3 else _folded((b[row][::-1] for row in rows), first)


def _persistent(a: np.ndarray, rows: Rows) -> Iterator[np.ndarray]:
    held = np.zeros(a.shape[1])
    for row in rows:
        held = held if row % 2 else a[row][::-1]
        yield held


def _memory(a: np.ndarray, rows: Rows) -> dict[int, np.ndarray]:
    if not rows:
        return {}
    step = rows[1] - rows[0] if len(rows) > 1 else 0
    value, found = a[0], {rows[0]: a[0]}
    for row in rows:
        value = value[::-1] * 0.5 + a[row]
        if step:
            found[row + step] = value
    return found


def _both(a: np.ndarray, b: np.ndarray, rows: Rows) -> dict[int, np.ndarray]:
    return {0: _folded(_mirrored(a[row], 4) * _mirrored(b[row], 4) for row in rows)}


def _pieces(a: np.ndarray, b: np.ndarray, rows: Rows) -> Iterator[np.ndarray]:
    for row in rows:
        yield _mirrored(a[row], 4) + (_mirrored(b[row], 4) if row % 3 else 0.0)


def _inner_copies(a: np.ndarray, rows: Rows) -> Any:
    total: Any = np.zeros(a.shape[1])
    for row in rows:
        total = _folded((_mirrored(a[row + j], 4) for j in range(4)), total)
    return total


def _once(a: np.ndarray, b: np.ndarray, rows: Rows) -> dict[int, np.ndarray]:
    return {0: _folded(a[row][::-1] * b[row][::-1] for row in rows)}


SHAPES = (
    Shape("reduction", bodies.REDUCTION, lambda a, b, rows: {0: _folded(a[row][::-1] for row in rows)}, ["C"]),
    Shape("registers", bodies.REGISTERS, lambda a, b, rows: {0: _folded(a[row] * b[row][::-1] for row in rows)}),
    Shape(
        "multiplications", bodies.MULTIPLICATIONS,
        lambda a, b, rows: {k: _folded(a[row][::-1] * b[row][k] for row in rows) for k in range(4)}, ["C", "4"],
    ),
    Shape("recurrence", bodies.RECURRENCE, lambda a, b, rows: {0: _folded(_recurrence(a, rows))}, ["C"]),
    Shape("branch", bodies.BRANCH, lambda a, b, rows: {0: _folded(_branch(a, b, rows))}, ["C"]),
    Shape("nested", bodies.NESTED, lambda a, b, rows: {0: _nested(a, rows)}, ["C"]),
    Shape("siblings", bodies.SIBLINGS, lambda a, b, rows: {0: _siblings(a, b, rows)}, ["C"]),
    Shape("outputs", bodies.OUTPUTS, lambda a, b, rows: {row: a[row][::-1] * b[row] for row in rows}, ["C"]),
    Shape(
        "chain", bodies.CHAIN, lambda a, b, rows: {0: _folded((a[row][::-1] * b[row])[::-1] for row in rows)}, ["C", "C"],
    ),
    Shape("persistent", bodies.PERSISTENT, lambda a, b, rows: {0: _folded(_persistent(a, rows))}, ["C"]),
    Shape("memory", bodies.MEMORY, lambda a, b, rows: _memory(a, rows), recurrent=True),
    Shape("copies", copy_bodies.COPIES, _both, ["C", "C"], waits="cp_async_group", lanes=4),
    Shape("groups", copy_bodies.GROUPS, _both, ["5xC", "5xC"], waits="cp_async_group", lanes=4),
    Shape(
        "by_hand", copy_bodies.BY_HAND, lambda a, b, rows: {0: _folded(_mirrored(a[row], 4) for row in rows)}, ["2xC"],
        waits="cp_async_group", lanes=4, refused=True,
    ),
    Shape("dma", copy_bodies.DMA, _once, ["C", "C"], waits="vmcnt"),
    Shape("counted", copy_bodies.COUNTED, _once, ["5xC", "5xC"], waits="async_counter"),
    Shape(
        "rotating", bodies.ROTATING, lambda a, b, rows: {0: _folded(a[row][::-1] for row in rows)}, ["C", "C"],
        joins=True,
    ),
    Shape(
        "selected", bodies.SELECTED, lambda a, b, rows: {0: _folded(a[row][::-1] for row in rows)}, ["C", "C"],
        joins=True,
    ),
    Shape(
        "leftover", bodies.LEFTOVER,
        lambda a, b, rows: {
            0: _folded(a[row][::-1] for row in rows), 1: (a[rows[-1]] if rows else b[5])[::-1]
        }, ["C"], joins=True,
    ),
    Shape(
        "pieces", copy_bodies.PIECES, lambda a, b, rows: {0: _folded(_pieces(a, b, rows))}, ["5xC", "5xC"],
        waits="cp_async_group", lanes=4,
    ),
    Shape(
        "inner_copies", copy_bodies.INNER_COPIES, lambda a, b, rows: {0: _inner_copies(a, rows)}, ["5xC"],
        waits="cp_async_group", lanes=4,
    ),
    Shape("waves", copy_bodies.WAVES, _once, ["5xC", "5xC"], waits="vmcnt"),
    Shape("tensors", copy_bodies.TENSORS, _once, ["5xC", "5xC"], waits="tensor_counter"),
    Shape("tiles", copy_bodies.TILES, _once, ["5x1xC", "5x1xC"], waits="mbarrier", maps=True, repeats=False),
    Shape("one_tile", copy_bodies.ONE_TILE, _once, ["1xC", "1xC"], waits="mbarrier", maps=True, repeats=False),
    Shape("phases", copy_bodies.PHASES, _once, ["5x1xC", "5x1xC"], waits="mbarrier", maps=True, repeats=False),
    Shape("running_groups", copy_bodies.RUNNING_GROUPS, _both, ["5xC", "5xC"], waits="cp_async_group", lanes=4, joins=True,
          carried={"%begin_number": ("%c0", "index", "%sum#1")}),
    Shape("running_dma", copy_bodies.RUNNING_DMA, _once, ["4xC", "4xC"], waits="vmcnt",
          carried={"%before": ("%c0", "index", "%later")}),
    *(Shape(f"{name}_{slots}", body.replace("SLOTS", str(slots)), _once, [f"{slots}x1xC"] * 2, waits="mbarrier", maps=True,
            head=copy_bodies.RUNNING_HEAD.replace("SLOTS", str(slots)), carried=carried)
      for slots in (3, 5)
      for name, body, carried in (
          ("running_tiles", copy_bodies.RUNNING_TILES, {"%before": ("%c0", "index", "%later")}),
          ("running_phases", copy_bodies.RUNNING_PHASES, {
              "%begin_slot": ("%c0", "index", "%sum#1"), "%begin_parity": ("%false", "i1", "%sum#2"),
          }),
      )),
)  # fmt: skip

BOUNDS = (Bounds(), Bounds(lower=3, step=2, short=1), Bounds(lower=-5, step=3, short=2))
"""For loops with dynamic bounds."""
RUNS = tuple(replace(bounds, pace=pace) for bounds, pace in zip(BOUNDS, (1, 9, 7), strict=True))
"""The same in a loop around them: one iteration more each time, one less, or more and less in turn."""


def passes(chip: str, stages: int, depth: int = 0, mode: str = "auto") -> str:
    """The passes on every kernel; slots of a buffer if `depth` is not 0."""
    found = [f"smalti-multi-buffer{{depth={depth} target={chip}}}"] if depth else []
    found.append(f"smalti-pipeline-loops{{stages={stages} mode={mode} target={chip}}}")
    return f"builtin.module(gpu.module(gpu.func({','.join(found)})))"
