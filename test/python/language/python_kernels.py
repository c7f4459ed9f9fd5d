# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in Python that the tests of this folder share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import smalti
import smalti.language as sl


@smalti.kernel(grid=lambda x, block: sl.cdiv(x.shape[0], block), target="cpu")
def double(x: sl.Array, y: sl.Array, block: smalti.constexpr = 128) -> None:
    i = sl.tile_id() * block
    y[i : i + block] = 2 * x[i : i + block]


@smalti.kernel(grid=lambda x: x.shape[0], target="cpu")
def softmax(x: sl.Array, y: sl.Array, block: smalti.constexpr) -> None:
    row = sl.tile_id()
    t = x.at[row, 0:block].load(fill=-math.inf)
    e = sl.exp(t - t.max())
    y[row, 0:block] = e / e.sum()


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + sl.erf(x * math.sqrt(0.5)))


@smalti.kernel(grid=lambda a, b, bm, bn: (sl.cdiv(a.shape[0], bm), sl.cdiv(b.shape[1], bn)), target="cpu")
def matmul(
    a: sl.Array,
    b: sl.Array,
    bias: sl.Array,
    c: sl.Array,
    bm: smalti.constexpr = 64,
    bn: smalti.constexpr = 64,
    bk: smalti.constexpr = 32,
) -> None:
    i, j = sl.tile_id(0) * bm, sl.tile_id(1) * bn
    acc = sl.zeros((bm, bn))
    for k in range(0, a.shape[1], bk):
        acc = sl.dot(a[i : i + bm, k : k + bk], b[k : k + bk, j : j + bn], acc)
    c[i : i + bm, j : j + bn] = gelu(acc + bias[j : j + bn])


@dataclass
class Running:
    """A maximum, and a sum of exponentials relative to it."""

    top: Any
    total: Any


@smalti.kernel(grid=lambda x: x.shape[0], target="cpu")
def logsumexp(x: sl.Array, y: sl.Array) -> None:
    row = sl.tile_id()
    state = Running(sl.full(1, -math.inf), sl.zeros(1))
    for k in range(0, x.shape[1], 32):
        t = x.at[row : row + 1, k : k + 32].load(fill=-math.inf)
        top = sl.maximum(state.top, t.max(1))
        state = Running(top, state.total * sl.exp(state.top - top) + sl.exp(t - top[:, None]).sum(1))
    y[row : row + 1] = state.top + sl.log(state.total)
