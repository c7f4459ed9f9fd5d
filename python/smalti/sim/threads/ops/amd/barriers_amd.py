# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`rocdl`: workgroup barriers, split barriers and named barriers.

These barriers do not wait for memory: an access is ordered for other waves only after a wait of its wave.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....machine.clocks import HappensBefore
from ....machine.findings import Site
from ....machine.synchronization import Meeting, Wait
from ....translation.translator import Step, Unsupported, attribute, require_chip
from ...execution.code import ThreadTranslator, operation
from ...execution.counters import mark_waits
from ...execution.lanes import spread
from ...execution.memory import MOST_NAMED_BARRIERS, NAMED_BARRIER_BYTES, NAMED_BARRIERS
from ..collective.gpu import thread_barrier, whole_warps
from .cluster_amd import CLUSTER_BARRIER, signal_cluster, wait_for_cluster


@operation("rocdl.s.barrier")
def _bare_barrier(op: Any, tr: ThreadTranslator) -> None:
    site = tr.site(op)
    tr.blocking(lambda st: thread_barrier(st, 0, st.block.counted, site, "the barrier"))


# ---------------------------------------------------------------------------------------------------------------------
# Split barriers
# ---------------------------------------------------------------------------------------------------------------------

_WORK_GROUP, _NULL = -1, 0
"""The id of the workgroup barrier, and the id of the barrier without effect."""


@operation("rocdl.s.barrier.signal", "rocdl.s.barrier.signal.isfirst")
def _signal(op: Any, tr: ThreadTranslator) -> Step | None:
    site, which = tr.site(op), attribute(op, "id")
    result = tr.results(op)[0] if len(op.results) else None
    if which == _NULL and result is None:
        return None
    if which == CLUSTER_BARRIER:
        return _signal_cluster(tr, result, site)
    if which != _WORK_GROUP:
        raise Unsupported(
            f"the barrier id is {which}; {_WORK_GROUP} (the workgroup barrier) or {CLUSTER_BARRIER} (the cluster "
            "barrier) is required"
        )

    def step(st: Any) -> None:
        whole_warps(st, "the signal", site)
        barrier = st.block.thread_barrier(0)
        first = np.zeros(len(st.warps), np.bool_)
        for warp in st.active_warps():
            if warp.signaled is not None:
                st.stop(
                    "barrier",
                    f"{warp.name} signals the block barrier twice; wait at the barrier between the two signals",
                    site,
                )
            meeting = barrier.arrive(warp, st.block.counted, site)
            if not isinstance(meeting, Meeting):
                st.stop("barrier", meeting, site)
            warp.signaled = meeting
            first[st.warps.index(warp)] = meeting.groups[0] is warp
        if result is not None:
            st.v[result] = first[st.which]

    return step


def _signal_cluster(tr: ThreadTranslator, result: int | None, site: Site) -> Step:
    _has_clusters(tr)

    def step(st: Any) -> None:
        first = signal_cluster(st, site)
        if result is not None:
            st.v[result] = first[st.which]

    return step


def _has_clusters(tr: ThreadTranslator) -> None:
    require_chip(tr.target, "clusters", lambda target: "tensor_counter" in target.waits)


@operation("rocdl.s.barrier.wait")
def _wait_for_signals(op: Any, tr: ThreadTranslator) -> None:
    site, which = tr.site(op), attribute(op, "id")
    if which > _NULL:
        return tr.blocking(lambda st: _wait_for_name(st, site))
    if which == _NULL:
        return None
    if which == CLUSTER_BARRIER:
        _has_clusters(tr)
        return tr.blocking(lambda st: wait_for_cluster(st, site))
    if which != _WORK_GROUP:
        raise Unsupported(
            f"the barrier id is {which}; {_WORK_GROUP} (the workgroup barrier) or {CLUSTER_BARRIER} (the cluster "
            "barrier) is required"
        )

    def wait(st: Any) -> Any:
        whole_warps(st, "the wait", site)
        met = [(warp, warp.signaled) for warp in st.active_warps()]
        for warp, meeting in met:
            if meeting is None:
                st.stop(
                    "barrier",
                    f"{warp.name} waits at the block barrier without a prior signal; signal the barrier before the wait",
                    site,
                )

        def describe() -> str:
            meeting = next(meeting for _, meeting in met if not meeting.done)
            there = ", ".join(sorted({warp.name for warp in meeting.groups}))
            return f"the block barrier: {meeting.arrived} of {meeting.count} threads have signaled ({there})"

        yield Wait(site, lambda: all(meeting.done for _, meeting in met), describe, lambda: met[0][1].clocks)
        for warp, meeting in met:
            warp.signaled = None
            warp.acquired_from_barrier(meeting.published)
            st.acquire(warp, meeting.clocks, site, meeting.count)

    tr.blocking(wait)
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Named barriers
# ---------------------------------------------------------------------------------------------------------------------


