# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls and TMA copies of modules that JAX printed for Hopper, run on the emulator and compared with numpy."""

from __future__ import annotations

import numpy as np
import smalti
from conftest import PALLAS


def test_matmul_of_jax() -> None:
    """Warp-specialized, 4 slots, tiles of 128 x 256 x 64: TMA, wgmma, barriers and named barriers."""
    kernel = smalti.compile(PALLAS / "hopper_matmul.mlir", target="emu:sm_90a")
    generator = np.random.default_rng(0)
    a = generator.standard_normal((1024, 2048)).astype(np.float16)
    b = generator.standard_normal((2048, 1024)).astype(np.float16)
    c = np.full((1024, 1024), np.nan, np.float16)
    kernel(a, b, c)
    expected = a.astype(np.float32) @ b.astype(np.float32)
    # Rounding of the result to f16, and another order of additions.
    np.testing.assert_allclose(c.astype(np.float32), expected, rtol=2**-10, atol=2**-6)


def test_instructions_of_jax_matmul() -> None:
    kernel = smalti.compile(PALLAS / "hopper_matmul.mlir", target="sm_90a")
    ptx = kernel.asm["ptx"]
    assert ptx.count("wgmma.mma_async") == 8
    # The compiler may duplicate them.
    assert ptx.count("cp.async.bulk.tensor.2d.shared") >= 5
    assert ptx.count("cp.async.bulk.tensor.4d.shared") >= 5
    assert ptx.count("cp.async.bulk.tensor.2d.global") >= 4
    # The maps are read at the address of the parameters.
    assert ptx.count("cvta.param") == 3
