# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic accesses and fences of `memref`, `llvm` and `nvvm`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..... import ir
from .....dialects.arith import AtomicRMWKind
from .....dialects.llvm import AtomicBinOp, AtomicOrdering
from .....dialects.nvvm import MemScopeKind
from ....ops.registers import enumerator
from ....translation.translator import Step, Unsupported, attribute
from ...execution import bounds
from ...execution.code import ThreadTranslator, operation
from ...execution.counters import DS, LOAD
from ...execution.lanes import Array, dtype_of, rank_of, spread
from ...execution.memory import PrivateBuffer, View, read, write
from ...execution.ordering import BLOCK, CLUSTER, DEVICE, SYSTEM, THREAD, WARP, Order, accessed, drain, fence
from ...execution.polling import polling
from ..arithmetic.arith import arith_name, combining
from ..arithmetic.llvm import address_space, plain_load, plain_store, pointee
from .memref import index_reader, memory_dtype

_WIDE = np.dtype(np.int64)

Update = Callable[[Array, Array], Array]
"""A function of the old value: a row for each of some lanes. The second argument is these lanes."""


# ---------------------------------------------------------------------------------------------------------------------
# Accesses
# ---------------------------------------------------------------------------------------------------------------------


class Atomic:
    """An atomic access of elements of a type, at byte offsets of a buffer."""

    def __init__(
        self, op: Any, tr: ThreadTranslator, dtype: Any, count: int, order: Order, failure: Order | None = None
    ) -> None:
        self.site = tr.site(op)
        self.dtype, self.count = dtype, count
        self.orders = (order, failure or order)
        self.steps = np.arange(count) * dtype.itemsize
        self.used = any(True for value in op.results for _ in value.uses)
        tr.uses_shared(dtype.itemsize)

    def _lanes(self, st: Any, buffer: Any, first: Any, mask: Array | None, write: bool) -> tuple[Array, Array]:
        """The first byte of every lane, and the lanes that access memory."""
        what = "the atomic access"
        at = spread(first, _WIDE, st.lanes)
        mask = st.in_buffer(buffer, at, self.steps, self.dtype.itemsize, mask, self.site, what, write)
        running = np.ones(st.lanes, np.bool_) if mask is None else mask
        bad = running & (at % self.dtype.itemsize != 0)
        if bad.any():
            lane = int(bad.argmax())
            size = self.dtype.itemsize
            st.report(
                "assertion",
                f"{what} of {size} B is at byte offset {at[lane]} of {buffer.name}; the offset must be a multiple of "
                f"{size}",
                self.site,
                lane,
            )
            running = running & ~bad
        return at, running

    def _touch(self, st: Any, buffer: Any, at: Array, running: Array, writes: bool, reads: bool, level: int) -> None:
        if not running.any():
            return
        kind = None
        if self.used and writes:
            # An operation that returns its old value is counted among loads.
            kind = DS if buffer.shared else LOAD
        size, what = self.dtype.itemsize, "the atomic access"
        more: Any = {"level": level, "reads": reads, "kind": kind}
        st.touch(buffer, at, self.steps, size, running, writes, what, self.site, **more)

    def load(self, st: Any, buffer: Any, first: Any) -> Array:
        """The old values, a row per lane."""
        at, running = self._lanes(st, buffer, first, st.mask, False)
        found = read(buffer, at, self.steps, self.dtype, running)
        if not isinstance(buffer, PrivateBuffer):
            self._touch(st, buffer, at, running, False, True, self.orders[0].level)
            accessed(st, buffer, at, np.flatnonzero(running), self.orders, None, True, self.site)
        return found

    def store(self, st: Any, buffer: Any, first: Any, values: Array) -> None:
        """Stores a row per lane, one after the other."""
        if self.orders[0].releases:
            drain(st, self.orders[0], self.site)
        at, running = self._lanes(st, buffer, first, st.mask, True)
        before = read(buffer, at, self.steps, self.dtype, running)
        if not isinstance(buffer, PrivateBuffer):
            self._touch(st, buffer, at, running, True, False, self.orders[0].level)
            accessed(st, buffer, at, np.flatnonzero(running), self.orders, running, False, self.site)
        write(buffer, at, self.steps, values, running)
        st.changed(before, read(buffer, at, self.steps, self.dtype, running))

    def update(
        self, st: Any, buffer: Any, first: Any, function: Update, mask: Array | None, wanted: Array | None = None
    ) -> tuple[Array, Array]:
        """An atomic update, lane by lane where lanes access the same bytes. Returns the old values, a row per lane,
        and the lanes that wrote: with `wanted`, those whose old value was equal."""
        if self.orders[0].releases:
            drain(st, self.orders[0], self.site)
        at, running = self._lanes(st, buffer, first, mask, True)
        old = np.zeros((st.lanes, self.count), self.dtype)
        wrote = running.copy()
        before = read(buffer, at, self.steps, self.dtype, running)
        for lanes in _one_by_one(buffer, at, np.flatnonzero(running)):
            chosen = np.zeros(st.lanes, np.bool_)
            chosen[lanes] = True
            there = read(buffer, at, self.steps, self.dtype, chosen)
            old[lanes] = there[lanes]
            if wanted is not None:
                matches = (_bits(there) == _bits(wanted)).all(1)
                wrote &= matches | ~chosen
                chosen &= matches
                lanes = np.flatnonzero(chosen)
            if lanes.size:
                there[lanes] = function(there[lanes], lanes).astype(self.dtype)
                write(buffer, at, self.steps, there, chosen)
        if not isinstance(buffer, PrivateBuffer):
            self._touch(st, buffer, at, wrote, True, True, self.orders[0].level)
            self._touch(st, buffer, at, running & ~wrote, False, True, self.orders[1].level)
            accessed(st, buffer, at, np.flatnonzero(running), self.orders, wrote, True, self.site)
        st.changed(before, read(buffer, at, self.steps, self.dtype, running))
        return old, wrote


