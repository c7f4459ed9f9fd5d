# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix fragments in registers and memory of NVIDIA MMAs, and their results.

Where the PTX ISA does not define the summation, the emulator's is used: exact products, sums in float64, one rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from .... import dtypes, instructions
from .lanes import Array

Reader = Callable[[Array], Array]
"""The element values of bytes: float64 or int64."""


def _of(element: str) -> Reader:
    known = dtypes.from_mlir(element)
    assert known is not None
    dtype = known.numpy
    if dtype.itemsize == 1 and dtype.kind not in "iu":
        values = np.arange(256).astype(np.uint8).view(dtype).astype(np.float64)
        return lambda words: values[words]

    def read(words: Array) -> Array:
        found = words.view(dtype)
        return found.astype(np.int64) if found.dtype.kind in "iu" else found.astype(np.float64)

    return read


def _bf16(words: Array) -> Array:
    return instructions.convert(words.view(np.uint16), "bf16", "f64")


def _tf32(words: Array) -> Array:
    return instructions.convert(words.view(np.uint32), "tf32", "f64")


def _nibbles(signed: bool) -> Reader:
    def read(words: Array) -> Array:
        low, high = words & 15, words >> 4
        found = np.stack([low, high], -1).reshape(*words.shape[:-1], -1).astype(np.int64)
        return np.where(found >= 8, found - 16, found) if signed else found

    return read


def _single_bits(words: Array) -> Array:
    found = np.unpackbits(np.ascontiguousarray(words), axis=-1, bitorder="little")
    return found.reshape(*words.shape[:-1], -1).astype(np.int64)


def _small(dtype: Any, first: int = 0) -> Reader:
    """4-bit or 6-bit floats, one per byte, from a bit on."""
    count = 1 << ml_dtypes.finfo(dtype).bits
    values = np.arange(count).astype(np.uint8).view(dtype).astype(np.float64)
    return lambda words: values[words >> first & count - 1]


def _two_small(words: Array) -> Array:
    found = np.stack([words & 15, words >> 4], -1).reshape(*words.shape[:-1], -1)
    return _in_nibbles(found)


_in_nibbles = _small(ml_dtypes.float4_e2m1fn)


READERS: dict[str, tuple[int, Reader]] = {
    "f64": (64, _of("f64")),
    "tf32": (32, _tf32),
    "f16": (16, _of("f16")),
    "bf16": (16, _bf16),
    "e4m3": (8, _of("f8E4M3FN")),
    "e5m2": (8, _of("f8E5M2")),
    "s8": (8, _of("i8")),
    "u8": (8, _of("ui8")),
    "s4": (4, _nibbles(True)),
    "u4": (4, _nibbles(False)),
    "b1": (1, _single_bits),
    "e2m1": (4, _two_small),
    # PTX ISA, "mma" with `.kind::f8f6f4`: smaller types also occupy bytes, e2m1 the bits 2 to 5.
    "e3m2": (8, _small(ml_dtypes.float6_e3m2fn)),
    "e2m3": (8, _small(ml_dtypes.float6_e2m3fn)),
    "e2m1 in bytes": (8, _small(ml_dtypes.float4_e2m1fn, 2)),
}
"""For each PTX type its bits, and the decoder of its bytes."""


def rounded_sum(product: Array, c: Array, dtype: np.dtype[Any], saturate: bool) -> Array:
    """The elements of an MMA result, plus those of an accumulator of this type. float64 is exact if they are
    integers."""
    if dtype.kind == "i":
        total = c.astype(np.int64, copy=False) + product.astype(np.int64)
        if saturate:
            limits = np.iinfo(dtype)
            total = np.clip(total, limits.min, limits.max)
        return total.astype(dtype)
    with np.errstate(all="ignore"):
        return (product + c).astype(dtype)


# ---------------------------------------------------------------------------------------------------------------------
# Fragments: PTX ISA, "Matrix Fragments for mma.*"
# ---------------------------------------------------------------------------------------------------------------------

LANES = 32
COLUMNS = 8
"""Rows and columns of a warp's accumulator."""


def rows_of_a(elements: Array, m: int) -> Array:
    """The m x k matrix of each warp for the fragment `[lanes, registers, elements]`.

    Lane 4 * g + t has row g, and g + 8 of m = 16, and the elements t of each row's chunks of four registers.
    """
    halves = m // 8
    lanes, registers, width = elements.shape
    found = elements.reshape(lanes // LANES, 8, 4, registers // halves, halves, width)
    return found.transpose(0, 4, 1, 3, 2, 5).reshape(lanes // LANES, m, -1)


def columns_of_b(elements: Array) -> Array:
    """The k x 8 matrix of each warp: lane 4 * g + t has column g."""
    lanes, registers, width = elements.shape
    found = elements.reshape(lanes // LANES, 8, 4, registers, width)
    return found.transpose(0, 3, 2, 4, 1).reshape(lanes // LANES, -1, COLUMNS)


def registers_of(accumulator: Array) -> Array:
    """The fragment of the m x 8 matrix of each warp: lane 4 * g + t has columns 2 * t and 2 * t + 1 of row g, then of
    row g + 8."""
    warps, m, _ = accumulator.shape
    found = accumulator.reshape(warps, m // 8, 8, 4, 2).transpose(0, 2, 3, 1, 4)
    return found.reshape(warps * LANES, m // 4)
