# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A matmul for a mixture of experts.

Each block of rows has its own weights, whose number the kernel loads.
"""

import sys

import numpy as np
import smalti
import smalti.language as sl

ROWS = 32


@smalti.kernel(grid=lambda experts, y, bn: (experts.shape[0], sl.cdiv(y.shape[1], bn)))
def grouped_matmul(
    x: sl.Array,
    experts: sl.Array,
    weights: sl.Array,
    y: sl.Array,
    bn: smalti.constexpr = 64,
    bk: smalti.constexpr = 32,
):
    group, j = sl.tile_id(0), sl.tile_id(1) * bn
    i = group * ROWS
    expert = experts[group]
    acc = sl.zeros((ROWS, bn))
    for k in range(0, x.shape[1], bk):
        acc = sl.dot(x[i : i + ROWS, k : k + bk], weights[expert, k : k + bk, j : j + bn], acc)
    y[i : i + ROWS, j : j + bn] = acc


def reference(x, experts, weights):
    groups = x.astype(np.float64).reshape(len(experts), ROWS, -1)
    return (groups @ weights[experts].astype(np.float64)).reshape(len(x), -1)


def main(target=None):
    rng = np.random.default_rng(0)
    experts = np.array([3, 0, 2], np.int32)
    x, weights = (rng.standard_normal(s).astype(np.float16) for s in ((3 * ROWS, 64), (4, 64, 80)))
    y = np.full((len(x), 80), np.nan, np.float32)
    grouped_matmul.on(target)(x, experts, weights, y)
    np.testing.assert_allclose(y, reference(x, experts, weights), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    main(*sys.argv[1:])
