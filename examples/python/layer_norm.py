# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layer normalization of rows of any length, which are read twice."""

import sys

import numpy as np
import smalti
import smalti.language as sl


@smalti.kernel(grid=lambda x: x.shape[0])
def layer_norm(
    x: sl.Array, weight: sl.Array, bias: sl.Array, y: sl.Array, eps: sl.float32, block: smalti.constexpr = 256
):
    row, n = sl.tile_id(), x.shape[1]
    total, squares = sl.zeros(block), sl.zeros(block)
    for k in range(0, n, block):
        t = x[row, k : k + block].to(sl.float32)
        total += t
        squares += t * t
    mean = total.sum() / n
    scale = sl.rsqrt(squares.sum() / n - mean * mean + eps)
    for k in range(0, n, block):
        columns = slice(k, k + block)
        t = (x[row, columns].to(sl.float32) - mean) * scale
        y[row, columns] = t * weight[columns] + bias[columns]


def reference(x, weight, bias, eps):
    x = x.astype(np.float64)
    scale = 1 / np.sqrt(x.var(1, keepdims=True) + eps)
    return (x - x.mean(1, keepdims=True)) * scale * weight + bias


def main(target=None):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 700)).astype(np.float16)
    weight, bias = rng.standard_normal((2, 700), np.float32)
    y = np.full((5, 700), np.nan, np.float32)
    layer_norm.on(target)(x, weight, bias, y, 1e-5)
    np.testing.assert_allclose(y, reference(x, weight, bias, 1e-5), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    main(*sys.argv[1:])
