# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`scf`: control flow that is uniform in a group."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ir
from ..machine.findings import Site, TimeLimit
from ..machine.machine import State
from ..machine.values import integer_bits, wrap
from ..translation.translator import Translated, Translator, attribute, operation


def _together(st: State, value: Any, site: Site) -> int:
    """A condition of the group."""
    if isinstance(value, np.ndarray):
        st.stop("divergence", "threads of the warpgroup take different paths; the condition must be uniform", site)
    return int(value)


def _moves(sources: list[int], targets: list[int]) -> Any:
    pairs = tuple(zip(sources, targets, strict=True))
    if not pairs:
        return lambda st: None
    if len(pairs) == 1:
        ((source, target),) = pairs

        def move_one(st: State) -> None:
            st.v[target] = st.v[source]

        return move_one

    def move(st: State) -> None:
        v = st.v
        found = [v[source] for source, _ in pairs]
        for value, (_, target) in zip(found, pairs, strict=True):
            v[target] = value

    return move


LONGEST = 1 << 20
"""The iterations after which an uncounted loop is considered endless."""
LONGEST_COUNTED = 1 << 32
"""The iterations from which a counted loop needs a time limit."""


def check_iterations(st: Any, count: int, site: Any) -> None:
    """Ends a run without a time limit before a loop that would take hours."""
    if count > LONGEST_COUNTED and st.block.machine.how.time_limit is None:
        raise TimeLimit(st, site, count)


def check_range(st: Any, first: int, last: int, by: int, most: int, site: Any) -> None:
    """Ends a run before a loop whose step is not positive, or whose induction variable exceeds `most`."""
    if by <= 0:
        st.stop("assertion", f"the loop step is {by}; it must be positive", site)
    check_iterations(st, (last - first) // by, site)
    if last > most - by and first < last and first - (first - last) // by * by > most:
        st.stop(
            "deadlock",
            f"the induction variable of the loop from {first} to {last} with step {by} overflows before the loop exits; use a lower upper bound",
            site,
        )


@operation("scf.for")
def _for(op: ir.Operation, translator: Translator) -> Translated:
    low, high, stride, *initial = translator.operands(op)
    results = translator.results(op)
    body, (induction, *carried), yields = translator.region(op.regions[0])
    site = translator.site(op)
    start, again, end = _moves(initial, carried), _moves(yields, carried), _moves(carried, results)
    assert body.step is not None
    run = body.step
    bits = integer_bits(op.operands[0].type)
    assert bits is not None
    mask, cut = (1 << bits) - 1, wrap(bits)
    unsigned = attribute(op, "unsignedCmp", False)
    most = mask if unsigned else mask >> 1

    def bounds(st: State) -> range:
        first, last, by = (_together(st, st.v[slot], site) for slot in (low, high, stride))
        if unsigned:
            first, last, by = first & mask, last & mask, by & mask
        check_range(st, first, last, by, most, site)
        return range(first, last, by)

    if not body.blocking:

        def step(st: State) -> None:
            steps = bounds(st)
            start(st)
            st.loops.append(0)
            for i in steps:
                st.machine.tick(st, site)
                st.v[induction] = st.loops[-1] = cut(i)
                run(st)
                again(st)
            st.loops.pop()
            end(st)

        return Translated(step)

    def waiting(st: State) -> Any:
        steps = bounds(st)
        start(st)
        st.loops.append(0)
        for i in steps:
            st.machine.tick(st, site)
            st.v[induction] = st.loops[-1] = cut(i)
            yield from run(st)
            again(st)
        st.loops.pop()
        end(st)

    return Translated(waiting, True)


def _branches(
    op: ir.Operation, translator: Translator, bodies: list[tuple[Translated, list[int]]], choose: Any
) -> Translated:
    results = translator.results(op)
    runs = [(body.step, body.blocking, _moves(yields, results if yields else [])) for body, yields in bodies]
    if not any(blocking for _, blocking, _ in runs):

        def step(st: State) -> None:
            run, _, end = runs[choose(st)]
            run(st)
            end(st)

        return Translated(step)

    def waiting(st: State) -> Any:
        run, blocking, end = runs[choose(st)]
        assert run is not None
        if blocking:
            yield from run(st)
        else:
            run(st)
        end(st)

    return Translated(waiting, True)


def _bodies(op: ir.Operation, translator: Translator) -> list[tuple[Translated, list[int]]]:
    found = []
    for region in op.regions:
        if len(region.blocks) == 0:
            found.append((Translated(lambda st: None), []))
            continue
        body, _, yields = translator.region(region)
        found.append((body, yields))
    return found


_SILENT = {"gpu.printf", "mosaic_gpu.print_layout", "scf.yield"}


@operation("scf.if")
def _if(op: ir.Operation, translator: Translator) -> Translated:
    (condition,), site = translator.operands(op), translator.site(op)
    bodies = _bodies(op, translator)
    if not op.results and not any(
        view.operation.results or view.operation.name not in _SILENT
        for r in op.regions
        for b in r.blocks
        for view in b.operations
    ):
        # The difference has no effect, so the path does not matter.
        return Translated(None)
    return _branches(op, translator, bodies, lambda st: 0 if _together(st, st.v[condition], site) else 1)


@operation("scf.index_switch")
def _switch(op: ir.Operation, translator: Translator) -> Translated:
    (argument,), site = translator.operands(op), translator.site(op)
    # The default is the first region.
    numbers = {case: i + 1 for i, case in enumerate(attribute(op, "cases"))}
    return _branches(
        op, translator, _bodies(op, translator), lambda st: numbers.get(_together(st, st.v[argument], site), 0)
    )


@operation("scf.while")
def _while(op: ir.Operation, translator: Translator) -> Translated:
    initial, results = translator.operands(op), translator.results(op)
    before, before_arguments, (condition, *passed) = translator.region(op.regions[0])
    after, after_arguments, yields = translator.region(op.regions[1])
    site = translator.site(op)
    start, again = _moves(initial, before_arguments), _moves(yields, before_arguments)
    enter, end = _moves(passed, after_arguments), _moves(passed, results)

    def waiting(st: State) -> Any:
        start(st)
        st.loops.append(0)
        while True:
            st.machine.tick(st, site)
            if before.blocking:
                yield from before.step(st)  # type: ignore[misc]
            else:
                before.step(st)  # type: ignore[misc]
            if not _together(st, st.v[condition], site):
                break
            enter(st)
            if after.blocking:
                yield from after.step(st)  # type: ignore[misc]
            else:
                after.step(st)  # type: ignore[misc]
            again(st)
            st.loops[-1] += 1
            if st.loops[-1] > LONGEST:
                st.stop(
                    "deadlock",
                    f"the loop did not exit after {LONGEST} iterations, the limit of the simulator, and counts as endless; check the loop condition, or "
                    "simulate a smaller problem if the loop is correct but long",
                    site,
                )
        st.loops.pop()
        end(st)

    if before.blocking or after.blocking:
        return Translated(waiting, True)

    def step(st: State) -> None:
        for _ in waiting(st):
            pass

    return Translated(step)
