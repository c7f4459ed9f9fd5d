"""Loads that several blocks of a cluster of gfx1250 ask for: whether all of them do.

A mask names the blocks that ask for the same data, which is fetched once. Each of them waits for its own load, and the
others' do not change its LDS. A load waits for the others that its mask names, unless it has the bit for an early timeout
(CDNA5 ISA, "Cluster Loads"; Composable Kernel, "Multicast Load Tests (gfx1250)"; Triton's pull request 8719, by AMD).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ...machine.findings import Finding, Site

_EARLY = 1 << 16
"""Whether a load does not wait for the others that its mask names."""


@dataclass(frozen=True)
class _Request:
    """A load for several blocks that a wave asked for."""

    warp: Any
    site: Site
    iteration: tuple[int, ...]

    def report(self, message: str, edge: str) -> None:
        block, where = self.warp.block, self.site.location
        found = Finding(
            "assertion",
            message,
            block.position,
            agent=self.warp.name,
            location=where,
            iteration=self.iteration,
            others=(),
            edge=edge,
        )
        block.machine.findings.add(found, alike=(self.site, edge))


class Requests:
    """The loads for several blocks which those of a cluster ask for."""

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster
        self._asked: dict[Any, tuple[Counter[int], _Request]] = {}
        """By mask and data: how often each block asked for it, and who did last."""

    def add(self, warp: Any, mask: int, data: Any, site: Site) -> None:
        blocks, own = self.cluster.blocks, warp.block.cluster.blocks.index(warp.block)
        request = _Request(warp, site, warp.loops)
        named = [number for number in range(16) if mask >> number & 1]
        if not named:
            return
        if own not in named:
            request.report(f"a load of block {own} for blocks {_numbers(named)}", "a mask that names the block itself")
            return
        if mask & _EARLY:
            return
        if named[-1] >= len(blocks):
            message = f"a load for block {named[-1]} of a cluster with {len(blocks)}"
            request.report(message, "a mask of blocks that there are")
            return
        key = (mask & 0xFFFF, data)
        counts, _ = self._asked.get(key, (Counter(), request))
        counts[own] += 1
        self._asked[key] = (counts, request)
        if all(counts[number] == counts[own] for number in named):
            del self._asked[key]

    def check(self) -> None:
        """Whether all have asked that were to."""
        for (mask, _), (counts, request) in self._asked.items():
            most = max(counts.values())
            lacking = [number for number in range(16) if mask >> number & 1 and counts[number] < most]
            request.report(
                f"a load for several blocks, for which block {_numbers(lacking)} never asks with the same mask",
                "the same load by all blocks that the mask names, or its bit for an early timeout",
            )


def _numbers(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))
