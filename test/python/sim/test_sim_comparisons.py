"""The simulator against the emulator, bit for bit, and against SentryWard's verdicts on PTX."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import sentryward_verdicts
import smalti
from conftest import ROOT

PALLAS = ROOT / "test" / "pallas" / "Inputs"
KERNELS = ROOT / "test" / "kernels"


def whole(array: np.ndarray) -> np.ndarray:
    """Small whole numbers of the same type: sums of their products are exact in every order."""
    return np.rint(np.clip(array.astype(np.float32) * 2, -4, 4)).astype(array.dtype)


def same_bits(source: Path, chip: str, exact: bool) -> None:
    """Runs a kernel in both, on whole numbers unless each element is computed by itself."""
    simulated = smalti.compile(source, target=f"sim:{chip}")
    emulated = smalti.compile(source, target=f"emu:{chip}")
    arguments = [value if exact else whole(value) for value in simulated.random_arguments(seed=3)]
    found, wanted = ([value.copy() for value in arguments] for _ in range(2))
    simulated(*found)
    emulated(*wanted)
    changed = False
    for before, one, other in zip(arguments, found, wanted, strict=True):
        assert one.tobytes() == other.tobytes()
        changed = changed or before.tobytes() != one.tobytes()
    assert changed


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a", "gfx942"])
def test_tile_programs_give_the_same_bits(chip: str) -> None:
    same_bits(KERNELS / "vector_add.mlir", chip, exact=True)
    same_bits(KERNELS / "matmul_ragged.mlir", chip, exact=False)


@pytest.mark.parametrize("name", ["wgmma_shared", "wgmma_int8", "wgmma_registers", "two_products", "collective_copy"])
def test_modules_of_jax_give_the_same_bits(name: str) -> None:
    same_bits(PALLAS / f"{name}.mlir", "sm_90a", exact=name == "collective_copy")


@pytest.mark.skipif(shutil.which("sentryward") is None, reason="sentryward is not installed")
def test_sentryward_agrees() -> None:
    chosen = {name: text for name, text in sentryward_verdicts.programs() if name != "a product in 3 stages"}
    found = list(sentryward_verdicts.compare(chosen.items()))
    assert len(found) >= 20
    # LLVM gives the load what the same thread stored, so that in the PTX nobody reads.
    assert [v.program for v in found if not v.agree] == ["a value that all threads store, barrier removed: gpu.barrier"]
