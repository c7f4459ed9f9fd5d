# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints, assertions, and facts that a kernel states."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ir, printing
from .interpreter import Interpreter, handles, located
from .values import Value, certain, element_type, integer


@handles("triton_xla.print")
def _print(run: Interpreter, op: Any, operands: list[Value]) -> None:
    text = ir.StringAttr(op.attributes["text"]).value
    if not operands:
        run.printed(f"tile {run.tile_number}: {text}")
    for number, value in enumerate(operands):
        label = f"{text} #{number}" if len(operands) > 1 else text
        for line in printing.tile_lines(
            run.tile_number, label, value.data, element_type(op.operands[number].type).mlir
        ):
            run.printed(line)


@handles("triton_xla.assert")
def _assert(run: Interpreter, op: Any, operands: list[Value]) -> None:
    holds = certain(operands[0], "the condition")
    if not np.all(holds):
        message = ir.StringAttr(op.attributes["message"]).value
        where = f" for element {np.argwhere(~holds)[0].tolist()}" if holds.ndim else ""
        raise located(op, f"tile {run.tile_number}: the assertion fails{where}: {message}")


@handles("triton_xla.assume")
def _assume(run: Interpreter, op: Any, operands: list[Value]) -> None:
    if not certain(operands[0], "the condition"):
        raise located(op, f"tile {run.tile_number}: the condition of 'triton_xla.assume' is false")


@handles("triton_xla.assume_multiple")
def _assume_multiple(run: Interpreter, op: Any, operands: list[Value]) -> Value:
    value, divisor = int(certain(operands[0], "the value")), integer(op, "divisor")
    if value % divisor:
        raise located(
            op,
            f"tile {run.tile_number}: the value {value} is not a multiple of {divisor}, although 'triton_xla.assume_multiple' states this",
        )
    return operands[0]
