# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nvvm` and `nvgpu`: mbarriers and fences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....machine.clocks import SHARED, join
from ....machine.findings import Site
from ....machine.races import SAME, Access
from ....machine.synchronization import Mbarrier, Wait
from ....ops.barriers import BARRIER_BYTES, check_bytes, count_arrivals, may_initialize
from ....ops.gpu import fenced
from ....translation.translator import Step, attribute
from ...execution import ordering
from ...execution.block import Warp
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, spread
from ...execution.memory import BLOCK_BITS, SHARED_BEGIN
from ...execution.ordering import BLOCK, CLUSTER
from ..arithmetic.llvm import IN_CLUSTER, address_space

WIDE = np.dtype(np.int64)


class Barriers:
    """The mbarriers of `nvgpu.mbarrier.create`: the byte of the first one."""

    def __init__(self, first: int, number: int) -> None:
        self.first, self.number = first, number


def place_of(op: Any, tr: ThreadTranslator, index: int = 0, at: int = 1) -> Any:
    """A function that returns the address of an mbarrier from an operand: a pointer, or a `nvgpu` group and an index
    in it."""
    slot, ty = tr.slot(op.operands[index]), op.operands[index].type
    if str(ty).startswith("!llvm.ptr"):
        shift = 0 if address_space(ty) in (3, IN_CLUSTER) else SHARED_BEGIN
        return lambda st: st.v[slot] - shift
    which = tr.slot(op.operands[at])
    site = tr.site(op)

    def place(st: Any) -> Any:
        group: Barriers = st.v[slot]
        number = st.v[which]
        numbers = np.atleast_1d(number)
        outside = (numbers >= group.number) | (numbers < 0)
        if outside.any():
            message = f"mbarrier index {numbers[outside][0]} is out of bounds; the group has {group.number} mbarriers"
            st.stop("out-of-bounds", message, site)
        return group.first + number * BARRIER_BYTES

    return place


def home(warp: Warp, place: int, site: Site, what: str) -> tuple[Any, int]:
    """The block of an mbarrier address, and the byte of its shared memory."""
    if place < 1 << BLOCK_BITS:
        return warp.block, place
    number = (place >> BLOCK_BITS) - 1
    return warp.block.cluster.block(number, warp, what, site), place & ((1 << BLOCK_BITS) - 1)


def find(warp: Warp, place: int, site: Site, what: str, anywhere: bool = False, at_once: bool = False) -> Mbarrier:
    """The mbarrier at an address, which must be initialized before; of any block of the cluster with `anywhere`, else
    of the warp's own block. An operation on the mbarrier of another block is complete after its phase; with `at_once`,
    also after the step of the warp."""
    block, at = home(warp, place, site, what)
    of = "" if block is warp.block else f" of block {block.position}"
    barrier = block.barriers.get(at)
    if barrier is None:
        hint = f"initialize the mbarrier with nvvm.mbarrier.init, and execute {'nvvm.cluster.wait' if of else 'gpu.barrier'} after that"
        warp.stop(
            "barrier", f"{what} uses byte {at} of shared memory{of}, where no mbarrier is initialized", site, hint
        )
    if of and not anywhere:
        warp.stop(
            "barrier",
            f"{what} uses {barrier.name}{of}, but this operation supports only mbarriers of the same block",
            site,
        )
    if barrier not in warp.visible_barriers:
        warp.relies_on(barrier.initialized.agent, barrier.initialized.step)
    if barrier.initialized.group is not warp and not warp.sees_initialization(barrier):
        first = barrier.initialized.group.name
        warp.report(
            "barrier",
            f"{what} uses {barrier.name}{of}; its initialization by {first} is not ordered before this use",
            site,
            hint=f"execute {'nvvm.cluster.wait' if of else 'gpu.barrier'} after the initialization",
            others=[barrier.begin("barrier")],
        )
    if of:
        told = [(barrier.agent, barrier.phase + 1)]
        if at_once:
            warp.dirty = True
            told.append((warp.agent, warp.step))
        warp.access_remote(block, what, site, *told)
    return barrier


def by_barrier(st: Any, places: Any, enabled: Any = None) -> Iterator[tuple[Warp, int, Array]]:
    """For each warp and each byte address: the lanes."""
    running = np.ones(st.lanes, np.bool_) if st.mask is None else st.mask
    if enabled is not None:
        running = running & np.asarray(enabled, np.bool_)
    for index, warp in enumerate(st.warps):
        lanes = np.flatnonzero(running & (st.which == index))
        if not lanes.size:
            continue
        if not isinstance(places, np.ndarray):
            yield warp, int(places), lanes
            continue
        for at in np.unique(places[lanes]).tolist():
            yield warp, at, lanes[places[lanes] == at]


