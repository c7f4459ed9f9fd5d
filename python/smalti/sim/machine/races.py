"""Race detection at block level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .clocks import GLOBAL, SHARED, HappensBefore, VectorClock
from .findings import Site
from .memory import MemRef

LEADER = "leader"
"""The owner of what one elected thread of a warpgroup does."""
TENSOR = "tensor memory"
"""The owner of what warps load from tensor memory and store there: each of them its own rows."""
FREE = "deallocation"
"""The owner of what gives tensor memory back. What is loaded from it is in registers when others know of it."""
PIPE = "tensor core"
"""The owner of what the tensor core of Blackwell does, one thing after the other for each warpgroup that starts it."""
SAME = "same"
"""The owner of what all threads of a group do alike."""


class Access:
    """One access, as it is remembered."""

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
        """Who tells of its end: the warpgroup itself, or the barrier or stream of what is asynchronous."""
        self.step = step
        self.owner = owner
        """Which threads of the group did it: what two accesses have in common whose elements the same threads touch."""
        self.what = what
        """In words: `the copy`."""
        self.write = write
        self.asynchronous = asynchronous
        """Whether it goes through the asynchronous proxy."""
        self.atomic = atomic
        self.work = work
        """The copy that does it, where it may be in flight."""
        self.group = group
        self.site = site
        self.begun = group.step
        """The step of the group in which it did it, or started it."""
        self.block = group.block.position
        self.iteration = tuple(group.loops)


def _follows(before: Access, now: Access, known: HappensBefore) -> bool:
    """Whether `before` is over whenever `now` is: known to be, or of the same threads or stream, which are in order."""
    if known.seen.get(before.agent, 0) >= before.step:
        return True
    return before.agent == now.agent and before.group is now.group and before.owner == now.owner


def _same_threads(before: Access, now: Access) -> bool:
    """Whether the very threads of `now` did `before`, each its part of it, and not asynchronously."""
    if before.agent != before.group.agent or before.owner != now.owner:
        return False
    if before.group is now.group:
        return True
    # The elected thread of a group is that of its first warp; what all threads do alike, those of each warp did.
    together = now.owner == LEADER or (now.owner == SAME and before.group is now.group.parent)
    return together and before.group.related(now.group)


class Checker:
    """Checks every access against those before it that the shadow of the memory names."""

    def __init__(self, report: Callable[[str, Access, Access, MemRef], None]) -> None:
        self._report = report
        self._accesses: list[Any] = [None]
        self._sets: list[frozenset[int]] = [frozenset()]
        self._set_numbers: dict[frozenset[int], int] = {frozenset(): 0}

    @staticmethod
    def _in_turn(before: Access, now: Access) -> bool:
        """Whether fences put what the tensor core does for two threads one behind the other (PTX ISA, tcgen05.fence)."""
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
        """Whether the asynchronous proxy, or an access of tensor memory, sees what `before` wrote."""
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
            # Blocks that all write the same do no harm.
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
        """Checks and remembers an access. Returns whether all of the memory was written before.

        `besides` is what the threads that do it know besides; `alike` tells of a write whether it changes nothing.
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
        """The set of reads with one more; those that are over before it need not be remembered."""
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
