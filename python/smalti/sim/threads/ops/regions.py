"""Regions that run where they stand, jumps by numbers, and promises: of `scf`, `memref` and `cf`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ir
from ...translator import Step, attribute
from ..code import ThreadTranslator, operation
from .control import jump, part


@operation("scf.execute_region", "memref.alloca_scope")
def _execute(op: Any, tr: ThreadTranslator) -> None:
    results = tr.results(op)
    tr.emit(tr.moves(tr.body(tr.only_block(op.regions[0])), results))


@operation("cf.switch")
def _switch(op: Any, tr: ThreadTranslator) -> None:
    flag, *rest = tr.operands(op)
    site, counts = tr.site(op), list(attribute(op, "case_operand_segments", []))
    default = len(rest) - sum(counts)
    cases = [int(n) for n in ir.DenseIntElementsAttr(op.attributes["case_values"])] if counts else []
    ways, at = [], 0
    for target, count in zip(op.successors, (default, *counts), strict=True):
        move = tr.moves(rest[at : at + count], [tr.slot(argument) for argument in target.arguments])
        ways.append(jump(move, tr.labels[target], site))
        at += count
    places = dict(zip(cases, ways[1:], strict=True))

    def branch(st: Any) -> int:
        value = st.v[flag]
        chosen = st.uniform(value)
        return part(st, value, site) if chosen is None else places.get(chosen, ways[0])(st)

    tr.control(branch)


@operation("cf.assert")
def _assert(op: Any, tr: ThreadTranslator) -> Step:
    (condition,), site = tr.operands(op), tr.site(op)
    message = ir.StringAttr(op.attributes["msg"]).value

    def step(st: Any) -> None:
        bad = np.broadcast_to(~np.asarray(st.v[condition], np.bool_), (st.lanes,))
        if st.mask is not None:
            bad = bad & st.mask
        if bad.any():
            st.report("assertion", f"the assertion does not hold: {message}", site, int(bad.argmax()))

    return step
