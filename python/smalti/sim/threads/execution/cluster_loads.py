# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Multicast loads of gfx1250 clusters.

A mask names the blocks that load the same data, which is fetched once. Each block waits for its own load, and the loads of
the others do not change its LDS. A load waits for the others in its mask, unless the early-timeout bit is set
(CDNA5 ISA, "Cluster Loads"; Composable Kernel, "Multicast Load Tests (gfx1250)"; Triton's pull request 8719, by AMD).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ....diagnostics import counted
from ...machine.findings import Finding, Site

_EARLY = 1 << 16
"""The bit of the early timeout, with which a load does not wait for the others in its mask."""


@dataclass(frozen=True)
class _Request:
    """A multicast load of a wave."""

    warp: Any
    site: Site
    iteration: tuple[int, ...]

    def report(self, message: str, hint: str) -> None:
        block, where = self.warp.block, self.site.location
        found = Finding(
            "assertion",
            message,
            block.position,
            agent=self.warp.name,
            location=where,
            iteration=self.iteration,
            others=(),
            hint=hint,
        )
        block.machine.findings.add(found, alike=(self.site, hint))


class Requests:
    """The multicast loads of a cluster."""

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster
        self._asked: dict[Any, tuple[Counter[int], _Request]] = {}
        """By mask and data: how often each block executed the load, and the last wave."""

    def add(self, warp: Any, mask: int, data: Any, site: Site) -> None:
        blocks, own = self.cluster.blocks, warp.block.cluster.blocks.index(warp.block)
        request = _Request(warp, site, warp.loops)
        named = [number for number in range(16) if mask >> number & 1]
        if not named:
            return
        if own not in named:
            request.report(
                f"the mask of a multicast load by block {own} contains blocks {_numbers(named)}; it must contain "
                f"block {own}",
                "set the bit of the block itself in the mask",
            )
            return
        if mask & _EARLY:
            return
        if named[-1] >= len(blocks):
            message = f"the mask of a multicast load contains block {named[-1]}; the cluster has {counted(len(blocks), 'block')}"
            request.report(message, "remove the blocks outside the cluster from the mask")
            return
        key = (mask & 0xFFFF, data)
        counts, _ = self._asked.get(key, (Counter(), request))
        counts[own] += 1
        self._asked[key] = (counts, request)
        if all(counts[number] == counts[own] for number in named):
            del self._asked[key]

    def check(self) -> None:
        """Reports blocks in a mask that did not execute the load."""
        for (mask, _), (counts, request) in self._asked.items():
            most = max(counts.values())
            lacking = [number for number in range(16) if mask >> number & 1 and counts[number] < most]
            blocks, verb = ("block", "does") if len(lacking) == 1 else ("blocks", "do")
            request.report(
                f"the mask of this multicast load includes {blocks} {_numbers(lacking)}, which {verb} not execute "
                "the same load with the "
                "same mask",
                "let all blocks in the mask execute the same load, or set the early-timeout bit of the mask",
            )


def _numbers(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))