class NamedBarrier:
    """A named barrier (LLVM, "AMDGPU Execution Synchronization: Named Barriers"). Any wave may signal; a wave that
    waits must join before a signal of the phase for which it waits."""

    def __init__(self, number: int) -> None:
        self.name = f"named barrier {number}"
        self.count = 0
        """The member count: signals per phase; 0 if uninitialized."""
        self.counted: Any = None
        """The op that set the member count."""
        self.arrived: list[Any] = []
        """The waves that have signaled in this phase."""
        self.clocks = HappensBefore()
        self.sites: set[Any] = set()
        self.completed: list[tuple[HappensBefore, set[Any]]] = []
        """The clocks that the signals of each completed phase published, and their ops."""
        self.made: dict[int, int] = {}
        """By agent the step of its initialization."""
        self.used: dict[int, int] = {}
        """By agent the step of its last other use."""

    def advance(self) -> None:
        if len(self.arrived) == self.count:
            self.completed.append((self.clocks, {*self.sites, self.counted}))
            self.arrived, self.clocks, self.sites = [], HappensBefore(), set()


class Member:
    """The membership of a wave."""

    def __init__(self, barrier: NamedBarrier, step: int) -> None:
        self.barrier = barrier
        self.step = step
        self.seen = len(barrier.completed)
        """The number of phases that the wave has observed."""


def _barriers_of(st: Any, slot: int, site: Site) -> list[tuple[Any, NamedBarrier]]:
    """The active waves, and the barrier of each wave's pointer."""
    pointers = spread(st.v[slot], np.dtype(np.int64), st.lanes).reshape(len(st.warps), -1)
    found = []
    for warp in st.active_warps():
        mine = pointers[st.warps.index(warp), : warp.threads]
        number = int(mine[0])
        if (mine != number).any():
            st.stop(
                "divergence", f"threads of {warp.name} pass different barriers; the pointer must be wave-uniform", site
            )
        place, rest = divmod(number - NAMED_BARRIERS, NAMED_BARRIER_BYTES)
        if rest or not 0 <= place < MOST_NAMED_BARRIERS:
            st.stop(
                "barrier",
                f"the barrier operand is address {number}, where no named barrier is; pass the address of a global of type "
                '!llvm.target<"amdgcn.named.barrier", 0>',
                site,
            )
        found.append((warp, st.block.named_barriers.setdefault(number, NamedBarrier(place + 1))))
    return found


def _acts(warp: Any) -> int:
    """The current step of a wave, which its next release publishes."""
    warp.dirty = True
    return warp.step


def _knows(st: Any, warp: Any, steps: dict[int, int]) -> bool:
    """Whether uses by others happen before the wave's next use."""
    others = [(agent, step) for agent, step in steps.items() if agent != warp.agent]
    if any(warp.known.seen.get(agent, 0) < step for agent, step in others):
        return False
    mark_waits(st.block, [(warp.index, agent, step) for agent, step in others])
    return True


def _use(st: Any, warp: Any, barrier: NamedBarrier, site: Site, what: str) -> None:
    """Records a use of a barrier, whose initialization must happen before."""
    if not barrier.count:
        st.stop(
            "barrier",
            f"{warp.name} {what} {barrier.name}, which is uninitialized; execute rocdl.s.barrier.init before",
            site,
        )
    if not _knows(st, warp, barrier.made):
        message = f"{warp.name} {what} {barrier.name}; its initialization is not ordered before this use"
        warp.report("barrier", message, site, hint="execute a block barrier after the initialization")
    barrier.used[warp.agent] = _acts(warp)


@operation("rocdl.s.barrier.init")
def _init(op: Any, tr: ThreadTranslator) -> Step:
    (pointer,), site, count = tr.operands(op), tr.site(op), attribute(op, "memberCnt")
    if count < 1:
        raise Unsupported.invalid(f"the member count of the named barrier is {count} waves; it must be at least 1")

    def init(st: Any) -> None:
        whole_warps(st, "the initialization", site)
        for warp, barrier in _barriers_of(st, pointer, site):
            if barrier.arrived:
                there = len(barrier.arrived)
                message = f"{warp.name} initializes {barrier.name} while {there} of {barrier.count} waves have signaled it; initialize a named barrier only when no wave uses it"
                st.stop("barrier", message, site)
            if not _knows(st, warp, barrier.used):
                message = (
                    f"{warp.name} initializes {barrier.name}; the initialization is not ordered after the last use"
                )
                warp.report("barrier", message, site, hint="execute a block barrier before the initialization")
            barrier.count, barrier.counted = count, site
            barrier.made[warp.agent] = _acts(warp)

    return init


