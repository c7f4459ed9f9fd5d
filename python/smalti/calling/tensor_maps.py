# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor maps (TMA descriptors) of `cp.async.bulk.tensor`. A launch creates them from the arguments of the kernel.

A kernel states its tensor maps in `mosaic_gpu.tensor_maps`. On a GPU the driver encodes them (`cuTensorMapEncodeTiled`).
`encode` does the same without a driver, for emulated GPUs and for tests.

The driver documents the 128 bytes as opaque. The fields below are those that `tensormap.replace` changes (see the PTX ISA).
For sm_90a, ptxas lowers this instruction to loads, masks and stores of the words below, and
test/python/launch/test_tensor_maps.py compares with that code. The instruction cannot change bits 0 to 3 and 16 to 21 of
word 2. These bits are zero here; the driver sets them to the kind of the map and the L2 promotion. A real GPU never
receives a map of `encode`.

    word 0, 1    the address
    word 2       bits 4-6 rank - 1, 7-10 element type, 11-12 interleave, 13-14 swizzle, 15 out-of-bounds fill
    word 3-6     strides of dimensions 1 to 4, divided by 16: the low 32 bits
    word 7       the high 4 bits of each of these strides, from bit 0
    word 8-12    sizes of dimensions 0 to 4, minus 1
    word 13      bits 0-14 element strides of dimensions 0 to 4, minus 1, 3 bits each; 24-31 box of dimension 0, minus 1
    word 14      boxes of dimensions 1 to 4, minus 1, 8 bits each
    word 15-31   zero

Dimension 0 is the innermost one in the encoding. Elsewhere in Smalti the innermost dimension is the last.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .. import dtypes
from ..diagnostics import counted
from ..errors import LaunchError

BYTES = 128
"""Size of a tensor map in memory."""
ALIGNMENT = 64
ADDRESS_OFFSET = 0
"""Byte offset of the address of the array in the map."""
MAX_RANK = 5

ADDRESS_ALIGNMENT = 16
"""Alignment of the array in bytes."""
MAX_BOX = 256
MAX_ELEMENT_STRIDE = 8
MAX_DYNAMIC_EXTENT = 1 << 30
"""The largest size that a launch may pass for a dynamic extent. Kernels clamp coordinates to this number."""
FILLS = ("zeros", "nan")
L2_PROMOTION = 2
"""`CU_TENSOR_MAP_L2_PROMOTION_L2_128B`."""
SWIZZLES = (16, 32, 64, 128)
"""Swizzle sizes in bytes. Chunks of 16 bytes are permuted within this size; 16 means no swizzle."""


@dataclass(frozen=True)
class _Type:
    driver: int
    """`CUtensorMapDataType` of cuda.h."""
    code: int
    """The operand of `tensormap.replace.elemtype` (PTX ISA, "tensormap.replace")."""


_UNSIGNED = {8: _Type(0, 0), 16: _Type(1, 1), 32: _Type(2, 2), 64: _Type(4, 4)}
_FLOATS = {"f16": _Type(6, 6), "f32": _Type(7, 7), "f64": _Type(8, 9), "bf16": _Type(9, 10)}
_SIGNED = {32: _Type(3, 3), 64: _Type(5, 5)}


def _type(element: dtypes.ElementType) -> _Type:
    """The codes of an element type. A type without a code is copied as an unsigned integer of the same size."""
    if element.mlir in _FLOATS:
        return _FLOATS[element.mlir]
    if element.kind == "i" and element.bits in _SIGNED:
        return _SIGNED[element.bits]
    return _UNSIGNED[element.bits]


