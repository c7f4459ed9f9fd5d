# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quotients of smalti-share-reciprocals: each divisor, and each dividend whose rounding could fail.

    tools/dev fuzz grids test/python/conversions/test_shared_reciprocals.py

checks all significands of divisors; the suite checks a seeded sample.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

FIRST, LAST = 1 << 23, 1 << 24
"""The range of 24-bit significands."""
FARTHEST = 8
"""A quotient x / d whose |x * 2^k - n * d| is larger, for each odd n, is more than 2^-22 ulp from all midpoints."""


def inverse(odd: np.ndarray) -> np.ndarray:
    """The inverses of odd numbers, modulo 2^64."""
    result = odd.copy()
    for _ in range(6):
        result *= np.uint64(2) - odd * result
    return result


def hard_pairs(divisors: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Significands x and d for which x / d is close to a midpoint n / 2^k of two floats: x * 2^k - n * d = c."""
    for twos in range(4):
        of = divisors[divisors & -divisors == 1 << twos]
        inverses = inverse((of >> twos).astype(np.uint64))
        for c in range(-FARTHEST, FARTHEST + 1):
            # n is odd, so c has as many factors of two as d.
            if c == 0 or c & -c != 1 << twos:
                continue
            for k in (24, 25):
                period = 1 << k - twos
                first = (inverses * np.uint64(-c >> twos & (1 << 64) - 1)).astype(np.int64) & period - 1
                for n in range(0, 1 << 25, period):
                    midpoint = first + n
                    x = midpoint * of + c >> k
                    is_pair = (midpoint >= 1 << 24) & (x >= FIRST) & (x < LAST) & ((x >= of) == (k == 24))
                    yield x[is_pair], of[is_pair]


def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c of f32, rounded once."""
    exact = a.astype(np.float64) * b
    total = exact + c
    rest = total - exact
    error = (exact - (total - rest)) + (c - rest)
    # Rounded to odd, so that the second rounding is right.
    bits = total.view(np.int64)
    step = np.where((error != 0) & (bits & 1 == 0), np.where((error > 0) == (total > 0), 1, -1), 0)
    return (bits + step).view(np.float64).astype(np.float32)


def wrong_quotients(divisors: np.ndarray) -> tuple[int, int]:
    """The numbers of pairs and of wrong quotients."""
    count = wrong = 0
    for dividend, divisor in hard_pairs(divisors):
        x, d = dividend.astype(np.float32), divisor.astype(np.float32)
        reciprocal = np.float32(1) / d
        quotient = x * reciprocal
        error = fma(quotient, d, -x)
        count += len(x)
        wrong += int(np.count_nonzero(fma(-error, reciprocal, quotient) != x / d))
    return count, wrong


def test_pairs_are_those_near_midpoints() -> None:
    """The pairs are those of a search through all dividends."""
    for divisor in (FIRST + 6, 12345676, LAST - 1):
        found = np.sort(np.concatenate([x for x, _ in hard_pairs(np.array([divisor]))]))
        x = np.arange(FIRST, LAST)
        scaled = x << np.where(x >= divisor, 24, 25)
        remainder = scaled % (2 * divisor) - divisor  # To the odd multiple of the divisor in the middle.
        expected = x[(np.abs(remainder) <= FARTHEST) & (remainder != 0)]
        np.testing.assert_array_equal(found, expected)


def test_a_sample_of_divisors() -> None:
    divisors = np.random.default_rng(0).integers(FIRST, LAST, 200_000)
    divisors[:2000] = np.arange(FIRST, FIRST + 2000)
    divisors[-2000:] = np.arange(LAST - 2000, LAST)
    count, wrong = wrong_quotients(divisors)
    assert count > 100_000 and wrong == 0


@pytest.mark.slow
def test_all_divisors() -> None:
    for first in range(FIRST, LAST, 1 << 20):
        assert wrong_quotients(np.arange(first, first + (1 << 20)))[1] == 0
