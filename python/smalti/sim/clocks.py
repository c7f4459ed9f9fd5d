"""Vector clocks.

What happens is done by agents: warpgroups, and for what is asynchronous the thing that tells of its end: a barrier in
shared memory (its phases), or a stream of groups (copies, products), which complete in order. Agents are numbers; the
steps of an agent are counted from 1. A clock says of each agent up to which step one knows that it has happened.
"""

from __future__ import annotations

Clock = dict[int, int]


def join(into: Clock, other: Clock) -> bool:
    """Takes over what `other` knows. Returns whether there was news."""
    news = False
    for agent, step in other.items():
        if into.get(agent, 0) < step:
            into[agent] = step
            news = True
    return news


class Knowledge:
    """What is known to have happened, and of that what is visible to the asynchronous proxy."""

    __slots__ = ("moment", "seen", "visible")

    def __init__(self) -> None:
        self.seen: Clock = {}
        self.visible: Clock = {}
        """Of what is seen: the steps whose writes a proxy fence followed."""
        self.moment = 0.0
        """When the last of it happened, in a run with a timeline."""

    def join(self, other: Knowledge) -> bool:
        """Takes over what `other` knows. Returns whether there was news."""
        self.moment = max(self.moment, other.moment)
        seen = join(self.seen, other.seen)
        return join(self.visible, other.visible) or seen

    def copy(self) -> Knowledge:
        other = Knowledge()
        other.seen = dict(self.seen)
        other.visible = dict(self.visible)
        other.moment = self.moment
        return other
