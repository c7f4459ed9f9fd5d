# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counted loops of `scf` and `affine`, and `scf.forall` with iterations distributed across processors.

A mapped `scf.forall` has the semantics of MLIR's `mapNestedForallToThreads` (GPUTransformOps), and of IREE's
`GPUDistributeForall` if there are more iterations than processors; dimensions without an attribute have one processor. Its
end is a synchronization point (SCF dialect, "scf.forall"): of all threads of the block for a mapping to threads, warps or
warpgroups, and of the threads of each warp for a mapping to lanes. Without an attribute, each thread runs all iterations.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..... import ir
from .....dialects.arith import AtomicRMWKind
from ....machine.findings import Site
from ....machine.values import integer_bits, wrap
from ....ops.control import check_range
from ....ops.memref import mixed
from ....translation.translator import Unsupported, attribute
from ...execution.code import Control, Frame, Label, ThreadTranslator, operation
from ...execution.lanes import dtype_of, held_dtype, rank_of
from ..arithmetic.arith import arith_name, combining
from ..arithmetic.vector import neutral
from ..collective.gpu import thread_barrier, wait_for_all
from .affine import bound
from .control import way

Bounds = Callable[[Any], tuple[Any, Any, Any]]
"""The lower bound, upper bound and step of a loop, for converged warps."""


def _different(st: Any, *numbers: Any) -> Iterable[tuple[int, ...]]:
    """The distinct combinations of numbers of the active lanes."""
    if not any(isinstance(number, np.ndarray) for number in numbers):
        return (numbers,)
    rows = np.empty((st.lanes, len(numbers)), np.int64)
    for column, number in enumerate(numbers):
        rows[:, column] = number
    return dict.fromkeys(map(tuple, (rows if st.mask is None else rows[st.mask]).tolist()))


def counting(
    op: Any,
    tr: ThreadTranslator,
    bounds: Bounds,
    assign: Callable[[Any, Any], None],
    body: Callable[[], list[int]],
    carried: tuple[list[int], list[int], list[int]],
    bits: int = 64,
) -> None:
    """The code of a loop: `assign` passes its induction variable, of this many bits, to the program; `body` emits the
    body and returns the slots that it yields. `carried` are the slots of the initial values, of the values in the
    body, and of the results."""
    most = (1 << bits - 1) - 1
    initial, inside, results = carried
    site, head, end = tr.site(op), Label(), Label()
    before = tr.waits
    waits = 0
    enter = tr.moves(initial, inside)

    def begin(st: Any) -> None:
        first, last, by = bounds(st)
        for a, b, c in _different(st, first, last, by):
            check_range(st, a, b, c, most, site)
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
        chosen = way(st, inside, waits > 0)
        if chosen.__class__ is int:
            return chosen
        if chosen is None:
            st.mask = inside if st.mask is None else inside & st.mask
            frame.narrowed = True
        elif chosen is False:
            return end.at
        st.loops[-1] = now
        assign(st, now)
        return None

    tr.control(test)
    yields = body()
    again, merging = tr.moves(yields, inside), tr.merging(yields, inside, op)

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
    leave = tr.moves(inside, results)

    def finish(st: Any) -> None:
        leave(st)
        st.mask = st.frames.pop().mask
        st.loops.pop()

    tr.control(finish)
    waits = tr.waits - before


def _holding(slot: int) -> Callable[[Any, Any], None]:
    """The induction variable is a value."""

    def assign(st: Any, now: Any) -> None:
        st.v[slot] = now

    return assign


@operation("scf.for")
def _for(op: Any, tr: ThreadTranslator) -> None:
    low, high, step, *initial = tr.operands(op)
    block = tr.only_block(op.regions[0])
    induction, *carried = (tr.slot(argument) for argument in block.arguments)
    bits = integer_bits(op.operands[0].type) or 64
    moved = (initial, carried, tr.results(op))
    hold = _holding(induction)

    def bounds(st: Any) -> tuple[Any, Any, Any]:
        return st.v[low], st.v[high], st.v[step]

    if not attribute(op, "unsignedCmp", False):
        counting(op, tr, bounds, hold, lambda: tr.body(block), moved, bits)
        return
    dtype, cut = held_dtype(op.operands[0].type), wrap(bits)

    def count(number: Any) -> Any:
        if not isinstance(number, np.ndarray):
            return number & (1 << bits) - 1
        if bits < 64:
            return number.astype(np.int64) & (1 << bits) - 1
        if (number < 0).any():
            raise Unsupported("a bound of the unsigned loop is 2^63 or more; bounds must be smaller")
        return number

    def assign(st: Any, now: Any) -> None:
        hold(st, now.astype(dtype) if isinstance(now, np.ndarray) else cut(now))

    def unsigned_bounds(st: Any) -> tuple[Any, Any, Any]:
        first, last, by = map(count, bounds(st))
        return first, last, by

    counting(op, tr, unsigned_bounds, assign, lambda: tr.body(block), moved, bits + 1)


