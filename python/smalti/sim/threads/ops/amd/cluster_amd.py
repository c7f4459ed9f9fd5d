# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`rocdl`: the cluster barrier and multicast loads of gfx1250.

The barrier (LLVM, "AMDGPU Execution Synchronization: s_barrier", id -3) counts one signal of each block of the cluster.
Exited blocks are not counted; any wave may wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....machine.clocks import HappensBefore
from ....machine.findings import Site
from ....machine.synchronization import Wait
from ....translation.translator import Step
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, spread
from ..collective.gpu import whole_warps

CLUSTER_BARRIER = -3

# ---------------------------------------------------------------------------------------------------------------------
# Ids
# ---------------------------------------------------------------------------------------------------------------------


@operation(*(f"rocdl.cluster.id.{letter}" for letter in "xyz"))
def _cluster_id(op: Any, tr: ThreadTranslator) -> Step:
    dimension, (result,) = "xyz".index(op.name[-1]), tr.results(op)

    def step(st: Any) -> None:
        st.v[result] = st.block.names["cluster_id"][dimension]

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Cluster barrier
# ---------------------------------------------------------------------------------------------------------------------


class ClusterBarrier:
    """The barrier of a cluster."""

    def __init__(self, agent: int, cluster: Any) -> None:
        self.agent, self.cluster = agent, cluster
        """The agent of completed uses."""
        self.arrived: list[Any] = []
        """The waves that have signaled in this use."""
        self.clocks = HappensBefore()
        self.sites: set[Any] = set()
        self.completed: list[tuple[HappensBefore, set[Any]]] = []
        """The published clocks and the signal ops of each completed use."""

    def missing(self) -> list[Any]:
        """The blocks that have not signaled and have running waves."""
        there = [warp.block for warp in self.arrived]
        return [
            block
            for block in self.cluster.blocks
            if block not in there and not all(warp.finished for warp in block.warps)
        ]

    def is_over(self, use: int) -> bool:
        if self.arrived and not self.missing():
            self.clocks.used[self.agent] = len(self.completed) + 1
            self.completed.append((self.clocks, self.sites))
            self.arrived, self.clocks, self.sites = [], HappensBefore(), set()
        return len(self.completed) > use


def _is_alone(st: Any) -> bool:
    """Whether the block is not in a cluster; the barrier does not have an effect then."""
    return len(st.block.cluster.blocks) == 1


def _barrier_of(st: Any) -> ClusterBarrier:
    cluster = st.block.cluster
    if cluster.barrier is None:
        cluster.barrier = ClusterBarrier(st.machine.agent(), cluster)
    return cluster.barrier


def signal_cluster(st: Any, site: Site) -> Array:
    """Waves signal for their blocks. Returns which of them did so first."""
    whole_warps(st, "the signal", site)
    first = np.zeros(len(st.warps), np.bool_)
    if _is_alone(st):
        return first
    barrier = _barrier_of(st)
    for warp in st.active_warps():
        barrier.is_over(0)
        before = next((other for other in barrier.arrived if other.block is warp.block), None)
        if before is not None:
            message = f"{warp.name} signals the cluster barrier, which {before.name} of the same block already signaled; exactly one wave per block must signal"
            st.stop("barrier", message, site)
        if warp.known.used.get(barrier.agent, 0) < len(barrier.completed):
            warp.report(
                "barrier",
                f"{warp.name} signals the cluster barrier while the previous use may be incomplete",
                site,
                hint="let the block wait at the cluster barrier before the next signal",
            )
        first[st.warps.index(warp)] = not barrier.arrived
        barrier.arrived.append(warp)
        barrier.sites.add(site)
        barrier.clocks.join(warp.release())
    return first


def wait_for_cluster(st: Any, site: Site) -> Any:
    """Waves wait until all blocks have signaled once more often than the wave has waited."""
    whole_warps(st, "the wait", site)
    if _is_alone(st):
        return
    barrier = _barrier_of(st)
    met = [(warp, warp.cluster_uses) for warp in st.active_warps()]

    def describe() -> str:
        absent = ", ".join(str(block.position) for block in barrier.missing())
        return f"the cluster barrier; blocks that have not signaled: {absent}"

    yield Wait(
        site,
        lambda: all(barrier.is_over(use) for _, use in met),
        describe,
        lambda: barrier.completed[met[0][1]][0],
    )
    for warp, use in met:
        clocks, sites = barrier.completed[use]
        if use and clocks.seen.get(warp.agent, 0) < warp.cluster_step:
            # The wave observes at most one completion, however many there are.
            warp.report(
                "barrier",
                f"{warp.name} may wait here forever: all blocks may signal the cluster barrier twice before {warp.name} "
                f"waits once; {warp.name} then misses one completion of the barrier (phase aliasing)",
                site,
                hint=f"place a block barrier between the previous cluster wait of {warp.name} and the next cluster signal of its block",
            )
        st.machine.effective.update((place.number, "awaited") for place in sites)
        st.acquire(warp, clocks, site)
        # The next signal must be ordered after what the wave does from here on.
        warp.dirty = True
        warp.cluster_uses, warp.cluster_step = use + 1, warp.step


# ---------------------------------------------------------------------------------------------------------------------
# Multicast loads
# ---------------------------------------------------------------------------------------------------------------------


def asks_together(st: Any, value: Any, data: Any, site: Site) -> None:
    """Records a multicast load for the blocks of a mask: `data` returns the loaded addresses of a wave, by its number
    and its active lanes."""
    masks = spread(value, np.dtype(np.int64), st.lanes)
    running = np.ones(st.lanes, np.bool_) if st.mask is None else st.mask
    for index, warp in enumerate(st.warps):
        lanes = np.flatnonzero(running & (st.which == index))
        if not lanes.size:
            continue
        mask = int(masks[lanes[0]])
        if (masks[lanes] != mask).any():
            st.stop(
                "divergence",
                f"threads of {warp.name} pass different multicast masks; the mask must be wave-uniform",
                site,
                int(lanes[0]),
            )
        st.block.cluster.asked.add(warp, mask, data(lanes), site)
