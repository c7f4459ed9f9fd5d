"""Tensor maps: what NVIDIA's copies of tiles (`cp.async.bulk.tensor`) take; a launch makes them of a kernel's arguments.

A kernel states the maps that it takes in `mosaic_gpu.tensor_maps`. On a GPU the driver encodes them
(`cuTensorMapEncodeTiled`). `encode` does it without a driver, for emulated GPUs and for tests.

The driver calls the 128 bytes opaque. Where their fields are is what `tensormap.replace` (PTX ISA, "Tensor map
instructions") changes: the code that ptxas makes of it for sm_90a reads, masks and writes the words below, and
test/python/launch/test_tensor_maps.py compares with it. What that instruction cannot change is zero here: bits 0 to 3 of word
2, and bits 16 to 21, which the driver sets by the kind of the map and by how much the L2 cache fetches. A GPU gets no
map of `encode`.

    word 0, 1    the address
    word 2       bits 4-6 rank - 1, bits 7-10 element type, 11-12 interleaving, 13-14 swizzling, 15 filling
    word 3-6     strides of dimensions 1 to 4, divided by 16: the low 32 bits
    word 7       their high 4 bits each, from bit 0 on
    word 8-12    sizes of dimensions 0 to 4, less 1
    word 13      bits 0-14 element strides of dimensions 0 to 4, less 1, 3 bits each; bits 24-31 box of dimension 0, less 1
    word 14      boxes of dimensions 1 to 4, less 1, 8 bits each
    word 15-31   zero

Dimension 0 is the innermost one there. Everywhere else in Smalti it is the last, as in the shape of an array.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from .. import dtypes
from ..errors import LaunchError

BYTES = 128
"""Of a tensor map in memory."""
ALIGNMENT = 64
ADDRESS_OFFSET = 0
"""Where the array's address stands in it."""
MAX_RANK = 5

ADDRESS_ALIGNMENT = 16
"""Of the array."""
MAX_BOX = 256
MAX_ELEMENT_STRIDE = 8
FILLS = ("zeros", "nan")
SWIZZLES = (16, 32, 64, 128)
"""Bytes within which chunks of 16 are exchanged; 16: none is."""


@dataclass(frozen=True)
class _Type:
    driver: int
    """`CUtensorMapDataType` of cuda.h."""
    code: int
    """What `tensormap.replace.elemtype` takes (PTX ISA, "tensormap.replace")."""


_UNSIGNED = {8: _Type(0, 0), 16: _Type(1, 1), 32: _Type(2, 2), 64: _Type(4, 4)}
_FLOATS = {"f16": _Type(6, 6), "f32": _Type(7, 7), "f64": _Type(8, 9), "bf16": _Type(9, 10)}
_SIGNED = {32: _Type(3, 3), 64: _Type(5, 5)}


def _type(element: dtypes.ElementType) -> _Type:
    """How a map names an element type; one that it has no name for moves as an integer of its size."""
    if element.mlir in _FLOATS:
        return _FLOATS[element.mlir]
    if element.kind == "i" and element.bits in _SIGNED:
        return _SIGNED[element.bits]
    return _UNSIGNED[element.bits]


