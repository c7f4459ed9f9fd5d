# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accesses of memory at index vectors: gathers, scatters and atomic operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import ir
from ...dialects.arith import AtomicRMWKind
from ...dialects.mosaic_gpu import AtomicOrdering
from ..machine.clocks import HappensBefore, join
from ..machine.findings import Site
from ..machine.machine import Group
from ..machine.memory import MemRef
from ..translation.translator import Step, Translator, Unsupported, operation, vector_reader
from .arith import FLOAT_FUNCTIONS, held_type, integer_array_function
from .memref import element_at, memory_space
from .registers import enumerator, same_bytes

Array = np.ndarray[Any, Any]


class _Elements:
    """The elements of memory that an op accesses, in row-major order of its vectors."""

    def __init__(self, op: Any, translator: Translator, memory: int, indices: int, mask: int | None) -> None:
        self.memory = translator.slot(op.operands[memory])
        if not isinstance(op.operands[memory].type, ir.MemRefType):
            raise Unsupported(f"the op accesses {op.operands[memory].type}; a memref is required")
        held_type(op.operands[memory].type)
        self.offsets = [translator.slot(value) for value in op.operands[memory + 1 : indices]]
        self.indices = vector_reader(op, indices, translator)
        self.mask = vector_reader(op, mask, translator) if mask is not None else None
        self.shape = tuple(op.operands[indices].type.shape)
        self.layout = translator.layout(op, "in_layouts") or translator.layout(op, "out_layouts")
        self.site = translator.site(op)
        ordered = translator.ordered_stores and memory_space(op.operands[memory].type) == "shared"
        self._is_ordered = ordered

    def visit(self, st: Group) -> Iterator[tuple[tuple[int, ...], MemRef]]:
        """The position in the vectors and the element of memory, for each active element in bounds."""
        indices = np.broadcast_to(self.indices(st), self.shape)
        mask = None if self.mask is None else np.broadcast_to(self.mask(st), self.shape)
        memory, offsets = st.v[self.memory], [int(st.v[slot]) for slot in self.offsets] or [0]
        for position in np.ndindex(self.shape):
            if mask is not None and not mask[position]:
                continue
            at = [*offsets[:-1], offsets[-1] + int(indices[position])]
            element = element_at(st, memory, at, self.site)
            if element is not None:
                yield position, element

    def owner(self, position: tuple[int, ...]) -> Any:
        """The thread that holds the element, as the owner of its access."""
        return ("element", self.layout, self.shape, position)

    def barrier(self, st: Group) -> None:
        """The barrier before and after stores to shared memory that the compiler inserts."""
        if self._is_ordered and st.parent is None:
            st.synchronize(self.site)


@operation("vector.gather")
def _gather(op: Any, translator: Translator) -> Step:
    count = len(op.operands)
    elements = _Elements(op, translator, 0, count - 3, count - 2)
    padding = vector_reader(op, count - 1, translator)
    dtype = held_type(op.results[0].type)
    (result,) = translator.results(op)

    def step(st: Group) -> None:
        found = np.array(np.broadcast_to(padding(st), elements.shape), dtype)
        for position, element in elements.visit(st):
            if st.touch(element, False, "the gather", elements.site, elements.owner(position)):
                found[position] = element.array()[()]
        st.v[result] = found

    return step


@operation("vector.scatter")
def _scatter(op: Any, translator: Translator) -> Step:
    count = len(op.operands)
    elements = _Elements(op, translator, 0, count - 3, count - 2)
    value = vector_reader(op, count - 1, translator)

    def step(st: Group) -> None:
        stored = np.broadcast_to(value(st), elements.shape)
        elements.barrier(st)
        written: dict[int, Any] = {}
        for position, element in elements.visit(st):
            array, number = element.array(), stored[position]
            if element.offset in written:
                if not same_bytes(array, number):
                    st.report(
                        "race",
                        f"the scatter stores different values at index {written[element.offset]}",
                        elements.site,
                        hint="the indices of a scatter must be unique; mask the other elements, or use an atomic operation",
                    )
                continue
            written[element.offset] = int(elements.indices(st)[position])
            alike = lambda array=array, number=number: same_bytes(array, number)  # noqa: E731
            if st.touch(element, True, "the scatter", elements.site, elements.owner(position), alike=alike):
                array[()] = number
        elements.barrier(st)

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Atomic operations
# ---------------------------------------------------------------------------------------------------------------------


