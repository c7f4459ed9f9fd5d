# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The simulator against the emulator, bit for bit, and against SentryWard's verdicts on PTX."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sentryward_verdicts
import smalti
from conftest import PALLAS, ROOT
from loops import kernels, runner
from loops.campaign import Point
from smalti import sim

KERNELS = ROOT / "test" / "kernels"


def whole(array: np.ndarray) -> np.ndarray:
    """Small integers of the same type: the sums are exact in every order."""
    return np.rint(np.clip(array.astype(np.float32) * 2, -4, 4)).astype(array.dtype)


def same_bits(source: Path | str, chip: str, exact: bool, level: str | None = None) -> None:
    """Runs a kernel in both, on integers unless each element is computed independently."""
    simulated = sim.simulate(source, f"sim:{chip}", level=level)
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
def test_tile_level_kernels_give_the_same_bits(chip: str) -> None:
    same_bits(KERNELS / "vector_add.mlir", chip, exact=True)
    same_bits(KERNELS / "matmul_ragged.mlir", chip, exact=False)


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("name", "chip"),
    [("vector_add", "gfx1100"), *(("matmul_ragged", chip) for chip in ("sm_80", "sm_90a", "gfx942", "gfx1100"))],
)
def test_thread_level_kernels_give_the_same_bits(name: str, chip: str) -> None:
    same_bits(KERNELS / f"{name}.mlir", chip, exact=name == "vector_add", level="thread")


@pytest.mark.parametrize(
    ("name", "chip"),
    [("groups", "sm_80"), ("chain", "sm_90a"), ("waves", "gfx942"), ("branch", "gfx1100")],
)
def test_pipelined_loops_give_the_same_bits(name: str, chip: str) -> None:
    (shape,) = (shape for shape in kernels.SHAPES if shape.name == name)
    # In both, each thread adds up in the order of its loop.
    point = Point(shape, chip, 3, 3, bounds=(kernels.Bounds(1, 2, 1, 5),))
    same_bits(runner.transform(point.case).text, chip, exact=True)


@pytest.mark.parametrize("name", ["wgmma_shared", "wgmma_int8", "wgmma_registers", "two_matmuls", "collective_copy"])
def test_modules_of_jax_give_the_same_bits(name: str) -> None:
    same_bits(PALLAS / f"{name}.mlir", "sm_90a", exact=name == "collective_copy")


@pytest.mark.skipif(sentryward_verdicts.find() is None, reason="sentryward is not installed")
def test_sentryward_agrees() -> None:
    # The others take longer: the script has all of them.
    longer = ("a product in 1 stages", "a product in 3 stages", "a product in the style of IREE in 3 stages")
    chosen = {name: text for name, text in sentryward_verdicts.programs() if name not in longer}
    found = list(sentryward_verdicts.compare(chosen.items()))
    assert len(found) >= 17
    # LLVM forwards the thread's own store to the load, so that the PTX does not have the read. Exited threads are not
    # waited for at a barrier.
    assert [v.program for v in found if not v.agree] == [
        "a value that all threads store, barrier removed: gpu.barrier",
        "a barrier for some threads",
    ]
