# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Result registers of a `wgmma` in flight.

The value passes through structs, vectors and loops unchanged. A computation resolves it first, which is a finding if no
wait covers the `wgmma`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .... import ir
from ...translation.translator import Unsupported, attribute
from .lanes import Array, dtype_of, take

PRODUCT = "nvvm.wgmma.mma_async"
_OPCODE = PRODUCT.removeprefix("nvvm.")

_TRANSPARENT = {"llvm.extractvalue", "llvm.insertvalue", "vector.extract", "vector.from_elements", "llvm.bitcast"}
_TRANSPARENT |= {"llvm.extractelement", "llvm.insertelement"}


def is_wgmma_op(op: Any) -> bool:
    """Whether an op issues a `wgmma`: by MLIR's op, or by assembly with operand A in registers."""
    if op.name == "llvm.inline_asm":
        return _OPCODE in ir.StringAttr(op.attributes["asm_string"]).value
    return op.name in (PRODUCT, "nvgpu.warpgroup.mma")


def is_held(op: Any) -> bool:
    """Whether an op is empty inline assembly, which keeps registers in place."""
    return op.name == "llvm.inline_asm" and not ir.StringAttr(op.attributes["asm_string"]).value.strip()


def is_transparent(op: Any) -> bool:
    """Whether an op propagates unresolved registers."""
    return op.name in _TRANSPARENT or is_held(op)


def computes(op: Any) -> bool:
    """Whether an op needs the values of its operands."""
    return op.name not in _CARRIES and not is_transparent(op) and not is_wgmma_op(op)


_CARRIES = {"scf.for", "scf.while", "scf.yield", "scf.condition", "scf.if", "scf.index_switch"}


class Pending:
    """A register of each lane."""

    __slots__ = ("index", "lanes", "product")

    def __init__(self, product: Any, index: int, lanes: Array | None = None) -> None:
        self.product, self.index = product, index
        self.lanes = lanes
        """The lanes that issued the `wgmma`; None for all."""

    def take(self, lanes: Array, memo: dict[int, Any]) -> Pending:
        key = id(self.lanes)
        if key not in memo:
            mine = np.arange(len(lanes)) if self.lanes is None else self.lanes
            memo[key] = mine[lanes]
        return Pending(self.product, self.index, memo[key])

    def force(self) -> Array:
        """The value, whether the `wgmma` is complete or not."""
        found = self.product.register(self.index)
        return found if self.lanes is None else found[self.lanes]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.product.register_dtype


class PendingVector:
    """A vector of such registers and numbers, or one number of several registers: their concatenated bytes."""

    __slots__ = ("dtype", "items", "shape")

    def __init__(self, items: list[Any], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.items: list[Any] = []
        """Registers and arrays of numbers."""
        for item in items:
            if item.__class__ is PendingVector:
                self.items += item.items
            else:
                self.items.append(
                    item if item.__class__ is Pending else np.asarray(item, getattr(item, "dtype", dtype))
                )
        self.shape, self.dtype = shape, dtype

    def take(self, lanes: Array, memo: dict[int, Any]) -> PendingVector:
        return PendingVector([take(item, lanes, 0, memo) for item in self.items], self.shape, self.dtype)

    def force(self) -> Array:
        """The value, whether the `wgmma` ops are complete or not."""
        found = [item.force() if item.__class__ is Pending else item for item in self.items]
        lanes = max(len(item) if item.ndim else 1 for item in found)
        rows = [
            np.ascontiguousarray(np.broadcast_to(item, (lanes, *item.shape[1:]))).view(np.uint8).reshape(lanes, -1)
            for item in found
        ]
        return np.concatenate(rows, 1).view(self.dtype).reshape((-1, *self.shape))

    @property
    def has_elements(self) -> bool:
        """Whether each element is one register or one number."""
        return len(self.items) == int(np.prod(self.shape)) and all(item.dtype == self.dtype for item in self.items)


def is_pending(value: Any) -> bool:
    return value.__class__ is Pending or value.__class__ is PendingVector


def resolve(st: Any, value: Any, site: Any, by_threads: bool = True) -> Any:
    """The value for a computation by threads or by a `wgmma`."""
    if value.__class__ is tuple:
        return tuple(resolve(st, item, site, by_threads) for item in value)
    if not is_pending(value):
        return value
    for item in value.items if value.__class__ is PendingVector else [value]:
        if item.__class__ is Pending:
            item.product.check_waited(st, site)
            if by_threads:
                item.product.is_read(st)
    return value.force()


def pending_values(products: Iterable[Any]) -> set[Any]:
    """The values of a program that may be unresolved registers: `wgmma` results, and values that they propagate to."""
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
    """The values that an operand propagates to."""
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


def handing_on(op: Any, operands: list[int], result: int, step: Any, site: Any) -> Any:
    """The step of a transparent op, which accepts unresolved registers."""
    name = op.name
    if name in ("llvm.extractvalue", "llvm.inline_asm"):
        return step
    position = _position(op)
    ty = op.results[0].type
    shape, dtype = tuple(ty.shape) if isinstance(ty, ir.VectorType) else (), dtype_of(ty)

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
        if value.__class__ is PendingVector and value.has_elements:
            st.v[result] = value.items[position(st)]
            return
        st.v[operands[0]] = resolve(st, value, site)
        step(st)

    def gather(st: Any) -> None:
        items = [st.v[slot] for slot in operands]
        if any(is_pending(item) for item in items):
            assert dtype is not None
            st.v[result] = PendingVector(items, shape, dtype)
        else:
            step(st)

    def bitcast(st: Any) -> None:
        value = st.v[operands[0]]
        if not is_pending(value):
            step(st)
            return
        items = value.items if value.__class__ is PendingVector else [value]
        assert dtype is not None
        is_register = len(items) == 1 and not shape and items[0].__class__ is Pending and items[0].dtype == dtype
        st.v[result] = items[0] if is_register else PendingVector(items, shape, dtype)

    def insert_element(st: Any) -> None:
        target, value = (st.v[slot] for slot in operands[:2])
        if target.__class__ is PendingVector and not target.has_elements:
            target = st.v[operands[0]] = resolve(st, target, site)
        if not is_pending(target) and not is_pending(value):
            step(st)
            return
        items = list(target.items) if is_pending(target) else [target[..., i] for i in range(target.shape[-1])]
        items[position(st)] = value
        assert dtype is not None
        st.v[result] = PendingVector(items, (len(items),), dtype)

    ways = {"vector.from_elements": gather, "llvm.insertvalue": insert, "llvm.insertelement": insert_element}
    ways |= {"llvm.bitcast": bitcast}
    return ways.get(name, extract)


def _position(op: Any) -> Any:
    """A function that returns the register index of an op."""
    if op.name in ("llvm.extractelement", "llvm.insertelement"):
        index = op.operands[len(op.operands) - 1].owner
        if index.name not in ("arith.constant", "llvm.mlir.constant"):
            raise Unsupported("the register index in a wgmma result is dynamic; a constant index is required")
        number = ir.IntegerAttr(index.attributes["value"]).value
        return lambda st: number
    if op.name in ("vector.from_elements", "llvm.bitcast"):
        return None
    places = list(attribute(op, "position" if op.name == "llvm.insertvalue" else "static_position"))
    if len(places) != 1 or places[0] < 0 or (op.name == "vector.extract" and len(op.operands[0].type.shape) != 1):
        raise Unsupported(
            "the op accesses a part of an outstanding wgmma result; only a single register at a static position "
            "is supported"
        )
    return lambda st: places[0]
