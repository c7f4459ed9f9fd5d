# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run-time values at block level, and the numpy types of MLIR types.

A warpgroup executes an op as one. The value of an MLIR type is
- integer, index or float: a Python number if all threads have the same value, else an array with one number per thread.
  Integers are signed Python numbers, and `i1` is 0 or 1;
- vector: an array of its shape with the elements of the whole group, or `memory.Registers` while a `wgmma` may still
  write it. In per-thread code (`custom_primitive`) the array has an additional leading dimension, the thread;
- memref: `memory.MemRef` or `memory.Private`; pointer: `memory.Pointer`.
Arrays are never modified in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import dtypes, instructions, ir
from ...compiler import entry
from ...errors import LaunchError

Number = Any
"""A uniform scalar, or an array with one number per thread."""


def integer_bits(ty: ir.Type) -> int | None:
    """The bits of an integer or index type; None for other types."""
    if isinstance(ty, ir.IntegerType):
        return ty.width
    return 64 if isinstance(ty, ir.IndexType) else None


_INTEGERS = {1: np.dtype(np.bool_), 8: np.dtype(np.int8), 16: np.dtype(np.int16), 32: np.dtype(np.int32)}
_INTEGERS[64] = np.dtype(np.int64)


def numpy_type(ty: ir.Type) -> np.dtype[Any] | None:
    """The numpy type of a scalar type, in values and memory; None if there is none."""
    bits = integer_bits(ty)
    if bits is not None:
        return _INTEGERS.get(bits)
    known = dtypes.from_mlir(str(ty))
    return known.numpy if known is not None and known.kind == "f" else None


NARROW = {f"i{bits}": bits for bits in range(2, 64) if bits not in _INTEGERS}
"""Integer types that numpy does not have, and their bits. A value has sign-extended elements of the next wider type."""


def held_integer(bits: int) -> np.dtype[Any]:
    """The numpy type of the elements of values of an integer type with more than one bit."""
    return np.dtype(f"i{max(1 << (bits - 1).bit_length(), 8) // 8}")


SMALL_FLOATS = {name: instructions.dtype(name) for name in ("f4E2M1FN", "f6E2M3FN", "f6E3M2FN")}
"""Packed float types. A value has one element per byte."""


def unpacked(array: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """Unpacks bytes with `count` elements each, the first in the low bits."""
    bits = 8 // count
    codes = array.view(np.uint8)[..., None] >> np.arange(count, dtype=np.uint8) * bits
    return signed(codes.reshape(*array.shape[:-1], -1).view(np.int8), bits)


def packed(array: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """Packs elements into bytes."""
    bits = 8 // count
    codes = array.view(np.uint8).reshape(*array.shape[:-1], -1, count) & (1 << bits) - 1
    return np.bitwise_or.reduce(codes << np.arange(count, dtype=np.uint8) * bits, -1).astype(np.uint8).view(np.int8)


def signed(array: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """Sign-extends numbers of this many bits."""
    unused = array.dtype.itemsize * 8 - bits
    return array << unused >> unused


@dataclass(frozen=True, slots=True)
class Packing:
    """The packing of elements smaller than a byte. A view of them is a view of their bytes."""

    count: int
    """Elements per byte, the first in the low bits."""
    dimension: int
    """The dimension along which they are packed."""
    dtype: np.dtype[Any]
    """Their type with one element per byte."""

    def bytes_of(self, elements: int) -> int:
        """The bytes of this many elements."""
        if elements % self.count:
            message = f"{elements} elements, with {self.count} per byte, do not fill whole bytes; use multiples of {self.count}"
            raise LaunchError(f"the view begins or ends inside a byte, which the simulator does not support: {message}")
        return elements // self.count

    def in_bytes(self, counts: Sequence[int]) -> list[int]:
        """Element counts of each dimension as byte counts."""
        return [self.bytes_of(n) if i == self.dimension else n for i, n in enumerate(counts)]

    def of(self, kept: Sequence[int]) -> Packing:
        """The packing of a view with these dimensions, in this order."""
        if self.dimension not in kept:
            raise LaunchError(
                "the view drops the dimension along which elements smaller than a byte are packed, which the simulator does not support; keep the dimension"
            )
        return replace(self, dimension=kept.index(self.dimension))


PACKED = entry.PACKED
"""Packed element types, and their elements per byte."""


def packing(ty: ir.Type, dimension: int) -> Packing | None:
    """The packing of an element type along a dimension; None if it is not packed."""
    name = str(ty)
    if name not in PACKED:
        return None
    return Packing(PACKED[name], dimension, np.dtype(np.int8) if name in NARROW else SMALL_FLOATS[name])


def element_type(ty: ir.Type) -> Any:
    """The element type of a shaped type, or the type itself."""
    return ty.element_type if isinstance(ty, (ir.VectorType, ir.MemRefType)) else ty


def is_vector(ty: ir.Type) -> bool:
    return isinstance(ty, ir.VectorType)


def is_float(ty: ir.Type) -> bool:
    return isinstance(ty, ir.FloatType)


def wrap(bits: int) -> Callable[[int], int]:
    """A function that wraps a Python integer to a signed number of this many bits."""
    if bits == 1:
        return lambda x: x & 1
    half, mask = 1 << (bits - 1), (1 << bits) - 1
    return lambda x: ((x + half) & mask) - half


def collapse(x: Any) -> Any:
    """An array with equal elements for all threads becomes a uniform scalar."""
    if not isinstance(x, np.ndarray):
        return x
    first = x.flat[0]
    if (x == first).all():
        return int(first) if x.dtype.kind in "ib" else first
    return x


def spread(x: Number, dtype: np.dtype[Any], threads: int) -> np.ndarray[Any, Any]:
    """A uniform scalar as an array with one element per thread."""
    return x if isinstance(x, np.ndarray) else np.full(threads, x, dtype)
