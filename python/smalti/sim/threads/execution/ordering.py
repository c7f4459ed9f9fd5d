# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Release and acquire through atomic accesses.

A release access, or a relaxed access after a release fence, publishes what its thread did and acquired before. An acquire
access that reads the value, or a relaxed access before an acquire fence, acquires that if each is in the scope of the
other. Updates propagate what was published before; stores do not (LLVM's language reference, "Memory Model for
Concurrent Operations"; PTX ISA, "Memory Consistency Model"; LLVM's guide to AMDGPU, "Memory Model").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...machine.clocks import HappensBefore
from .counters import COPY, DS, LOAD, STORE
from .lanes import Array

THREAD, WARP, BLOCK, CLUSTER, DEVICE, SYSTEM = range(1, 7)
"""Scopes, from the smallest."""


@dataclass(frozen=True)
class Order:
    """The memory order of an atomic access or a fence."""

    level: int
    acquires: bool = False
    releases: bool = False


@dataclass(frozen=True, eq=False)
class Told:
    """The clocks of one release."""

    warp: Any
    level: int
    clocks: HappensBefore
    sites: tuple[Any, ...]
    """The release access, and the fence before it."""

    def access_remote(self, warp: Any, level: int) -> bool:
        """Whether an access of a warp and this one are in each other's scope."""
        least = DEVICE
        if warp is self.warp:
            least = WARP
        elif warp.block is self.warp.block:
            least = BLOCK
        elif warp.block.cluster is self.warp.block.cluster:
            least = CLUSTER
        return min(level, self.level) >= least


def drain(st: Any, order: Order, site: Any) -> None:
    """Completes earlier accesses before a release: AMD waves wait for their accesses."""
    for warp in st.active_warps():
        if warp.counters is not None:
            kinds = (DS, LOAD, STORE, COPY) if order.level >= DEVICE else (DS, LOAD, STORE)
            warp.counters.drain(st, kinds, site)


def fence(st: Any, order: Order, site: Any) -> None:
    """A fence of the active threads."""
    if order.releases:
        drain(st, order, site)
    for warp in st.active_warps():
        lanes = st.lanes_of(warp)
        if order.acquires:
            for noticed, level, told in warp.noticed:
                both = noticed & lanes
                if both.any() and told.access_remote(warp, min(level, order.level)):
                    _learn(st, warp, told, both, site)
            warp.noticed = [item for item in warp.noticed if (item[0] & ~lanes).any()]
        if order.releases:
            told = Told(warp, order.level, warp.release(lanes), (site,))
            warp.published = [item for item in warp.published if (item[0] & ~lanes).any() or item[1].level > told.level]
            warp.published.append((lanes, told))


def published(warp: Any, lanes: Array, level: int) -> tuple[HappensBefore, int]:
    """The clocks and the scope of a relaxed arrival of some lanes, from earlier release fences."""
    found, least = HappensBefore(), level
    for mine, told in warp.published:
        if mine[lanes].any():
            found.join(told.clocks)
            least = min(least, told.level)
    return found, least


def accessed(
    st: Any,
    buffer: Any,
    places: Array,
    lanes: Array,
    orders: tuple[Order, Order],
    wrote: Array | None,
    reads: bool,
    site: Any,
) -> None:
    """Records atomic accesses of some lanes, one byte offset each, one after the other. Lanes in `wrote` (None: no
    lane) have the first order, the others the second; writing lanes read first if `reads` is set."""
    done, missed = orders
    if not buffer.places and not done.releases and not any(warp.published for warp in st.active_warps()):
        return
    for place, group, written in _runs(st, places, lanes, wrote):
        warp = st.warps[int(st.which[group[0]])]
        order = done if written else missed
        mine = np.zeros(st.block.warp_size, np.bool_)
        mine[group % st.block.warp_size] = True
        before: list[Told] = buffer.places.get(place, [])
        if reads or not written:
            for told in before:
                if not told.access_remote(warp, order.level):
                    continue
                if order.acquires:
                    _learn(st, warp, told, mine, site)
                elif not any(told is other and not (mine & ~seen).any() for seen, _, other in warp.noticed):
                    warp.noticed.append((mine, order.level, told))
        if not written:
            continue
        after = [told for told in before if reads]
        if order.releases:
            after.append(Told(warp, order.level, warp.release(mine), (site,)))
        else:
            for published, told in warp.published:
                if (published & mine).any():
                    level = min(order.level, told.level)
                    after.append(Told(warp, level, told.clocks, (*told.sites, site)))
        if reads and order.acquires and order.releases and len(group) > 1:
            # Each of them acquires the releases before it.
            warp.chains(group % st.block.warp_size)
        if after:
            buffer.places[place] = merged(after)
        else:
            buffer.places.pop(place, None)


def _runs(st: Any, places: Array, lanes: Array, wrote: Array | None) -> Iterator[tuple[int, Array, bool]]:
    """By byte offset, runs of consecutive lanes of one warp that all wrote, or all did not."""
    for place in np.unique(places[lanes]).tolist():
        there = lanes[places[lanes] == place]
        written = np.zeros(len(there), np.bool_) if wrote is None else wrote[there]
        warps = st.which[there]
        ends = np.flatnonzero((np.diff(warps) != 0) | (np.diff(written) != 0)) + 1
        for group, kind in zip(np.split(there, ends), np.split(written, ends), strict=True):
            yield place, group, bool(kind[0])


def _learn(st: Any, warp: Any, told: Told, lanes: Array, site: Any) -> None:
    if told.warp is warp:
        st.acquire(warp, told.clocks, site, lanes=lanes)
        return
    learned = list(warp.pending_acquires)
    st.acquire(warp, told.clocks, site, lanes=lanes)
    if told.warp.block is not warp.block:
        # The effect of synchronization with other blocks is decided at later accesses.
        warp.pending_acquires[:] = learned
        for agent, step in told.clocks.seen.items():
            warp.sources.setdefault(agent, []).append((step, (site, *told.sites)))
    elif len(warp.pending_acquires) > len(learned):
        warp.pending_acquires += [(source, 0) for source in told.sites]


def merged(told: list[Told]) -> list[Told]:
    """The released clocks, merged per block and scope."""
    found: dict[Any, Told] = {}
    for item in told:
        key = (item.warp, item.level)
        known = found.get(key)
        if known is not None:
            both = known.clocks.copy()
            both.join(item.clocks)
            sites = tuple(dict.fromkeys((*known.sites, *item.sites)))
            item = Told(item.warp, item.level, both, sites)
        found[key] = item
    return list(found.values())
