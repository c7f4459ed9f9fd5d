# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor memory (Blackwell). Only the simulator executes these operations."""

from __future__ import annotations

from typing import Any, Literal

from .. import ir
from ..dialects import mosaic_gpu, nvvm
from ..language.shapes import static_shape
from ..language.types import DType, Misuse, int32, member, mlir_type
from ..language.types import dtype as to_dtype
from ..language.values import Tile
from .layouts import Layout, layout_attribute
from .memory import Memory, shared


def _type(shape: Any, dtype: DType) -> ir.MemRefType:
    return ir.MemRefType.get(list(static_shape(shape)), mlir_type(dtype), memory_space=mosaic_gpu.TmemAttr.get())


class TensorMemory(Memory):
    """Tensor memory: rows (lanes) and columns of 32 bits, from `sb.tensor_memory`. It is read and written as a whole."""

    def load(
        self,
        layout: Layout | None = None,
        fill: int | float = 0,
        in_bounds: bool = False,
        conflict_free: bool = False,
    ) -> Tile:
        """Starts a load as a tile. Call `tcgen05_wait_loads` before the tile is used."""
        tile = async_load_tensor(self)
        assert isinstance(tile, Tile)
        return tile

    def store(self, value: Any, atomic: Any = None, in_bounds: bool = False, conflict_free: bool = False) -> None:
        """Starts a store of a tile. Call `tcgen05_wait_stores` before the memory is read."""
        if not isinstance(value, Tile) or value.shape != self.shape or value.dtype != self.dtype:
            raise Misuse(f"the value is {value!r}, but the destination is {self}; shape and element type must be equal")
        mosaic_gpu.async_store_tmem(value.value, self.value)

    def columns(self, offset: int, shape: Any, dtype: Any = None) -> TensorMemory:
        """The memory from column `offset` (of 32 bits, a multiple of 4), with another shape and element type."""
        wanted = self.dtype if dtype is None else to_dtype(dtype)
        value = mosaic_gpu.slice_tmem(_type(shape, wanted), self.value, offset)
        return TensorMemory(value, wanted, self.name)

    def with_layout(self, layout: Layout) -> TensorMemory:
        """The memory in a layout that the kernel states, such as `smalti.layouts.tmem_default()`."""
        attribute = layout_attribute(layout, self.shape)
        value = mosaic_gpu.tmem_layout_cast(self.value, attribute, results=[self.value.type])
        return TensorMemory(value, self.dtype, self.name)


def tensor_memory(shape: Any, dtype: Any, packing: int = 1, collective: bool = False) -> TensorMemory:
    """Allocates tensor memory of shape (rows, columns). `packing` elements share a column of 32 bits.

    With `collective`, two blocks allocate together. Free it with `tensor_memory_free`.
    Example: `acc = sb.tensor_memory((128, 256), sl.float32)`.
    """
    wanted = to_dtype(dtype)
    address = shared((), int32)
    value = mosaic_gpu.tmem_alloc(_type(shape, wanted), address.value, collective=collective, packing=packing)
    return TensorMemory(value, wanted, "the buffer")


def tensor_memory_free(memory: TensorMemory) -> None:
    """Frees all columns of an allocation."""
    mosaic_gpu.tmem_dealloc(memory.value)


def tensor_memory_relinquish(collective: bool = False) -> None:
    """States that the block does not allocate tensor memory any more, so that another block of the SM may."""
    mosaic_gpu.tmem_relinquish_alloc_permit(collective=collective)


def async_load_tensor(
    memory: TensorMemory, reduce: Literal["min", "max", "absmin", "absmax"] | None = None
) -> Tile | tuple[Tile, Tile]:
    """Starts a load of tensor memory. With `reduce`, the second result is the reduction of each row (float32 or int32)."""
    kind = member(mosaic_gpu.TMEMLoadReduction, "reduce", reduce)
    shapes = [memory.shape] if reduce is None else [memory.shape, memory.shape[:1]]
    types = [ir.VectorType.get(list(shape), memory.type.element_type) for shape in shapes]
    op = mosaic_gpu.AsyncLoadTmemOp(memory.value, reduce=kind, results=types)
    tiles = [Tile(result, memory.dtype) for result in op.results]
    return tiles[0] if reduce is None else (tiles[0], tiles[1])


def async_copy_to_tensor(
    source: Memory,
    destination: TensorMemory,
    kind: Literal["elements", "scales", "sparse_metadata"] = "elements",
    collective: bool = False,
) -> None:
    """Starts a copy of shared memory to tensor memory; `tcgen05_commit_arrive` arrives on a barrier when it is complete.

    `kind` is "scales" for the scales of operands. Their shared memory has the shape (M / 128, N / 4, 32, 16). It is
    "sparse_metadata" for the metadata of a sparse operand, of shape (M / 128, N / 64, 128, 64). With `collective`, one block of a pair copies for both.
    """
    ops = {
        "elements": mosaic_gpu.async_store_smem_to_tmem,
        "scales": mosaic_gpu.async_store_scales_smem_to_tmem,
        "sparse_metadata": mosaic_gpu.async_store_sparse_metadata_smem_to_tmem,
    }
    if kind not in ops:
        raise Misuse(f"kind is {kind!r}, but must be {', '.join(ops)}")
    ops[kind](source.value, destination.value, collective=collective)


def tcgen05_wait_loads() -> None:
    """Waits for the loads of tensor memory."""
    nvvm.tcgen05_wait(nvvm.Tcgen05WaitKind.LOAD)


def tcgen05_wait_stores() -> None:
    """Waits for the stores to tensor memory."""
    nvvm.tcgen05_wait(nvvm.Tcgen05WaitKind.STORE)


def tcgen05_fence_after() -> None:
    """Orders later tensor core operations after a barrier or wait before it."""
    nvvm.tcgen05_fence(nvvm.Tcgen05FenceKind.AFTER_THREAD_SYNC)


def tcgen05_fence_before() -> None:
    """Orders earlier tensor core operations before a later barrier."""
    nvvm.tcgen05_fence(nvvm.Tcgen05FenceKind.BEFORE_THREAD_SYNC)
