# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The native functions that check thread accesses, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from smalti._mlir_libs import _smalti
from smalti.sim.threads.execution.memory import LaneBuffer, read, write

WARP, WARPS, GRAINS = 8, 3, 50


@pytest.fixture(params=range(4))
def random(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def test_grains(random):
    first, steps = random.integers(0, 64, 9) * 4, random.integers(0, 9, 5) * 4
    for size, grain in ((4, 4), (4, 1), (2, 4), (16, 4)):
        found = _smalti.grains_of(first, steps, size, grain)
        positions = (first[:, None] + steps)[..., None] + np.arange(0, max(size, grain), grain)
        assert (found == positions.reshape(9, -1) // grain).all()
    with pytest.raises(IndexError):
        _smalti.grains_of(first, steps - 1000, 4, 4)


def test_bounds(random):
    values = random.integers(-5, 5, 20)
    for low, high in ((-5, 5), (-4, 5), (-5, 3)):
        assert _smalti.all_inside(values, low, high) == bool(((values >= low) & (values <= high)).all())
    first, steps = random.integers(0, 8, 6) * 4, np.array([0, 8, -4])
    ends = first[:, None] + steps
    for end in (36, 40, 44):
        assert _smalti.all_fit(first, steps, 4, end) == bool((ends >= 0).all() and (ends + 4 <= end).all())
    assert not _smalti.all_fit(np.array([2]), np.array([0]), 4, 64)


@pytest.mark.parametrize("kind", ["u1", "f2", "i4", "f8"])
def test_loads_and_stores(random, kind):
    dtype = np.dtype(kind)
    buffer = LaneBuffer("memory", 512, 1, shared=True)
    buffer.data[:] = random.integers(0, 256, 512)
    first, steps, mask = random.integers(0, 400, 12), np.arange(4) * dtype.itemsize * 2, random.random(12) < 0.7
    wanted = np.array([[buffer.data[a + s : a + s + dtype.itemsize].tobytes() for s in steps] for a in first])
    assert read(buffer, first, steps, dtype, None).tobytes() == b"".join(bytes(v) for v in _padded(wanted, dtype))
    masked = read(buffer, first, steps, dtype, mask)
    assert masked[mask].tobytes() == read(buffer, first[mask], steps, dtype, None).tobytes()
    assert not masked[~mask].tobytes().strip(b"\0")

    values = random.integers(0, 100, (12, 4)).astype(dtype)
    expected = buffer.data.copy()
    for lane in np.flatnonzero(mask):
        for column, step in enumerate(steps):
            at = first[lane] + step
            expected[at : at + dtype.itemsize] = np.frombuffer(values[lane, column].tobytes(), np.uint8)
    write(buffer, first, steps, values, mask)
    assert (buffer.data == expected).all()
    with pytest.raises(IndexError):
        write(buffer, first + 512, steps, values, None)


def _padded(rows, dtype):
    # numpy drops zeros at the end of bytes.
    return [bytes(item).ljust(dtype.itemsize, b"\0") for row in rows for item in row]


def test_earlier_accesses(random):
    agents, steps = np.array([0, 1, 2, 3, 4], np.int32), np.array([0, 1, 1, 5, 2], np.int32)
    row = random.integers(0, 5, GRAINS).astype(np.int32)
    known = random.integers(0, 6, (WARPS, 8)).astype(np.int32)
    known[:, 0] = 0
    grains, threads = random.integers(0, GRAINS, (WARP * WARPS, 4)), np.arange(WARP * WARPS)
    found = _smalti.look_before(row, grains, threads, WARP, agents, steps, known, 2)
    last = row[grains]
    # The agents from 2 on have columns from 1 on; each one is unordered with the others.
    ordered = known[threads[:, None] // WARP, np.maximum(agents[last] - 1, 0)] >= steps[last]
    warps = np.broadcast_to(threads[:, None] // WARP, last.shape)
    later = ordered & (last != 0)
    assert found.unwritten == bool((last == 0).any())
    assert found.pairs == sorted(set(zip(warps[later].tolist(), last[later].tolist(), strict=True)))
    assert (found.ordered == (ordered | (last == 0))).all()
    assert _smalti.look_before(np.zeros_like(row), grains, threads, WARP, agents, steps, known, 2) is None
    known[:] = 9
    assert _smalti.look_before(row, grains, threads, WARP, agents, steps, known, 1).ordered is None
    with pytest.raises(IndexError):
        _smalti.look_before(row, grains + GRAINS, threads, WARP, agents, steps, known, 2)


def test_writes(random):
    writes, writers = np.zeros(GRAINS, np.int32), np.zeros(GRAINS, np.int16)
    lanes = np.full(GRAINS, 0xFF, np.uint32)
    threads = np.arange(WARP * WARPS)
    grains, numbers = random.integers(0, GRAINS, (len(threads), 2)), (threads // WARP + 7).astype(np.int32)
    assert _smalti.remember_writes(writes, writers, lanes, grains, numbers, threads, WARP)
    for grain in range(GRAINS):
        who = threads[(grains == grain).any(1)]
        assert writes[grain] == (numbers[who[-1]] if who.size else 0)
        assert writers[grain] == (who[-1] if who.size else 0)
        assert lanes[grain] == (np.bitwise_or.reduce(1 << who % WARP) if who.size else 0xFF)
    alone = np.arange(len(threads))[:, None]
    assert not _smalti.remember_writes(writes, writers, None, alone, numbers, threads, WARP)


def test_reads_and_their_lanes(random):
    threads, own = np.arange(WARP * WARPS), np.arange(1, WARPS + 1, dtype=np.int32)
    which, grains = (threads // WARP).astype(np.int32), random.integers(0, GRAINS, (WARP * WARPS, 3))
    agents, steps = np.array([0, 1, 2, 3, 1], np.int32), np.array([0, 3, 3, 3, 5], np.int32)
    rows = [random.integers(0, 5, GRAINS).astype(np.int32) for _ in range(WARPS)]
    bits = [random.integers(0, 1 << WARP, GRAINS).astype(np.uint32) for _ in range(WARPS)]
    acquired = random.integers(2, 6, (WARPS, WARP, WARP)).astype(np.int32)
    before, old = [row.copy() for row in rows], [row.copy() for row in bits]
    _smalti.remember_lanes(rows, bits, grains, which, threads, agents, steps, acquired, own)
    for warp in range(WARPS):
        for grain in range(GRAINS):
            who = [t % WARP for t in threads[which == warp] if grain in grains[t]]
            kept, number = int(old[warp][grain]), before[warp][grain]
            for lane in who:
                unknown = sum(1 << i for i in range(WARP) if acquired[warp, lane, i] < steps[number])
                kept &= unknown if number and agents[number] == own[warp] else 0
            assert bits[warp][grain] == kept | sum(1 << lane for lane in set(who))

    clusters = np.array([0, 1, 1, 1, 1], np.int32)
    assert not _smalti.remember_others(rows, grains, which, 10, clusters, 2)
    assert all((row == was).all() for row, was in zip(rows, before, strict=True))
    assert _smalti.remember_others(rows, grains, which, 10, clusters, 1)
    for warp, row in enumerate(rows):
        touched = np.isin(np.arange(GRAINS), grains[which == warp])
        assert (row == np.where(touched, 10 + warp, before[warp])).all()