def _bits(values: Array) -> Array:
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def _one_by_one(buffer: Any, at: Array, lanes: Array) -> list[Array]:
    """Groups of lanes without conflicts: no two lanes of a group access the same bytes. Later groups follow in
    order."""
    if isinstance(buffer, PrivateBuffer):
        return [lanes]
    places = at[lanes]
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(lanes) else lanes
    rank = np.empty(len(lanes), np.int64)
    rank[order] = np.arange(len(lanes)) - np.repeat(starts, np.diff(np.append(starts, len(lanes))))
    return [lanes[rank == turn] for turn in range(int(rank.max()) + 1)] if len(lanes) else []


# ---------------------------------------------------------------------------------------------------------------------
# Update functions
# ---------------------------------------------------------------------------------------------------------------------


def _unsigned(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    def on_unsigned(old: Array, value: Array) -> Array:
        return function(_bits(old), _bits(value)).view(old.dtype)

    return on_unsigned


_SPECIAL: dict[str, Callable[[Array, Array], Array]] = {
    "xchg": lambda old, value: value,
    "nand": lambda old, value: ~(old & value),
    "uinc_wrap": _unsigned(lambda old, value: np.where(old >= value, 0, old + 1).astype(old.dtype)),
    "udec_wrap": _unsigned(lambda old, value: np.where((old == 0) | (old > value), value, old - 1).astype(old.dtype)),
    "usub_cond": _unsigned(lambda old, value: np.where(old >= value, old - value, old).astype(old.dtype)),
    "usub_sat": _unsigned(lambda old, value: np.where(old >= value, old - value, 0).astype(old.dtype)),
}
_COMMON = {"add": "add", "sub": "subi", "_and": "and", "_or": "or", "_xor": "xor", "max": "maxsi", "min": "minsi"}
_COMMON |= {"umax": "maxui", "umin": "minui", "fadd": "add", "fsub": "subf", "fmax": "maxnumf", "fmin": "minnumf"}
_COMMON |= {"fmaximum": "maximumf", "fminimum": "minimumf"}
"""LLVM's names of the operations of `combining`."""


def function_of(name: str, dtype: Any) -> Callable[[Array, Array], Array]:
    """The update function, by LLVM's name."""
    return _SPECIAL[name] if name in _SPECIAL else combining(_COMMON[name], dtype)


def _elements(ty: Any, what: str) -> tuple[np.dtype[Any], int]:
    """The type and number of the elements of a value."""
    dtype = dtype_of(ty)
    if dtype is None or dtype == np.dtype(np.bool_) or rank_of(ty) > 1:
        raise Unsupported(
            f"{what} has type {ty}; it must be a scalar or a one-dimensional vector of integers or floats of whole "
            "bytes"
        )
    return dtype, int(np.prod(ty.shape)) if rank_of(ty) else 1


def _rows(st: Any, value: Any, dtype: Any, rank: int) -> Array:
    return spread(value, dtype, st.lanes, rank).reshape(st.lanes, -1)


# ---------------------------------------------------------------------------------------------------------------------
# memref
# ---------------------------------------------------------------------------------------------------------------------

_CONVERTED = Order(SYSTEM, True, True)
"""The memory order of atomic ops in MLIR's conversion of `memref` to LLVM."""


def _located(st: Any, view: View, indices: list[Any], site: Any, dtype: Any) -> tuple[Any, Array | None]:
    """The byte offset of an element, and the lanes for which it is in bounds."""
    first, mask = st.locate(view, indices, (), site, "the atomic access", True)
    if view.limit is not None:
        at = spread(first, _WIDE, st.lanes)
        inside = np.broadcast_to(bounds.inside(view, at, np.zeros(1, np.int64), dtype.itemsize).all(-1), (st.lanes,))
        mask = inside if mask is None else mask & inside
    return first, mask


@operation("memref.atomic_rmw")
def _memref_update(op: Any, tr: ThreadTranslator) -> Step | None:
    value, source, *_ = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    indices = index_reader(op, tr, 2)
    dtype = memory_dtype(op.operands[1].type)
    tr.uses(op.operands[1].type)
    kind = AtomicRMWKind(attribute(op, "kind"))
    combine = _SPECIAL["xchg"] if kind == AtomicRMWKind.assign else combining(arith_name(kind), dtype)
    atomic = Atomic(op, tr, dtype, 1, _CONVERTED)

    def step(st: Any) -> None:
        view: View = st.v[source]
        first, mask = _located(st, view, indices(st), site, dtype)
        given = _rows(st, st.v[value], dtype, 0)
        old, _ = atomic.update(st, view.buffer, first, lambda there, lanes: combine(there, given[lanes]), mask)
        st.v[result] = old[:, 0]

    return polling(op, tr, step)


@operation("memref.generic_atomic_rmw")
def _memref_generic(op: Any, tr: ThreadTranslator) -> Step | None:
    source, *_ = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    indices = index_reader(op, tr, 1)
    dtype = memory_dtype(op.operands[0].type)
    tr.uses(op.operands[0].type)
    atomic = Atomic(op, tr, dtype, 1, _CONVERTED)
    block = tr.only_block(op.regions[0])
    (current,) = (tr.slot(argument) for argument in block.arguments)
    *operations, last = (view.operation for view in block.operations)
    body = []
    for inside in operations:
        made = tr.step(inside)
        if made is None or made.step is None:
            raise Unsupported(f"the region contains '{inside.name}'; only ops without control flow are supported in it")
        body.append(made.step)
    (yielded,) = tr.operands(last)

    def step(st: Any) -> None:
        view: View = st.v[source]
        first, mask = _located(st, view, indices(st), site, dtype)

        def compute(there: Array, lanes: Array) -> Array:
            every = np.zeros(st.lanes, dtype)
            every[lanes] = there[:, 0]
            st.v[current] = every
            for inside in body:
                inside(st)
            return spread(st.v[yielded], dtype, st.lanes)[lanes][:, None]

        old, _ = atomic.update(st, view.buffer, first, compute, mask)
        st.v[result] = old[:, 0]

    return polling(op, tr, step)


# ---------------------------------------------------------------------------------------------------------------------
# llvm
# ---------------------------------------------------------------------------------------------------------------------

_SCOPES = {
    "nvidia": {"": SYSTEM, "singlethread": THREAD, "block": BLOCK, "cluster": CLUSTER, "device": DEVICE},
    "amd": {"": SYSTEM, "singlethread": THREAD, "wavefront": WARP, "workgroup": BLOCK, "cluster": CLUSTER},
}
_SCOPES["amd"]["agent"] = DEVICE
"""LLVM's names of scopes (its guides to NVPTX and AMDGPU)."""


def level_of(op: Any, tr: ThreadTranslator) -> int:
    name = attribute(op, "syncscope", "")
    scopes = _SCOPES[tr.target.vendor]
    if name not in scopes:
        raise Unsupported.invalid(
            f"the attribute 'syncscope' is '{name}'; the scopes of {tr.target.name} are: {', '.join(repr(scope) for scope in scopes)}"
        )
    return scopes[name]


def order_of(op: Any, tr: ThreadTranslator, name: str = "ordering") -> Order | None:
    """The memory order of an op; None if it is not atomic."""
    ordering = str(enumerator(op, name, AtomicOrdering) or "not_atomic")
    if ordering == "not_atomic":
        return None
    return ordered(ordering, level_of(op, tr))


def ordered(name: str, level: int) -> Order:
    return Order(level, name in ("acquire", "acq_rel", "seq_cst"), name in ("release", "acq_rel", "seq_cst"))


@operation("llvm.atomicrmw")
def _update(op: Any, tr: ThreadTranslator) -> Step | None:
    (pointer, value), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    ty, rank = op.operands[1].type, rank_of(op.operands[1].type)
    dtype, count = _elements(ty, "values")
    name = str(enumerator(op, "bin_op", AtomicBinOp))
    order = order_of(op, tr)
    assert order is not None
    atomic = Atomic(op, tr, dtype, count, order)
    combine, space = function_of(name, dtype), address_space(op.operands[0].type)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[pointer], space, site, "the atomic access")
        given = _rows(st, st.v[value], dtype, rank)
        old, _ = atomic.update(st, buffer, first, lambda there, lanes: combine(there, given[lanes]), st.mask)
        st.v[result] = old.reshape(st.lanes, *(ty.shape if rank else ()))

    return polling(op, tr, step)


