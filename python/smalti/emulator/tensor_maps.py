# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor maps of arrays on emulated GPUs, as arguments of a launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import dtypes
from ..calling import arrays, tensor_maps
from ..errors import LaunchError
from . import memory

BYTES = tensor_maps.BYTES

_MARK_OFFSET = 64
_MARK = b"SMALTITM"
"""A mark after the documented bytes, by which the emulator recognizes a tensor map."""


@dataclass(frozen=True)
class TensorMap:
    """A tensor map of an array; `smalti.emulator.tensor_map` creates one."""

    array: Any
    fields: bytes
    """Its bytes without the address."""


def encode(described: tensor_maps.TensorMap) -> bytes:
    """The bytes of a tensor map without the address."""
    if described.swizzle > 16 and described.row_bytes != described.swizzle:
        # The driver allows shorter rows, but their layout is not documented.
        raise LaunchError(
            f"tensor map: a row of the box has {described.row_bytes} B; the emulator requires {described.swizzle} B for a "
            f"swizzle of {described.swizzle} B"
        )
    known = tensor_maps.encode(described)
    return known[:_MARK_OFFSET] + _MARK + known[_MARK_OFFSET + len(_MARK) :]


def tensor_map(
    array: Any,
    box: Sequence[int],
    *,
    element_strides: Sequence[int] | None = None,
    swizzle: int = 0,
    oob_fill: str = "zeros",
) -> TensorMap:
    """A tensor map of `array`, as an argument of a launch: for a pointer parameter, or for 128 bytes by value.

    `box` has the sizes of the tile that an instruction copies, and `element_strides` its steps. Both are in the order of the
    array's dimensions; the order of the driver is reversed. `swizzle` is 32, 64 or 128, or 0 for none. `oob_fill` is the
    value of elements outside of the array, "zeros" or "nan". Limits are those of `cuTensorMapEncodeTiled` without
    interleaving.
    """
    try:
        view = arrays.view(array)
    except arrays.NotAnArray as error:
        raise LaunchError(f"tensor map: {error}") from None
    ty = dtypes.from_name(view.dtype)
    if view.device != arrays.CPU:
        raise LaunchError(
            f"tensor map: the array is on {view.device}, but the emulator requires CPU memory; copy the array to the CPU"
        )
    if ty is None:
        raise LaunchError(
            f"tensor map: the array has elements of {view.dtype}; an integer or float "
            "type of 8, 16, 32 or 64 bits is required"
        )
    if swizzle not in (0, *tensor_maps.SWIZZLES[1:]):
        raise LaunchError(f"tensor map: 'swizzle' is {swizzle}; it must be 0, 32, 64 or 128")
    width = max(ty.bits // 8, 1)
    described = tensor_maps.TensorMap(
        element=ty.mlir,
        extents=tuple(view.shape),
        strides=tuple(stride * width for stride in view.strides),
        box=tuple(box),
        element_strides=tuple(element_strides) if element_strides is not None else (1,) * len(view.shape),
        swizzle=swizzle or tensor_maps.SWIZZLES[0],
        fill=oob_fill,
    )
    return TensorMap(array, encode(described))


@dataclass
class TensorMapPlacement:
    """The tensor maps of a launch of `count` arguments."""

    count: int
    arrays: list[memory.Array]
    """The arrays of the launch; those of the maps are added."""
    values: dict[int, bytes]
    addresses: dict[int, memory.Address]

    def place(self, index: int, title: str, value: TensorMap, is_pointer: bool) -> None:
        """Adds a tensor map, and its array unless the array is an argument."""
        view = arrays.view(value.array)
        same = (view.pointer, view.shape, view.strides)
        known = [array for array in self.arrays if (array.view.pointer, array.view.shape, array.view.strides) == same]
        if known:
            of = known[0].index
        else:
            # After the arguments of the kernel.
            of = max([self.count - 1, *(array.index for array in self.arrays)]) + 1
            ty = dtypes.from_name(view.dtype)
            assert ty is not None
            name = f"the array of the tensor map of {title}"
            size = ty.bits // 8
            self.arrays.append(memory.Array(of, view, size, tensor_maps.ADDRESS_ALIGNMENT, not view.readonly, name))
        address = memory.Address(tensor_maps.ADDRESS_OFFSET, of)
        if is_pointer:
            fields = arrays.view(np.frombuffer(value.fields, np.uint8))
            self.arrays.append(memory.Array(index, fields, 1, tensor_maps.ALIGNMENT, False, title, address))
            return
        self.values[index] = value.fields
        self.addresses[index] = address
