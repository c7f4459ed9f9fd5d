# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that compute a row per tile: rows of 64 KB in registers, and persistent grids."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import smalti

ROOT = Path(__file__).resolve().parents[3]
TARGETS = ("emu:sm_80", "emu:gfx942", "emu:gfx1201")


def example(name: str) -> str:
    return (ROOT / "examples" / f"{name}.mlir").read_text()


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def run(kernel: smalti.Kernel, shape: tuple[int, int]) -> None:
    x = np.random.default_rng(0).normal(scale=4, size=shape).astype(np.float32)
    x[0, :] = -7.0
    y = np.full_like(x, np.nan)
    kernel(x, y)
    np.testing.assert_allclose(y, softmax(x), rtol=2e-5, atol=1e-9)


@pytest.mark.parametrize("target", TARGETS)
def test_long_rows(target: str) -> None:
    kernel = smalti.compile(example("softmax_long_rows"), target=target)
    assert isinstance(kernel, smalti.Kernel)
    run(kernel, (8, 16000))


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_long_rows_stay_in_registers(chip: str) -> None:
    """Each element is read once and written once, with 16-byte accesses."""
    kernel = smalti.compile(example("softmax_long_rows"), target=chip)
    assert isinstance(kernel, smalti.Kernel)
    resources = kernel.resources
    assert resources.spills == 0
    assembly = kernel.asm["ptx" if chip.startswith("sm_") else "gcn"]
    loads = re.findall(r"\b(?:ld\.global|buffer_load|global_load)[._]\S+", assembly)
    stores = re.findall(r"\b(?:st\.global|buffer_store|global_store)[._]\S+", assembly)
    assert resources.warps
    threads = resources.warps * smalti.targets.get(chip).wave_size
    assert len(loads) == len(stores) == 16384 // threads // 4
    assert all(access.endswith(("v4.b32", "dwordx4")) for access in loads + stores), loads + stores


# A grid that does not divide the 64 rows, and one with more blocks than rows.
@pytest.mark.parametrize("blocks", [3, 100])
@pytest.mark.parametrize("target", TARGETS)
def test_persistent_grids(target: str, blocks: int) -> None:
    kernel = smalti.compile(example("softmax"), target=target, blocks=blocks)
    assert isinstance(kernel, smalti.Kernel)
    assert kernel.resources.grid and kernel.resources.grid[0] == min(blocks, 64)
    run(kernel, (64, 1000))


@pytest.mark.parametrize("target", TARGETS)
def test_persistent_grid_of_a_dynamic_number_of_rows(target: str) -> None:
    kernel = smalti.compile(example("softmax_dynamic"), target=target, blocks=2)
    assert isinstance(kernel, smalti.Kernel)
    for rows in (1, 2, 5):
        run(kernel, (rows, 1500))
