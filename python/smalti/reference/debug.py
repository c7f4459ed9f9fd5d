# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints, assertions, and facts that a kernel states."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ir
from .interpreter import Interpreter, handles, located
from .values import Value, certain, integer


@handles("triton_xla.print")
def _print(run: Interpreter, op: Any, operands: list[Value]) -> None:
    start = f"tile {run.tile_number}: {ir.StringAttr(op.attributes['text']).value}"
    if not operands:
        run.printed(start)
    for value in operands:
        for position in np.ndindex(value.data.shape):
            where = f"[{', '.join(map(str, position))}]" if position else ""
            run.printed(f"{start}{where} {value.data[position].item()}")


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
