# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`scf`: divergent control flow.

Where warps diverge and a later op may wait, they become separate groups of converged warps. Where lanes of a warp diverge, the
paths run one after the other, each with a mask.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ops.control import LONGEST
from ...execution.code import Frame, Label, ThreadTranslator, operation


def way(st: Any, condition: Any, may_wait: bool) -> bool | int | None:
    """True or False if the condition is uniform in the active lanes; the current program counter if the warps were
    split; else None."""
    if not isinstance(condition, np.ndarray):
        return bool(condition)
    running = condition if st.mask is None else condition & st.mask
    if not running.any():
        return False
    if (condition if st.mask is None else condition | ~st.mask).all():
        return True
    if may_wait and len(st.warps) > st.block.unit:
        classes = st.ways(condition)
        if (classes != classes[0]).any():
            st.split(classes)
            return int(st.pc)
    return None


@operation("scf.if")
def _if(op: Any, tr: ThreadTranslator) -> None:
    branches(op, tr, tr.operands(op)[0])


def branches(op: Any, tr: ThreadTranslator, condition: int) -> None:
    """The code of an op with two regions, one for lanes with the condition and one for the others."""
    results = tr.results(op)
    otherwise, end = Label(), Label()
    waits = 0

    def begin(st: Any) -> Any:
        decided = way(st, st.v[condition], waits > 0)
        if decided.__class__ is int:
            return decided
        frame = Frame(st.mask)
        if decided is None:
            chosen = st.v[condition]
            running = chosen if st.mask is None else chosen & st.mask
            frame.narrowed = True
            frame.other = ~chosen if st.mask is None else ~chosen & st.mask
            st.mask = running
        st.frames.append(frame)
        return None if decided is not False else otherwise.at

    before = tr.waits
    tr.control(begin)
    yields = tr.body(tr.only_block(op.regions[0]))
    move = tr.moves(yields, results)

    def end_then(st: Any) -> Any:
        frame = st.frames[-1]
        move(st)
        if frame.other is None:
            st.frames.pop()
            return end.at
        st.mask, frame.other = frame.other, st.mask
        return None

    tr.control(end_then)
    tr.place(otherwise)
    regions = list(op.regions)
    has_else = len(regions) > 1 and len(regions[1].blocks) > 0
    other_yields = tr.body(tr.only_block(regions[1])) if has_else else []
    move_else = tr.moves(other_yields, results)
    merge_else = tr.merging(other_yields, results, op)

    def end_else(st: Any) -> Any:
        frame = st.frames.pop()
        if frame.narrowed:
            merge_else(st, st.mask)
            st.mask = frame.mask
        else:
            move_else(st)
        return None

    tr.control(end_else)
    tr.place(end)
    waits = tr.waits - before


@operation("scf.while")
def _while(op: Any, tr: ThreadTranslator) -> None:
    initial, results, site = tr.operands(op), tr.results(op), tr.site(op)
    first, second = tr.only_block(op.regions[0]), tr.only_block(op.regions[1])
    arguments = [tr.slot(argument) for argument in first.arguments]
    inner = [tr.slot(argument) for argument in second.arguments]
    enter = tr.moves(initial, arguments)
    head, end = Label(), Label()
    before = tr.waits
    waits = 0

    def begin(st: Any) -> None:
        enter(st)
        st.frames.append(Frame(st.mask))
        st.loops.append(0)

    tr.control(begin)
    tr.place(head)
    operations = [view.operation for view in first.operations]
    for inside in operations[:-1]:
        tr.operation(inside)
    condition, *passed = tr.operands(operations[-1])
    continue_after_finding, leave, leave_some = (
        tr.moves(passed, inner),
        tr.moves(passed, results),
        tr.merging(passed, results, op),
    )

    def test(st: Any) -> Any:
        frame = st.frames[-1]
        decided = way(st, st.v[condition], waits > 0)
        if decided.__class__ is int:
            return decided
        if decided is None:
            chosen = st.v[condition]
            leaving = ~chosen if st.mask is None else ~chosen & st.mask
            leave_some(st, leaving)
            st.mask = chosen if st.mask is None else chosen & st.mask
            frame.narrowed = True
        elif decided is False:
            if frame.narrowed:
                leave_some(st, st.mask)
            else:
                leave(st)
            return end.at
        continue_after_finding(st)
        return None

    tr.control(test)
    yields = tr.body(second)
    again = tr.moves(yields, arguments)

    def following(st: Any) -> int:
        again(st)
        st.loops[-1] += 1
        if st.loops[-1] > LONGEST:
            st.stop(
                "deadlock",
                f"the loop did not exit after {LONGEST} iterations, the limit of the simulator, and counts as endless; check the loop condition, or "
                "simulate a smaller problem if the loop is correct but long",
                site,
            )
        return head.at

    tr.control(following)
    tr.place(end)

    def finish(st: Any) -> None:
        st.mask = st.frames.pop().mask
        st.loops.pop()

    tr.control(finish)
    waits = tr.waits - before
