# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Register tiles of block-level kernels: vectors that the threads of a thread group hold together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .. import ir
from ..dialects import arith, gpu, mosaic_gpu, vector
from ..language.tile_ops import TileOps
from ..language.types import Misuse, index, mlir_type
from .state import current


def block_index(axis: int) -> ir.Value:
    return gpu.block_id(list(gpu.Dimension)[axis])


def _linear_block_index() -> ir.Value:
    """The number of the block in the grid; x is the fastest dimension."""
    grid = current().launch.grid
    result = block_index(len(grid) - 1)
    for axis in range(len(grid) - 2, -1, -1):
        size = arith.constant(mlir_type(index), grid[axis])
        result = arith.addi(arith.muli(result, size), block_index(axis))
    return result


class VectorOps(TileOps):
    """Tiles of block-level kernels: vectors, with the operations of `mosaic_gpu` and `vector`."""

    level: ClassVar[str] = "block"

    @property
    def vendor(self) -> str | None:
        return current().launch.target.vendor

    def type(self, shape: Sequence[int], element: ir.Type) -> Any:
        # The result of a reduction along all dimensions is a scalar.
        return ir.VectorType.get(list(shape), element) if len(shape) else element

    def splat(self, ty: Any, scalar: ir.Value) -> ir.Value:
        return vector.broadcast(ty, scalar)

    def broadcast(self, ty: Any, value: ir.Value, dims: Sequence[int]) -> ir.Value:
        return mosaic_gpu.broadcast_in_dim(ty, value, dims)

    def iota(self, ty: Any, axis: int) -> ir.Value:
        return mosaic_gpu.broadcasted_iota(ty, axis)

    def reshape(self, ty: Any, value: ir.Value) -> ir.Value:
        return vector.shape_cast(ty, value)

    def squeeze(self, ty: Any, value: ir.Value, axis: int) -> ir.Value:
        return vector.shape_cast(ty, value)

    def transpose(self, ty: Any, value: ir.Value, order: Sequence[int]) -> ir.Value:
        return vector.transpose(ty, value, order)

    def concat(self, ty: Any, values: Sequence[ir.Value], axis: int) -> ir.Value:
        return mosaic_gpu.vector_concat(values, axis, results=[ty])

    def slice(self, ty: Any, value: ir.Value, *ranges: Sequence[int]) -> ir.Value:
        if any(step != 1 for step in ranges[2]):
            raise Misuse(f"the steps of a slice of a tile are {list(ranges[2])}, but must be 1 in a block-level kernel")
        return vector.extract_strided_slice(ty, value, *ranges)

    def split(self, ty: Any, value: ir.Value, parts: int, axis: int) -> Sequence[ir.Value]:
        sizes = list(ty.shape)
        starts = [[part * size if d == axis else 0 for d, size in enumerate(sizes)] for part in range(parts)]
        return [self.slice(ty, value, start, sizes, [1] * len(sizes)) for start in starts]

    def reduce(self, types: Sequence[Any], values: Sequence[ir.Value], inits: Sequence[ir.Value], dims: Any) -> Any:
        return mosaic_gpu.ReduceOp(types, values, inits, dims)

    def scan(
        self, values: Sequence[ir.Value], inits: Sequence[ir.Value], axis: int, exclusive: bool, reverse: bool
    ) -> Any:
        types = [value.type for value in values]
        return mosaic_gpu.ScanOp(types, values, inits, axis, exclusive=exclusive or None, reverse=reverse or None)

    def end_of_region(self, values: Sequence[ir.Value]) -> None:
        mosaic_gpu.return_(values)

    def print(self, text: str, values: Sequence[ir.Value]) -> None:
        for value in values or [None]:
            mosaic_gpu.print_tile(_linear_block_index(), ir.StringAttr.get(text), value=value)

    def check(self, condition: ir.Value, message: str) -> None:
        if not isinstance(condition.type, ir.VectorType):
            condition = vector.broadcast(ir.VectorType.get([1], condition.type), condition)
        mosaic_gpu.assert_(condition, ir.StringAttr.get(message))

    def multiple_of(self, value: ir.Value, divisor: int) -> ir.Value:
        return mosaic_gpu.assume_multiple(value, divisor)
