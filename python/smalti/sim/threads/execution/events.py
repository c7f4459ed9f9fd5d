# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recorded accesses of converged warps."""

from __future__ import annotations

from typing import Any

import numpy as np

from .lanes import Array
from .ordering import BLOCK, CLUSTER, DEVICE


class Event:
    """One memory access of converged warps."""

    __slots__ = (
        "asynchronous",
        "block",
        "lanes",
        "level",
        "loops",
        "only",
        "reads",
        "site",
        "size",
        "threads",
        "what",
        "work",
        "write",
    )

    def __init__(
        self,
        what: str,
        write: bool,
        site: Any,
        team: Any,
        asynchronous: bool = False,
        work: Any = None,
        *,
        level: int = 0,
        reads: bool = False,
        size: int = 0,
    ) -> None:
        self.what = what
        self.write = write
        self.site = site
        self.asynchronous = asynchronous
        """Whether the access is through the async proxy."""
        self.level = level
        """The scope of an atomic access (see `ordering`); 0 for others."""
        self.reads = reads or not write
        self.size = size
        """Bytes per element of the access."""
        self.work = work
        """The copy of the access, if other accesses may write equal bytes."""
        self.block = team.block
        self.loops = tuple(team.loops)
        self.threads = team.threads
        self.only = -1
        """The thread, if one thread executed the access."""
        self.lanes: tuple[Array, Array] | None = None
        """The grains that each of some threads reads, and these threads, if each has waited for its own access."""

    def reader_of(self, grains: Array, agent: int) -> Any:
        """The only reading thread of each of some grains; -1 if there are several."""
        if self.lanes is None:
            return self.only
        rows, threads = self.lanes
        mine = threads // self.block.warp_size == self.block.owner_of(agent).index
        flat, by = rows[mine].reshape(-1), np.repeat(threads[mine], rows.shape[1])
        order = np.argsort(flat, kind="stable")
        flat, by = flat[order], by[order]
        begins = np.flatnonzero(np.concatenate([[True], flat[1:] != flat[:-1]]))
        low, high = np.minimum.reduceat(by, begins), np.maximum.reduceat(by, begins)
        return np.where(low == high, low, -1)[np.searchsorted(flat[begins], grains)]


class Side:
    """One thread's part of an event, for messages."""

    def __init__(self, event: Event, agent: int, step: int, thread: int) -> None:
        self.agent, self.step, self.thread = agent, step, thread
        self.what, self.write, self.site = event.what, event.write, event.site
        self.asynchronous, self.block = event.asynchronous, event.block
        self.warp = event.block.warps[thread // event.block.warp_size]
        self.name = event.block.name_of(thread)
        self.iteration = iteration_of(event.loops, event.threads, thread)


def iteration_of(loops: tuple[Any, ...], threads: Array, thread: int) -> tuple[int, ...]:
    """The induction variables of a thread."""
    where = np.flatnonzero(threads == thread)
    lane = int(where[0]) if where.size else 0
    return tuple(int(i[lane]) if isinstance(i, np.ndarray) else int(i) for i in loops)


def together(one: Event, other: Event) -> bool:
    """Whether two atomic accesses do not race: they access the same bytes, and each is in the scope of the other."""
    least = BLOCK if one.block is other.block else CLUSTER if one.block.cluster is other.block.cluster else DEVICE
    return one.size == other.size and min(one.level, other.level) >= least
