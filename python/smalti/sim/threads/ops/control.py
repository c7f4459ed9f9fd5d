"""`scf` and `cf`: control flow in which lanes and warps may go different ways.

Where warps part, and what follows may wait, they become teams of their own. Where lanes of a warp part, the ways are
run one after the other, each with a mask.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.control import LONGEST, LONGEST_COUNTED
from ...translator import Unsupported, attribute
from ..code import Control, Frame, Label, ThreadTranslator, operation


def _way(st: Any, condition: Any, may_wait: bool) -> bool | int | None:
    """Whether all lanes that run have a condition, True or False; the place of the program again where the team was
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
    (condition,), results = tr.operands(op), tr.results(op)
    otherwise, end = Label(), Label()
    waits = 0

    def begin(st: Any) -> Any:
        way = _way(st, st.v[condition], waits > 0)
        if way.__class__ is int:
            return way
        frame = Frame(st.mask)
        if way is None:
            chosen = st.v[condition]
            running = chosen if st.mask is None else chosen & st.mask
            frame.narrowed = True
            frame.other = ~chosen if st.mask is None else ~chosen & st.mask
            st.mask = running
        st.frames.append(frame)
        return None if way is not False else otherwise.at

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


@operation("scf.for")
def _for(op: Any, tr: ThreadTranslator) -> None:
    low, high, step, *initial = tr.operands(op)
    results, site = tr.results(op), tr.site(op)
    if attribute(op, "unsignedCmp", False):
        raise Unsupported("a loop that compares unsigned numbers")
    block = tr.only_block(op.regions[0])
    induction, *carried = (tr.slot(argument) for argument in block.arguments)
    head, end = Label(), Label()
    before = tr.waits
    waits = 0
    enter = tr.moves(initial, carried)

    def begin(st: Any) -> None:
        first, last, by = st.v[low], st.v[high], st.v[step]
        if (np.asarray(by) <= 0).any():
            st.stop("assertion", f"the step of the loop is {by}", site)
        trips = int(np.max((np.asarray(last) - first) // by))
        if trips > LONGEST_COUNTED:
            st.stop("deadlock", f"a loop of {trips} iterations", site)
        frame = Frame(st.mask)
        frame.values = [first, last, by]
        enter(st)
        st.frames.append(frame)
        st.loops.append(first)

    tr.control(begin)
    tr.place(head)

    def test(st: Any) -> Any:
        frame = st.frames[-1]
        now, last, _ = frame.values
        inside = now < last
        way = _way(st, inside, waits > 0)
        if way.__class__ is int:
            return way
        if way is None:
            st.mask = inside if st.mask is None else inside & st.mask
            frame.narrowed = True
        elif way is False:
            return end.at
        st.v[induction] = st.loops[-1] = now
        return None

    tr.control(test)
    yields = tr.body(block)
    again, merging = tr.moves(yields, carried), tr.merging(yields, carried, op)

    def following(st: Any) -> int:
        frame = st.frames[-1]
        if frame.narrowed:
            merging(st, st.mask)
        else:
            again(st)
        frame.values[0] = frame.values[0] + frame.values[2]
        return head.at

    tr.control(following)
    tr.place(end)
    leave = tr.moves(carried, results)

    def finish(st: Any) -> None:
        leave(st)
        st.mask = st.frames.pop().mask
        st.loops.pop()

    tr.control(finish)
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
    go_on, leave, leave_some = tr.moves(passed, inner), tr.moves(passed, results), tr.merging(passed, results, op)

    def test(st: Any) -> Any:
        frame = st.frames[-1]
        way = _way(st, st.v[condition], waits > 0)
        if way.__class__ is int:
            return way
        if way is None:
            chosen = st.v[condition]
            leaving = ~chosen if st.mask is None else ~chosen & st.mask
            leave_some(st, leaving)
            st.mask = chosen if st.mask is None else chosen & st.mask
            frame.narrowed = True
        elif way is False:
            if frame.narrowed:
                leave_some(st, st.mask)
            else:
                leave(st)
            return end.at
        go_on(st)
        return None

    tr.control(test)
    yields = tr.body(second)
    again = tr.moves(yields, arguments)

    def following(st: Any) -> int:
        again(st)
        st.loops[-1] += 1
        if st.loops[-1] > LONGEST:
            st.stop("deadlock", f"a loop that did not end after {LONGEST} iterations", site)
        return head.at

    tr.control(following)
    tr.place(end)

    def finish(st: Any) -> None:
        st.mask = st.frames.pop().mask
        st.loops.pop()

    tr.control(finish)
    waits = tr.waits - before


@operation("scf.index_switch")
def _switch(op: Any, tr: ThreadTranslator) -> None:
    (argument,), results, site = tr.operands(op), tr.results(op), tr.site(op)
    # The default is the first region.
    labels = [Label() for _ in op.regions]
    places = {case: labels[i + 1] for i, case in enumerate(attribute(op, "cases"))}
    end = Label()

    def begin(st: Any) -> int:
        value = st.v[argument]
        chosen = st.uniform(value)
        if chosen is not None:
            return places.get(chosen, labels[0]).at
        return part(st, value, site)

    tr.control(begin)
    for label, region in zip(labels, op.regions, strict=True):
        tr.place(label)
        move = tr.moves(tr.body(tr.only_block(region)), results)
        tr.control(jump(move, end))
    tr.place(end)


def jump(move: Any, label: Label, site: Any = None) -> Control:
    """Goes to a place; without a site that is ahead."""

    def jump(st: Any) -> int:
        move(st)
        if site is not None and label.at <= st.pc:
            st.jumps += 1
            if st.jumps > LONGEST_JUMPS:
                st.stop("deadlock", f"a loop that did not end: {LONGEST_JUMPS} jumps back", site)
        return label.at

    return jump


LONGEST_JUMPS = 1 << 22
"""Jumps back after which a program is taken to be endless."""


def part(st: Any, value: Any, site: Any) -> int:
    """Splits the team by a number that each warp has."""
    classes = st.of_units(value)
    if classes is None:
        st.stop("divergence", "threads of a warp go different ways here, which the simulator does not follow", site)
    st.split(classes)
    return st.pc


@operation("cf.br")
def _branch(op: Any, tr: ThreadTranslator) -> None:
    (target,) = op.successors
    move = tr.moves(tr.operands(op), [tr.slot(argument) for argument in target.arguments])
    tr.control(jump(move, tr.labels[target], tr.site(op)))


@operation("cf.cond_br")
def _conditional_branch(op: Any, tr: ThreadTranslator) -> None:
    segments = attribute(op, "operandSegmentSizes")
    condition, *rest = tr.operands(op)
    site = tr.site(op)
    ways = []
    for target, values in zip(op.successors, (rest[: segments[1]], rest[segments[1] :]), strict=True):
        move = tr.moves(values, [tr.slot(argument) for argument in target.arguments])
        ways.append(jump(move, tr.labels[target], site))
    yes, no = ways

    def branch(st: Any) -> int:
        value = st.v[condition]
        chosen = st.uniform(value)
        if chosen is None:
            return part(st, value, site)
        return yes(st) if chosen else no(st)

    tr.control(branch)
