# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The largest elements of each row in descending order, and their columns."""

import math
import sys

import numpy as np
import smalti
import smalti.language as sl


@smalti.kernel(grid=lambda x: x.shape[0])
def top_k(x: sl.Array, values: sl.Array, columns: sl.Array, k: smalti.constexpr, block: smalti.constexpr = 256):
    row = sl.tile_id()
    t = x.at[row, 0:block].load(fill=-math.inf)
    keys, positions = sl.sort((t, sl.arange(block)), descending=True)
    values[row, 0:k] = keys[:k]
    columns[row, 0:k] = positions[:k]


def reference(x, k):
    columns = np.argsort(-x, 1, "stable")[:, :k]
    return np.take_along_axis(x, columns, 1), columns


def main(target=None):
    x = np.random.default_rng(0).standard_normal((6, 200), np.float32)
    values, columns = np.full((6, 8), np.nan, np.float32), np.full((6, 8), -1, np.int32)
    top_k.on(target)(x, values, columns, k=8)
    for result, expected in zip((values, columns), reference(x, 8), strict=True):
        np.testing.assert_array_equal(result, expected)


if __name__ == "__main__":
    main(*sys.argv[1:])
