# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Race detection at block level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .clocks import GLOBAL, SHARED, HappensBefore, VectorClock
from .findings import Site
from .memory import MemRef

LEADER = "leader"
"""The owner of an access by the elected thread of a warpgroup."""
TENSOR = "tensor memory"
"""The owner of tensor-memory loads and stores: each warp accesses its own rows."""
FREE = "deallocation"
"""The owner of a deallocation of tensor memory. A completed load that is ordered before it has its data in
registers."""
PIPE = "tensor core"
"""The owner of `tcgen05` accesses, which execute in issue order for each issuing warpgroup."""
SAME = "same"
"""The owner of an access that all threads of a group execute alike."""


class Access:
    """A recorded access."""

    __slots__ = (
        "agent",
        "asynchronous",
        "atomic",
        "begun",
        "block",
        "group",
        "iteration",
        "owner",
        "site",
        "step",
        "what",
        "work",
        "write",
    )

    def __init__(
        self,
        agent: int,
        step: int,
        owner: Any,
        what: str,
        write: bool,
        asynchronous: bool,
        group: Any,
        site: Site,
        atomic: bool = False,
        work: Any = None,
    ) -> None:
        self.agent = agent
        """The agent whose step completes with the access: the warpgroup, or the mbarrier or stream of an asynchronous
        access."""
        self.step = step
        self.owner = owner
        """The threads of the group that execute it. Two accesses have the same owner if the same threads access the
        same elements."""
        self.what = what
        """For messages: `the copy`."""
        self.write = write
        self.asynchronous = asynchronous
        """Whether the access is through the async proxy."""
        self.atomic = atomic
        self.work = work
        """The copy of the access, which may be in flight."""
        self.group = group
        self.site = site
        self.begun = group.step
        """The step of the group in which the access was executed or issued."""
        self.block = group.block.position
        self.iteration = tuple(group.loops)


def _follows(before: Access, now: Access, known: HappensBefore) -> bool:
    """Whether `before` is complete whenever `now` executes: it happens before, or both are in program order of the
    same threads or stream."""
    if known.seen.get(before.agent, 0) >= before.step:
        return True
    return before.agent == now.agent and before.group is now.group and before.owner == now.owner


def _same_threads(before: Access, now: Access) -> bool:
    """Whether each thread of `now` executed its part of `before` itself, synchronously."""
    if before.agent != before.group.agent or before.owner != now.owner:
        return False
    if before.group is now.group:
        return True
    # The elected thread of a group is in its first warp. An access that all threads execute alike is executed by each
    # warp.
    together = now.owner == LEADER or (now.owner == SAME and before.group is now.group.parent)
    return together and before.group.related(now.group)