@dataclass
class _Order:
    """The memory ordering of an atomic operation."""

    acquires: bool
    releases: bool
    site: Site

    @staticmethod
    def of(op: Any, translator: Translator) -> _Order:
        name = enumerator(op, "ordering", AtomicOrdering)
        return _Order(name in ("acquire", "acq_rel"), name in ("release", "acq_rel"), translator.site(op))

    def published(self, st: Group) -> HappensBefore | None:
        """The clocks that the operations release: those of one thread."""
        return st.alone() if self.releases else None

    def synchronize(self, st: Group, element: MemRef, published: HappensBefore | None) -> None:
        """Acquires and releases through an element. Only one thread acquires; a barrier orders the others."""
        clocks = st.machine.atomics.setdefault((element.buffer, element.offset), HappensBefore())
        if self.acquires:
            join(st.leader, clocks.seen)
            st.now = max(st.now, clocks.moment)
        if published is not None:
            clocks.join(published)


_INTEGERS = {"maxs": "maxsi", "maxu": "maxui", "mins": "minsi", "minu": "minui"}


def _combination(op: Any, dtype: np.dtype[Any]) -> Callable[[Array, Array], Array]:
    kind = AtomicRMWKind(ir.IntegerAttr(op.attributes["kind"]).value)
    name = str(kind)
    if name == "assign":
        return lambda old, new: new
    if name in FLOAT_FUNCTIONS:
        return FLOAT_FUNCTIONS[name]
    return integer_array_function(_INTEGERS.get(name, name))


def _atomic(
    op: Any,
    translator: Translator,
    vectors: int,
    update: Callable[[Array, list[Array]], Array | None],
) -> Step:
    """An atomic operation whose first operands are vectors. `update` returns the new value, or None if the memory is
    not changed."""
    has_mask = len(op.operands) > vectors + 2
    elements = _Elements(op, translator, vectors, vectors + 1, vectors + 2 if has_mask else None)
    readers = [vector_reader(op, index, translator) for index in range(vectors)]
    dtype = held_type(op.operands[0].type)
    results, order = translator.results(op), _Order.of(op, translator)

    def step(st: Group) -> None:
        values = [np.broadcast_to(read(st), elements.shape) for read in readers]
        old = np.zeros(elements.shape, dtype)
        elements.barrier(st)
        published = order.published(st)
        for position, element in elements.visit(st):
            owner, what = elements.owner(position), "the atomic operation"
            if not st.touch(element, True, what, elements.site, owner, atomic=True):
                continue
            order.synchronize(st, element, published)
            array = element.array()
            old[position] = array[()]
            with np.errstate(all="ignore"):
                new = update(np.asarray(old[position]), [np.asarray(value[position]) for value in values])
            if new is not None:
                array[()] = np.asarray(new, dtype)
        elements.barrier(st)
        for result in results:
            st.v[result] = old

    return step


@operation("mosaic_gpu.atomic_rmw")
def _atomic_rmw(op: Any, translator: Translator) -> Step:
    combine = _combination(op, held_type(op.operands[0].type))
    return _atomic(op, translator, 1, lambda old, values: combine(old, values[0]))


@operation("mosaic_gpu.atomic_cas")
def _atomic_cas(op: Any, translator: Translator) -> Step:
    def exchange(old: Array, values: list[Array]) -> Array | None:
        return values[1] if same_bytes(old, values[0]) else None

    return _atomic(op, translator, 2, exchange)
