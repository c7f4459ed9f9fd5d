# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A matmul with weights of 4 bits, two in a byte, which are scaled per column."""

import sys

import numpy as np
import smalti
import smalti.language as sl


@smalti.kernel(grid=lambda c, bm, bn: (sl.cdiv(c.shape[0], bm), sl.cdiv(c.shape[1], bn)))
def int4_matmul(
    a: sl.Array,
    b: sl.Array[sl.int4],
    scale: sl.Array,
    c: sl.Array,
    bm: smalti.constexpr = 32,
    bn: smalti.constexpr = 64,
    bk: smalti.constexpr = 32,
):
    i, j = sl.tile_id(0) * bm, sl.tile_id(1) * bn
    acc = sl.zeros((bm, bn))
    for k in range(0, a.shape[1], bk):
        acc = sl.dot(a[i : i + bm, k : k + bk], b[k : k + bk, j : j + bn].to(a.dtype), acc)
    c[i : i + bm, j : j + bn] = acc * scale[j : j + bn]


def packed(b):
    """Integers from -8 to 7 as bytes; the first of two is in the low bits."""
    return ((b[:, ::2] & 15) | (b[:, 1::2] << 4)).astype(np.uint8)


def reference(a, b, scale):
    return a.astype(np.float64) @ b * scale


def main(target=None):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((40, 96)).astype(np.float16)
    b = rng.integers(-8, 8, (96, 64))
    scale = rng.random(64, np.float32)
    c = np.full((40, 64), np.nan, np.float32)
    int4_matmul.on(target)(a, packed(b), scale, c)
    np.testing.assert_allclose(c, reference(a, b, scale), rtol=1e-4, atol=1e-3)


if __name__ == "__main__":
    main(*sys.argv[1:])
