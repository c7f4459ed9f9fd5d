# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in Python against numpy, on the CPU and on emulated GPUs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import python_kernels as kernels
import smalti
import smalti.language as sl

TARGETS = ("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942", "sim:sm_90a")
RANDOM = np.random.default_rng(23)


@pytest.mark.parametrize("target", TARGETS)
def test_windows_are_masked_at_the_edge(target: str) -> None:
    x = RANDOM.standard_normal(1000, np.float32)
    y = np.full(1000, np.nan, np.float32)
    kernels.double.on(target)(x, y)
    np.testing.assert_array_equal(y, 2 * x)


@pytest.mark.parametrize("target", TARGETS)
def test_softmax(target: str) -> None:
    x = RANDOM.standard_normal((5, 100), np.float32)
    y = np.full((5, 100), np.nan, np.float32)
    kernels.softmax.on(target)(x, y, block=128)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_matmul_with_a_helper_function(target: str) -> None:
    a = RANDOM.standard_normal((100, 72)).astype(np.float16)
    b = RANDOM.standard_normal((72, 88)).astype(np.float16)
    bias = RANDOM.standard_normal(88, np.float32)
    c = np.full((100, 88), np.nan, np.float32)
    kernels.matmul.on(target, num_warps=4)(a, b, bias, c)
    x = a.astype(np.float64) @ b.astype(np.float64) + bias
    expected = 0.5 * x * (1 + np.vectorize(math.erf)(x * math.sqrt(0.5)))
    np.testing.assert_allclose(c, expected, atol=2e-4)


@pytest.mark.parametrize("target", TARGETS)
def test_a_loop_carries_a_dataclass(target: str) -> None:
    x = RANDOM.standard_normal((3, 75), np.float32)
    y = np.full(3, np.nan, np.float32)
    kernels.logsumexp.on(target)(x, y)
    np.testing.assert_allclose(y, np.log(np.exp(x.astype(np.float64)).sum(1)), rtol=1e-5)


@pytest.mark.parametrize("grid", [(2, 1, 3, 2), lambda x: (2, 1, x.shape[2], 2)], ids=["tuple", "function"])
def test_a_grid_of_four_dimensions(grid: Any) -> None:
    @smalti.kernel(grid=grid, target="cpu")
    def fill(x: sl.Array):
        x[tuple(sl.tile_id(d) for d in range(4))] = sl.tile_id(3)

    x = np.full((2, 1, 3, 2), np.nan, np.float32)
    fill(x)
    np.testing.assert_array_equal(x, np.broadcast_to([0, 1], x.shape))


@pytest.mark.parametrize("grid", [(), "x", lambda x: (), -1, True, np.bool_(True), 2.0, (0, -1)])
@pytest.mark.parametrize("options", [{}, {"interpret": True}], ids=["compiled", "interpreted"])
def test_a_grid_is_one_or_several_integers(grid: Any, options: Any) -> None:
    @smalti.kernel(grid=grid, target="cpu", **options)
    def fill(x: sl.Array):
        x[0] = 1.0

    with pytest.raises(smalti.LaunchError, match=r"the grid of fill is .*, but must be one or several integers"):
        fill(np.zeros(4, np.float32))


@pytest.mark.parametrize(
    ("dtype", "number", "limits"),
    [
        (sl.int32, 3_000_000_000, "-2147483648 to 2147483647"),
        (sl.int8, 200, "-128 to 127"),
        (sl.uint32, -1, "0 to 4294967295"),
        (sl.uint64, 2**64, "0 to 18446744073709551615"),
        (int, 2**63, "-9223372036854775808 to 9223372036854775807"),
        (sl.int16, np.int64(1 << 15), "-32768 to 32767"),
    ],
    ids=str,
)
@pytest.mark.parametrize("options", [{}, {"interpret": True}], ids=["compiled", "interpreted"])
def test_numbers_that_do_not_fit_the_stated_type(dtype: Any, number: int, limits: str, options: Any) -> None:
    def store(x: sl.Array, n):
        x[0] = n

    store.__annotations__["n"] = dtype
    x = np.zeros(1, np.int64)
    kernel = smalti.kernel(target="cpu", **options)(store)
    with pytest.raises(
        smalti.LaunchError, match=f"store: n is {number}, which is out of range .* number from {limits} is"
    ):
        kernel(x, number)
    # The limits themselves fit.
    for limit in map(int, limits.split(" to ")):
        kernel(x.view(np.uint64) if limit >= 1 << 63 else x, limit)
        assert int(x[0]) % 2**64 == limit % 2**64


OFFSET = 0.0


def sign(y: sl.Array, value: smalti.constexpr = 0.0):
    y[0:2] = sl.full(2, math.copysign(1.0, value) + math.copysign(4.0, OFFSET), sl.float32)


def signs(kernel: Any, *values: Any) -> list[float]:
    y = np.zeros(2, np.float32)
    found: list[float] = []
    for value in values:
        kernel(y, value)
        found.append(float(y[0]))
    return found


def test_zeros_of_both_signs_are_different_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = smalti.kernel(sign)
    assert signs(kernel, 0.0, -0.0, float("-0.0"), 0.0) == [5, 3, 3, 5]
    assert signs(kernel, np.float32(0), np.float32(-0.0), (0.0,)[0]) == [5, 3, 5]
    monkeypatch.setitem(globals(), "OFFSET", -0.0)
    assert signs(kernel, 0.0, -0.0) == [-3, -5]


def test_nan_is_one_constant() -> None:
    kernel = smalti.kernel(sign)
    compiled: list[Any] = []
    kernel.hooks.compile.append(compiled.append)
    signs(kernel, *(float("nan") for _ in range(3)), math.nan, *(np.float16("nan") for _ in range(2)))
    assert len(compiled) == 2
