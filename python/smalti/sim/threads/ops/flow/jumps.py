# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`cf`, `llvm` and `scf.index_switch`: branches between blocks.

Where warps diverge and a later op may wait, they become separate groups of converged warps. Where lanes of a warp diverge,
the paths run one after the other up to the point of reconvergence, each with a mask.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..... import ir
from ....translation.translator import attribute
from ...execution.code import Frame, Graph, Label, ThreadTranslator, operation

LONGEST_JUMPS = 1 << 20
"""The number of backward branches after which a kernel is considered endless."""


class Way:
    """A branch to a block, with its operands."""

    def __init__(self, op: Any, tr: ThreadTranslator, target: Label, given: list[int], into: list[int]) -> None:
        self.target, self.site = target, tr.site(op)
        self._moves, self._merges = tr.moves(given, into), tr.merging(given, into, op)

    def hand_on(self, st: Any) -> None:
        """Passes the operands to the block; inactive lanes keep their values."""
        if st.frames and st.frames[-1].join is not None and st.mask is not None:
            self._merges(st, st.mask)
        else:
            self._moves(st)

    def go(self, st: Any) -> int:
        """All active lanes take the branch."""
        self.hand_on(st)
        return arrive(st, self.target, self.site)


def _leave_frame(st: Any) -> Label | None:
    """Ends the innermost frame, or returns where other lanes of it continue."""
    frame = st.frames[-1]
    if frame.waiting:
        target, st.mask = frame.waiting.pop()
        return target
    st.frames.pop()
    st.mask = st.not_ended(frame.mask)
    return None


def arrive(st: Any, label: Label, site: Any) -> int:
    """Lanes reach a label: if other lanes have yet to reach it, those run first."""
    while st.frames and st.frames[-1].join is label:
        if (target := _leave_frame(st)) is not None:
            return target.at
    if label.at <= st.pc:
        st.jumps += 1
        if st.jumps > LONGEST_JUMPS:
            st.stop(
                "deadlock",
                f"the loop did not exit after {LONGEST_JUMPS} backward branches, the limit of the simulator, and counts as endless; check the branch condition, or "
                "simulate a smaller problem if the loop is correct but long",
                site,
            )
    return label.at


def branching(
    tr: ThreadTranslator, ways: list[Way], choose: Callable[[Any], Any], join: Label, may_wait: Callable[[], bool]
) -> None:
    """The code of a branch: `choose` returns the number of the path, or one per lane."""

    def branch(st: Any) -> int:
        which = choose(st)
        chosen = st.uniform(which)
        if chosen is not None:
            return ways[chosen].go(st)
        if may_wait() and len(st.warps) > st.block.unit:
            classes = _classes(st, which, len(ways))
            if (classes != classes[0]).any():
                st.split(classes)
                return int(st.pc)
        return _part(st, ways, which, join)

    tr.control(branch)


def _classes(st: Any, which: Any, mixed: int) -> Any:
    """For each unit of warps the path of all its lanes, or a number for several paths."""
    rows = st.by_unit(which)
    running = np.ones_like(rows, np.bool_) if st.mask is None else st.mask.reshape(rows.shape)
    first = rows[np.arange(len(rows)), running.argmax(1)]
    return np.where((running & (rows != first[:, None])).any(1), mixed, first)


def _part(st: Any, ways: list[Way], which: Any, join: Label) -> int:
    """Lanes diverge."""
    running = np.ones(st.lanes, np.bool_) if st.mask is None else st.mask
    if not st.frames or st.frames[-1].join is not join:
        frame = Frame(st.mask)
        frame.join = join
        st.frames.append(frame)
    frame = st.frames[-1]
    for number, way in reversed(list(enumerate(ways))):
        lanes = running & (which == number)
        if not lanes.any():
            continue
        st.mask = lanes
        way.hand_on(st)
        if way.target is join:
            continue
        for i, (label, others) in enumerate(frame.waiting):
            if label is way.target:
                lanes = lanes | others
                del frame.waiting[i]
                break
        frame.waiting.append((way.target, lanes))
    return arrive(st, join, None)


def _ways(op: Any, tr: ThreadTranslator, values: list[list[int]]) -> list[Way]:
    graph: Graph = tr.graphs[op.block]
    return [
        Way(op, tr, graph.labels[target], given, [tr.slot(argument) for argument in target.arguments])
        for target, given in zip(op.successors, values, strict=True)
    ]