def initialize(st: Any, warp: Warp, lane: int, at: int, count: int, site: Site) -> None:
    """Initializes an mbarrier, with the operands of a lane."""
    block = st.block
    if at % BARRIER_BYTES or at < 0 or at + BARRIER_BYTES > block.shared.size:
        warp.report(
            "out-of-bounds",
            f"the mbarrier is at byte {at} of shared memory, which has {block.shared.size} B; the address must be a "
            f"multiple of {BARRIER_BYTES} B, and the {BARRIER_BYTES} B of the mbarrier must be inside",
            site,
        )
        return
    if not may_initialize(warp, at, count, site):
        return
    warp.next_step()
    _touch(st, at, lane, site, "the initialization of an mbarrier")
    access = Access(warp.agent, warp.step, SAME, "the initialization", True, False, warp, site)
    warp.next_step()
    made = block.barriers[at] = Mbarrier(block.new_agent(), f"the mbarrier at byte {at}", at, count, access)
    made.lane = lane % block.warp_size


def _touch(st: Any, at: int, lane: int, site: Site, what: str) -> None:
    """The access of a lane to the bytes of an mbarrier."""
    mask = np.zeros(st.lanes, np.bool_)
    mask[lane] = True
    buffer = st.block.shared
    steps = np.arange(0, BARRIER_BYTES, buffer.grain)
    st.touch(buffer, at, steps, buffer.grain, mask, True, what, site, marks=True)


@operation("nvvm.mbarrier.init", "nvgpu.mbarrier.init")
def _init(op: Any, tr: ThreadTranslator) -> Step:
    nvgpu = op.name.startswith("nvgpu")
    place, site = place_of(op, tr, 0, 2), tr.site(op)
    operands = tr.operands(op)
    predicate = operands[3 if nvgpu else 2] if len(operands) > (3 if nvgpu else 2) else None
    tr.uses_shared(BARRIER_BYTES)

    def step(st: Any) -> None:
        for warp, at, lanes in by_barrier(st, place(st), None if predicate is None else st.v[predicate]):
            count, lane = st.v[operands[1]], int(lanes[0])
            initialize(st, warp, lane, at, int(count[lane] if isinstance(count, np.ndarray) else count), site)

    return step