@operation("rocdl.s.barrier.join")
def _join(op: Any, tr: ThreadTranslator) -> Step:
    (pointer,), site = tr.operands(op), tr.site(op)

    def join(st: Any) -> None:
        whole_warps(st, "rocdl.s.barrier.join", site)
        for warp, barrier in _barriers_of(st, pointer, site):
            _use(st, warp, barrier, site, "joins")
            # Joining ends the membership in another barrier.
            warp.member = Member(barrier, warp.step)

    return join


@operation("rocdl.s.barrier.signal.var")
def _signal_name(op: Any, tr: ThreadTranslator) -> Step:
    (pointer,), site, count = tr.operands(op), tr.site(op), attribute(op, "memberCnt")

    def signal(st: Any) -> None:
        whole_warps(st, "the signal", site)
        for warp, barrier in _barriers_of(st, pointer, site):
            if count:
                if count <= len(barrier.arrived):
                    there = len(barrier.arrived)
                    message = f"{warp.name} sets the member count of {barrier.name} to {count}, but {there} waves have already signaled it; the count must be above {there}"
                    st.stop("barrier", message, site)
                barrier.count, barrier.counted = count, site
            _use(st, warp, barrier, site, "signals")
            barrier.arrived.append(warp)
            barrier.sites.add(site)
            barrier.clocks.join(warp.release())
            barrier.advance()

    return signal


@operation("rocdl.s.barrier.leave")
def _leave(op: Any, tr: ThreadTranslator) -> Step:
    site = tr.site(op)

    def leave(st: Any) -> None:
        whole_warps(st, "rocdl.s.barrier.leave", site)
        for warp, member in _members(st, "leaves", site):
            _use(st, warp, member.barrier, site, "leaves")
            member.barrier.count -= 1
            member.barrier.clocks.join(warp.release())
            if member.barrier.arrived:
                member.barrier.advance()
            warp.member = None

    return leave


def _members(st: Any, what: str, site: Site) -> list[tuple[Any, Member]]:
    """The active waves, and their memberships."""
    for warp in st.active_warps():
        if warp.member is None:
            st.stop(
                "barrier",
                f"{warp.name} {what} a named barrier, but has not joined one; execute rocdl.s.barrier.join before",
                site,
            )
    return [(warp, warp.member) for warp in st.active_warps()]


def _wait_for_name(st: Any, site: Site) -> Any:
    """A wave waits for the barrier that it joined last, whatever the id."""
    whole_warps(st, "the wait", site)
    met = _members(st, "waits for", site)
    barriers = [member.barrier for _, member in met]
    if any(barrier is not barriers[0] for barrier in barriers):
        # Waves that wait for different barriers diverge.
        chosen = [warp.member.barrier if warp.member is not None else None for warp in st.warps]
        st.split(np.array([barriers.index(barrier) if barrier in barriers else 0 for barrier in chosen]))
        return st.pc
    return _phase(st, met, site)


def _phase(st: Any, met: list[tuple[Any, Member]], site: Site) -> Any:
    """Waits for the next phase."""
    for warp, member in met:
        _use(st, warp, member.barrier, site, "waits for")

    def describe() -> str:
        barrier = next(member.barrier for _, member in met if len(member.barrier.completed) <= member.seen)
        there = ", ".join(sorted({warp.name for warp in barrier.arrived})) or "none"
        return f"{barrier.name}: {len(barrier.arrived)} of {barrier.count} waves have signaled ({there})"

    def ready() -> bool:
        return all(len(member.barrier.completed) > member.seen for _, member in met)

    yield Wait(site, ready, describe, lambda: met[0][1].barrier.completed[met[0][1].seen][0])
    for warp, member in met:
        clocks, sites = member.barrier.completed[member.seen]
        member.seen = len(member.barrier.completed)
        if clocks.seen.get(warp.agent, 0) < member.step:
            warp.report(
                "barrier",
                f"{member.barrier.name} may complete before {warp.name} joins it; the wait would then never end",
                site,
                hint="order one of the signals after rocdl.s.barrier.join",
            )
        st.machine.effective.update((place.number, "awaited") for place in sites)
        st.acquire(warp, clocks, site)
