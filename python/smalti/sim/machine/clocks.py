"""Vector clocks.

What happens is done by agents: warpgroups, and for what is asynchronous the thing that tells of its end: a barrier in
shared memory (its phases), or a stream of groups (copies, products), which complete in order. Agents are numbers; the
steps of an agent are counted from 1. A clock says of each agent up to which step one knows that it has happened.
"""

from __future__ import annotations

from typing import Any

import numpy as np

VectorClock = dict[int, int]

SHARED, GLOBAL = 1, -1
"""Signs of agents, for what a proxy fence makes visible."""


def join(into: VectorClock, other: VectorClock) -> bool:
    """Takes over what `other` knows. Returns whether there was news."""
    news = False
    for agent, step in other.items():
        if into.get(agent, 0) < step:
            into[agent] = step
            news = True
    return news


class HappensBefore:
    """What is known to have happened, and of that what is visible to the asynchronous proxy."""

    __slots__ = ("completed", "lanes", "moment", "seen", "used", "visible")

    def __init__(self) -> None:
        self.seen: VectorClock = {}
        self.visible: VectorClock = {}
        """Of what is seen: the steps whose writes a proxy fence followed; by agents what they wrote to shared memory, and
        by agents with a minus what they wrote to global memory."""
        self.lanes: dict[int, Any] = {}
        """Of warps some of whose lanes told of themselves: for each lane the last step that is seen."""
        self.completed: VectorClock = {}
        """What is over, of which nothing that threads stored is seen: what was read then, may be overwritten."""
        self.used: VectorClock = {}
        """What is over, whether its writes are seen or not: the uses of barriers in shared memory by each agent, and the
        phases of each barrier."""
        self.moment = 0.0
        """When the last of it happened, in a run with a timeline."""

    def join(self, other: HappensBefore) -> bool:
        """Takes over what `other` knows. Returns whether there was news."""
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
        """What one learns of it who is not in the scope in which it is told."""
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