@operation("llvm.cmpxchg")
def _compare_exchange(op: Any, tr: ThreadTranslator) -> Step | None:
    """It does not fail spuriously, although a weak one may."""
    (pointer, compared, value), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    dtype, count = _elements(op.operands[1].type, "values")
    order, failure = order_of(op, tr, "success_ordering"), order_of(op, tr, "failure_ordering")
    assert order is not None and failure is not None
    atomic = Atomic(op, tr, dtype, count, order, failure)
    space = address_space(op.operands[0].type)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[pointer], space, site, "the atomic access")
        given, wanted = (_rows(st, st.v[slot], dtype, 0) for slot in (value, compared))
        old, wrote = atomic.update(st, buffer, first, lambda there, lanes: given[lanes], st.mask, wanted)
        st.v[result] = (old[:, 0], wrote)

    return polling(op, tr, step)


def _relaxed(op: Any, tr: ThreadTranslator) -> Order | None:
    """The memory order of a load or store; None if it is plain. In PTX `.volatile` is `.relaxed.sys` ("Memory
    Consistency Model", volatile operations)."""
    if (order := order_of(op, tr)) is not None:
        return order
    return Order(SYSTEM) if "volatile_" in op.attributes and tr.target.vendor == "nvidia" else None


@operation("llvm.load")
def _load(op: Any, tr: ThreadTranslator) -> Step | None:
    order = _relaxed(op, tr)
    ty = op.results[0].type
    if order is None:
        plain = plain_load(op, tr)
        # It may be taken out of a loop, but also poll a barrier in LDS: that is a race, and the loop has to end.
        polls = "tensor_counter" in tr.target.waits and str(ty) == "i64" and address_space(op.operands[0].type) == 3
        return polling(op, tr, plain) if polls else plain
    (pointer,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    dtype, count = _elements(ty, "the atomic load")
    atomic, space = Atomic(op, tr, dtype, count, order), address_space(op.operands[0].type)
    shape = tuple(ty.shape) if isinstance(ty, ir.VectorType) else ()

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[pointer], space, site, "the atomic access")
        st.v[result] = atomic.load(st, buffer, first).reshape(st.lanes, *shape)

    return polling(op, tr, step)


