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
"""A number of all threads, or an array of theirs."""


def integer_bits(ty: ir.Type) -> int | None:
    """Bits of an integer or index; None of another type."""
    if isinstance(ty, ir.IntegerType):
        return ty.width
    return 64 if isinstance(ty, ir.IndexType) else None


_INTEGERS = {1: np.dtype(np.bool_), 8: np.dtype(np.int8), 16: np.dtype(np.int16), 32: np.dtype(np.int32)}
_INTEGERS[64] = np.dtype(np.int64)


def numpy_type(ty: ir.Type) -> np.dtype[Any] | None:
    """The numpy type of a scalar type, as values and memory have it; None where there is none."""
    bits = integer_bits(ty)
    if bits is not None:
        return _INTEGERS.get(bits)
    known = dtypes.from_mlir(str(ty))
    return known.numpy if known is not None and known.kind == "f" else None


NARROW = {"i4": 4, "i2": 2}
"""Integers of which several share a byte in memory, and their bits. A value has one in a byte, with its sign."""

SMALL_FLOATS = {name: instructions.dtype(name) for name in ("f4E2M1FN", "f6E2M3FN", "f6E3M2FN")}
"""Floats of less than a byte. A value has one in a byte."""


def unpacked(array: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """Bytes as numbers, of which `count` share one, the first in its low bits."""
    bits = 8 // count
    codes = array.view(np.uint8)[..., None] >> np.arange(count, dtype=np.uint8) * bits
    return signed(codes.reshape(*array.shape[:-1], -1).view(np.int8), bits)


def packed(array: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """The bytes of numbers."""
    bits = 8 // count
    codes = array.view(np.uint8).reshape(*array.shape[:-1], -1, count) & (1 << bits) - 1
    return np.bitwise_or.reduce(codes << np.arange(count, dtype=np.uint8) * bits, -1).astype(np.uint8).view(np.int8)


def signed(array: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """Numbers of so many bits, which bytes hold, with their signs."""
    return array << 8 - bits >> 8 - bits


@dataclass(frozen=True, slots=True)
class Packing:
    """How elements of less than a byte lie in memory. A view of them is one of the bytes."""

    count: int
    """How many share a byte, the first in the low bits."""
    dimension: int
    """Along which they lie."""
    dtype: np.dtype[Any]
    """Their type, where each has a byte of its own."""

    def bytes_of(self, elements: int) -> int:
        """The bytes that so many elements are."""
        if elements % self.count:
            message = f"{elements} elements, {self.count} per byte, do not fill whole bytes"
            raise LaunchError(f"the simulator does not support views that begin or end inside a byte: {message}")
        return elements // self.count

    def in_bytes(self, counts: Sequence[int]) -> list[int]:
        """Numbers of elements in each dimension as those of bytes."""
        return [self.bytes_of(n) if i == self.dimension else n for i, n in enumerate(counts)]

    def of(self, kept: Sequence[int]) -> Packing:
        """The same of a view that has these dimensions, in this order."""
        if self.dimension not in kept:
            raise LaunchError(
                "the simulator does not support views without the dimension along which elements share bytes"
            )
        return replace(self, dimension=kept.index(self.dimension))


PACKED = entry.PACKED
"""Types of elements of which several share a byte, and how many."""


def packing(ty: ir.Type, dimension: int) -> Packing | None:
    """How elements of a type share bytes along a dimension; None of those that do not."""
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
    """A function that takes a Python integer to the signed number of so many bits."""
    if bits == 1:
        return lambda x: x & 1
    half, mask = 1 << (bits - 1), (1 << bits) - 1
    return lambda x: ((x + half) & mask) - half


def collapse(x: Any) -> Any:
    """Numbers of threads that are all the same become one."""
    if not isinstance(x, np.ndarray):
        return x
    first = x.flat[0]
    if (x == first).all():
        return int(first) if x.dtype.kind in "ib" else first
    return x


def spread(x: Number, dtype: np.dtype[Any], threads: int) -> np.ndarray[Any, Any]:
    """A number of all threads as an array of one for each."""
    return x if isinstance(x, np.ndarray) else np.full(threads, x, dtype)
