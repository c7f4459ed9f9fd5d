# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scheduler of warpgroups and warps."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

from .findings import Finding, Stop
from .machine import Block, Group, Machine
from .options import seed_of
from .synchronization import Poll, Wait


class Scheduler:
    """Runs the warpgroups or warps of resident blocks."""

    def __init__(
        self, machine: Machine, blocks: list[Block], number: int, more: Callable[[], list[Block]] = list
    ) -> None:
        self.machine = machine
        self.blocks = blocks
        self._more = more
        """Returns further blocks, which start when no thread of the current ones can make progress."""
        groups = [group for block in blocks for group in block.groups]
        order = machine.how.order
        self.in_turn = order == "round-robin"
        seed = seed_of(order)
        self.random = random.Random(f"{seed}:{number}") if seed is not None else None
        if order == "highest-first":
            groups.reverse()
        elif order == "adversarial":
            turn = number % max(len(groups), 1)
            groups = groups[turn:] + groups[:turn]
        self.groups = groups
        """In order of priority."""
        for block in blocks:
            block.on_new = groups.append if order != "highest-first" else lambda new: groups.insert(0, new)
        self._turn = 0

    def run(self) -> None:
        while True:
            self.machine.tick(None, None)
            if self.machine.chance is not None:
                self._complete_by_chance()
            able = [g for g in self.groups if not g.finished and (g.wait is None or g.wait.ready())]
            if able:
                self._advance(self._pick(able))
            elif self._complete_what_is_waited_for() or self._start():
                continue
            elif all(g.finished for g in self.groups):
                return
            elif any(block.release() for block in self.blocks):
                continue
            elif polls := [g for g in self.groups if not g.finished and isinstance(g.wait, Poll) and not g.wait.stuck]:
                for group in polls:
                    self._advance(group)
            else:
                self._deadlock()
                return

    def _start(self) -> bool:
        """Starts further blocks."""
        self.groups[:] = [group for group in self.groups if not group.finished]
        blocks = self._more()
        for block in blocks:
            self.groups += block.groups
            block.on_new = self.groups.append
        self.blocks = [*self.blocks, *blocks]
        self._turn = 0
        return bool(blocks)

    def _pick(self, able: list[Group]) -> Group:
        if self.machine.recorder is not None:
            return min(able, key=lambda g: g.now if g.wait is None else max(g.now, g.wait.clocks().moment))
        if self.random is not None:
            return self.random.choice(able)
        if not self.in_turn:
            return able[0]
        later = [g for g in able if self.groups.index(g) >= self._turn]
        group = (later or able)[0]
        self._turn = self.groups.index(group) + 1
        return group

    def _advance(self, group: Group) -> None:
        group.wait = None
        assert group.program is not None
        in_time = self.machine.recorder is not None
        ahead = not self.in_turn and self.random is None and not in_time
        for wait in group.program:
            if wait is not None and (in_time or not wait.ready()):
                group.wait = wait
                return
            if not ahead:
                return
        group.finished = True
        group.block.leave(group.ending())

    def _complete_by_chance(self) -> None:
        chance = self.machine.chance
        assert chance is not None
        for block in self.blocks:
            if block.flights and chance.random() < 0.25:
                block.complete(chance.choice(block.flights))
            if block.arrivals and chance.random() < 0.25:
                chance.choice(block.arrivals).complete()

    def _complete_what_is_waited_for(self) -> bool:
        """Executes one copy for which a thread waits."""
        wanted = {id(g.wait.barrier) for g in self.groups if g.wait is not None and g.wait.barrier is not None}
        for block in self.blocks:
            flights = [f for f in block.flights if wanted & {id(b) for b in f.barriers}]
            if flights:
                # The newest copy first, so that code that relies on the order of copies fails.
                block.complete(flights[-1])
                return True
        polling = {g.block for g in self.groups if not g.finished and isinstance(g.wait, Poll)}
        for block in self.blocks:
            if block in polling and block.arrivals:
                block.arrivals[-1].complete()
                return True
        return False

    def _deadlock(self) -> None:
        waiting = [g for g in self.groups if not g.finished and not (g.wait and g.wait.inner)]
        for group in waiting:
            if isinstance(group.wait, Poll):
                group.wait.refuse()
        waits = [
            Finding(
                "deadlock",
                f"waits for {g.wait.describe() if g.wait else 'nothing'}",
                g.block.position,
                agent=g.name,
                location=g.wait.site.location if g.wait else None,
                iteration=tuple(g.loops),
            )
            for g in waiting
        ]
        for group in waiting:
            barrier = group.wait.barrier if group.wait else None
            if barrier is not None and not barrier.pending and barrier.transactions > 0:
                group.report(
                    "transaction",
                    f"phase {barrier.phase} of {barrier.name} expects {barrier.expected} B; "
                    f"copies delivered {barrier.expected - barrier.transactions} B",
                    group.wait.site if group.wait else None,
                    hint=f"expect {barrier.expected - barrier.transactions} B, or copy {barrier.transactions} B more with this mbarrier",
                )
        first = waits[0]
        wanted = dict.fromkeys(_wanted(g.wait) for g in waiting if g.wait is not None)
        together = "block" if len(self.blocks) == 1 else "cluster"
        if len({id(block.cluster) for block in self.blocks}) > 1:
            together = "grid"
        self.machine.findings.add(
            Finding(
                "deadlock",
                f"deadlock: no thread of the {together} can make progress; this one {first.message}",
                first.block,
                agent=first.agent,
                location=first.location,
                iteration=first.iteration,
                others=tuple(waits[1:]),
                hint="progress requires " + "; or ".join(itertools.islice(wanted, MOST_WANTED)),
            ),
            alike="deadlock",
        )
        raise Stop


MOST_WANTED = 4
"""The most alternatives in the hint of a deadlock."""


def _wanted(wait: Wait) -> str:
    """What would end a wait, for the hint of a deadlock."""
    if isinstance(wait, Poll):
        return "a write to the polled memory"
    if wait.barrier is not None:
        return f"{wait.barrier.missing()} for phase {wait.barrier.phase} of {wait.barrier.name}"
    where, _, missing = wait.describe().partition("; missing: ")
    names = ", ".join(name.partition(", which")[0] for name in missing.split("; "))
    return f"an arrival of {names} at {where.partition(':')[0]}" if missing else where
