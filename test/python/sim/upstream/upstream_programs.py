# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Thread-level kernels around upstream ops."""

from __future__ import annotations

import numpy as np
from smalti import sim


def made(
    body: str,
    arguments: str,
    *,
    target: str = "sim:sm_80",
    block: str = "32, 1, 1",
    grid: str = "1, 1, 1",
    module: str = "",
) -> sim.SimulatedKernel:
    """A program that has `%t`, the thread, and some numbers."""
    text = f"""gpu.module @m {{ {module}
  gpu.func @k({arguments}) kernel attributes {{
      known_block_size = array<i32: {block}>, known_grid_size = array<i32: {grid}>}} {{
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    {body}
    gpu.return
  }}
}}"""
    return sim.simulate(text, target)


def run(body: str, arguments: str, *arrays: np.ndarray, **how: str) -> None:
    made(body, arguments, **how)(*arrays)
