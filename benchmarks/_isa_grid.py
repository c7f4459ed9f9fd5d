# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The matmuls that `benchmarks/isa.py --grid` compares: chips, types, operand orders, alignments, tiles and warps."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from _isa_cases import MACS, Case
from _record import ROOT
from smalti import targets

sys.path.insert(0, str(ROOT / "test" / "kernels"))

from matmuls import matmul

CHIPS = (
    *("sm_80", "sm_86", "sm_89", "sm_90a", "sm_120a"),
    *("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"),
)
TYPES = ("f16", "bf16", "fp8", "i8", "f32", "tf32")
"""`fp8` is E4M3 as the chip's MMA has it: f8E4M3FN or, on gfx942, f8E4M3FNUZ."""
ORDERS = ("NN", "NT", "TN", "TT")
"""The orders of A and B in memory: N is row-major (A is M x K, B is K x N), T is the transpose of it."""
ROWS = ("aligned", "ragged")
"""Rows of a multiple of 16 bytes and sizes that the tile divides, or neither: rows end 8 bytes after a multiple of 16."""
TILES = ("16x128x64", "64x64x64", "128x128x64", "128x256x64")
WARPS = ("default", "4", "8")
SPLITS = (1, 4)
_SIZE = 4096
_PEER_WARPS = (4, 8)
"""The numbers of warps of which the better one is compared with our default."""


@dataclass(frozen=True)
class Grid:
    """The values of each dimension."""

    chips: Sequence[str] = CHIPS
    types: Sequence[str] = TYPES
    orders: Sequence[str] = ORDERS
    rows: Sequence[str] = ROWS
    tiles: Sequence[str] = TILES
    warps: Sequence[str] = WARPS
    splits: Sequence[int] = SPLITS

    def cells(self) -> list[Cell]:
        """All cells. Split sums are compared with the default warps, rows and one tile only."""
        everything = itertools.product(
            self.splits, self.types, self.tiles, self.warps, self.rows, self.orders, self.chips
        )
        return [
            Cell(chip, type_, order, rows, tile, warps, splits)
            for splits, type_, tile, warps, rows, order, chip in everything
            if splits == 1 or (warps, tile, rows) == ("default", "64x64x64", "aligned")
        ]

    def sample(self, number: int, seed: int) -> list[Cell]:
        """Some cells, chosen at random."""
        cells = self.cells()
        return random.Random(seed).sample(cells, min(number, len(cells)))


def _operand(chip: str, type_: str) -> str | None:
    """The element type of the operands in MLIR, or None if the chip does not have an MMA for it."""
    names = {"fp8": ("f8E4M3FN", "f8E4M3FNUZ")}.get(type_, (type_,))
    found = {mma.a for mma in targets.get(chip).mmas if mma.kind != "fma" and mma.a == mma.b}
    return next((name for name in names if name in found), None)


@dataclass(frozen=True)
class Cell:
    """One matmul for one chip."""

    chip: str
    type: str
    order: str
    rows: str
    tile: str
    warps: str
    splits: int

    @property
    def sizes(self) -> tuple[int, int, int]:
        m, n, k = (int(part) for part in self.tile.split("x"))
        return m, n, k

    @property
    def name(self) -> str:
        warps = "" if self.warps == "default" else f", {self.warps} warps"
        splits = "" if self.splits == 1 else f", K split by {self.splits}"
        return f"{self.type} {self.order} {self.rows} {self.tile}{warps}{splits}"

    @property
    def absent(self) -> str | None:
        """The reason why the cell does not exist."""
        target = targets.get(self.chip)
        if _operand(self.chip, self.type) is None:
            return f"{self.chip} does not have an MMA for {self.type} operands"
        m, n, _ = self.sizes
        # A kernel with the default number of warps may have more warps.
        warps = max(_PEER_WARPS) if self.warps == "default" else int(self.warps)
        accumulators = m * n // (warps * target.wave_size)
        if accumulators >= target.registers_per_thread:
            return (
                f"the accumulators of a {m}x{n} tile take {accumulators} registers per thread with {warps} warps; "
                f"{self.chip} has {target.registers_per_thread}"
            )
        return None

    def case(self) -> Matmul:
        m, n, k = self.sizes
        operand = _operand(self.chip, self.type)
        assert operand
        bytes_ = 4 if operand in ("f32", "tf32") else 2 if operand in ("f16", "bf16") else 1
        size = _SIZE + (8 // bytes_ if self.rows == "ragged" else 0)
        depth = -(-size // (k * self.splits)) * k
        result = {"i8": "i32", "f32": "f32", "tf32": "f32", "bf16": "bf16"}.get(self.type, "f16")
        if self.splits > 1:
            result = "i32" if self.type == "i8" else "f32"
        constants = {
            **dict.fromkeys("MNK", size),
            **dict(zip(("TM", "TN", "TK"), self.sizes, strict=True)),
            "A_COLUMNS": self.order[0] == "T",
            "B_COLUMNS": self.order[1] == "T",
            "SPLITS": self.splits,
            "LENGTH": depth,
            "TF32": self.type == "tf32",
        }
        target = targets.get(self.chip)
        # The number of threads of a kernel with the default number of warps does not matter.
        warps = [int(self.warps)] if self.warps != "default" else [w for w in _PEER_WARPS if self._has_registers(w)]
        return Matmul(
            name=self.name,
            kernel="matmul_grid",
            types=(*([{"tf32": "f32"}.get(operand, operand)] * 2), result),
            constants=constants,
            threads=warps[0] * target.wave_size,
            per=MACS,
            amount=m * n * depth / 4096,
            operand_type=self.type,
            is_default=self.warps == "default",
            peer_warps=tuple(warps),
        )

    def _has_registers(self, warps: int) -> bool:
        m, n, _ = self.sizes
        target = targets.get(self.chip)
        return m * n // (warps * target.wave_size) < target.registers_per_thread


@dataclass(frozen=True)
class Matmul(Case):
    """A matmul whose text is generated."""

    operand_type: str = ""
    is_default: bool = False
    """Whether our compiler chooses the number of warps."""
    peer_warps: tuple[int, ...] = ()
    """The numbers of warps that a peer is compiled with; the best one counts."""

    @property
    def operand(self) -> str:
        return self.operand_type

    @property
    def is_for_iree(self) -> bool:
        sizes = self.constants
        return self.is_default and (sizes["TM"], sizes["TN"], sizes["SPLITS"]) == (128, 128, 1)

    def source(self) -> str:
        sizes = self.constants
        return matmul(
            (sizes["M"], sizes["N"], sizes["K"]),
            (sizes["TM"], sizes["TN"], sizes["TK"]),
            self.types[0],
            words="tf32" if sizes["TF32"] else "",
            start="zero",
            result=self.types[2],
            columns_of_a=bool(sizes["A_COLUMNS"]),
            columns_of_b=bool(sizes["B_COLUMNS"]),
            splits=sizes["SPLITS"],
        )

    def warps(self, wave_size: int) -> int | Literal["auto"]:
        return "auto" if self.is_default else super().warps(wave_size)

    def jobs(self, chip: str, wave_size: int) -> list[dict[str, Any]]:
        (job,) = super().jobs(chip, wave_size)
        return [{**job, "options": {**job["options"], "num_warps": warps}} for warps in self.peer_warps]