@dataclass(frozen=True)
class TensorMap:
    """A tensor map but for the address: an array in global memory, and the box of it that an instruction copies.

    Extents, strides (in bytes), box and element strides have the outermost dimension first.
    """

    element: str
    """As MLIR writes it."""
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...] = ()
    """The steps in which a box is read; all 1 where it is empty."""
    swizzle: int = 16
    fill: str = "zeros"
    """What elements outside of the array are."""
    argument: int = 0
    """The kernel's argument whose memory it describes."""
    offset: int = 0
    """Where in it the array starts, in bytes."""
    _type: _Type = field(init=False, repr=False, compare=False)
    _width: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.element_strides:
            object.__setattr__(self, "element_strides", (1,) * len(self.extents))
        element = dtypes.from_mlir(self.element)
        if element is None or element.bits not in _UNSIGNED:
            raise LaunchError(f"tensor map: its element type is {self.element}; it takes 8, 16, 32 or 64 bits")
        object.__setattr__(self, "_width", element.bits // 8)
        object.__setattr__(self, "_type", _type(element))
        self._check(element)

    def _check(self, element: dtypes.ElementType) -> None:
        """The limits of `cuTensorMapEncodeTiled` without interleaving (CUDA Driver API)."""
        rank = len(self.extents)
        if not 1 <= rank <= MAX_RANK:
            raise LaunchError(f"tensor map: the array has {rank} dimensions, 1 to {MAX_RANK} are possible")
        limits = (("box", self.box, MAX_BOX), ("element_strides", self.element_strides, MAX_ELEMENT_STRIDE))
        for title, values, most in limits:
            if len(values) != rank or any(not 1 <= value <= most for value in values):
                raise LaunchError(
                    f"tensor map: {title} is {values}; it has a number from 1 to {most} for each dimension of the array"
                )
        if self.element_strides[-1] != 1:
            raise LaunchError("tensor map: the element stride of the innermost dimension is 1")
        if any(not 1 <= size <= 1 << 32 for size in self.extents):
            raise LaunchError(f"tensor map: the array's shape is {self.extents}; each size is from 1 to 2^32")
        if len(self.strides) != rank:
            raise LaunchError(f"tensor map: {len(self.strides)} strides for {rank} dimensions")
        if self.extents[-1] > 1 and self.strides[-1] != self._width:
            raise LaunchError("tensor map: the elements of the innermost dimension must lie one after the other")
        if any(stride % 16 or not 0 <= stride < 1 << 40 for stride in self.strides[:-1]):
            raise LaunchError(
                f"tensor map: the array's strides are {list(self.strides)} B; they must be multiples of 16 B below 2^40 B"
            )
        row = self.box[-1] * self._width
        if row % 16:
            raise LaunchError(f"tensor map: a row of the box has {row} B; it must be a multiple of 16 B")
        if self.swizzle not in SWIZZLES:
            raise LaunchError(
                f"tensor map: swizzle is {self.swizzle}; it is one of {', '.join(map(str, SWIZZLES[1:]))}, or 16 for none"
            )
        if self.swizzle > 16 and row > self.swizzle:
            raise LaunchError(
                f"tensor map: a row of the box has {row} B; with a swizzle of {self.swizzle} B it has as many at most"
            )
        if self.fill not in FILLS:
            raise LaunchError(f"tensor map: the fill is {self.fill!r}; it is one of {', '.join(FILLS)}")
        if self.fill == "nan" and element.mlir not in _FLOATS:
            raise LaunchError(f"tensor map: {element} has no NaN that a copy fills with")
        if self.offset < 0 or self.argument < 0:
            raise LaunchError(
                f"tensor map: offset {self.offset} B of argument {self.argument}: neither can be negative"
            )

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of the box."""
        return self.box[-1] * self._width

    @property
    def extent_bytes(self) -> int:
        """Bytes of memory from the array's first element to its last."""
        reach = sum((size - 1) * stride for size, stride in zip(self.extents, self.strides, strict=True))
        return reach + self._width

    @property
    def driver_type(self) -> int:
        """Its element type's `CUtensorMapDataType`."""
        return self._type.driver

    @property
    def type_code(self) -> int:
        """How the 128 bytes spell the type of the elements."""
        return self._type.code

    @property
    def driver_swizzle(self) -> int:
        """Its `CUtensorMapSwizzle`."""
        return SWIZZLES.index(self.swizzle)

    @property
    def driver_fill(self) -> int:
        """Its `CUtensorMapFloatOOBfill`."""
        return FILLS.index(self.fill)


def check_address(described: TensorMap, address: int) -> None:
    """Raises where no map can start."""
    if address % ADDRESS_ALIGNMENT:
        raise LaunchError(
            f"tensor map: argument {described.argument} at offset {described.offset} B starts at an address that is a "
            f"multiple of {address & -address} B; it must be one of {ADDRESS_ALIGNMENT} B",
            hint="pass an array that starts an allocation",
        )


def encode(described: TensorMap, address: int = 0) -> bytes:
    """The 128 bytes of a map, as far as they are known."""
    check_address(described, address)

    def inner_first(values: Sequence[int], count: int = MAX_RANK) -> list[int]:
        return [*reversed(values), *[1] * (count - len(values))]

    facts = described.rank - 1 << 4
    facts |= described.type_code << 7
    facts |= described.driver_swizzle << 13
    facts |= described.driver_fill << 15
    strides = [stride >> 4 for stride in reversed(described.strides[:-1])]
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
        *(size - 1 for size in inner_first(described.extents)),
        steps | boxes[0] << 24,
        sum(size << 8 * i for i, size in enumerate(boxes[1:])),
    ]
    return struct.pack(f"<{len(words)}I", *words).ljust(BYTES, b"\0")
