"""Products and sums that are rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def fused(x: Array, y: Array, z: Array) -> Array:
    """x * y + z as float64, rounded once: of smaller types so that another rounding gives what one would (S. Boldo and
    G. Melquiond, "Emulation of FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd")."""
    high, z = np.multiply(x, y, dtype=np.float64), z.astype(np.float64)
    if x.dtype.itemsize < 8:
        return _odd_sum(high, z)
    (a, b), (c, d) = _halves(x), _halves(y)
    low = b * d - (((high - a * c) - b * c) - a * d)
    middle, rest = _sum(z, np.where(np.isfinite(low), low, 0))
    top, more = _sum(high, middle)
    return np.where(np.isfinite(top) & (top != 0), top + _odd_sum(rest, more), top)


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    """A sum, and what it is too small."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _odd_sum(a: Array, b: Array) -> Array:
    """A sum towards zero, whose last bit is set where it is not exact."""
    total, error = (np.asarray(part) for part in _sum(a, b))
    inexact = np.isfinite(total) & (error != 0) & (total.view(np.int64) & 1 == 0)
    # One up where the rest goes on, and one down where it goes back.
    by = np.where(inexact, np.where((error > 0) == (total > 0), 1, -1), 0)
    return (total.view(np.int64) + by).view(np.float64)


def _halves(x: Array) -> tuple[Array, Array]:
    """A number as a sum of two with half of the bits."""
    wide = x * 134217729.0
    high = wide - (wide - x)
    return high, x - high