@dataclass(frozen=True)
class TensorMap:
    """A tensor map without the address: an array in global memory, and the box that one instruction copies.

    The outermost dimension is first in extents, strides (in bytes), box and element strides. Invalid values raise a
    LaunchError.
    """

    element: str
    """The MLIR name."""
    extents: tuple[int | None, ...]
    """None for a size of the argument; see `dims`."""
    strides: tuple[int | None, ...]
    """None for a stride of the argument; see `dims`."""
    box: tuple[int, ...]
    element_strides: tuple[int, ...] = ()
    """The traversal strides of the box in elements; empty: all 1."""
    swizzle: int = 16
    fill: str = "zeros"
    """The value of elements outside of the array: `zeros` or `nan`."""
    argument: int = 0
    """The index of the kernel argument that the map describes."""
    offset: int = 0
    """Byte offset of the array in the argument."""
    dims: tuple[int, ...] = ()
    """If an extent or a stride is None: the dimension of the argument that each dimension of the map represents."""
    _type: _Type = field(init=False, repr=False, compare=False)
    _width: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.element_strides:
            object.__setattr__(self, "element_strides", (1,) * len(self.extents))
        element = dtypes.from_mlir(self.element)
        if element is None or element.bits not in _UNSIGNED:
            raise LaunchError(
                f"tensor map: the element type is {self.element}; elements must have 8, 16, 32 or 64 bits"
            )
        object.__setattr__(self, "_width", element.bits // 8)
        object.__setattr__(self, "_type", _type(element))
        self._check(element)

    def _check(self, element: dtypes.ElementType) -> None:
        """The limits of `cuTensorMapEncodeTiled` without interleaving (CUDA Driver API)."""
        rank = len(self.extents)
        if not 1 <= rank <= MAX_RANK:
            raise LaunchError(f"tensor map: the array has {counted(rank, 'dimension')}; it must have 1 to {MAX_RANK}")
        limits = (("box", self.box, MAX_BOX), ("element_strides", self.element_strides, MAX_ELEMENT_STRIDE))
        for title, values, most in limits:
            if len(values) != rank or any(not 1 <= value <= most for value in values):
                raise LaunchError(
                    f"tensor map: {title} is {values}; it must have a number from 1 to {most} for each dimension of the array"
                )
        if self.element_strides[-1] != 1:
            raise LaunchError(
                f"tensor map: the element stride of the innermost dimension is {self.element_strides[-1]}; it must be 1"
            )
        if any(size is not None and not 1 <= size <= 1 << 32 for size in self.extents):
            raise LaunchError(f"tensor map: the shape of the array is {self.extents}; each size must be from 1 to 2^32")
        if len(self.strides) != rank:
            raise LaunchError(
                f"tensor map: the array has {counted(rank, 'dimension')} but {counted(len(self.strides), 'stride')}; one stride per dimension is required"
            )
        if self.extents[-1] != 1 and self.strides[-1] != self._width:
            raise LaunchError(
                f"tensor map: the stride of the innermost dimension is {self.strides[-1]} B; its elements must be contiguous, "
                f"with a stride of {self._width} B; pass a row-major copy (numpy.ascontiguousarray)"
            )
        if self.is_dynamic and (len(self.dims) != rank or min(self.dims) < 0):
            raise LaunchError(
                f"tensor map: 'dims' is {self.dims}; it must have {counted(rank, 'number')} of at least 0, one per dimension of the array"
            )
        if any(stride is not None and (stride % 16 or not 0 <= stride < 1 << 40) for stride in self.strides[:-1]):
            raise LaunchError(
                f"tensor map: the strides of the array are {list(self.strides)} B; they must be multiples of 16 B below 2^40 B"
            )
        row = self.box[-1] * self._width
        if row % 16:
            raise LaunchError(f"tensor map: a row of the box has {row} B; it must be a multiple of 16 B")
        if self.swizzle not in SWIZZLES:
            raise LaunchError(
                f"tensor map: the swizzle is {self.swizzle} B; it must be one of {', '.join(map(str, SWIZZLES[1:]))}, or 16 for none"
            )
        if self.swizzle > 16 and row > self.swizzle:
            raise LaunchError(
                f"tensor map: a row of the box has {row} B; it must not exceed the swizzle of {self.swizzle} B"
            )
        if self.fill not in FILLS:
            raise LaunchError(f"tensor map: the fill is {self.fill!r}; it must be one of {', '.join(FILLS)}")
        if self.fill == "nan" and element.mlir not in _FLOATS:
            raise LaunchError(f"tensor map: the fill is 'nan', but elements of {element} do not have NaN; use 'zeros'")
        if self.offset < 0 or self.argument < 0:
            raise LaunchError(
                f"tensor map: the offset is {self.offset} B and the index of the argument is {self.argument}; neither may be negative"
            )

    @property
    def is_dynamic(self) -> bool:
        """Whether extents or strides are those of the array that a launch passes."""
        return None in self.extents or None in self.strides

    def bind(self, shape: Sequence[int], strides: Sequence[int]) -> TensorMap:
        """The map of an array of this shape, with strides in elements. Raises LaunchError if TMA does not support the array.

        No extent of a map can be 0. In the map of an empty array each is 1; the kernel does not access it.
        """
        if not self.is_dynamic:
            return self
        for dim, size in zip(self.dims, self.extents, strict=True):
            if size is None and shape[dim] > MAX_DYNAMIC_EXTENT:
                raise LaunchError(
                    f"argument {self.argument}: the size of dimension {dim} is {shape[dim]}; TMA supports at most "
                    f"{MAX_DYNAMIC_EXTENT}",
                    hint="compile with the option matmul=mma, which does not use TMA",
                )
        is_empty = 0 in shape
        for dim, step in zip(self.dims, self.strides, strict=True):
            if step is None and strides[dim] < 0 and not is_empty:
                raise LaunchError(
                    f"argument {self.argument}: the stride of dimension {dim} is {counted(strides[dim], 'element')}; TMA requires strides "
                    "that are not negative",
                    hint="pass a copy of the array, or compile with the option matmul=mma, which does not use TMA",
                )
        extents = [
            1 if is_empty else shape[dim] if size is None else size
            for dim, size in zip(self.dims, self.extents, strict=True)
        ]
        steps = [
            (16 if is_empty else strides[dim] * self._width) if step is None else step
            for dim, step in zip(self.dims, self.strides, strict=True)
        ]
        return replace(self, extents=tuple(extents), strides=tuple(steps), dims=())

    def matches(self, shape: Sequence[int | None] | None) -> bool:
        """Whether an argument of this shape has the dimensions of a dynamic map."""
        return shape is not None and self.offset == 0 and all(dim < len(shape) for dim in self.dims)

    @property
    def static_layout(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Extents, and strides in bytes, of a map that is not dynamic."""
        extents = tuple(size for size in self.extents if size is not None)
        strides = tuple(step for step in self.strides if step is not None)
        assert len(extents) == len(self.extents) and len(strides) == len(self.strides)
        return extents, strides

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def width(self) -> int:
        """Bytes of an element."""
        return self._width

    @property
    def row_bytes(self) -> int:
        """Bytes per row of the box."""
        return self.box[-1] * self._width

    @property
    def extent_bytes(self) -> int:
        """Bytes from the first element of the array to the end of the last."""
        reach = sum((size - 1) * stride for size, stride in zip(*self.static_layout, strict=True))
        return reach + self._width

    @property
    def driver_type(self) -> int:
        """The element type as `CUtensorMapDataType`."""
        return self._type.driver

    @property
    def type_code(self) -> int:
        """The element type in the encoding."""
        return self._type.code

    @property
    def driver_swizzle(self) -> int:
        """The swizzle as `CUtensorMapSwizzle`."""
        return SWIZZLES.index(self.swizzle)

    @property
    def driver_fill(self) -> int:
        """The fill as `CUtensorMapFloatOOBfill`."""
        return FILLS.index(self.fill)


def check_address(described: TensorMap, address: int) -> None:
    """Raises LaunchError if `address` does not have the alignment of a tensor map."""
    if address % ADDRESS_ALIGNMENT:
        raise LaunchError(
            f"tensor map: argument {described.argument} at offset {described.offset} B is aligned to {address & -address} B; "
            f"it must be aligned to {ADDRESS_ALIGNMENT} B",
            hint="pass an array at the start of an allocation",
        )


def encode(described: TensorMap, address: int = 0) -> bytes:
    """The 128 bytes of a map, without the fields that only the driver sets."""
    check_address(described, address)
    extents, steps_of = described.static_layout

    def inner_first(values: Sequence[int], count: int = MAX_RANK) -> list[int]:
        return [*reversed(values), *[1] * (count - len(values))]

    facts = described.rank - 1 << 4
    facts |= described.type_code << 7
    facts |= described.driver_swizzle << 13
    facts |= described.driver_fill << 15
    strides = [stride >> 4 for stride in reversed(steps_of[:-1])]
    strides += [0] * (MAX_RANK - 1 - len(strides))
    high = sum((stride >> 32) << 4 * i for i, stride in enumerate(strides))
    boxes = [size - 1 for size in inner_first(described.box)]
    steps = sum((step - 1) << 3 * i for i, step in enumerate(inner_first(described.element_strides)))
    words = [
        address & 0xFFFFFFFF,
        address >> 32,
        facts,
        *(stride & 0xFFFFFFFF for stride in strides),
        high,
        *(size - 1 for size in inner_first(extents)),
        steps | boxes[0] << 24,
        sum(size << 8 * i for i, size in enumerate(boxes[1:])),
    ]
    return struct.pack(f"<{len(words)}I", *words).ljust(BYTES, b"\0")
