# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block-level kernels in Python against numpy, in the emulator and in the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import block_kernels as kernels
import ml_dtypes
import numpy as np
import pytest
import smalti

RANDOM = np.random.default_rng(8)
BOTH_VENDORS = ("emu:sm_80", "emu:sm_90a", "emu:gfx942", "sim:sm_90a", "sim:gfx942")
HOPPER = ("emu:sm_90a", "sim:sm_90a")
BLACKWELL = "sim:sm_100a"

Array = np.ndarray[Any, Any]


def integers(*shape: int, dtype: Any = np.float16) -> Array:
    """Small integers, whose matmul is exact."""
    return RANDOM.integers(-3, 4, shape).astype(dtype)


def matmul(a: Array, b: Array) -> Array:
    return a.astype(np.float32) @ b.astype(np.float32)


def empty(*shape: int, dtype: Any = np.float32) -> Array:
    return np.full(shape, -77, dtype)


@pytest.mark.parametrize("target", BOTH_VENDORS)
@pytest.mark.parametrize("warps", [4, 8])
def test_elements_and_a_reduction(target: str, warps: int) -> None:
    x, y = RANDOM.standard_normal((256, 128), np.float32), empty(256, 128)
    kernels.twice_plus_maximum.on(target, num_warps=warps)(x, y)
    np.testing.assert_allclose(y, 2 * x + x.max(1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("target", BOTH_VENDORS)
def test_windows_are_masked_at_the_edges(target: str) -> None:
    x, y = RANDOM.standard_normal((100, 3, 32), np.float32), empty(70, 3, 32)
    x.flags.writeable = False
    kernels.edges.on(target)(x, y, fill=-1)
    before = np.concatenate([np.zeros((1, 3, 32), np.float32), x[:-1]])
    np.testing.assert_array_equal(y, (x - before)[:70])
    padded = empty(128, 3, 32)
    kernels.edges.on(target)(x, padded, fill=-1)
    np.testing.assert_array_equal(padded[:100], x - before)
    np.testing.assert_array_equal(padded[100], -1 - x[99])
    np.testing.assert_array_equal(padded[101:], -1)


@pytest.mark.parametrize("target", BOTH_VENDORS)
def test_transpose_through_shared_memory(target: str) -> None:
    x, y = RANDOM.standard_normal((128, 192), np.float32), empty(192, 128)
    kernels.transpose.on(target)(x, y)
    np.testing.assert_array_equal(y, x.T)


@pytest.mark.parametrize("target", BOTH_VENDORS)
def test_scalars_and_a_branch(target: str) -> None:
    x, y = RANDOM.standard_normal((16, 128), np.float32), empty(16, 128)
    kernels.scalars.on(target, num_warps=1)(x, 3.0, 8, y)
    np.testing.assert_allclose(y, np.concatenate([x[:8] * 3, x[8:] + x[8, 3] + 2]), rtol=1e-6)


@pytest.mark.parametrize("target", BOTH_VENDORS)
def test_control_flow(target: str) -> None:
    x = RANDOM.standard_normal((128, 64), np.float32)
    for n in (2, 5):
        y, expected = empty(128, 64), x
        kernels.control_flow.on(target)(x, y, n)
        for k in range(n):
            expected = expected * 2 if k % 2 == 0 else expected + 1
        np.testing.assert_allclose(y, -expected if n > 3 else expected, rtol=1e-6)


@pytest.mark.parametrize("target", ["emu:sm_80", "emu:gfx942"])
def test_packed_elements(target: str) -> None:
    x, y = RANDOM.integers(-128, 128, (64, 32)).astype(np.int8), empty(64, 64, dtype=np.int32)
    kernels.packed_elements.on(target)(x, y)
    wide = x.astype(np.int32)
    np.testing.assert_array_equal(y, np.stack([wide << 28 >> 28, wide << 24 >> 28], -1).reshape(64, 64))


def test_strided_arrays_and_arrays_without_elements() -> None:
    x, y = RANDOM.standard_normal((64, 256), np.float32)[:, ::2], empty(128, 64).T
    kernels.twice_plus_maximum.on("emu:sm_80")(x, y)
    np.testing.assert_allclose(y, 2 * x + x.max(1, keepdims=True), rtol=1e-6)
    kernels.twice_plus_maximum.on("emu:sm_80")(x[:0], y[:0])


@pytest.mark.parametrize("target", BOTH_VENDORS)
def test_shapes_of_tiles(target: str) -> None:
    x, y, sums = integers(64, 64, dtype=np.float32), empty(64, 64), empty(64, 64)
    kernels.shapes.on(target)(x, y, sums)
    np.testing.assert_array_equal(y, np.roll(x, 32, 1) + np.arange(64))
    np.testing.assert_array_equal(sums, x.cumsum(1))


@pytest.mark.parametrize("target", HOPPER)
def test_views_of_shared_memory(target: str) -> None:
    x, y = RANDOM.standard_normal(2048, np.float32), empty(32, 64)
    kernels.aliases.on(target)(x, y)
    np.testing.assert_array_equal(y, 2 * x.reshape(32, 64))


@pytest.mark.parametrize("target", BOTH_VENDORS)
def test_atomics(target: str) -> None:
    x = RANDOM.integers(0, 20, 128).astype(np.int32)
    bins, old = np.zeros(16, np.int32), empty(128, dtype=np.int32)
    kernels.histogram.on(target)(x, bins, old)
    np.testing.assert_array_equal(bins, np.bincount(x[x < 16], minlength=16))
    slots = np.zeros(20, np.int32)
    kernels.claims.on(target)(slots, x, old)
    # The first claim of a slot reads 0; later ones read its number.
    for slot in np.unique(x):
        first = slots[slot] - 1
        assert x[first] == slot and old[first] == 0
        assert set(old[x == slot]) <= {0, int(slots[slot])} and (old[x == slot] == 0).sum() == 1


@pytest.mark.parametrize("target", HOPPER)
def test_code_of_threads_and_warps(target: str) -> None:
    x, y = RANDOM.standard_normal(512, np.float32), empty(512)
    kernels.each_thread.on(target)(x, y)
    np.testing.assert_array_equal(y, 2 * x)
    y[:] = 0
    kernels.each_warp.on(target)(x, y)
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("target", HOPPER)
def test_prints_and_assertions(target: str, capfd: pytest.CaptureFixture[str]) -> None:
    x = np.arange(64, dtype=np.float32)
    kernels.prints.on(target)(x)
    printed = capfd.readouterr().out
    assert "tile 1: maximum = 63" in printed and "block [0, 0, 0]: sum = 2016" in printed
    x[5] = 200
    with pytest.raises(smalti.SmaltiError, match="an element is too large"):
        kernels.prints.on(target)(x)


def test_the_kernel_has_the_remarks_of_layout_inference() -> None:
    x, sums = empty(64, 64), empty(64, 64)
    kernel = kernels.shapes.on("sm_90a")
    for _ in range(2):
        remarks = kernel.compile(x, x.copy(), sums).remarks
        found = [r for r in remarks if "relayout inserted" in r.message]
        assert len(found) == 2
        assert all(r.location is not None and r.location.file == kernels.__file__ for r in found)
        assert any("the tile is laid out as #mosaic_gpu.WGStridedFragLayout<[64, 64], 4>" in r.message for r in remarks)


# --- Copies ---


@pytest.mark.parametrize("target", ("emu:sm_80", *HOPPER))
def test_bulk_copies(target: str) -> None:
    x, y = RANDOM.standard_normal((128, 384), np.float32), empty(128, 384)
    kernels.bulk_copy.on(target)(x, y)
    np.testing.assert_array_equal(y, x + 1)


@pytest.mark.parametrize("target", BOTH_VENDORS)
def test_copies_in_groups(target: str) -> None:
    x, y = RANDOM.standard_normal((128, 384), np.float32), empty(128, 384)
    kernels.group_copy.on(target)(x, y)
    np.testing.assert_array_equal(y, x + 1)


@pytest.mark.parametrize("kernel", [kernels.bulk_copy, kernels.group_copy])
def test_a_missing_wait_is_found_at_the_line_of_the_kernel(kernel: Any) -> None:
    x, y = RANDOM.standard_normal((128, 384), np.float32), empty(128, 384)
    simulated = kernel.on("sim:sm_90a").compile(x, y, is_ordered=False)
    finding = next(f for f in simulated.find(x, y) if f.kind == "race")
    assert finding.location.file == kernels.__file__
    line = Path(kernels.__file__).read_text().splitlines()[finding.location.line - 1]
    assert line.endswith("# race")


@pytest.mark.parametrize("target", HOPPER)
def test_windows_with_an_index_that_end_outside(target: str) -> None:
    x, y = RANDOM.standard_normal((48, 3, 56), np.float32), empty(3, 64, 64)
    kernels.planes.on(target)(x, y)
    expected = np.zeros((3, 64, 64), np.float32)
    expected[:, :48, :56] = 2 * x.transpose(1, 0, 2)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("target", HOPPER)
def test_bulk_stores(target: str) -> None:
    """Sixteen blocks add to the same elements."""
    x, y, sums = integers(1024, 64), empty(1024, 64, dtype=np.float16), np.zeros((64, 64), np.float16)
    kernels.bulk_store.on(target)(x, y, sums)
    np.testing.assert_array_equal(y, 2 * x)
    np.testing.assert_array_equal(sums, 2 * x.reshape(16, 64, 64).sum(0))


def test_gathered_rows() -> None:
    x, rows, y = integers(256, 64), RANDOM.integers(0, 256, 64).astype(np.int32), empty(64, 64, dtype=np.float16)
    kernels.gathered_rows.on(BLACKWELL)(x, rows, y)
    np.testing.assert_array_equal(y, x[rows])


# --- Clusters and thread groups ---


@pytest.mark.parametrize("target", HOPPER)
def test_a_multicast(target: str) -> None:
    x, y = RANDOM.standard_normal((64, 64), np.float32), empty(256, 64)
    kernels.multicast.on(target)(x, y)
    np.testing.assert_array_equal(y, np.concatenate([x] * 4))


@pytest.mark.parametrize("target", HOPPER)
@pytest.mark.parametrize("kernel", [kernels.reads_of_a_peer, kernels.stores_to_a_peer])
def test_memory_of_another_block(kernel: Any, target: str) -> None:
    x, y = RANDOM.standard_normal((128, 64), np.float32), empty(128, 64)
    kernel.on(target)(x, y)
    np.testing.assert_array_equal(y, np.concatenate([x[64:], x[:64]]))


@pytest.mark.parametrize("target", HOPPER)
def test_two_thread_groups(target: str) -> None:
    x, y = RANDOM.standard_normal((256, 64), np.float32), empty(256, 64)
    kernels.two_groups.on(target)(x, y)
    np.testing.assert_array_equal(y, x.reshape(4, 64, 64).transpose(0, 2, 1).reshape(256, 64))


# --- Matmuls ---


@pytest.mark.parametrize("target", HOPPER)
def test_a_specialized_matmul(target: str) -> None:
    a, b, c = integers(256, 320), integers(320, 256), empty(256, 256)
    kernels.specialized_matmul.on(target)(a, b, c)
    np.testing.assert_array_equal(c, matmul(a, b))


def test_the_machine_code_of_the_specialized_matmul() -> None:
    a, b, c = integers(256, 320), integers(320, 256), empty(256, 256)
    ptx = kernels.specialized_matmul.on("sm_90a").ir("ptx", a, b, c)
    for instruction in ("wgmma.mma_async", "cp.async.bulk.tensor", "mbarrier.try_wait", "setmaxnreg"):
        assert instruction in ptx


def test_a_slot_that_is_reused_too_early_is_found() -> None:
    a, b, c = integers(128, 320), integers(320, 128), empty(128, 128)
    simulated: Any = kernels.specialized_matmul.on("sim:sm_90a").compile(a, b, c, is_reused_too_early=True)
    findings = simulated.find(a, b, c)
    assert findings and findings[0].location.file == kernels.__file__


@pytest.mark.parametrize("target", ("emu:sm_80", "sim:sm_80", "emu:gfx942", "sim:gfx942"))
def test_a_pipelined_matmul(target: str) -> None:
    a, b, c = integers(128, 160), integers(160, 192), empty(128, 192)
    kernels.pipelined_matmul.on(target)(a, b, c)
    np.testing.assert_array_equal(c, matmul(a, b))


@pytest.mark.parametrize("target", HOPPER)
def test_wgmma_of_registers_and_a_transposed_operand(target: str) -> None:
    a, b, c = integers(64, 64), integers(64, 64), empty(64, 64)
    kernels.transposed_wgmma.on(target)(a, b, c)
    np.testing.assert_array_equal(c, matmul(a, b.T))


MMAS: list[tuple[str, Any, dict[str, int]]] = [
    *((target, ml_dtypes.bfloat16, {}) for target in ("emu:sm_80", "emu:gfx942", "emu:gfx1201")),
    *((target, np.int8, {}) for target in ("emu:sm_80", "emu:sm_90a", "emu:gfx942")),
    *((target, np.float64, {}) for target in ("emu:sm_80", "emu:gfx942", "sim:sm_90a")),
    *((target, np.float16, {"num_warps": warps}) for target in ("emu:sm_80", "emu:gfx942") for warps in (1, 2, 8)),
]


@pytest.mark.parametrize(("target", "dtype", "options"), MMAS)
def test_mmas_of_element_types_and_warps(target: str, dtype: Any, options: dict[str, int]) -> None:
    a, b = integers(64, 64, dtype=dtype), integers(64, 64, dtype=dtype)
    c = empty(64, 64, dtype={np.int8: np.int32, np.float64: np.float64}.get(dtype, np.float32))
    kernels.register_matmul.on(target, **options)(a, b, c)
    np.testing.assert_array_equal(c, matmul(a, b))


def test_mmas_of_float32_need_a_permission() -> None:
    a, b, c = integers(64, 64, dtype=np.float32), integers(64, 64, dtype=np.float32), empty(64, 64)
    kernels.register_matmul.on("emu:sm_80")(a, b, c, allow_tf32=True)
    np.testing.assert_array_equal(c, a @ b)
    with pytest.raises(smalti.CompileError, match="does not have the layouts of an MMA instruction"):
        kernels.register_matmul.on("emu:sm_80")(a, b, c)


@pytest.mark.parametrize("target", HOPPER)
@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e4m3fn, np.int8, ml_dtypes.bfloat16])
def test_wgmma_of_element_types(target: str, dtype: Any) -> None:
    a, b = integers(64, 64, dtype=dtype), integers(64, 64, dtype=dtype)
    c = empty(64, 64, dtype=np.int32 if dtype == np.int8 else np.float32)
    kernels.one_wgmma.on(target)(a, b, c)
    np.testing.assert_array_equal(c, matmul(a, b.T))


# --- Tensor memory ---


def test_a_matmul_in_tensor_memory() -> None:
    a, b, c, maxima = integers(128, 64), integers(64, 128), empty(128, 128), empty(128)
    kernels.tensor_matmul.on(BLACKWELL)(a, b, c, maxima)
    np.testing.assert_array_equal(c, matmul(a, b))
    np.testing.assert_array_equal(maxima, c.max(1))


def test_loads_and_stores_of_tensor_memory() -> None:
    x, y = RANDOM.standard_normal((128, 64), np.float32), empty(128, 64)
    kernels.tensor_round_trip.on(BLACKWELL)(x, y)
    np.testing.assert_array_equal(y, x)
