# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control flow: the operations of `scf`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .interpreter import Interpreter, handles, located
from .values import Value


@handles("scf.for")
def _for(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    lower, upper, step = (int(v.data) for v in operands[:3])
    if step <= 0:
        raise located(op, f"the loop step is {step}; it must be positive")
    carried = operands[3:]
    for induction in range(lower, upper, step):
        _, carried = run.run_block(op.regions[0].blocks[0], [Value(np.asarray(induction, np.int64)), *carried])
    return carried


@handles("scf.if")
def _if(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    region = op.regions[0 if operands[0].data else 1]
    return run.run_block(region.blocks[0], [])[1] if len(region.blocks) else ()


@handles("scf.while")
def _while(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    while True:
        condition, *operands = run.run_block(op.regions[0].blocks[0], operands)[1]
        if not condition.data:
            return operands
        operands = run.run_block(op.regions[1].blocks[0], operands)[1]
