"""`nvvm` and `nvgpu`: barriers in shared memory, and fences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...ops.barriers import BARRIER_BYTES, count_arrivals
from ...program import Site, Step, Unsupported
from ...races import SAME, Access
from ...synchronisation import Mbarrier, Wait
from ..block import Warp
from ..code import ThreadTranslator, operation
from ..lanes import Array, spread
from ..memory import SHARED_BEGIN
from .llvm import address_space

WIDE = np.dtype(np.int64)


class Barriers:
    """Barriers that `nvgpu.mbarrier.create` makes: the byte of the first one."""

    def __init__(self, first: int, number: int) -> None:
        self.first, self.number = first, number


def place_of(op: Any, tr: ThreadTranslator, index: int = 0, at: int = 1) -> Any:
    """A function that gives the byte of shared memory at which a barrier is, which an operand says: a pointer, or a
    group of `nvgpu` and an index in it."""
    slot, ty = tr.slot(op.operands[index]), op.operands[index].type
    if str(ty).startswith("!llvm.ptr"):
        shift = 0 if address_space(ty) == 3 else SHARED_BEGIN
        return lambda st: st.v[slot] - shift
    which = tr.slot(op.operands[at])
    site = tr.site(op)

    def place(st: Any) -> Any:
        group: Barriers = st.v[slot]
        number = st.v[which]
        if (np.asarray(number) >= group.number).any() or (np.asarray(number) < 0).any():
            st.stop("out-of-bounds", f"barrier {number} of {group.number}", site)
        return group.first + number * BARRIER_BYTES

    return place


def find(warp: Warp, at: int, site: Site, what: str) -> Mbarrier:
    """The barrier at a byte of shared memory, which has to be initialised where the warp sees it."""
    barrier = warp.block.barriers.get(at)
    if barrier is None:
        warp.stop("barrier", f"{what} at byte {at} of shared memory, where no barrier was initialised", site)
    first: Access = barrier.initialised
    if first.group is not warp and warp.known.seen.get(first.agent, 0) < first.step:
        warp.report(
            "barrier",
            f"{what} on {barrier.name}, which a thread of {first.group.name} may not have initialised yet",
            site,
            edge="gpu.barrier behind the initialisation",
        )
    return barrier


def by_barrier(st: Any, places: Any, enabled: Any = None) -> Iterator[tuple[Warp, int, Array]]:
    """For each warp and each byte that lanes of it name: these lanes."""
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


def initialise(st: Any, warp: Warp, at: int, count: int, site: Site) -> None:
    """Makes a barrier."""
    block = st.block
    if at % BARRIER_BYTES or at < 0 or at + BARRIER_BYTES > block.shared.size:
        warp.report("out-of-bounds", f"a barrier at byte {at} of shared memory", site)
        return
    if count < 1:
        warp.report("barrier", f"a barrier of {count} arrivals", site)
        return
    access = Access(warp.agent, warp.step, SAME, "the initialisation", True, False, warp, site)
    block.barriers[at] = Mbarrier(block.new_agent(), f"the barrier at byte {at}", at, count, access)


def _touch(st: Any, places: Any, lanes: Array, site: Site) -> None:
    mask = np.zeros(st.lanes, np.bool_)
    mask[lanes] = True
    first = spread(places, WIDE, st.lanes)
    steps = np.arange(0, BARRIER_BYTES, st.block.shared.grain)
    st.touch(st.block.shared, first, steps, st.block.shared.grain, mask, True, "the initialisation of a barrier", site)


@operation("nvvm.mbarrier.init", "nvgpu.mbarrier.init")
def _init(op: Any, tr: ThreadTranslator) -> Step:
    nvgpu = op.name.startswith("nvgpu")
    place, site = place_of(op, tr, 0, 2), tr.site(op)
    operands = tr.operands(op)
    predicate = operands[3 if nvgpu else 2] if len(operands) > (3 if nvgpu else 2) else None
    tr.uses_shared(BARRIER_BYTES)

    def step(st: Any) -> None:
        places = place(st)
        for warp, at, lanes in by_barrier(st, places, None if predicate is None else st.v[predicate]):
            count = st.v[operands[1]]
            _touch(st, places, lanes[:1], site)
            initialise(st, warp, at, int(count[lanes[0]] if isinstance(count, np.ndarray) else count), site)

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


def _arrival(
    op: Any, tr: ThreadTranslator, place: Any, count: int | None, bytes_slot: int | None, enabled: Any
) -> Step:
    site, results = tr.site(op), tr.results(op)

    def step(st: Any) -> None:
        phases: Any = np.zeros(st.lanes, WIDE) if results else None
        for warp, at, lanes in by_barrier(st, place(st), enabled(st)):
            barrier = find(warp, at, site, "an arrival")
            if results:
                # What a wait by this state waits for.
                phases[lanes] = barrier.phase
            if bytes_slot is not None:
                announced = spread(st.v[bytes_slot], WIDE, st.lanes)[lanes]
                if (announced < 0).any():
                    warp.report("transaction", f"{int(announced.min())} bytes are announced", site)
                barrier.expect(int(np.maximum(announced, 0).sum()))
            arrivals = len(lanes) if count is None else int(spread(st.v[count], WIDE, st.lanes)[lanes].sum())
            count_arrivals(warp, barrier, arrivals, site)
        for slot in results:
            st.v[slot] = phases

    return step


def _always(st: Any) -> None:
    return None


@operation("nvvm.mbarrier.arrive", "nvgpu.mbarrier.arrive")
def _arrive(op: Any, tr: ThreadTranslator) -> Step:
    operands = tr.operands(op)
    if op.name.startswith("nvvm") and address_space(op.operands[0].type) not in (0, 3):
        raise Unsupported("a barrier of another block")
    count = operands[1] if op.name.startswith("nvvm") and len(operands) > 1 else None
    return _arrival(op, tr, place_of(op, tr), count, None, _always)


@operation("nvvm.mbarrier.arrive.expect_tx", "nvgpu.mbarrier.arrive.expect_tx")
def _arrive_expect(op: Any, tr: ThreadTranslator) -> Step:
    operands = tr.operands(op)
    nvgpu = op.name.startswith("nvgpu")
    place = place_of(op, tr, 0, 2)
    given = operands[3 if nvgpu else 2 :]
    enabled = (lambda st: st.v[given[0]]) if given else _always
    return _arrival(op, tr, place, None, operands[1], enabled)


@operation("nvvm.mbarrier.expect_tx")
def _expect(op: Any, tr: ThreadTranslator) -> Step:
    place, site = place_of(op, tr), tr.site(op)
    size = tr.operands(op)[1]

    def step(st: Any) -> None:
        for warp, at, lanes in by_barrier(st, place(st)):
            find(warp, at, site, "an announcement").expect(int(spread(st.v[size], WIDE, st.lanes)[lanes].sum()))

    return step


def _one_wait(site: Site, ready: Any, describe: Any, barrier: Mbarrier) -> Wait:
    return Wait(site, ready, describe, lambda: barrier.released, barrier)


def _wait(op: Any, tr: ThreadTranslator, place: Any, parity: int) -> None:
    """Waits for a phase; an operation that asks whether it is over answers when it is."""
    site, results = tr.site(op), tr.results(op)

    def wait(st: Any) -> Any:
        places, wanted = place(st), st.v[parity]
        if st.uniform(places) is None or st.uniform(wanted) is None:
            pairs = spread(places, WIDE, st.lanes) * 2 + (spread(wanted, WIDE, st.lanes) & 1)
            rows = st.by_unit(pairs)
            if st.mask is None and not (rows != rows[:, :1]).any():
                st.split(rows[:, 0])
                return st.pc
        return waiting(st, places, wanted)

    def waiting(st: Any, places: Any, wanted: Any) -> Any:
        waits: list[tuple[Warp, Mbarrier, int]] = []
        for warp, at, lanes in by_barrier(st, places):
            barrier = find(warp, at, site, "a wait")
            for number in np.unique(spread(wanted, WIDE, st.lanes)[lanes]).tolist():
                waits.append((warp, barrier, number & 1))

        def ready() -> bool:
            return all(barrier.passed(number) for _, barrier, number in waits)

        def describe() -> str:
            _, barrier, number = next(item for item in waits if not item[1].passed(item[2]))
            return f"phase {barrier.phase} (parity {number}) of {barrier.name}, which misses {barrier.missing()}"

        while waits:
            yield _one_wait(site, ready, describe, next((w[1] for w in waits if not w[1].passed(w[2])), waits[0][1]))
            if ready():
                break
        for warp, barrier, _ in waits:
            warp.passes(barrier, site)
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
        for warp, at, _ in by_barrier(st, place(st)):
            find(warp, at, site, "an invalidation")
            del st.block.barriers[at]

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Fences
# ---------------------------------------------------------------------------------------------------------------------


@operation("nvvm.fence.mbarrier.init")
def _fence_initialisation(op: Any, tr: ThreadTranslator) -> Step:
    site = tr.site(op)

    def step(st: Any) -> None:
        active = st.active_warps()
        for barrier in st.block.barriers.values():
            if barrier.initialised.group in active and not barrier.fenced:
                barrier.fenced = True
                st.machine.effective.add((site.number, "removed"))

    return step


@operation("nvvm.fence.proxy", "nvvm.fence.proxy.acquire")
def _fence_proxy(op: Any, tr: ThreadTranslator) -> Step | None:
    if "async" not in str(op.attributes["kind"]):
        raise Unsupported(f"a fence of kind {op.attributes['kind']}")
    site = tr.site(op)

    def step(st: Any) -> None:
        for warp in st.active_warps():
            warp.fence(site)
            st.block.learns(warp)

    return step
