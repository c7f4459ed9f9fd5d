# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A matmul of MXFP8 operands.

The scale of 32 elements along K is a power of 2.
"""

import sys

import ml_dtypes
import numpy as np
import smalti
import smalti.language as sl


@smalti.kernel(grid=lambda c, bm, bn: (sl.cdiv(c.shape[0], bm), sl.cdiv(c.shape[1], bn)))
def scaled_dot(
    a: sl.Array,
    a_scale: sl.Array,
    b: sl.Array,
    b_scale: sl.Array,
    c: sl.Array,
    bm: smalti.constexpr = 32,
    bn: smalti.constexpr = 32,
    bk: smalti.constexpr = 64,
):
    rows = slice(sl.tile_id(0) * bm, sl.tile_id(0) * bm + bm)
    columns = slice(sl.tile_id(1) * bn, sl.tile_id(1) * bn + bn)
    acc = sl.zeros((bm, bn))
    for block in range(0, a_scale.shape[1], bk // 32):
        k, scales = slice(block * 32, block * 32 + bk), slice(block, block + bk // 32)
        acc = sl.dot_scaled(a[rows, k], a_scale[rows, scales], b[k, columns], b_scale[scales, columns], acc)
    c[rows, columns] = acc


def reference(a, a_scale, b, b_scale):
    wide_a, wide_scale_a, wide_b, wide_scale_b = (x.astype(np.float64) for x in (a, a_scale, b, b_scale))
    return (wide_a * wide_scale_a.repeat(32, 1)) @ (wide_b * wide_scale_b.repeat(32, 0))


def main(target=None):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype(ml_dtypes.float8_e4m3fn) for s in ((40, 128), (128, 48)))
    a_scale, b_scale = (np.exp2(rng.integers(-3, 4, s)).astype(ml_dtypes.float8_e8m0fnu) for s in ((40, 4), (4, 48)))
    c = np.full((40, 48), np.nan, np.float32)
    scaled_dot.on(target)(a, a_scale, b, b_scale, c)
    np.testing.assert_allclose(c, reference(a, a_scale, b, b_scale), rtol=1e-4, atol=1e-2)


if __name__ == "__main__":
    main(*sys.argv[1:])
