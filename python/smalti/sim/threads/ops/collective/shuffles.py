# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`gpu` and `nvvm`: shuffles, votes, and the reductions of `nvvm`.

The `nvvm` ops take a mask of participating lanes (PTX ISA, "membermask"): a lane must be in its own mask, and all lanes in
the mask must execute the op with the same mask.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .....dialects.gpu import BroadcastType, ShuffleMode
from .....errors import LaunchError
from ....machine.findings import Site
from ....ops.registers import enumerator
from ....translation.translator import FUNCTIONS, Step, Unsupported, attribute, walk
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, dtype_of, rank_of, spread
from .gpu import from_lane, whole_warps

WARP = 32
_LANES = np.arange(WARP)
_WIDE = np.dtype(np.int64)
_BITS = 1 << _LANES.astype(np.int64)


# ---------------------------------------------------------------------------------------------------------------------
# gpu
# ---------------------------------------------------------------------------------------------------------------------


@operation("gpu.shuffle")
def _shuffle(op: Any, tr: ThreadTranslator) -> Step:
    value, offset, width = tr.operands(op)
    (result, valid), site = tr.results(op), tr.site(op)
    mode = str(enumerator(op, "mode", ShuffleMode))
    rank, dtype = rank_of(op.operands[0].type), dtype_of(op.operands[0].type)

    def step(st: Any) -> None:
        size = st.uniform(st.v[width])
        if size is None or size <= 0 or size & (size - 1) or size > st.block.warp_size:
            found = "differs between threads" if size is None else f"is {size}"
            required = f"the same power of two from 1 to {st.block.warp_size} in all threads"
            st.stop("assertion", f"the shuffle width {found}; it must be {required}", site)
        whole_warps(st, "the shuffle", site)
        lane = np.arange(st.lanes) % st.block.warp_size
        by = np.asarray(st.v[offset])
        source = {"xor": lane ^ by, "up": lane - by, "down": lane + by, "idx": lane // size * size + by}[mode]
        inside = (source // size == lane // size) & (source >= 0)
        st.v[result] = from_lane(st, st.v[value], np.where(inside, source, lane), rank, dtype)
        st.v[valid] = inside

    return step


@operation("gpu.rotate")
def _rotate(op: Any, tr: ThreadTranslator) -> Step:
    (value,), (result, valid), site = tr.operands(op), tr.results(op), tr.site(op)
    by, width = attribute(op, "offset"), attribute(op, "width")
    if width > tr.warp_size:
        raise Unsupported.invalid(
            f"the width of the rotation is {width}; it must be at most {tr.warp_size}, the warp size of {tr.target.name}"
        )
    rank, dtype = rank_of(op.operands[0].type), dtype_of(op.operands[0].type)
    lane = np.arange(tr.warp_size)
    source = (lane + by & width - 1) + (lane & -width)

    def step(st: Any) -> None:
        whole_warps(st, "the rotation", site)
        st.v[result] = from_lane(st, st.v[value], np.tile(source, len(st.warps)), rank, dtype)
        st.v[valid] = np.tile(lane < width, len(st.warps))

    return step


@operation("gpu.subgroup_broadcast")
def _broadcast(op: Any, tr: ThreadTranslator) -> Step:
    source, *which = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    first = str(enumerator(op, "broadcast_type", BroadcastType)) == "first_active_lane"
    rank, dtype = rank_of(op.operands[0].type), dtype_of(op.operands[0].type)
    if dtype is None:
        raise Unsupported(f"type {op.operands[0].type}")

    def step(st: Any) -> None:
        size = st.block.warp_size
        running = _running(st)
        if first:
            lanes = np.repeat(running.argmax(1), size)
        else:
            lanes = spread(st.v[which[0]], _WIDE, st.lanes)
            _one_of_each_warp(st, lanes, running, site)
            lanes = lanes % size
        st.v[result] = from_lane(st, st.v[source], lanes, rank, dtype)

    return step


def _one_of_each_warp(st: Any, lanes: Array, running: Array, site: Site) -> None:
    """Active lanes must pass the same lane, which must be active."""
    size = st.block.warp_size
    rows = lanes.reshape(-1, size)
    wanted = rows[np.arange(len(rows)), running.argmax(1)]
    outside = (wanted < 0) | (wanted >= size)
    absent = outside | ~running[np.arange(len(rows)), wanted % size]
    for bad, says in (
        (
            ((rows != wanted[:, None]) & running).any(1),
            "lanes of {warp} pass different source lanes to a broadcast; the source lane must be uniform",
        ),
        (
            absent & running.any(1),
            "the broadcast reads lane {lane} of {warp}, which is inactive; the source lane must be active",
        ),
    ):
        if bad.any():
            row = int(bad.argmax())
            message = says.format(warp=st.warps[row].name, lane=int(wanted[row]))
            st.stop("divergence", message, site, row * size + int(running[row].argmax()))


def _running(st: Any) -> Array:
    """The active lanes, a row per warp."""
    if st.mask is None:
        return np.ones((len(st.warps), st.block.warp_size), np.bool_)
    return st.mask.reshape(len(st.warps), -1)


# ---------------------------------------------------------------------------------------------------------------------
# nvvm
# ---------------------------------------------------------------------------------------------------------------------


def may_converge_elsewhere(op: Any) -> bool:
    """Whether the other path of an enclosing condition, or another block, has a similar op: independent threads may
    converge at both."""
    while op.name not in FUNCTIONS:
        parent = op.parent.operation
        if any(
            view.operation.name in _TOGETHER for region in parent.regions for b in region if b != op.block for view in b
        ):
            return True
        if parent.name in ("affine.if", "scf.if"):
            others = (
                view.operation for region in parent.regions for block in region if block != op.block for view in block
            )
            names = {inside.name for other in others for inside in (other, *walk(other))}
            if names & _TOGETHER:
                return True
        op = parent
    return False


_TOGETHER = {f"nvvm.{name}.sync" for name in ("vote", "match", "redux", "shfl", "elect", "bar.warp")}


def members(st: Any, mask: Any, what: str, site: Site, elsewhere: bool) -> Array:
    """For each lane the participating lanes of its warp, from its mask. Rows of inactive lanes are undefined."""
    running = _running(st)
    if st.mask is None and not isinstance(mask, np.ndarray) and mask & 0xFFFFFFFF == 0xFFFFFFFF:
        return np.broadcast_to(True, (st.lanes, WARP))
    masks = spread(mask, _WIDE, st.lanes) & 0xFFFFFFFF
    named = masks[:, None] & _BITS != 0
    row = np.repeat(running, WARP, 0)
    alike = masks.reshape(-1, WARP).repeat(WARP, 0) == masks[:, None]
    exists = st.threads < st.block.thread_count
    if st.ended is not None:
        # Exited lanes are not waited for.
        exists = exists & ~st.ended
    exists = exists.reshape(-1, WARP).repeat(WARP, 0)
    comes = running.reshape(-1)
    lane = np.arange(st.lanes) % WARP
    outside = comes & ~named[np.arange(st.lanes), lane]
    if outside.any():
        at = int(outside.argmax())
        st.stop(
            "divergence",
            f"{what} is executed by lane {at % WARP}, which is not in its own mask {masks[at]:#x}; set the bit of each lane that executes the op",
            site,
            at,
        )
    missing = named & exists & ~row & comes[:, None]
    other = named & row & ~alike & comes[:, None]
    for bad, says in ((missing, "does not reach it"), (other, "passes another mask")):
        if bad.any():
            at, lost = (int(x[0]) for x in np.nonzero(bad))
            name = st.warps[at // WARP].name
            message = f"{what} with mask {masks[at]:#x} diverges: lane {lost} of {name} {says}"
            if elsewhere:
                raise LaunchError(
                    f"{site.location}: {message} and may execute a matching op on another path; the simulator runs the "
                    "lanes of a warp in lockstep, so all lanes of the mask must execute the same op: move it out of the branch"
                )
            st.stop("divergence", message, site, at)
    return named & exists


def _rows(values: Array) -> Array:
    """The values of all lanes of the warp, for each lane."""
    return values.reshape(-1, WARP).repeat(WARP, 0)


def _kind(op: Any) -> str:
    return str(op.attributes["kind"]).rpartition(" ")[2].strip("<>")


def _ballot(chosen: Array) -> Array:
    """Rows of lanes as bit masks."""
    return (chosen * _BITS).sum(1).astype(np.uint32).view(np.int32)


@operation("nvvm.vote.sync")
def _vote(op: Any, tr: ThreadTranslator) -> Step:
    mask, predicate = tr.operands(op)
    (result,), site, kind = tr.results(op), tr.site(op), _kind(op)
    elsewhere = may_converge_elsewhere(op)

    def step(st: Any) -> None:
        named = members(st, st.v[mask], "the vote", site, elsewhere)
        rows = _rows(spread(st.v[predicate], np.dtype(np.bool_), st.lanes))
        some, missed = (named & rows).any(1), (named & ~rows).any(1)
        if kind == "ballot":
            st.v[result] = _ballot(named & rows)
        else:
            st.v[result] = {"any": some, "all": ~missed, "uni": ~(some & missed)}[kind]

    return step


@operation("nvvm.match.sync")
def _match(op: Any, tr: ThreadTranslator) -> Step:
    mask, value = tr.operands(op)
    (result,), site, kind = tr.results(op), tr.site(op), _kind(op)
    dtype = dtype_of(op.operands[1].type)
    assert dtype is not None
    elsewhere = may_converge_elsewhere(op)

    def step(st: Any) -> None:
        named = members(st, st.v[mask], "the match", site, elsewhere)
        values = spread(st.v[value], dtype, st.lanes)
        same = _rows(values) == values[:, None]
        if kind == "any":
            st.v[result] = _ballot(named & same)
        else:
            found = (same | ~named).all(1)
            st.v[result] = (np.where(found, _ballot(named), np.int32(0)), found)

    return step


_REDUX = {"add": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
_REDUX |= {"min": np.minimum, "max": np.maximum, "umin": np.minimum, "umax": np.maximum}


@operation("nvvm.redux.sync")
def _redux(op: Any, tr: ThreadTranslator) -> Step:
    value, mask = tr.operands(op)
    (result,), site, kind = tr.results(op), tr.site(op), _kind(op)
    absolute, nan = attribute(op, "abs", False), attribute(op, "nan", False)
    floats = kind in ("fmin", "fmax")
    elsewhere = may_converge_elsewhere(op)

    def step(st: Any) -> None:
        named = members(st, st.v[mask], "the reduction", site, elsewhere)
        given = spread(st.v[value], np.dtype(np.float32 if floats else np.int32), st.lanes)
        if floats:
            st.v[result] = _extreme(np.abs(given) if absolute else given, named, kind == "fmin", nan)
            return
        if kind.startswith("u"):
            given = given.view(np.uint32)
        function = _REDUX[kind]
        # The value of a lane that does not participate has no effect if it is the first lane's value.
        rows = _rows(given)
        first = rows[np.arange(st.lanes), named.argmax(1)][:, None]
        neutral = np.zeros_like(first) if kind in ("add", "xor") else first
        st.v[result] = function.reduce(np.where(named, rows, neutral), axis=1, dtype=given.dtype).view(np.int32)

    return step


def _extreme(values: Array, named: Array, least: bool, nan: bool) -> Array:
    """The minimum or maximum of participating lanes. NaN propagates only if requested, or if there is no number; -0 is
    less than +0 (PTX ISA, redux.sync)."""
    rows = _rows(values)
    odd = np.isnan(rows)
    kept = named & ~odd
    # Numbers in their order, with signs of zeros.
    bits = rows.view(np.int32).astype(np.int64)
    order = np.where(bits < 0, -(bits & 0x7FFFFFFF) - 1, bits)
    order = np.where(kept, order if least else -order, 1 << 40)
    found = rows[np.arange(len(rows)), order.argmin(1)]
    lost = ~kept.any(1) | ((named & odd).any(1) if nan else False)
    return np.where(lost, np.array(0x7FFFFFFF, np.uint32).view(np.float32), found)


@operation("nvvm.shfl.sync")
def _shfl_sync(op: Any, tr: ThreadTranslator) -> Step:
    mask, value, offset, clamp = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    mode = _kind(op)
    dtype = dtype_of(op.operands[1].type)
    assert dtype is not None
    paired = attribute(op, "return_value_and_is_valid", False)
    elsewhere = may_converge_elsewhere(op)

    def step(st: Any) -> None:
        named = members(st, st.v[mask], "the shuffle", site, elsewhere)
        lane = np.arange(st.lanes) % WARP
        bits, by = np.asarray(st.v[clamp]), np.asarray(st.v[offset]) & 31
        segment, limit = bits >> 8 & 31, bits & 31
        low, high = lane & segment, (lane & segment) | (limit & ~segment)
        source = {"up": lane - by, "down": lane + by, "bfly": lane ^ by, "idx": low | (by & ~segment)}[mode]
        inside = source >= high if mode == "up" else source <= high
        at = np.where(inside, source, lane)
        strange = ~named[np.arange(st.lanes), at] & _running(st).reshape(-1)
        if strange.any():
            first = int(strange.argmax())
            st.stop(
                "divergence",
                f"the shuffle reads lane {at[first]}, which is not in the mask or does not execute the shuffle; include this lane",
                site,
                first,
            )
        found = from_lane(st, st.v[value], at, 0, dtype)
        st.v[result] = (spread(found, dtype, st.lanes), inside) if paired else found

    return step


@operation("nvvm.elect.sync")
def _elect(op: Any, tr: ThreadTranslator) -> Step:
    """One lane of those in the mask: PTX does not specify which; here the first."""
    operands, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    elsewhere = may_converge_elsewhere(op)

    def step(st: Any) -> None:
        named = members(st, st.v[operands[0]] if operands else -1, "the election", site, elsewhere)
        st.v[result] = named.argmax(1) == np.arange(st.lanes) % WARP

    return step


@operation("nvvm.bar.warp.sync")
def _warp_sync(op: Any, tr: ThreadTranslator) -> Step:
    """Orders the accesses of the participating lanes (PTX ISA, bar.warp.sync); no other op here does."""
    (mask,), site = tr.operands(op), tr.site(op)
    elsewhere = may_converge_elsewhere(op)

    def step(st: Any) -> None:
        named = members(st, st.v[mask], "the warp barrier", site, elsewhere)
        for index, warp in enumerate(st.warps):
            running = _running(st)[index]
            rows = named[index * WARP : (index + 1) * WARP]
            left = running.copy()
            while left.any():
                lanes = rows[int(left.argmax())]
                if int(lanes.sum()) == warp.threads:
                    # Completed operations of each thread are ordered before later accesses of all.
                    for agent, end in warp.own.items():
                        st.learn(warp, agent, end)
                warp.synchronize(lanes, site)
                left = left & ~lanes

    return step


_LANE_MASKS = {
    "eq": lambda lane: lane == _LANES,
    "lt": lambda lane: lane > _LANES,
    "le": lambda lane: lane >= _LANES,
    "gt": lambda lane: lane < _LANES,
    "ge": lambda lane: lane <= _LANES,
}


@operation(*(f"nvvm.read.ptx.sreg.lanemask.{name}" for name in _LANE_MASKS))
def _lane_mask(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    masks = _ballot(_LANE_MASKS[op.name.rpartition(".")[2]](_LANES[:, None]))

    def step(st: Any) -> None:
        st.v[result] = np.tile(masks, len(st.warps))

    return step
