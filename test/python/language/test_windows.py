# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows of arrays against numpy: index tiles, masks, atomic updates, packed elements, strides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import smalti
import smalti.language as sl

RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal((8, 8), np.float32)
ROWS = np.array([3, 0, 7, 7, 2, 5, 1, 3], np.int32)
ORDER = RANDOM.permutation(8).astype(np.int32)
COLUMNS = np.arange(8)
BYTES = RANDOM.integers(0, 256, (16, 8), np.uint8)


@pytest.fixture(params=["cpu", "emu:sm_80", "emu:gfx942"])
def target(request: pytest.FixtureRequest) -> str:
    return request.param


def expect(kernel: smalti.language.PythonKernel, inputs: tuple[Any, ...], out: np.ndarray, wanted: Any) -> None:
    kernel(*inputs, out)
    np.testing.assert_allclose(out, np.asarray(wanted, out.dtype), rtol=1e-6)


@smalti.kernel
def gathers(x, rows, out):
    r, c = rows[0:8], sl.arange(8)
    out[0, 0:8] = x[r, c]
    out[1, 0:8] = x[r, 3]
    out[2, 0:8] = x.at[r, 1].load(fill=7.0, mask=c < 4)
    out[3, 0:8] = x.at[2 * r, 0].load(fill=-1)
    out[4:12, 0:8] = x[r, 0:8]
    out[12:20, 0:8] = x[0:8, r]
    out[20:28, 0:8] = x[r[:, None], c[None, :]]


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64"])
def test_gathers(target: str, dtype: str) -> None:
    far = np.where(2 * ROWS < 8, X[2 * ROWS % 8, 0], -1)
    rows = [X[ROWS, COLUMNS], X[ROWS, 3], np.where(COLUMNS < 4, X[ROWS, 1], 7), far]
    wanted = [*rows, *X[ROWS], *X[:, ROWS], *X[ROWS]]
    expect(gathers.on(target), (X, ROWS.astype(dtype)), np.zeros((28, 8), np.float32), wanted)


@smalti.kernel
def scatters(x, order, out):
    p, c = order[0:8], sl.arange(8)
    out[p, 0:8] = x[0:8, 0:8]
    out.at[c + 8, p].store(5.0, mask=c > 3, unique=True)


def test_scatters(target: str) -> None:
    wanted = np.zeros((16, 8))
    wanted[ORDER] = X
    wanted[COLUMNS[4:] + 8, ORDER[4:]] = 5
    expect(scatters.on(target), (X, ORDER), np.zeros((16, 8), np.float32), wanted)


@smalti.kernel
def masks(x, n, out):
    t = x[0:8, 0:8]
    out[0:8, 0:8] = t.mask([n, 6], 9.0)
    out.at[8:16, 0:8].store(t, mask=t > 0)


def test_masks(target: str) -> None:
    masked = np.where((COLUMNS[:, None] >= 5) | (COLUMNS >= 6), 9, X)
    wanted = np.concatenate([masked, np.where(X > 0, X, 0)])
    expect(masks.on(target), (X, 5), np.zeros((16, 8), np.float32), wanted)


@smalti.kernel(grid=4)
def atomics(rows, out):
    out.at[rows[0:8]].atomic("add", 2, mask=sl.arange(8) > 0)
    out.at[8].atomic("add", 1)
    out.at[9].atomic_cas(0, 7)
    out.at[10:12].atomic("max", sl.tile_id())


def test_atomics(target: str) -> None:
    wanted = [*(8 * np.bincount(ROWS[1:], minlength=8)), 4, 7, 3, 3]
    expect(atomics.on(target), (ROWS,), np.zeros(12, np.int32), wanted)


@smalti.kernel
def unpacked(x: sl.Array[sl.int4], out):
    t = x[0:16, 0:16]
    out[0:16, 0:16] = t
    out[16:32, 0:16] = t.to(sl.int32).sum(1)[:, None]


