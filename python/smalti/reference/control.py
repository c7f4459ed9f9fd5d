# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control flow: the operations of `scf`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ir
from .interpreter import Interpreter, handles, located
from .values import Value, certain, element_type, integer, unsigned_of, width_of, wrap


@handles("scf.for")
def _for(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    bits = width_of(element_type(op.operands[0].type))
    unsigned = "unsignedCmp" in op.attributes
    bounds = [certain(v, "a bound of the loop") for v in operands[:3]]
    lower, upper, step = (int(unsigned_of(b, bits) if unsigned else b) for b in bounds)
    if step <= 0:
        raise located(op, f"the loop step is {step}; it must be positive")
    if (iterations := range(lower, upper, step)) and iterations[-1] + step >= 1 << (bits if unsigned else bits - 1):
        raise located(
            op,
            f"the induction variable of the loop from {lower} to {upper} with step {step} overflows before the loop exits; use a lower upper bound",
        )
    carried = operands[3:]
    for induction in iterations:
        value = Value(wrap(np.asarray(induction), bits))
        _, carried = run.run_block(op.regions[0].blocks[0], [value, *carried])
    return carried


@handles("scf.if")
def _if(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    region = op.regions[0 if certain(operands[0], "the condition") else 1]
    return run.run_block(region.blocks[0], [])[1] if len(region.blocks) else ()


@handles("scf.while")
def _while(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    while True:
        condition, *operands = run.run_block(op.regions[0].blocks[0], operands)[1]
        if not certain(condition, "the condition"):
            return operands
        operands = run.run_block(op.regions[1].blocks[0], operands)[1]


@handles("scf.index_switch")
def _index_switch(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    cases = [int(case) for case in ir.DenseI64ArrayAttr(op.attributes["cases"])]
    selected = int(certain(operands[0], "the case"))
    region = op.regions[1 + cases.index(selected) if selected in cases else 0]
    return run.run_block(region.blocks[0], [])[1]


@handles("triton_xla.num_tiles")
def _num_tiles(run: Interpreter, op: Any, operands: list[Value]) -> Value:
    return Value(np.asarray(run.grid[integer(op, "dim")], np.int64))
