# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rounding by exact fractions, as the reference of conversions and arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from helpers import Array

MODES = ("rn", "rz", "rm", "rp")


@dataclass(frozen=True)
class Format:
    mantissa: int
    min_exponent: int
    max_exponent: int

    @property
    def largest(self) -> float:
        return math.ldexp(2 - 2.0**-self.mantissa, self.max_exponent)


F16 = Format(10, -14, 15)
BF16 = Format(7, -126, 127)
TF32 = Format(10, -126, 127)
F32 = Format(23, -126, 127)
F64 = Format(52, -1022, 1023)


def _unit(x: Fraction, to: Format) -> Fraction:
    """The last place of numbers near x."""
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    if Fraction(2) ** exponent > x:
        exponent -= 1
    return Fraction(2) ** (max(exponent, to.min_exponent) - to.mantissa)


def _choose(below: int, is_exact: bool, above_half: int, negative: bool, mode: str) -> int:
    """Down or up: `above_half` is the sign of the remainder minus one half."""
    if is_exact:
        return below
    up = {
        "rz": False,
        "rm": negative,
        "rp": not negative,
        "rna": above_half >= 0,
        "rn": above_half > 0 or (above_half == 0 and below % 2 == 1),
    }[mode]
    return below + up


def _finish(steps: int, unit: Fraction, negative: bool, to: Format, mode: str) -> float:
    value = steps * unit
    if value > Fraction(to.largest):
        stays = mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative)
        result = to.largest if stays else math.inf
    else:
        result = float(value)
    return -result if negative else result


def rounded(x: Fraction, to: Format, mode: str) -> float:
    if x == 0:
        return 0.0
    magnitude = abs(x)
    unit = _unit(magnitude, to)
    quotient = magnitude / unit
    below = math.floor(quotient)
    left = quotient - below - Fraction(1, 2)
    sign = (left > 0) - (left < 0)
    return _finish(_choose(below, quotient == below, sign, x < 0, mode), unit, x < 0, to, mode)


def rounded_root(x: Fraction, to: Format, mode: str) -> float:
    """The code of a positive number."""
    root = Fraction(math.isqrt(math.floor(x * 4**2000)), 2**2000)
    unit = _unit(root if root else Fraction(1, 2**1500), to)
    square = x / unit**2
    below = math.isqrt(math.floor(square))
    half = (below + Fraction(1, 2)) ** 2
    sign = (square > half) - (square < half)
    return _finish(_choose(below, below**2 == square, sign, False, mode), unit, False, to, mode)


def flush(values: Array, least: float) -> Array:
    """Denormals are zeros of their sign."""
    return np.where(np.abs(values) < least, np.copysign(values.dtype.type(0), values), values)


def floats(random: np.random.Generator, dtype: Any, count: int) -> Array:
    """Numbers of all sizes, small ones, denormal ones, ties and special ones."""
    dtype = np.dtype(dtype)
    bits = dtype.itemsize * 8
    stored = np.dtype(f"u{dtype.itemsize}")
    any_bits = random.integers(0, 1 << bits, count // 2, np.uint64).astype(stored).view(dtype)
    near = random.standard_normal(count // 4).astype(dtype)
    ties = (random.integers(-(1 << 13), 1 << 13, count // 8) / 16.0).astype(dtype)
    info = ml_dtypes.finfo(dtype)
    tiny, largest = info.smallest_subnormal, info.max
    special = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        1.0,
        -1.0,
        tiny,
        -tiny,
        largest,
        -largest,
        info.smallest_normal,
        0.5,
        1.5,
    ]
    special += [
        2.5,
        448.0,
        464.0,
        465.0,
        65504.0,
        65519.0,
        65520.0,
        57344.0,
        61440.0,
        61441.0,
        6.0,
        7.0,
        7.5,
        28.0,
        30.0,
    ]
    with np.errstate(over="ignore"):
        ends = np.array(special, np.float64).astype(dtype)
    made = np.concatenate([any_bits, near, ties, ends])
    return np.resize(made, count) if len(made) >= count else np.concatenate([made, near[: count - len(made)]])[:count]


def same(found: Array, expected: Array, name: str) -> None:
    """The same numbers, and NaN at the same indices; zeros can differ in sign."""
    bad = ~((found == expected) | (np.isnan(found) & np.isnan(expected)))
    assert not bad.any(), f"{name}: {found[bad][:4]} instead of {expected[bad][:4]}, at {np.nonzero(bad)[0][:4]}"
