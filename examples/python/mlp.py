# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A gated MLP block in one kernel: `(silu(x @ gate) * (x @ up)) @ down`."""

import sys

import numpy as np
import smalti
import smalti.language as sl


@smalti.kernel(grid=lambda x, bm: sl.cdiv(x.shape[0], bm))
def mlp(
    x: sl.Array,
    gate: sl.Array,
    up: sl.Array,
    down: sl.Array,
    y: sl.Array,
    size: smalti.constexpr,
    bm: smalti.constexpr = 32,
    bh: smalti.constexpr = 32,
):
    i = sl.tile_id() * bm
    rows = x[i : i + bm, 0:size]
    acc = sl.zeros((bm, size))
    for h in range(0, gate.shape[1], bh):
        g = rows @ gate[0:size, h : h + bh]
        hidden = g * sl.sigmoid(g) * (rows @ up[0:size, h : h + bh])
        acc = sl.dot(hidden.to(x.dtype), down[h : h + bh, 0:size], acc)
    y[i : i + bm, 0:size] = acc


def reference(x, gate, up, down):
    x, gate, up, down = (t.astype(np.float64) for t in (x, gate, up, down))
    g = x @ gate
    return (g / (1 + np.exp(-g)) * (x @ up)) @ down


def main(target=None):
    rng = np.random.default_rng(0)
    x, gate, up, down = (
        (rng.standard_normal(s) * 0.3).astype(np.float16) for s in ((50, 64), (64, 96), (64, 96), (96, 64))
    )
    y = np.full((50, 64), np.nan, np.float32)
    mlp.on(target)(x, gate, up, down, y, size=64)
    np.testing.assert_allclose(y, reference(x, gate, up, down), rtol=5e-3, atol=2e-2)


if __name__ == "__main__":
    main(*sys.argv[1:])
