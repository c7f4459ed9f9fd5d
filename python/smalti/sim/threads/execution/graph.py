# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control-flow graph: branches, and the points at which divergent threads reconverge."""

from __future__ import annotations

from typing import Any


class Label:
    """A label in the code."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = -1


class Graph:
    """The blocks of a region. After a divergent branch the lanes take one path after the other up to the reconvergence
    point: the immediate post-dominator of the branch."""

    def __init__(self, blocks: list[Any], results: list[int], ends: bool = False) -> None:
        self.blocks = blocks
        self.ends = ends
        """Whether returning threads exit while the others continue."""
        self.results = results
        """The slots of the region's results."""
        self.end = Label()
        """The label after all blocks."""
        self.labels: dict[Any, Label] = {}
        self.waiting: set[Any] = set()
        """Blocks with ops that may wait."""
        self._after = {block: list(list(block.operations)[-1].operation.successors) for block in blocks}
        self._reached = {block: self._reach(block, None) for block in blocks}
        self._joins = self._post_dominators()

    def _reach(self, block: Any, end: Any) -> set[Any]:
        """The blocks that are reachable from a block without passing an end."""
        found: set[Any] = set()
        left = list(self._after[block])
        while left:
            one = left.pop()
            if one not in found and (end is None or one != end):
                found.add(one)
                left += self._after[one]
        return found

    def _post_dominators(self) -> dict[Any, Any]:
        """For each block its immediate post-dominator; None for the exit."""
        every = set(self.blocks)
        found = dict.fromkeys(self.blocks, every)
        following = self._following()
        changes = True
        while changes:
            changes = False
            for block in reversed(self.blocks):
                after = following[block]
                ways = set.intersection(*(found[one] for one in after)) if after else set()
                if (now := {block} | ways) != found[block]:
                    found[block], changes = now, True
        joins = {}
        for block in self.blocks:
            # The immediate post-dominator is post-dominated by all others.
            strict = found[block] - {block}
            joins[block] = next((one for one in strict if strict <= found[one]), None)
            going_on = {one for one in self._after[block] if not self._only_returns(one)}
            if self.ends and len(going_on) == 1 < len(set(self._after[block])):
                # The other blocks do not post-dominate.
                joins[block] = going_on.pop()
        return joins

    def _only_returns(self, block: Any) -> bool:
        return not self._after[block] and len(list(block.operations)) == 1

    def _following(self) -> dict[Any, list[Any]]:
        """The successors of each block for lanes that do not exit, while others do."""
        if not self.ends:
            return self._after
        found = {}
        for block, after in self._after.items():
            found[block] = [one for one in after if not self._only_returns(one)] or after
        while True:
            # If no other block leads to an exit, the exit of some lanes does.
            reaching = {block for block, after in found.items() if not after}
            while more := {block for block in found if block not in reaching and reaching.intersection(found[block])}:
                reaching |= more
            stuck = [block for block in found if block not in reaching and found[block] != self._after[block]]
            if not stuck:
                return found
            found[stuck[0]] = self._after[stuck[0]]

    def join(self, block: Any) -> Label:
        """The reconvergence point after the branch at the end of a block."""
        found = self._joins[block]
        return self.end if found is None else self.labels[found]

    def may_wait(self, block: Any) -> bool:
        """Whether ops that may wait are between the end of a block and its reconvergence point, if no lanes exit
        there."""
        if self.ends and any(self._only_returns(one) for one in self._after[block]):
            return not self.waiting.isdisjoint(self._reached[block])
        return not self.waiting.isdisjoint(self._reach(block, self._joins[block]))

    def values_outside(self, block: Any) -> set[Any]:
        """The values of a loop block that blocks outside the loop use: lanes that have left the loop keep theirs."""
        if block not in self._reached[block]:
            return set()
        operations = [view.operation for view in block.operations]
        values = [value for op in operations for value in op.results]
        return {value for value in values if any(_block_of(use.owner, self.blocks) != block for use in value.uses)}


def _block_of(owner: Any, blocks: list[Any]) -> Any:
    """The block of a graph that contains an op."""
    op = owner.operation
    while op.block not in blocks:
        op = op.parent.operation
    return op.block
