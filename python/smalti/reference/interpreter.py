# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interpreter of one entry function, and the table of its operations."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import ir
from ..compiler.entry import describe
from ..diagnostics import Diagnostic, counted, source_location
from ..pace import MORE_TIME, check_time_limit
from .values import InterpreterError, Value

_REPORT_INTERVAL = 1.0
"""Seconds between two progress reports."""


Handler = Callable[["Interpreter", Any, list[Value]], "Sequence[Value] | Value | None"]
HANDLERS: dict[str, Handler] = {}


def handles(*names: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return register


def grid_of(entry: Any, arguments: Sequence[Value]) -> tuple[int, ...]:
    """The number of tiles in each dimension of the grid of an entry function, which may depend on the arguments."""
    if "grid" in entry.attributes:
        return tuple(int(size) for size in ir.DenseI64ArrayAttr(entry.attributes["grid"]))
    what = describe(entry)
    # The memory of the interpreter has elements, not bytes.
    of_elements = tuple(dataclasses.replace(argument, packed=1) for argument in what.arguments)
    return dataclasses.replace(what, arguments=of_elements).grid_sizes([argument.data for argument in arguments])


class Interpreter:
    """An interpreter of one entry function."""

    def __init__(
        self, entry: Any, time_limit: float | None = None, progress: Callable[[int, int], None] | None = None
    ) -> None:
        self.entry = entry
        self.printed: Callable[[str], None] = lambda line: None
        """Called with each line that the kernel prints."""
        self._values: dict[Any, Value] = {}
        self.tile_number = 0
        self.grid: tuple[int, ...] = ()
        """The number of tiles in each dimension."""
        self.operation_number = 0
        """The number of atomic operations that ran."""
        check_time_limit(time_limit)
        now = time.monotonic()
        self._time_limit, self._progress = time_limit, progress
        self._deadline = now + time_limit if time_limit is not None else math.inf
        self._next_check = min(now + _REPORT_INTERVAL, self._deadline)
        self._done, self._total = 0, 0

    def run(self, arguments: Sequence[Value], blocks: range | None = None) -> None:
        """Runs all tiles, or those of `blocks`. Memrefs in `arguments` are changed in place."""
        self.grid = grid_of(self.entry, arguments)
        tiles = range(math.prod(self.grid))
        if blocks is not None:
            tiles = tiles[blocks.start : blocks.stop]
        self._total = len(tiles)
        for tile in tiles:
            self.run_tile(arguments, tile)
            self._done += 1
            self._report()

    def run_tile(self, arguments: Sequence[Value], tile: int) -> None:
        """Runs one tile. Tiles are numbered in row-major order of their ids."""
        self._values = {}
        self.tile_number = tile
        self.grid = self.grid or grid_of(self.entry, arguments)
        ids = [Value(np.asarray(number, np.int64)) for number in np.unravel_index(tile, self.grid)]
        self.run_block(self.entry.regions[0].blocks[0], [*arguments, *ids])

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total)

    def _tick(self, operation: Any) -> None:
        """Called before each operation. Stops a run that reached its time limit, and reports progress."""
        now = time.monotonic()
        if now < self._next_check:
            return
        if now >= self._deadline:
            message = (
                f"the reference interpreter reached the time limit of {self._time_limit:g} s at this op; {self._done} of "
                f"{counted(self._total, 'tile')} completed"
            )
            error = located(operation, message)
            error.hint = MORE_TIME
            raise error
        self._next_check = min(now + _REPORT_INTERVAL, self._deadline)
        self._report()

    def run_block(self, block: Any, arguments: Sequence[Value]) -> tuple[str, list[Value]]:
        """Runs `block`; returns the name and the operands of its terminator."""
        for argument, value in zip(block.arguments, arguments, strict=True):
            self._values[argument] = value
        operation = None
        operands: list[Value] = []
        for view in block.operations:
            operation = view.operation
            operands = [self._values[operand] for operand in operation.operands]
            self._tick(operation)
            if operation.name in ("scf.yield", "scf.condition", "triton_xla.return", "triton_xla.yield"):
                break
            self._run_operation(operation, operands)
        return (operation.name if operation else "", operands)

    def define(self, name: Any, value: Value) -> None:
        """Sets an SSA value."""
        self._values[name] = value

    def value_of(self, name: Any) -> Value:
        """An SSA value."""
        return self._values[name]

    def run_operation(self, operation: Any) -> None:
        """Runs one operation, whose operands have values."""
        self._run_operation(operation, [self._values[operand] for operand in operation.operands])

    def _run_operation(self, operation: Any, operands: list[Value]) -> None:
        try:
            with np.errstate(all="ignore"):
                results = HANDLERS[operation.name](self, operation, operands)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise located(operation, f"the reference interpreter cannot execute '{operation.name}': {error}") from error
        if results is None:
            results = ()
        elif isinstance(results, Value):
            results = (results,)
        for result, value in zip(operation.results, results, strict=True):
            self._values[result] = value


def located(operation: Any, message: str) -> InterpreterError:
    return InterpreterError("", diagnostics=[Diagnostic("error", message, source_location(operation.location))])
