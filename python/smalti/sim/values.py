"""Values of a running program, and the numpy types of MLIR's.

A warpgroup runs as one. Of the types of MLIR, a value is
- of an integer, index or float: a number where all threads of the group have the same, else an array with one number a
  thread. Integers are signed Python numbers, `i1` is 0 or 1;
- of a vector: an array of its shape, the elements of the whole group, or `memory.Registers` where a product may still
  write it. In code for single threads (`custom_primitive`) an array with one more dimension in front, the thread;
- of a memref: `memory.MemRef` or `memory.Private`; of a pointer: `memory.Pointer`.
Arrays are never changed in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, ir

Number = Any
"""A number of all threads, or an array of theirs."""


def integer_bits(ty: Any) -> int | None:
    """Bits of an integer or index; None of another type."""
    if isinstance(ty, ir.IntegerType):
        return ty.width
    return 64 if isinstance(ty, ir.IndexType) else None


_INTEGERS = {1: np.dtype(np.bool_), 8: np.dtype(np.int8), 16: np.dtype(np.int16), 32: np.dtype(np.int32)}
_INTEGERS[64] = np.dtype(np.int64)


def numpy_type(ty: Any) -> np.dtype[Any] | None:
    """The numpy type of a scalar type, as values and memory have it; None where there is none."""
    bits = integer_bits(ty)
    if bits is not None:
        return _INTEGERS.get(bits)
    known = dtypes.from_mlir(str(ty))
    return known.numpy if known is not None and known.kind == "f" else None


def element_type(ty: Any) -> Any:
    """The element type of a shaped type, or the type itself."""
    return ty.element_type if isinstance(ty, (ir.VectorType, ir.MemRefType)) else ty


def is_vector(ty: Any) -> bool:
    return isinstance(ty, ir.VectorType)


def is_float(ty: Any) -> bool:
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
