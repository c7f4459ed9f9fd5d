"""Tensor maps: what NVIDIA's copies of tiles (`cp.async.bulk.tensor`) take, and `cuTensorMapEncodeTiled` makes for a GPU."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import arrays, dtypes
from ..errors import LaunchError
from . import memory

BYTES = 128
"""Of a tensor map in memory."""
ALIGNMENT = 64
ADDRESS_OFFSET = 8
"""Where the array's address stands in it: the emulator knows it."""

_ADDRESS_ALIGNMENT = 16
"""Of the array."""
_MAGIC = b"SMALTITM"
_MAX_RANK = 5
_LAYOUT = "<8sQBBBB5Q4Q5H5B"
_FILLS = ("zeros", "nan")
_SWIZZLES = (0, 32, 64, 128)


@dataclass(frozen=True)
class TensorMap:
    """A tensor map of an array; `smalti.emulator.tensor_map` makes one."""

    array: Any
    fields: bytes
    """What lies in memory but for the address."""


def tensor_map(
    array: Any,
    box: Sequence[int],
    *,
    element_strides: Sequence[int] | None = None,
    swizzle: int = 0,
    oob_fill: str = "zeros",
) -> TensorMap:
    """A tensor map of `array`, as an argument of a launch: for a parameter that is a pointer, or 128 bytes by value.

    `box` has the sizes of the tile that an instruction copies and `element_strides` the steps in which it does, in the
    order of the array's dimensions (the driver takes both the other way round). `swizzle` is 32, 64 or 128, or 0 for
    none; `oob_fill` is what elements outside of the array are, "zeros" or "nan". Limits are those of
    `cuTensorMapEncodeTiled` without interleaving.
    """
    try:
        view = arrays.view(array)
    except arrays.NotAnArray as error:
        raise LaunchError(f"tensor map: {error}") from None
    ty = dtypes.from_name(view.dtype)
    if view.device != arrays.CPU:
        raise LaunchError(f"tensor map: the array is on {view.device}, the emulator runs on the CPU")
    if ty is None or ty.bits not in (8, 16, 32, 64):
        raise LaunchError(f"tensor map: its element type is {view.dtype}; it takes 8, 16, 32 or 64 bits")
    width = ty.bits // 8
    rank = len(view.shape)
    if not 1 <= rank <= _MAX_RANK:
        raise LaunchError(f"tensor map: the array has {rank} dimensions, 1 to {_MAX_RANK} are possible")
    steps = list(element_strides) if element_strides is not None else [1] * rank
    for title, values, most in (("box", box, 256), ("element_strides", steps, 8)):
        if len(values) != rank or any(not 1 <= value <= most for value in values):
            raise LaunchError(
                f"tensor map: {title} is {tuple(values)}; it has a number from 1 to {most} for each dimension of the array"
            )
    if steps[-1] != 1:
        raise LaunchError("tensor map: the element stride of the innermost dimension is 1")
    strides = [stride * width for stride in view.strides]
    if any(not 1 <= size <= 1 << 32 for size in view.shape):
        raise LaunchError(f"tensor map: the array's shape is {tuple(view.shape)}; each size is from 1 to 2^32")
    if view.shape[-1] > 1 and strides[-1] != width:
        raise LaunchError("tensor map: the elements of the innermost dimension must lie one after the other")
    if any(stride % 16 or not 0 <= stride < 1 << 40 for stride in strides[:-1]):
        raise LaunchError(
            f"tensor map: the array's strides are {strides} B; they must be multiples of 16 B below 2^40 B"
        )
    row = box[-1] * width
    if row % 16:
        raise LaunchError(f"tensor map: a row of the box has {row} B; it must be a multiple of 16 B")
    if swizzle not in _SWIZZLES:
        raise LaunchError(f"tensor map: swizzle is {swizzle}; it is one of {', '.join(map(str, _SWIZZLES))}")
    if swizzle and row != swizzle:
        # The driver allows less; where the rows lie then is in no document that we know.
        raise LaunchError(
            f"tensor map: a row of the box has {row} B; with a swizzle of {swizzle} B it must have as many"
        )
    if oob_fill not in _FILLS:
        raise LaunchError(f"tensor map: oob_fill is {oob_fill!r}; it is one of {', '.join(_FILLS)}")
    if oob_fill == "nan" and ty.kind != "f":
        raise LaunchError(f"tensor map: {ty} has no NaN")

    def filled(values: Sequence[int], count: int, with_: int) -> list[int]:
        """From the innermost dimension on."""
        return [*reversed(values), *[with_] * (count - len(values))]

    fields = struct.pack(
        _LAYOUT,
        _MAGIC, 0, rank, width, swizzle, oob_fill == "nan",
        *filled(view.shape, 5, 1), *filled(strides[:-1], 4, 0), *filled(box, 5, 1), *filled(steps, 5, 1),
    )  # fmt: skip
    return TensorMap(array, fields.ljust(BYTES, b"\0"))


@dataclass
class Placing:
    """The tensor maps of a launch of `count` arguments."""

    count: int
    arrays: list[memory.Array]
    """The launch's, to which those of the maps are added."""
    values: dict[int, bytes]
    addresses: dict[int, memory.Address]

    def place(self, index: int, title: str, given: TensorMap, is_pointer: bool) -> None:
        """Adds one, and its array where that is no argument itself."""
        view = arrays.view(given.array)
        same = (view.pointer, view.shape, view.strides)
        known = [array for array in self.arrays if (array.view.pointer, array.view.shape, array.view.strides) == same]
        if known:
            of = known[0].index
        else:
            # Behind the arguments that the kernel has.
            of = max([self.count - 1, *(array.index for array in self.arrays)]) + 1
            ty = dtypes.from_name(view.dtype)
            assert ty is not None
            name = f"the array of the tensor map of {title}"
            self.arrays.append(memory.Array(of, view, ty.bits // 8, _ADDRESS_ALIGNMENT, not view.readonly, name))
        address = memory.Address(ADDRESS_OFFSET, of)
        if is_pointer:
            fields = arrays.view(np.frombuffer(given.fields, np.uint8))
            self.arrays.append(memory.Array(index, fields, 1, ALIGNMENT, False, title, address))
            return
        self.values[index] = given.fields
        self.addresses[index] = address
