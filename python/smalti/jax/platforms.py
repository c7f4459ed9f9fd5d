# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The platforms of JAX on which kernels run."""

from __future__ import annotations

from dataclasses import dataclass

from ..calling import arrays


@dataclass(frozen=True)
class Platform:
    """A platform of JAX."""

    registered: str
    """The name by which XLA registers handlers."""
    memory: str
    """The memory of its arrays."""
    vendor: str
    """The vendor of its targets."""
    example: str
    """A target, for hints."""


PLATFORMS = {
    "cpu": Platform("cpu", arrays.CPU, "cpu", "cpu"),
    "cuda": Platform("CUDA", arrays.CUDA, "nvidia", "sm_90a"),
    "rocm": Platform("ROCM", arrays.HIP, "amd", "gfx942"),
}
"""The platforms by their names in lowerings."""
