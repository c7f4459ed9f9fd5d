"""Products of matrices, as the tensor core gives them but for the order in which it adds up."""

from __future__ import annotations

import numpy as np

from .memory import Array


def to_float(array: Array) -> Array:
    """Elements of a narrower type as float32, exactly."""
    if array.dtype.name == "bfloat16":
        return (np.ascontiguousarray(array).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32)


_SMALL = 1 << 18
"""Products of numbers up to which OpenBLAS starts no threads, which cost more than they give in products so small."""


def _matmul(a: Array, b: Array) -> Array:
    rows, columns = a.shape[0], b.shape[1]
    step = max(1, _SMALL // max(1, a.shape[1] * columns))
    found = np.empty((rows, columns), a.dtype)
    for first in range(0, rows, step):
        np.matmul(a[first : first + step], b, out=found[first : first + step])
    return found


def multiply(accumulator: Array, a: Array, b: Array, tf32: bool = False) -> Array:
    """`accumulator + a @ b`, in the accumulator's type: integers wrap, floats are added up in float32."""
    if accumulator.dtype.kind == "i":
        product = _matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64)
        return (accumulator.astype(np.int64) + product).astype(accumulator.dtype)
    left, right = to_float(a), to_float(b)
    if tf32:
        left, right = truncate_to_tf32(left), truncate_to_tf32(right)
    with np.errstate(all="ignore"):
        result = _matmul(left, right)
        result += accumulator
        return result.astype(accumulator.dtype, copy=False)


def truncate_to_tf32(array: Array) -> Array:
    """What the tensor core sees of 32-bit numbers: their upper 19 bits."""
    return (np.ascontiguousarray(array).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
