# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with undefined results in MLIR: targets need not agree with the reference on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from smalti import ir, reference
from smalti.reference import Value

_DIVISIONS = ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.ceildivsi", "arith.ceildivui",
              "arith.floordivsi")  # fmt: skip
_SHIFTS = ("arith.shli", "arith.shrsi", "arith.shrui")
_TO_INTEGERS = ("arith.fptosi", "arith.fptoui")


MOST_STEPS = 20_000
"""Runs of blocks, in all tiles."""
MOST_MULTIPLICATIONS = 1 << 30
"""For all matmuls."""


class Endless(Exception):
    """The program runs for too long."""


class _Observer(reference.Interpreter):
    """The reference interpreter, looking at operands."""

    reason = ""
    steps = 0
    multiplications = 0

    def run_block(self, block: Any, arguments: Sequence[Value]) -> tuple[str, list[Value]]:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Endless
        return super().run_block(block, arguments)

    def _run_operation(self, operation: Any, operands: list[Value]) -> None:
        name = operation.name
        if name == "triton_xla.dot":
            self.multiplications += operands[0].data.size * operands[1].data.shape[-1]
            if self.multiplications > MOST_MULTIPLICATIONS:
                raise Endless
        if name in _DIVISIONS and np.any(np.asarray(operands[1].data) == 0):
            self.reason = f"{name} by zero"
        elif name in _SHIFTS and np.any((shift := np.asarray(operands[1].data)) >= _bits(operation)) | np.any(
            shift < 0
        ):
            self.reason = f"{name} by more than the width"
        elif name in _TO_INTEGERS:
            limit = 2.0 ** _bits(operation)
            if not np.all(np.abs(np.asarray(operands[0].data, np.float64)) < limit / 2):
                self.reason = f"{name} of a value out of range"
        elif "overflowFlags" in operation.attributes and "none" not in str(operation.attributes["overflowFlags"]):
            self.reason = f"{name} with flags of overflow"
        super()._run_operation(operation, operands)


def _bits(operation: Any) -> int:
    ty = operation.results[0].type
    element = ty.element_type if isinstance(ty, ir.ShapedType) else ty
    return 64 if isinstance(element, ir.IndexType) else ir.IntegerType(element).width


def _tiles(entry: Any) -> range:
    return range(ir.IntegerAttr(entry.attributes["num_tiles"]).value)


def behavior(entry: Any, values: Sequence[Any]) -> str:
    """The operation of the program that MLIR does not define, or an empty string."""
    observer = _Observer(entry)
    memory = [reference.load(np.asarray(value)) for value in values]
    try:
        for tile in _tiles(entry):
            observer.run_tile(memory, tile)
    except Endless:
        return f"more than {MOST_STEPS} runs of blocks, or {MOST_MULTIPLICATIONS} multiplications"
    return observer.reason


def order(entry: Any, values: Sequence[Any]) -> str:
    """How the result depends on the order in which tiles run, or an empty string."""
    observer = _Observer(entry)
    results = []
    for tiles in (_tiles(entry), reversed(_tiles(entry))):
        memory = [reference.load(np.asarray(value)) for value in values]
        counts = [np.zeros(value.data.shape, np.int64) for value in memory]
        for tile in tiles:
            before = [np.copy(value.data) for value in memory]
            observer.run_tile(memory, tile)
            for value, old, count in zip(memory, before, counts, strict=True):
                count += (value.data != old) & ~((value.data != value.data) & (old != old))
        if any(np.any(count > 1) for count in counts):
            return "two tiles write one element"
        results.append(memory)
    for one, other in zip(*results, strict=True):
        if not np.array_equal(one.data, other.data, equal_nan=one.data.dtype.kind == "f"):
            return "the result depends on the order of the tiles"
    return ""
