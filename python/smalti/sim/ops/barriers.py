# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`mosaic_gpu` and `nvvm`: mbarriers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ir
from ...diagnostics import counted
from ..machine.agents import Agent
from ..machine.clocks import HappensBefore
from ..machine.findings import Site
from ..machine.machine import Group
from ..machine.memory import MemRef, Pointer
from ..machine.races import SAME, Access
from ..machine.synchronization import MOST_ARRIVALS, Mbarrier, Wait
from ..translation.translator import Step, Translated, Translator, attribute, operation
from .memref import BARRIER_BYTES


def place(value: Any) -> int:
    """The byte of shared memory of an mbarrier."""
    assert isinstance(value, (MemRef, Pointer))
    return value.offset


def find(st: Group, value: Any, site: Site, what: str, *published: tuple[int, int]) -> Mbarrier:
    """The mbarrier at an address. Its initialization must be visible to the group. An operation on the mbarrier of
    another block is complete for an agent that is ordered after its phase, or after a step of an agent in `published`."""
    at = place(value)
    memory = value.buffer
    barrier = memory.block.barriers.get(at)
    if barrier is None:
        hint = "initialize the mbarrier with mosaic_gpu.initialize_barrier, and execute gpu.barrier after that"
        st.stop("barrier", f"{what} uses byte {at} of {memory.name}, where no mbarrier is initialized", site, hint)
        raise AssertionError
    if not st.sees_initialization(barrier):
        st.report(
            "barrier",
            f"{what} uses {barrier.name}; its initialization by {barrier.initialized.group.name} is not ordered "
            "before this use",
            site,
            hint="execute gpu.barrier after the initialization",
            others=[barrier.begin("barrier")],
        )
    if memory.block is not st.block:
        st.access_remote(memory.block, what, site, (barrier.agent, barrier.phase + 1), *published)
    return barrier


def _initialize(
    count: Callable[[Any], int], number: int, address: int, site: Site, scale: bool, predicate: int | None = None
) -> Step:
    def step(st: Group) -> None:
        # One thread of the block executes it.
        if st.index if predicate is None else not np.any(st.v[predicate]):
            return
        first = place(st.v[address])
        for i in range(number):
            at = first + i * BARRIER_BYTES
            if at % BARRIER_BYTES or at + BARRIER_BYTES > st.block.shared.data.size:
                st.report(
                    "out-of-bounds",
                    f"the mbarrier is at byte {at} of shared memory, which has {st.block.shared.data.size} B; the address must be a "
                    f"multiple of {BARRIER_BYTES} B, and the {BARRIER_BYTES} B of the mbarrier must be inside",
                    site,
                )
                continue
            memory = MemRef(st.block.shared, at, (), (), np.dtype(np.int64))
            st.next_step()
            st.touch(memory, True, "the initialization of an mbarrier", site, SAME)
            unit = st.threads if scale else 1
            if not may_initialize(st, at, count(st) * unit, site):
                continue
            access = Access(st.agent, st.step, SAME, "the initialization", True, False, st, site)
            st.next_step()
            name = f"mbarrier {i} of the array at byte {first}" if number > 1 else f"the mbarrier at byte {at}"
            st.block.barriers[at] = Mbarrier(st.machine.agent(), name, at, count(st) * unit, access, unit)

    return step


def may_initialize(st: Agent, at: int, count: int, site: Site) -> bool:
    """Whether an mbarrier with this arrival count can be initialized at a byte of shared memory."""
    if not 0 < count <= MOST_ARRIVALS:
        st.report("barrier", f"the arrival count is {count}; it must be between 1 and {MOST_ARRIVALS}", site)
        return False
    there = st.block.barriers.get(at)
    if there is not None:
        st.report(
            "barrier",
            f"{there.name} is initialized twice",
            site,
            hint="execute nvvm.mbarrier.inval before the second initialization",
        )
        there.ends(st, "the initialization", site)
    return True


@operation("mosaic_gpu.initialize_barrier")
def _initialize_barrier(op: ir.Operation, translator: Translator) -> Step:
    (address,) = translator.operands(op)
    # Single threads arrive on barriers for the tensor core.
    scale = not attribute(op, "orders_tensor_core", False)
    arrivals, number = attribute(op, "arrival_count"), attribute(op, "num_barriers")
    translator.uses_shared(BARRIER_BYTES)
    return _initialize(lambda st: arrivals, number, address, translator.site(op), scale)


def count_arrivals(
    st: Agent, barrier: Mbarrier, count: int, site: Site, clocks: HappensBefore | None = None, of_cluster: bool = True
) -> None:
    """Arrivals of this many threads of the group, which publish the clocks of all threads, or `clocks`; with
    `of_cluster` at cluster scope too."""
    if clocks is None:
        # All threads arrive, so barriers among them are not needed for what they publish.
        st.mark_effective(lambda threads: not 0 < threads <= st.threads)
    else:
        st.mark_effective()
    if barrier.pending < count:
        st.report(
            "barrier",
            f"too many arrivals: {counted(count, 'thread arrives', 'threads arrive')} on {barrier.name}, and phase {barrier.phase} needs "
            f"{barrier.pending} more "
            f"of {barrier.count}",
            site,
            hint="wait for the previous phase before this arrival, or initialize the mbarrier with a larger count",
        )
        count = barrier.pending
    check_bytes(st, barrier, site, barrier.pending - count)
    phase = barrier.phase
    # If all other arrivals happen before this one, so does the completion of the phase.
    known = st.known.used
    knows = not barrier.issued and all(known.get(agent, 0) >= n for agent, n in barrier.clocks.used.items())
    use = barrier.used(st, site)
    if known.get(barrier.agent, 0) < phase:
        barrier.report_ambiguous_arrival(use)
    barrier.last = use
    published: HappensBefore = st.release() if clocks is None else clocks
    published.used[st.agent] = known[st.agent]
    barrier.arrive(count, published, site, st.block, of_cluster)
    if knows and barrier.phase > phase:
        known[barrier.agent] = barrier.phase