@operation("llvm.store")
def _store(op: Any, tr: ThreadTranslator) -> Step:
    order = _relaxed(op, tr)
    if order is None:
        return plain_store(op, tr)
    (value, pointer), site = tr.operands(op), tr.site(op)
    ty = op.operands[0].type
    dtype, count = _elements(ty, "the atomic store")
    atomic, space = Atomic(op, tr, dtype, count, order), address_space(op.operands[1].type)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[pointer], space, site, "the atomic access")
        atomic.store(st, buffer, first, _rows(st, st.v[value], dtype, rank_of(ty)))

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Fences
# ---------------------------------------------------------------------------------------------------------------------


@operation("llvm.fence")
def _fence(op: Any, tr: ThreadTranslator) -> Step:
    site, order = tr.site(op), order_of(op, tr)
    assert order is not None
    return lambda st: fence(st, order, site)


_MEMBAR = {"cta": BLOCK, "cluster": CLUSTER, "gpu": DEVICE, "sys": SYSTEM}


@operation("nvvm.memory.barrier", "nvvm.fence.sc.cluster")
def _memory_barrier(op: Any, tr: ThreadTranslator) -> Step:
    site = tr.site(op)
    level = CLUSTER
    if op.name == "nvvm.memory.barrier":
        level = _MEMBAR[str(enumerator(op, "scope", MemScopeKind))]
    order = Order(level, True, True)
    return lambda st: fence(st, order, site)
