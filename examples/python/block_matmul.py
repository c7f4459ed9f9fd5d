# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block-level matmuls `a @ b`: TMA and `wgmma` with producer and consumer warps, or pipelined asynchronous copies and MMAs."""

import sys

import numpy as np
import smalti
import smalti.block as sb
import smalti.language as sl


@smalti.kernel(level="block", grid=lambda c, m, n: (c.shape[0] // m, c.shape[1] // n), thread_groups=2)
def specialized(
    a: sl.Array,
    b: sl.Array,
    c: sl.Array,
    m: smalti.constexpr = 128,
    n: smalti.constexpr = 128,
    k: smalti.constexpr = 64,
    slots: smalti.constexpr = 4,
):
    i, j = sb.block_id(0) * m, sb.block_id(1) * n
    a_tiles, b_tiles = sb.shared((slots, m, k), a.dtype), sb.shared((slots, k, n), b.dtype)
    full, empty = sb.barriers(slots), sb.barriers(slots)
    sb.sync()
    steps = a.shape[1] // k
    if sb.thread_group() == 0:
        sb.set_max_registers(40, "decrease")
        for step in range(steps):
            slot = step % slots
            if step >= slots:
                empty[slot].wait(step // slots - 1)
            full[slot].arrive_expect_tx(a_tiles.at[slot].num_bytes + b_tiles.at[slot].num_bytes)
            sb.async_load(a.at[i : i + m, step * k : step * k + k], a_tiles.at[slot], full[slot])
            sb.async_load(b.at[step * k : step * k + k, j : j + n], b_tiles.at[slot], full[slot])
    else:
        sb.set_max_registers(232, "increase")
        acc = sl.zeros((m, n))
        for step in range(steps):
            slot = step % slots
            full[slot].wait(step // slots)
            sb.wgmma_fence()
            acc = sb.wgmma(a_tiles.at[slot], b_tiles.at[slot], acc)
            sb.wgmma_commit()
            # The wgmma of the previous step is complete, so its slot is free.
            sb.wgmma_wait(1)
            if step > 0:
                empty[(step - 1) % slots].arrive()
        sb.wgmma_wait(0)
        c[i : i + m, j : j + n] = acc


@smalti.kernel(level="block", grid=lambda c, m, n: (c.shape[0] // m, c.shape[1] // n))
def pipelined(
    a: sl.Array,
    b: sl.Array,
    c: sl.Array,
    m: smalti.constexpr = 64,
    n: smalti.constexpr = 64,
    k: smalti.constexpr = 32,
    slots: smalti.constexpr = 3,
):
    i, j = sb.block_id(0) * m, sb.block_id(1) * n
    a_tiles, b_tiles = sb.shared((slots, m, k), a.dtype), sb.shared((slots, k, n), b.dtype)
    steps = a.shape[1] // k

    def load(step):
        sb.async_copy(a.at[i : i + m, step * k : step * k + k], a_tiles.at[step % slots])
        sb.async_copy(b.at[step * k : step * k + k, j : j + n], b_tiles.at[step % slots])

    for step in sl.static_range(slots - 1):
        load(step)
        sb.async_commit_group()
    acc = sl.zeros((m, n))
    for step in range(steps):
        sb.async_wait_group(slots - 2)
        # All threads have read the slot of the previous step, which the next copy overwrites.
        sb.sync()
        if step + slots - 1 < steps:
            load(step + slots - 1)
        sb.async_commit_group()
        acc = sb.mma(a_tiles[step % slots], b_tiles[step % slots], acc)
    c[i : i + m, j : j + n] = acc


def main(target="emu:sm_90a"):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((256, 512), (512, 256)))
    c = np.full((256, 256), np.nan, np.float32)
    kernel = specialized if target.endswith("sm_90a") else pipelined
    kernel.on(target)(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


if __name__ == "__main__":
    main(*sys.argv[1:])
