# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Thread-level kernels: `gpu`, `nvgpu`, `amdgpu`, `nvvm`, `rocdl`, with per-thread vectors."""

from __future__ import annotations

from .host import is_of_threads, kernel_of, launches_of
from .program import ThreadProgram, has_threads, of_threads

__all__ = ["ThreadProgram", "has_threads", "is_of_threads", "kernel_of", "launches_of", "of_threads"]
