"""Races, and writes that are not visible, in words."""

from __future__ import annotations

from .findings import Finding
from .memory import MemRef
from .races import LEADER, PIPE, TENSOR, Access


def explain(kind: str, before: Access, now: Access, memory: MemRef) -> Finding:
    """A race, or a write that is not visible, in words."""

    def verb(access: Access) -> str:
        return "writes" if access.write else "reads"

    def side(access: Access) -> str:
        return f"{access.what} {verb(access)}"

    place = memory.describe()
    if kind == "missing-fence" and before.owner == PIPE:
        message = f"{side(now)} {place}, which {before.what} wrote, and may be ordered before the wait for it"
        edge = "nvvm.tcgen05.fence <after> after the wait"
    elif kind == "missing-fence":
        message = f"{side(now)} {place}, which {before.what} wrote through the generic proxy"
        edge = proxy_fence(memory.buffer.shared)
    else:
        message = f"{side(now)} {place} while {before.what} may still {verb(before)[:-1]} it"
        edge = _edge(before, now)
    other = Finding(
        kind,
        f"{side(before)} it here",
        before.block,
        agent=before.group.name,
        location=before.site.location,
        iteration=before.iteration,
    )
    return Finding(
        kind,
        message,
        now.block,
        agent=now.group.name,
        location=now.site.location,
        iteration=now.iteration,
        others=(other,),
        edge=edge,
    )


def proxy_fence(shared: bool) -> str:
    """What makes writes to shared or to global memory visible to copies and products, in words."""
    return f"a proxy fence (nvvm.fence.proxy async.{'shared' if shared else 'global'}) between the write and it"


OF_CLUSTERS = (
    "a barrier between the two accesses that both blocks reach: the cluster's, or an mbarrier with an arrival and a wait of "
    "cluster scope"
)
"""What would order two blocks of a cluster, in words."""


def between(one: str, other: str) -> str:
    """What would order accesses of two agents of a block. Which one ran first is not a property of the program, so the hint
    does not say which comes first."""
    return f"a barrier between the two accesses that {one} and {other} both reach"


def _edge(before: Access, now: Access) -> str:
    if before.group.block.cluster is not now.group.block.cluster:
        return "nothing orders the blocks of a grid; each has to write memory of its own, or to use atomics"
    same = before.group is now.group
    streams = {
        before.group.products.agent: "nvvm.wgmma.wait.group",
        before.group.bulk.agent: "nvvm.cp.async.bulk.wait_group (without read)",
        before.group.bulk.reads: "nvvm.cp.async.bulk.wait_group",
        before.group.copies.agent: "mosaic_gpu.async_wait_group",
        before.group.tensor.agent: "a wait for a barrier of mosaic_gpu.tcgen05_commit_arrive",
        before.group.tensor_loads.agent: "nvvm.tcgen05.wait <load>",
        before.group.tensor_stores.agent: "nvvm.tcgen05.wait <store>",
    }
    if before.agent in streams:
        wait = f"{streams[before.agent]} that covers it in {before.group.name}"
        if before.owner == PIPE or (same and now.owner in (LEADER, TENSOR)):
            return wait
        return f"{wait}, and after it a barrier that {'its threads' if same else now.group.name} wait for"
    if before.agent != before.group.agent:
        return f"a wait by {now.group.name} for the barrier phase that covers {before.what}"
    if before.group.block is not now.group.block:
        return OF_CLUSTERS
    if same:
        return f"a barrier of the threads of {now.group.name} between them: other threads touch the same bytes"
    return between(before.group.name, now.group.name)
