# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inline assembly and external functions of block-level kernels: the simulator runs their references."""

from __future__ import annotations

from ... import ir
from ..machine.machine import State
from ..machine.values import is_vector
from ..translation.translator import Step, Translator, Unsupported, operation, vector_reader
from .arith import held_type
from .reductions import elementwise


@operation("triton_xla.inline_asm", "triton_xla.extern_call")
def _external(op: ir.Operation, translator: Translator) -> Step:
    if not len(op.regions[0].blocks):
        raise Unsupported(
            "the op has code for a GPU and does not have a reference; add a reference, or use the emulator, which executes "
            "the code"
        )
    reference = elementwise(op, translator, [held_type(result.type) for result in op.results])
    readers = [vector_reader(op, index, translator) for index in range(len(op.operands))]
    results = translator.results(op)
    is_scalar = not is_vector(op.results[0].type)

    def step(st: State) -> None:
        found = reference(st, [read(st) for read in readers])
        for result, array in zip(results, found, strict=True):
            st.v[result] = array[()] if is_scalar else array

    return step
