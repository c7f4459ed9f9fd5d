# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The estimate of resources against the reports of both vendors' assemblers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import smalti

TARGETS = ["sm_80", "sm_90a", "gfx90a", "gfx942", "gfx1100"]
KERNELS = ["matmul_ragged", "matmul_relu_bf16", "vector_add"]

FACTOR = 3.0
"""The largest accepted ratio between the registers of the generated code and the estimate, in both directions."""
ADDRESSES = 32
"""Registers for addresses, indices and masks, which do not correspond to values of the kernel."""


@pytest.mark.grid(7)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_estimate_against_the_assembler(name: str, target: str, kernels: Path) -> None:
    kernel = smalti.compile(kernels / f"{name}.mlir", target)
    used = kernel.resources
    (said,) = [remark.message for remark in kernel.remarks if remark.category == "smalti-check-resources"]
    numbers = re.fullmatch(
        r"kernel uses (\d+) of (\d+) B of shared memory.*; "
        r"estimated register pressure: (\d+) of \d+ per thread.*; (\d+) of (\d+) threads.*",
        said,
    )
    assert numbers, said
    shared, limit, values, threads, most_threads = map(int, numbers.groups())
    assert shared == (used.shared_bytes or 0)
    assert used.block is not None and threads == used.block[0] <= most_threads
    assert limit == kernel.target.shared_memory_per_block
    if used.registers is None:
        # AMD's assembler is LLVM's own, and always there.
        assert kernel.target.vendor == "nvidia"
        pytest.skip("no ptxas")
    registers = used.registers + (used.accumulator_registers or 0)
    assert values <= FACTOR * registers, said
    assert registers <= FACTOR * values + ADDRESSES, said
