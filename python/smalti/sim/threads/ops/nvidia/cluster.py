# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nvvm`: the cluster barrier, distributed shared memory, and stores that complete on an mbarrier (PTX ISA, "barrier.cluster",
"mapa", "st.async", "red.async")."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ....machine.engines import completes_immediately
from ....machine.synchronization import Wait
from ....ops.barriers import check_bytes, count_arrivals
from ....ops.cluster import REMOTE_ARRIVAL
from ....translation.translator import Step, Unsupported
from ...execution.block import Warp
from ...execution.code import ThreadTranslator, operation
from ...execution.engines import Work
from ...execution.lanes import Array, dtype_of, spread
from ...execution.memory import BLOCK_BITS, SHARED_BEGIN
from ...execution.ordering import CLUSTER
from ..arithmetic.llvm import IN_CLUSTER, address_space
from ..collective.gpu import whole_warps
from .assembly import assembly
from .mbarrier import by_barrier, find, home

MOST_BLOCKS = 16
"""The most blocks of a cluster."""

# ---------------------------------------------------------------------------------------------------------------------
# Cluster barrier
# ---------------------------------------------------------------------------------------------------------------------


@operation("nvvm.cluster.arrive", "nvvm.cluster.arrive.relaxed")
def _arrive(op: Any, tr: ThreadTranslator) -> Step:
    site, relaxed = tr.site(op), op.name.endswith("relaxed")

    def step(st: Any) -> None:
        whole_warps(st, "the cluster arrival", site)
        for warp in st.active_warps():
            warp.arrive_at_cluster(site, relaxed)

    return step


@operation("nvvm.cluster.wait")
def _wait(op: Any, tr: ThreadTranslator) -> None:
    site = tr.site(op)

    def wait(st: Any) -> Any:
        whole_warps(st, "the cluster wait", site)
        met = [(warp, warp.cluster_arrival(site)) for warp in st.active_warps()]
        cluster = st.block.cluster

        def missing() -> list[Warp]:
            return next((absent for _, meeting in met if (absent := cluster.missing(meeting))), [])

        def describe() -> str:
            absent = [f"{warp.name} of block {warp.block.position}" for warp in missing()]
            return f"the cluster barrier; missing: {', '.join(absent)}"

        yield Wait(site, lambda: not missing(), describe, lambda: met[0][1].clocks)
        for warp, meeting in met:
            warp.acquire_cluster(meeting, site)
            st.block.learns(warp)

    tr.blocking(wait)


# ---------------------------------------------------------------------------------------------------------------------
# Ids and mapped addresses
# ---------------------------------------------------------------------------------------------------------------------

_REGISTERS = {
    "cluster.ctaid": "cluster_block_id",
    "cluster.nctaid": "cluster_dim_blocks",
    "clusterid": "cluster_id",
    "nclusterid": "cluster_dim",
}


@operation(*(f"nvvm.read.ptx.sreg.{name}.{letter}" for name in _REGISTERS for letter in "xyz"))
def _register(op: Any, tr: ThreadTranslator) -> Step:
    name, _, letter = op.name.removeprefix("nvvm.read.ptx.sreg.").rpartition(".")
    place, dimension, (result,) = _REGISTERS[name], "xyz".index(letter), tr.results(op)

    def step(st: Any) -> None:
        st.v[result] = st.block.names[place][dimension]

    return step


@operation("nvvm.read.ptx.sreg.cluster.ctarank", "nvvm.read.ptx.sreg.cluster.nctarank")
def _rank(op: Any, tr: ThreadTranslator) -> Step:
    (result,), counts = tr.results(op), op.name.endswith("nctarank")

    def step(st: Any) -> None:
        blocks = st.block.cluster.blocks
        st.v[result] = len(blocks) if counts else blocks.index(st.block)

    return step


def address_in(number: Any, byte: Any) -> Any:
    """The address of a byte of the shared memory of a block in the cluster."""
    # Numbers that no block has stay such numbers.
    number = np.where((np.asarray(number) < 0) | (np.asarray(number) >= MOST_BLOCKS), MOST_BLOCKS, number)
    found = (number.astype(np.int64) + 1 << BLOCK_BITS) + (byte & ((1 << BLOCK_BITS) - 1))
    return found if np.ndim(found) else int(found)


@operation("nvvm.mapa")
def _mapa(op: Any, tr: ThreadTranslator) -> Step:
    (pointer, number), (result,) = tr.operands(op), tr.results(op)
    shift = 0 if address_space(op.operands[0].type) == 3 else SHARED_BEGIN

    def step(st: Any) -> None:
        st.v[result] = address_in(st.v[number], st.v[pointer] - shift) + shift

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Inline assembly
# ---------------------------------------------------------------------------------------------------------------------


@assembly(re.escape(REMOTE_ARRIVAL))
def _remote_arrival(op: Any, tr: ThreadTranslator, match: Any) -> Step:
    """Threads arrive on the mbarriers of the blocks with the given ranks in the cluster."""
    _ = match
    predicate, address, number = tr.operands(op)
    site = tr.site(op)

    def step(st: Any) -> None:
        places = address_in(st.v[number], st.v[address])
        for warp, place, lanes in by_barrier(st, places, st.v[predicate]):
            # Without a scope it is that of the block (PTX ISA, "mbarrier.arrive").
            barrier = find(warp, place, site, "the arrival", anywhere=True, at_once=True)
            told = warp.tells(lanes % st.block.warp_size)
            count_arrivals(warp, barrier, len(lanes), site, told, of_cluster=False)

    return step


