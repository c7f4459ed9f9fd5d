# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inlined regions, calls and assertions of `scf`, `memref`, `func` and `cf`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..... import ir
from ....translation.translator import Step
from ...execution.code import ThreadTranslator, operation


@operation("scf.execute_region", "memref.alloca_scope")
def _execute(op: Any, tr: ThreadTranslator) -> None:
    results, region = tr.results(op), op.regions[0]
    if len(region.blocks) > 1:
        tr.blocks(region, results)
    else:
        tr.emit(tr.moves(tr.body(tr.only_block(region)), results))


@operation("cf.assert")
def _assert(op: Any, tr: ThreadTranslator) -> Step:
    (condition,), site = tr.operands(op), tr.site(op)
    message = ir.StringAttr(op.attributes["msg"]).value

    def step(st: Any) -> None:
        bad = np.broadcast_to(~np.asarray(st.v[condition], np.bool_), (st.lanes,))
        if st.mask is not None:
            bad = bad & st.mask
        if bad.any():
            st.report("assertion", f"assertion failed: {message}", site, int(bad.argmax()))

    return step