@operation("nvgpu.mbarrier.create")
def _create(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    text = str(op.results[0].type)
    number = int(text.partition("num_barriers =")[2].partition(">")[0].partition(",")[0]) if "num_b" in text else 1
    first = tr.allocate(number * BARRIER_BYTES)
    tr.uses_shared(BARRIER_BYTES)
    value = Barriers(first, number)

    def step(st: Any) -> None:
        st.v[result] = value

    return step


@operation("nvgpu.mbarrier.get")
def _get(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    place = place_of(op, tr)

    def step(st: Any) -> None:
        st.v[result] = place(st) + SHARED_BEGIN

    return step


def scope_of(op: Any) -> int:
    """The scope of an arrival or a wait; the default is the block (PTX ISA, "mbarrier.arrive",
    "mbarrier.test_wait")."""
    return CLUSTER if "scope" in op.attributes and "cluster" in str(op.attributes["scope"]) else BLOCK


def _arrival(
    op: Any, tr: ThreadTranslator, place: Any, count: int | None, bytes_slot: int | None, enabled: Any
) -> Step:
    site, results = tr.site(op), tr.results(op)
    partial, drops = "nocomplete" in op.name, "arrive_drop" in op.name
    relaxed, level = attribute(op, "relaxed", False), scope_of(op)

    def step(st: Any) -> None:
        phases: Any = np.zeros(st.lanes, WIDE) if results else None
        for warp, at, lanes in by_barrier(st, place(st), enabled(st)):
            barrier = find(warp, at, site, "the arrival", anywhere=True, at_once=True)
            if results:
                # The phase that a wait by this state waits for.
                phases[lanes] = barrier.phase
            if bytes_slot is not None:
                announced = spread(st.v[bytes_slot], WIDE, st.lanes)[lanes]
                if (announced < 0).any():
                    warp.report(
                        "transaction",
                        f"the number of expected bytes is {int(announced.min())}; it must not be negative",
                        site,
                    )
                barrier.expect(int(np.maximum(announced, 0).sum()))
            arrivals = len(lanes) if count is None else int(spread(st.v[count], WIDE, st.lanes)[lanes].sum())
            if partial and barrier.pending <= arrivals:
                message = f"an arrival with noComplete must not complete a phase, but completes phase {barrier.phase} of {barrier.name}"
                warp.report(
                    "barrier",
                    message,
                    site,
                    hint="let another arrival, ordered after the noComplete arrival, complete the phase",
                )
            # A thread that drops out does not count from the next phase on.
            barrier.count -= arrivals if drops else 0
            mine = lanes % st.block.warp_size
            told, least = ordering.published(warp, mine, level) if relaxed else (warp.tells(mine), level)
            count_arrivals(warp, barrier, arrivals, site, told, of_cluster=least >= CLUSTER)
        for slot in results:
            st.v[slot] = phases

    return step


def _always(st: Any) -> None:
    return None


@operation("nvvm.mbarrier.arrive", "nvvm.mbarrier.arrive_drop", "nvgpu.mbarrier.arrive")
@operation("nvvm.mbarrier.arrive.nocomplete", "nvvm.mbarrier.arrive_drop.nocomplete")
def _arrive(op: Any, tr: ThreadTranslator) -> Step:
    operands = tr.operands(op)
    count = operands[1] if op.name.startswith("nvvm") and len(operands) > 1 else None
    return _arrival(op, tr, place_of(op, tr), count, None, _always)


@operation("nvgpu.mbarrier.arrive.nocomplete")
def _arrive_partly(op: Any, tr: ThreadTranslator) -> Step:
    return _arrival(op, tr, place_of(op, tr), tr.operands(op)[2], None, _always)


@operation("nvvm.mbarrier.arrive.expect_tx", "nvvm.mbarrier.arrive_drop.expect_tx", "nvgpu.mbarrier.arrive.expect_tx")
def _arrive_expect(op: Any, tr: ThreadTranslator) -> Step:
    operands = tr.operands(op)
    nvgpu = op.name.startswith("nvgpu")
    place = place_of(op, tr, 0, 2)
    given = operands[3 if nvgpu else 2 :]
    enabled = (lambda st: st.v[given[0]]) if given else _always
    return _arrival(op, tr, place, None, operands[1], enabled)


@operation("nvvm.mbarrier.complete_tx")
def _complete(op: Any, tr: ThreadTranslator) -> Step:
    place, site = place_of(op, tr), tr.site(op)
    size = tr.operands(op)[1]

    def step(st: Any) -> None:
        for warp, at, lanes in by_barrier(st, place(st)):
            barrier = find(warp, at, site, "the complete_tx", anywhere=True, at_once=True)
            count = int(spread(st.v[size], WIDE, st.lanes)[lanes].sum())
            barrier.issued += count
            check_bytes(warp, barrier, site, barrier.pending)
            barrier.complete(count, warp.known.used)

    return step


@operation("nvvm.mbarrier.expect_tx")
def _expect(op: Any, tr: ThreadTranslator) -> Step:
    place, site = place_of(op, tr), tr.site(op)
    size = tr.operands(op)[1]

    def step(st: Any) -> None:
        for warp, at, lanes in by_barrier(st, place(st)):
            find(warp, at, site, "the expect_tx", anywhere=True, at_once=True).expect(
                int(spread(st.v[size], WIDE, st.lanes)[lanes].sum())
            )

    return step


def _wait(op: Any, tr: ThreadTranslator, place: Any, parity: int) -> None:
    """Waits for a phase; an op that tests it blocks until it is complete."""
    site, results = tr.site(op), tr.results(op)
    relaxed, level = attribute(op, "relaxed", False), scope_of(op)

    def wait(st: Any) -> Any:
        places, wanted = place(st), st.v[parity]
        if st.uniform(places) is None or st.uniform(wanted) is None:
            pairs = spread(places, WIDE, st.lanes) * 2 + (spread(wanted, WIDE, st.lanes) & 1)
            classes = st.of_units(pairs)
            if classes is not None and (classes != classes[0]).any():
                st.split(classes)
                return st.pc
        return waiting(st, places, wanted)

    def waiting(st: Any, places: Any, wanted: Any) -> Any:
        waits: list[tuple[Warp, Mbarrier, int, int]] = []
        for warp, at, lanes in by_barrier(st, places):
            barrier = find(warp, at, site, "the wait")
            for number in np.unique(spread(wanted, WIDE, st.lanes)[lanes] & 1).tolist():
                waits.append((warp, barrier, number, barrier.wanted(warp.known, number)))

        def missing() -> Iterator[tuple[Mbarrier, int]]:
            return ((barrier, number) for _, barrier, number, phases in waits if barrier.phase < phases)

        def describe() -> str:
            barrier, number = next(missing())
            return f"phase {barrier.phase} (parity {number}) of {barrier.name}; outstanding: {barrier.missing()}"

        while waits:
            barrier = next(missing(), (waits[0][1], 0))[0]
            yield Wait(site, lambda: not any(missing()), describe, lambda: waits[0][1].released, barrier)
            if not any(missing()):
                break
        for warp, barrier, _, phases in waits:
            if relaxed:
                told = barrier.published_clocks(phases, level >= CLUSTER)
                barrier.waited(warp, phases, site)
                # The phase is complete; a later acquire fence orders the accesses before its arrivals.
                join(warp.known.used, told.used)
                warp.noticed.append((st.lanes_of(warp), CLUSTER, ordering.Told(warp, CLUSTER, told, (site,))))
            else:
                warp.acquire_phases(barrier, phases, site, level >= CLUSTER)
            st.block.learns(warp)
        for slot in results:
            st.v[slot] = 1

    tr.blocking(wait)


@operation("nvvm.mbarrier.try_wait.parity", "nvvm.mbarrier.try_wait", "nvvm.mbarrier.test.wait")
def _try_wait(op: Any, tr: ThreadTranslator) -> None:
    _wait(op, tr, place_of(op, tr), tr.operands(op)[1])


@operation("nvgpu.mbarrier.try_wait.parity")
def _nvgpu_try_wait(op: Any, tr: ThreadTranslator) -> None:
    _wait(op, tr, place_of(op, tr, 0, 3), tr.operands(op)[1])


@operation("nvgpu.mbarrier.test.wait")
def _nvgpu_test_wait(op: Any, tr: ThreadTranslator) -> None:
    _wait(op, tr, place_of(op, tr, 0, 2), tr.operands(op)[1])


@operation("nvvm.mbarrier.inval")
def _invalidate(op: Any, tr: ThreadTranslator) -> Step:
    place, site = place_of(op, tr), tr.site(op)

    def step(st: Any) -> None:
        for warp, at, lanes in by_barrier(st, place(st)):
            find(warp, at, site, "the invalidation").ends(warp, "the invalidation", site)
            byte = home(warp, at, site, "")[1]
            del st.block.barriers[byte]
            _touch(st, byte, int(lanes[0]), site, "the invalidation of an mbarrier")

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Fences
# ---------------------------------------------------------------------------------------------------------------------


@operation("nvvm.fence.mbarrier.init")
def _fence_initialization(op: Any, tr: ThreadTranslator) -> Step:
    site = tr.site(op)

    def step(st: Any) -> None:
        active = st.active_warps()
        for barrier in st.block.barriers.values():
            warp = barrier.initialized.group
            if warp in active and st.lanes_of(warp)[barrier.lane]:
                barrier.fenced = barrier.fenced or site

    return step


@operation("nvvm.fence.sync_restrict", "nvvm.fence.proxy.sync_restrict")
def _fence_of_shared_memory(op: Any, tr: ThreadTranslator) -> Step:
    """Fences of one direction, for shared memory at cluster scope (PTX ISA, "fence"): between threads, and then also
    between the generic and the async proxy."""
    site, releases = tr.site(op), "release" in str(op.attributes["order"])
    order = ordering.Order(CLUSTER, not releases, releases)
    proxies = op.name == "nvvm.fence.proxy.sync_restrict"

    def step(st: Any) -> None:
        if proxies and releases:
            _between_proxies(st, site, (SHARED,))
        ordering.fence(st, order, site)
        if proxies and not releases:
            _between_proxies(st, site, (SHARED,))

    return step


@operation("nvvm.fence.proxy")
def _fence_proxy(op: Any, tr: ThreadTranslator) -> Step:
    site, spaces = tr.site(op), fenced(op)
    return lambda st: _between_proxies(st, site, spaces)


def _between_proxies(st: Any, site: Site, spaces: tuple[int, ...]) -> None:
    for warp in st.active_warps():
        warp.fence(site, spaces)
        st.block.learns(warp)
