# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inline assembly and external functions: the interpreter runs their references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .interpreter import Interpreter, handles
from .reductions import apply
from .values import Value


@handles("triton_xla.inline_asm", "triton_xla.extern_call")
def _external(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    blocks = op.regions[0].blocks
    if not len(blocks):
        raise ValueError(
            "it is code for a GPU; add a reference, that is, a region or a Python function (reference=) with the same result"
        )
    return apply(run, blocks[0], operands)
