# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of block-level kernels: arrays, shared memory and their windows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal

from .. import ir
from ..diagnostics import counted
from ..dialects import memref, mosaic_gpu, vector
from ..language.arithmetic import Operand, constant, to_scalar
from ..language.shapes import reshaped, static_shape
from ..language.types import DType, Misuse, index, int32, member, mlir_type
from ..language.types import dtype as to_dtype
from ..language.values import Array, Scalar, Tile, Value
from ..language.windows import Extent, normalized_keys, stored_value
from .layouts import Layout, layout_attribute
from .state import current

SHARED = "#gpu.address_space<workgroup>"

AtomicStore = Literal["add", "min", "max", "and", "or", "xor"]
Axis = Literal["x", "y", "z"]

_DYNAMIC = ir.ShapedType.get_dynamic_size()
_DYNAMIC_OFFSET = ir.ShapedType.get_dynamic_stride_or_offset()


class Memory(Array):
    """An array, shared memory, tensor memory, or a window of one of them.

    `m[i : i + 64]` reads a tile and `m[i : i + 64] = t` writes one. `m.at[i : i + 64]` is a window, for copies, matmuls, and
    reads and writes with options. Slices have static sizes and step 1; a scalar index removes its dimension. A window of
    an array may extend past the array: elements outside of it are read as 0, and are not written.
    """

    def __init__(
        self, base: ir.Value, dtype: DType, name: str, keys: Sequence[Any] | None = None, offset: int | None = None
    ) -> None:
        self._base = base
        self._type = ir.MemRefType(base.type)
        self.dtype = dtype
        self.name = name
        self.offset = offset
        """The first byte in shared memory, of a result of `shared`."""
        self.keys: Sequence[Any] = [Extent(0, size, 1) for size in self._type.shape] if keys is None else keys
        """For each dimension of the base, an extent, an index, or a tile of indices."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes, which are static."""
        sizes = [k.size if isinstance(k, Extent) else k.shape[0] for k in self.keys if isinstance(k, (Extent, Tile))]
        return tuple(sizes)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def num_bytes(self) -> int:
        """Bytes of all elements, as `arrive_expect_tx` counts them."""
        return math.prod(self.shape) * self.dtype.bits // 8

    @property
    def space(self) -> str:
        """ "global", "shared", "cluster" (shared memory of another block) or "tensor"."""
        text = str(self._type.memory_space)
        named = {SHARED: "shared", "#mosaic_gpu.smem_cluster": "cluster", "#mosaic_gpu.tmem": "tensor"}
        return named.get(text, "global")

    @property
    def type(self) -> ir.MemRefType:
        """A type with the sizes of the window."""
        return ir.MemRefType.get(list(self.shape), self._type.element_type, memory_space=self._type.memory_space)

    @property
    def base(self) -> ir.Value:
        """The memory of which this is a window."""
        return self._base

    @property
    def is_whole(self) -> bool:
        """Whether the window is all of its base."""
        sizes = self._type.shape
        return all(
            isinstance(k, Extent) and _is_zero(k.start) and k.size == size
            for k, size in zip(self.keys, sizes, strict=True)
        )

    @property
    def at(self) -> Any:
        """`m.at[i : i + 64, k]` is a window of the memory."""
        return _At(self)

    @property
    def T(self) -> Memory:  # noqa: N802
        """The memory with reversed dimensions. No element moves."""
        return self.transpose()

    def transpose(self, *order: int) -> Memory:
        """The memory with permuted dimensions, or with reversed ones. No element moves."""
        axes = list(order) or list(range(self.ndim))[::-1]
        if sorted(axes) != list(range(self.ndim)):
            raise Misuse(f"{tuple(axes)} is not a permutation of the {counted(self.ndim, 'dimension')} of {self.name}")
        value = self.value
        given = ir.MemRefType(value.type)
        strides, offset = given.get_strides_and_offset()
        layout = ir.StridedLayoutAttr.get(offset, [strides[a] for a in axes])
        shape = [given.shape[a] for a in axes]
        ty = ir.MemRefType.get(shape, given.element_type, layout, given.memory_space)
        return Memory(memref.transpose(ty, value, ir.AffineMap.get_permutation(axes)), self.dtype, self.name)

    def reshape(self, *shape: Any) -> Memory:
        """The memory in another shape, in row-major order; one size may be -1. It must be a whole buffer without a swizzle."""
        sizes = reshaped("memory", self.shape, shape)
        if not self.is_whole:
            raise Misuse(f"a window of {self.name} cannot be reshaped", "reshape the whole buffer, and then slice it")
        ty = ir.MemRefType.get(list(sizes), self._type.element_type, memory_space=self._type.memory_space)
        return Memory(mosaic_gpu.reinterpret_cast(ty, self._base), self.dtype, self.name)

    def in_block(self, block: Operand, axis: Axis = "x") -> Memory:
        """The same shared memory of another block of the cluster: number `block` along `axis`.

        Order its accesses with `sb.cluster_sync`. Requires the option `cluster` of the kernel.
        """
        if self.space != "shared":
            raise Misuse(f"{self.name} is in {self.space} memory, but in_block is for shared memory")
        value = i32(block)
        source = self.value
        given = ir.MemRefType(source.type)
        space = mosaic_gpu.SmemClusterAttr.get()
        ty = ir.MemRefType.get(given.shape, given.element_type, given.layout, space)
        x, y, z = (value if axis == one else None for one in ("x", "y", "z"))
        return Memory(mosaic_gpu.get_cluster_ref(source, x=x, y=y, z=z, results=[ty]), self.dtype, self.name)

    def with_swizzle(self, swizzle: int, tile: Sequence[int] | None = None) -> Memory:
        """States how the shared memory is stored: in tiles (default: 8 rows of `swizzle` bytes), whose 16-byte chunks are
        permuted.

        `swizzle` is 32, 64 or 128 bytes, or 16 for no permutation. All windows of a buffer have the same swizzle. Without
        this function, layout inference chooses.
        """
        if swizzle not in (16, 32, 64, 128):
            raise Misuse(f"swizzle is {swizzle!r}, but must be 16, 32, 64 or 128 bytes")
        sizes = list(tile) if tile is not None else [8, swizzle * 8 // self.dtype.bits]
        transforms = [ir.Attribute.parse(f"#mosaic_gpu.tile<{sizes}>"), mosaic_gpu.SwizzleTransformAttr.get(swizzle)]
        value = mosaic_gpu.with_transforms(self.value, transforms)
        return Memory(value, self.dtype, self.name, offset=self.offset)

    # --- Reads and writes ---

    def load(
        self,
        layout: Layout | None = None,
        fill: int | float = 0,
        in_bounds: bool = False,
        conflict_free: bool = False,
    ) -> Any:
        """Reads the window as a tile, or as a scalar if it does not have dimensions.

        - `layout`: the layout of the tile. By default, layout inference chooses.
        - `fill`: elements outside of an array. Windows of shared memory and scalar indices must be in bounds.
        - `in_bounds`: states that the window of an array is in bounds, so that its elements are not masked.
        - `conflict_free`: requires a load of shared memory without bank conflicts; an error reports that none exists.
        """
        if not self.ndim:
            return Scalar(memref.load(self._base, self._indices()), self.dtype)
        ty = ir.VectorType.get(list(self.shape), self._type.element_type)
        if in_bounds or not self._is_masked:
            tile = Tile(mosaic_gpu.vector_load(self.value, optimized=conflict_free, results=[ty]), self.dtype)
        else:
            base, starts, permutation, bounds = self._transfer()
            padding = constant(fill, self.dtype).value
            tile = Tile(vector.transfer_read(ty, base, starts, permutation, padding, bounds), self.dtype)
        if layout is not None:
            attribute = layout_attribute(layout, tile.shape)
            tile = Tile(mosaic_gpu.layout_cast(tile.value, attribute, results=[ty]), tile.dtype)
        return tile

    def store(
        self,
        value: Operand,
        atomic: AtomicStore | None = None,
        in_bounds: bool = False,
        conflict_free: bool = False,
    ) -> None:
        """Writes a tile, which is repeated to the shape of the window and converted to its element type.

        - `atomic`: combines each element with that in memory. The window must be in bounds.
        - `in_bounds`: states that the window of an array is in bounds. Otherwise elements outside of it are not written.
        - `conflict_free`: requires a store to shared memory without bank conflicts.
        """
        stored = stored_value(value, self.dtype, self.shape, self.name)
        if not self.ndim:
            if atomic is not None:
                raise Misuse("a scalar cannot be stored atomically", "store a tile of one element: m.at[i : i + 1]")
            memref.store(stored.value, self._base, self._indices())
        elif in_bounds or atomic is not None or not self._is_masked:
            mosaic_gpu.vector_store(
                stored.value,
                self.value,
                optimized=True if conflict_free else None,
                atomic_type=member(mosaic_gpu.AtomicOpType, "atomic", atomic),
            )
        else:
            vector.transfer_write(None, stored.value, *self._transfer())

    @property
    def _is_masked(self) -> bool:
        """Whether elements of the window may be outside of an array."""
        sizes = self._type.shape
        return self.space == "global" and not all(
            isinstance(k, (int, Scalar))
            or (isinstance(k, Extent) and isinstance(k.start, int) and k.start + k.size <= size)
            for k, size in zip(self.keys, sizes, strict=True)
        )

    def _transfer(self) -> tuple[ir.Value, list[ir.Value], ir.AffineMap, list[bool]]:
        """The memory, first indices, permutation and bounds of a masked transfer."""
        base, starts = self.without_indices()
        identity = ir.AffineMap.get_identity(self.ndim)
        return base, [to_scalar(start, index).value for start in starts], identity, [False] * self.ndim

    def __getitem__(self, key: Any) -> Any:
        return self.at[key].load()

    def __setitem__(self, key: Any, value: Any) -> None:
        self.at[key].store(value)

    def __len__(self) -> int:
        raise Misuse(f"len({self.name}) is not supported for memory", f"use {self.name}.shape[0]")

    def __iter__(self) -> Any:
        raise Misuse(f"the memory {self.name} cannot be iterated", "read a tile, such as m[i : i + 64]")

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"{self.name} ({self.space} memory of {self.dtype}, shape {self.shape})"

    # --- MLIR ---

    def _indices(self) -> list[ir.Value]:
        return [to_scalar(k, index).value for k in self.keys]

    def starts(self) -> list[Any]:
        """The first index in each dimension of the base: a number, a scalar or a tile."""
        return [k.start if isinstance(k, Extent) else k for k in self.keys]

    def lengths(self) -> list[int]:
        """The size in each dimension of the base; -1 for a dimension that the window does not have."""
        return [k.size if isinstance(k, Extent) else k.shape[0] if isinstance(k, Tile) else -1 for k in self.keys]

    @property
    def value(self) -> ir.Value:
        """The window as a memref."""
        return self._base if self.is_whole else self._subview(self.keys)

    def without_indices(self) -> tuple[ir.Value, list[Any]]:
        """Memory without the dimensions that the window does not have, and the first index in the others."""
        whole = [
            Extent(0, size, 1) if isinstance(k, Extent) else k
            for k, size in zip(self.keys, self._type.shape, strict=True)
        ]
        starts = [k.start for k in self.keys if isinstance(k, Extent)]
        if all(isinstance(k, Extent) for k in whole):
            return self._base, starts
        return self._subview(whole), starts

    def _subview(self, keys: Sequence[Any]) -> ir.Value:
        if any(isinstance(k, Tile) for k in keys):
            raise Misuse(f"a window of {self.name} has a tile as an index, which only bulk copies and atomics support")
        starts = [k.start if isinstance(k, Extent) else k for k in keys]
        sizes = [k.size if isinstance(k, Extent) else 1 for k in keys]
        for dimension, (start, size, limit) in enumerate(zip(starts, sizes, self._type.shape, strict=True)):
            if size > limit or (isinstance(start, int) and start + size > limit):
                raise Misuse(
                    f"dimension {dimension} of {self.name}: the window of {counted(size, 'element')} exceeds the {counted(limit, 'element')}",
                    f"use a window of at most {counted(limit, 'element')}; only windows of arguments without in_bounds may extend past the end",
                )
        dynamic = [s.value for s in starts if isinstance(s, Scalar)]
        static = [_DYNAMIC if isinstance(s, Scalar) else s for s in starts]
        strides, offset = self._type.get_strides_and_offset()
        if dynamic or offset == _DYNAMIC_OFFSET:
            offset = _DYNAMIC_OFFSET
        else:
            offset += sum(s * step for s, step in zip(static, strides, strict=True))
        kept = [d for d, k in enumerate(keys) if isinstance(k, Extent)]
        layout = ir.StridedLayoutAttr.get(offset, [strides[d] for d in kept])
        ty = ir.MemRefType.get([sizes[d] for d in kept], self._type.element_type, layout, self._type.memory_space)
        return memref.SubViewOp(ty, self._base, dynamic, [], [], static, sizes, [1] * len(sizes)).result

    def window(self, key: Any) -> Memory:
        """The window `m.at[key]`."""
        given = iter(normalized_keys(self, key))
        keys: list[Any] = []
        for old in self.keys:
            if not isinstance(old, (Extent, Tile)):
                keys.append(old)
                continue
            new: Any = next(given)
            if isinstance(old, Tile):
                if not isinstance(new, Extent) or not _is_zero(new.start) or new.size != old.shape[0]:
                    raise Misuse(f"a window of {self.name} selects part of a tile of indices", "slice the tile instead")
                keys.append(old)
            elif isinstance(new, Extent):
                if new.step != 1:
                    raise Misuse(f"the step of a slice of {self.name} is {new.step}, but must be 1")
                keys.append(dataclasses.replace(new, start=_sum(old.start, new.start)))
            elif isinstance(new, Tile):
                if new.ndim != 1:
                    raise Misuse(f"an index of {self.name} is {new:a}, but must have one dimension")
                keys.append(new if _is_zero(old.start) else new + old.start)
            else:
                keys.append(_sum(old.start, new))
        return Memory(self._base, self.dtype, self.name, keys)


def _is_zero(number: Any) -> bool:
    return isinstance(number, int) and number == 0


def _sum(a: int | Scalar, b: Any) -> Any:
    """A sum without an operation if one is zero."""
    return b if _is_zero(a) else a if _is_zero(b) else a + b


def as_memory(value: Any, what: str) -> Memory:
    """An operand that is memory. Raises Misuse for a tile."""
    if not isinstance(value, Memory):
        raise Misuse(f"the {what} is {value!r}, but must be memory", "write a window: x.at[i : i + 64]")
    return value


class _At:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def __getitem__(self, key: Any) -> Memory:
        return self._memory.window(key)


def i32(value: Any) -> ir.Value:
    """An integer as an `i32` value."""
    if isinstance(value, Value):
        return to_scalar(value, int32).value
    return constant(value, int32).value


def shared(shape: Any, dtype: Any, swizzle: int | None = None, reuse: Memory | None = None) -> Memory:
    """Shared memory (LDS on AMD) of the block. It is not initialized.

    `swizzle` is as in `Memory.with_swizzle`; by default, layout inference chooses how the memory is stored. `reuse` places it
    at the first byte of other shared memory; its elements are then undefined, since the two may be stored in different orders.
    Example: `buffers = sb.shared((2, 64, 64), sl.float16)`.
    """
    wanted = to_dtype(dtype)
    sizes = static_shape(shape)
    count = math.prod(sizes) * wanted.bits
    if any(size < 1 for size in sizes) or count % 8:
        raise Misuse(f"shared memory of shape {sizes} of {wanted} does not have a whole number of bytes")
    block = current()
    alias = None
    if reuse is not None:
        if reuse.offset is None:
            raise Misuse(f"{reuse} is not a whole buffer", "pass the result of sb.shared")
        offset = reuse.offset
        block.reserve(offset + count // 8)
        block.aliases += 1
        alias = block.aliases
    else:
        # A swizzle of 128 bytes repeats after 1024 bytes; a bulk copy needs 128.
        offset = block.allocate(count // 8, 1024 if count >= 8192 else 128)
    ty = ir.MemRefType.get(list(sizes), mlir_type(wanted), memory_space=ir.Attribute.parse(SHARED))
    memory = Memory(mosaic_gpu.slice_smem(ty, offset, alias_id=alias), wanted, "the buffer", offset=offset)
    return memory if swizzle is None else memory.with_swizzle(swizzle)
