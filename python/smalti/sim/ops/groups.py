# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asynchronous groups of `wgmma` and of copies without an mbarrier. Groups complete in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ... import ir
from ..machine.clocks import VectorClock
from ..machine.machine import Group, State
from ..machine.synchronization import Stream
from ..translation.translator import Step, Translator, groups_left, operation

_COMMITS = {
    "nvvm.wgmma.commit.group.sync.aligned": "wgmmas",
    "nvvm.cp.async.bulk.commit.group": "bulk",
    "mosaic_gpu.async_commit_group": "copies",
}


@operation(*_COMMITS)
def _commit(op: ir.Operation, translator: Translator) -> Step:
    stream, site = attrgetter(_COMMITS[op.name]), translator.site(op)

    def step(st: State) -> None:
        stream(st).commit()
        st.machine.effective.add((site.number, "removed"))

    return step


@dataclass(frozen=True)
class _Wait:
    """A wait for groups."""

    stream: Callable[[Any], Stream]
    left: str
    """The attribute with the number of groups that may stay outstanding."""
    learns: Callable[[Any], VectorClock]
    """The clock that the wait updates."""


_WAITS = {
    # The four warps issue each wgmma together, so one wait covers all of them.
    "nvvm.wgmma.wait.group.sync.aligned": _Wait(attrgetter("wgmmas"), "group", attrgetter("known.seen")),
    "nvvm.cp.async.bulk.wait_group": _Wait(attrgetter("bulk"), "group", attrgetter("leader")),
    "mosaic_gpu.async_wait_group": _Wait(attrgetter("copies"), "pending", attrgetter("own")),
}


@operation(*_WAITS)
def _wait(op: ir.Operation, translator: Translator) -> Step:
    wait = _WAITS[op.name]
    left, only_reads, site = groups_left(op, wait.left), "read" in op.attributes, translator.site(op)

    def step(st: Group) -> None:
        waits(st)
        # Each thread waits for the copies that it issued.
        for warp in st.warps:
            if wait.stream(warp) is not wait.stream(st):
                waits(warp)

    def waits(st: Group) -> None:
        stream, clock = wait.stream(st), wait.learns(st)
        upto = stream.committed - left
        if upto <= 0:
            return
        st.wait_for_groups(stream, upto, site)
        if st.machine.recorder is not None:
            st.machine.recorder.wait(st, stream.end(upto, only_reads), site)
        stream.complete(upto)
        for agent in (stream.reads,) if only_reads else {stream.reads, stream.agent}:
            clock[agent] = max(upto, clock.get(agent, 0))

    return step
