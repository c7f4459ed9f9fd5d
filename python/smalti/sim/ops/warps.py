# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`mosaic_gpu.warp_map`: code that the four warps of a warpgroup execute independently.

Each warp is an agent there, with its own vector clocks. After the region, an event happens before the warpgroup's next
access only if it happens before the end of every warp. Accesses of one warp need a barrier before other warps use them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..machine.clocks import HappensBefore, VectorClock, join
from ..machine.machine import Group, Program
from ..machine.synchronization import Wait
from ..machine.values import collapse, is_vector
from ..translation.translator import Translated, Translator, Unsupported, operation, walk

WARP = 32

_OF_ALL = {"gpu.launch", "mosaic_gpu.warp_map", "mosaic_gpu.wgmma", "mosaic_gpu.mma", "mosaic_gpu.async_copy"}
_OF_ALL |= {"mosaic_gpu.tmem_alloc", "mosaic_gpu.tmem_dealloc", "mosaic_gpu.initialize_barrier"}
_OF_ALL |= {"nvvm.tcgen05.wait", "nvvm.cluster.arrive", "nvvm.cluster.arrive.relaxed", "nvvm.cluster.wait"}
_OF_ALL |= {"mosaic_gpu.try_cluster_cancel", "memref.alloca", "memref.alloc"}
"""Ops that a whole warpgroup executes."""


class Warp(Group):
    """A warp of a warpgroup. The operations that its elected thread issued stay its own from one region to the
    next."""

    def __init__(self, parent: Group, number: int) -> None:
        first, name = parent.first + WARP * number, f"warp {number} of {parent.name}"
        super().__init__(parent.block, parent.index, first, WARP, [], name)
        self.parent = parent
        self.warp = number
        if not number:
            # Its elected thread is that of the warpgroup.
            self.bulk, self.tensor, self.leader = parent.bulk, parent.tensor, parent.leader

    def begin(self, program: Program) -> None:
        """Starts the region with the clocks of the warpgroup."""
        parent = self.parent
        assert parent is not None
        self.known.join(parent.known)
        for mine, theirs in self._clocks(parent):
            join(mine, theirs)
        self.pending_acquires += parent.pending_acquires
        self.loops[:] = parent.loops
        self.met, self.now = parent.met, parent.now
        self.tensor_fence = self.tensor_fence or parent.tensor_fence
        self.visible_barriers |= parent.visible_barriers
        self.program, self.finished = program, False

    def _clocks(self, parent: Group) -> list[tuple[VectorClock, VectorClock]]:
        names = ("own", "own_fenced", "tensor_known", "tensor_before")
        return [(getattr(self, name), getattr(parent, name)) for name in names]


def _common(clocks: list[VectorClock]) -> VectorClock:
    """The minimum of the clocks of all warps."""
    first, *rest = clocks
    found = {}
    for agent, step in first.items():
        low = min((clock.get(agent, 0) for clock in rest), default=step)
        found[agent] = min(low, step)
    return found


def _join(group: Group) -> None:
    """Ends the region: the warpgroup acquires what happens before the end of every warp."""
    warps = group.warps
    join(group.known.seen, _common([warp.known.seen for warp in warps]))
    join(group.known.used, _common([warp.known.used for warp in warps]))
    join(group.known.visible, _common([warp.known.visible for warp in warps]))
    join(group.tensor_known, _common([warp.tensor_known for warp in warps]))
    for warp in warps:
        group.pending_acquires += [
            learned for learned in warp.pending_acquires if learned not in group.pending_acquires
        ]
        warp.pending_acquires.clear()
        group.now = max(group.now, warp.now)
        group.dirty = group.dirty or warp.dirty


@operation("mosaic_gpu.warp_map")
def _warp_map(op: Any, translator: Translator) -> Translated:
    for inner in walk(op):
        if any(is_vector(value.type) for value in (*inner.operands, *inner.results)):
            raise Unsupported(
                f"'{inner.name}' in the region has a vector as operand or result; only scalars and memory are supported in the region"
            )
        if inner.name in _OF_ALL:
            raise Unsupported.invalid(f"all warps must execute '{inner.name}' together; move it out of the region")
    body, arguments, _ = translator.region(op.regions[0])
    operands, site = translator.operands(op), translator.site(op)
    if any(is_vector(operand.type) for operand in op.operands):
        raise Unsupported("an operand is a vector; only scalars and memory are supported as operands")
    run = body.step
    assert run is not None

    def program(warp: Group) -> Program:
        if body.blocking:
            yield from run(warp)
        else:
            run(warp)

    def waiting(st: Any) -> Iterator[Any]:
        first = not st.warps
        if first:
            st.warps = [Warp(st, number) for number in range(st.threads // WARP)]
        given = [st.v[slot] for slot in operands]
        for number, warp in enumerate(st.warps):
            warp.v = list(st.v)
            for argument, value in zip(arguments, given, strict=True):
                # Per-thread values stay per-thread.
                warp.v[argument] = _part(value, number)
            warp.begin(program(warp))
            if first:
                st.block.on_new(warp)

        def clocks() -> HappensBefore:
            known = HappensBefore()
            known.moment = max(warp.now for warp in st.warps)
            return known

        done = lambda: all(warp.finished for warp in st.warps)  # noqa: E731
        yield Wait(site, done, lambda: "its warps", clocks, inner=True)
        _join(st)

    return Translated(waiting, True)


def _part(value: Any, warp: int) -> Any:
    """The elements of a per-thread scalar that belong to a warp."""
    if not isinstance(value, np.ndarray):
        return value
    return collapse(value[WARP * warp : WARP * (warp + 1)])
