# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in Python against numpy, on the CPU and on emulated GPUs."""

from __future__ import annotations

import math

import numpy as np
import pytest
import python_kernels as kernels

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
