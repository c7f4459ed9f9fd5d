# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clusters: the cluster barrier and distributed shared memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ... import ir
from ...diagnostics import counted
from ...dialects.mosaic_gpu import AtomicOpType
from ..machine.engines import Copy, start
from ..machine.findings import Site
from ..machine.machine import Block, Group
from ..machine.memory import MemRef, Pointer, in_registers
from ..machine.synchronization import Wait
from ..translation.translator import Step, Translated, Translator, attribute, operation, vector_reader
from . import barriers
from .arith import type_of
from .registers import combining, enumerator

DIMENSIONS = ("x", "y", "z")


@operation("nvvm.cluster.arrive", "nvvm.cluster.arrive.relaxed")
def _arrive(op: ir.Operation, translator: Translator) -> Step:
    site, relaxed = translator.site(op), op.name.endswith("relaxed")

    def step(st: Group) -> None:
        st.arrive_at_cluster(site, relaxed)

    return step


@operation("nvvm.cluster.wait")
def _wait(op: ir.Operation, translator: Translator) -> Translated:
    site = translator.site(op)

    def waiting(st: Group) -> Any:
        meeting, cluster = st.cluster_arrival(site), st.block.cluster

        def describe() -> str:
            absent = [f"{agent.name} of block {agent.block.position}" for agent in cluster.missing(meeting)]
            return f"the cluster barrier; missing: {', '.join(absent)}"

        yield Wait(site, lambda: not cluster.missing(meeting), describe, lambda: meeting.clocks)
        st.acquire_cluster(meeting, site)

    return Translated(waiting, True)


def peer(st: Group, dimension: int, index: Any, site: Site) -> Any:
    """The block of the cluster that an op selects."""
    if isinstance(index, np.ndarray):
        st.stop("divergence", "threads of the warpgroup pass different block numbers; the number must be uniform", site)
    found = st.block.cluster.peer(st.block, dimension, int(index))
    if found is None:
        size = st.block.cluster.sizes[dimension]
        st.stop(
            "out-of-bounds",
            f"block {index} is outside the cluster, whose size is {size} along {DIMENSIONS[dimension]}",
            site,
        )
    return found


def there(block: Block, memory: MemRef) -> MemRef:
    """The same offset in the shared memory of a block."""
    return replace(memory, buffer=block.shared)


@operation("mosaic_gpu.get_cluster_ref")
def _get_cluster_ref(op: ir.Operation, translator: Translator) -> Step:
    source, index = translator.operands(op)
    dimension = attribute(op, "operandSegmentSizes")[1:].index(1)
    (result,) = translator.results(op)
    site = translator.site(op)

    def step(st: Group) -> None:
        st.v[result] = there(peer(st, dimension, st.v[index], site), st.v[source])

    return step


@operation("mosaic_gpu.async_store_smem")
def _async_store_smem(op: ir.Operation, translator: Translator) -> Translated:
    _, target, address, index = translator.operands(op)
    read = vector_reader(op, 0, translator)
    dimension, site = ir.IntegerAttr(op.attributes["cluster_dim"]).value, translator.site(op)
    dtype = type_of(op.operands[0].type)
    kind = enumerator(op, "atomic_type", AtomicOpType)
    combine = combining(kind, dtype) if kind else None

    def waiting(st: Group) -> Any:
        block = peer(st, dimension, st.v[index], site)
        destination = there(block, st.v[target])
        found = read(st)
        barrier = barriers.find(st, there(block, st.v[address]), site, "the copy")
        moment = (barrier.agent, barrier.phase + 1)
        if not st.touch(destination, True, "the copy", site, ("copy", site), stream=moment, atomic=combine is not None):
            return
        # All threads expect their bytes on the mbarrier that counts them.
        barrier.expect(found.nbytes)
        barrier.issued += found.nbytes
        copy = Copy(
            st, [(in_registers(found), destination)], site, combine=combine, barriers=[barrier], size=found.nbytes
        )
        start(st, copy, None, [] if combine else [destination])
        barriers.count_arrivals(st, barrier, st.threads, site)
        yield None

    return Translated(waiting, True)


REMOTE_ARRIVAL = (
    "{ .reg .b32 mapped_addr; @$0 mapa.shared::cluster.u32 mapped_addr, $1, $2; "
    "@$0 mbarrier.arrive.shared::cluster.b64 _, [mapped_addr]; }"
)


def remote_arrival(op: ir.Operation, translator: Translator) -> Translated:
    """Threads arrive on the mbarriers of the blocks with the given ranks in the cluster."""
    predicate, address, number = translator.operands(op)
    site = translator.site(op)

    def waiting(st: Group) -> Any:
        enabled = np.broadcast_to(np.asarray(st.v[predicate], np.bool_), st.lanes)
        numbers = np.broadcast_to(np.asarray(st.v[number]), st.lanes)[enabled]
        blocks = st.block.cluster.blocks
        for which in np.unique(numbers).tolist():
            if not 0 <= which < len(blocks):
                st.report(
                    "out-of-bounds",
                    f"the arrival targets block {which}, which is outside the cluster of {counted(len(blocks), 'block')}",
                    site,
                )
                continue
            place = Pointer(blocks[which].shared, barriers.place(st.v[address]))
            count = int((numbers == which).sum())
            st.dirty = True
            barrier = barriers.find(st, place, site, "the arrival", (st.agent, st.step))
            clocks = st.release() if count == st.lanes else st.alone()
            # The default scope is the block (PTX ISA, "mbarrier.arrive").
            barriers.count_arrivals(st, barrier, count, site, clocks, of_cluster=False)
        yield None

    return Translated(waiting, True)
