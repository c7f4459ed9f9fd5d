# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of ops in thread-level kernels.

A warp continues while its loads and MMAs are in flight. It waits for a value when it computes with it, uses it in a memory
access or branches on it. Ops that only move values propagate the completion time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from .... import ir
from ....errors import TargetError
from ...machine.recorder import arithmetic, words_of_access
from ...translation.translator import Step
from .lanes import Array


class Ready(NamedTuple):
    """The completion time of a value, and the name of a wait for it."""

    moment: float
    kind: str
    name: str
    site: Any
    size: int


def _latest(found: Iterable[Ready | None]) -> Ready | None:
    return max((one for one in found if one is not None), key=lambda one: one.moment, default=None)


def _needs(st: Any, warps: Iterable[Any]) -> None:
    """Warps wait for the operands of the current op."""
    for warp in warps:
        late = _latest([warp.ready.pop(slot, None) for slot in st.inputs]) if warp.ready else None
        if late is not None:
            st.machine.recorder.busy(warp, late.moment, late.kind, late.name, late.site, late.size)


def _produces(st: Any, warp: Any, ready: Ready) -> None:
    """The completion time of the results of a warp's current op."""
    st.produced[warp.index] = _latest([st.produced.get(warp.index), ready])


# ---------------------------------------------------------------------------------------------------------------------
# Recording at run time
# ---------------------------------------------------------------------------------------------------------------------


def accessed(
    st: Any,
    buffer: Any,
    first: Any,
    steps: Array,
    size: int,
    mask: Array | None,
    write: bool,
    what: str,
    site: Any,
    counter: str,
) -> None:
    """Lanes access memory with a wait counter. Elements that several lanes of a warp share are moved once."""
    recorder, active = st.machine.recorder, st.active_warps()
    if buffer.shared and buffer.block is not st.block:
        raise recorder.unknown("the latency of distributed shared memory")
    _needs(st, active)
    for warp in active:
        lanes: Any = st.which == st.warps.index(warp)
        if mask is not None:
            lanes = lanes & mask
        places = np.unique(first[lanes]).size if isinstance(first, np.ndarray) else int(lanes.any())
        count = places * len(steps) * size
        if not count:
            continue
        begin, end = recorder.access(warp, count, buffer.shared, write, site)
        name = words_of_access(what, write, buffer.shared)
        if write:
            recorder.busy(warp, end, "access", name, site, count)
        else:
            warp.now = begin
            _produces(st, warp, Ready(end, "access", name, site, count))
        if warp.counters is not None:
            told = warp.counters.of[counter]
            told.moment = max(told.moment, end)


def multiplied(st: Any, element: str, macs: int, site: Any) -> None:
    """Each warp executes an MMA of a type."""
    recorder = st.machine.recorder
    if recorder is None:
        return
    st.told = True
    active = st.active_warps()
    _needs(st, active)
    for warp in active:
        end = recorder.mma(warp, element, macs, site)
        _produces(st, warp, Ready(end, "wait", f"wait: {site.name}", site, 0))


def multiplied_together(st: Any, product: Any, count: int, size: int, macs: int) -> None:
    """Each `count` warps issue an asynchronous MMA."""
    recorder = st.machine.recorder
    if recorder is None:
        return
    st.told = True
    _needs(st, st.warps)
    for begin in range(0, len(st.warps), count):
        warps = st.warps[begin : begin + count]
        last = max(warps, key=lambda warp: warp.now)
        who = f"warps {warps[0].index} to {warps[-1].index}"
        end = recorder.asynchronous_matmul(last, who, size, macs, product.site)
        product.moments.update((warp.index, (end, end)) for warp in warps)


def copied(
    st: Any,
    work: Any,
    sizes: dict[int, int] | Callable[[], dict[int, int]],
    key: Callable[[Any], Any] | None = None,
    into: bool = True,
) -> None:
    """Warps, by number in the block, issue a copy into or out of shared memory. Copies with the same `key` are shown
    as one."""
    recorder = st.machine.recorder
    if recorder is None:
        return
    st.told = True
    sizes = sizes if isinstance(sizes, dict) else sizes()
    warps = [st.block.warps[index] for index in sizes]
    _needs(st, warps)
    for warp in warps:
        copy = recorder.copy(warp, sizes[warp.index], into, work.site, key(warp) if key else None)
        work.moments[warp.index] = copy


