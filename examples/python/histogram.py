# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A histogram: each tile counts its elements, and adds the counts atomically."""

import sys

import numpy as np
import smalti
import smalti.language as sl


@smalti.kernel(grid=lambda x, block: sl.cdiv(x.shape[0], block))
def histogram(x: sl.Array, bins: sl.Array, number: smalti.constexpr, block: smalti.constexpr = 512):
    i = sl.tile_id() * block
    # Elements past the end of the array are in no bin.
    counts = sl.histogram(x.at[i : i + block].load(fill=-1), number)
    bins.at[0:number].atomic("add", counts)


def reference(x, number):
    return np.bincount(x, minlength=number)


def main(target=None):
    x = np.random.default_rng(0).integers(0, 64, 3000).astype(np.int32)
    bins = np.zeros(64, np.int32)
    histogram.on(target)(x, bins, number=64)
    np.testing.assert_array_equal(bins, reference(x, 64))


if __name__ == "__main__":
    main(*sys.argv[1:])
