# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A matmul with an epilogue: `gelu(a @ b + bias) + residual`."""

import math
import sys

import numpy as np
import smalti
import smalti.language as sl


def gelu(t):
    return 0.5 * t * (1 + sl.erf(t * math.sqrt(0.5)))


@smalti.kernel(grid=lambda c, bm, bn: (sl.cdiv(c.shape[0], bm), sl.cdiv(c.shape[1], bn)))
def matmul(
    a: sl.Array,
    b: sl.Array,
    bias: sl.Array,
    residual: sl.Array,
    c: sl.Array,
    bm: smalti.constexpr = 64,
    bn: smalti.constexpr = 64,
    bk: smalti.constexpr = 32,
):
    i, j = sl.tile_id(0) * bm, sl.tile_id(1) * bn
    acc = sl.zeros((bm, bn))
    for k in range(0, a.shape[1], bk):
        acc = sl.dot(a[i : i + bm, k : k + bk], b[k : k + bk, j : j + bn], acc)
    c[i : i + bm, j : j + bn] = gelu(acc + bias[j : j + bn]) + residual[i : i + bm, j : j + bn]


def reference(a, b, bias, residual):
    t = a.astype(np.float64) @ b.astype(np.float64) + bias
    return 0.5 * t * (1 + np.vectorize(math.erf)(t * math.sqrt(0.5))) + residual


def main(target=None):
    rng = np.random.default_rng(0)
    a, b, residual = (rng.standard_normal(s).astype(np.float16) for s in ((100, 72), (72, 80), (100, 80)))
    bias = rng.standard_normal(80, np.float32)
    c = np.full((100, 80), np.nan, np.float16)
    matmul.on(target)(a, b, bias, residual, c)
    np.testing.assert_allclose(c, reference(a, b, bias, residual), rtol=2e-3, atol=2e-3)


if __name__ == "__main__":
    main(*sys.argv[1:])
