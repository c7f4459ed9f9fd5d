# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slots of shared memory that a kernel needs, so that a mutant which shares them is an error.

A view of one of several slots needs its own slot if
- data that is written through it is read through another view, or the reverse,
- it reads data that was written to its slot before it wrote to a later one, or
- it accesses its slot while accesses of another of its slots may be outstanding.
Otherwise the view could always use the same slot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .counters import DS


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot that a view selected."""

    site: int
    """The number of the op."""
    begin: int
    """The offset of the multi-buffered memory."""
    number: int


class Slots:
    """The accesses to the slots of a block's shared memory."""

    def __init__(self, block: Any) -> None:
        self._block = block
        self._now = 0
        self._written: dict[tuple[int, int], tuple[int, int]] = {}
        """By memory and slot: the view of the last write, and its time."""
        self._latest: dict[tuple[int, int], dict[int, int]] = {}
        """By view and memory: the times of the last writes to its slots."""
        self._accesses: dict[tuple[int, int], dict[tuple[int, bool, int], dict[int, int]]] = {}
        """By view and memory: by slot, whether it writes, and warp, the last steps of its accesses."""

    def takes(self, slot: Slot) -> bool:
        """Whether accesses through a view are recorded."""
        return (slot.site, "shared") not in self._block.machine.effective

    def needed(self, slots: tuple[Slot, ...]) -> None:
        """Accesses through a view are not visible here: its slot may be needed."""
        for slot in slots:
            self._needs(slot.site, slot.number)

    def _needs(self, site: int, number: int) -> None:
        if number:
            self._block.machine.effective.add((site, "shared"))

    def access(self, slots: tuple[Slot, ...], write: bool, warps: list[Any], agents: Any, steps: Any) -> None:
        """Warps access slots; the accesses complete with the `steps` of `agents`."""
        self._now += 1
        for slot in slots:
            memory = (slot.begin, slot.number)
            if write:
                self._written[memory] = (slot.site, self._now)
            elif memory in self._written:
                self._reads(slot, *self._written[memory])
            if self.takes(slot):
                self._overlaps(slot, write, warps, agents, steps)
            if write:
                self._latest.setdefault((slot.site, slot.begin), {})[slot.number] = self._now

    def _reads(self, slot: Slot, writer: int, when: int) -> None:
        if writer != slot.site:
            self._needs(slot.site, slot.number)
            self._needs(writer, slot.number)
        for (site, begin), times in self._latest.items():
            # With a single slot, the slot would be overwritten in between.
            if begin == slot.begin and site == slot.site if slot.number else begin == slot.begin:
                for number, time in times.items():
                    if time > when and number != slot.number:
                        self._needs(site, number or slot.number)

    def _overlaps(self, slot: Slot, write: bool, warps: list[Any], agents: Any, steps: Any) -> None:
        before = self._accesses.setdefault((slot.site, slot.begin), {})
        for (number, wrote, index), ends in before.items():
            if number != slot.number and (write or wrote):
                other = self._block.warps[index]
                if not all(_knows(w, other, agent, step) for w in warps for agent, step in ends.items()):
                    self._needs(slot.site, number or slot.number)
                    return
        for warp, agent, step in zip(warps, agents, steps, strict=True):
            before.setdefault((slot.number, write, warp.index), {})[agent] = step


def _knows(warp: Any, other: Any, agent: int, step: int) -> bool:
    if warp.known.seen.get(agent, 0) >= step:
        return True
    if warp is not other:
        return False
    in_order = agent == warp.agent or (warp.counters is not None and agent == warp.counters.of[DS].agent)
    return in_order or warp.own.get(agent, 0) >= step


__all__ = ["Slot", "Slots"]