@pytest.mark.parametrize("is_strided", [False, True])
def test_reads_of_packed_integers(target: str, is_strided: bool) -> None:
    numbers = np.stack([BYTES & 15, BYTES >> 4], -1).reshape(16, 16).astype(np.int32)
    numbers = np.where(numbers > 7, numbers - 16, numbers)
    wanted = [*numbers, *np.broadcast_to(numbers.sum(1)[:, None], (16, 16))]
    packed = np.repeat(BYTES, 2, 0)[::2] if is_strided else BYTES
    expect(unpacked.on(target), (packed,), np.zeros((32, 16), np.int32), wanted)


@smalti.kernel
def packed(x, out: sl.Array[sl.int4]):
    out[0:16, 0:16] = x[0:16, 0:16]


def test_writes_of_packed_integers(target: str) -> None:
    numbers = np.stack([BYTES & 15, BYTES >> 4], -1).reshape(16, 16).astype(np.int8)
    expect(packed.on(target), (numbers,), np.zeros((16, 8), np.uint8), BYTES)


@smalti.kernel
def floats_of_4_bits(x: sl.Array[sl.float4_e2m1fn], out):
    out[0:16, 0:16] = x[0:16, 0:16]


def test_floats_of_4_bits(target: str) -> None:
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    table = np.concatenate([values, -values])
    wanted = np.stack([table[BYTES & 15], table[BYTES >> 4]], -1).reshape(16, 16)
    expect(floats_of_4_bits.on(target), (BYTES,), np.zeros((16, 16), np.float32), wanted)


@smalti.kernel(grid=(2, 3))
def grid_sizes(out):
    out[sl.tile_id(0), sl.tile_id(1)] = 10 * sl.num_tiles(0) + sl.num_tiles(1)


def test_grid_sizes(target: str) -> None:
    expect(grid_sizes.on(target), (), np.zeros((2, 3), np.int32), np.full((2, 3), 23))


@smalti.kernel(target="cpu")
def slices_of_equal_expressions(x, k, n, out):
    out[0, 0:4] = x[k // 2 : k // 2 + 4]
    out[1, 0:4] = x[k % n + 1 : k % n + 5]
    out[2, 0:4] = x[n * k : n * k + 4]
    out[3, 0:4] = x[sl.cdiv(k, n) : sl.cdiv(k, n) + 4]
    out[4, 0:4] = x[sl.minimum(k, n) : 4 + sl.minimum(k, n)]
    out[5, 0:4] = x[k << 1 : (k << 1) + 4]
    out[6, 0:4] = x[x.shape[0] // 2 - 1 : x.shape[0] // 2 + 3]


@pytest.mark.parametrize("options", [{}, {"interpret": True}], ids=["compiled", "interpreted"])
def test_slices_of_equal_expressions(options: Any) -> None:
    x, k, n = np.arange(64, dtype=np.float32), 7, 3
    starts = [k // 2, k % n + 1, n * k, 3, n, k << 1, 31]
    out = np.zeros((7, 4), np.float32)
    slices_of_equal_expressions.on(**options)(x, k, n, out)
    np.testing.assert_array_equal(out, [x[start : start + 4] for start in starts])


@pytest.mark.parametrize(
    ("start", "stop"),
    [
        (lambda x, k: k // 2, lambda x, k: k // 3 + 4),
        (lambda x, k: sl.minimum(k, 3), lambda x, k: sl.maximum(k, 3) + 4),
        (lambda x, k: (k < 3).to(sl.int32), lambda x, k: (k > 3).to(sl.int32) + 4),
        (lambda x, k: k // 2, lambda x, k: (k + 1) // 2 + 4),
        # The element may change between the two reads.
        (lambda x, k: x[k].to(sl.int32), lambda x, k: x[k].to(sl.int32) + 4),
    ],
    ids=["constants", "operations", "attributes", "operands", "loads"],
)
def test_slices_of_different_expressions(start: Any, stop: Any) -> None:
    @smalti.kernel(target="cpu")
    def different(x, k, out):
        out[0:4] = x[start(x, k) : stop(x, k)]

    with pytest.raises(smalti.CompileError, match="does not have a static size\n") as found:
        different(np.zeros(64, np.float32), 7, np.zeros(4, np.float32))
    assert "assign the start to a name" in str(found.value)