class LaneStore(Work):
    """A store of bytes by each lane that completes on an mbarrier."""

    def __init__(self, st: Any, lanes: Array, target: Any, at: Array, values: Array, combine: Any, site: Any) -> None:
        super().__init__(st, site)
        self.threads = st.threads[lanes]
        self.loops = tuple(i[lanes] if isinstance(i, np.ndarray) else i for i in self.loops)
        self.target, self.values, self.combine = target, values, combine
        self.at = (at[:, None] + np.arange(values.shape[1]) * values.itemsize) // values.itemsize

    def poison(self) -> None:
        """Poisons the destination while the store is in flight."""
        if self.numbers and self.combine is None:
            self.target.typed(self.values.dtype)[self.at] = -1

    def complete(self) -> None:
        """Executes the store."""
        if self.numbers:
            there = self.target.typed(self.values.dtype)
            if self.combine is None:
                there[self.at] = self.values
            else:
                self.combine.at(there, self.at, self.values)
        for barrier in self.barriers:
            barrier.complete(self.values.nbytes, self.used)


_COUNTED = r"\.shared::cluster\.mbarrier::complete_tx::bytes"
_REDUCTIONS: dict[str, np.ufunc] = {"add": np.add, "min": np.minimum, "max": np.maximum}
_REDUCTIONS |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
_WORDS = {"u32": np.dtype(np.uint32), "s32": np.dtype(np.int32), "b32": np.dtype(np.int32)}


@assembly(rf"st\.async(?:\.weak)?{_COUNTED}(?:\.v([24]))?\.b32 \[\$0\], \{{?[$\d, ]+\}}?, \[\$\d\];")
def _store(op: Any, tr: ThreadTranslator, match: Any) -> Step:
    return _remote(op, tr, int(match[1] or 1), _WORDS["b32"], None)


@assembly(rf"red\.async\.relaxed\.cluster{_COUNTED}\.(add|min|max|and|or|xor)\.([usb]32) \[\$0\], \$1, \[\$2\];")
def _reduce(op: Any, tr: ThreadTranslator, match: Any) -> Step:
    return _remote(op, tr, 1, _WORDS[match[2]], _REDUCTIONS[match[1]])


def _remote(op: Any, tr: ThreadTranslator, count: int, word: np.dtype[Any], combine: np.ufunc | None) -> Step:
    """Every lane stores registers to a block of the cluster, on an mbarrier that counts the bytes."""
    target, *registers, address = tr.operands(op)
    pointers = (op.operands[0].type, op.operands[count + 1].type) if len(registers) == count else ()
    if not pointers or any(address_space(ty) != IN_CLUSTER for ty in pointers):
        found = ", ".join(str(value.type) for value in op.operands)
        raise Unsupported(
            f"the inline assembly has operands of types {found}; it must have two pointers to shared memory of "
            f"the cluster (!llvm.ptr<{IN_CLUSTER}>), and {count} registers between them"
        )
    if any(dtype_of(op.operands[1 + i].type) != np.dtype(np.int32) for i in range(count)):
        raise Unsupported("a register operand of the inline assembly is not i32; all register operands must be i32")
    site = tr.site(op)
    tr.uses_shared(word.itemsize)

    def step(st: Any) -> None:
        places = spread(st.v[target], np.dtype(np.int64), st.lanes)
        values = np.stack([spread(st.v[slot], np.dtype(np.int32), st.lanes) for slot in registers], -1).view(word)
        for warp, place, lanes in by_barrier(st, st.v[address]):
            barrier = find(warp, place, site, "the store", anywhere=True)
            block, _ = home(warp, place, site, "the store")
            numbers = np.unique(places[lanes] >> BLOCK_BITS).tolist()
            if any(home(warp, number << BLOCK_BITS, site, "the store")[0] is not block for number in numbers):
                warp.stop(
                    "assertion",
                    f"the destination of the store and {barrier.name} are in different blocks; the mbarrier must be in "
                    "the destination block",
                    site,
                )
            _start(st, warp, lanes, block.shared, places & ((1 << BLOCK_BITS) - 1), values, barrier, combine, site)

    return step


def _start(
    st: Any, warp: Warp, lanes: Array, buffer: Any, at: Array, values: Array, barrier: Any, combine: Any, site: Any
) -> None:
    mask = np.zeros(st.lanes, np.bool_)
    mask[lanes] = True
    steps, size = np.arange(values.shape[1]) * values.itemsize, values.itemsize
    mask = st.in_buffer(buffer, at, steps, size, mask, site, "the store", True)
    lanes = np.flatnonzero(mask)
    stream = (np.full(len(st.warps), barrier.agent, np.int32), np.full(len(st.warps), barrier.phase + 1, np.int32))
    level = CLUSTER if combine is not None else 0
    st.touch(buffer, at, steps, size, mask, True, "the store", site, stream=stream, level=level)
    store = LaneStore(st, lanes, buffer, at[lanes], values[lanes], combine, site)
    store.tells(barrier, warp)
    barrier.issued += store.values.nbytes
    check_bytes(warp, barrier, site, barrier.pending)
    if completes_immediately(st):
        store.complete()
        return
    store.poison()
    st.block.flights.append(store)
