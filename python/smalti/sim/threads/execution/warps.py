# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warps at the same op: their active lanes, and their findings."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from ...machine.findings import Finding, Stop
from .block import Warp
from .events import iteration_of
from .lanes import Array


class Warps:
    """Converged warps of a block."""

    def __init__(self, block: Any, warps: list[Warp]) -> None:
        self.block: Any = block
        """A `program.RunningBlock`."""
        self.machine = block.machine
        self.loops: list[Any] = []
        """Induction variables of the enclosing loops."""
        self.set_warps(warps)
        self.mask: Array | None = None
        """The active lanes; None for all."""
        self.ended: Array | None = None
        """The exited lanes."""
        if (self.threads >= block.thread_count).any():
            self.mask = self.threads < block.thread_count

    def set_warps(self, warps: list[Warp]) -> None:
        size = self.block.warp_size
        self.warps = warps
        for warp in warps:
            warp.team = self
        self.lanes = size * len(warps)
        self.threads: Array = np.concatenate([np.arange(w.index * size, (w.index + 1) * size) for w in warps])
        """The thread number of each lane in its block."""
        self.which: Array = np.repeat(np.arange(len(warps), dtype=np.int32), size)
        """For each lane the index of its warp."""
        self.agents: Array = np.array([w.agent for w in warps], np.int32)
        self._made: dict[Any, tuple[list[Array], Any]] = {}
        self.inputs: Sequence[int] = ()
        self.produced: dict[int, Any] = {}
        """The operand slots of the current op, and the completion time of each warp's results, in a run with a
        timeline."""
        self.owes = self.told = False
        """Whether the current op records its own time, as asynchronous ops and MMAs do, and whether it has."""

    @property
    def now(self) -> float:
        """The time of the slowest warp, in a run with a timeline."""
        return min(warp.now for warp in self.warps)

    @property
    def name(self) -> str:
        names = self.block.warp_name
        if len(self.warps) == 1:
            return f"{names} {self.warps[0].index}"
        if len(self.warps) == len(self.block.warps):
            return f"all {names}s"
        return f"{names}s {', '.join(str(warp.index) for warp in self.warps)}"

    def by_unit(self, values: Array) -> Array:
        """A number per lane as a row for each unit of warps that stay together."""
        return values.reshape(max(1, len(self.warps) // self.block.unit), -1)

    def of_units(self, values: Array) -> Array | None:
        """The number that is uniform in each unit of warps with active lanes; None if it differs."""
        rows = self.by_unit(values)
        if self.mask is None:
            return None if (rows != rows[:, :1]).any() else rows[:, 0]
        running = self.mask.reshape(rows.shape)
        first = rows[np.arange(len(rows)), running.argmax(1)]
        return None if (running & (rows != first[:, None])).any() else first

    def ways(self, condition: Array) -> Array:
        """For each unit of warps: 0 if no active lane has the condition, 1 if all have it, 2 if some have it."""
        rows = self.by_unit(condition)
        running = np.ones_like(rows) if self.mask is None else self.mask.reshape(rows.shape)
        some, missed = (rows & running).any(1), (~rows & running).any(1)
        return np.where(some & missed, 2, some.astype(np.int64))

    def active_warps(self) -> list[Warp]:
        """The warps with active lanes."""
        if self.mask is None:
            return self.warps
        running: Any = self.mask.reshape(len(self.warps), -1).any(1)
        return [warp for warp, runs in zip(self.warps, running.tolist(), strict=True) if runs]

    def not_ended(self, mask: Array | None) -> Array | None:
        """A mask without the exited lanes."""
        if self.ended is None:
            return mask
        return ~self.ended if mask is None else mask & ~self.ended

    def remaining(self, warp: Warp) -> int:
        """The threads of a warp that have not exited."""
        if self.ended is None:
            return warp.threads
        return warp.threads - int(self.ended[self.which == self.warps.index(warp)].sum())

    def lanes_of(self, warp: Warp) -> Array:
        """The active lanes of a warp."""
        size, at = self.block.warp_size, self.warps.index(warp) * self.block.warp_size
        return np.ones(size, np.bool_) if self.mask is None else self.mask[at : at + size]

    def uniform(self, value: Any) -> int | None:
        """The number that is uniform in the active lanes; None if it differs."""
        if not isinstance(value, np.ndarray):
            return int(value)
        running = value if self.mask is None else value[self.mask]
        if running.size == 0:
            return int(value[0])
        return int(running[0]) if (running == running[0]).all() else None

    def require_uniform(self, value: Any, message: str, site: Any) -> int:
        """The number that is uniform in the active lanes. If it differs, the block stops with the message."""
        found = self.uniform(value)
        if found is None:
            self.stop("divergence", message, site)
        return found

    def once(self, key: Any, values: list[Array], make: Callable[[list[Array]], Any]) -> Any:
        """The result of `make`; cached while the arrays are the same as in the last call with this key."""
        found = self._made.get(key)
        if found is None or not all(map(operator.is_, found[0], values)):
            found = self._made[key] = (values, make(values))
        return found[1]

    # -- Clocks --------------------------------------------------------------------------------------------------------

    def acquire(self, warp: Warp, clocks: Any, site: Any, threads: int = 0, lanes: Array | None = None) -> None:
        """A warp, or some of its lanes, acquires published clocks."""
        warp.acquire(clocks, site, threads, lanes)
        self.block.learns(warp)

    def learn(self, warp: Warp, agent: int, step: int) -> None:
        """A warp acquires steps of an agent."""
        if warp.known.seen.get(agent, 0) < step:
            warp.known.seen[agent] = step
            self.block.learns(warp)

    # -- Findings ------------------------------------------------------------------------------------------------------

    def first_lane(self) -> int:
        """The first active lane."""
        return 0 if self.mask is None else int(self.mask.argmax())

    def report(
        self,
        kind: str,
        message: str,
        site: Any,
        lane: int | None = None,
        *,
        hint: str | None = None,
        others: Iterable[Finding] = (),
    ) -> None:
        """Reports a finding of a lane, or of the converged warps."""
        name = self.name if lane is None else self.block.name_of(int(self.threads[lane]))
        thread = int(self.threads[self.first_lane() if lane is None else lane])
        self.machine.findings.add(
            Finding(
                kind,
                message,
                self.block.position,
                agent=name,
                location=site.location if site is not None else None,
                iteration=iteration_of(tuple(self.loops), self.threads, thread),
                others=tuple(others),
                hint=hint,
            ),
            alike=(site, hint),
        )

    def stop(self, kind: str, message: str, site: Any, lane: int | None = None) -> NoReturn:
        """Reports a finding after which the block cannot continue."""
        self.report(kind, message, site, lane)
        raise Stop
