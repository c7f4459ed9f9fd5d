"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ir
from ..engines import Product, happens_at_issue, multiply
from ..memory import MemRef, Registers
from ..program import Step, Translated, Translator, Unsupported, attribute, operation, vector_reader
from .arith import type_of


@operation("mosaic_gpu.mma")
def _mma(op: Any, translator: Translator) -> Step:
    accumulator, a, b = (vector_reader(op, i, translator) for i in range(3))
    for operand in op.operands:
        type_of(operand.type)
    (result,) = translator.results(op)
    # Without the permission the elements are not rounded.
    tf32 = attribute(op, "allow_tf32", False) and type_of(op.operands[1].type) == np.float32

    def step(st: Any) -> None:
        start = accumulator(st)
        st.v[result] = multiply(start, a(st), b(st), tf32) if st.machine.how.numbers else start

    return step


@operation("mosaic_gpu.wgmma")
def _wgmma(op: Any, translator: Translator) -> Translated:
    accumulator, a, b = translator.operands(op)
    (result,) = translator.results(op)
    site = translator.site(op)
    for operand in op.operands:
        type_of(operand.type)
    in_registers = not isinstance(op.operands[1].type, ir.MemRefType)
    read_a = vector_reader(op, 1, translator)

    def waiting(st: Any) -> Any:
        stream = st.products
        left = read_a(st) if in_registers else st.v[a]
        moment = (stream.agent, stream.next)
        for memory in (st.v[b],) if in_registers else (left, st.v[b]):
            # All threads start it together, after what each of them has done.
            if not st.touch(memory, False, "the product", site, "product", stream=moment, asynchronous=True):
                st.stop("out-of-bounds", "the product cannot be done", site)
        start = st.v[accumulator]
        if start.__class__ is Registers and start.product is not None and start.product not in _in_flight(stream):
            start = vector_reader(op, 0, translator)(st)
        product = Product(st, start, left, st.v[b], site)
        stream.open.append(product)
        if happens_at_issue(st):
            product.complete()
        st.v[result] = product.result
        yield None

    return Translated(waiting, True)


def _in_flight(stream: Any) -> list[Any]:
    return [*stream.open, *(work for works in stream.groups.values() for work in works)]


@operation("nvvm.wgmma.fence.aligned")
def _fence(op: Any, translator: Translator) -> None:
    return None


@operation("nvvm.wgmma.commit.group.sync.aligned")
def _commit(op: Any, translator: Translator) -> Step:
    def step(st: Any) -> None:
        st.products.commit()

    return step


@operation("nvvm.wgmma.wait.group.sync.aligned")
def _wait(op: Any, translator: Translator) -> Step:
    left, site = attribute(op, "group"), translator.site(op)

    def step(st: Any) -> None:
        stream = st.products
        upto = stream.committed - left
        if upto > 0:
            st.waits_for_groups(stream, upto, site)
            stream.complete(upto)
            # The four warps start each product together, so that all know when one does.
            st.known.seen[stream.agent] = max(upto, st.known.seen.get(stream.agent, 0))

    return step


__all__ = ["MemRef", "Unsupported"]