def check_fence(st: Agent, barrier: Mbarrier, site: Site) -> None:
    """The initialization of an mbarrier must be visible to the async proxy before a copy signals it."""
    if barrier.fenced is None:
        st.report(
            "missing-fence",
            f"the copy signals {barrier.name}; the initialization may not be visible to the async proxy",
            site,
            hint="execute nvvm.fence.mbarrier.init after the initialization",
            others=[barrier.begin("missing-fence")],
        )
        barrier.fenced = site
    st.machine.effective.add((barrier.fenced.number, "removed"))


def check_bytes(st: Agent, barrier: Mbarrier, site: Site, pending: int) -> None:
    """At the last arrival of a phase, copies must not deliver more bytes than expected."""
    if pending == 0 and barrier.issued > barrier.expected:
        more = barrier.issued - barrier.expected
        st.report(
            "transaction",
            f"copies deliver {barrier.issued} B in phase {barrier.phase} of {barrier.name}, which expects "
            f"{barrier.expected} B",
            site,
            hint=f"expect {more} B more with arrive_expect_tx",
        )
        barrier.expect(more)


def tells_of_the_tensor_core(st: Group, site: Site) -> None:
    """`tcgen05.fence::before_thread_sync`: an agent that acquires a later release of the thread also acquires the
    issue order of its `tcgen05` operations. Its operations after `tcgen05.fence::after_thread_sync` execute after
    them."""
    stream = st.tensor
    if stream.open:
        stream.commit()
        st.block.cluster.begun[stream.reads, stream.committed] = site
        st.own[stream.reads] = stream.committed


@operation("mosaic_gpu.arrive")
def _arrive(op: ir.Operation, translator: Translator) -> Translated:
    (address,), site = translator.operands(op), translator.site(op)
    alone = attribute(op, "orders_tensor_core", False)

    def waiting(st: Group) -> Any:
        if alone:
            # One thread arrives after a barrier of all threads.
            tells_of_the_tensor_core(st, site)
            st.arrive_at_barrier(st.threads)
        count_arrivals(st, find(st, st.v[address], site, "the arrival"), 1 if alone else st.arrivals, site)
        yield None

    return Translated(waiting, True)


@operation("mosaic_gpu.arrive_expect_tx")
def _arrive_expect(op: ir.Operation, translator: Translator) -> Translated:
    address, *dynamic = translator.operands(op)
    site, size = translator.site(op), attribute(op, "expect_tx")

    def waiting(st: Group) -> Any:
        barrier = find(st, st.v[address], site, "the arrival")
        expected = int(st.v[dynamic[0]]) if dynamic else size
        if expected < 0:
            st.report("transaction", f"the number of expected bytes is {expected}; it must not be negative", site)
            expected = 0
        barrier.expect(expected)
        count_arrivals(st, barrier, st.arrivals, site)
        yield None

    return Translated(waiting, True)


def _wait(address: int, parity: int, site: Site) -> Translated:
    def waiting(st: Group) -> Any:
        barrier = find(st, st.v[address], site, "the wait")
        wanted = st.v[parity]
        if isinstance(wanted, np.ndarray):
            st.stop(
                "divergence",
                "threads of the warpgroup wait for different parities; the parity operand must be uniform",
                site,
            )
        wanted = int(wanted) & 1
        phases = barrier.wanted(st.known, wanted)

        def describe() -> str:
            number = barrier.phase
            return f"phase {number} (parity {wanted}) of {barrier.name}; outstanding: {barrier.missing()}"

        yield Wait(site, lambda: barrier.phase >= phases, describe, lambda: barrier.published_clocks(phases), barrier)
        st.acquire_phases(barrier, phases, site)

    return Translated(waiting, True)


@operation("mosaic_gpu.wait")
def _mosaic_wait(op: ir.Operation, translator: Translator) -> Translated:
    address, parity = translator.operands(op)
    return _wait(address, parity, translator.site(op))


@operation("nvvm.mbarrier.try_wait.parity")
def _try_wait(op: ir.Operation, translator: Translator) -> Translated:
    # The op without a result waits until the phase completes.
    address, parity, _ = translator.operands(op)
    return _wait(address, parity, translator.site(op))


@operation("nvvm.mbarrier.init")
def _init(op: ir.Operation, translator: Translator) -> Step:
    address, count, *predicate = translator.operands(op)
    translator.uses_shared(BARRIER_BYTES)
    return _initialize(lambda st: int(st.v[count]), 1, address, translator.site(op), False, *predicate)
