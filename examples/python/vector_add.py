# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Addition of two vectors of any length."""

import sys

import numpy as np
import smalti
import smalti.language as sl


@smalti.kernel(grid=lambda x, block: sl.cdiv(x.shape[0], block))
def vector_add(x: sl.Array, y: sl.Array, out: sl.Array, block: smalti.constexpr = 1024):
    i = sl.tile_id() * block
    out[i : i + block] = x[i : i + block] + y[i : i + block]


def reference(x, y):
    return x.astype(np.float64) + y


def main(target=None):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 5000), np.float32)
    out = np.full_like(x, np.nan)
    vector_add.on(target)(x, y, out)
    np.testing.assert_allclose(out, reference(x, y), rtol=1e-6, atol=1e-6)


if __name__ == "__main__":
    main(*sys.argv[1:])
