"""Registers that a product of a warpgroup will write.

Such a value goes through structures, vectors and loops as it is; who computes with it resolves it first, which is a
finding where nobody waited for the product.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ... import ir
from ..program import Unsupported, attribute
from .lanes import Array, take

PRODUCT = "nvvm.wgmma.mma_async"

_TRANSPARENT = {"llvm.extractvalue", "llvm.insertvalue", "vector.extract", "vector.from_elements"}
_TRANSPARENT |= {"llvm.extractelement", "llvm.insertelement"}


def is_transparent(op: Any) -> bool:
    """Whether an operation hands such values on. Assembly without a word does: it keeps registers where they are."""
    if op.name == "llvm.inline_asm":
        return not ir.StringAttr(op.attributes["asm_string"]).value
    return op.name in _TRANSPARENT


def computes(op: Any) -> bool:
    """Whether an operation needs the values of its operands."""
    return op.name not in _CARRIES and not is_transparent(op)


_CARRIES = {"scf.for", "scf.while", "scf.yield", "scf.condition", "scf.if", "scf.index_switch", PRODUCT}


class Pending:
    """A register of each lane."""

    __slots__ = ("index", "lanes", "product")

    def __init__(self, product: Any, index: int, lanes: Array | None = None) -> None:
        self.product, self.index = product, index
        self.lanes = lanes
        """Which lanes of those that multiplied; None for all."""

    def take(self, lanes: Array, memo: dict[int, Any]) -> Pending:
        _ = memo
        mine = np.arange(len(lanes)) if self.lanes is None else self.lanes
        return Pending(self.product, self.index, mine[lanes])

    def force(self) -> Array:
        """The value, whether the product was waited for or not."""
        found = self.product.register(self.index)
        return found if self.lanes is None else found[self.lanes]


class PendingVector:
    """A vector of such registers and of numbers."""

    __slots__ = ("items", "shape")

    def __init__(self, items: list[Any], shape: tuple[int, ...]) -> None:
        self.items, self.shape = items, shape

    def take(self, lanes: Array, memo: dict[int, Any]) -> PendingVector:
        return PendingVector([take(item, lanes, 0, memo) for item in self.items], self.shape)

    def force(self) -> Array:
        """The value, whether the products were waited for or not."""
        found = [item.force() if isinstance(item, Pending) else np.asarray(item) for item in self.items]
        return np.stack(np.broadcast_arrays(*found), -1).reshape((-1, *self.shape))


def is_pending(value: Any) -> bool:
    return value.__class__ is Pending or value.__class__ is PendingVector


def resolve(st: Any, value: Any, site: Any) -> Any:
    """A value that is to be computed with."""
    if value.__class__ is tuple:
        return tuple(resolve(st, item, site) for item in value)
    if not is_pending(value):
        return value
    for item in value.items if value.__class__ is PendingVector else [value]:
        if item.__class__ is Pending:
            item.product.check_waited(st, site)
    return value.force()


def pending_values(products: Iterable[Any]) -> set[Any]:
    """The values of a program that may be such registers: results of products, and what gets them."""
    found: set[Any] = set()
    work = [result for op in products for result in op.results]
    while work:
        value = work.pop()
        if value in found:
            continue
        found.add(value)
        for use in value.uses:
            work += _handed_on(use.owner.operation, use.operand_number)
    return found


def _handed_on(op: Any, number: int) -> list[Any]:
    """The values that get an operand as it is."""
    if is_transparent(op):
        return list(op.results)
    if op.name == "scf.for" and number >= 3:
        return [op.results[number - 3], op.regions[0].blocks[0].arguments[number - 2]]
    if op.name == "scf.while":
        return [op.regions[0].blocks[0].arguments[number]]
    if op.name == "scf.condition" and number:
        loop = op.parent.operation
        return [loop.results[number - 1], loop.regions[1].blocks[0].arguments[number - 1]]
    if op.name == "scf.yield":
        parent = op.parent.operation
        if parent.name == "scf.for":
            return [parent.results[number], parent.regions[0].blocks[0].arguments[number + 1]]
        if parent.name == "scf.while":
            return [parent.regions[0].blocks[0].arguments[number]]
        return [parent.results[number]]
    return []


def handing_on(op: Any, operands: list[int], result: int, step: Any) -> Any:
    """The step of a transparent operation, which takes such values too."""
    name = op.name
    if name in ("llvm.extractvalue", "llvm.inline_asm"):
        return step
    position = _position(op)
    shape = tuple(op.results[0].type.shape) if name == "vector.from_elements" else ()

    def insert(st: Any) -> None:
        target, value = (st.v[slot] for slot in operands[:2])
        if not is_pending(value):
            step(st)
            return
        found = list(target) if target is not None else []
        found += [None] * (position(st) + 1 - len(found))
        found[position(st)] = value
        st.v[result] = tuple(found)

    def extract(st: Any) -> None:
        value = st.v[operands[0]]
        if value.__class__ is PendingVector:
            st.v[result] = value.items[position(st)]
        else:
            step(st)

    def gather(st: Any) -> None:
        items = [st.v[slot] for slot in operands]
        if any(is_pending(item) for item in items):
            st.v[result] = PendingVector(items, shape)
        else:
            step(st)

    def insert_element(st: Any) -> None:
        target, value = (st.v[slot] for slot in operands[:2])
        if not is_pending(target) and not is_pending(value):
            step(st)
            return
        items = list(target.items) if is_pending(target) else [target[..., i] for i in range(target.shape[-1])]
        items[position(st)] = value
        st.v[result] = PendingVector(items, (len(items),))

    ways = {"vector.from_elements": gather, "llvm.insertvalue": insert, "llvm.insertelement": insert_element}
    return ways.get(name, extract)


def _position(op: Any) -> Any:
    """A function that gives the index of the register that an operation takes or puts."""
    if op.name in ("llvm.extractelement", "llvm.insertelement"):
        index = op.operands[len(op.operands) - 1].owner
        if index.name not in ("arith.constant", "llvm.mlir.constant"):
            raise Unsupported("a register whose index is not constant")
        number = ir.IntegerAttr(index.attributes["value"]).value
        return lambda st: number
    if op.name == "vector.from_elements":
        return None
    places = list(attribute(op, "position" if op.name == "llvm.insertvalue" else "static_position"))
    if len(places) != 1 or places[0] < 0 or (op.name == "vector.extract" and len(op.operands[0].type.shape) != 1):
        raise Unsupported("a part of the result of a product that is no single register")
    return lambda st: places[0]
