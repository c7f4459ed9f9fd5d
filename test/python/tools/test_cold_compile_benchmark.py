# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program of benchmarks/cold_compile.py for other sizes."""

from __future__ import annotations

import sys

import numpy as np
import smalti
from conftest import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import cold_compile


def test_the_matmul_of_other_sizes() -> None:
    m, n, k = 256, 384, 128
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((k, n)).astype(np.float16)
    c = np.zeros((m, n), np.float32)
    smalti.compile(cold_compile.ours(m, n, k), "cpu")(a, b, c)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3, atol=1e-3)