def _branching(op: Any, tr: ThreadTranslator, ways: list[Way], choose: Callable[[Any], Any]) -> None:
    """The same for the end of a block."""
    graph, block = tr.graphs[op.block], op.block
    branching(tr, ways, choose, graph.join(block), functools.cache(lambda: graph.may_wait(block)))


@operation("cf.br", "llvm.br")
def _jump(op: Any, tr: ThreadTranslator) -> None:
    (way,) = _ways(op, tr, [tr.operands(op)])
    tr.control(way.go)


@operation("cf.cond_br", "llvm.cond_br")
def _conditional(op: Any, tr: ThreadTranslator) -> None:
    segments = attribute(op, "operandSegmentSizes")
    condition, *rest = tr.operands(op)
    ways = _ways(op, tr, [rest[: segments[1]], rest[segments[1] :]])

    def choose(st: Any) -> Any:
        value = st.v[condition]
        return np.where(value, 0, 1) if isinstance(value, np.ndarray) else int(not value)

    _branching(op, tr, ways, choose)


@operation("cf.switch", "llvm.switch")
def _switch(op: Any, tr: ThreadTranslator) -> None:
    flag, *rest = tr.operands(op)
    counts = list(attribute(op, "case_operand_segments", []))
    default = len(rest) - sum(counts)
    cases = [int(n) for n in ir.DenseIntElementsAttr(op.attributes["case_values"])] if counts else []
    parts, at = [], 0
    for count in (default, *counts):
        parts.append(rest[at : at + count])
        at += count

    _branching(op, tr, _ways(op, tr, parts), _case(flag, cases))


def _case(flag: int, cases: list[int]) -> Callable[[Any], Any]:
    """A function that returns the number of a case, counted from 1, or 0 for the default."""

    def choose(st: Any) -> Any:
        value = st.v[flag]
        if not isinstance(value, np.ndarray):
            return cases.index(value) + 1 if value in cases else 0
        found = np.zeros(value.shape, np.int64)
        for number, case in enumerate(cases):
            found = np.where(value == case, number + 1, found)
        return found

    return choose


@operation("scf.index_switch")
def _index_switch(op: Any, tr: ThreadTranslator) -> None:
    (flag,), results = tr.operands(op), tr.results(op)
    # The default is the first region.
    labels, end = [Label() for _ in op.regions], Label()
    before, waits = tr.waits, 0
    choose = _case(flag, list(attribute(op, "cases")))
    branching(tr, [Way(op, tr, label, [], []) for label in labels], choose, end, lambda: waits > 0)
    for label, region in zip(labels, op.regions, strict=True):
        tr.place(label)
        tr.control(Way(op, tr, end, tr.body(tr.only_block(region)), results).go)
    tr.place(end)
    waits = tr.waits - before


@operation("gpu.return", "func.return", "llvm.return", "gpu.terminator", "scf.yield", "memref.alloca_scope.return")
def _leave(op: Any, tr: ThreadTranslator) -> None:
    """The terminator of a block in a multi-block region."""
    graph: Graph = tr.graphs[op.block]
    if graph.ends:
        site = tr.site(op)
        tr.control(lambda st: _end(st, graph.end, site))
        return
    tr.control(Way(op, tr, graph.end, tr.operands(op), graph.results).go)


def _end(st: Any, end: Label, site: Any) -> int:
    """Active lanes exit, and others continue."""
    if not st.frames:
        return end.at
    running = np.ones(st.lanes, np.bool_) if st.mask is None else st.mask
    st.ended = running if st.ended is None else st.ended | running
    while st.frames:
        join = st.frames[-1].join
        if (target := _leave_frame(st)) is not None:
            return target.at
        if st.mask is None or st.mask.any():
            return arrive(st, join, site)
    return end.at


@operation("llvm.unreachable", "ub.unreachable")
def _unreachable(op: Any, tr: ThreadTranslator) -> None:
    graph: Graph = tr.graphs[op.block]
    site = tr.site(op)

    def never(st: Any) -> int:
        st.report(
            "assertion",
            "the thread executes llvm.unreachable, which the kernel states is never executed",
            site,
            st.first_lane(),
        )
        return arrive(st, graph.end, site)

    tr.control(never)
