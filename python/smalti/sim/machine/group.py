"""Warpgroups, and blocks whose warps run one program together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any

import numpy as np

from .agents import Agent
from .clocks import Clock, Knowledge
from .findings import Finding
from .machine import Block
from .memory import MemRef
from .races import LEADER, TENSOR, Access
from .recorder import Recorder, words_of_access
from .synchronisation import Stream, Wait

Program = Generator[Wait | None, None, None]


class Group(Agent):
    """A warpgroup, or a block whose warps run one program together."""

    def __init__(self, block: Block, index: int, first: int, threads: int, values: list[Any], name: str) -> None:
        super().__init__(block, threads)
        self.index = index
        self.name = name
        self.first = first
        """The number of the first thread."""
        self.v = values
        """Values of the program, by slot."""
        self.loops: list[int] = []
        """Induction variables of the loops that run."""
        self.parent: Group | None = None
        """The group whose warp it is."""
        self.warp: int | None = None
        """Which warp of it."""
        self.warps: list[Group] = []
        """Its warps, where they ever ran by themselves."""
        self.register_fences: tuple[Any, list[Any], list[Any]] = (None, [], [])
        """The last fence of registers for products, and the values that were there at it and at the one before."""
        self.tensor = Stream(self.machine.agent(), self.machine.agent())
        block.cluster.pipes[self.tensor.reads] = self.tensor
        """Products and copies of the tensor core of Blackwell."""
        self.tensor_loads = Stream(self.machine.agent())
        self.tensor_stores = Stream(self.machine.agent())
        self.tensor_known: Clock = {}
        """What it knows of the tensor core behind a fence."""
        self.tensor_before: Clock = {}
        """What it knew behind the fence before that."""
        self.tensor_fence: Any = None
        """The last fence."""
        self.wait: Wait | None = None
        self.program: Program | None = None

    @property
    def lanes(self) -> int:
        """Threads that run now."""
        return self.threads

    @property
    def arrivals(self) -> int:
        """As how many threads it arrives on a barrier of `mosaic_gpu`: a warp stands for its warpgroup."""
        return self.threads if self.parent is None else self.parent.threads

    def thread_numbers(self) -> np.ndarray[Any, Any]:
        """The numbers of these threads in the block."""
        return np.arange(self.first, self.first + self.threads)

    def elected(self) -> Any:
        """The owner of what one thread does for all: a group's is that of its first warp."""
        return LEADER if not self.warp else (LEADER, self.warp)

    def all(self) -> list[Group]:
        """It, and its warps."""
        return [self, *self.warps]

    def ending(self) -> list[Group]:
        """Who has ended when its program has: a warp goes on as its warpgroup."""
        return [self] if self.parent is None else []

    def related(self, other: Group) -> bool:
        """Whether it is `other`, one of its warps, or the group whose warp that is."""
        return self is other or self.parent is other or self is other.parent

    # -- Clocks --------------------------------------------------------------------------------------------------------

    def release(self) -> Knowledge:
        """What those learn that all threads tell what they did."""
        told = super().release()
        for warp in self.warps:
            told.join(warp.release())
        return told

    def fence(self, site: Any, spaces: tuple[int, ...]) -> None:
        """A fence between the generic and the asynchronous proxy, by all threads."""
        super().fence(site, spaces)
        for warp in self.warps:
            warp.fence(site, spaces)

    def synchronize(self, site: Any) -> None:
        """A barrier of its own threads."""
        self.meets(self.threads)
        self.acquire(self.release(), site, self.threads)

    def alone(self) -> Knowledge:
        """What those learn that one thread of the group tells what it did."""
        told = self.known.copy()
        told.moment = self.now
        self.next_step()
        return told

    # -- Memory --------------------------------------------------------------------------------------------------------

    def touch(
        self,
        memory: MemRef,
        write: bool,
        what: str,
        site: Any,
        owner: Any,
        *,
        stream: tuple[int, int] | None = None,
        asynchronous: bool = False,
        atomic: bool = False,
        alike: Callable[[], bool] | None = None,
        work: Any = None,
    ) -> bool:
        """Checks an access. Returns whether it is inside of the memory.

        `stream` is the agent and the step of what is asynchronous, and `work` does it; `alike` tells of a write whether
        it changes nothing.
        """
        if (outside := memory.why_outside()) is not None:
            verb = "writes" if write else "reads"
            self.report("out-of-bounds", f"{what} {verb} {outside}", site)
            return False
        self.acts()
        if stream is None:
            self.dirty = True
            if self.machine.recorder is not None:
                self._takes_time(self.machine.recorder, memory, write, what, site)
        if not self.machine.how.races:
            return True
        agent, step = stream or (self.agent, self.step)
        now = Access(agent, step, owner, what, write, asynchronous, self, site, atomic, work)
        besides = self.leader if owner == self.elected() else self.own if owner == TENSOR else {}
        written = self.machine.checker.access(memory, now, self.known, besides, alike)
        if not written and not write and memory.buffer.shared:
            edge = "a write of all of it that is ordered before"
            message = f"{what} reads {memory.describe()}, of which a part was never written"
            self.report("uninitialised", message, site, edge=edge)
        return True

    def _takes_time(self, recorder: Recorder, memory: MemRef, write: bool, what: str, site: Any) -> None:
        size, shared = memory.size, memory.buffer.shared
        _, end = recorder.access(self, size, shared, write, site)
        recorder.busy(self, end, "access", words_of_access(what, write, shared), site, size)

    # -- Findings ------------------------------------------------------------------------------------------------------

    def report(
        self, kind: str, message: str, site: Any, *, edge: str | None = None, others: Iterable[Finding] = ()
    ) -> None:
        self.machine.findings.add(
            Finding(
                kind,
                message,
                self.block.position,
                agent=self.name,
                location=site.location if site is not None else None,
                iteration=tuple(self.loops),
                others=tuple(others),
                edge=edge,
            )
        )
