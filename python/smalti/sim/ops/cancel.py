# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cluster launch control (PTX ISA, `clusterlaunchcontrol.try_cancel`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ir
from ..machine.engines import Copy, start
from ..machine.machine import Group
from ..machine.memory import MemRef, in_registers
from ..machine.races import SAME
from ..translation.translator import Step, Translated, Translator, operation
from . import barriers
from .cluster import there

BYTES = 16
"""The bytes of a response."""


def _answer(st: Group) -> np.ndarray[Any, Any]:
    """A response: the position of the cluster's first block, and whether there is one. The hardware's encoding is
    opaque."""
    found = st.machine.cancel(st.block.cluster)
    return np.array([*(found or (-1, -1, -1)), found is not None], np.int32).view(np.int8)


@operation("mosaic_gpu.try_cluster_cancel")
def _try_cluster_cancel(op: Any, translator: Translator) -> Translated:
    result, address, *predicate = translator.operands(op)
    site = translator.site(op)
    translator.uses_shared(BYTES)

    def waiting(st: Group) -> Any:
        if predicate and not np.any(st.v[predicate[0]]):
            return
        cluster = st.block.cluster
        if cluster.refused:
            # The behavior is undefined (PTX, clusterlaunchcontrol.try_cancel).
            hint = "stop requesting clusters after such a response; a further request is undefined behavior"
            st.report(
                "assertion",
                "the op requests another cluster, although the response to an earlier request stated that none is left",
                site,
                hint=hint,
            )
        moves, counting, places = [], [], []
        data = in_registers(_answer(st))
        # Each block of the cluster receives the response, on an mbarrier of its own.
        for block in cluster.blocks:
            place = there(block, st.v[result])
            barrier = barriers.find(st, there(block, _memory(st.v[address])), site, "the response")
            moment = (barrier.agent, barrier.phase + 1)
            if not st.touch(place, True, "the response", site, st.elected(), stream=moment, asynchronous=True):
                return
            barrier.issued += BYTES
            barriers.check_bytes(st, barrier, site, barrier.pending)
            counting.append(barrier)
            moves.append((data, place))
            places.append(place)
        copy = Copy(st, moves, site, barriers=counting, size=BYTES)
        # The control flow depends on the response, also without data.
        copy.numbers = True
        start(st, copy, None, places)
        yield None

    return Translated(waiting, True)


def _memory(value: Any) -> MemRef:
    """The address of an mbarrier as memory."""
    return MemRef(value.buffer, barriers.place(value), (), (), np.dtype(np.int64))


@operation("mosaic_gpu.query_cluster_cancel")
def _query_cluster_cancel(op: ir.Operation, translator: Translator) -> Step:
    (source,), results = translator.operands(op), translator.results(op)
    site = translator.site(op)
    translator.uses_shared(BYTES)

    def step(st: Group) -> None:
        memory = st.v[source]
        found = [-1, -1, -1, 0]
        if st.touch(memory, False, "the query", site, SAME):
            found = np.ascontiguousarray(memory.array()).view(np.int32).tolist()
        success = found[3] == 1
        if not success:
            st.block.cluster.refused = True
        for result, value in zip(results, (*found[:3], int(success)), strict=True):
            st.v[result] = value

    return step
