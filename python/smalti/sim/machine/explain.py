# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages and hints of races and missing proxy fences."""

from __future__ import annotations

from .findings import Finding
from .memory import MemRef
from .races import LEADER, PIPE, TENSOR, Access


def explain(kind: str, before: Access, now: Access, memory: MemRef) -> Finding:
    """The finding of a race or of a missing proxy fence."""

    def verb(access: Access) -> str:
        return "writes" if access.write else "reads"

    def side(access: Access) -> str:
        return f"{access.what} {verb(access)}"

    place = memory.describe()
    if kind == "missing-fence" and before.owner == PIPE:
        message = f"{side(now)} {place}, which {before.what} wrote; the access is not ordered after the wait for {before.what}"
        hint = "execute nvvm.tcgen05.fence <after> after the wait and before the access"
    elif kind == "missing-fence":
        message = unfenced(side(now), place, before.what)
        hint = proxy_fence(memory.buffer.shared)
    else:
        message = f"data race: {side(now)} {place}; it is not ordered with {conflicting(before.what, now.what)}"
        hint = _hint(before, now)
    other = Finding(
        kind,
        f"{side(before)} these bytes here",
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
        hint=hint,
    )


def conflicting(before: str, now: str) -> str:
    """The earlier one of two conflicting accesses, in words."""
    return before.replace("the ", "another ", 1) if before == now and before.startswith("the ") else before


def unfenced(access: str, place: str, writer: str) -> str:
    """The message of a missing proxy fence."""
    return (
        f"{access} {place} through the async proxy, but {writer} accessed them through the generic proxy; without a proxy fence "
        "between the two accesses, the written data may not be visible"
    )


def proxy_fence(shared: bool) -> str:
    """The hint for a missing proxy fence."""
    return f"execute nvvm.fence.proxy async.{'shared' if shared else 'global'} after the write, before the barrier or wait that orders it"


OF_CLUSTERS = (
    "between the two accesses, place a barrier that both blocks reach: the cluster barrier, or an mbarrier with arrival and wait at "
    "cluster scope"
)
"""The hint for a race of two blocks of a cluster."""


def between(one: str, other: str) -> str:
    """The hint for a race of two agents of a block. Which access ran first depends on the schedule, so the hint does
    not name an order."""
    return f"between the two accesses, place a barrier that {one} and {other} both reach"


def _hint(before: Access, now: Access) -> str:
    """The hint for a race: synchronization that would order the two accesses."""
    if before.group.block.cluster is not now.group.block.cluster:
        return "blocks of a grid run in any order; let each block write different memory, or use atomics"
    same = before.group is now.group
    streams = {
        before.group.wgmmas.agent: "nvvm.wgmma.wait.group",
        before.group.bulk.agent: "nvvm.cp.async.bulk.wait_group without `read`",
        before.group.bulk.reads: "nvvm.cp.async.bulk.wait_group",
        before.group.copies.agent: "mosaic_gpu.async_wait_group",
        before.group.tensor.agent: "mosaic_gpu.tcgen05_commit_arrive and a wait for its mbarrier",
        before.group.tensor_loads.agent: "nvvm.tcgen05.wait <load>",
        before.group.tensor_stores.agent: "nvvm.tcgen05.wait <store>",
    }
    if before.agent in streams:
        wait = f"wait for {before.what} in {before.group.name} with {streams[before.agent]}"
        if before.owner == PIPE or (same and now.owner in (LEADER, TENSOR)):
            return wait
        group = before.group
        others = f"all threads of {group.name} reach" if same else f"{now.group.name} also reaches"
        if max(group.own.get(before.agent, 0), group.leader.get(before.agent, 0)) >= before.step:
            return f"in {group.name}, after its wait for {before.what}, place a barrier that {others}"
        return f"{wait}, then place a barrier that {others} before the second access"
    if before.agent != before.group.agent:
        return f"let {now.group.name} wait for the mbarrier phase that {before.what} completes"
    if before.group.block is not now.group.block:
        return OF_CLUSTERS
    if same:
        return f"place a barrier of the threads of {now.group.name} between the two accesses; different threads access the same bytes"
    return between(before.group.name, now.group.name)
