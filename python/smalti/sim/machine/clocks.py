# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vector clocks.

An agent is something whose steps complete in order: a warpgroup or warp, a barrier in shared memory (its phases), or a
stream of asynchronous groups (copies, `wgmma`). Agents are numbers, and the steps of an agent are counted from 1. A vector
clock maps an agent to the last of its steps that happens before the current point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

VectorClock = dict[int, int]

SHARED, GLOBAL = 1, -1
"""Signs of agent numbers in clocks of the async proxy."""


def join(into: VectorClock, other: VectorClock) -> bool:
    """Takes the maximum of both clocks. Returns whether a step increased."""
    changed = False
    for agent, step in other.items():
        if into.get(agent, 0) < step:
            into[agent] = step
            changed = True
    return changed


class HappensBefore:
    """The vector clocks of what happens before a point, and of what is visible to the async proxy there."""

    __slots__ = ("completed", "lanes", "moment", "seen", "used", "visible")

    def __init__(self) -> None:
        self.seen: VectorClock = {}
        self.visible: VectorClock = {}
        """Steps whose writes a proxy fence followed: with a positive agent number the writes to shared memory, with a
        negative one those to global memory."""
        self.lanes: dict[int, Any] = {}
        """For warps in which only some lanes released: for each lane its last step."""
        self.completed: VectorClock = {}
        """Completed steps whose stores need not be visible. Memory that they read may be overwritten."""
        self.used: VectorClock = {}
        """Completed uses of mbarriers by each agent, and completed phases of each mbarrier, whether their writes are
        visible or not."""
        self.moment = 0.0
        """The time of the last step, in a run with a timeline."""

    def join(self, other: HappensBefore) -> bool:
        """Joins the clocks of `other`. Returns whether a step increased."""
        self.moment = max(self.moment, other.moment)
        join(self.used, other.used)
        seen = join(self.seen, other.seen)
        seen = (bool(other.completed) and join(self.completed, other.completed)) or seen
        for agent, steps in other.lanes.items():
            mine = self.lanes.get(agent)
            self.lanes[agent] = steps if mine is None else np.maximum(mine, steps)
            seen = seen or self.lanes[agent] is steps or bool((steps > mine).any())
        return join(self.visible, other.visible) or seen

    def out_of_scope(self) -> HappensBefore:
        """The clocks that an agent outside the scope acquires."""
        other = HappensBefore()
        other.completed = dict(self.completed)
        join(other.completed, self.seen)
        other.used = dict(self.used)
        other.moment = self.moment
        return other

    def copy(self) -> HappensBefore:
        other = HappensBefore()
        other.seen = dict(self.seen)
        other.visible = dict(self.visible)
        other.lanes = dict(self.lanes)
        other.completed = dict(self.completed)
        other.used = dict(self.used)
        other.moment = self.moment
        return other