@operation("affine.for")
def _affine_for(op: Any, tr: ThreadTranslator) -> None:
    of_low, of_high, _ = attribute(op, "operandSegmentSizes")
    slots, step = tr.operands(op), attribute(op, "step")
    low = bound(op, "lowerBoundMap", slots[:of_low], np.maximum)
    high = bound(op, "upperBoundMap", slots[of_low : of_low + of_high], np.minimum)
    block = tr.only_block(op.regions[0])
    induction, *carried = (tr.slot(argument) for argument in block.arguments)
    values = (slots[of_low + of_high :], carried, tr.results(op))
    counting(op, tr, lambda st: (low(st), high(st), step), _holding(induction), lambda: tr.body(block), values)


# ---------------------------------------------------------------------------------------------------------------------
# Multi-dimensional loops
# ---------------------------------------------------------------------------------------------------------------------


class _Space:
    """The iterations of a multi-dimensional loop, the last dimension first."""

    def __init__(self, op: Any, tr: ThreadTranslator, slots: list[int]) -> None:
        self.slots, self.site, self.shape = slots, tr.site(op), tr.temporary()

    def begin(self, st: Any, lows: list[Any], highs: list[Any], steps: list[Any]) -> Any:
        """Sets the ranges of the iterations; returns their number."""
        total: Any = 1
        trips = []
        for low, high, by in zip(lows, highs, steps, strict=True):
            if (np.asarray(by) <= 0).any():
                st.stop("assertion", f"the loop step is {by}; it must be positive", self.site)
            trips.append(_at_least(0, -((low - high) // by)))
            total = total * trips[-1]
        st.v[self.shape] = (*lows, *steps, *trips)
        return total

    def assign(self, st: Any, now: Any) -> None:
        """Passes the indices of an iteration to the program."""
        count, found = len(self.slots), st.v[self.shape]
        left = now
        for i in reversed(range(count)):
            trips = _at_least(1, found[2 * count + i])
            st.v[self.slots[i]] = found[i] + left % trips * found[count + i]
            left = left // trips


def _at_least(least: int, value: Any) -> Any:
    return np.maximum(value, least) if isinstance(value, np.ndarray) else max(int(value), least)


@operation("scf.parallel")
def _parallel(op: Any, tr: ThreadTranslator) -> None:
    """Each thread runs all iterations in order, as `scf.parallel` is lowered inside a kernel."""
    if "mapping" in op.attributes:
        raise Unsupported(
            "the attribute 'mapping' maps the loop to blocks or threads; use scf.forall with a mapping instead"
        )
    count, slots = attribute(op, "operandSegmentSizes")[0], tr.operands(op)
    block = tr.only_block(op.regions[0])
    space = _Space(op, tr, [tr.slot(argument) for argument in block.arguments])
    lows, highs, steps = (slots[i * count : (i + 1) * count] for i in range(3))
    carried = [_like(tr, value) for value in op.results]

    def bounds(st: Any) -> tuple[Any, Any, Any]:
        return 0, space.begin(st, *([st.v[slot] for slot in some] for some in (lows, highs, steps))), 1

    def body() -> list[int]:
        operations = [view.operation for view in block.operations]
        for inside in operations[:-1]:
            tr.operation(inside)
        reduce, found = operations[-1], []
        for value, kept, region in zip(tr.operands(reduce), carried, reduce.regions, strict=True):
            combine = tr.only_block(region)
            tr.emit(tr.moves([kept, value], [tr.slot(argument) for argument in combine.arguments]))
            found += tr.body(combine)
        return found

    counting(op, tr, bounds, space.assign, body, (slots[3 * count :], carried, tr.results(op)))


def _like(tr: ThreadTranslator, value: Any) -> int:
    """A slot for values of the type of another one."""
    found = tr.temporary()
    tr.ranks[found], tr.dtypes[found] = rank_of(value.type), dtype_of(value.type)
    return found


@operation("affine.parallel")
def _affine_parallel(op: Any, tr: ThreadTranslator) -> None:
    slots, steps = tr.operands(op), list(attribute(op, "steps"))
    block = tr.only_block(op.regions[0])
    inputs = ir.AffineMapAttr(op.attributes["lowerBoundsMap"]).value.n_inputs
    lows = _grouped(op, "lowerBounds", slots[:inputs], np.maximum)
    highs = _grouped(op, "upperBounds", slots[inputs:], np.minimum)
    space = _Space(op, tr, [tr.slot(argument) for argument in block.arguments])
    kinds = [arith_name(AtomicRMWKind(kind)) for kind in attribute(op, "reductions")]
    carried, initial = [_like(tr, value) for value in op.results], [_like(tr, value) for value in op.results]
    combined = [_like(tr, value) for value in op.results]
    functions = []
    for kind, slot, value in zip(kinds, initial, op.results, strict=True):
        dtype = dtype_of(value.type)
        if dtype is None or rank_of(value.type) or kind == "assign":
            raise Unsupported(
                f"the loop reduces {value.type} with '{kind}'; only arithmetic reductions of scalars are supported"
            )
        tr.emit(_holding_constant(slot, neutral(kind, dtype), dtype))
        functions.append((combining(kind, dtype), dtype))

    def bounds(st: Any) -> tuple[Any, Any, Any]:
        return 0, space.begin(st, lows(st), highs(st), steps), 1

    def body() -> list[int]:
        given = tr.body(block)

        def combine(st: Any) -> None:
            for value, kept, into, (function, dtype) in zip(given, carried, combined, functions, strict=True):
                found = function(np.asarray(st.v[kept], dtype), np.asarray(st.v[value], dtype))
                st.v[into] = np.broadcast_to(found, (st.lanes,)).astype(dtype)

        tr.emit(combine)
        return combined

    counting(op, tr, bounds, space.assign, body, (initial, carried, tr.results(op)))


def _holding_constant(slot: int, value: Any, dtype: np.dtype[Any]) -> Callable[[Any], None]:
    found = int(value) if dtype.kind in "ib" else dtype.type(value)

    def step(st: Any) -> None:
        st.v[slot] = found

    return step


def _grouped(op: Any, name: str, slots: list[int], pick: Any) -> Callable[[Any], list[Any]]:
    """The bounds of each dimension, each of which has some results of a map."""
    counts = [int(n) for n in ir.DenseIntElementsAttr(op.attributes[f"{name}Groups"])]
    parts, at = [], 0
    for count in counts:
        parts.append(bound(op, f"{name}Map", slots, pick, range(at, at + count)))
        at += count
    return lambda st: [part(st) for part in parts]


# ---------------------------------------------------------------------------------------------------------------------
# scf.forall
# ---------------------------------------------------------------------------------------------------------------------

_MAPPING = re.compile(r"#gpu\.(block|warpgroup|warp|thread|lane)<(?:(x|y|z)|linear_dim_(\d+))>")
_WARPGROUP = 4
"""The warps."""


class _Elements:
    """The processors that share iterations."""

    def __init__(self, op: Any) -> None:
        found = [_MAPPING.fullmatch(str(item)) for item in ir.ArrayAttr(op.attributes["mapping"])]
        kinds = {match[1] for match in found if match}
        if None in found or len(kinds) != 1 or len({match[2] is None for match in found if match}) != 1:
            raise Unsupported(
                f"the attribute 'mapping' is {op.attributes['mapping']}; all dimensions must be mapped to the same kind: "
                "block, warpgroup, warp, thread or lane"
            )
        self.kind = kinds.pop()
        matches = [match for match in found if match is not None]
        self.linear = matches[0][2] is None
        self.places = [int(match[3]) if self.linear else "xyz".index(match[2]) for match in matches]
        """For each loop dimension the processor dimension."""
        if self.kind == "lane" and not self.linear:
            raise Unsupported("the loop is mapped to lanes along x, y or z; use #gpu.lane<linear_dim_N>")

    def of(self, st: Any) -> tuple[list[Any], list[int]]:
        """The processor's index along each dimension, and the number of processors."""
        names, size = st.block.names, st.block.warp_size
        if self.kind == "lane":
            return [st.threads % size], [size]
        if self.kind == "block":
            numbers, counts = list(names["block_id"]), list(names["grid_dim"])
        else:
            numbers, counts, left = [], list(names["block_dim"]), st.threads
            for count in counts:
                numbers.append(left % count)
                left = left // count
            each = {"thread": 1, "warp": size, "warpgroup": size * _WARPGROUP}[self.kind]
            if self.linear:
                return [st.threads // each], [-(-math.prod(counts) // each)]
            numbers[0], counts[0] = numbers[0] // each, max(1, counts[0] // each)
        if self.linear:
            x, y, z = numbers
            return [x + counts[0] * (y + counts[1] * z)], [math.prod(counts)]
        return numbers, counts


@operation("scf.forall")
def _forall(op: Any, tr: ThreadTranslator) -> None:
    if len(op.results):
        raise Unsupported("the loop has tensor results; only loops that write memrefs are supported")
    segments, slots = attribute(op, "operandSegmentSizes"), tr.operands(op)
    ends = [sum(segments[: i + 1]) for i in range(3)]
    parts = (slots[: ends[0]], slots[ends[0] : ends[1]], slots[ends[1] : ends[2]])
    names = ("staticLowerBound", "staticUpperBound", "staticStep")
    lows, highs, steps = (mixed(attribute(op, name), part) for name, part in zip(names, parts, strict=True))
    block, site = tr.only_block(op.regions[0]), tr.site(op)
    space = _Space(op, tr, [tr.slot(argument) for argument in block.arguments])
    elements = _Elements(op) if "mapping" in op.attributes and len(op.attributes["mapping"]) else None
    shared = _Share(space, elements, op, tr) if elements is not None else None

    def given(st: Any, items: list[tuple[bool, int]]) -> list[Any]:
        return [st.v[value] if is_slot else value for is_slot, value in items]

    def bounds(st: Any) -> tuple[Any, Any, Any]:
        total = space.begin(st, given(st, lows), given(st, highs), given(st, steps))
        return (0, total, 1) if shared is None else shared.begin(st)

    assign = space.assign if shared is None else shared.assign
    counting(op, tr, bounds, assign, lambda: _all(tr, block), ([], [], []))
    if elements is None or elements.kind == "block":
        # The blocks of a grid do not wait for each other.
        return
    if elements.kind == "lane":
        tr.emit(_warp_joins(site))
    else:
        tr.blocking(_joins(site))


def _all(tr: ThreadTranslator, block: Any) -> list[int]:
    for view in list(block.operations)[:-1]:
        tr.operation(view.operation)
    return []


class _Share:
    """The iterations of each processor: along each dimension cyclic from its own index."""

    def __init__(self, space: _Space, elements: _Elements, op: Any, tr: ThreadTranslator) -> None:
        self.space, self.elements, self.mine = space, elements, tr.temporary()
        self.order = sorted(range(len(elements.places)), key=lambda i: elements.places[i])
        """The loop dimensions, the fastest one first."""

    def begin(self, st: Any) -> tuple[Any, Any, Any]:
        count = len(self.space.slots)
        trips = st.v[self.space.shape][2 * count :]
        numbers, counts = self.elements.of(st)
        if self.elements.linear:
            total = math.prod(trips[1:], start=trips[0]) if trips else 1
            st.v[self.mine] = ()
            return numbers[0], total, counts[0]
        total: Any = 1
        own = []
        for place, number in enumerate(numbers):
            if place not in self.elements.places:
                # Along what is not mapped there is one.
                total = total * (number == 0)
        for i in range(count):
            place = self.elements.places[i]
            number, of = numbers[place], counts[place]
            own += [number, of, _at_least(0, -((number - trips[i]) // of))]
            total = total * own[-1]
        st.v[self.mine] = tuple(own)
        return 0, total, 1

    def assign(self, st: Any, now: Any) -> None:
        space = self.space
        count, found, left = len(space.slots), st.v[space.shape], now
        own = st.v[self.mine]
        for i in self.order:
            if self.elements.linear:
                trips = _at_least(1, found[2 * count + i])
                at, left = left % trips, left // trips
            else:
                number, of, rounds = own[3 * i : 3 * i + 3]
                rounds = _at_least(1, rounds)
                at, left = number + left % rounds * of, left // rounds
            st.v[space.slots[i]] = found[i] + at * found[count + i]


def _joins(site: Site) -> Control:
    """A barrier of the threads of the block."""

    def wait(st: Any) -> Any:
        if st.machine.how.explicit_barriers:
            return None
        wait_for_all(st, site)
        return thread_barrier(st, 0, st.block.counted, site, "the barrier at the end of scf.forall")

    return wait


def _warp_joins(site: Site) -> Callable[[Any], None]:
    """A barrier of the threads of each warp."""

    def step(st: Any) -> None:
        if st.machine.how.explicit_barriers or st.warps[0].counters is not None:
            # The lanes of a wave do all at the same time.
            return
        for warp in st.active_warps():
            lanes = st.lanes_of(warp)
            if int(lanes.sum()) != warp.threads:
                st.stop(
                    "divergence",
                    f"the end of scf.forall is in divergent control flow: not all lanes of {warp.name} reach it; move the loop out of the branch",
                    site,
                )
            for agent, end in warp.own.items():
                st.learn(warp, agent, end)
            warp.synchronize(lanes, site)

    return step
