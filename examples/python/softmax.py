# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax of the rows of a matrix, each of which fits into one tile."""

import math
import sys

import numpy as np
import smalti
import smalti.language as sl


@smalti.kernel(grid=lambda x: x.shape[0])
def softmax(x: sl.Array, y: sl.Array, block: smalti.constexpr):
    row = sl.tile_id()
    # Elements past the end of a row do not change its maximum and its sum.
    t = x.at[row, 0:block].load(fill=-math.inf)
    e = sl.exp(t - t.max())
    y[row, 0:block] = e / e.sum()


def reference(x):
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def main(target=None):
    x = np.random.default_rng(0).standard_normal((7, 1000), np.float32)
    y = np.full_like(x, np.nan)
    softmax.on(target)(x, y, block=1024)
    np.testing.assert_allclose(y, reference(x), rtol=1e-5, atol=1e-7)


if __name__ == "__main__":
    main(*sys.argv[1:])
