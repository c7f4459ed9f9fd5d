# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A 2-D convolution with padding, as matmuls. Images are (batch, height, width, channels), filters (height, width, in, out)."""

import sys

import numpy as np
import smalti
import smalti.language as sl


@smalti.kernel(grid=lambda y, bw, bk: (y.shape[0] * y.shape[1], sl.cdiv(y.shape[2], bw), sl.cdiv(y.shape[3], bk)))
def conv2d(
    x: sl.Array,
    w: sl.Array,
    y: sl.Array,
    padding: smalti.constexpr = 1,
    bw: smalti.constexpr = 32,
    bk: smalti.constexpr = 32,
    bc: smalti.constexpr = 16,
):
    image, row = sl.tile_id(0) // y.shape[1], sl.tile_id(0) % y.shape[1]
    column, k = sl.tile_id(1) * bw, sl.tile_id(2) * bk
    acc = sl.zeros((bw, bk))
    for r in range(w.shape[0]):
        for s in range(w.shape[1]):
            # Pixels outside of the image are 0, also those before its first row and column.
            i, j = row + r - padding, column + s - padding
            for c in range(0, x.shape[3], bc):
                acc = sl.dot(x[image, i, j : j + bw, c : c + bc], w[r, s, c : c + bc, k : k + bk], acc)
    y[image, row, column : column + bw, k : k + bk] = acc


def reference(x, w, padding):
    padded = np.pad(x.astype(np.float64), ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[:2], (1, 2))
    return np.einsum("nhwcrs,rsck->nhwk", windows, w.astype(np.float64))


def main(target=None):
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(s).astype(np.float16) for s in ((2, 5, 37, 24), (3, 3, 24, 40)))
    y = np.full((2, 5, 37, 40), np.nan, np.float32)
    conv2d.on(target)(x, w, y)
    np.testing.assert_allclose(y, reference(x, w, 1), rtol=1e-4, atol=1e-3)


if __name__ == "__main__":
    main(*sys.argv[1:])
