# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations on tiles whose form depends on the level of the kernel: tensors here, vectors in `smalti.block`."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ..bindings import ir, tensor, triton_xla
from .types import Misuse


class TileOps:
    """Tiles of tile-level kernels: tensors, with the operations of `triton_xla`."""

    level: ClassVar[str] = "tile"

    @property
    def vendor(self) -> str | None:
        """The vendor of the GPU for which the kernel is translated; None if the translation does not depend on it."""
        return None

    def type(self, shape: Sequence[int], element: ir.Type) -> Any:
        return ir.RankedTensorType.get(list(shape), element)

    def splat(self, ty: Any, scalar: ir.Value) -> ir.Value:
        return tensor.splat(ty, scalar, [])

    def element(self, value: ir.Value) -> ir.Value:
        """The element of a tile of rank 0."""
        return tensor.extract(value, [])

    def broadcast(self, ty: Any, value: ir.Value, dims: Sequence[int]) -> ir.Value:
        return triton_xla.broadcast(ty, value, dims)

    def iota(self, ty: Any, axis: int) -> ir.Value:
        return triton_xla.iota(ty, axis)

    def reshape(self, ty: Any, value: ir.Value) -> ir.Value:
        return triton_xla.reshape(ty, value)

    def squeeze(self, ty: Any, value: ir.Value, axis: int) -> ir.Value:
        return triton_xla.squeeze_dims(ty, value, [axis])

    def transpose(self, ty: Any, value: ir.Value, order: Sequence[int]) -> ir.Value:
        return triton_xla.transpose(ty, value, order)

    def concat(self, ty: Any, values: Sequence[ir.Value], axis: int) -> ir.Value:
        return triton_xla.concat(ty, values, axis)

    def split(self, ty: Any, value: ir.Value, parts: int, axis: int) -> Sequence[ir.Value]:
        return triton_xla.SplitOp([ty] * parts, value, axis).results

    def slice(self, ty: Any, value: ir.Value, *ranges: Sequence[int]) -> ir.Value:
        """`ranges` are the offsets, sizes and steps."""
        return triton_xla.slice(ty, value, *ranges)

    def reduce(self, types: Sequence[Any], values: Sequence[ir.Value], inits: Sequence[ir.Value], dims: Any) -> Any:
        return triton_xla.ReduceOp(types, values, inits, dims)

    def scan(
        self, values: Sequence[ir.Value], inits: Sequence[ir.Value], axis: int, exclusive: bool, reverse: bool
    ) -> Any:
        types = [value.type for value in values]
        return triton_xla.ScanOp(types, values, inits, axis, exclusive=exclusive or None, reverse=reverse or None)

    def end_of_region(self, values: Sequence[ir.Value]) -> None:
        """The terminator of the region of a reduction or scan."""
        triton_xla.yield_(values)

    def print(self, text: str, values: Sequence[ir.Value]) -> None:
        triton_xla.print_(ir.StringAttr.get(text), values)

    def check(self, condition: ir.Value, message: str) -> None:
        triton_xla.assert_(condition, ir.StringAttr.get(message))

    def multiple_of(self, value: ir.Value, divisor: int) -> ir.Value:
        return triton_xla.assume_multiple(value, divisor)


_CURRENT: contextvars.ContextVar[TileOps] = contextvars.ContextVar("tile_ops", default=TileOps())  # noqa: B039


def tile_ops() -> TileOps:
    """The operations for the level of the kernel that this thread translates."""
    return _CURRENT.get()


def set_tile_ops(ops: TileOps) -> Callable[[], None]:
    """Selects the level. The result restores the previous one."""
    token = _CURRENT.set(ops)
    return lambda: _CURRENT.reset(token)


def require_tile_level(name: str, hint: str | None = None) -> None:
    """Raises Misuse in a kernel of another level."""
    if (level := tile_ops().level) != TileOps.level:
        raise Misuse(f"{name} is not available in a kernel with level={level!r}", hint)
