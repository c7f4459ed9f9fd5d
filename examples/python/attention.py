# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention with an online softmax, optionally causal. Arrays have the shape (heads, length, head size)."""

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import smalti
import smalti.language as sl


@dataclass
class Softmax:
    """The maximum and the sum of the exponentials of each row, and the weighted sum of values."""

    top: Any
    total: Any
    acc: Any


def updated(state, scores, values):
    top = sl.maximum(state.top, scores.max(1))
    p = sl.exp2(scores - top[:, None])
    scale = sl.exp2(state.top - top)
    acc = sl.dot(p.to(values.dtype), values, state.acc * scale[:, None])
    return Softmax(top, state.total * scale + p.sum(1), acc)


@smalti.kernel(grid=lambda q, bm: (sl.cdiv(q.shape[1], bm), q.shape[0]))
def attention(
    q: sl.Array,
    k: sl.Array,
    v: sl.Array,
    out: sl.Array,
    scale: sl.float32,
    size: smalti.constexpr,
    causal: smalti.constexpr = False,
    bm: smalti.constexpr = 64,
    bn: smalti.constexpr = 32,
):
    i, head = sl.tile_id(0) * bm, sl.tile_id(1)
    queries = q[head, i : i + bm, 0:size]
    rows, length = i + sl.arange(bm), k.shape[1]
    state = Softmax(sl.full(bm, -1e30), sl.zeros(bm), sl.zeros((bm, size)))
    for j in range(0, min(length, i + bm) if causal else length, bn):
        scores = sl.dot(queries, k[head, j : j + bn, 0:size].T) * (scale * math.log2(math.e))
        columns = (j + sl.arange(bn))[None, :]
        visible = columns < length
        if causal:
            visible = visible & (columns <= rows[:, None])
        state = updated(state, sl.where(visible, scores, -math.inf), v[head, j : j + bn, 0:size])
    out[head, i : i + bm, 0:size] = state.acc / state.total[:, None]


def reference(q, k, v, scale, causal):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = scale * q @ k.transpose(0, 2, 1)
    if causal:
        scores = np.where(np.tri(*scores.shape[1:], dtype=bool), scores, -np.inf)
    p = np.exp(scores - scores.max(2, keepdims=True))
    return p / p.sum(2, keepdims=True) @ v


def main(target=None):
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 2, 100, 64)).astype(np.float16)
    for causal in (False, True):
        out = np.full(q.shape, np.nan, np.float32)
        attention.on(target)(q, k, v, out, 1 / 8, size=64, causal=causal)
        np.testing.assert_allclose(out, reference(q, k, v, 1 / 8, causal), rtol=5e-3, atol=5e-3)


if __name__ == "__main__":
    main(*sys.argv[1:])
