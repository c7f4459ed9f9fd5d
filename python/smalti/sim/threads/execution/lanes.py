# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run-time values of thread-level kernels.

The threads of converged warps execute an op together. The value of an MLIR type is
- integer, index or float: a Python number if all threads have the same value, else an array with one number per thread
  (`i1` is bool there, integers are signed);
- vector: an array of its shape if all threads have the same value, else an array with an additional leading dimension, the
  thread;
- memref: `memory.View`; pointer: a number (see `ops.llvm`); struct: a tuple, whose arrays always have the leading thread
  dimension.
Arrays are never modified in place. Elements of inactive threads are undefined.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .... import ir
from ...machine.values import NARROW, SMALL_FLOATS, held_integer, numpy_type, signed

Array = np.ndarray[Any, Any]


SMALL_TYPES: dict[str, tuple[np.dtype[Any], int]] = {
    name: (dtype, ml_dtypes.finfo(dtype).bits) for name, dtype in SMALL_FLOATS.items()
}
"""Floats of less than a byte, and their bits."""


COMPLEX = {"complex<f32>": np.dtype(np.complex64), "complex<f64>": np.dtype(np.complex128)}
"""Complex numbers, which kernel arguments cannot be."""


def rank_of(ty: Any) -> int:
    """The rank of a uniform value."""
    return len(ty.shape) if isinstance(ty, ir.VectorType) else 0


def dtype_of(ty: Any) -> np.dtype[Any] | None:
    """The numpy type of the elements of a scalar or vector; None if there is none. A pointer is a number."""
    if isinstance(ty, ir.Type) and str(ty).startswith("!llvm.ptr"):
        return np.dtype(np.int64)
    element = ty.element_type if isinstance(ty, ir.VectorType) else ty
    small = SMALL_TYPES.get(str(element)) if isinstance(element, ir.FloatType) else None
    if small is not None:
        return small[0]
    return COMPLEX.get(str(element)) if isinstance(element, ir.ComplexType) else numpy_type(element)


def held_dtype(ty: Any) -> np.dtype[Any] | None:
    """The same, also for integer types that numpy does not have; their elements are sign-extended."""
    bits = NARROW.get(str(ty.element_type if isinstance(ty, ir.VectorType) else ty))
    return dtype_of(ty) if bits is None else held_integer(bits)


def bits_of(ty: Any) -> int | None:
    """The bits of elements of which LLVM packs vectors, without the bits that fill a byte; None for others."""
    name = str(ty.element_type if isinstance(ty, ir.VectorType) else ty)
    if name in SMALL_TYPES:
        return SMALL_TYPES[name][1]
    return 1 if name == "i1" else NARROW.get(name)


def packed_bits(codes: Array, bits: int) -> Array:
    """Packs numbers into bytes along the last dimension as LLVM packs vectors: the first in the low bits."""
    planes = np.unpackbits(codes[..., None].view(np.uint8), axis=-1, count=bits, bitorder="little")
    return np.packbits(planes.reshape(*codes.shape[:-1], -1), axis=-1, bitorder="little")


def unpacked_bits(found: Array, bits: int, count: int, dtype: np.dtype[Any]) -> Array:
    """Unpacks the first numbers from bytes."""
    planes = np.unpackbits(found, axis=-1, count=count * bits, bitorder="little")
    codes = np.zeros((*planes.shape[:-1], count, dtype.itemsize), np.uint8)
    found = np.packbits(planes.reshape(*planes.shape[:-1], -1, bits), axis=-1, bitorder="little")
    codes[..., : found.shape[-1]] = found
    elements = codes.view(dtype)[..., 0]
    return signed(elements, bits) if dtype.kind == "i" else elements


def take(value: Any, lanes: Array, rank: int, memo: dict[int, Any]) -> Any:
    """The value for some of the lanes. `memo` maps original to new mutable values."""
    if isinstance(value, np.ndarray):
        return value[lanes] if value.ndim > rank else value
    if isinstance(value, tuple):
        return tuple(take(item, lanes, item.ndim - 1 if isinstance(item, np.ndarray) else 0, memo) for item in value)
    of_lanes = getattr(value, "take", None)
    return of_lanes(lanes, memo) if of_lanes is not None and not isinstance(value, np.generic) else value


def merge(mask: Array, yes: Any, no: Any, rank: int, dtype: np.dtype[Any] | None) -> Any:
    """`yes` for the lanes of a mask, `no` for the others; None if the result is not a value."""
    if yes is no or no is None:
        return yes
    # At a divergence, registers that a wgmma writes are resolved.
    yes, no = (value.force() if hasattr(value, "force") else value for value in (yes, no))
    if dtype is not None:
        where = mask.reshape(mask.shape + (1,) * rank)
        return np.where(where, np.asarray(yes, dtype), np.asarray(no, dtype))
    if isinstance(yes, tuple):
        kinds = [np.asarray(item).dtype for item in yes]
        ranks = [max(np.ndim(a), np.ndim(b), 1) - 1 for a, b in zip(yes, no, strict=True)]
        return tuple(merge(mask, a, b, r, k) for a, b, r, k in zip(yes, no, ranks, kinds, strict=True))
    merged = getattr(yes, "merge", None)
    return merged(mask, no) if merged is not None else None


def spread(value: Any, dtype: np.dtype[Any], lanes: int, rank: int = 0) -> Array:
    """A value as an array with the leading thread dimension."""
    found = np.asarray(value, dtype)
    if found.ndim > rank:
        return found
    return np.broadcast_to(found, (lanes, *found.shape))


def in_front(value: Any, rank: int) -> Any:
    """A scalar that is broadcast to vectors of some rank."""
    if rank and isinstance(value, np.ndarray) and value.ndim:
        return value.reshape(value.shape + (1,) * rank)
    return value