class Checker:
    """Checks every access against the accesses before it that the shadow records."""

    def __init__(self, report: Callable[[str, Access, Access, MemRef], None]) -> None:
        self._report = report
        self._accesses: list[Any] = [None]
        self._sets: list[frozenset[int]] = [frozenset()]
        self._set_numbers: dict[frozenset[int], int] = {frozenset(): 0}

    @staticmethod
    def _in_turn(before: Access, now: Access) -> bool:
        """Whether `tcgen05.fence` orders `tcgen05` operations of two threads (PTX ISA, tcgen05.fence)."""
        group, agent = now.group, before.group.tensor.reads
        upto = group.tensor_known.get(agent, 0)
        if upto < before.step:
            return False
        effective = group.machine.effective
        if group.tensor_before.get(agent, 0) < before.step:
            effective.add((group.tensor_fence.number, "removed"))
        effective.add((group.block.cluster.begun[agent, upto].number, "removed"))
        return True

    @staticmethod
    def _visible(before: Access, now: Access, known: HappensBefore, sign: int) -> bool:
        """Whether the write `before` is visible to the async proxy, or to an access of tensor memory."""
        if before.owner == PIPE and now.owner in (PIPE, TENSOR) and before.agent != now.agent:
            if not before.write:
                return True
            group = now.group
            if group.tensor_known.get(before.agent, 0) < before.step:
                return False
            if group.tensor_before.get(before.agent, 0) < before.step:
                group.machine.effective.add((group.tensor_fence.number, "removed"))
            return True
        if not now.asynchronous or before.asynchronous or not before.write:
            return True
        if known.visible.get(sign * before.agent, 0) >= before.step:
            return True
        synchronous = before.agent == before.group.agent
        return synchronous and before.group.related(now.group) and before.step <= before.group.fenced[sign]

    def _check(
        self,
        number: int,
        now: Access,
        known: HappensBefore,
        besides: VectorClock,
        memory: MemRef,
        alike: Callable[[], bool] | None = None,
    ) -> None:
        before: Access = self._accesses[number]
        if before.atomic and now.atomic:
            return
        if before.owner == now.owner == PIPE and before.agent != now.agent and self._in_turn(before, now):
            return
        ended = besides.get(before.agent, 0) >= before.step
        ended = ended or (before.agent == now.agent and before.owner == now.owner == PIPE)
        ended = ended or known.seen.get(before.agent, 0) >= before.step
        if known.completed and now.write and (before.asynchronous or not before.write):
            ended = ended or known.completed.get(before.agent, 0) >= before.step
        if now.owner == FREE and before.owner == TENSOR and not before.write:
            ended = ended or known.seen.get(before.group.agent, 0) >= before.begun
        if not ended and not _same_threads(before, now):
            # Blocks that write equal bytes are not a race.
            if before.write and alike is not None and before.group.block is not now.group.block:
                if before.work is not None:
                    before.work.complete()
                if alike():
                    return
            self._report("race", before, now, memory)
        elif not self._visible(before, now, known, SHARED if memory.buffer.shared else GLOBAL):
            self._report("missing-fence", before, now, memory)

    def access(
        self,
        memory: MemRef,
        now: Access,
        known: HappensBefore,
        besides: VectorClock,
        alike: Callable[[], bool] | None = None,
    ) -> bool:
        """Checks and records an access. Returns whether all bytes were written before.

        `besides` is the additional clock of the accessing threads; `alike` returns whether a write changes nothing.
        """
        if memory.buffer.read_only:
            return True
        writes, reads = memory.buffer.shadow()
        number = len(self._accesses)
        self._accesses.append(now)
        last = memory.grains(writes)
        written = True
        for writer in distinct(last):
            if writer:
                self._check(writer, now, known, besides, memory, alike)
            else:
                written = False
        readers = memory.grains(reads)
        sets = distinct(readers)
        if now.write:
            for name in sets:
                for reader in self._sets[name]:
                    self._check(reader, now, known, besides, memory)
            last[...] = number
            readers[...] = 0
            return written
        if len(sets) == 1:
            readers[...] = self._with(sets[0], number, now, known)
        else:
            new = {name: self._with(name, number, now, known) for name in sets}
            keys = np.array(sets, np.int32)
            values = np.array([new[name] for name in sets], np.int32)
            readers[...] = values[np.searchsorted(keys, readers)]
        return written

    def _with(self, name: int, number: int, now: Access, known: HappensBefore) -> int:
        """The set of reads with one more, without the reads that happen before it."""
        kept = [r for r in self._sets[name] if not _follows(self._accesses[r], now, known)]
        return self._number(frozenset([*kept, number]))

    def _number(self, members: frozenset[int]) -> int:
        found = self._set_numbers.get(members)
        if found is None:
            found = len(self._sets)
            self._sets.append(members)
            self._set_numbers[members] = found
        return found


def distinct(array: np.ndarray[Any, Any]) -> list[int]:
    """The distinct numbers in an array, in order."""
    if array.size == 0:
        return []
    low, high = int(array.min()), int(array.max())
    if low == high:
        return [low]
    if high - low < 1 << 16:
        present = np.zeros(high - low + 1, np.bool_)
        present[(array - low).reshape(-1)] = True
        return (np.flatnonzero(present) + low).tolist()
    return np.unique(array).tolist()
