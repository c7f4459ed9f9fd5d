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
    """Warps of a block that run together."""

    def __init__(self, block: Any, warps: list[Warp]) -> None:
        self.block: Any = block
        """A `program.RunningBlock`."""
        self.machine = block.machine
        self.loops: list[Any] = []
        """Induction variables of the loops that run."""
        self.set_warps(warps)
        self.mask: Array | None = None
        """The lanes that run now; None for all of them."""
        self.ended: Array | None = None
        """The lanes that have ended, while others go on."""
        if (self.threads >= block.thread_count).any():
            self.mask = self.threads < block.thread_count

    def set_warps(self, warps: list[Warp]) -> None:
        size = self.block.warp_size
        self.warps = warps
        for warp in warps:
            warp.team = self
        self.lanes = size * len(warps)
        self.threads: Array = np.concatenate([np.arange(w.index * size, (w.index + 1) * size) for w in warps])
        """The number of each lane's thread in its block."""
        self.which: Array = np.repeat(np.arange(len(warps), dtype=np.int32), size)
        """For each lane which of the warps it is in."""
        self.agents: Array = np.array([w.agent for w in warps], np.int32)
        self._made: dict[Any, tuple[list[Array], Any]] = {}
        self.inputs: Sequence[int] = ()
        self.produced: dict[int, Any] = {}
        """The slots of the operands of what runs, and when each warp has its results, in a run with a timeline."""
        self.owes = self.told = False
        """Whether what runs is to tell of its time, as it does something beside the program or multiplies; and whether it
        did."""

    @property
    def now(self) -> float:
        """The moment up to which all of it has run, in a run with a timeline."""
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
        """A number for each lane as a row for each unit of warps that stay together."""
        return values.reshape(max(1, len(self.warps) // self.block.unit), -1)

    def of_units(self, values: Array) -> Array | None:
        """The number that the lanes of each unit of warps have that run; None where they differ."""
        rows = self.by_unit(values)
        if self.mask is None:
            return None if (rows != rows[:, :1]).any() else rows[:, 0]
        running = self.mask.reshape(rows.shape)
        first = rows[np.arange(len(rows)), running.argmax(1)]
        return None if (running & (rows != first[:, None])).any() else first

    def ways(self, condition: Array) -> Array:
        """For each unit of warps: 0 where no lane that runs has the condition, 1 where all have, 2 where some have."""
        rows = self.by_unit(condition)
        running = np.ones_like(rows) if self.mask is None else self.mask.reshape(rows.shape)
        some, missed = (rows & running).any(1), (~rows & running).any(1)
        return np.where(some & missed, 2, some.astype(np.int64))

    def active_warps(self) -> list[Warp]:
        """The warps of which a lane runs."""
        if self.mask is None:
            return self.warps
        running: Any = self.mask.reshape(len(self.warps), -1).any(1)
        return [warp for warp, runs in zip(self.warps, running.tolist(), strict=True) if runs]

    def not_ended(self, mask: Array | None) -> Array | None:
        """A mask without the lanes that have ended."""
        if self.ended is None:
            return mask
        return ~self.ended if mask is None else mask & ~self.ended

    def remaining(self, warp: Warp) -> int:
        """The threads of a warp that have not ended."""
        if self.ended is None:
            return warp.threads
        return warp.threads - int(self.ended[self.which == self.warps.index(warp)].sum())

    def lanes_of(self, warp: Warp) -> Array:
        """The lanes of a warp that run."""
        size, at = self.block.warp_size, self.warps.index(warp) * self.block.warp_size
        return np.ones(size, np.bool_) if self.mask is None else self.mask[at : at + size]

    def uniform(self, value: Any) -> int | None:
        """The number that all lanes that run have; None where they differ."""
        if not isinstance(value, np.ndarray):
            return int(value)
        running = value if self.mask is None else value[self.mask]
        if running.size == 0:
            return int(value[0])
        return int(running[0]) if (running == running[0]).all() else None

    def once(self, key: Any, values: list[Array], make: Callable[[list[Array]], Any]) -> Any:
        """What `make` makes of arrays; what it made when it was asked last for the key, if they are the same ones."""
        found = self._made.get(key)
        if found is None or not all(map(operator.is_, found[0], values)):
            found = self._made[key] = (values, make(values))
        return found[1]

    # -- Clocks --------------------------------------------------------------------------------------------------------

    def acquire(self, warp: Warp, clocks: Any, site: Any, threads: int = 0, lanes: Array | None = None) -> None:
        """A warp learns what others told; or some lanes of it."""
        warp.acquire(clocks, site, threads, lanes)
        self.block.learns(warp)

    def learn(self, warp: Warp, agent: int, step: int) -> None:
        """A warp learns that steps of an agent are over."""
        if warp.known.seen.get(agent, 0) < step:
            warp.known.seen[agent] = step
            self.block.learns(warp)

    # -- Findings ------------------------------------------------------------------------------------------------------

    def first_lane(self) -> int:
        """The first lane that runs."""
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
        """Reports what a lane does, or the team."""
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
        """Reports what the block cannot go on after."""
        self.report(kind, message, site, lane)
        raise Stop
