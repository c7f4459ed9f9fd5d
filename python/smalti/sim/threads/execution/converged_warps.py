# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converged warps: warps of a block that execute the same op together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...machine.synchronization import Wait
from ...translation.translator import raise_located
from .accesses import Accesses
from .block import Warp
from .lanes import Array, take


class ConvergedWarps(Accesses):
    """Warps of a block that execute the same op together."""

    jumps = 0
    """The number of backward branches in unstructured control flow."""

    def __init__(self, block: Any, warps: list[Warp], program: Any, values: list[Any]) -> None:
        super().__init__(block, warps)
        self.code = program
        self.v = values
        """Values of the program, by slot."""
        self.pc = 0
        self.frames: list[Any] = []
        """The open control-flow frames."""
        self.fence: Any = None
        """The last `fences.RegisterFence`."""
        self.visits: dict[int, Any] = {}
        """By polling op: the state at its last execution (see `polling`)."""
        self.wait: Wait | None = None
        self.finished = False
        self.program = self._run()

    def _run(self) -> Any:
        """Runs the program up to its next wait."""
        chunks = self.code
        site: Any = None
        try:
            while self.pc < len(chunks):
                chunk = chunks[self.pc]
                for step, site in chunk.steps:  # noqa: B007  (the handler below reads it)
                    step(self)
                if chunk.control is None:
                    self.pc += 1
                    continue
                site = chunk.site
                self.machine.tick(self, site)
                result = chunk.control(self)
                if result is None:
                    self.pc += 1
                elif result.__class__ is int:
                    self.pc = result
                else:
                    self.pc += 1
                    yield from result
        except Exception as problem:
            raise_located(problem, site)
        for warp in self.warps:
            warp.finished = True

    def ending(self) -> list[Warp]:
        """The warps that exit at the end of the program."""
        return self.warps

    def split(self, classes: Array) -> None:
        """Splits the warps at divergent control flow: `classes` has a number for each unit of warps. These converged
        warps keep the first class; the new ones continue at the same op."""
        values = np.unique(classes).tolist()
        classes = np.repeat(classes, len(self.warps) // len(classes))
        warps = self.warps
        before = (self.v, self.frames, self.loops, self.mask, self.fence, self.ended)
        for number in reversed(values):
            chosen = [warp for warp, of in zip(warps, classes.tolist(), strict=True) if of == number]
            lanes = np.repeat(classes == number, self.block.warp_size)
            team = self
            if number == values[0]:
                self.set_warps(chosen)
            else:
                team = ConvergedWarps(self.block, chosen, self.code, [])
                team.pc = self.pc
            memo: dict[int, Any] = {}
            v, frames, loops, mask, fence, ended = before
            ranks = self.block.ranks
            team.v = [take(value, lanes, rank, memo) for value, rank in zip(v, ranks, strict=True)]
            team.fence = fence.take(v, team.v) if fence is not None else None
            team.frames = [frame.take(lanes, memo) for frame in frames]
            team.loops = [take(i, lanes, 0, memo) for i in loops]
            team.mask = mask[lanes] if mask is not None else None
            team.ended = ended[lanes] if ended is not None else None
            if team is not self:
                self.block.add(team)