def waited(warp: Any, works: Iterable[Any], site: Any, reads: bool = False) -> None:
    """A warp waits until operations, or only their reads, are complete."""
    recorder = warp.machine.recorder
    if recorder is not None:
        ends = [work.moments.get(warp.index, (0.0, 0.0)) for work in works]
        recorder.wait(warp, max((read if reads else end for read, end in ends), default=0.0), site)


# ---------------------------------------------------------------------------------------------------------------------
# Instrumentation
# ---------------------------------------------------------------------------------------------------------------------


def _cost(op: Any) -> tuple[bool, int] | None:
    """Whether an op is arithmetic, whether it is a special function, and the results per lane. Integers that are not
    vectors are assumed to be addresses."""
    found = arithmetic(op)
    if found is not None:
        return found
    dialect, _, name = op.name.partition(".")
    if dialect not in ("arith", "math") or name == "constant":
        return None
    if any(isinstance(value.type, ir.FloatType) for value in (*op.results, *op.operands)):
        simple = ("abs", "fma", "floor", "ceil", "trunc", "round", "copysign")
        return name == "divf" or (dialect == "math" and not name.startswith(simple)), 1
    return None


_MMA = re.compile(r"mf?mac?(_async)?\b(?!\.init)")
"""MMA ops."""


def with_time(op: Any, step: Step, operands: list[int], results: list[int], site: Any) -> Step:
    """The step of an op, in a run with a timeline."""
    cost, multiplies = _cost(op), _MMA.search(op.name) is not None and bool(results)
    if not operands and not results:
        return step

    def timed(st: Any) -> None:
        st.inputs, st.produced, st.owes, st.told = operands, {}, multiplies, False
        if cost is not None:
            active = st.active_warps()
            _needs(st, active)
            special, count = cost
            for warp in active:
                st.machine.recorder.compute(warp, special, count * st.block.warp_size, site)
        step(st)
        if st.owes and not st.told:
            raise TargetError(
                f"no timeline: the simulator cannot estimate the time of '{site.name}', which the kernel executes"
            )
        _hand_on(st, operands, results)
        st.inputs = ()

    return timed


def _hand_on(st: Any, operands: list[int], results: list[int]) -> None:
    for warp in st.warps:
        late = st.produced.get(warp.index)
        if late is None and warp.ready:
            late = _latest([warp.ready.get(slot) for slot in operands])
        for slot in results:
            if late is not None:
                warp.ready[slot] = late
            else:
                warp.ready.pop(slot, None)


def deciding(slots: list[int]) -> Step:
    """Control flow depends on these values."""

    def decide(st: Any) -> None:
        st.inputs = slots
        _needs(st, st.active_warps())
        st.inputs = ()

    return decide


def decides(op: Any) -> int:
    """The number of leading operands that control flow depends on."""
    return len(op.operands) if op.name == "affine.if" else _DECIDING.get(op.name, 0)


_DECIDING = {"scf.for": 3, "scf.if": 1, "scf.index_switch": 1}
_DECIDING |= dict.fromkeys(("cf.cond_br", "cf.switch", "llvm.cond_br", "llvm.switch"), 1)


def moving(move: Callable[..., None], sources: list[int], targets: list[int]) -> Callable[..., None]:
    """A step that moves values and their completion times."""

    def moved(st: Any, *mask: Any) -> None:
        move(st, *mask)
        for warp in st.active_warps():
            if warp.ready:
                found = [warp.ready.get(slot) for slot in sources]
                for slot, ready in zip(targets, found, strict=True):
                    if ready is not None:
                        warp.ready[slot] = ready
                    elif not mask:
                        warp.ready.pop(slot, None)

    return moved
