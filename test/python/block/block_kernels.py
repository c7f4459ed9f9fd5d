# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block-level kernels in Python for the tests. Together they have every operation of `mosaic_gpu` that `smalti.block` has."""

from __future__ import annotations

import importlib.util

import smalti
import smalti.block as sb
import smalti.language as sl
from conftest import ROOT
from smalti import layouts


@smalti.kernel(level="block", grid=lambda x: x.shape[0] // 64)
def twice_plus_maximum(x: sl.Array, y: sl.Array):
    i = sb.block_id() * 64
    t = x[i : i + 64, :]
    y[i : i + 64, :] = 2 * t + t.max(1, keepdims=True)


@smalti.kernel(level="block", grid=lambda x: (x.shape[0] // 64, x.shape[1] // 64))
def transpose(x: sl.Array, y: sl.Array):
    i, j = sb.block_id(0) * 64, sb.block_id(1) * 64
    tile = sb.shared((64, 64), x.dtype)
    tile[:, :] = x[i : i + 64, j : j + 64]
    sb.sync()
    y[j : j + 64, i : i + 64] = tile.T[:, :]


@smalti.kernel(level="block", grid=lambda x: (sl.cdiv(x.shape[0], 64), x.shape[1]))
def edges(x: sl.Array, y: sl.Array, fill: smalti.constexpr):
    """Windows that end outside of the arrays, one of them from a negative index."""
    i, j = sb.block_id(0) * 64, sb.block_id(1)
    t = x.at[i : i + 64, j, :].load(fill=fill)
    before = x[i - 1 : i + 63, j, :]
    y[i : i + 64, j, :] = t - before


@smalti.kernel(level="block", grid=2)
def scalars(x: sl.Array, factor: sl.float32, rows: sl.int32, y: sl.Array):
    block = sb.block_id()
    first = sl.multiple_of(rows, 4) * block
    count = sb.num_blocks() * 1.0
    if block == 0:
        y[first : first + 8, :] = x[first : first + 8, :] * factor
    else:
        y[first : first + 8, :] = x[first : first + 8, :] + x[first, 3] + count


@smalti.kernel(level="block", grid=lambda x: x.shape[0] // 64)
def control_flow(x: sl.Array, y: sl.Array, n: sl.int32):
    i = 64 * sb.block_id()
    t = x[i : i + 64, :]
    k = 0
    while k < n:
        t = t * 2 if k % 2 == 0 else t + 1
        k += 1
    if n > 3:
        t = -t
    y[i : i + 64, :] = t


@smalti.kernel(level="block", grid=1)
def packed_elements(x: sb.Memory[sl.int4], y: sl.Array):
    y[:, :] = x[:, :].to(sl.int32)


@smalti.kernel(level="block", grid=1)
def shapes(x: sl.Array, y: sl.Array, sums: sl.Array):
    t = sb.layout_cast(x[:, :], 4)
    left, right = t.split(2, 1)
    y[:, :] = sl.concat([right, left], 1) + sl.iota((64, 64), 1)
    sb.print_layout("the tile is laid out as {}", t)
    sums[:, :] = t.cumsum(1)


@smalti.kernel(level="block", grid=1)
def aliases(x: sl.Array, y: sl.Array):
    rows = sb.shared((32, 64), x.dtype, swizzle=16)
    flat = sb.shared(2048, x.dtype)
    other = sb.shared((64, 32), x.dtype, reuse=flat)
    flat[:] = x[:]
    sb.sync()
    t = sb.optimization_barrier(flat.reshape(64, -1)[:, :])
    sb.sync()
    other[:, :] = t
    sb.sync()
    t += other[:, :]
    rows.T[:, :] = t.reshape(32, 64).T
    sb.sync()
    y[:, :] = rows[:, :]


@smalti.kernel(level="block", grid=1)
def histogram(x: sl.Array, bins: sl.Array, old: sl.Array):
    t = x[:]
    old[:] = sb.atomic_rmw(bins, t, "add", 1, mask=t < 16)


@smalti.kernel(level="block", grid=1)
def claims(slots: sl.Array, x: sl.Array, old: sl.Array):
    old[:] = sb.atomic_cas(slots, x[:], 0, sl.arange(128) + 1, scope="device", ordering="acq_rel")


@smalti.kernel(level="block", grid=1)
def each_thread(x: sl.Array, y: sl.Array):
    y[:] = sb.custom_primitive(lambda v: v + v, [x[:]], [((512,), sl.float32)], [2], [2])


@smalti.kernel(level="block", grid=1)
def each_warp(x: sl.Array, y: sl.Array):
    arrived = sb.barrier(4)
    sb.sync()
    sb.warp_map(lambda b: b.arrive(), arrived)
    arrived.wait(0)
    y[:] = x[:]


@smalti.kernel(level="block", grid=2)
def prints(x: sl.Array):
    t = x[0:64]
    sl.print("maximum", t.max())
    sb.debug_print("sum = {}", t.sum())
    assert t < 100, "an element is too large"


# --- Copies ---


@smalti.kernel(level="block", grid=lambda x: x.shape[0] // 64)
def bulk_copy(x: sl.Array, y: sl.Array, is_ordered: smalti.constexpr = True):
    i = sb.block_id() * 64
    buffers = sb.shared((2, 64, 64), x.dtype)
    full = sb.barriers(2)
    sb.sync()
    steps = x.shape[1] // 64

    def load(step):
        slot = step % 2
        full[slot].arrive_expect_tx(buffers.at[slot].num_bytes)
        sb.async_load(x.at[i : i + 64, 64 * step : 64 * step + 64], buffers.at[slot], full[slot])

    load(0)
    load(1)
    for step in range(steps):
        slot = step % 2
        if is_ordered:
            full[slot].wait(step // 2)
        y[i : i + 64, 64 * step : 64 * step + 64] = buffers[slot] + 1  # race
        sb.sync()
        if step + 2 < steps:
            load(step + 2)


@smalti.kernel(level="block", grid=lambda x: x.shape[0] // 64)
def group_copy(x: sl.Array, y: sl.Array, is_ordered: smalti.constexpr = True):
    i = sb.block_id() * 64
    buffers = sb.shared((2, 64, 64), x.dtype)
    steps = x.shape[1] // 64

    def load(step):
        sb.async_copy(x.at[i : i + 64, 64 * step : 64 * step + 64], buffers.at[step % 2])

    for step in sl.static_range(2):
        load(step)
        sb.async_commit_group()
    for step in range(steps):
        if is_ordered:
            sb.async_wait_group(1)
        sb.sync()
        y[i : i + 64, 64 * step : 64 * step + 64] = buffers[step % 2] + 1  # race
        sb.sync()
        if step + 2 < steps:
            load(step + 2)
        sb.async_commit_group()


@smalti.kernel(level="block", grid=lambda x: x.shape[1])
def planes(x: sl.Array, y: sl.Array):
    """Windows with an index, which end outside of the array."""
    k = sb.block_id()
    buffers = sb.shared((2, 64, 64), x.dtype)
    full = sb.barrier()
    sb.sync()
    full.arrive_expect_tx(buffers.at[0].num_bytes)
    sb.async_prefetch(x.at[0:64, k, 0:64])
    sb.async_load(x.at[0:64, k, 0:64], buffers.at[0], full)
    sb.async_copy(x.at[0:64, k, 0:64], buffers.at[1])
    sb.async_commit_group()
    sb.async_wait_group()
    full.wait(0)
    sb.sync()
    y[k, :, :] = buffers[0] + buffers[1]


@smalti.kernel(level="block", grid=lambda x: x.shape[0] // 64)
def bulk_store(x: sl.Array, y: sl.Array, sums: sl.Array):
    i = sb.block_id() * 64
    tile = sb.shared((64, 64), x.dtype, swizzle=128)
    tile[:, :] = x[i : i + 64, :] * 2
    sb.fence_async_shared()
    sb.sync()
    sb.async_store(tile, y.at[i : i + 64, :])
    sb.async_store(tile, sums.at[:, :], reduction="add")
    sb.async_wait_stores()


@smalti.kernel(level="block", grid=1)
def gathered_rows(x: sl.Array, rows: sl.Array, y: sl.Array):
    tile = sb.shared((64, 64), x.dtype)
    full = sb.barrier()
    sb.sync()
    full.arrive_expect_tx(tile.num_bytes)
    sb.async_load(x.at[rows[:], :], tile, full)
    full.wait(0)
    y[:, :] = tile[:, :]


# --- Clusters and thread groups ---


@smalti.kernel(level="block", grid=4, cluster=2)
def multicast(x: sl.Array, y: sl.Array):
    tile = sb.shared((64, 64), x.dtype)
    full = sb.barrier()
    sb.cluster_sync()
    full.arrive_expect_tx(tile.num_bytes)
    sb.async_load(x.at[:, :], tile, full, collective="x")
    full.wait(0)
    i = 64 * sb.block_id()
    y[i : i + 64, :] = tile[:, :]
    sb.cluster_sync()


@smalti.kernel(level="block", grid=2, cluster=(2,))
def reads_of_a_peer(x: sl.Array, y: sl.Array):
    i = sb.cluster_block_id()
    tile = sb.shared((64, 64), x.dtype)
    tile[:, :] = x[64 * i : 64 * i + 64, :]
    sb.cluster_sync()
    y[64 * i : 64 * i + 64, :] = tile.in_block(1 - i)[:, :]
    sb.cluster_sync()


@smalti.kernel(level="block", grid=2, cluster=(2,))
def stores_to_a_peer(x: sl.Array, y: sl.Array):
    i = sb.cluster_block_id()
    tile = sb.shared((64, 64), x.dtype)
    full = sb.barrier()
    sb.cluster_sync()
    sb.async_store_shared(x[64 * i : 64 * i + 64, :], tile, full, 1 - i)
    full.wait(0)
    y[64 * i : 64 * i + 64, :] = tile[:, :]
    sb.cluster_sync()


@smalti.kernel(level="block", grid=2, thread_groups=2)
def two_groups(x: sl.Array, y: sl.Array):
    group = sb.thread_group()
    i = 128 * sb.block_id() + 64 * group
    tiles = sb.shared((2, 64, 64), x.dtype)
    tiles[group, :, :] = x[i : i + 64, :]
    sb.sync_group()
    y[i : i + 64, :] = tiles.at[group].T[:, :]


# --- Matmuls ---


@smalti.kernel(level="block", grid=lambda c, m, n: (c.shape[0] // m, c.shape[1] // n), thread_groups=2)
def specialized_matmul(
    a: sl.Array,
    b: sl.Array,
    c: sl.Array,
    m: smalti.constexpr = 128,
    n: smalti.constexpr = 128,
    k: smalti.constexpr = 64,
    slots: smalti.constexpr = 3,
    is_reused_too_early: smalti.constexpr = False,
):
    i, j = sb.block_id(0) * m, sb.block_id(1) * n
    a_tiles = sb.shared((slots, m, k), a.dtype)
    b_tiles = sb.shared((slots, k, n), b.dtype)
    full, empty = sb.barriers(slots), sb.barriers(slots)
    sb.sync()
    steps = a.shape[1] // k
    if sb.thread_group() == 0:
        sb.set_max_registers(40, "decrease")
        for step in range(steps):
            slot = step % slots
            if step >= slots and not is_reused_too_early:
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
            sb.wgmma_wait()
            empty[slot].arrive()
        c[i : i + m, j : j + n] = acc


_spec = importlib.util.spec_from_file_location("block_matmul", ROOT / "examples" / "python" / "block_matmul.py")
assert _spec is not None and _spec.loader is not None
_example = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_example)
pipelined_matmul = _example.pipelined


@smalti.kernel(level="block", grid=1)
def transposed_wgmma(a: sl.Array, b: sl.Array, c: sl.Array):
    """A in registers, and a transposed B."""
    b_tile = sb.shared((64, 64), b.dtype)
    b_tile[:, :] = b[:, :]
    sb.fence_async_shared()
    sb.sync()
    sb.wgmma_fence()
    acc = sb.wgmma(a[:, :], b_tile.T)
    sb.wgmma_commit()
    sb.wgmma_wait()
    c[:, :] = acc


@smalti.kernel(level="block", grid=1)
def register_matmul(a: sl.Array, b: sl.Array, c: sl.Array, allow_tf32: smalti.constexpr = False):
    c[:, :] = sb.mma(a[:, :], b[:, :], allow_tf32=allow_tf32)


@smalti.kernel(level="block", grid=1)
def one_wgmma(a: sl.Array, b: sl.Array, c: sl.Array):
    a_tile, b_tile = sb.shared((64, 64), a.dtype), sb.shared((64, 64), b.dtype)
    full = sb.barrier()
    sb.sync()
    full.arrive_expect_tx(a_tile.num_bytes + b_tile.num_bytes)
    sb.async_load(a, a_tile, full)
    sb.async_load(b, b_tile, full)
    full.wait(0)
    acc = sb.wgmma(a_tile, b_tile.T)
    sb.wgmma_commit()
    sb.wgmma_wait()
    c[:, :] = acc


# --- Tensor memory ---


@smalti.kernel(level="block", grid=1)
def tensor_matmul(a: sl.Array, b: sl.Array, c: sl.Array, maxima: sl.Array):
    a_tile, b_tile = sb.shared((128, 64), a.dtype), sb.shared((64, 128), b.dtype)
    full, done = sb.barrier(), sb.barrier(orders_tensor_core=True)
    memory = sb.tensor_memory((128, 256), sl.float32)
    acc = memory.columns(128, (128, 128))
    sb.sync()
    full.arrive_expect_tx(a_tile.num_bytes + b_tile.num_bytes)
    sb.async_load(a.at[:, :], a_tile, full)
    sb.async_load(b.at[:, :], b_tile, full)
    full.wait(0)
    sb.tcgen05_mma(acc, a_tile, b_tile, False)
    sb.tcgen05_commit_arrive(done)
    done.wait(0)
    sb.tcgen05_fence_after()
    t, _ = sb.async_load_tensor(acc, reduce="max")
    sb.tcgen05_wait_loads()
    c[:, :] = t
    maxima[:] = t.max(1)
    sb.sync()
    sb.tensor_memory_relinquish()
    sb.tensor_memory_free(memory)


@smalti.kernel(level="block", grid=1)
def tensor_round_trip(x: sl.Array, y: sl.Array):
    memory = sb.tensor_memory((128, 64), sl.float32).with_layout(layouts.tmem_default())
    memory.store(x[:, :])
    sb.tcgen05_wait_stores()
    t = memory.load()
    sb.tcgen05_wait_loads()
    y[:, :] = t
    sb.tcgen05_fence_before()
    sb.sync()
    sb.tensor_memory_free(memory)


@smalti.kernel(level="block", grid=1)
def tensor_copies(x: sl.Array):
    """Copies to tensor memory; only translated."""
    allocated = sb.tensor_memory((128, 128), sl.int32)
    memory = allocated.columns(0, (128, 64), sl.float16)
    scales = allocated.columns(64, (128, 4), sl.float8_e8m0fnu)
    metadata = allocated.columns(96, (128, 128), sl.int2)
    done = sb.barrier(orders_tensor_core=True)
    tile = sb.shared((128, 64), sl.float16)
    tile[:, :] = x[:, :]
    sb.fence_async_shared()
    sb.sync()
    sb.async_copy_to_tensor(tile, memory)
    sb.async_copy_to_tensor(sb.shared((1, 1, 32, 16), sl.float8_e8m0fnu), scales, "scales")
    sb.async_copy_to_tensor(sb.shared((1, 2, 128, 64), sl.int2), metadata, "sparse_metadata")
    sb.tcgen05_commit_arrive(done)
    done.wait(0)
    sb.tensor_memory_free(allocated)


@smalti.kernel(level="block", grid=4)
def canceled_clusters(x: sl.Array):
    """Cluster launch control; only translated."""
    response = sb.shared(16, sl.int8)
    full = sb.barrier()
    sb.sync()
    full.arrive_expect_tx(16)
    sb.try_cluster_cancel(response, full)
    full.wait(0)
    i, _, _, was_canceled = sb.query_cluster_cancel(response)
    if was_canceled:
        x[i] = 1.0
