# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wgmma`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ir
from ..machine.engines import Matmul, multiply, start
from ..machine.findings import Site
from ..machine.machine import Group
from ..machine.memory import Registers
from ..machine.values import element_type
from ..translation.translator import Step, Translated, Translator, attribute, operation, vector_reader
from .arith import type_of


def _signs(op: ir.Operation) -> tuple[bool, bool]:
    return "unsigned_a" in op.attributes, "unsigned_b" in op.attributes


@operation("mosaic_gpu.mma")
def _mma(op: ir.Operation, translator: Translator) -> Step:
    accumulator, a, b = (vector_reader(op, i, translator) for i in range(3))
    for operand in op.operands:
        type_of(operand.type)
    (result,) = translator.results(op)
    site = translator.site(op)
    # Without the attribute the elements are not rounded to tf32.
    tf32 = attribute(op, "allow_tf32", False) and type_of(op.operands[1].type) == np.float32
    element = "tf32" if tf32 else str(element_type(op.operands[1].type))
    unsigned = _signs(op)

    def step(st: Group) -> None:
        before = accumulator(st)
        left, right = a(st), b(st)
        if st.machine.recorder is not None:
            macs = left.shape[0] * left.shape[1] * right.shape[1]
            end = st.machine.recorder.mma(st, element, macs, site)
            st.machine.recorder.wait(st, end, site)
        st.v[result] = multiply(before, left, right, tf32, unsigned) if st.machine.how.numbers else before

    return step


@operation("mosaic_gpu.wgmma")
def _wgmma(op: ir.Operation, translator: Translator) -> Translated:
    accumulator, a, b = translator.operands(op)
    (result,) = translator.results(op)
    site = translator.site(op)
    for operand in op.operands:
        type_of(operand.type)
    unsigned = _signs(op)
    in_registers = not isinstance(op.operands[1].type, ir.MemRefType)
    read_accumulator, read_a = (vector_reader(op, i, translator) for i in range(2))

    def waiting(st: Group) -> Any:
        stream = st.wgmmas
        left = read_a(st) if in_registers else st.v[a]
        moment = (stream.agent, stream.next)
        for memory in (st.v[b],) if in_registers else (left, st.v[b]):
            # All threads issue it together, after their own accesses.
            if not st.touch(memory, False, "the wgmma", site, "wgmma", stream=moment, asynchronous=True):
                st.stop(
                    "out-of-bounds",
                    "an operand of the wgmma is out of bounds (see the previous finding); the simulation stops here",
                    site,
                )
        before = st.v[accumulator]
        if not in_registers:
            # With operand A in registers the op includes the fence.
            _needs_fence(st, before, site)
        if before.__class__ is Registers and before.wgmma is not None and before.wgmma not in stream.in_flight():
            before = read_accumulator(st)
        wgmma = Matmul(st, before, left, st.v[b], unsigned, site)
        start(st, wgmma, stream)
        st.v[result] = wgmma.result
        yield None

    return Translated(waiting, True)


@operation("nvvm.wgmma.fence.aligned")
def _fence(op: ir.Operation, translator: Translator) -> Step:
    site = translator.site(op)

    def step(st: Group) -> None:
        st.register_fences = (site, list(st.v), st.register_fences[1])

    return step


def _needs_fence(st: Group, value: Any, site: Site) -> None:
    """Checks that a fence follows the write of the accumulator, unless a `wgmma` wrote it."""
    if value.__class__ is Registers:
        return
    fence, ordered, before = st.register_fences
    if not any(value is other for other in ordered):
        hint = "execute nvvm.wgmma.fence.aligned between the write of these registers and the wgmma"
        st.report("missing-fence", "the wgmma may not see writes to its accumulator registers", site, hint=hint)
    elif not any(value is other for other in before):
        st.machine.effective.add((fence.number, "removed"))
